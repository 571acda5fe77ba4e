/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 1 */
/* Types that are packed again and again, with one count and another, in turn with other types and communicators, and whose
 * handles are given out again after their death: what was learnt of an earlier call must not be used where it does
 * not hold. And what is wrong with a call is found in the tenth one, too. */
#include "mem.h"

enum { ROUNDS = 40, AGAIN = 3 };

/* `count` elements of `t`, whose blocks are those of `one` and `extent` bytes apart, there and back. */
static void there_and_back(MPI_Datatype t, const layout *one, MPI_Aint extent, int count, MPI_Comm comm, unsigned seed)
{
    layout l = {0};
    area src, dst;
    unsigned char *plain;
    void *pk;
    int c, again, pos;
    size_t b;

    for (c = 0; c < count; c++)
        for (b = 0; b < one->n; b++)
            lay_add(&l, one->v[b].off + c * extent, one->v[b].len);
    src = area_make(&l, seed);
    dst = area_make(&l, seed + 1);
    plain = host_buf(l.bytes);
    lay_gather(&l, src.img + src.zero, plain);
    pk = mem_alloc_pack(l.bytes);
    for (again = 0; again < AGAIN; again++) {
        mem_set(pk, 0, l.bytes);
        pos = 0;
        OK(MPI_Pack(src.buf, count, t, pk, (int)l.bytes, &pos, comm));
        CHECK(pos == (int)l.bytes, "MPI_Pack: position %d, not %d", pos, (int)l.bytes);
        mem_same(pk, plain, l.bytes, "packed");
        mem_put(dst.mem, dst.img, dst.len);
        pos = 0;
        OK(MPI_Unpack(pk, (int)l.bytes, &pos, dst.buf, count, t, comm));
        CHECK(pos == (int)l.bytes, "MPI_Unpack: position %d, not %d", pos, (int)l.bytes);
        ex_check_area(&dst, &l, plain, "unpacked", "again");
    }
    pos = 5; /* nothing: neither bytes nor a step */
    OK(MPI_Pack(src.buf, 0, t, pk, (int)l.bytes, &pos, comm));
    CHECK(pos == 5, "MPI_Pack of nothing: position %d, not 5", pos);
    mem_free(pk);
    area_drop(&src);
    area_drop(&dst);
    free(plain);
    free(l.v);
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    int round, i, pos, rc;
    unsigned seed = 1;

    case_start(&argc, &argv, "pack_again", 1);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    for (round = 0; round < ROUNDS; round++) {
        /* Of one size and often of one handle, but of changing shape. */
        int len = 1 << round % 4, blocks = 16 / len, step = len + 1 + round % 3;
        MPI_Datatype vector, solid;
        layout lv = {0}, ls = {0};
        OK(MPI_Type_vector(blocks, len, step, MPI_INT, &vector));
        OK(MPI_Type_commit(&vector));
        for (i = 0; i < blocks; i++)
            lay_add(&lv, 4 * (MPI_Aint)i * step, 4 * (size_t)len);
        OK(MPI_Type_contiguous(3 + round % 5, MPI_SHORT, &solid));
        OK(MPI_Type_commit(&solid));
        lay_add(&ls, 0, 2 * (size_t)(3 + round % 5));
        for (i = 0; i < 3; i++) {
            MPI_Comm comm = i == 1 ? other : MPI_COMM_WORLD;
            there_and_back(vector, &lv, 4 * ((blocks - 1) * (MPI_Aint)step + len), 1 + i, comm, seed++);
            there_and_back(solid, &ls, (MPI_Aint)ls.bytes, 3 - i, comm, seed++);
        }
        OK(MPI_Type_free(&vector));
        OK(MPI_Type_free(&solid));
        free(lv.v);
        free(ls.v);
    }
    OK(MPI_Comm_free(&other));

    { /* Errors after calls that were right. */
        MPI_Datatype t;
        layout l = {0};
        area src;
        void *pk = mem_alloc_pack(256);
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        OK(MPI_Type_vector(16, 1, 3, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        for (i = 0; i < 16; i++)
            lay_add(&l, 12 * i, 4);
        src = area_make(&l, 1);
        for (i = 0; i < 10; i++) {
            pos = 3;
            OK(MPI_Pack(src.buf, 1, t, pk, 67, &pos, MPI_COMM_WORLD));
            CHECK(pos == 67, "position %d", pos);
        }
        pos = 3;
        rc = MPI_Pack(src.buf, -1, t, pk, 256, &pos, MPI_COMM_WORLD);
        CHECK(rc != MPI_SUCCESS, "MPI_Pack of a negative count succeeded");
        CHECK(pos == 3, "MPI_Pack that fails moved the position to %d", pos);
        rc = MPI_Pack(src.buf, 1, MPI_DATATYPE_NULL, pk, 256, &pos, MPI_COMM_WORLD);
        CHECK(rc != MPI_SUCCESS, "MPI_Pack of MPI_DATATYPE_NULL succeeded");
        OK(MPI_Pack(src.buf, 1, t, pk, 67, &pos, MPI_COMM_WORLD));
        CHECK(pos == 67, "position %d", pos);
        area_drop(&src);
        mem_free(pk);
        OK(MPI_Type_free(&t));
    }
    return case_end();
}
