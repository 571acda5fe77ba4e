/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 4 */
/* cuda-aware: MPI_Neighbor_alltoallw */
/* A halo exchange on a 2 x 2 grid that is not periodic: half of the neighbours
 * are MPI_PROC_NULL.  Faces are subarrays of one array, exchanged in one call,
 * and what faces no neighbour must stay. */
#include "mem.h"

enum { NX = 9, NY = 7 }; /* with one halo cell all around */

int main(int argc, char **argv)
{
    int dims[2] = {2, 2}, periods[2] = {0, 0}, sizes[2] = {NX, NY}, c[2], me, k, i, nb[4], how;
    MPI_Comm g;
    MPI_Datatype st[4], rt[4];
    MPI_Aint zero[4] = {0, 0, 0, 0};
    int one[4] = {1, 1, 1, 1};
    double *img, *his;
    void *a;

    case_start(&argc, &argv, "neighbor_cart_edges", 4);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &g));
    OK(MPI_Comm_rank(g, &me));
    OK(MPI_Cart_coords(g, me, 2, c));
    OK(MPI_Cart_shift(g, 0, 1, &nb[0], &nb[1]));
    OK(MPI_Cart_shift(g, 1, 1, &nb[2], &nb[3]));
    for (k = 0; k < 4; k++) {
        int sub[2] = {k < 2 ? 1 : NX - 2, k < 2 ? NY - 2 : 1};
        int ss[2] = {k == 0 ? 1 : k == 1 ? NX - 2 : 1, k == 2 ? 1 : k == 3 ? NY - 2 : 1};
        int rs[2] = {k == 0 ? 0 : k == 1 ? NX - 1 : 1, k == 2 ? 0 : k == 3 ? NY - 1 : 1};
        OK(MPI_Type_create_subarray(2, sizes, sub, ss, MPI_ORDER_C, MPI_DOUBLE, &st[k]));
        OK(MPI_Type_create_subarray(2, sizes, sub, rs, MPI_ORDER_C, MPI_DOUBLE, &rt[k]));
        OK(MPI_Type_commit(&st[k]));
        OK(MPI_Type_commit(&rt[k]));
    }
    a = mem_alloc(8 * NX * NY);
    for (how = 0; how < 2; how++) {
        img = (double *)pat_buf(8 * NX * NY, 1u + (unsigned)me);
        mem_put(a, img, 8 * NX * NY);
        if (how == 0) {
            OK(MPI_Neighbor_alltoallw(a, one, zero, st, a, one, zero, rt, g));
        } else { /* the same by hand */
            MPI_Request rq[8];
            for (k = 0; k < 4; k++) {
                OK(MPI_Irecv(a, 1, rt[k], nb[k], k, g, &rq[k]));
                OK(MPI_Isend(a, 1, st[k], nb[k], k ^ 1, g, &rq[4 + k]));
            }
            OK(MPI_Waitall(8, rq, MPI_STATUSES_IGNORE));
        }
        for (k = 0; k < 4; k++) {
            if (nb[k] == MPI_PROC_NULL)
                continue;
            his = (double *)pat_buf(8 * NX * NY, 1u + (unsigned)nb[k]);
            if (k < 2)
                for (i = 1; i < NY - 1; i++)
                    memcpy(&img[(k == 0 ? 0 : NX - 1) * NY + i], &his[(k == 0 ? NX - 2 : 1) * NY + i], 8);
            else
                for (i = 1; i < NX - 1; i++)
                    memcpy(&img[i * NY + (k == 2 ? 0 : NY - 1)], &his[i * NY + (k == 2 ? NY - 2 : 1)], 8);
            free(his);
        }
        mem_same(a, img, 8 * NX * NY, how == 0 ? "halo by MPI_Neighbor_alltoallw" : "halo by Isend and Irecv");
        free(img);
    }
    { /* MPI_Neighbor_alltoall: slots of missing neighbours are not written */
        layout full = {0};
        area s, d;
        MPI_Datatype t, r;
        lay_add(&full, 0, 4 * 48);
        OK(MPI_Type_vector(5, 1, 2, MPI_INT, &t));
        OK(MPI_Type_create_resized(t, 0, 48, &r));
        OK(MPI_Type_commit(&r));
        s = area_make(&full, 20u + (unsigned)me);
        d = area_make(&full, 40);
        OK(MPI_Neighbor_alltoall(s.buf, 1, r, d.buf, 1, r, g));
        for (k = 0; k < 4; k++) {
            area o;
            if (nb[k] == MPI_PROC_NULL)
                continue;
            o = area_make(&full, 20u + (unsigned)nb[k]);
            for (i = 0; i < 5; i++)
                memcpy(d.img + d.zero + 48 * k + 8 * i, o.img + o.zero + 48 * (k ^ 1) + 8 * i, 4);
            area_drop(&o);
        }
        mem_same(d.mem, d.img, d.len, "MPI_Neighbor_alltoall at the edge");
        area_drop(&s);
        area_drop(&d);
        lay_drop(&full);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_free(&r));
    }
    for (k = 0; k < 4; k++) {
        OK(MPI_Type_free(&st[k]));
        OK(MPI_Type_free(&rt[k]));
    }
    mem_free(a);
    OK(MPI_Comm_free(&g));
    return case_end();
}
