/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* A message shorter than the receive has room for.  What did not arrive must
 * stay as it was, holes as well, and the status counts what did arrive. */
#include "mem.h"

static void shorter(int sent, int room, int blocking)
{
    MPI_Datatype t, r;
    layout l = {0};
    area dst, src;
    MPI_Status st;
    int c, b, n, el;

    OK(MPI_Type_vector(3, 2, 4, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, 56, &r));
    OK(MPI_Type_commit(&r));
    for (c = 0; c < sent; c++)
        for (b = 0; b < 3; b++)
            lay_add(&l, 56 * c + 16 * b, 8);
    {
        layout full = {0};
        lay_add(&full, 0, (size_t)(56 * room));
        dst = area_make(&full, 3);
        src = area_make(&full, 4);
        lay_drop(&full);
    }
    if (case_rank == 0) {
        OK(MPI_Send(src.buf, sent, r, 1, 5, MPI_COMM_WORLD));
    } else {
        unsigned char *plain = host_buf(l.bytes);
        if (blocking) {
            OK(MPI_Recv(dst.buf, room, r, 0, 5, MPI_COMM_WORLD, &st));
        } else {
            MPI_Request rq;
            OK(MPI_Irecv(dst.buf, room, r, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &rq));
            OK(MPI_Wait(&rq, &st));
        }
        OK(MPI_Get_count(&st, r, &n));
        CHECK(n == sent, "sent %d, count says %d", sent, n);
        OK(MPI_Get_elements(&st, r, &el));
        CHECK(el == 6 * sent, "sent %d, elements says %d", 6 * sent, el);
        CHECK(st.MPI_SOURCE == 0 && st.MPI_TAG == 5, "source %d tag %d", st.MPI_SOURCE, st.MPI_TAG);
        lay_gather(&l, src.img + src.zero, plain);
        ex_check_area(&dst, &l, plain, "short message", blocking ? "MPI_Recv" : "MPI_Irecv");
        free(plain);
    }
    area_drop(&dst);
    area_drop(&src);
    lay_drop(&l);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&r));
}

int main(int argc, char **argv)
{
    int b;
    case_start(&argc, &argv, "partial_recv", 2);
    for (b = 0; b < 2; b++) {
        shorter(1, 5, b);
        shorter(4, 5, b);
        shorter(5, 5, b);
        shorter(0, 5, b);
        shorter(900, 2000, b);
    }
    return case_end();
}
