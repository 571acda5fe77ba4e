/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * types_life.c - datatypes that come and go: handles that mean another type a
 * moment later, duplicates, types freed while a message of theirs is under way,
 * one type on several communicators, types of the large-count constructors.
 * All derived types are freed at the end.
 */
#include "mem.h"

#define INTS 4096
static int image[INTS], want[INTS];
static void *object, *packed;

/* pack one element and compare: `blocks` of `block` ints, `stride` apart */
static void check(MPI_Datatype t, int blocks, int block, int stride, MPI_Comm comm)
{
    int i, position = 0, n = blocks * block;
    OK(MPI_Pack(object, 1, t, packed, 4 * INTS, &position, comm));
    CHECK(position == 4 * n, "%d bytes packed, has to be %d", position, 4 * n);
    for (i = 0; i < n; i++)
        want[i] = image[i / block * stride + i % block];
    mem_same(packed, want, 4 * (size_t)n, "packed");
}

static MPI_Datatype vector(int blocks, int block, int stride)
{
    MPI_Datatype t;
    OK(MPI_Type_vector(blocks, block, stride, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    return t;
}

/* a message whose type is freed before it is complete */
static void freed_early(int i, MPI_Comm comm)
{
    MPI_Request rq[2];
    int blocks = 3 + i % 50, k;
    MPI_Datatype t = vector(blocks, 2, 5), r = vector(blocks, 2, 7);
    void *target = mem_alloc(4 * INTS);
    mem_put(target, image, 4 * INTS);
    OK(MPI_Irecv(target, 1, r, 0, 4, comm, &rq[0]));
    OK(MPI_Isend(object, 1, t, 0, 4, comm, &rq[1]));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&r));
    t = vector(3, 3, 9); /* perhaps under the same handle */
    check(t, 3, 3, 9, comm);
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    memcpy(want, image, 4 * INTS);
    for (k = 0; k < 2 * blocks; k++)
        want[k / 2 * 7 + k % 2] = image[k / 2 * 5 + k % 2];
    mem_same(target, want, 4 * INTS, "received");
    OK(MPI_Type_free(&t));
    mem_free(target);
}

int main(int argc, char **argv)
{
    MPI_Datatype t, d, keep[64];
    MPI_Comm comm[4];
    int i;

    case_start(&argc, &argv, "types_life", 1);
    for (i = 0; i < INTS; i++)
        image[i] = i * 2654435761u;
    object = mem_alloc(4 * INTS);
    packed = mem_alloc(4 * INTS);
    mem_put(object, image, 4 * INTS);
    for (i = 0; i < 4; i++)
        OK(MPI_Comm_dup(MPI_COMM_SELF, &comm[i]));

    for (i = 0; i < 3000; i++) { /* the handle of the last is likely to come back */
        int blocks = 2 + i % 37, block = 1 + i % 3, stride = block + 1 + i % 5;
        t = vector(blocks, block, stride);
        if (i % 8 == 0)
            check(t, blocks, block, stride, comm[i % 4]);
        if (i % 16 == 0) { /* a duplicate needs no commit, and outlives its origin */
            OK(MPI_Type_dup(t, &d));
            OK(MPI_Type_free(&t));
            check(d, blocks, block, stride, comm[i % 4]);
            t = d;
        }
        OK(MPI_Type_free(&t));
    }
    for (i = 0; i < 64; i++) /* many at once */
        keep[i] = vector(2 + i, 2, 3);
    for (i = 0; i < 64; i++) {
        check(keep[i], 2 + i, 2, 3, comm[i % 4]);
        check(keep[i], 2 + i, 2, 3, comm[(i + 1) % 4]);
    }
    for (i = 0; i < 64; i++)
        OK(MPI_Type_free(&keep[i]));
    for (i = 0; i < 60; i++)
        freed_early(i, comm[i % 4]);
#if MPI_VERSION >= 4
    for (i = 0; i < 20; i++) {
        MPI_Count sizes[2] = {40, 9}, subsizes[2] = {20, 2}, starts[2] = {0, 0};
        OK(MPI_Type_vector_c(20, 2, 9, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        check(t, 20, 2, 9, comm[0]);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_create_hvector_c(20, 2, 36, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        check(t, 20, 2, 9, comm[1]);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_create_subarray_c(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        check(t, 20, 2, 9, comm[2]);
        OK(MPI_Type_free(&t));
    }
#endif
    for (i = 0; i < 4; i++)
        OK(MPI_Comm_free(&comm[i]));
    mem_free(object);
    mem_free(packed);
    return case_end();
}
