/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* A resized extent stays with a type through further constructors, and is the
 * step between copies - not the size, and not an aligned size. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype r6, c1, c4, v, rr, r;
    MPI_Aint lb, ext;
    layout l = {0};
    int c, i;

    case_start(&argc, &argv, "resized_inherited", 2);
    OK(MPI_Type_create_resized(MPI_INT, 0, 6, &r6));
    OK(MPI_Type_contiguous(1, r6, &c1));
    OK(MPI_Type_contiguous(4, r6, &c4));
    OK(MPI_Type_vector(3, 2, 5, r6, &v));
    OK(MPI_Type_commit(&r6));
    OK(MPI_Type_commit(&c1));
    OK(MPI_Type_commit(&c4));
    OK(MPI_Type_commit(&v));
    OK(MPI_Type_get_extent(c1, &lb, &ext));
    CHECK(ext == 6, "contiguous(1) of an extent of 6 has extent %ld", (long)ext);
    OK(MPI_Type_get_extent(c4, &lb, &ext));
    CHECK(ext == 24, "contiguous(4) of an extent of 6 has extent %ld", (long)ext);

    for (c = 0; c < 5; c++)
        lay_add(&l, 6 * c, 4);
    exercise("resized int x 5", r6, 5, &l, MPI_INT, 0);
    exercise("contiguous(1) of it x 5", c1, 5, &l, MPI_INT, 0);
    lay_drop(&l);
    for (c = 0; c < 12; c++)
        lay_add(&l, 6 * c, 4);
    exercise("contiguous(4) of it x 3", c4, 3, &l, MPI_INT, 0);
    lay_drop(&l);

    OK(MPI_Type_get_extent(v, &lb, &ext));
    CHECK(ext == 72, "vector of it has extent %ld, has to be 72", (long)ext);
    for (c = 0; c < 2; c++)
        for (i = 0; i < 3; i++) {
            lay_add(&l, 72 * c + 30 * i, 4);
            lay_add(&l, 72 * c + 30 * i + 6, 4);
        }
    exercise("vector(3,2,5) of it x 2", v, 2, &l, MPI_INT, 0);
    lay_drop(&l);

    /* resized of resized: only the last one counts */
    OK(MPI_Type_create_resized(MPI_INT, 4, 12, &r));
    OK(MPI_Type_create_resized(r, -4, 20, &rr));
    OK(MPI_Type_commit(&r));
    OK(MPI_Type_commit(&rr));
    for (c = 0; c < 4; c++)
        lay_add(&l, 12 * c, 4);
    exercise("int with lb 4, extent 12, x 4", r, 4, &l, MPI_INT, 0);
    lay_drop(&l);
    for (c = 0; c < 4; c++)
        lay_add(&l, 20 * c, 4);
    exercise("resized again to extent 20, x 4", rr, 4, &l, MPI_INT, 0);
    lay_drop(&l);
    OK(MPI_Type_free(&r6));
    OK(MPI_Type_free(&c1));
    OK(MPI_Type_free(&c4));
    OK(MPI_Type_free(&v));
    OK(MPI_Type_free(&r));
    OK(MPI_Type_free(&rr));
    return case_end();
}
