/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Types made by the large-count constructors of MPI-4.  MPI_Type_get_envelope
 * refuses them, and the error must not reach the program from inside a commit;
 * the error handler here ends the run if it is ever called. */
#include "mem.h"

#if MPI_VERSION >= 4
static void boom(MPI_Comm *c, int *rc, ...)
{
    (void)c;
    FAIL("the program's error handler was called with %d", *rc);
}
#endif

int main(int argc, char **argv)
{
    case_start(&argc, &argv, "large_count_calls", 2);
#if MPI_VERSION < 4
    return case_skip("this MPI has no large-count calls");
#else
    {
        MPI_Errhandler h;
        MPI_Datatype t, u;
        layout l = {0};
        MPI_Count sizes[2] = {9, 8}, subs[2] = {4, 3}, starts[2] = {2, 5};
        area s, d, o;
        unsigned char *plain;
        MPI_Request rq[2];
        int i, peer = 1 - case_rank;

        OK(MPI_Comm_create_errhandler(boom, &h));
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, h));
        OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, h));
        OK(MPI_Type_vector_c(7, 2, 5, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        for (i = 0; i < 7; i++)
            lay_add(&l, 20 * i, 8);
        exercise("vector_c", t, 1, &l, MPI_INT, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&t));

        OK(MPI_Type_create_subarray_c(2, sizes, subs, starts, MPI_ORDER_C, MPI_DOUBLE, &u));
        OK(MPI_Type_contiguous(2, u, &t)); /* an old constructor over a new one */
        OK(MPI_Type_free(&u));
        OK(MPI_Type_commit(&t));
        for (i = 0; i < 8; i++)
            lay_add(&l, 576 * (i / 4) + 8 * (8 * (2 + i % 4) + 5), 24);
        exercise("contiguous of subarray_c", t, 1, &l, MPI_DOUBLE, 0);

        /* the large-count transfers next to the old ones */
        s = area_make(&l, 1u + (unsigned)case_rank);
        o = area_make(&l, 1u + (unsigned)peer);
        d = area_make(&l, 9);
        plain = host_buf(l.bytes);
        lay_gather(&l, o.img + o.zero, plain);
        OK(MPI_Irecv_c(d.buf, 1, t, peer, 1, MPI_COMM_WORLD, &rq[0]));
        OK(MPI_Isend(s.buf, 1, t, peer, 1, MPI_COMM_WORLD, &rq[1]));
        OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
        ex_check_area(&d, &l, plain, "MPI_Isend to MPI_Irecv_c", "data");
        OK(MPI_Irecv(d.buf, 1, t, peer, 2, MPI_COMM_WORLD, &rq[0]));
        OK(MPI_Send_c(s.buf, 1, t, peer, 2, MPI_COMM_WORLD));
        OK(MPI_Wait(&rq[0], MPI_STATUS_IGNORE));
        ex_check_area(&d, &l, plain, "MPI_Send_c to MPI_Irecv", "data");
        area_drop(&s);
        area_drop(&o);
        area_drop(&d);
        free(plain);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
        OK(MPI_Errhandler_free(&h));
    }
    return case_end();
#endif
}
