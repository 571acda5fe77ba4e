/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Arrays of requests that mix strided and plain, send and receive, null and
 * inactive ones, completed with every call; data is there as soon as the call
 * says so, and no call says anything about a request that is not done. */
#include "mem.h"

enum { N = 8 };

int main(int argc, char **argv)
{
    MPI_Datatype t;
    layout l = {0};
    MPI_Request rq[N];
    MPI_Status sts[N], st;
    area d[3], s[3];
    void *c[2], *token;
    unsigned char *plain, *ci;
    int how, k, peer, idx, cnt, flag, out[N], seen[N], nseen, i;

    case_start(&argc, &argv, "mixed_completion", 2);
    peer = 1 - case_rank;
    OK(MPI_Type_vector(20, 2, 3, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 20; i++)
        lay_add(&l, 12 * i, 8);
    plain = host_buf(l.bytes);
    token = mem_alloc(4);
    mem_set(token, 0, 4);

    for (how = 0; how < 6; how++) {
        /* 0 typed irecv, 1 null, 2 plain irecv, 3 inactive, 4 typed isend,
         * 5 typed irecv whose message comes late, 6 null, 7 typed irecv */
        int late = 5, round = 10 * how;
        for (k = 0; k < 3; k++) {
            d[k] = area_make(&l, 90u + (unsigned)k);
            s[k] = area_make(&l, (unsigned)(round + 3 * case_rank + k));
        }
        for (k = 0; k < 2; k++) {
            c[k] = mem_alloc(80);
            ci = pat_buf(80, (unsigned)(round + 7 + case_rank));
            mem_put(c[k], ci, 80);
            free(ci);
        }
        OK(MPI_Irecv(d[0].buf, 1, t, peer, 0, MPI_COMM_WORLD, &rq[0]));
        rq[1] = MPI_REQUEST_NULL;
        OK(MPI_Irecv(c[1], 20, MPI_INT, peer, 1, MPI_COMM_WORLD, &rq[2]));
        OK(MPI_Send_init(s[0].buf, 1, t, peer, 8, MPI_COMM_WORLD, &rq[3]));
        OK(MPI_Irecv(d[1].buf, 1, t, peer, 2, MPI_COMM_WORLD, &rq[5]));
        rq[6] = MPI_REQUEST_NULL;
        OK(MPI_Irecv(d[2].buf, 1, t, peer, 3, MPI_COMM_WORLD, &rq[7]));
        OK(MPI_Isend(s[0].buf, 1, t, peer, 0, MPI_COMM_WORLD, &rq[4]));
        OK(MPI_Send(c[0], 20, MPI_INT, peer, 1, MPI_COMM_WORLD));
        OK(MPI_Send(s[2].buf, 1, t, peer, 3, MPI_COMM_WORLD));

        memset(seen, 0, sizeof seen);
        nseen = 0;
        flag = 1;
        while (nseen < 4) { /* all but the late one */
            cnt = 0;
            if (how == 0) {
                OK(MPI_Waitany(N, rq, &idx, &st));
                CHECK(idx != MPI_UNDEFINED, "MPI_Waitany: undefined with open requests");
                out[0] = idx;
                cnt = 1;
            } else if (how == 1) {
                OK(MPI_Waitsome(N, rq, &cnt, out, sts));
                CHECK(cnt != MPI_UNDEFINED, "MPI_Waitsome: undefined with open requests");
            } else if (how == 2) {
                OK(MPI_Testsome(N, rq, &cnt, out, MPI_STATUSES_IGNORE));
                CHECK(cnt != MPI_UNDEFINED, "MPI_Testsome: undefined with open requests");
            } else if (how == 3) {
                OK(MPI_Testany(N, rq, &idx, &flag, MPI_STATUS_IGNORE));
                if (flag) {
                    CHECK(idx != MPI_UNDEFINED, "MPI_Testany: undefined with open requests");
                    out[0] = idx;
                    cnt = 1;
                }
            } else if (how == 4) { /* MPI_Testall must say no and change nothing */
                OK(MPI_Testall(N, rq, &flag, sts));
                CHECK(!flag, "MPI_Testall says yes, but one message was never sent");
                for (k = 0; k < N; k++) {
                    if (k == 1 || k == 6 || k == 3 || k == late || seen[k])
                        continue;
                    OK(MPI_Test(&rq[k], &flag, &st));
                    if (flag)
                        out[cnt++] = k;
                }
            } else {
                for (k = 0; k < N; k++) {
                    if (k == 1 || k == 6 || k == 3 || k == late || seen[k])
                        continue;
                    OK(MPI_Wait(&rq[k], &st));
                    out[cnt++] = k;
                }
            }
            for (k = 0; k < cnt; k++) {
                idx = out[k];
                CHECK(idx >= 0 && idx < N && !seen[idx], "how %d: index %d twice or out of range", how, idx);
                CHECK(idx != late, "how %d: a receive is done, but its message was never sent", how);
                CHECK(idx != 1 && idx != 6 && idx != 3, "how %d: index %d is null or inactive", how, idx);
                CHECK(rq[idx] == MPI_REQUEST_NULL, "how %d: request %d not cleared", how, idx);
                seen[idx] = 1;
                nseen++;
                if (idx == 0 || idx == 7) { /* its data must be there now */
                    int w = idx == 0 ? 0 : 2;
                    area o = area_make(&l, (unsigned)(round + 3 * peer + w));
                    lay_gather(&l, o.img + o.zero, plain);
                    ex_check_area(&d[w], &l, plain, "mixed completion", "data when done");
                    area_drop(&o);
                }
                if (idx == 2) {
                    ci = pat_buf(80, (unsigned)(round + 7 + peer));
                    mem_same(c[1], ci, 80, "mixed completion, plain data when done");
                    free(ci);
                }
            }
        }
        CHECK(rq[late] != MPI_REQUEST_NULL, "how %d: the late request is gone", how);
        OK(MPI_Testall(N, rq, &flag, MPI_STATUSES_IGNORE));
        CHECK(!flag, "how %d: all done, but one message was never sent", how);
        ex_check_area(&d[1], &l, NULL, "mixed completion", "late buffer, still empty");
        /* both ranks are here: now the late message */
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Send(s[1].buf, 1, t, peer, 2, MPI_COMM_WORLD));
        OK(MPI_Waitall(N, rq, sts));
        CHECK(rq[late] == MPI_REQUEST_NULL && rq[3] != MPI_REQUEST_NULL, "how %d: requests after the end", how);
        CHECK(sts[late].MPI_SOURCE == peer && sts[late].MPI_TAG == 2, "how %d: late status", how);
        {
            area o = area_make(&l, (unsigned)(round + 3 * peer + 1));
            lay_gather(&l, o.img + o.zero, plain);
            ex_check_area(&d[1], &l, plain, "mixed completion", "late data");
            area_drop(&o);
        }
        OK(MPI_Request_free(&rq[3]));
        for (k = 0; k < 3; k++) {
            area_drop(&d[k]);
            area_drop(&s[k]);
        }
        mem_free(c[0]);
        mem_free(c[1]);
    }
    mem_free(token);
    free(plain);
    OK(MPI_Type_free(&t));
    return case_end();
}
