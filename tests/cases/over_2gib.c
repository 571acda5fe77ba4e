/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* heavy */
/* timeout: 300 */
/* One message of more than 2 GiB: rows cut out of a wider matrix on one side,
 * plain rows on the other, in both directions. */
#include "mem.h"

#define ROW 4096
#define PITCH 4160
#define ROWS 525288 /* 2151579648 bytes in all */

static void fill(unsigned char *b, size_t pitch, unsigned salt)
{
    size_t r, k = 256;
    unsigned char *h = host_buf(pitch * k);
    for (r = 0; r < ROWS; r += k) {
        size_t i, n = r + k > ROWS ? ROWS - r : k;
        memset(h, 0xee, pitch * n);
        for (i = 0; i < n; i++)
            memset(h + i * pitch, pat(r + i, salt), ROW);
        mem_put(b + r * pitch, h, pitch * n);
    }
    free(h);
}

static void check(const unsigned char *b, size_t pitch, unsigned salt, int gaps, const char *what)
{
    size_t r, k = 256, i, j;
    unsigned char *h = host_buf(pitch * k);
    for (r = 0; r < ROWS; r += k) {
        size_t n = r + k > ROWS ? ROWS - r : k;
        mem_get(h, b + r * pitch, pitch * n);
        for (i = 0; i < n; i++) {
            unsigned char v = pat(r + i, salt);
            for (j = 0; j < ROW; j += 511)
                CHECK(h[i * pitch + j] == v, "%s: row %zu is wrong", what, r + i);
            CHECK(h[i * pitch + ROW - 1] == v, "%s: end of row %zu is wrong", what, r + i);
            if (gaps)
                CHECK(h[i * pitch + ROW] == 0xee && h[i * pitch + pitch - 1] == 0xee, "%s: gap after row %zu was written", what, r + i);
        }
    }
    free(h);
}

int main(int argc, char **argv)
{
    MPI_Datatype cut, row;
    MPI_Status st;
    MPI_Count el = 0;
    int n = -1;
    unsigned char *b;

    case_start(&argc, &argv, "over_2gib", 2);
    OK(MPI_Type_vector(ROWS, ROW, PITCH, MPI_BYTE, &cut));
    OK(MPI_Type_contiguous(ROW, MPI_BYTE, &row));
    OK(MPI_Type_commit(&cut));
    OK(MPI_Type_commit(&row));
    if (case_rank == 0) {
        b = mem_alloc((size_t)ROWS * PITCH);
        fill(b, PITCH, 1);
        OK(MPI_Send(b, 1, cut, 1, 0, MPI_COMM_WORLD));
        mem_set(b, 0xee, (size_t)ROWS * PITCH);
        OK(MPI_Recv(b, 1, cut, 1, 1, MPI_COMM_WORLD, &st));
        OK(MPI_Get_count(&st, cut, &n));
        CHECK(n == 1, "count %d, has to be 1", n);
        OK(MPI_Get_elements_x(&st, cut, &el));
        CHECK(el == (MPI_Count)ROWS * ROW, "%lld elements, have to be %lld", (long long)el, (long long)ROWS * ROW);
        check(b, PITCH, 2, 1, "typed receive");
    } else {
        b = mem_alloc((size_t)ROWS * ROW);
        OK(MPI_Recv(b, ROWS, row, 0, 0, MPI_COMM_WORLD, &st));
        OK(MPI_Get_count(&st, row, &n));
        CHECK(n == ROWS, "count %d, has to be %d", n, ROWS);
        check(b, ROW, 1, 0, "plain receive");
        fill(b, ROW, 2);
        OK(MPI_Send(b, ROWS, row, 0, 1, MPI_COMM_WORLD));
    }
    mem_free(b);
    OK(MPI_Type_free(&cut));
    OK(MPI_Type_free(&row));
    return case_end();
}
