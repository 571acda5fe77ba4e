/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Send a matrix column by column.  The outer loop of the type has the smaller
 * stride; the bytes still travel in type order, so sorting the loops by stride
 * sends the matrix row by row and is wrong. */
#include "mem.h"

static void transpose(int rows, int cols)
{
    MPI_Datatype col, t;
    layout l = {0};
    char what[64];
    int r, c;
    OK(MPI_Type_vector(rows, 1, cols, MPI_INT, &col));
    OK(MPI_Type_create_hvector(cols, 1, 4, col, &t));
    OK(MPI_Type_commit(&t));
    for (c = 0; c < cols; c++)
        for (r = 0; r < rows; r++)
            lay_add(&l, 4 * ((MPI_Aint)r * cols + c), 4);
    snprintf(what, sizeof what, "transpose %d x %d", rows, cols);
    exercise(what, t, 1, &l, MPI_INT, 0);
    lay_drop(&l);
    OK(MPI_Type_free(&col));
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    case_start(&argc, &argv, "transpose_pack", 2);
    transpose(3, 5);
    transpose(100, 100);
    transpose(1, 7);
    transpose(7, 1);
    transpose(257, 33);
    { /* columns through an element resized to one int, and count = columns */
        MPI_Datatype col, one;
        layout l = {0};
        int r, c;
        OK(MPI_Type_vector(9, 2, 12, MPI_INT, &col));
        OK(MPI_Type_create_resized(col, 0, 8, &one));
        OK(MPI_Type_commit(&one));
        for (c = 0; c < 6; c++)
            for (r = 0; r < 9; r++)
                lay_add(&l, 4 * (12 * r + 2 * c), 8);
        exercise("6 columns of pairs, by count", one, 6, &l, MPI_INT, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&col));
        OK(MPI_Type_free(&one));
    }
    return case_end();
}
