/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 4 */
/* Receives from anyone with any tag into a strided type: the status names the
 * real source, the real tag and the real count, in every way of completing. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t, r;
    layout one = {0};
    MPI_Status st, sts[3];
    MPI_Request rq[3];
    int i, k, n, round, seen, idx, cnt, flag, out[3];

    case_start(&argc, &argv, "any_source_status", 4);
    OK(MPI_Type_vector(3, 2, 4, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, 64, &r));
    OK(MPI_Type_commit(&r));
    for (i = 0; i < 3; i++)
        lay_add(&one, 16 * i, 8);

    for (round = 0; round < 6; round++) {
        if (case_rank > 0) {
            unsigned char *p = pat_buf(24 * (size_t)case_rank, (unsigned)(10 * round + case_rank));
            void *c = mem_alloc(24 * (size_t)case_rank);
            mem_put(c, p, 24 * (size_t)case_rank); /* rank k sends k elements */
            OK(MPI_Send(c, 6 * case_rank, MPI_INT, 0, 100 + 10 * round + case_rank, MPI_COMM_WORLD));
            free(p);
            mem_free(c);
            OK(MPI_Barrier(MPI_COMM_WORLD)); /* a round does not run into the next */
            continue;
        }
        {
            layout room = {0};
            area a[3];
            int src[3], tag[3], count[3];
            lay_add(&room, 0, 64 * 5);
            for (k = 0; k < 3; k++) {
                a[k] = area_make(&room, 50u + (unsigned)k);
                src[k] = tag[k] = count[k] = -1;
            }
            if (round == 0) {
                for (k = 0; k < 3; k++) {
                    OK(MPI_Recv(a[k].buf, 5, r, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &sts[k]));
                    out[k] = k;
                }
            } else {
                for (k = 0; k < 3; k++)
                    OK(MPI_Irecv(a[k].buf, 5, r, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &rq[k]));
                for (seen = 0; seen < 3;) {
                    if (round == 1) {
                        OK(MPI_Waitall(3, rq, sts));
                        for (k = 0; k < 3; k++)
                            out[k] = k;
                        seen = 3;
                    } else if (round == 2) {
                        OK(MPI_Waitany(3, rq, &idx, &st));
                        CHECK(idx >= 0 && idx < 3, "MPI_Waitany gave index %d", idx);
                        sts[seen] = st;
                        out[seen++] = idx;
                    } else if (round == 3) {
                        OK(MPI_Waitsome(3, rq, &cnt, out + seen, sts + seen));
                        CHECK(cnt >= 1 && seen + cnt <= 3, "MPI_Waitsome gave %d", cnt);
                        seen += cnt;
                    } else if (round == 4) {
                        OK(MPI_Testsome(3, rq, &cnt, out + seen, sts + seen));
                        CHECK(cnt >= 0 && seen + cnt <= 3, "MPI_Testsome gave %d", cnt);
                        seen += cnt;
                    } else {
                        OK(MPI_Testany(3, rq, &idx, &flag, &st));
                        if (flag) {
                            CHECK(idx >= 0 && idx < 3, "MPI_Testany gave index %d", idx);
                            sts[seen] = st;
                            out[seen++] = idx;
                        }
                    }
                }
                for (k = 0; k < 3; k++)
                    CHECK(rq[k] == MPI_REQUEST_NULL, "round %d: request %d not cleared", round, k);
            }
            for (k = 0; k < 3; k++) {
                int j = out[k];
                CHECK(j >= 0 && j < 3 && src[j] == -1, "round %d: index %d twice", round, j);
                src[j] = sts[k].MPI_SOURCE;
                tag[j] = sts[k].MPI_TAG;
                OK(MPI_Get_count(&sts[k], r, &count[j]));
                OK(MPI_Get_elements(&sts[k], r, &n));
                CHECK(src[j] >= 1 && src[j] <= 3, "round %d: source %d", round, src[j]);
                CHECK(tag[j] == 100 + 10 * round + src[j], "round %d: tag %d from %d", round, tag[j], src[j]);
                CHECK(count[j] == src[j] && n == 6 * src[j], "round %d: count %d, elements %d from %d", round, count[j], n, src[j]);
                MPI_Test_cancelled(&sts[k], &flag);
                CHECK(!flag, "round %d: cancelled", round);
            }
            for (k = 0; k < 3; k++) {
                layout l = {0};
                unsigned char *p = pat_buf(24 * (size_t)src[k], (unsigned)(10 * round + src[k]));
                int c;
                for (c = 0; c < src[k]; c++)
                    for (i = 0; i < 3; i++)
                        lay_add(&l, 64 * c + 16 * i, 8);
                ex_check_area(&a[k], &l, p, "any source", "data");
                free(p);
                lay_drop(&l);
                area_drop(&a[k]);
            }
            lay_drop(&room);
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&r));
    return case_end();
}
