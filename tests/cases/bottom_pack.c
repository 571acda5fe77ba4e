/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 1 */
/* plain-fails-mpich4: 4.0.2 rejects MPI_BOTTOM as a null inbuf in MPI_Pack */
/* MPI_Pack from and MPI_Unpack to MPI_BOTTOM with a type of absolute addresses
 * that lie in two allocations. */
#include "mem.h"

int main(int argc, char **argv)
{
    unsigned char *a, *b, *ia, *ib, plain[84];
    MPI_Datatype col, types[2], t;
    MPI_Aint addr[2];
    int len[2] = {1, 5}, i, pos;
    void *pk;

    case_start(&argc, &argv, "bottom_pack", 1);
    a = mem_alloc(1000);
    b = mem_alloc(1000);
    pk = mem_alloc_pack(256);
    OK(MPI_Type_vector(8, 2, 10, MPI_INT, &col));
    OK(MPI_Get_address(a + 100, &addr[0]));
    OK(MPI_Get_address(b + 404, &addr[1]));
    types[0] = col;
    types[1] = MPI_INT;
    OK(MPI_Type_create_struct(2, len, addr, types, &t));
    OK(MPI_Type_commit(&t));

    ia = pat_buf(1000, 1);
    ib = pat_buf(1000, 2);
    mem_put(a, ia, 1000);
    mem_put(b, ib, 1000);
    pos = 0;
    OK(MPI_Pack(MPI_BOTTOM, 1, t, pk, 256, &pos, MPI_COMM_WORLD));
    CHECK(pos == 84, "packed %d bytes, has to be 84", pos);
    for (i = 0; i < 8; i++)
        memcpy(plain + 8 * i, ia + 100 + 40 * i, 8);
    memcpy(plain + 64, ib + 404, 20);
    mem_same(pk, plain, 84, "MPI_Pack from MPI_BOTTOM");

    memset(ia, 7, 1000);
    memset(ib, 7, 1000);
    mem_set(a, 7, 1000);
    mem_set(b, 7, 1000);
    for (i = 0; i < 8; i++)
        memcpy(ia + 100 + 40 * i, plain + 8 * i, 8);
    memcpy(ib + 404, plain + 64, 20);
    pos = 0;
    OK(MPI_Unpack(pk, 84, &pos, MPI_BOTTOM, 1, t, MPI_COMM_WORLD));
    CHECK(pos == 84, "unpacked %d bytes, has to be 84", pos);
    mem_same(a, ia, 1000, "unpacked to MPI_BOTTOM, first array");
    mem_same(b, ib, 1000, "unpacked to MPI_BOTTOM, second array");
    free(ia);
    free(ib);
    mem_free(a);
    mem_free(b);
    mem_free(pk);
    OK(MPI_Type_free(&col));
    OK(MPI_Type_free(&t));
    return case_end();
}
