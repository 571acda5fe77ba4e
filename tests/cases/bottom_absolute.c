/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* MPI_BOTTOM and types with absolute addresses: the buffer argument says nothing
 * about where the data is, or what memory it is in.  (MPI_Pack from MPI_BOTTOM
 * is in bottom_pack.) */
#include "mem.h"

int main(int argc, char **argv)
{
    unsigned char *a, *b, *ia, *ib, *plain;
    MPI_Datatype col, types[2], t, only;
    MPI_Aint addr[2];
    int len[2] = {1, 5}, i, peer, n, rep;
    layout l = {0};
    void *pk;
    MPI_Status st;
    MPI_Request rq[2];

    case_start(&argc, &argv, "bottom_absolute", 2);
    peer = 1 - case_rank;
    a = mem_alloc(1000);
    b = mem_alloc(1000);
    pk = mem_alloc(256);
    plain = host_buf(84);
    OK(MPI_Type_vector(8, 2, 10, MPI_INT, &col));
    for (i = 0; i < 8; i++)
        lay_add(&l, 40 * i, 8);
    lay_add(&l, 400, 20);
    CHECK(l.bytes == 84, "the case itself is wrong");

    for (rep = 0; rep < 2; rep++) { /* b before a in the second round */
        unsigned char *p0 = rep ? b : a, *p1 = rep ? a : b;
        ia = pat_buf(1000, 1u + (unsigned)case_rank);
        ib = pat_buf(1000, 3u + (unsigned)case_rank);
        mem_put(p0, ia, 1000);
        mem_put(p1, ib, 1000);
        OK(MPI_Get_address(p0 + 100, &addr[0]));
        OK(MPI_Get_address(p1 + 404, &addr[1]));
        types[0] = col;
        types[1] = MPI_INT;
        OK(MPI_Type_create_struct(2, len, addr, types, &t));
        OK(MPI_Type_commit(&t));

        /* exchange, typed both sides, blocking and not */
        OK(MPI_Irecv(pk, 21, MPI_INT, peer, 1, MPI_COMM_WORLD, &rq[0]));
        OK(MPI_Send(MPI_BOTTOM, 1, t, peer, 1, MPI_COMM_WORLD));
        OK(MPI_Wait(&rq[0], &st));
        free(ia);
        free(ib);
        ia = pat_buf(1000, 1u + (unsigned)peer);
        ib = pat_buf(1000, 3u + (unsigned)peer);
        for (i = 0; i < 8; i++)
            memcpy(plain + 8 * i, ia + 100 + 40 * i, 8);
        memcpy(plain + 64, ib + 404, 20);
        mem_same(pk, plain, 84, "sent from MPI_BOTTOM");
        free(ia);
        free(ib);

        ia = pat_buf(1000, 8);
        ib = pat_buf(1000, 9);
        mem_put(p0, ia, 1000);
        mem_put(p1, ib, 1000);
        for (i = 0; i < 8; i++)
            memcpy(ia + 100 + 40 * i, plain + 8 * i, 8);
        memcpy(ib + 404, plain + 64, 20);
        OK(MPI_Irecv(MPI_BOTTOM, 1, t, peer, 2, MPI_COMM_WORLD, &rq[0]));
        { /* what I hold in pk is what the other rank sent: give it mine back */
            void *c = mem_alloc(84);
            mem_put(c, plain, 84);
            OK(MPI_Isend(c, 21, MPI_INT, case_rank, 3, MPI_COMM_WORLD, &rq[1]));
            OK(MPI_Recv(pk, 21, MPI_INT, case_rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Wait(&rq[1], MPI_STATUS_IGNORE));
            OK(MPI_Sendrecv(c, 21, MPI_INT, peer, 4, pk, 21, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            /* now pk holds my own first message; the peer wants its own back */
            OK(MPI_Send(pk, 21, MPI_INT, peer, 2, MPI_COMM_WORLD));
            mem_free(c);
        }
        OK(MPI_Wait(&rq[0], &st));
        OK(MPI_Get_count(&st, t, &n));
        CHECK(n == 1, "count %d", n);
        mem_same(p0, ia, 1000, "received to MPI_BOTTOM, first array");
        mem_same(p1, ib, 1000, "received to MPI_BOTTOM, second array");

        free(ia);
        free(ib);
        OK(MPI_Type_free(&t));
    }
    { /* one block, absolute: a type that looks plain but for its offset */
        int one = 12;
        OK(MPI_Get_address(a + 20, &addr[0]));
        OK(MPI_Type_create_hindexed(1, &one, addr, MPI_INT, &only));
        OK(MPI_Type_commit(&only));
        ia = pat_buf(1000, 40);
        mem_put(a, ia, 1000);
        mem_set(b, 0, 1000);
        OK(MPI_Sendrecv(MPI_BOTTOM, 1, only, case_rank, 6, b, 12, MPI_INT, case_rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        mem_same(b, ia + 20, 48, "one absolute block");
        free(ia);
        OK(MPI_Type_free(&only));
    }
    OK(MPI_Type_free(&col));
    lay_drop(&l);
    free(plain);
    mem_free(a);
    mem_free(b);
    mem_free(pk);
    return case_end();
}
