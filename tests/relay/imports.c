/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A plug-in that calls the MPI functions of 3.1 and, by -D, one that is newer.
 */
#include <mpi.h>
#include <stddef.h>

void plain(void);
void plain(void)
{
    int flag, rank;
    double t = MPI_Wtime() + MPI_Wtick();
    MPI_Initialized(&flag);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(&t, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &flag);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#ifdef BARRIER_INIT
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request);
void newer(MPI_Request *request);
void newer(MPI_Request *request) { MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, request); }
#endif

#ifdef BCAST_C
int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
#pragma weak PMPI_Bcast_c
void newer(void);
void newer(void)
{
    if (PMPI_Bcast_c)
        PMPI_Bcast_c(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
}
#endif

#ifdef OWN_NAME
int MPI_Trace_flush(void);
#pragma weak MPI_Trace_flush
int newer(void);
int newer(void) { return MPI_Trace_flush ? MPI_Trace_flush() : 0; }
#endif

#ifdef POINTER
/* no call, but a pointer among the data */
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request);
int (*newer)(MPI_Comm, MPI_Info, MPI_Request *) = MPI_Barrier_init;
#endif
