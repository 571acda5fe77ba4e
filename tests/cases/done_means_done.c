/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* timeout: 120 */
/* When a receive is complete its data is there for every stream; when a send is
 * complete its buffer may be overwritten by any stream.  On a GPU the check and
 * the overwrite go through a stream that does not wait for others. */
#include "mem.h"

int main(int argc, char **argv)
{
    enum { BLOCKS = 1 << 16, LEN = BLOCKS * 16, BYTES = BLOCKS * 8, REPS = 30 };
    MPI_Datatype t;
    unsigned char *mine, *junk, *got;
    void *s, *d;
    int rep, k, peer;
    MPI_Request rq[2];

    case_start(&argc, &argv, "done_means_done", 2);
    peer = 1 - case_rank;
    OK(MPI_Type_vector(BLOCKS, 2, 4, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    s = mem_alloc(LEN);
    d = mem_alloc(LEN);
    mine = host_buf(LEN);
    junk = host_buf(LEN);
    got = host_buf(LEN);
    memset(junk, 0xdd, LEN);
    for (rep = 0; rep < REPS; rep++) {
        memset(mine, 1 + rep + 64 * case_rank, LEN);
        mem_put(s, mine, LEN);
        mem_put(d, junk, LEN);
        if (rep % 3 == 0) {
            OK(MPI_Irecv(d, 1, t, peer, rep, MPI_COMM_WORLD, &rq[0]));
            OK(MPI_Isend(s, 1, t, peer, rep, MPI_COMM_WORLD, &rq[1]));
            OK(MPI_Wait(&rq[1], MPI_STATUS_IGNORE));
            mem_put_stream(s, junk, LEN); /* the send is over: overwrite it */
            OK(MPI_Wait(&rq[0], MPI_STATUS_IGNORE));
        } else if (rep % 3 == 1) {
            OK(MPI_Sendrecv(s, 1, t, peer, rep, d, 1, t, peer, rep, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            mem_put_stream(s, junk, LEN);
        } else if (case_rank == 0) {
            OK(MPI_Send(s, 1, t, 1, rep, MPI_COMM_WORLD));
            mem_put_stream(s, junk, LEN);
            OK(MPI_Recv(d, 1, t, 1, rep, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Recv(d, 1, t, 0, rep, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            mem_get_stream(got, d, LEN);
            OK(MPI_Send(s, 1, t, 0, rep, MPI_COMM_WORLD));
            mem_put_stream(s, junk, LEN);
        }
        mem_get_stream(got, d, LEN);
        for (k = 0; k < LEN; k++) {
            unsigned char w = k % 16 < 8 ? (unsigned char)(1 + rep + 64 * peer) : 0xdd;
            CHECK(got[k] == w, "round %d: byte %d is %02x, has to be %02x", rep, k, got[k], w);
        }
    }
    free(mine);
    free(junk);
    free(got);
    mem_free(s);
    mem_free(d);
    OK(MPI_Type_free(&t));
    return case_end();
}
