/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 3 */
/* cuda-aware: MPI_Ialltoall, MPI_Ialltoallv, MPI_Ialltoallw */
/* Nonblocking all-to-alls with strided types that are freed before completion,
 * completed together with point-to-point requests. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t, r, u, w[3];
    layout full = {0}, l = {0};
    area s[3], d[3], ps, pd;
    unsigned char *plain;
    int i, k, rep, one[3] = {1, 1, 1}, di[3] = {0, 1, 2}, db[3] = {0, 80, 160}, peer, from;
    MPI_Request rq[5];
    MPI_Status st[5];

    case_start(&argc, &argv, "nonblocking_collectives", 3);
    peer = (case_rank + 1) % 3;
    from = (case_rank + 2) % 3;
    lay_add(&full, 0, 240);
    for (i = 0; i < 6; i++)
        lay_add(&l, 12 * i, 4);
    plain = host_buf(l.bytes);
    for (rep = 0; rep < 4; rep++) {
        OK(MPI_Type_vector(6, 1, 3, MPI_INT, &t));
        OK(MPI_Type_create_resized(t, 0, 80, &r));
        OK(MPI_Type_commit(&r));
        OK(MPI_Type_dup(r, &u));
        for (k = 0; k < 3; k++) {
            w[k] = k == 1 ? u : r;
            s[k] = area_make(&full, (unsigned)(100 * rep + 10 * k + case_rank));
            d[k] = area_make(&full, 3);
        }
        ps = area_make(&l, (unsigned)(100 * rep + 50 + case_rank));
        pd = area_make(&l, 4);
        OK(MPI_Irecv(pd.buf, 1, r, from, 9, MPI_COMM_WORLD, &rq[0]));
        OK(MPI_Ialltoall(s[0].buf, 1, r, d[0].buf, 1, r, MPI_COMM_WORLD, &rq[1]));
        OK(MPI_Ialltoallv(s[1].buf, one, di, u, d[1].buf, one, di, u, MPI_COMM_WORLD, &rq[2]));
        OK(MPI_Ialltoallw(s[2].buf, one, db, w, d[2].buf, one, db, w, MPI_COMM_WORLD, &rq[3]));
        OK(MPI_Isend(ps.buf, 1, u, peer, 9, MPI_COMM_WORLD, &rq[4]));
        OK(MPI_Type_free(&t));
        OK(MPI_Type_free(&r));
        OK(MPI_Type_free(&u));
        OK(MPI_Type_contiguous(77, MPI_CHAR, &t)); /* takes a freed handle */
        OK(MPI_Type_commit(&t));
        OK(MPI_Waitall(5, rq, st));
        OK(MPI_Type_free(&t));
        for (k = 0; k < 3; k++) {
            int j;
            for (j = 0; j < 3; j++) {
                area o = area_make(&full, (unsigned)(100 * rep + 10 * k + j));
                for (i = 0; i < 6; i++)
                    memcpy(d[k].img + d[k].zero + 80 * j + 12 * i, o.img + o.zero + 80 * case_rank + 12 * i, 4);
                area_drop(&o);
            }
            mem_same(d[k].mem, d[k].img, d[k].len, k == 0 ? "MPI_Ialltoall" : k == 1 ? "MPI_Ialltoallv" : "MPI_Ialltoallw");
            area_drop(&s[k]);
            area_drop(&d[k]);
        }
        {
            area o = area_make(&l, (unsigned)(100 * rep + 50 + from));
            lay_gather(&l, o.img + o.zero, plain);
            ex_check_area(&pd, &l, plain, "nonblocking collectives", "point to point beside them");
            area_drop(&o);
        }
        area_drop(&ps);
        area_drop(&pd);
    }
    free(plain);
    return case_end();
}
