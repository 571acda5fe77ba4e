/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* timeout: 120 */
/* libs: -lpthread */
/* Threads that post strided messages, threads that complete what others have posted,
 * and threads that keep the MPI's request handles turning over with messages in host
 * memory and collectives.  Whoever completes a receive finds its data, and no request
 * is taken for another one of the same handle. */
#include "mem.h"
#include <pthread.h>

enum { PAIRS = 2, ROUNDS = 150, BURST = 3, BLOCKS = 16 };

static MPI_Datatype t;
static layout l = {0};

/* what a poster hands to its completer */
struct mail {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    int full;
    MPI_Comm comm;
    MPI_Request rq[2 * BURST];
    area in[BURST], out[BURST];
};
static struct mail boxes[PAIRS];

static unsigned salt_of(int pair, int round, int k, int rank)
{
    return (unsigned)(1000 * pair + 10 * round + 2 * k + rank);
}

static void *post(void *arg)
{
    int pair = (int)(intptr_t)arg, round, k, peer = 1 - case_rank;
    struct mail *m = &boxes[pair];
    for (round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&m->lock);
        while (m->full)
            pthread_cond_wait(&m->turn, &m->lock);
        for (k = 0; k < BURST; k++) {
            m->in[k] = area_make(&l, 77);
            m->out[k] = area_make(&l, salt_of(pair, round, k, case_rank));
            OK(MPI_Irecv(m->in[k].buf, 1, t, peer, k, m->comm, &m->rq[k]));
        }
        for (k = 0; k < BURST; k++)
            OK(MPI_Isend(m->out[k].buf, 1, t, peer, k, m->comm, &m->rq[BURST + k]));
        m->full = 1;
        pthread_cond_signal(&m->turn);
        pthread_mutex_unlock(&m->lock);
    }
    return NULL;
}

static void check(struct mail *m, int pair, int round, int k, unsigned char *plain)
{
    area his = area_make(&l, salt_of(pair, round, k, 1 - case_rank));
    lay_gather(&l, his.img + his.zero, plain);
    ex_check_area(&m->in[k], &l, plain, "threads", "data when done");
    area_drop(&his);
}

static void *complete(void *arg)
{
    int pair = (int)(intptr_t)arg, round, k, left, flag, n, out[2 * BURST];
    struct mail *m = &boxes[pair];
    MPI_Status st[2 * BURST];
    unsigned char *plain = host_buf(l.bytes);
    for (round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&m->lock);
        while (!m->full)
            pthread_cond_wait(&m->turn, &m->lock);
        if (round % 4 == 0) {
            OK(MPI_Waitall(2 * BURST, m->rq, round % 8 ? st : MPI_STATUSES_IGNORE));
            for (k = 0; k < BURST; k++)
                check(m, pair, round, k, plain);
        } else if (round % 4 == 1) {
            for (left = 2 * BURST; left > 0; left--) {
                OK(MPI_Waitany(2 * BURST, m->rq, &n, st));
                if (n < BURST)
                    check(m, pair, round, n, plain);
            }
        } else if (round % 4 == 2) {
            for (left = 2 * BURST; left > 0; left -= n) {
                OK(MPI_Testsome(2 * BURST, m->rq, &n, out, MPI_STATUSES_IGNORE));
                for (k = 0; k < n; k++)
                    if (out[k] < BURST)
                        check(m, pair, round, out[k], plain);
            }
        } else {
            for (k = 2 * BURST - 1; k >= 0; k--) {
                do
                    OK(MPI_Test(&m->rq[k], &flag, MPI_STATUS_IGNORE));
                while (!flag);
                if (k < BURST)
                    check(m, pair, round, k, plain);
            }
        }
        for (k = 0; k < BURST; k++) {
            area_drop(&m->in[k]);
            area_drop(&m->out[k]);
        }
        m->full = 0;
        pthread_cond_signal(&m->turn);
        pthread_mutex_unlock(&m->lock);
    }
    free(plain);
    return NULL;
}

static MPI_Comm noise_comm;

static void *noise(void *arg)
{
    int round, a, b, sum, peer = 1 - case_rank;
    MPI_Request rq[3];
    (void)arg;
    for (round = 0; round < 4 * ROUNDS; round++) {
        a = round + case_rank;
        b = sum = -1;
        OK(MPI_Irecv(&b, 1, MPI_INT, peer, 3, noise_comm, &rq[0]));
        OK(MPI_Iallreduce(&a, &sum, 1, MPI_INT, MPI_SUM, noise_comm, &rq[1]));
        OK(MPI_Isend(&a, 1, MPI_INT, peer, 3, noise_comm, &rq[2]));
        if (round % 2) {
            OK(MPI_Waitall(3, rq, MPI_STATUSES_IGNORE));
        } else {
            OK(MPI_Wait(&rq[1], MPI_STATUS_IGNORE));
            OK(MPI_Wait(&rq[0], MPI_STATUS_IGNORE));
            OK(MPI_Wait(&rq[2], MPI_STATUS_IGNORE));
        }
        CHECK(b == round + peer && sum == 2 * round + 1, "noise: got %d and %d in round %d", b, sum, round);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2 * PAIRS + 1];
    int provided, i, n = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    case_open("request_threads", 2);
    if (provided < MPI_THREAD_MULTIPLE)
        return case_skip("no MPI_THREAD_MULTIPLE");
    mem_open();
    OK(MPI_Type_vector(BLOCKS, 1, 3, MPI_DOUBLE, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < BLOCKS; i++)
        lay_add(&l, 24 * i, 8);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &noise_comm));
    for (i = 0; i < PAIRS; i++) {
        pthread_mutex_init(&boxes[i].lock, NULL);
        pthread_cond_init(&boxes[i].turn, NULL);
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &boxes[i].comm));
    }
    for (i = 0; i < PAIRS; i++) {
        CHECK(pthread_create(&threads[n++], NULL, post, (void *)(intptr_t)i) == 0, "no thread");
        CHECK(pthread_create(&threads[n++], NULL, complete, (void *)(intptr_t)i) == 0, "no thread");
    }
    CHECK(pthread_create(&threads[n++], NULL, noise, NULL) == 0, "no thread");
    for (i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (i = 0; i < PAIRS; i++)
        OK(MPI_Comm_free(&boxes[i].comm));
    OK(MPI_Comm_free(&noise_comm));
    OK(MPI_Type_free(&t));
    return case_end();
}
