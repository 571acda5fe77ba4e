/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * constants.c - what this MPI's header makes of the names that the library
 * knows by number: one "NAME VALUE" a line.  MPI is not even initialised.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define INT(name) printf("%s %lld\n", #name, (long long)(name))
#define ADDRESS(name) printf("%s %llu\n", #name, (unsigned long long)(uintptr_t)(name))

#ifdef OPEN_MPI
/* a handle is the address of an object that has a symbol */
#define HANDLE(name, symbol) printf("%s %d\n", #name, dlsym(RTLD_DEFAULT, symbol) == (void *)(name))
#elif defined(MPICH)
#define HANDLE(name, symbol) printf("%s %llu\n", #name, (unsigned long long)(uint32_t)(name))
#else
#define HANDLE(name, symbol) printf("%s %llu\n", #name, (unsigned long long)(uintptr_t)(name))
#endif

struct short_int { short value; int index; };
struct long_int { long value; int index; };
struct double_int { double value; int index; };
struct long_double_int { long double value; int index; };
#define PAIR(name, type) \
    printf("%s %zu %zu %zu\n", #name, sizeof ((struct type *)0)->value, offsetof(struct type, index), sizeof(int))

int main(void)
{
    INT(MPI_COMBINER_NAMED);
    INT(MPI_COMBINER_DUP);
    INT(MPI_COMBINER_CONTIGUOUS);
    INT(MPI_COMBINER_VECTOR);
    INT(MPI_COMBINER_HVECTOR);
    INT(MPI_COMBINER_INDEXED);
    INT(MPI_COMBINER_HINDEXED);
    INT(MPI_COMBINER_INDEXED_BLOCK);
    INT(MPI_COMBINER_HINDEXED_BLOCK);
    INT(MPI_COMBINER_STRUCT);
    INT(MPI_COMBINER_SUBARRAY);
    INT(MPI_COMBINER_DARRAY);
    INT(MPI_COMBINER_F90_REAL);
    INT(MPI_COMBINER_F90_COMPLEX);
    INT(MPI_COMBINER_F90_INTEGER);
    INT(MPI_COMBINER_RESIZED);
#if defined(OPEN_MPI) && !(OMPI_ENABLE_MPI1_COMPAT)
    printf("MPI_COMBINER_HVECTOR_INTEGER %d\n", OMPI_WAS_MPI_COMBINER_HVECTOR_INTEGER);
    printf("MPI_COMBINER_HINDEXED_INTEGER %d\n", OMPI_WAS_MPI_COMBINER_HINDEXED_INTEGER);
    printf("MPI_COMBINER_STRUCT_INTEGER %d\n", OMPI_WAS_MPI_COMBINER_STRUCT_INTEGER);
#elif MPI_VERSION < 5
    INT(MPI_COMBINER_HVECTOR_INTEGER);
    INT(MPI_COMBINER_HINDEXED_INTEGER);
    INT(MPI_COMBINER_STRUCT_INTEGER);
#endif
    INT(MPI_ORDER_C);
    INT(MPI_ORDER_FORTRAN);
    INT(MPI_DISTRIBUTE_BLOCK);
    INT(MPI_DISTRIBUTE_CYCLIC);
    INT(MPI_DISTRIBUTE_NONE);
    INT(MPI_DISTRIBUTE_DFLT_DARG);
    INT(MPI_PROC_NULL);
    INT(MPI_UNDEFINED);
    INT(MPI_ERR_TRUNCATE);
    INT(MPI_ERR_OTHER);
    INT(MPI_ERR_NO_MEM);
    INT(MPI_ERR_INTERN);
    INT(MPI_ERR_PENDING);
    ADDRESS(MPI_STATUS_IGNORE);
    ADDRESS(MPI_STATUSES_IGNORE);
    INT(sizeof(MPI_Status));
    printf("MPI_Status.MPI_ERROR %zu\n", offsetof(MPI_Status, MPI_ERROR));
    INT(sizeof(MPI_Aint));
    INT(sizeof(MPI_Count));
    INT(sizeof(MPI_Datatype));
    INT(sizeof(MPI_Comm));
    INT(sizeof(MPI_Message));
    INT(sizeof(MPI_Request));
    INT(MPI_SUCCESS);
    HANDLE(MPI_PACKED, "ompi_mpi_packed");
    HANDLE(MPI_REQUEST_NULL, "ompi_request_null");
    HANDLE(MPI_MESSAGE_NO_PROC, "ompi_message_no_proc");
    HANDLE(MPI_COMM_WORLD, "ompi_mpi_comm_world");
    HANDLE(MPI_COMM_SELF, "ompi_mpi_comm_self");
    HANDLE(MPI_DATATYPE_NULL, "ompi_mpi_datatype_null");
    HANDLE(MPI_DOUBLE_INT, "ompi_mpi_double_int");
    HANDLE(MPI_LONG_INT, "ompi_mpi_long_int");
    HANDLE(MPI_SHORT_INT, "ompi_mpi_short_int");
    HANDLE(MPI_LONG_DOUBLE_INT, "ompi_mpi_longdbl_int");
    PAIR(double_int, double_int);
    PAIR(long_int, long_int);
    PAIR(short_int, short_int);
    PAIR(long_double_int, long_double_int);
    return 0;
}
