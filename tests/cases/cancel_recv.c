/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* A strided receive is cancelled before anything was sent.  The cancel succeeds,
 * the buffer stays, and the message goes to the receive that comes after. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t;
    layout l = {0};
    area a, b, src;
    unsigned char *plain;
    MPI_Request rq, pr;
    MPI_Status st;
    int i, flag, n, source;

    case_start(&argc, &argv, "cancel_recv", 2);
    OK(MPI_Type_vector(30, 1, 3, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 30; i++)
        lay_add(&l, 12 * i, 4);
    a = area_make(&l, 1);
    b = area_make(&l, 2);
    src = area_make(&l, 3);
    plain = host_buf(l.bytes);
    lay_gather(&l, src.img + src.zero, plain);
    for (i = 0; i < 3; i++) {
        source = i == 1 ? MPI_ANY_SOURCE : 0;
        if (case_rank == 1) {
            if (i < 2) {
                OK(MPI_Irecv(a.buf, 1, t, source, 4, MPI_COMM_WORLD, &rq));
                OK(MPI_Cancel(&rq));
                OK(MPI_Wait(&rq, &st));
            } else { /* a persistent one, completed with MPI_Test */
                OK(MPI_Recv_init(a.buf, 1, t, source, 4, MPI_COMM_WORLD, &pr));
                OK(MPI_Start(&pr));
                OK(MPI_Cancel(&pr));
                do
                    OK(MPI_Test(&pr, &flag, &st));
                while (!flag);
            }
            OK(MPI_Test_cancelled(&st, &flag));
            CHECK(flag, "round %d: the receive was not cancelled", i);
            if (i < 2)
                CHECK(rq == MPI_REQUEST_NULL, "round %d: request not cleared", i);
            ex_check_area(&a, &l, NULL, "cancelled receive", "its buffer");
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (case_rank == 0) {
            OK(MPI_Send(src.buf, 1, t, 1, 4, MPI_COMM_WORLD));
        } else {
            OK(MPI_Recv(b.buf, 1, t, 0, 4, MPI_COMM_WORLD, &st));
            OK(MPI_Test_cancelled(&st, &flag));
            CHECK(!flag, "round %d: the second receive says cancelled", i);
            OK(MPI_Get_count(&st, t, &n));
            CHECK(n == 1, "round %d: count %d", i, n);
            ex_check_area(&b, &l, plain, "receive after a cancel", "data");
            ex_check_area(&a, &l, NULL, "cancelled receive", "its buffer, later");
            if (i == 2)
                OK(MPI_Request_free(&pr));
        }
    }
    if (case_rank == 1) { /* too late to cancel: it completes, or it does not - never both */
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Irecv(a.buf, 1, t, 0, 5, MPI_COMM_WORLD, &rq));
        OK(MPI_Cancel(&rq));
        OK(MPI_Wait(&rq, &st));
        OK(MPI_Test_cancelled(&st, &flag));
        if (flag) {
            ex_check_area(&a, &l, NULL, "late cancel", "cancelled");
            OK(MPI_Recv(a.buf, 1, t, 0, 5, MPI_COMM_WORLD, &st));
        }
        ex_check_area(&a, &l, plain, "late cancel", "data");
    } else {
        OK(MPI_Isend(src.buf, 1, t, 1, 5, MPI_COMM_WORLD, &rq));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Wait(&rq, &st));
    }
    area_drop(&a);
    area_drop(&b);
    area_drop(&src);
    free(plain);
    OK(MPI_Type_free(&t));
    return case_end();
}
