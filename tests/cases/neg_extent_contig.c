/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* An element whose extent is negative: repeating it moves down in memory, in a
 * contiguous type and through the count argument. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype four, evil, three;
    MPI_Aint lb, ext, tlb, text;
    layout l = {0};
    int c, i;

    case_start(&argc, &argv, "neg_extent_contig", 2);
    OK(MPI_Type_contiguous(4, MPI_BYTE, &four));
    OK(MPI_Type_create_resized(four, 6, -9, &evil));
    OK(MPI_Type_contiguous(3, evil, &three));
    OK(MPI_Type_commit(&evil));
    OK(MPI_Type_commit(&three));

    OK(MPI_Type_get_extent(evil, &lb, &ext));
    CHECK(lb == 6 && ext == -9, "resized: lb %ld extent %ld", (long)lb, (long)ext);
    OK(MPI_Type_get_true_extent(three, &tlb, &text));
    CHECK(tlb == -18 && text == 22, "three: true lb %ld, true extent %ld", (long)tlb, (long)text);

    for (c = 0; c < 5; c++)
        lay_add(&l, -9 * c, 4);
    exercise("count 5 of an element with extent -9", evil, 5, &l, MPI_BYTE, 0);
    lay_drop(&l);

    for (i = 0; i < 3; i++)
        lay_add(&l, -9 * i, 4);
    exercise("contiguous of 3 such elements", three, 1, &l, MPI_BYTE, 0);

    /* whatever extent the MPI computes for it, count > 1 has to use that one */
    OK(MPI_Type_get_extent(three, &lb, &ext));
    CHECK(lb == -12 && ext == 9, "three: lb %ld extent %ld, have to be -12 and 9", (long)lb, (long)ext);
    lay_drop(&l);
    {
        MPI_Datatype far;
        OK(MPI_Type_create_resized(three, 0, -40, &far));
        OK(MPI_Type_commit(&far));
        for (c = 0; c < 4; c++)
            for (i = 0; i < 3; i++)
                lay_add(&l, -40 * c - 9 * i, 4);
        exercise("count 4, both levels backwards", far, 4, &l, MPI_BYTE, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&far));
    }
    OK(MPI_Type_free(&four));
    OK(MPI_Type_free(&evil));
    OK(MPI_Type_free(&three));
    return case_end();
}
