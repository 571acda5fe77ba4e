/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* One solid block that does not start at the lower bound and does not fill the
 * extent.  It looks contiguous, but only for count 1, and not from offset 0. */
#include "mem.h"

static void gap(int len, MPI_Aint disp, MPI_Aint lb, MPI_Aint ext, int count)
{
    MPI_Datatype raw, t;
    MPI_Datatype types[1] = {MPI_CHAR};
    layout l = {0};
    char what[96];
    int c;
    OK(MPI_Type_create_struct(1, &len, &disp, types, &raw));
    OK(MPI_Type_create_resized(raw, lb, ext, &t));
    OK(MPI_Type_commit(&t));
    for (c = 0; c < count; c++)
        lay_add(&l, c * ext + disp, (size_t)len);
    snprintf(what, sizeof what, "%d bytes at %ld in extent %ld, count %d", len, (long)disp, (long)ext, count);
    exercise(what, t, count, &l, MPI_CHAR, 0);
    lay_drop(&l);
    OK(MPI_Type_free(&raw));
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    case_start(&argc, &argv, "contig_with_gap", 2);
    gap(3, 1, 0, 4, 1);
    gap(3, 1, 0, 4, 7);
    gap(64, 128, 0, 64, 5);   /* extent equals size, but the block sits 128 further on */
    gap(16, -32, 0, 48, 6);   /* block before the buffer pointer */
    gap(8, 0, -24, 32, 4);    /* lower bound before the block */
    gap(1, 0, 0, 1000, 9);
    { /* contiguous of such elements, then count */
        MPI_Datatype raw, el, t;
        MPI_Datatype types[1] = {MPI_CHAR};
        MPI_Aint disp = 5;
        layout l = {0};
        int len = 6, c, i;
        OK(MPI_Type_create_struct(1, &len, &disp, types, &raw));
        OK(MPI_Type_create_resized(raw, 0, 16, &el));
        OK(MPI_Type_contiguous(3, el, &t));
        OK(MPI_Type_commit(&t));
        for (c = 0; c < 4; c++)
            for (i = 0; i < 3; i++)
                lay_add(&l, 48 * c + 16 * i + 5, 6);
        exercise("contiguous of gapped elements", t, 4, &l, MPI_CHAR, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&raw));
        OK(MPI_Type_free(&el));
        OK(MPI_Type_free(&t));
    }
    return case_end();
}
