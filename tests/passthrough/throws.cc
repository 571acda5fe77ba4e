/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * throws [jump]: an error handler that leaves the failing call by an exception, or by longjmp; the requests that the call
 * did not complete, and all later calls, go on as ever: the last message is there.
 * Buffers lie on a device.
 */
#include <csetjmp>
#include <cstdio>
#include <dlfcn.h>
#include <initializer_list>
#include <mpi.h>

struct Failure {};
static bool jump;
static jmp_buf back;
static volatile int caught;

static void leave(MPI_Comm *, int *, ...)
{
    if (jump)
        longjmp(back, 1);
    throw Failure();
}

#define TRY(call)                         \
    do {                                  \
        if (jump) {                       \
            if (setjmp(back) == 0)        \
                call;                     \
            else                          \
                caught = caught + 1;      \
        } else {                          \
            try {                         \
                call;                     \
            } catch (Failure &) {         \
                caught = caught + 1;      \
            }                             \
        }                                 \
    } while (0)

int main(int argc, char **argv)
{
    static MPI_Request request[2];
    static MPI_Datatype type, uncommitted;
    static void *from, *to;
    static int rank, x, flag, index, got[120], position;
    static char packed[400];
    unsigned long address = 0;
    MPI_Errhandler handler;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    jump = argc > 1;
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context;
    if (cuda == nullptr)
        return 1;
#define CU(name, ...) reinterpret_cast<int (*)(__VA_ARGS__)>(dlsym(cuda, #name))
    CU(cuInit, unsigned)(0);
    CU(cuCtxCreate_v2, void **, unsigned, int)(&context, 0, 0);
    for (void **buffer : {&from, &to}) {
        CU(cuMemAlloc_v2, unsigned long *, size_t)(&address, 4096);
        CU(cuMemsetD32_v2, unsigned long, unsigned, size_t)(address, buffer == &from ? 7 : 1, 1024);
        *buffer = reinterpret_cast<void *>(address);
    }
    CU(cuCtxSynchronize)();
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Type_vector(40, 2, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_vector(40, 2, 3, MPI_INT, &uncommitted);

    TRY(MPI_Isend(from, 1, uncommitted, 1, 1, MPI_COMM_WORLD, request));
    TRY(MPI_Pack(from, 1, uncommitted, packed, 400, &position, MPI_COMM_WORLD));
    TRY(MPI_Isend(from, 1, type, 99, 0, MPI_COMM_WORLD, request));
    if (rank == 0) {
        MPI_Send(from, 2, type, 1, 1, MPI_COMM_WORLD);
        MPI_Send(from, 2, type, 1, 2, MPI_COMM_WORLD);
        MPI_Recv(&x, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CU(cuMemsetD32_v2, unsigned long, unsigned, size_t)(reinterpret_cast<unsigned long>(from), 9, 1024);
        CU(cuCtxSynchronize)();
        MPI_Send(from, 1, type, 1, 4, MPI_COMM_WORLD);
    } else {
        /* two messages that are too long; the other request of the call is completed later */
        TRY(MPI_Recv(to, 1, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI_Irecv(to, 1, type, 0, 4, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(to, 1, type, 0, 2, MPI_COMM_WORLD, &request[1]);
        do
            TRY(MPI_Testany(2, request, &index, &flag, MPI_STATUS_IGNORE));
        while (caught < 5);
        MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        CU(cuMemcpyDtoH_v2, void *, unsigned long, size_t)(got, reinterpret_cast<unsigned long>(to), sizeof got);
        for (int i = 0; i < 119; i++)
            if (i % 3 != 2 && got[i] != 9)
                return 1;
    }
    /* calls that the library only passes on */
    TRY(MPI_Barrier(MPI_COMM_NULL));
    TRY(PMPI_Gather(&x, 1, MPI_INT, got, 1, MPI_INT, 99, MPI_COMM_WORLD));
    std::printf("rank %d went on after %d\n", rank, caught);
    MPI_Type_free(&type);
    MPI_Type_free(&uncommitted);
    MPI_Finalize();
    return 0;
}
