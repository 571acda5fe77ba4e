/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* The buffers exist, and on a GPU the context is current, before MPI_Init; some
 * are freed and come back - at the same address perhaps, as another kind. */
#include "mem.h"

int main(int argc, char **argv)
{
    enum mem_kind kinds[3] = {MEM_TARGET, MEM_PINNED, MEM_HOST};
    size_t len = 64000, bytes = 32000;
    void *early = mem_alloc(len), *gone = mem_alloc(len), *buf;
    MPI_Datatype t;
    int rep, k, peer;
    unsigned char *mine, *his, *want;

    mem_free(gone);
    case_start(&argc, &argv, "alloc_before_init", 2);
    peer = 1 - case_rank;
    OK(MPI_Type_vector(4000, 2, 4, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    mine = pat_buf(len, 1u + (unsigned)case_rank);
    his = pat_buf(len, 1u + (unsigned)peer);
    want = host_buf(bytes);
    for (k = 0; k < 4000; k++)
        memcpy(want + 8 * k, his + 16 * k, 8);
    for (rep = 0; rep < 12; rep++) {
        void *in;
        buf = rep == 0 ? early : mem_alloc_as(len, kinds[rep % 3]);
        in = mem_alloc_as(bytes, kinds[(rep / 3) % 3]);
        mem_put(buf, mine, len);
        mem_set(in, 0, bytes);
        OK(MPI_Sendrecv(buf, 1, t, peer, rep, in, 8000, MPI_INT, peer, rep, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        mem_same(in, want, bytes, "data");
        mem_free(buf);
        mem_free(in);
    }
    free(mine);
    free(his);
    free(want);
    OK(MPI_Type_free(&t));
    return case_end();
}
