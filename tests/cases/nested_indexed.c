/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Indexed of indexed, outer displacements in units of the inner extent and not
 * sorted, many copies, filled from one long plain message. */
#include "mem.h"

static void nested(int outer1, int count)
{
    int len1[2] = {3, 1}, disp1[2] = {0, 14}, len2[2] = {3, 1}, disp2[2];
    MPI_Datatype inner, t;
    MPI_Aint lb, ie, e;
    layout l = {0};
    char what[64];
    int c, b, i, k;
    disp2[0] = 2;
    disp2[1] = outer1;
    OK(MPI_Type_indexed(2, len1, disp1, MPI_INT, &inner));
    OK(MPI_Type_indexed(2, len2, disp2, inner, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_get_extent(inner, &lb, &ie));
    CHECK(ie == 60, "inner extent %ld", (long)ie);
    OK(MPI_Type_get_extent(t, &lb, &e));
    for (c = 0; c < count; c++)
        for (b = 0; b < 2; b++)
            for (i = 0; i < len2[b]; i++)
                for (k = 0; k < 2; k++)
                    lay_add(&l, c * e + (disp2[b] + i) * ie + 4 * disp1[k], 4 * (size_t)len1[k]);
    snprintf(what, sizeof what, "indexed(3@2,1@%d) of indexed(3@0,1@14), count %d", outer1, count);
    exercise(what, t, count, &l, MPI_INT, 0);
    lay_drop(&l);
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    case_start(&argc, &argv, "nested_indexed", 2);
    nested(0, 16);
    nested(0, 1);
    nested(6, 9);
    nested(-4, 3);
    { /* five levels, each with a hole and its own kind */
        MPI_Datatype a, b, c, d, e;
        MPI_Aint bd[2] = {0, 400};
        int bl[2] = {1, 2}, dd[2] = {1, 0};
        MPI_Aint lb, ea, eb, ec, ed;
        layout l = {0};
        int i, j, k, m, n;
        OK(MPI_Type_vector(2, 1, 2, MPI_SHORT, &a));       /* x.x      */
        OK(MPI_Type_create_resized(a, 0, 10, &b));
        OK(MPI_Type_contiguous(3, b, &c));
        OK(MPI_Type_create_hindexed(2, bl, bd, c, &d));
        OK(MPI_Type_create_indexed_block(2, 1, dd, d, &e)); /* second first */
        OK(MPI_Type_commit(&e));
        OK(MPI_Type_get_extent(a, &lb, &ea));
        OK(MPI_Type_get_extent(b, &lb, &eb));
        OK(MPI_Type_get_extent(c, &lb, &ec));
        OK(MPI_Type_get_extent(d, &lb, &ed));
        CHECK(ea == 6 && eb == 10 && ec == 30 && ed == 460, "extents %ld %ld %ld %ld", (long)ea, (long)eb, (long)ec, (long)ed);
        for (i = 0; i < 2; i++)
            for (j = 0; j < 2; j++)
                for (k = 0; k < bl[j]; k++)
                    for (m = 0; m < 3; m++)
                        for (n = 0; n < 2; n++)
                            lay_add(&l, dd[i] * ed + bd[j] + k * ec + m * eb + 4 * n, 2);
        exercise("five levels", e, 1, &l, MPI_SHORT, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&a));
        OK(MPI_Type_free(&b));
        OK(MPI_Type_free(&c));
        OK(MPI_Type_free(&d));
        OK(MPI_Type_free(&e));
    }
    return case_end();
}
