/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * relayed [abort]: functions that the library only passes on, whatever they take and return, before MPI_Init, between, and after
 * MPI_Finalize, by both names; prints what they answer. With `abort` rank 1 ends the run while the others wait for it.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failed(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    return *code != MPI_SUCCESS;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    int class;
    MPI_Error_class(*code, &class);
    printf("handler: %d\n", failed(comm, code) && class == MPI_ERR_COMM);
}

int main(int argc, char **argv)
{
    int flag, version, subversion, rank, size, i;
    /* before */
    MPI_Initialized(&flag);
    PMPI_Get_version(&version, &subversion);
    printf("before: %d, MPI %d.%d\n", flag, version, subversion);
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "abort") == 0) {
        if (rank == 1)
            MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Recv(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("still here\n");
    }

    /* doubles */
    double t = MPI_Wtime(), u = PMPI_Wtime();
    printf("rank %d: time %d\n", rank, t > 0 && u >= t && u < t + 60);
    MPI_Pcontrol(1);
    MPI_Pcontrol(2, 1.5, "x", 3);

    /* many arguments, addresses of structures, results through pointers */
    int from[4] = {rank, rank + 1, rank + 2, rank + 3}, got[8] = {0}, sum[4];
    int counts[2] = {2, 2}, displs[2] = {0, 2}, offsets[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Alltoallw(from, counts, offsets, types, got, counts, offsets, types, MPI_COMM_WORLD);
    printf("rank %d: alltoallw %d %d %d %d\n", rank, got[0], got[1], got[2], got[3]);
    PMPI_Gatherv(from, 2, MPI_INT, got, counts, displs, MPI_INT, 1, MPI_COMM_WORLD);
    printf("rank %d: gatherv %d %d\n", rank, rank == 1 ? got[0] : -1, rank == 1 ? got[3] : -1);
    MPI_Allreduce(from, sum, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: allreduce %d\n", rank, sum[3]);
    MPI_Win win;
    int memory[2] = {10, 20}, more = 5, old = -1;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(&more, 1, MPI_INT, &old, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    printf("rank %d: get_accumulate %d, %d %d\n", rank, old, memory[0], memory[1]);
    MPI_Win_free(&win);

    MPI_Status status;
    MPI_Aint address, lb, extent;
    MPI_Datatype type;
    int integers[10];
    MPI_Send(from, 3, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    MPI_Get_count(&status, MPI_INT, &i);
    printf("rank %d: probe %d %d %d\n", rank, flag, status.MPI_SOURCE == MPI_PROC_NULL, i);
    MPI_Get_address(&got[3], &address);
    PMPI_Type_create_hvector(3, 1, 16, MPI_INT, &type);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_contents(type, 2, 1, 1, integers, &address, types);
    printf("rank %d: hvector %ld, %d %d %ld\n", rank, (long)extent, integers[0], integers[1], (long)address);
    MPI_Type_free(&type);

    /* communicators of one's own, and their attributes */
    MPI_Comm half;
    char name[MPI_MAX_OBJECT_NAME] = "";
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
    MPI_Comm_set_name(half, "half");
    PMPI_Comm_get_name(half, name, &i);
    MPI_Comm_compare(half, MPI_COMM_SELF, &flag);
    printf("rank %d: %s %d\n", rank, name, flag == MPI_CONGRUENT);

    MPI_Errhandler errors;
    MPI_Comm_create_errhandler(handler, &errors);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, errors);
    i = MPI_Barrier(MPI_COMM_NULL);
    printf("rank %d: barrier without a communicator %d\n", rank, i != MPI_SUCCESS);
    MPI_Errhandler_free(&errors);
    MPI_Comm_free(&half);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();

    /* after */
    PMPI_Finalized(&flag);
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_library_version(library, &i);
    printf("after: %d, %d\n", flag, i > 0);
    return 0;
}
