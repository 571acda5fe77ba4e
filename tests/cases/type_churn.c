/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* timeout: 120 */
/* Types come and go by the thousand; handles are used again for other shapes.
 * Every message follows the shape of now, and memory does not grow. */
#include "mem.h"

static long resident_kib(void)
{
    char line[256];
    long v = 0;
    FILE *f = fopen("/proc/self/status", "r");
    if (f == NULL)
        return 0;
    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "VmRSS: %ld", &v) == 1)
            break;
    fclose(f);
    return v;
}

int main(int argc, char **argv)
{
    enum { N = 30000, CHECKED = 600 };
    int i, peer;
    long before = 0, after;
    unsigned char *area0, *got;
    void *buf, *in;

    case_start(&argc, &argv, "type_churn", 2);
    peer = 1 - case_rank;
    buf = mem_alloc(4096);
    in = mem_alloc(4096);
    area0 = pat_buf(4096, 1); /* the same on both ranks */
    mem_put(buf, area0, 4096);
    got = host_buf(4096);
    for (i = 0; i < N; i++) {
        int blocks = 1 + i % 5, len = 1 + i % 3, stride = len + i % 4, n = blocks * len, b;
        MPI_Datatype t, u = MPI_DATATYPE_NULL;
        switch (i % 4) {
        case 0:
            OK(MPI_Type_vector(blocks, len, stride, MPI_INT, &t));
            break;
        case 1:
            OK(MPI_Type_create_hvector(blocks, len, 4 * stride, MPI_INT, &t));
            break;
        case 2: {
            int bl[5], di[5];
            for (b = 0; b < blocks; b++) {
                bl[b] = len;
                di[b] = b * stride;
            }
            OK(MPI_Type_indexed(blocks, bl, di, MPI_INT, &t));
            break;
        }
        default:
            OK(MPI_Type_vector(blocks, len, stride, MPI_INT, &u));
            OK(MPI_Type_dup(u, &t));
        }
        OK(MPI_Type_commit(&t));
        if (i % (N / CHECKED) == 0) {
            unsigned char want[4096];
            memset(want, 0, sizeof want);
            for (b = 0; b < blocks; b++)
                memcpy(want + 4 * b * len, area0 + 4 * b * stride, 4 * (size_t)len);
            OK(MPI_Sendrecv(buf, 1, t, peer, 1, in, n, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            mem_get(got, in, 4 * (size_t)n);
            CHECK(memcmp(got, want, 4 * (size_t)n) == 0, "type number %d (kind %d, %d blocks of %d, stride %d) sent wrong bytes", i, i % 4, blocks, len, stride);
        }
        if (u != MPI_DATATYPE_NULL)
            OK(MPI_Type_free(&u));
        OK(MPI_Type_free(&t));
        if (i == N / 3)
            before = resident_kib();
    }
    after = resident_kib();
    CHECK(after - before < 4096, "memory grew by %ld KiB over %d types", after - before, 2 * N / 3);
    mem_free(buf);
    mem_free(in);
    return case_end();
}
