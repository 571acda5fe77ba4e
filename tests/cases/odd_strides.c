/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Byte strides that are no multiple of the element, block lengths from one byte
 * to more than a cache line, long and short blocks, all copied exactly. */
#include "mem.h"

static void hv(int blocks, int len, MPI_Aint stride, MPI_Datatype old, int ob, int count)
{
    MPI_Datatype t;
    MPI_Aint lb, ext;
    layout l = {0};
    char what[96];
    int c, b;
    OK(MPI_Type_create_hvector(blocks, len, stride, old, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_get_extent(t, &lb, &ext));
    for (c = 0; c < count; c++)
        for (b = 0; b < blocks; b++)
            lay_add(&l, c * ext + b * stride, (size_t)len * (size_t)ob);
    snprintf(what, sizeof what, "hvector(%d, %d x %d bytes, stride %ld) x %d", blocks, len, ob, (long)stride, count);
    exercise(what, t, count, &l, old, 0);
    lay_drop(&l);
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    int n;
    case_start(&argc, &argv, "odd_strides", 2);
    hv(10, 1, 13, MPI_DOUBLE, 8, 1);
    hv(10, 1, 13, MPI_DOUBLE, 8, 3);
    hv(17, 3, 29, MPI_DOUBLE, 8, 2);
    for (n = 1; n <= 72; n++)
        hv(5 + n % 7, n, n + 1 + n % 5, MPI_CHAR, 1, 1 + n % 3);
    for (n = 1; n <= 260; n += 37)
        hv(6, n, 2 * n + 3, MPI_CHAR, 1, 2);
    hv(3, 4096, 5000, MPI_CHAR, 1, 2);
    hv(3000, 1, 2, MPI_CHAR, 1, 1);
    hv(1000, 2, 3, MPI_CHAR, 1, 2);
    return case_end();
}
