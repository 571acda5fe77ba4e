/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * large.h - the large-count functions as a program has them that is to run under
 * any MPI: by weak references, which are null where there is no such function.
 */
#ifndef APP_LARGE_H
#define APP_LARGE_H

#include <dlfcn.h>
#include <mpi.h>

#define LARGE(name, ...) extern int name(__VA_ARGS__) __attribute__((weak))
#define TO int, int, MPI_Comm

LARGE(MPI_Pack_c, const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Count *, MPI_Comm);
LARGE(MPI_Unpack_c, const void *, MPI_Count, MPI_Count *, void *, MPI_Count, MPI_Datatype, MPI_Comm);
LARGE(MPI_Send_c, const void *, MPI_Count, MPI_Datatype, TO);
LARGE(MPI_Ssend_c, const void *, MPI_Count, MPI_Datatype, TO);
LARGE(MPI_Rsend_c, const void *, MPI_Count, MPI_Datatype, TO);
LARGE(MPI_Bsend_c, const void *, MPI_Count, MPI_Datatype, TO);
LARGE(MPI_Recv_c, void *, MPI_Count, MPI_Datatype, TO, MPI_Status *);
LARGE(MPI_Mrecv_c, void *, MPI_Count, MPI_Datatype, MPI_Message *, MPI_Status *);
LARGE(MPI_Sendrecv_c, const void *, MPI_Count, MPI_Datatype, int, int, void *, MPI_Count, MPI_Datatype, TO,
      MPI_Status *);
LARGE(MPI_Sendrecv_replace_c, void *, MPI_Count, MPI_Datatype, int, int, TO, MPI_Status *);
LARGE(MPI_Isend_c, const void *, MPI_Count, MPI_Datatype, TO, MPI_Request *);
LARGE(MPI_Issend_c, const void *, MPI_Count, MPI_Datatype, TO, MPI_Request *);
LARGE(MPI_Irsend_c, const void *, MPI_Count, MPI_Datatype, TO, MPI_Request *);
LARGE(MPI_Ibsend_c, const void *, MPI_Count, MPI_Datatype, TO, MPI_Request *);
LARGE(MPI_Irecv_c, void *, MPI_Count, MPI_Datatype, TO, MPI_Request *);
LARGE(MPI_Imrecv_c, void *, MPI_Count, MPI_Datatype, MPI_Message *, MPI_Request *);
LARGE(MPI_Send_init_c, const void *, MPI_Count, MPI_Datatype, TO, MPI_Request *);
LARGE(MPI_Ssend_init_c, const void *, MPI_Count, MPI_Datatype, TO, MPI_Request *);
LARGE(MPI_Rsend_init_c, const void *, MPI_Count, MPI_Datatype, TO, MPI_Request *);
LARGE(MPI_Bsend_init_c, const void *, MPI_Count, MPI_Datatype, TO, MPI_Request *);
LARGE(MPI_Recv_init_c, void *, MPI_Count, MPI_Datatype, TO, MPI_Request *);

#undef TO
#undef LARGE

/* Functions that the library has nothing to do with; looked up, because it looks at what a program imports. */
typedef int large_get(const MPI_Status *, MPI_Datatype, MPI_Count *);

static inline large_get *large_getter(const char *name)
{
    large_get *found;
    *(void **)&found = dlsym(RTLD_DEFAULT, name);
    return found;
}

#endif
