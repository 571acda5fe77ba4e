/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* The data lies far from the buffer pointer: the pointer may be at the far end of
 * the allocation, just past it, or not in it at all.  Only where the bytes are
 * tells what memory they are in.  (The last is beyond what the standard promises,
 * but every MPI does it and programs with shifted array origins rely on it.) */
#include "mem.h"

static void at_offset(MPI_Aint where, size_t len, MPI_Aint shift, const char *what)
{
    /* an allocation of len bytes; the buffer pointer is at `shift` from its start */
    MPI_Datatype v, t, x;
    int one = 1, i, peer = 1 - case_rank, pos;
    MPI_Aint disp = where - shift;
    unsigned char *mine = pat_buf(len, 1u + (unsigned)case_rank), *his = pat_buf(len, 2u - (unsigned)case_rank), *want = pat_buf(len, 9), plain[96];
    void *s = mem_alloc(len), *d = mem_alloc(len), *pk = mem_alloc_pack(96);
    MPI_Request rq[2];
    OK(MPI_Type_vector(12, 2, 5, MPI_INT, &v));
    OK(MPI_Type_create_hindexed(1, &one, &disp, v, &t));
    OK(MPI_Type_create_resized(t, 0, 4096, &x));
    OK(MPI_Type_commit(&x));
    mem_put(s, mine, len);
    mem_put(d, want, len);
    for (i = 0; i < 12; i++)
        memcpy(plain + 8 * i, mine + where + 20 * i, 8);
    pos = 0;
    OK(MPI_Pack(at(s, shift), 1, x, pk, 96, &pos, MPI_COMM_WORLD));
    mem_same(pk, plain, 96, what);
    OK(MPI_Irecv(at(d, shift), 1, x, peer, 1, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Isend(at(s, shift), 1, x, peer, 1, MPI_COMM_WORLD, &rq[1]));
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    for (i = 0; i < 12; i++)
        memcpy(want + where + 20 * i, his + where + 20 * i, 8);
    mem_same(d, want, len, what);
    free(mine);
    free(his);
    free(want);
    mem_free(s);
    mem_free(d);
    mem_free(pk);
    OK(MPI_Type_free(&v));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&x));
}

int main(int argc, char **argv)
{
    case_start(&argc, &argv, "buffer_pointer_outside", 2);
    at_offset(0, 8192, 0, "pointer at the data");
    at_offset(0, 8192, 8191, "pointer at the last byte");
    at_offset(7900, 8192, 0, "pointer at the start, data at the end");
    at_offset(0, 8192, 8192, "pointer just past the allocation");
    at_offset(16, 8192, 1 << 20, "pointer 1 MiB past the allocation");
    at_offset(16, 8192, -4096, "pointer 4 KiB before the allocation");
    at_offset(16, 8192, -(MPI_Aint)((MPI_Aint)3 << 30), "pointer 3 GiB before the allocation");
    return case_end();
}
