/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Buffered, synchronous and ready sends of strided data.  The attached buffer is
 * exactly what MPI_Pack_size and MPI_BSEND_OVERHEAD call for, so MPI_Pack_size
 * has to go on meaning what the MPI below means by it. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t;
    layout l = {0};
    area s, d;
    unsigned char *plain;
    MPI_Request rq[2];
    int i, psize, total, k, flag = 0;
    void *attached, *back;

    case_start(&argc, &argv, "send_modes", 2);
    OK(MPI_Type_vector(64, 3, 4, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 64; i++)
        lay_add(&l, 16 * i, 12);
    plain = host_buf(l.bytes);
    s = area_make(&l, 1);
    lay_gather(&l, s.img + s.zero, plain);
    if (case_rank == 0) {
        OK(MPI_Pack_size(1, t, MPI_COMM_WORLD, &psize));
        total = 3 * (psize + MPI_BSEND_OVERHEAD);
        OK(MPI_Pack_size(psize, MPI_PACKED, MPI_COMM_WORLD, &i));
        total += i + MPI_BSEND_OVERHEAD;
        attached = host_buf((size_t)total);
        OK(MPI_Buffer_attach(attached, total));
        for (k = 0; k < 3; k++)
            OK(MPI_Bsend(s.buf, 1, t, 1, k, MPI_COMM_WORLD)); /* nobody receives yet */
        { /* and one that is packed already: it must not be packed once more */
            void *pk = mem_alloc_pack((size_t)psize);
            int pos = 0;
            OK(MPI_Pack(s.buf, 1, t, pk, psize, &pos, MPI_COMM_WORLD));
            OK(MPI_Bsend(pk, pos, MPI_PACKED, 1, 30, MPI_COMM_WORLD));
            mem_free(pk);
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Buffer_detach(&back, &i));
        CHECK(back == attached && i == total, "MPI_Buffer_detach gave another buffer");
        free(attached);
        OK(MPI_Ssend(s.buf, 1, t, 1, 3, MPI_COMM_WORLD));
        OK(MPI_Issend(s.buf, 1, t, 1, 4, MPI_COMM_WORLD, &rq[0]));
        for (k = 0; k < 200; k++) { /* nobody receives it yet: it must not complete */
            OK(MPI_Test(&rq[0], &flag, MPI_STATUS_IGNORE));
            CHECK(!flag, "MPI_Issend completed before the receive was posted");
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Wait(&rq[0], MPI_STATUS_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* the receive is posted */
        OK(MPI_Rsend(s.buf, 1, t, 1, 5, MPI_COMM_WORLD));
    } else {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (k = 0; k < 4; k++) {
            d = area_make(&l, 9);
            OK(MPI_Recv(d.buf, 1, t, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            ex_check_area(&d, &l, plain, "send modes", k < 3 ? "MPI_Bsend" : "MPI_Ssend");
            area_drop(&d);
        }
        {
            void *pk = mem_alloc_pack(l.bytes + 64);
            int pos = 0, n;
            MPI_Status st;
            OK(MPI_Recv(pk, (int)l.bytes + 64, MPI_PACKED, 0, 30, MPI_COMM_WORLD, &st));
            OK(MPI_Get_count(&st, MPI_PACKED, &n));
            CHECK(n == (int)l.bytes, "MPI_Bsend of a packed buffer: %d bytes", n);
            d = area_make(&l, 9);
            OK(MPI_Unpack(pk, n, &pos, d.buf, 1, t, MPI_COMM_WORLD));
            ex_check_area(&d, &l, plain, "send modes", "MPI_Bsend of a packed buffer");
            area_drop(&d);
            mem_free(pk);
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        d = area_make(&l, 9);
        OK(MPI_Recv(d.buf, 1, t, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        ex_check_area(&d, &l, plain, "send modes", "MPI_Issend");
        area_drop(&d);
        d = area_make(&l, 9);
        OK(MPI_Irecv(d.buf, 1, t, 0, 5, MPI_COMM_WORLD, &rq[1]));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Wait(&rq[1], MPI_STATUS_IGNORE));
        ex_check_area(&d, &l, plain, "send modes", "MPI_Rsend");
        area_drop(&d);
    }
    area_drop(&s);
    free(plain);
    OK(MPI_Type_free(&t));
    return case_end();
}
