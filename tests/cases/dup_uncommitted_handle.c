/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* The duplicate of a committed type is committed.  It is used here without any
 * call of MPI_Type_commit on it, after the first handle is gone.  Types that are
 * only building blocks are never committed at all. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t, d, dd, part, whole;
    layout l = {0};
    int i, c;
    case_start(&argc, &argv, "dup_uncommitted_handle", 2);

    OK(MPI_Type_vector(9, 2, 5, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_dup(t, &d));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_dup(d, &dd));
    for (i = 0; i < 9; i++)
        lay_add(&l, 20 * i, 8);
    exercise("duplicate of a freed type", d, 1, &l, MPI_INT, 0);
    OK(MPI_Type_free(&d));
    exercise("duplicate of the duplicate", dd, 1, &l, MPI_INT, 0);
    OK(MPI_Type_free(&dd));
    lay_drop(&l);

    OK(MPI_Type_vector(3, 1, 2, MPI_SHORT, &part)); /* never committed */
    OK(MPI_Type_create_resized(part, 0, 16, &t));
    OK(MPI_Type_free(&part));
    OK(MPI_Type_dup(t, &part)); /* dup of a type that is not committed */
    OK(MPI_Type_free(&t));
    OK(MPI_Type_contiguous(4, part, &whole));
    OK(MPI_Type_free(&part));
    OK(MPI_Type_commit(&whole));
    for (c = 0; c < 2; c++)
        for (i = 0; i < 12; i++)
            lay_add(&l, 64 * c + 16 * (i / 3) + 4 * (i % 3), 2);
    exercise("built from freed parts", whole, 2, &l, MPI_SHORT, 0);
    lay_drop(&l);
    /* commit twice does no harm */
    OK(MPI_Type_commit(&whole));
    OK(MPI_Type_free(&whole));
    return case_end();
}
