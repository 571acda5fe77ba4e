/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* cuda-aware: MPI_Neighbor_alltoallw, MPI_Alltoallw */
/* MPI_Neighbor_alltoallw with MPI_BOTTOM: absolute addresses in the displacement
 * arrays, and absolute addresses inside the types. */
#include "mem.h"

int main(int argc, char **argv)
{
    unsigned char *s, *r, *is, *ir;
    MPI_Datatype col, st[2], rt[2];
    MPI_Aint sd[2], rd[2], ad;
    MPI_Comm g;
    int peer, nb[2], cnt[2] = {1, 1}, i, k, one = 1;

    case_start(&argc, &argv, "neighbor_bottom", 2);
    peer = 1 - case_rank;
    nb[0] = peer;
    nb[1] = case_rank;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, nb, MPI_UNWEIGHTED, 2, nb, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g));
    s = mem_alloc(512);
    r = mem_alloc(512);
    OK(MPI_Type_vector(6, 1, 3, MPI_INT, &col));
    OK(MPI_Type_commit(&col));
    st[0] = st[1] = rt[0] = rt[1] = col;

    is = pat_buf(512, 1u + (unsigned)case_rank);
    ir = pat_buf(512, 9);
    mem_put(s, is, 512);
    mem_put(r, ir, 512);
    for (k = 0; k < 2; k++) {
        OK(MPI_Get_address(s + 16 + 200 * k, &sd[k]));
        OK(MPI_Get_address(r + 8 + 240 * k, &rd[k]));
    }
    OK(MPI_Neighbor_alltoallw(MPI_BOTTOM, cnt, sd, st, MPI_BOTTOM, cnt, rd, rt, g));
    for (k = 0; k < 2; k++) {
        unsigned char *from = pat_buf(512, 1u + (unsigned)nb[k]);
        for (i = 0; i < 6; i++)
            memcpy(ir + 8 + 240 * k + 12 * i, from + 16 + 200 * k + 12 * i, 4);
        free(from);
    }
    mem_same(r, ir, 512, "addresses as displacements");

    /* addresses in the types, displacements zero, each type its own */
    free(ir);
    ir = pat_buf(512, 10);
    mem_put(r, ir, 512);
    for (k = 0; k < 2; k++) {
        OK(MPI_Get_address(s + 40 + 100 * k, &ad));
        OK(MPI_Type_create_struct(1, &one, &ad, &col, &st[k]));
        OK(MPI_Get_address(r + 4 + 200 * k, &ad));
        OK(MPI_Type_create_hindexed(1, &one, &ad, col, &rt[k]));
        OK(MPI_Type_commit(&st[k]));
        OK(MPI_Type_commit(&rt[k]));
        sd[k] = rd[k] = 0;
    }
    OK(MPI_Neighbor_alltoallw(MPI_BOTTOM, cnt, sd, st, MPI_BOTTOM, cnt, rd, rt, g));
    for (k = 0; k < 2; k++) {
        unsigned char *from = pat_buf(512, 1u + (unsigned)nb[k]);
        for (i = 0; i < 6; i++)
            memcpy(ir + 4 + 200 * k + 12 * i, from + 40 + 100 * k + 12 * i, 4);
        free(from);
    }
    mem_same(r, ir, 512, "addresses in the types");

    { /* the same through MPI_Alltoallw, whose displacements are int */
        int sdi[2] = {0, 0}, rdi[2] = {0, 0};
        MPI_Datatype ws[2], wr[2];
        free(ir);
        ir = pat_buf(512, 11);
        mem_put(r, ir, 512);
        ws[peer] = st[0];
        ws[case_rank] = st[1];
        wr[peer] = rt[0];
        wr[case_rank] = rt[1];
        OK(MPI_Alltoallw(MPI_BOTTOM, cnt, sdi, ws, MPI_BOTTOM, cnt, rdi, wr, MPI_COMM_WORLD));
        for (k = 0; k < 2; k++) {
            unsigned char *from = pat_buf(512, 1u + (unsigned)nb[k]);
            for (i = 0; i < 6; i++)
                memcpy(ir + 4 + 200 * k + 12 * i, from + 40 + 100 * k + 12 * i, 4);
            free(from);
        }
        mem_same(r, ir, 512, "MPI_Alltoallw, addresses in the types");
    }
    for (k = 0; k < 2; k++) {
        OK(MPI_Type_free(&st[k]));
        OK(MPI_Type_free(&rt[k]));
    }
    OK(MPI_Type_free(&col));
    OK(MPI_Comm_free(&g));
    free(is);
    free(ir);
    mem_free(s);
    mem_free(r);
    return case_end();
}
