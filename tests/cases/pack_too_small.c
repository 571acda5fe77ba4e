/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 1 */
/* plain-fails-mpich4: 4.0.2 checks outsize without taking position off it, so it writes past the end */
/* plain-fails-mpich5: 5.0.2 checks outsize without taking position off it, so it writes past the end */
/* plain-fails-mpich5-abi: 5.0.2 checks outsize without taking position off it, so it writes past the end */
/* plain-fails-intel: 2021.19 checks insize without taking position off it, so it reads past the end */
/* Not enough room in MPI_Pack, not enough bytes in MPI_Unpack: an error comes
 * back, or at least the call stays inside the room there is (plain MPICH does
 * the latter and reports a position short of the full size); in no case may a
 * byte be written past the room or into a hole, and the next call works. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t;
    layout l = {0};
    int i, pos, rc, psize;
    area src, dst;
    unsigned char *img;
    void *pk;

    case_start(&argc, &argv, "pack_too_small", 1);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Type_vector(16, 1, 3, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 16; i++)
        lay_add(&l, 12 * i, 4);
    src = area_make(&l, 1);
    pk = mem_alloc_pack(256);
    img = pat_buf(256, 2);
    mem_put(pk, img, 256);

    pos = 0;
    rc = MPI_Pack(src.buf, 1, t, pk, 63, &pos, MPI_COMM_WORLD);
    CHECK(rc != MPI_SUCCESS || pos <= 63, "MPI_Pack of 64 bytes into 63 succeeded, position %d", pos);
    {
        unsigned char got[256];
        mem_get(got, pk, 256);
        CHECK(memcmp(got + 63, img + 63, 256 - 63) == 0, "MPI_Pack wrote past the end of its buffer");
    }
    mem_put(pk, img, 256);
    pos = 60;
    rc = MPI_Pack(src.buf, 1, t, pk, 120, &pos, MPI_COMM_WORLD);
    CHECK(rc != MPI_SUCCESS || pos <= 120, "MPI_Pack of 64 bytes at 60 of 120 succeeded, position %d", pos);
    {
        unsigned char got[256];
        mem_get(got, pk, 256);
        CHECK(memcmp(got + 120, img + 120, 136) == 0, "MPI_Pack wrote past the end of its buffer");
        CHECK(memcmp(got, img, 60) == 0, "MPI_Pack wrote before its position");
    }
    mem_put(pk, img, 256);
    pos = 60; /* exactly enough */
    OK(MPI_Pack(src.buf, 1, t, pk, 124, &pos, MPI_COMM_WORLD));
    CHECK(pos == 124, "position %d", pos);
    lay_gather(&l, src.img + src.zero, img + 60);
    mem_same(pk, img, 256, "packed into just enough room");

    dst = area_make(&l, 3);
    pos = 60;
    rc = MPI_Unpack(pk, 120, &pos, dst.buf, 1, t, MPI_COMM_WORLD);
    CHECK(rc != MPI_SUCCESS || pos <= 120, "MPI_Unpack of 64 bytes from 60 of 120 succeeded, position %d", pos);
    {
        unsigned char *got = host_buf(dst.len);
        size_t k;
        mem_get(got, dst.mem, dst.len);
        for (k = 0; k < dst.len; k++) /* holes must not be touched, whatever else was */
            if (((MPI_Aint)k < dst.zero || (MPI_Aint)k >= dst.zero + 184 || (k - (size_t)dst.zero) % 12 >= 4))
                CHECK(got[k] == dst.img[k], "MPI_Unpack that fails wrote into a hole");
        free(got);
    }
    mem_put(dst.mem, dst.img, dst.len);
    pos = 60;
    OK(MPI_Unpack(pk, 124, &pos, dst.buf, 1, t, MPI_COMM_WORLD));
    ex_check_area(&dst, &l, img + 60, "unpack", "after the error");
    OK(MPI_Pack_size(1, t, MPI_COMM_WORLD, &psize));
    CHECK(psize >= 64, "MPI_Pack_size %d", psize);
    area_drop(&src);
    area_drop(&dst);
    mem_free(pk);
    OK(MPI_Type_free(&t));
    return case_end();
}
