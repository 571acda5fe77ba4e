/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* timeout: 120 */
/* libs: -lpthread */
/* MPI_THREAD_MULTIPLE: threads make, commit, use and free types at the same time
 * and share one type that all of them receive into. */
#include "mem.h"
#include <pthread.h>

enum { T = 4, ROUNDS = 60 };
static MPI_Datatype shared;
static MPI_Comm comm[T];

static void *worker(void *arg)
{
    int me = (int)(intptr_t)arg, r, i, peer = 1 - case_rank;
    for (r = 0; r < ROUNDS; r++) {
        MPI_Datatype t;
        layout l = {0}, ls = {0};
        area s, d, d2, o;
        unsigned char *plain;
        MPI_Request rq[4];
        int blocks = 64, len = 1 + me % 2;
        if (r % 10 == 9)
            blocks = 8192;
        /* shape depends on thread and round, size does not */
        OK(MPI_Type_vector(blocks / len, len, len + 1 + (me + r) % 3, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        for (i = 0; i < blocks / len; i++)
            lay_add(&l, 4 * (MPI_Aint)i * (len + 1 + (me + r) % 3), 4 * (size_t)len);
        for (i = 0; i < 64; i++)
            lay_add(&ls, 12 * i, 4);
        s = area_make(&l, (unsigned)(1000 * case_rank + 100 * me + r));
        o = area_make(&l, (unsigned)(1000 * peer + 100 * me + r));
        d = area_make(&l, 5);
        d2 = area_make(&ls, 6);
        plain = host_buf(l.bytes);
        lay_gather(&l, o.img + o.zero, plain);
        OK(MPI_Irecv(d.buf, 1, t, peer, me, comm[me], &rq[0]));
        OK(MPI_Isend(s.buf, 1, t, peer, me, comm[me], &rq[1]));
        OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
        ex_check_area(&d, &l, plain, "threads", "own type");
        if (blocks == 64) { /* the same bytes into the shared type */
            OK(MPI_Irecv(d2.buf, 1, shared, MPI_ANY_SOURCE, me, comm[me], &rq[0]));
            OK(MPI_Isend(s.buf, 1, t, peer, me, comm[me], &rq[1]));
            OK(MPI_Type_free(&t));
            OK(MPI_Wait(&rq[0], MPI_STATUS_IGNORE));
            OK(MPI_Wait(&rq[1], MPI_STATUS_IGNORE));
            ex_check_area(&d2, &ls, plain, "threads", "shared type");
        } else {
            int pos = 0;
            void *pk = mem_alloc_pack(l.bytes);
            OK(MPI_Pack(o.buf, 1, t, pk, (int)l.bytes, &pos, comm[me]));
            mem_same(pk, plain, l.bytes, "threads, MPI_Pack");
            mem_free(pk);
            OK(MPI_Type_free(&t));
        }
        area_drop(&s);
        area_drop(&d);
        area_drop(&d2);
        area_drop(&o);
        free(plain);
        lay_drop(&l);
        lay_drop(&ls);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t th[T];
    int provided, i;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    case_open("threads_own_types", 2);
    if (provided < MPI_THREAD_MULTIPLE)
        return case_skip("this MPI has no MPI_THREAD_MULTIPLE");
    mem_open();
    OK(MPI_Type_vector(64, 1, 3, MPI_INT, &shared));
    OK(MPI_Type_commit(&shared));
    for (i = 0; i < T; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    for (i = 0; i < T; i++)
        if (pthread_create(&th[i], NULL, worker, (void *)(intptr_t)i) != 0)
            FAIL("no thread");
    for (i = 0; i < T; i++)
        pthread_join(th[i], NULL);
    for (i = 0; i < T; i++)
        OK(MPI_Comm_free(&comm[i]));
    OK(MPI_Type_free(&shared));
    return case_end();
}
