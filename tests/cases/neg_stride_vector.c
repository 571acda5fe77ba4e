/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Vectors that walk backwards.  A negative stride gives a negative true lower
 * bound; the first block sent is the one at the buffer pointer. */
#include "mem.h"

static void vec(int blocks, int len, int stride, int count)
{
    MPI_Datatype t;
    MPI_Aint lb, ext;
    layout l = {0};
    char what[96];
    int c, b, i;
    OK(MPI_Type_vector(blocks, len, stride, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_get_extent(t, &lb, &ext));
    for (c = 0; c < count; c++)
        for (b = 0; b < blocks; b++)
            for (i = 0; i < len; i++)
                lay_add(&l, c * ext + ((MPI_Aint)b * stride + i) * 4, 4);
    CHECK(lb == (stride < 0 ? (MPI_Aint)(blocks - 1) * stride * 4 : 0), "lower bound %ld", (long)lb);
    snprintf(what, sizeof what, "vector(%d,%d,%d) x %d", blocks, len, stride, count);
    exercise(what, t, count, &l, MPI_INT, 0);
    lay_drop(&l);
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    case_start(&argc, &argv, "neg_stride_vector", 2);
    vec(64, 1, -1, 1); /* a matrix read back to front */
    vec(8, 1, -1, 3);
    vec(5, 2, -3, 1);
    vec(5, 2, -3, 4);
    vec(7, 3, -7, 2);
    vec(1, 4, -9, 3); /* one block: the stride does not matter */
    { /* a backwards row of backwards rows, stride in bytes not a multiple of 4 */
        MPI_Datatype row, t;
        layout l = {0};
        int r, i;
        OK(MPI_Type_create_hvector(4, 1, -8, MPI_INT, &row));
        OK(MPI_Type_create_hvector(3, 1, -41, row, &t));
        OK(MPI_Type_commit(&t));
        for (r = 0; r < 3; r++)
            for (i = 0; i < 4; i++)
                lay_add(&l, -41 * r - 8 * i, 4);
        exercise("hvector of hvector, both backwards", t, 1, &l, MPI_INT, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&row));
        OK(MPI_Type_free(&t));
    }
    return case_end();
}
