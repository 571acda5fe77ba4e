/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * reasons.c - one call of one function that the library forwards for the reason
 * of this name, and, where there is one, the nearest call that it serves.
 *
 * Usage: reasons NAME
 * In the environment of the ranks: DEVICE=1 puts the object on the device.
 */
#define USE_CUDA
#include "sim.h"

#define BLOCKS 1024
#define BYTES (8 * BLOCKS)

static MPI_Datatype vector_of(MPI_Datatype old, int blocks)
{
    MPI_Datatype t;
    OK(MPI_Type_vector(blocks, 2, 4, old, &t));
    OK(MPI_Type_commit(&t));
    return t;
}

static int device(void)
{
    const char *s = getenv("DEVICE");
    return s != NULL && s[0] == '1';
}

static void *object(size_t n)
{
    void *p;
    if (!device())
        return memset(host_buf(n), 7, n);
    p = mem_alloc(n);
    mem_set(p, 7, n);
    return p;
}

/* pack, and return what MPI said; the packed buffer lies in host memory */
static int pack(void *buf, int count, MPI_Datatype t)
{
    static char packed[4 * BYTES];
    int position = 0;
    return MPI_Pack(buf, count, t, packed, sizeof packed, &position, MPI_COMM_SELF);
}

/* send to oneself: the receive is a call that does not count */
static int send(const void *buf, int count, MPI_Datatype t)
{
    static char room[4 * BYTES];
    MPI_Request rq;
    int rc;
    OK(MPI_Irecv(room, sizeof room, MPI_BYTE, 0, 1, MPI_COMM_SELF, &rq));
    rc = MPI_Send(buf, count, t, 0, 1, MPI_COMM_SELF);
    if (rc != MPI_SUCCESS)
        OK(MPI_Cancel(&rq));
    OK(MPI_Wait(&rq, MPI_STATUS_IGNORE));
    return rc;
}

static void fails(int rc, const char *what)
{
    CHECK(rc != MPI_SUCCESS, "%s was accepted", what);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    MPI_Datatype v, t, u;
    void *buf;
    int i;

    case_start(&argc, &argv, "reasons", 1);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    if (getenv("LD_LIBRARY_PATH") != NULL && strstr(getenv("LD_LIBRARY_PATH"), "simcuda") != NULL)
        mem_open();
    v = vector_of(MPI_INT, BLOCKS);
    buf = object(2 * BYTES);

    if (strcmp(name, "SwitchedOff") == 0) {
        OK(pack(buf, 1, v));
    } else if (strcmp(name, "HostSystemFaster") == 0) {
        void *large = memset(host_buf(300 * 8192), 7, 300 * 8192), *packed = host_buf(300 * 4096);
        int position = 0;
        OK(MPI_Type_vector(300, 4096, 8192, MPI_CHAR, &t));
        OK(MPI_Type_commit(&t));
        OK(MPI_Pack(large, 1, t, packed, 300 * 4096, &position, MPI_COMM_SELF));
        free(large);
        free(packed);
    } else if (strcmp(name, "ProcNull") == 0) {
        OK(MPI_Send(buf, 1, v, MPI_PROC_NULL, 0, MPI_COMM_SELF));
    } else if (strcmp(name, "Empty") == 0) {
        OK(send(buf, 0, v));
    } else if (strcmp(name, "BadArgument") == 0) {
        fails(MPI_Send(buf, -1, v, 0, 1, MPI_COMM_SELF), "a negative count");
    } else if (strcmp(name, "NoDriver") == 0 || strcmp(name, "HostBuffer") == 0 || strcmp(name, "NoMemory") == 0 ||
               strcmp(name, "CudaFailed") == 0) {
        OK(send(buf, 1, v));
    } else if (strcmp(name, "Contiguous") == 0) {
        OK(send(buf, BLOCKS, MPI_INT));
    } else if (strcmp(name, "Irregular") == 0) {
        /* the last block is short in every dimension; nobody ever looks at the bytes: the rank is wrong */
        int sizes[7], kinds[7], blocks[7], grid[7];
        for (i = 0; i < 7; i++) {
            sizes[i] = 7;
            kinds[i] = MPI_DISTRIBUTE_CYCLIC;
            blocks[i] = grid[i] = 2;
        }
        OK(MPI_Type_create_darray(128, 127, 7, sizes, kinds, blocks, grid, MPI_ORDER_C, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        fails(MPI_Send(buf, 1, t, 77, 0, MPI_COMM_SELF), "rank 77");
    } else if (strcmp(name, "TooManyBlocks") == 0) {
        /* nobody ever looks at the bytes: the rank is wrong */
        int lengths[2] = {1 << 26, 1}, places[2] = {0, 7};
        OK(MPI_Type_create_resized(MPI_INT, 0, 8, &t));
        OK(MPI_Type_vector(2, 1, 3, t, &u));
        OK(MPI_Type_indexed(2, lengths, places, u, &t));
        OK(MPI_Type_commit(&t));
        fails(MPI_Send(buf, 1, t, 77, 0, MPI_COMM_SELF), "rank 77");
    } else if (strcmp(name, "Overflow") == 0 || strcmp(name, "TooLarge") == 0) {
        /* nobody ever looks at the bytes: the rank is wrong */
        int many = strcmp(name, "Overflow") == 0 ? 5 : 1 << 25;
        MPI_Aint stride = strcmp(name, "Overflow") == 0 ? (MPI_Aint)1 << 61 : 0;
        t = v;
        if (stride == 0)
            OK(MPI_Type_create_hvector(1 << 20, 1, 0, v, &t)); /* the same bytes again and again */
        OK(MPI_Type_create_hvector(many, 1, stride, t, &u));
        OK(MPI_Type_commit(&u));
        fails(MPI_Send(buf, 1, u, 77, 0, MPI_COMM_SELF), "rank 77");
    } else if (strcmp(name, "Opaque") == 0) {
        t = v; /* nested beyond reason */
        for (i = 0; i < 140; i++) {
            OK(MPI_Type_dup(t, &u));
            t = u;
        }
        OK(send(buf, 1, t));
    } else if (strcmp(name, "TwoDevices") == 0) {
        void *other;
        uint64_t packed;
        int position = 0;
        cu_open();
        CU_OK(cu.cuCtxCreate_v2(&other, 0, 1));
        CU_OK(cu.cuMemAlloc_v2(&packed, BYTES));
        OK(MPI_Pack(buf, 1, v, (void *)(uintptr_t)packed, BYTES, &position, MPI_COMM_SELF));
        CU_OK(cu.cuMemFree_v2(packed));
    } else {
        FAIL("no test of the reason \"%s\"", name);
    }
    if (device())
        mem_free(buf);
    else
        free(buf);
    return case_end();
}
