/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * kinds.c - objects and packed buffers, senders and receivers in memory of every
 * kind, in all pairs, small and large, with packed bytes that begin at an odd
 * address and at a position that is not 0.
 */
#include "mem.h"

static const enum mem_kind kinds[] = {MEM_TARGET, MEM_PINNED, MEM_MANAGED, MEM_HOST};
static const char *const names[] = {"device", "pinned", "managed", "host"};

#define POSITION 5

static void pair(int a, int b, int blocks, int block, int odd)
{
    /* small blocks lie so that nothing is aligned */
    size_t stride = 2 * (size_t)block + (block < 4096 ? 3 : 8), len = (size_t)blocks * stride, bytes = (size_t)blocks * (size_t)block, i;
    size_t room = bytes + 64;
    unsigned char *image = pat_buf(len, 1), *want = pat_buf(len, 2), *pimage = pat_buf(room, 3), *plain = host_buf(bytes);
    void *object = mem_alloc_as(len, kinds[a]), *target = mem_alloc_as(len, kinds[b]), *packed = mem_alloc_as(room, kinds[b]);
    char *at_packed = (char *)packed + odd;
    char what[96];
    int position = POSITION, end = POSITION + (int)bytes, n;
    MPI_Datatype t;
    MPI_Request rq;
    MPI_Status st;

    snprintf(what, sizeof what, "%s to %s, %d blocks of %d, odd %d", names[a], names[b], blocks, block, odd);
    OK(MPI_Type_vector(blocks, block, (int)stride, MPI_BYTE, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < (size_t)blocks; i++)
        memcpy(plain + i * (size_t)block, image + i * stride, (size_t)block);
    mem_put(object, image, len);
    mem_put(target, want, len);
    mem_put(packed, pimage, room);

    OK(MPI_Pack(object, 1, t, at_packed, end, &position, MPI_COMM_SELF));
    CHECK(position == end, "%s: position %d, has to be %d", what, position, end);
    memcpy(pimage + odd + POSITION, plain, bytes);
    mem_same(packed, pimage, room, what);
    mem_same(object, image, len, what);

    for (i = 0; i < len; i++)
        image[i] ^= 0x55;
    mem_put(object, image, len);
    position = POSITION;
    OK(MPI_Unpack(at_packed, end, &position, object, 1, t, MPI_COMM_SELF));
    CHECK(position == end, "%s: position %d, has to be %d", what, position, end);
    for (i = 0; i < (size_t)blocks; i++)
        memcpy(image + i * stride, plain + i * (size_t)block, (size_t)block);
    mem_same(object, image, len, what);

    OK(MPI_Irecv(target, 1, t, 0, 1, MPI_COMM_SELF, &rq));
    OK(MPI_Send(object, 1, t, 0, 1, MPI_COMM_SELF));
    OK(MPI_Wait(&rq, &st));
    OK(MPI_Get_count(&st, t, &n));
    CHECK(n == 1, "%s: %d elements received", what, n);
    for (i = 0; i < (size_t)blocks; i++)
        memcpy(want + i * stride, plain + i * (size_t)block, (size_t)block);
    mem_same(target, want, len, what);

    for (i = 0; i < len; i++)
        want[i] ^= 0x33;
    mem_put(target, want, len);
    OK(MPI_Isend(object, 1, t, 0, 2, MPI_COMM_SELF, &rq));
    OK(MPI_Recv(target, 1, t, 0, 2, MPI_COMM_SELF, &st));
    OK(MPI_Wait(&rq, MPI_STATUS_IGNORE));
    for (i = 0; i < (size_t)blocks; i++)
        memcpy(want + i * stride, plain + i * (size_t)block, (size_t)block);
    mem_same(target, want, len, what);
    mem_same(object, image, len, what);

    OK(MPI_Type_free(&t));
    mem_free(object);
    mem_free(target);
    mem_free(packed);
    free(image);
    free(want);
    free(pimage);
    free(plain);
}

int main(int argc, char **argv)
{
    int a, b;
    case_start(&argc, &argv, "kinds", 1);
    for (a = 0; a < 4; a++)
        for (b = 0; b < 4; b++) {
            pair(a, b, 1, 8, 0);
            pair(a, b, 50, 1, 1);
            pair(a, b, 33, 24, 2);
            if (a == 0 || b == 0)
                pair(a, b, 17, 65536, 3); /* more than 1 MiB; its packed bytes begin at a multiple of 8 */
        }
    return case_end();
}
