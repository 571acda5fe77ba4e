/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 4 */
/* Duplicated, split and freed communicators, handles used again for others:
 * strided messages stay inside the communicator of now, under its own ranks. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t;
    layout l = {0};
    unsigned char *plain;
    int rep, i, k, me, n;

    case_start(&argc, &argv, "many_comms", 4);
    OK(MPI_Type_vector(7, 2, 3, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 7; i++)
        lay_add(&l, 12 * i, 8);
    plain = host_buf(l.bytes);
    for (rep = 0; rep < 40; rep++) {
        MPI_Comm c[3];
        /* same messages, same tags, three communicators, received out of order */
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &c[0]));
        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, rep % 2 ? -case_rank : case_rank, &c[1]));
        OK(MPI_Comm_split(MPI_COMM_WORLD, (case_rank + rep) % 2, (case_rank * 7 + rep) % 5, &c[2]));
        {
            area s[3], d[3];
            MPI_Request rq[3];
            int from[3], world[4];
            for (k = 0; k < 3; k++) {
                OK(MPI_Comm_rank(c[k], &me));
                OK(MPI_Comm_size(c[k], &n));
                OK(MPI_Allgather(&case_rank, 1, MPI_INT, world, 1, MPI_INT, c[k]));
                from[k] = world[(me + n - 1) % n];
                s[k] = area_make(&l, (unsigned)(100 * k + case_rank));
                d[k] = area_make(&l, 9);
                OK(MPI_Isend(s[k].buf, 1, t, (me + 1) % n, 5, c[k], &rq[k]));
            }
            for (k = 2; k >= 0; k--) {
                area o = area_make(&l, (unsigned)(100 * k + from[k]));
                MPI_Status st;
                OK(MPI_Comm_rank(c[k], &me));
                OK(MPI_Comm_size(c[k], &n));
                OK(MPI_Recv(d[k].buf, 1, t, MPI_ANY_SOURCE, MPI_ANY_TAG, c[k], &st));
                CHECK(st.MPI_SOURCE == (me + n - 1) % n, "round %d, communicator %d: source %d, has to be %d", rep, k, st.MPI_SOURCE, (me + n - 1) % n);
                lay_gather(&l, o.img + o.zero, plain);
                ex_check_area(&d[k], &l, plain, "many communicators", "data");
                area_drop(&o);
            }
            OK(MPI_Waitall(3, rq, MPI_STATUSES_IGNORE));
            for (k = 0; k < 3; k++) {
                area_drop(&s[k]);
                area_drop(&d[k]);
                OK(MPI_Comm_free(&c[k]));
            }
        }
    }
    free(plain);
    OK(MPI_Type_free(&t));
    return case_end();
}
