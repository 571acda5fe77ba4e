/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Types of size zero, made in every way, committed, packed, sent and received.
 * Nothing moves, nothing crashes, count > 0 of them matches count 0 of others.
 * (Unpacking them is in empty_unpack, since one plain MPI crashes there.) */
#include "mem.h"

#define NT 9

int main(int argc, char **argv)
{
    MPI_Datatype t[NT], zero;
    int i, j, peer;
    unsigned char *img = NULL;
    unsigned char *buf;

    case_start(&argc, &argv, "empty_types", 2);
    peer = 1 - case_rank;
    buf = mem_alloc(256);
    img = pat_buf(256, 3);
    mem_put(buf, img, 256);

    OK(MPI_Type_contiguous(0, MPI_INT, &t[0]));
    OK(MPI_Type_vector(0, 5, 7, MPI_INT, &t[1]));
    OK(MPI_Type_vector(5, 0, 7, MPI_INT, &t[2]));
    OK(MPI_Type_indexed(0, NULL, NULL, MPI_BYTE, &t[3]));
    OK(MPI_Type_create_hindexed(0, NULL, NULL, MPI_BYTE, &t[4]));
    {
        int len[2] = {0, 0};
        MPI_Aint disp[2] = {16, -400};
        MPI_Datatype ty[2] = {MPI_INT, MPI_DOUBLE};
        OK(MPI_Type_create_struct(2, len, disp, ty, &t[5]));
    }
    OK(MPI_Type_contiguous(0, MPI_DOUBLE, &zero));
    OK(MPI_Type_create_resized(zero, -8, 20, &t[6]));
    OK(MPI_Type_contiguous(10, t[6], &t[7]));
    OK(MPI_Type_create_hvector(3, 2, -100, zero, &t[8]));

    for (i = 0; i < NT; i++) {
        int size = -1;
        OK(MPI_Type_commit(&t[i]));
        OK(MPI_Type_size(t[i], &size));
        CHECK(size == 0, "type %d has size %d", i, size);
    }
    for (i = 0; i < NT; i++) {
        int pos = 0, psize = -1, cnt = -1;
        char pk[64];
        MPI_Status st;
        MPI_Request rq[2];
        OK(MPI_Pack_size(7, t[i], MPI_COMM_WORLD, &psize));
        CHECK(psize >= 0, "MPI_Pack_size of type %d is %d", i, psize);
        pos = 5;
        OK(MPI_Pack(buf + 64, 7, t[i], pk, (int)sizeof pk, &pos, MPI_COMM_WORLD));
        CHECK(pos == 5, "packing type %d moved position to %d", i, pos);
        /* send seven of one kind, receive three of the next kind */
        j = (i + 1) % NT;
        OK(MPI_Irecv(buf + 64, 3, t[j], peer, 9, MPI_COMM_WORLD, &rq[0]));
        OK(MPI_Isend(buf + 64, 7, t[i], peer, 9, MPI_COMM_WORLD, &rq[1]));
        OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
        /* receive it as zero ints, and as up to four ints */
        OK(MPI_Irecv(NULL, 0, MPI_INT, peer, 10, MPI_COMM_WORLD, &rq[0]));
        OK(MPI_Send(buf + 64, 7, t[i], peer, 10, MPI_COMM_WORLD));
        OK(MPI_Wait(&rq[0], &st));
        OK(MPI_Get_count(&st, MPI_INT, &cnt));
        CHECK(cnt == 0, "type %d arrived as %d ints", i, cnt);
        OK(MPI_Sendrecv(buf + 64, 7, t[i], peer, 11, buf, 4, MPI_INT, peer, 11, MPI_COMM_WORLD, &st));
        OK(MPI_Get_count(&st, MPI_BYTE, &cnt));
        CHECK(cnt == 0, "type %d arrived as %d bytes", i, cnt);
        mem_same(buf, img, 256, "buffer");
    }
    for (i = 0; i < NT; i++)
        OK(MPI_Type_free(&t[i]));
    OK(MPI_Type_free(&zero));
    mem_free(buf);
    return case_end();
}
