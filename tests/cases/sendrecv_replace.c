/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 4 */
/* MPI_Sendrecv_replace with holes around a ring and to oneself, and MPI_Sendrecv
 * where source and destination are not the same rank. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t, u;
    layout l = {0}, m = {0};
    area a, o, b;
    unsigned char *plain;
    MPI_Status st;
    int i, right, left, big, n;

    case_start(&argc, &argv, "sendrecv_replace", 4);
    right = (case_rank + 1) % 4;
    left = (case_rank + 3) % 4;
    for (big = 0; big < 2; big++) {
        int blocks = big ? 12000 : 6;
        memset(&l, 0, sizeof l);
        memset(&m, 0, sizeof m);
        OK(MPI_Type_vector(blocks, 2, 5, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        OK(MPI_Type_vector(blocks / 2, 4, 6, MPI_INT, &u));
        OK(MPI_Type_commit(&u));
        for (i = 0; i < blocks; i++)
            lay_add(&l, 20 * (MPI_Aint)i, 8);
        for (i = 0; i < blocks / 2; i++)
            lay_add(&m, 24 * (MPI_Aint)i, 16);
        plain = host_buf(l.bytes);

        a = area_make(&l, 1u + (unsigned)case_rank);
        o = area_make(&l, 1u + (unsigned)left);
        lay_gather(&l, o.img + o.zero, plain);
        OK(MPI_Sendrecv_replace(a.buf, 1, t, right, 3, left, MPI_ANY_TAG, MPI_COMM_WORLD, &st));
        CHECK(st.MPI_SOURCE == left && st.MPI_TAG == 3, "source %d tag %d", st.MPI_SOURCE, st.MPI_TAG);
        ex_check_area(&a, &l, plain, "MPI_Sendrecv_replace", "ring");
        OK(MPI_Sendrecv_replace(a.buf, 1, t, case_rank, 4, case_rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        ex_check_area(&a, &l, NULL, "MPI_Sendrecv_replace", "to oneself");
        area_drop(&a);

        a = area_make(&l, 1u + (unsigned)case_rank);
        b = area_make(&m, 55);
        OK(MPI_Sendrecv(a.buf, 1, t, right, 5, b.buf, 1, u, left, 5, MPI_COMM_WORLD, &st));
        OK(MPI_Get_elements(&st, u, &n));
        CHECK(n == 2 * blocks, "elements %d", n);
        ex_check_area(&b, &m, plain, "MPI_Sendrecv", "ring, two shapes");
        area_drop(&b);
        /* send nothing, receive something, and the other way round */
        b = area_make(&m, 56);
        OK(MPI_Sendrecv(a.buf, case_rank % 2, t, right, 6, b.buf, 1, u, left, 6, MPI_COMM_WORLD, &st));
        OK(MPI_Get_elements(&st, u, &n));
        CHECK(n == (left % 2 ? 2 * blocks : 0), "elements %d", n);
        ex_check_area(&b, &m, left % 2 ? plain : NULL, "MPI_Sendrecv", "half of them empty");
        area_drop(&a);
        area_drop(&b);
        area_drop(&o);
        free(plain);
        lay_drop(&l);
        lay_drop(&m);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_free(&u));
    }
    return case_end();
}
