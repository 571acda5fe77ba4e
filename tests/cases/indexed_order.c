/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Indexed types whose blocks are not in address order, touch each other, or
 * reach below the buffer pointer.  Order of travel is order of listing. */
#include "mem.h"

static void indexed(const char *what, int n, const int *len, const int *disp, MPI_Datatype old, int oldbytes, int count)
{
    MPI_Datatype t;
    MPI_Aint lb, ext;
    layout l = {0};
    int c, i;
    OK(MPI_Type_indexed(n, len, disp, old, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_get_extent(t, &lb, &ext));
    for (c = 0; c < count; c++)
        for (i = 0; i < n; i++)
            lay_add(&l, c * ext + (MPI_Aint)disp[i] * oldbytes, (size_t)len[i] * (size_t)oldbytes);
    exercise(what, t, count, &l, old, 0);
    lay_drop(&l);
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    int i;
    case_start(&argc, &argv, "indexed_order", 2);
    {
        int len[4] = {2, 1, 3, 1}, disp[4] = {9, 4, 0, 6};
        indexed("descending blocks", 4, len, disp, MPI_INT, 4, 1);
        indexed("descending blocks x 3", 4, len, disp, MPI_INT, 4, 3);
    }
    { /* neighbours in memory, not neighbours in the list: must not be merged */
        int len[4] = {1, 1, 1, 1}, disp[4] = {1, 0, 3, 2};
        indexed("swapped pairs", 4, len, disp, MPI_DOUBLE, 8, 1);
        indexed("swapped pairs x 5", 4, len, disp, MPI_DOUBLE, 8, 5);
    }
    { /* blocks that touch and could be merged, with negative displacements */
        int len[5] = {2, 3, 1, 2, 2}, disp[5] = {-6, -4, -1, 0, 5};
        indexed("touching, from below the buffer", 5, len, disp, MPI_SHORT, 2, 1);
        indexed("touching, from below the buffer x 2", 5, len, disp, MPI_SHORT, 2, 2);
    }
    { /* regular but for one block: neither a vector nor contiguous */
        int len[21], disp[21];
        for (i = 0; i < 21; i++) {
            len[i] = i < 6 ? 1 : i < 10 ? 2 : 3 + i % 4;
            disp[i] = i == 0 ? 0 : disp[i - 1] + len[i - 1] + 1 + (i == 13);
        }
        indexed("growing blocks", 21, len, disp, MPI_LONG, 8, 1);
    }
    { /* displacements that form two interleaved arithmetic series */
        int len[16], disp[16];
        for (i = 0; i < 16; i++) {
            len[i] = 1;
            disp[i] = (i % 2 ? 40 : 0) + 3 * (i / 2);
        }
        indexed("two interleaved series", 16, len, disp, MPI_INT, 4, 2);
    }
    { /* indexed_block and hindexed_block, unsorted, byte displacements odd */
        int disp[6] = {12, 3, 0, 20, 8, 16};
        MPI_Aint bdisp[5] = {31, -7, 11, 3, 60};
        MPI_Datatype t;
        MPI_Aint lb, ext;
        layout l = {0};
        int c;
        OK(MPI_Type_create_indexed_block(6, 3, disp, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        OK(MPI_Type_get_extent(t, &lb, &ext));
        for (c = 0; c < 2; c++)
            for (i = 0; i < 6; i++)
                lay_add(&l, c * ext + 4 * disp[i], 12);
        exercise("indexed_block x 2", t, 2, &l, MPI_INT, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_create_hindexed_block(5, 7, bdisp, MPI_CHAR, &t));
        OK(MPI_Type_commit(&t));
        for (i = 0; i < 5; i++)
            lay_add(&l, bdisp[i], 7);
        exercise("hindexed_block, odd offsets", t, 1, &l, MPI_CHAR, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
    }
    { /* lower triangle of a matrix */
        int len[50], disp[50];
        for (i = 0; i < 50; i++) {
            len[i] = i + 1;
            disp[i] = 50 * i;
        }
        indexed("lower triangle", 50, len, disp, MPI_FLOAT, 4, 1);
    }
    return case_end();
}
