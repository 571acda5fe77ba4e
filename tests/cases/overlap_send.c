/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Sending may name the same bytes more than once.  Each mention is sent. */
#include "mem.h"

static void overlap(MPI_Aint ext)
{
    MPI_Datatype eight, el, two;
    layout l = {0};
    char what[64];
    int c;
    OK(MPI_Type_contiguous(8, MPI_INT, &eight));
    OK(MPI_Type_create_resized(eight, 0, ext, &el));
    OK(MPI_Type_contiguous(2, el, &two));
    OK(MPI_Type_commit(&el));
    OK(MPI_Type_commit(&two));
    for (c = 0; c < 2; c++)
        lay_add(&l, c * ext, 32);
    snprintf(what, sizeof what, "two runs of 8 ints, %ld bytes apart", (long)ext);
    exercise(what, two, 1, &l, MPI_INT, EX_OVERLAP);
    exercise(what, el, 2, &l, MPI_INT, EX_OVERLAP);
    lay_drop(&l);
    OK(MPI_Type_free(&eight));
    OK(MPI_Type_free(&el));
    OK(MPI_Type_free(&two));
}

int main(int argc, char **argv)
{
    case_start(&argc, &argv, "overlap_send", 2);
    overlap(8);
    overlap(4);
    overlap(16);
    overlap(0);  /* the same run twice */
    overlap(-4);
    { /* stride 0 and stride smaller than the block */
        MPI_Datatype t;
        layout l = {0};
        int i;
        OK(MPI_Type_vector(6, 3, 0, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        for (i = 0; i < 6; i++)
            lay_add(&l, 0, 12);
        exercise("vector with stride 0", t, 1, &l, MPI_INT, EX_OVERLAP);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_vector(6, 3, 1, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        for (i = 0; i < 6; i++)
            lay_add(&l, 4 * i, 12);
        exercise("vector with stride 1 and blocks of 3", t, 1, &l, MPI_INT, EX_OVERLAP);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
    }
    { /* an indexed type that names elements again and again, not sorted */
        int len[7] = {1, 2, 1, 3, 2, 1, 4}, disp[7] = {5, 2, 2, 7, 9, 5, 0};
        MPI_Datatype t;
        layout l = {0};
        int i;
        OK(MPI_Type_indexed(7, len, disp, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        for (i = 0; i < 7; i++)
            lay_add(&l, 4 * disp[i], 4 * (size_t)len[i]);
        exercise("indexed with repeats", t, 1, &l, MPI_INT, EX_OVERLAP);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
    }
    return case_end();
}
