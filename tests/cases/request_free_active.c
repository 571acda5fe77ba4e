/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* MPI_Request_free on sends under way.  The messages still arrive, each with its
 * own content, and later sends do not disturb them. */
#include "mem.h"

int main(int argc, char **argv)
{
    enum { N = 6 };
    MPI_Datatype t;
    layout l = {0};
    area s[N], d;
    unsigned char *plain;
    MPI_Request rq;
    int i, k, big, ack;

    case_start(&argc, &argv, "request_free_active", 2);
    for (big = 0; big < 2; big++) {
        int blocks = big ? 20000 : 8;
        memset(&l, 0, sizeof l);
        OK(MPI_Type_vector(blocks, 1, 2, MPI_DOUBLE, &t));
        OK(MPI_Type_commit(&t));
        for (i = 0; i < blocks; i++)
            lay_add(&l, 16 * (MPI_Aint)i, 8);
        plain = host_buf(l.bytes);
        if (case_rank == 0) {
            for (k = 0; k < N; k++) {
                s[k] = area_make(&l, (unsigned)k);
                OK(MPI_Isend(s[k].buf, 1, t, 1, 3, MPI_COMM_WORLD, &rq));
                OK(MPI_Request_free(&rq));
                CHECK(rq == MPI_REQUEST_NULL, "MPI_Request_free left the handle");
            }
            OK(MPI_Type_free(&t));
            /* only the answer tells that the buffers may be used again */
            OK(MPI_Recv(&ack, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (k = 0; k < N; k++)
                area_drop(&s[k]);
        } else {
            for (k = 0; k < N; k++) {
                d = area_make(&l, 77);
                s[k] = area_make(&l, (unsigned)k);
                OK(MPI_Recv(d.buf, 1, t, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                lay_gather(&l, s[k].img + s[k].zero, plain);
                ex_check_area(&d, &l, plain, "freed send requests", "data");
                area_drop(&d);
                area_drop(&s[k]);
            }
            ack = 1;
            OK(MPI_Send(&ack, 1, MPI_INT, 0, 4, MPI_COMM_WORLD));
            OK(MPI_Type_free(&t));
        }
        free(plain);
        lay_drop(&l);
    }
    return case_end();
}
