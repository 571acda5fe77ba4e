/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Lists of blocks and structs made by the large-count constructors: their contents are large counts, the
 * displacements too. */
#include "mem.h"

int main(int argc, char **argv)
{
    case_start(&argc, &argv, "large_count_lists", 2);
#if MPI_VERSION < 4 || defined(OPEN_MPI)
    return case_skip("no large-count constructors");
#else
    {
        const MPI_Count len[4] = {2, 1, 3, 1}, disp[4] = {9, 4, 0, -6}, bytes[4] = {100, 7, 41, -32};
        MPI_Datatype t, types[4] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_SHORT};
        const int size[4] = {4, 8, 1, 2};
        layout l[5] = {{0}};
        int i;
        for (i = 0; i < 4; i++) {
            lay_add(&l[0], disp[i] * 4, (size_t)len[i] * 4);
            lay_add(&l[1], bytes[i], (size_t)len[i] * 4);
            lay_add(&l[2], disp[i] * 4, 8);
            lay_add(&l[3], bytes[i], 8);
            lay_add(&l[4], bytes[i], (size_t)(len[i] * size[i]));
        }
        OK(MPI_Type_indexed_c(4, len, disp, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        exercise("indexed_c", t, 1, &l[0], MPI_INT, 0);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_create_hindexed_c(4, len, bytes, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        exercise("hindexed_c", t, 1, &l[1], MPI_INT, 0);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_create_indexed_block_c(4, 2, disp, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        exercise("indexed_block_c", t, 1, &l[2], MPI_INT, 0);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_create_hindexed_block_c(4, 2, bytes, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        exercise("hindexed_block_c", t, 1, &l[3], MPI_INT, 0);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_create_struct_c(4, len, bytes, types, &t));
        OK(MPI_Type_commit(&t));
        exercise("struct_c", t, 1, &l[4], MPI_CHAR, EX_NO_CONTIG);
        OK(MPI_Type_free(&t));
        for (i = 0; i < 5; i++)
            lay_drop(&l[i]);
    }
    return case_end();
#endif
}
