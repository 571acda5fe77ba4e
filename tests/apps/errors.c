/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * errors.c - wrong calls, and what the error handlers hear of them: one line a
 * call, the same whatever serves it.
 *
 *     CALL: class CLASS, handler of the communicator N, others M
 */
#include "mem.h"

static int mine, others;

static void note(MPI_Comm *c, int *rc, ...)
{
    (void)c, (void)rc;
    mine++;
}

static void other(MPI_Comm *c, int *rc, ...)
{
    (void)c, (void)rc;
    others++;
}

static void heard(const char *call, int rc)
{
    int cls = -1;
    MPI_Error_class(rc, &cls);
    printf("%s: class %d, handler of the communicator %d, others %d\n", call, cls, mine, others);
    mine = others = 0;
}

#define TRY(call) heard(#call, (call))

int main(int argc, char **argv)
{
    MPI_Errhandler handler[2];
    MPI_Comm comm;
    MPI_Datatype t, raw[5];
    MPI_Request rq;
    MPI_Status st;
    void *buf, *dst, *packed, *room;
    int i, position = 0;

    case_start(&argc, &argv, "errors", 1);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_create_errhandler(note, &handler[0]));
    OK(MPI_Comm_create_errhandler(other, &handler[1]));
    OK(MPI_Comm_set_errhandler(comm, handler[0]));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler[1]));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler[1]));
    OK(MPI_Type_vector(100, 2, 5, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 5; i++) /* one for each call: an MPI may look only once */
        OK(MPI_Type_vector(100, 2, 5 + i, MPI_INT, &raw[i]));
    buf = mem_alloc(8192);
    dst = mem_alloc(8192);
    packed = mem_alloc(8192);
    mem_set(buf, 1, 8192);
    mem_set(packed, 1, 8192);
    room = host_buf(8192);

    TRY(MPI_Send(buf, 1, t, 9, 0, comm));
    TRY(MPI_Send(buf, 1, t, 0, -7, comm));
    TRY(MPI_Send(buf, -1, t, 0, 0, comm));
    TRY(MPI_Send(buf, 1, raw[0], 0, 0, comm));
    TRY(MPI_Recv(dst, 1, t, 9, 0, comm, &st));
    TRY(MPI_Recv(dst, 1, t, 0, -7, comm, &st));
    TRY(MPI_Recv(dst, 1, raw[1], 0, 0, comm, &st));
    TRY(MPI_Sendrecv(buf, 1, t, 9, 0, dst, 1, t, 0, 0, comm, &st));
    TRY(MPI_Sendrecv(buf, 1, t, 0, 0, dst, 1, t, 9, 0, comm, &st));
    TRY(MPI_Sendrecv(buf, 1, t, 0, -7, dst, 1, t, 0, 0, comm, &st));
    TRY(MPI_Sendrecv(buf, 1, raw[2], 0, 0, dst, 1, t, 0, 0, comm, &st));
    TRY(MPI_Pack(buf, 1, raw[3], packed, 8192, &position, comm));
    TRY(MPI_Unpack(packed, 8192, &position, dst, 1, raw[4], comm));
    TRY(MPI_Pack(buf, -1, t, packed, 8192, &position, comm));

    memset(room, 0, 8192);
    OK(MPI_Isend(room, 1000, MPI_BYTE, 0, 3, comm, &rq));
    TRY(MPI_Recv(dst, 1, t, 0, 3, comm, &st));
    OK(MPI_Wait(&rq, MPI_STATUS_IGNORE));
    mine = others = 0;
    TRY(MPI_Sendrecv(buf, 2, t, 0, 4, dst, 1, t, 0, 4, comm, &st));
    /* the communicator still works */
    TRY(MPI_Sendrecv(buf, 1, t, 0, 5, dst, 1, t, 0, 5, comm, &st));

    for (i = 0; i < 2; i++)
        OK(MPI_Errhandler_free(&handler[i]));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    for (i = 0; i < 5; i++)
        OK(MPI_Type_free(&raw[i]));
    OK(MPI_Type_free(&t));
    OK(MPI_Comm_free(&comm));
    free(room);
    mem_free(buf);
    mem_free(dst);
    mem_free(packed);
    return case_end();
}
