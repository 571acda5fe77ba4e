/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* libs: -lpthread */
/* On a GPU: the calling thread has no current CUDA context, first in the main
 * thread, then in a thread that never had one.  Afterwards the thread must be
 * left as it was found.  (Without USE_CUDA a plain exchange from two threads.) */
#include "mem.h"
#include <pthread.h>

static MPI_Datatype t;
static void *buf, *in;
static unsigned char *want;

static void exchange(int tag)
{
    MPI_Request rq[2];
    int peer = 1 - case_rank;
    OK(MPI_Irecv(in, 60, MPI_INT, peer, tag, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Isend(buf, 1, t, peer, tag, MPI_COMM_WORLD, &rq[1]));
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    OK(MPI_Sendrecv(buf, 1, t, peer, tag + 1, in, 60, MPI_INT, peer, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void *fresh(void *arg)
{
    (void)arg;
    exchange(20); /* this thread has never called CUDA */
    mem_context();
    mem_same(in, want, 240, "from a fresh thread");
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t th;
    int i, provided;
    unsigned char *mine, *his;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    case_open("no_current_context", 2);
    OK(MPI_Type_vector(20, 3, 5, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    buf = mem_alloc(400);
    in = mem_alloc(240);
    mine = pat_buf(400, 1u + (unsigned)case_rank);
    his = pat_buf(400, 2u - (unsigned)case_rank);
    want = host_buf(240);
    for (i = 0; i < 20; i++)
        memcpy(want + 12 * i, his + 20 * i, 12);
    mem_put(buf, mine, 400);
    mem_no_context();
    exchange(10);
    mem_context();
    mem_same(in, want, 240, "without a current context");
    mem_set(in, 0, 240);
    if (provided >= MPI_THREAD_SERIALIZED) {
        if (pthread_create(&th, NULL, fresh, NULL) != 0)
            FAIL("no thread");
        pthread_join(th, NULL);
    }
    free(mine);
    free(his);
    mem_free(buf);
    mem_free(in);
    OK(MPI_Type_free(&t));
    return case_end();
}
