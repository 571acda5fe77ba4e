/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Blocks of length zero carry nothing and must not move the bounds of a type,
 * wherever their displacement points. */
#include "mem.h"

int main(int argc, char **argv)
{
    case_start(&argc, &argv, "zero_len_blocks", 2);
    { /* the first block empty */
        int len[2] = {0, 10}, disp[2] = {0, 15};
        MPI_Datatype t;
        MPI_Aint lb, ext;
        layout l = {0};
        int c;
        OK(MPI_Type_indexed(2, len, disp, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        OK(MPI_Type_get_extent(t, &lb, &ext));
        CHECK(lb == 60 && ext == 40, "indexed {0@0,10@15}: lb %ld extent %ld, have to be 60 and 40", (long)lb, (long)ext);
        for (c = 0; c < 3; c++)
            lay_add(&l, 60 + 40 * c, 40);
        exercise("indexed, empty first block", t, 3, &l, MPI_INT, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
    }
    { /* empty blocks all over, with displacements far outside */
        int len[7] = {0, 2, 0, 0, 3, 1, 0};
        MPI_Aint disp[7] = {-100000, 8, 4, 900000, 32, 24, -8};
        MPI_Datatype t;
        MPI_Aint lb, ext;
        layout l = {0};
        int c;
        OK(MPI_Type_create_hindexed(7, len, disp, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        OK(MPI_Type_get_extent(t, &lb, &ext));
        CHECK(lb == 8 && ext == 36, "hindexed with empty blocks: lb %ld extent %ld, have to be 8 and 36", (long)lb, (long)ext);
        for (c = 0; c < 2; c++) {
            lay_add(&l, 36 * c + 8, 8);
            lay_add(&l, 36 * c + 32, 12);
            lay_add(&l, 36 * c + 24, 4);
        }
        exercise("hindexed, empty blocks in between", t, 2, &l, MPI_INT, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
    }
    { /* a struct with an empty member of another type, first and last */
        int len[4] = {0, 1, 2, 0};
        MPI_Aint disp[4] = {-64, 4, 16, 4000};
        MPI_Datatype types[4] = {MPI_DOUBLE, MPI_INT, MPI_INT, MPI_CHAR}, t, r;
        layout l = {0};
        int c;
        OK(MPI_Type_create_struct(4, len, disp, types, &t));
        OK(MPI_Type_create_resized(t, 0, 28, &r));
        OK(MPI_Type_commit(&r));
        for (c = 0; c < 4; c++) {
            lay_add(&l, 28 * c + 4, 4);
            lay_add(&l, 28 * c + 16, 8);
        }
        exercise("struct with empty members", r, 4, &l, MPI_INT, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_free(&r));
    }
    { /* one non-empty block left: a lone offset run */
        int len[3] = {0, 5, 0}, disp[3] = {7, 3, 1};
        MPI_Datatype t;
        layout l = {0};
        OK(MPI_Type_indexed(3, len, disp, MPI_SHORT, &t));
        OK(MPI_Type_commit(&t));
        lay_add(&l, 6, 10);
        exercise("only the middle block", t, 1, &l, MPI_SHORT, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
    }
    return case_end();
}
