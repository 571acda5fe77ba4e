/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 4 */
/* cuda-aware: MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw */
/* One rank faces three across an intercommunicator: ranks name the other group,
 * and arrays of a collective are as long as the other group. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Comm local, inter;
    MPI_Datatype t, r;
    layout l = {0};
    int side, me, remote, i, k;
    unsigned char *plain;
    area d, s;
    MPI_Status st;
    MPI_Request rq[6];

    case_start(&argc, &argv, "intercomm", 4);
    side = case_rank == 0 ? 0 : 1;
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local));
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side == 0 ? 1 : 0, 5, &inter));
    OK(MPI_Comm_rank(inter, &me));
    OK(MPI_Comm_remote_size(inter, &remote));
    CHECK(remote == (side == 0 ? 3 : 1), "remote size %d", remote);

    OK(MPI_Type_vector(6, 2, 5, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, 128, &r));
    OK(MPI_Type_commit(&r));
    for (i = 0; i < 6; i++)
        lay_add(&l, 20 * i, 8);
    plain = host_buf(l.bytes);

    /* point to point: everyone with everyone opposite */
    {
        area in[3], out[3];
        for (k = 0; k < remote; k++) {
            in[k] = area_make(&l, 99);
            out[k] = area_make(&l, (unsigned)(100 * side + 10 * me + k));
            OK(MPI_Irecv(in[k].buf, 1, r, k, 7, inter, &rq[2 * k]));
            OK(MPI_Isend(out[k].buf, 1, r, k, 7, inter, &rq[2 * k + 1]));
        }
        OK(MPI_Waitall(2 * remote, rq, MPI_STATUSES_IGNORE));
        for (k = 0; k < remote; k++) {
            area o = area_make(&l, (unsigned)(100 * (1 - side) + 10 * k + me));
            lay_gather(&l, o.img + o.zero, plain);
            ex_check_area(&in[k], &l, plain, "intercommunicator", "point to point");
            area_drop(&o);
            area_drop(&in[k]);
            area_drop(&out[k]);
        }
    }
    if (side == 0) { /* any source names the rank in the other group */
        d = area_make(&l, 98);
        OK(MPI_Recv(d.buf, 1, r, MPI_ANY_SOURCE, 8, inter, &st));
        CHECK(st.MPI_SOURCE == 2, "source %d, has to be 2", st.MPI_SOURCE);
        area_drop(&d);
    } else if (me == 2) {
        s = area_make(&l, 1);
        OK(MPI_Send(s.buf, 1, r, 0, 8, inter));
        area_drop(&s);
    }
    { /* MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw across */
        int cnt[3], sd[3], rd[3], how;
        MPI_Datatype ty[3];
        layout full = {0};
        lay_add(&full, 0, 128 * 4);
        for (how = 0; how < 3; how++) {
            area in = area_make(&full, 97), out = area_make(&full, (unsigned)(10 * how + 3 * side + me));
            for (k = 0; k < 3; k++) {
                cnt[k] = 1;
                sd[k] = how == 2 ? 128 * k : k;
                rd[k] = how == 2 ? 128 * (2 - k) : 2 - k;
                ty[k] = r;
            }
            if (how == 0)
                OK(MPI_Alltoall(out.buf, 1, r, in.buf, 1, r, inter));
            else if (how == 1)
                OK(MPI_Alltoallv(out.buf, cnt, sd, r, in.buf, cnt, rd, r, inter));
            else
                OK(MPI_Alltoallw(out.buf, cnt, sd, ty, in.buf, cnt, rd, ty, inter));
            for (k = 0; k < remote; k++) {
                area o = area_make(&full, (unsigned)(10 * how + 3 * (1 - side) + k));
                int to = how == 0 ? k : 2 - k;
                for (i = 0; i < 6; i++)
                    memcpy(in.img + in.zero + 128 * to + 20 * i, o.img + o.zero + 128 * me + 20 * i, 8);
                area_drop(&o);
            }
            mem_same(in.mem, in.img, in.len, how == 0 ? "MPI_Alltoall across" : how == 1 ? "MPI_Alltoallv across" : "MPI_Alltoallw across");
            area_drop(&in);
            area_drop(&out);
        }
        lay_drop(&full);
    }
    free(plain);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&r));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&local));
    return case_end();
}
