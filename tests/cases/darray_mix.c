/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* plain-fails-intel: 2021.19 packs a cyclic x block piece wrongly: byte 8 of piece 0 of 6 x 4 */
/* Distributed arrays: block, cyclic and block-cyclic in each dimension, both
 * orders, all four pieces of a 2 x 2 grid. */
#include "mem.h"

/* does grid coordinate p of np own index i of n? */
static int owns(int dist, int darg, int n, int np, int p, int i)
{
    int b;
    if (dist == MPI_DISTRIBUTE_BLOCK) {
        b = darg == MPI_DISTRIBUTE_DFLT_DARG ? (n + np - 1) / np : darg;
        return i / b == p;
    }
    b = darg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : darg;
    return (i / b) % np == p;
}

static void piece(int rank, const int *n, const int *dist, const int *darg, int order, int count)
{
    int np[2] = {2, 2}, p[2], i, j, c;
    MPI_Datatype t;
    MPI_Aint lb, ext;
    layout l = {0};
    char what[96];

    p[0] = rank / 2; /* the process grid is in C order whatever `order` says */
    p[1] = rank % 2;
    OK(MPI_Type_create_darray(4, rank, 2, n, dist, darg, np, order, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_get_extent(t, &lb, &ext));
    CHECK(lb == 0 && ext == 4 * n[0] * n[1], "darray: lb %ld extent %ld", (long)lb, (long)ext);
    for (c = 0; c < count; c++)
        if (order == MPI_ORDER_C) {
            for (i = 0; i < n[0]; i++)
                for (j = 0; j < n[1]; j++)
                    if (owns(dist[0], darg[0], n[0], 2, p[0], i) && owns(dist[1], darg[1], n[1], 2, p[1], j))
                        lay_add(&l, c * ext + 4 * (i * n[1] + j), 4);
        } else {
            for (j = 0; j < n[1]; j++)
                for (i = 0; i < n[0]; i++)
                    if (owns(dist[0], darg[0], n[0], 2, p[0], i) && owns(dist[1], darg[1], n[1], 2, p[1], j))
                        lay_add(&l, c * ext + 4 * (j * n[0] + i), 4);
        }
    snprintf(what, sizeof what, "darray piece %d of %d x %d, %s order, count %d", rank, n[0], n[1], order == MPI_ORDER_C ? "C" : "Fortran", count);
    if (l.bytes > 0)
        exercise(what, t, count, &l, MPI_INT, 0);
    lay_drop(&l);
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    int B = MPI_DISTRIBUTE_BLOCK, C = MPI_DISTRIBUTE_CYCLIC, D = MPI_DISTRIBUTE_DFLT_DARG, o, r;
    int n1[2] = {6, 4}, d1[2], a1[2] = {2, 2}, n2[2] = {7, 9}, d2[2], a2[2] = {2, 3}, d3[2], a3[2];
    case_start(&argc, &argv, "darray_mix", 2);
    d1[0] = C;
    d1[1] = B;
    d2[0] = C;
    d2[1] = C;
    d3[0] = B;
    d3[1] = C;
    a3[0] = D;
    a3[1] = D;
    for (o = 0; o < 2; o++)
        for (r = 0; r < 4; r++) {
            int ord = o ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
            piece(r, n1, d1, a1, ord, 1);
            piece(r, n1, d1, a1, ord, 2);
            piece(r, n2, d2, a2, ord, 1);
            piece(r, n2, d3, a3, ord, 2);
        }
    return case_end();
}
