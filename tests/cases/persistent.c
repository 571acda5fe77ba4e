/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Persistent strided transfers: the type is freed before the first start, each
 * start sends what is in the buffer then, and requests survive completion. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t, u;
    layout ls = {0}, lr = {0};
    area src, dst;
    unsigned char *plain;
    MPI_Request rq[2];
    MPI_Status st[2];
    int i, rep, peer, idx, flag, n, big;

    case_start(&argc, &argv, "persistent", 2);
    peer = 1 - case_rank;
    for (big = 0; big < 2; big++) {
        int blocks = big ? 30000 : 12;
        OK(MPI_Type_vector(blocks, 1, 2, MPI_DOUBLE, &t));
        OK(MPI_Type_vector(blocks / 2, 2, 3, MPI_DOUBLE, &u));
        OK(MPI_Type_commit(&t));
        OK(MPI_Type_commit(&u));
        memset(&ls, 0, sizeof ls);
        memset(&lr, 0, sizeof lr);
        for (i = 0; i < blocks; i++)
            lay_add(&ls, 16 * (MPI_Aint)i, 8);
        for (i = 0; i < blocks / 2; i++)
            lay_add(&lr, 24 * (MPI_Aint)i, 16);
        src = area_make(&ls, 0);
        dst = area_make(&lr, 200);
        plain = host_buf(ls.bytes);
        OK(MPI_Send_init(src.buf, 1, t, peer, 6, MPI_COMM_WORLD, &rq[0]));
        OK(MPI_Recv_init(dst.buf, 1, u, peer, 6, MPI_COMM_WORLD, &rq[1]));
        OK(MPI_Type_free(&t));
        OK(MPI_Type_free(&u));
        for (rep = 0; rep < 6; rep++) {
            area now = area_make(&ls, (unsigned)(10 * rep + case_rank)), his = area_make(&ls, (unsigned)(10 * rep + peer));
            mem_put(src.mem, now.img, now.len);
            memcpy(src.img, now.img, now.len);
            if (rep % 2) {
                OK(MPI_Startall(2, rq));
            } else {
                OK(MPI_Start(&rq[1]));
                OK(MPI_Start(&rq[0]));
            }
            if (rep < 2) {
                OK(MPI_Waitall(2, rq, st));
            } else if (rep == 2) {
                OK(MPI_Wait(&rq[0], &st[0]));
                OK(MPI_Wait(&rq[1], &st[1]));
            } else if (rep == 3) {
                do
                    OK(MPI_Testall(2, rq, &flag, st));
                while (!flag);
            } else {
                MPI_Status s;
                for (i = 0; i < 2; i++) {
                    OK(MPI_Waitany(2, rq, &idx, &s));
                    CHECK(idx == 0 || idx == 1, "MPI_Waitany gave %d", idx);
                    st[idx] = s;
                }
                OK(MPI_Waitany(2, rq, &idx, &s));
                CHECK(idx == MPI_UNDEFINED, "both inactive, MPI_Waitany gave %d", idx);
            }
            CHECK(rq[0] != MPI_REQUEST_NULL && rq[1] != MPI_REQUEST_NULL, "a persistent request was cleared");
            OK(MPI_Get_elements(&st[1], MPI_DOUBLE, &n));
            CHECK(n == blocks && st[1].MPI_SOURCE == peer && st[1].MPI_TAG == 6, "round %d: %d doubles from %d tag %d", rep, n, st[1].MPI_SOURCE, st[1].MPI_TAG);
            lay_gather(&ls, his.img + his.zero, plain);
            ex_check_area(&dst, &lr, plain, "persistent", "data of this round");
            area_drop(&now);
            area_drop(&his);
        }
        OK(MPI_Request_free(&rq[0]));
        OK(MPI_Request_free(&rq[1]));
        area_drop(&src);
        area_drop(&dst);
        free(plain);
        lay_drop(&ls);
        lay_drop(&lr);
    }
    return case_end();
}
