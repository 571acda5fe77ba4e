/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* heavy */
/* libs: -ldl */
/* timeout: 400 */
/* More elements than an int counts, in messages both ways and in a packed buffer.  All elements of rank 0 are one
 * byte, in host memory (a simulated device would take minutes for so many). */
#include "large.h"
#include "mem.h"

#define MANY (((MPI_Count)1 << 31) + 16)

static void all(const unsigned char *b, int byte, const char *what)
{
    const size_t step = (size_t)1 << 24;
    unsigned char *h = host_buf(step), *want = host_buf(step);
    size_t at;
    memset(want, byte, step);
    for (at = 0; at < (size_t)MANY; at += step) {
        size_t n = (size_t)MANY - at < step ? (size_t)MANY - at : step;
        mem_get(h, b + at, n);
        CHECK(memcmp(h, want, n) == 0, "%s: wrong bytes from %zu on", what, at);
    }
    free(h);
    free(want);
}

int main(int argc, char **argv)
{
    const unsigned char byte = 0xa7;
    MPI_Datatype same;

    case_start(&argc, &argv, "over_2gi_elements", 2);
    if (MPI_Send_c == NULL)
        return case_skip("this MPI has no large-count calls");
    mem_free(mem_alloc(1)); /* mem_get is to know the device on both ranks */
    OK(MPI_Type_create_resized(MPI_BYTE, 0, 0, &same));
    OK(MPI_Type_commit(&same));
    if (case_rank == 0) {
        MPI_Count position = 0;
        unsigned char few[8], *packed;
        OK(MPI_Send_c(&byte, MANY, same, 1, 0, MPI_COMM_WORLD));
        packed = host_buf((size_t)MANY + 8);
        OK(MPI_Recv_c(packed, MANY, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        all(packed, byte, "receive of what came back");
        MPI_Barrier(MPI_COMM_WORLD);
        memset(packed, 0x11, (size_t)MANY + 8);
        OK(MPI_Pack_c(&byte, MANY, same, packed, MANY + 8, &position, MPI_COMM_WORLD));
        CHECK(position == MANY, "position %lld", (long long)position);
        all(packed, byte, "pack");
        CHECK(packed[MANY] == 0x11, "a byte too many");
        position = MANY - 3;
        OK(MPI_Unpack_c(packed, MANY + 8, &position, few, 5, MPI_BYTE, MPI_COMM_WORLD));
        CHECK(position == MANY + 2, "position %lld", (long long)position);
        CHECK(memcmp(few, "\xa7\xa7\xa7\x11\x11", 5) == 0, "unpack at a large position");
        free(packed);
    } else {
        MPI_Status st;
        MPI_Count elements = -1;
        large_get *count = large_getter("MPI_Get_count_c");
        int n = -1;
        unsigned char *b = mem_alloc((size_t)MANY);
        OK(MPI_Recv_c(b, MANY, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &st));
        OK(MPI_Get_count(&st, MPI_BYTE, &n));
        CHECK(n == MPI_UNDEFINED, "count %d", n);
        OK(MPI_Get_elements_x(&st, MPI_BYTE, &elements));
        CHECK(elements == MANY, "%lld elements", (long long)elements);
        if (count != NULL) {
            OK(count(&st, MPI_BYTE, &elements));
            CHECK(elements == MANY, "count_c %lld", (long long)elements);
        }
        all(b, byte, "receive");
        OK(MPI_Send_c(b, MANY, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
        mem_free(b);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_Type_free(&same));
    return case_end();
}
