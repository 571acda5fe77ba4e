/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* cuda-aware: MPI_Neighbor_alltoallw */
/* timeout: 120 */
/* Displacements and strides that do not fit in 32 bits.  A few bytes travel,
 * out of a buffer of 9 GiB of which almost nothing is touched. */
#include "mem.h"

#define GIB ((MPI_Aint)1 << 30)
#define BLK 32
static unsigned char *big;
static MPI_Aint origin;

/* n blocks of BLK bytes at the given offsets from `origin` */
static void go(const char *what, MPI_Datatype t, int count, const MPI_Aint *off, int n)
{
    unsigned char *want = host_buf((size_t)n * BLK), *plain, *got = host_buf(BLK);
    void *contig = mem_alloc((size_t)n * BLK);
    int i, pos = 0, peer = 1 - case_rank;
    MPI_Request rq[2];
    unsigned char *mine = pat_buf((size_t)n * BLK, 60u + (unsigned)case_rank);

    plain = pat_buf((size_t)n * BLK, 60u + (unsigned)peer);
    for (i = 0; i < n; i++)
        mem_put(at(big, origin + off[i]), mine + (size_t)i * BLK, BLK);
    /* pack */
    OK(MPI_Pack(at(big, origin), count, t, contig, n * BLK, &pos, MPI_COMM_WORLD));
    CHECK(pos == n * BLK, "%s: packed %d bytes, has to be %d", what, pos, n * BLK);
    mem_same(contig, mine, (size_t)n * BLK, what);
    /* typed to plain, both ways at once */
    OK(MPI_Irecv(contig, n * BLK, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Isend(at(big, origin), count, t, peer, 1, MPI_COMM_WORLD, &rq[1]));
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    mem_same(contig, plain, (size_t)n * BLK, what);
    /* plain to typed */
    mem_put(contig, mine, (size_t)n * BLK);
    for (i = 0; i < n; i++)
        mem_set(at(big, origin + off[i]), 0, BLK);
    OK(MPI_Sendrecv(contig, n * BLK, MPI_BYTE, peer, 2, at(big, origin), count, t, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (i = 0; i < n; i++) {
        mem_get(got, at(big, origin + off[i]), BLK);
        CHECK(memcmp(got, plain + (size_t)i * BLK, BLK) == 0, "%s: block %d did not arrive at offset %ld", what, i, (long)off[i]);
    }
    free(want);
    free(plain);
    free(mine);
    free(got);
    mem_free(contig);
}

int main(int argc, char **argv)
{
    MPI_Datatype blk, t, r;
    MPI_Aint off[4], d[3] = {-3 * GIB + 5, 5 * GIB, 7};
    int i, len[3] = {1, 1, 1}, one = 1;

    case_start(&argc, &argv, "large_stride", 2);
    big = mem_alloc((size_t)(9 * GIB));
    origin = 3 * GIB + 64;
    OK(MPI_Type_contiguous(BLK, MPI_BYTE, &blk));

    OK(MPI_Type_create_hvector(2, 1, 5 * GIB + 3, blk, &t));
    OK(MPI_Type_commit(&t));
    off[0] = 0;
    off[1] = 5 * GIB + 3;
    go("hvector, stride of 5 GiB", t, 1, off, 2);
    OK(MPI_Type_free(&t));

    OK(MPI_Type_create_hvector(2, 1, -3 * GIB, blk, &t));
    OK(MPI_Type_commit(&t));
    off[1] = -3 * GIB;
    go("hvector, stride of -3 GiB", t, 1, off, 2);
    OK(MPI_Type_free(&t));

    /* the stride in elements fits an int, the stride in bytes does not */
    OK(MPI_Type_vector(3, 1, (int)(2 * GIB / BLK + 2), blk, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 3; i++)
        off[i] = i * (2 * GIB + 64);
    go("vector, stride of 2 GiB in elements", t, 1, off, 3);
    OK(MPI_Type_free(&t));

    OK(MPI_Type_create_hindexed(3, len, d, blk, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 3; i++)
        off[i] = d[i];
    go("hindexed, from -3 to 5 GiB", t, 1, off, 3);
    OK(MPI_Type_free(&t));

    OK(MPI_Type_create_resized(blk, 0, 4 * GIB + 128, &r));
    OK(MPI_Type_commit(&r));
    off[0] = 0;
    off[1] = 4 * GIB + 128;
    go("count 2 of an extent of 4 GiB and a bit", r, 2, off, 2);
    OK(MPI_Type_free(&r));

    { /* a matrix of 70000 rows of 70000 bytes: byte (66000, 66000) of it */
        int sz[2] = {70000, 70000}, su[2] = {2, BLK}, st[2] = {66000, 66000};
        OK(MPI_Type_create_subarray(2, sz, su, st, MPI_ORDER_C, MPI_BYTE, &t));
        OK(MPI_Type_commit(&t));
        for (i = 0; i < 2; i++)
            off[i] = (MPI_Aint)(66000 + i) * 70000 + 66000;
        go("subarray far inside", t, 1, off, 2);
        OK(MPI_Type_free(&t));
    }
    { /* neighbourhood exchange with byte displacements beyond 32 bits */
        int peer = 1 - case_rank;
        MPI_Comm g;
        MPI_Aint sd = 5 * GIB, rd = -3 * GIB;
        unsigned char *mine = pat_buf(BLK, 70u + (unsigned)case_rank), *his = pat_buf(BLK, 70u + (unsigned)peer), got[BLK];
        OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, MPI_UNWEIGHTED, 1, &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g));
        OK(MPI_Type_dup(blk, &t));
        OK(MPI_Type_commit(&t));
        mem_put(at(big, origin + sd), mine, BLK);
        OK(MPI_Neighbor_alltoallw(at(big, origin), &one, &sd, &t, at(big, origin), &one, &rd, &t, g));
        mem_get(got, at(big, origin + rd), BLK);
        CHECK(memcmp(got, his, BLK) == 0, "MPI_Neighbor_alltoallw with displacements of 5 and -3 GiB");
        free(mine);
        free(his);
        OK(MPI_Type_free(&t));
        OK(MPI_Comm_free(&g));
    }
    OK(MPI_Type_free(&blk));
    mem_free(big);
    return case_end();
}
