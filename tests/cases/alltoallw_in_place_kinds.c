/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 3 */
/* cuda-aware: MPI_Alltoallw */
/* MPI_Alltoallw in place where every pair of ranks has its own type, with its own
 * size and its own distance between start of data and buffer pointer. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype ty[3][3];
    int cnt[3], dis[3], a, b, i, k;
    unsigned char *img;
    void *buf;
    case_start(&argc, &argv, "alltoallw_in_place_kinds", 3);
    /* pair {a,b}: a+b+1 chars, one every 3 bytes, first one 10*(a+b) further on */
    for (a = 0; a < 3; a++)
        for (b = 0; b < 3; b++) {
            int s = a + b, len[8];
            MPI_Aint d[8];
            for (i = 0; i <= s; i++) {
                len[i] = 1;
                d[i] = 10 * s + 3 * i;
            }
            OK(MPI_Type_create_hindexed(s + 1, len, d, MPI_CHAR, &ty[a][b]));
            OK(MPI_Type_commit(&ty[a][b]));
        }
    buf = mem_alloc(600);
    img = pat_buf(600, (unsigned)case_rank);
    mem_put(buf, img, 600);
    for (k = 0; k < 3; k++) {
        cnt[k] = 1;
        dis[k] = 5 + 190 * k;
    }
    OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buf, cnt, dis, ty[case_rank], MPI_COMM_WORLD));
    for (k = 0; k < 3; k++) {
        unsigned char *from = pat_buf(600, (unsigned)k);
        int s = case_rank + k;
        for (i = 0; i <= s; i++)
            img[5 + 190 * k + 10 * s + 3 * i] = from[5 + 190 * case_rank + 10 * s + 3 * i];
        free(from);
    }
    mem_same(buf, img, 600, "MPI_Alltoallw in place");
    for (a = 0; a < 3; a++)
        for (b = 0; b < 3; b++)
            OK(MPI_Type_free(&ty[a][b]));
    free(img);
    mem_free(buf);
    return case_end();
}
