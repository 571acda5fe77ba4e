/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* cuda-aware: PMPI_Send, PMPI_Recv and the like */
/* One rank calls MPI_..., the other PMPI_... (as a profiler or a library below
 * would): messages, packed buffers and communicators have to fit together. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t, u;
    layout l = {0};
    area s, d;
    unsigned char *plain;
    MPI_Request rq;
    MPI_Status st;
    int i, k, n, pos, blocks, psize;
    void *pk;

    case_start(&argc, &argv, "one_side_below", 2);
    for (blocks = 10; blocks <= 40000; blocks *= 20) {
        memset(&l, 0, sizeof l);
        OK(MPI_Type_vector(blocks, 2, 3, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        OK(MPI_Type_vector(blocks, 2, 3, MPI_INT, &u));
        OK(PMPI_Type_commit(&u)); /* nobody above saw this one being committed */
        for (i = 0; i < blocks; i++)
            lay_add(&l, 12 * (MPI_Aint)i, 8);
        plain = host_buf(l.bytes);
        s = area_make(&l, 1);
        lay_gather(&l, s.img + s.zero, plain);
        OK(MPI_Pack_size(1, t, MPI_COMM_WORLD, &psize));
        pk = mem_alloc_pack((size_t)psize);
        if (case_rank == 0) {
            OK(MPI_Send(s.buf, 1, t, 1, 0, MPI_COMM_WORLD));
            OK(PMPI_Send(s.buf, 1, t, 1, 1, MPI_COMM_WORLD));
            OK(MPI_Send(s.buf, 1, u, 1, 2, MPI_COMM_WORLD));
            OK(MPI_Isend(s.buf, 1, u, 1, 3, MPI_COMM_WORLD, &rq));
            OK(MPI_Wait(&rq, MPI_STATUS_IGNORE));
            pos = 0;
            OK(MPI_Pack(s.buf, 1, t, pk, psize, &pos, MPI_COMM_WORLD));
            OK(PMPI_Send(pk, pos, MPI_PACKED, 1, 4, MPI_COMM_WORLD));
            pos = 0;
            OK(PMPI_Pack(s.buf, 1, t, pk, psize, &pos, MPI_COMM_WORLD));
            OK(MPI_Send(pk, pos, MPI_PACKED, 1, 5, MPI_COMM_WORLD));
            OK(PMPI_Isend(s.buf, 1, t, 1, 6, MPI_COMM_WORLD, &rq));
            OK(MPI_Wait(&rq, &st)); /* a request that was made below */
        } else {
            for (k = 0; k < 4; k++) {
                d = area_make(&l, 9);
                if (k == 0)
                    OK(PMPI_Recv(d.buf, 1, t, 0, 0, MPI_COMM_WORLD, &st));
                else if (k == 1)
                    OK(MPI_Recv(d.buf, 1, t, 0, 1, MPI_COMM_WORLD, &st));
                else if (k == 2)
                    OK(MPI_Recv(d.buf, 1, u, 0, 2, MPI_COMM_WORLD, &st));
                else {
                    OK(PMPI_Irecv(d.buf, 1, u, 0, 3, MPI_COMM_WORLD, &rq));
                    OK(MPI_Wait(&rq, &st));
                }
                OK(MPI_Get_count(&st, t, &n));
                CHECK(n == 1, "step %d: count %d", k, n);
                ex_check_area(&d, &l, plain, "one side below", "data");
                area_drop(&d);
            }
            for (k = 4; k < 6; k++) {
                d = area_make(&l, 9);
                OK(MPI_Recv(pk, psize, MPI_PACKED, 0, k, MPI_COMM_WORLD, &st));
                OK(MPI_Get_count(&st, MPI_PACKED, &n));
                pos = 0;
                if (k == 4)
                    OK(PMPI_Unpack(pk, n, &pos, d.buf, 1, t, MPI_COMM_WORLD));
                else
                    OK(MPI_Unpack(pk, n, &pos, d.buf, 1, t, MPI_COMM_WORLD));
                ex_check_area(&d, &l, plain, "one side below", k == 4 ? "packed above, unpacked below" : "packed below, unpacked above");
                area_drop(&d);
            }
            d = area_make(&l, 9);
            OK(MPI_Recv(d.buf, 1, u, 0, 6, MPI_COMM_WORLD, &st));
            ex_check_area(&d, &l, plain, "one side below", "request made below");
            area_drop(&d);
        }
        mem_free(pk);
        area_drop(&s);
        free(plain);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_free(&u));
    }
    return case_end();
}
