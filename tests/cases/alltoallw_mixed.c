/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 3 */
/* cuda-aware: MPI_Alltoallw */
/* MPI_Alltoallw with another type for every peer, byte displacements that are no
 * multiple of anything, zero counts, and types of size zero with count > 0. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype vec, idx, sub, none;
    int i, k, round;
    int il[3] = {1, 3, 2}, id[3] = {7, 0, 4}, sz[2] = {4, 6}, ss[2] = {2, 3}, st[2] = {1, 2};
    layout lv = {0}, li = {0}, lsub = {0};

    case_start(&argc, &argv, "alltoallw_mixed", 3);
    OK(MPI_Type_vector(3, 2, 4, MPI_INT, &vec)); /* all of them six ints */
    OK(MPI_Type_indexed(3, il, id, MPI_INT, &idx));
    OK(MPI_Type_create_subarray(2, sz, ss, st, MPI_ORDER_FORTRAN, MPI_INT, &sub));
    OK(MPI_Type_contiguous(0, MPI_INT, &none));
    OK(MPI_Type_commit(&vec));
    OK(MPI_Type_commit(&idx));
    OK(MPI_Type_commit(&sub));
    OK(MPI_Type_commit(&none));
    for (i = 0; i < 3; i++) {
        lay_add(&lv, 16 * i, 8);
        lay_add(&li, 4 * id[i], 4 * (size_t)il[i]);
        lay_add(&lsub, 4 * ((2 + i) * 4 + 1), 8);
    }
    for (round = 0; round < 4; round++) {
        /* sender uses type (rank + peer + round) % 3, receiver (rank + 2 peer) % 3 */
        MPI_Datatype ty[3] = {vec, idx, sub}, stp[3], rtp[3];
        layout *ly[3] = {&lv, &li, &lsub};
        int sc[3], rc[3], sd[3], rd[3];
        unsigned char *img = pat_buf(1024, 1u + (unsigned)case_rank), *want = pat_buf(1024, 60);
        void *s = mem_alloc(1024), *r = mem_alloc(1024);
        mem_put(s, img, 1024);
        mem_put(r, want, 1024);
        for (k = 0; k < 3; k++) {
            stp[k] = ty[(case_rank + k + round) % 3];
            rtp[k] = ty[(case_rank + 2 * k) % 3];
            sc[k] = rc[k] = 1;
            sd[k] = 13 + 211 * k;
            rd[k] = 6 + 307 * (2 - k);
            if (round == 1 && (case_rank + k) % 2) /* nothing between these two */
                sc[k] = rc[k] = 0;
            if (round == 2 && (case_rank + k) % 2) {
                if (case_rank < k) { /* one side says count 0, the other an empty type */
                    sc[k] = rc[k] = 0;
                } else {
                    sc[k] = 3;
                    rc[k] = 5;
                    stp[k] = rtp[k] = none;
                }
            }
        }
        OK(MPI_Alltoallw(s, sc, sd, stp, r, rc, rd, rtp, MPI_COMM_WORLD));
        for (k = 0; k < 3; k++) {
            unsigned char *from, plain[24];
            if ((round == 1 || round == 2) && (case_rank + k) % 2)
                continue;
            from = pat_buf(1024, 1u + (unsigned)k);
            lay_gather(ly[(k + case_rank + round) % 3], from + 13 + 211 * case_rank, plain);
            lay_scatter(ly[(case_rank + 2 * k) % 3], want + rd[k], plain);
            free(from);
        }
        mem_same(r, want, 1024, round == 0 ? "all pairs" : round == 1 ? "zero counts" : round == 2 ? "empty types against zero counts" : "all pairs again");
        free(img);
        free(want);
        mem_free(s);
        mem_free(r);
    }
    OK(MPI_Type_free(&vec));
    OK(MPI_Type_free(&idx));
    OK(MPI_Type_free(&sub));
    OK(MPI_Type_free(&none));
    return case_end();
}
