/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* plain-fails-mpich5: 5.0.2 returns MPI_SUCCESS once a handler of the program was called */
/* plain-fails-mpich5-abi: 5.0.2 returns MPI_SUCCESS once a handler of the program was called */
/* Errors of a strided transfer reach the error handler of the communicator that
 * was used, once, and the code comes back; other communicators hear nothing. */
#include "mem.h"

static int calls;
static MPI_Comm last;

static void note(MPI_Comm *c, int *rc, ...)
{
    (void)rc;
    calls++;
    last = *c;
}

static void deaf(MPI_Comm *c, int *rc, ...)
{
    (void)c;
    FAIL("the handler of another communicator was called with %d", *rc);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Errhandler mine, other;
    MPI_Datatype t, r;
    int rc, cls, n = 2, cmp;
    void *buf;

    case_start(&argc, &argv, "own_error_handler", 2);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(note, &mine));
    OK(MPI_Comm_create_errhandler(deaf, &other));
    OK(MPI_Comm_set_errhandler(comm, mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, other));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, other));
    OK(MPI_Type_vector(10, 1, 3, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, 128, &r));
    OK(MPI_Type_commit(&r));
    buf = mem_alloc(128 * 4);
    mem_set(buf, 0, 128 * 4);

    /* arguments that are wrong: a rank that is not there, a negative count */
    rc = MPI_Send(buf, 1, r, 77, 0, comm);
    OK(MPI_Error_class(rc, &cls));
    CHECK(cls == MPI_ERR_RANK, "send to rank 77: class %d, has to be MPI_ERR_RANK", cls);
    CHECK(calls == 1 && last == comm, "send to rank 77: handler called %d times", calls);
    rc = MPI_Recv(buf, -3, r, 0, 0, comm, MPI_STATUS_IGNORE);
    OK(MPI_Error_class(rc, &cls));
    CHECK(cls == MPI_ERR_COUNT, "count -3: class %d, has to be MPI_ERR_COUNT", cls);
    CHECK(calls == 2 && last == comm, "count -3: handler called %d times", calls);
    {
        MPI_Request rq = MPI_REQUEST_NULL;
        rc = MPI_Irecv(buf, 1, r, 0, -9, comm, &rq);
        OK(MPI_Error_class(rc, &cls));
        CHECK(cls == MPI_ERR_TAG, "tag -9: class %d, has to be MPI_ERR_TAG", cls);
        CHECK(calls == 3 && last == comm, "tag -9: handler called %d times", calls);
    }
    OK(MPI_Comm_compare(comm, MPI_COMM_WORLD, &cmp));
    /* a message that is too long */
    calls = 0;
    if (case_rank == 0) {
        OK(MPI_Send(buf, n, r, 1, 4, comm));
        CHECK(calls == 0, "the sender's handler was called");
    } else {
        rc = MPI_Recv(buf, 1, r, 0, 4, comm, MPI_STATUS_IGNORE);
        OK(MPI_Error_class(rc, &cls));
        CHECK(cls == MPI_ERR_TRUNCATE, "message too long: class %d, has to be MPI_ERR_TRUNCATE", cls);
        CHECK(calls == 1 && last == comm, "message too long: handler called %d times", calls);
    }
    OK(MPI_Barrier(comm));
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Errhandler_free(&other));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&r));
    mem_free(buf);
    return case_end();
}
