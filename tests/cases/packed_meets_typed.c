/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* MPI_PACKED matches every type: what was packed may be received as a type, and
 * what was sent as a type may be received as MPI_PACKED and unpacked. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t, u;
    layout l = {0}, m = {0};
    int i, k, pos, n, psize, rep;
    area src, dst;
    unsigned char *plain;
    void *pk;
    MPI_Status st;

    case_start(&argc, &argv, "packed_meets_typed", 2);
    OK(MPI_Type_vector(40, 3, 7, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 40; i++)
        lay_add(&l, 28 * i, 12);
    /* the same signature, another shape: 12 rows of 10 */
    OK(MPI_Type_vector(12, 10, 33, MPI_INT, &u));
    OK(MPI_Type_commit(&u));
    for (i = 0; i < 12; i++)
        lay_add(&m, 132 * i, 40);
    CHECK(l.bytes == m.bytes, "the case itself is wrong");
    OK(MPI_Pack_size(1, t, MPI_COMM_WORLD, &psize));
    pk = mem_alloc_pack((size_t)psize + 256);
    plain = host_buf(l.bytes);

    for (rep = 0; rep < 3; rep++) {
        src = area_make(&l, 100u + (unsigned)rep);
        lay_gather(&l, src.img + src.zero, plain);
        if (case_rank == 0) {
            pos = 0;
            OK(MPI_Pack(src.buf, 1, t, pk, psize, &pos, MPI_COMM_WORLD));
            OK(MPI_Send(pk, pos, MPI_PACKED, 1, 1, MPI_COMM_WORLD)); /* packed -> typed   */
            OK(MPI_Send(src.buf, 1, t, 1, 2, MPI_COMM_WORLD));       /* typed  -> packed  */
            OK(MPI_Send(src.buf, 1, t, 1, 3, MPI_COMM_WORLD));       /* typed  -> other type */
        } else {
            dst = area_make(&m, 7);
            OK(MPI_Recv(dst.buf, 1, u, 0, 1, MPI_COMM_WORLD, &st));
            ex_check_area(&dst, &m, plain, "packed", "received as a type");
            area_drop(&dst);

            k = psize + 256;
            OK(MPI_Recv(pk, k, MPI_PACKED, 0, 2, MPI_COMM_WORLD, &st));
            OK(MPI_Get_count(&st, MPI_PACKED, &n));
            CHECK(n == (int)l.bytes, "typed message is %d bytes of MPI_PACKED, has to be %zu", n, l.bytes);
            dst = area_make(&m, 8);
            pos = 0;
            OK(MPI_Unpack(pk, n, &pos, dst.buf, 1, u, MPI_COMM_WORLD));
            ex_check_area(&dst, &m, plain, "typed", "received as MPI_PACKED and unpacked");
            area_drop(&dst);

            dst = area_make(&m, 9);
            OK(MPI_Recv(dst.buf, 1, u, 0, 3, MPI_COMM_WORLD, &st));
            OK(MPI_Get_count(&st, u, &n));
            CHECK(n == 1, "count %d, has to be 1", n);
            ex_check_area(&dst, &m, plain, "typed", "received as another type");
            area_drop(&dst);
        }
        area_drop(&src);
    }
    free(plain);
    mem_free(pk);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&u));
    return case_end();
}
