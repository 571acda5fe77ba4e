/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* cuda-aware: MPI_Neighbor_alltoall and its kin */
/* plain-fails-mpich4: 4.0.2 swaps the two blocks of a direction with 1 rank in MPI_Neighbor_alltoall (pmodels/mpich#2194) */
/* plain-fails-intel: 2021.19 swaps the two blocks of a direction with 1 rank in MPI_Neighbor_alltoall */
/* Periodic grids with 2 ranks and with 1 rank in a direction: both neighbours are
 * the same rank, and only the order says which message is whose.  What was sent
 * to the left must be received as coming from the right. */
#include "mem.h"

static void grid(MPI_Comm comm, int nd, const int *dims, int how)
{
    int periods[3] = {1, 1, 1}, me, np, k, i, n = 2 * nd, lo, hi;
    int cnt[6], di[6];
    MPI_Aint da[6];
    MPI_Datatype t, r, ty[6];
    MPI_Comm g;
    layout full = {0};
    area s, d;
    char what[96];

    OK(MPI_Comm_size(comm, &np));
    OK(MPI_Cart_create(comm, nd, dims, periods, 0, &g));
    OK(MPI_Comm_rank(g, &me));
    OK(MPI_Type_vector(4, 1, 2, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, 40, &r));
    OK(MPI_Type_commit(&r));
    lay_add(&full, 0, 40 * 6);
    s = area_make(&full, (unsigned)(1 + me));
    d = area_make(&full, 50);
    for (k = 0; k < n; k++) {
        cnt[k] = 1;
        di[k] = k;
        da[k] = 40 * k;
        ty[k] = r;
    }
    if (how == 0)
        OK(MPI_Neighbor_alltoall(s.buf, 1, r, d.buf, 1, r, g));
    else if (how == 1)
        OK(MPI_Neighbor_alltoallv(s.buf, cnt, di, r, d.buf, cnt, di, r, g));
    else
        OK(MPI_Neighbor_alltoallw(s.buf, cnt, da, ty, d.buf, cnt, da, ty, g));
    for (k = 0; k < nd; k++) {
        area o;
        OK(MPI_Cart_shift(g, k, 1, &lo, &hi));
        /* block 2k comes from the low side, which sent it as its block 2k+1 */
        o = area_make(&full, (unsigned)(1 + lo));
        for (i = 0; i < 4; i++)
            memcpy(d.img + d.zero + 40 * (2 * k) + 8 * i, o.img + o.zero + 40 * (2 * k + 1) + 8 * i, 4);
        area_drop(&o);
        o = area_make(&full, (unsigned)(1 + hi));
        for (i = 0; i < 4; i++)
            memcpy(d.img + d.zero + 40 * (2 * k + 1) + 8 * i, o.img + o.zero + 40 * (2 * k) + 8 * i, 4);
        area_drop(&o);
    }
    snprintf(what, sizeof what, "%s on %d x %d x %d, periodic", how == 0 ? "MPI_Neighbor_alltoall" : how == 1 ? "MPI_Neighbor_alltoallv" : "MPI_Neighbor_alltoallw", dims[0], nd > 1 ? dims[1] : 1, nd > 2 ? dims[2] : 1);
    mem_same(d.mem, d.img, d.len, what);
    area_drop(&s);
    area_drop(&d);
    lay_drop(&full);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&r));
    OK(MPI_Comm_free(&g));
}

int main(int argc, char **argv)
{
    int d2[1] = {2}, d1[1] = {1}, d21[2] = {2, 1}, d12[2] = {1, 2}, d112[3] = {1, 1, 2}, how;
    case_start(&argc, &argv, "neighbor_cart_small", 2);
    for (how = 0; how < 3; how++) {
        grid(MPI_COMM_WORLD, 1, d2, how);
        grid(MPI_COMM_SELF, 1, d1, how);
        grid(MPI_COMM_WORLD, 2, d21, how);
        grid(MPI_COMM_WORLD, 2, d12, how);
        grid(MPI_COMM_WORLD, 3, d112, how);
    }
    return case_end();
}
