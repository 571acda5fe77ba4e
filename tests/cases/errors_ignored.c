/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* A call completes strided sends together with a receive that is too short, and the program
 * ignores the statuses: an error comes back, the sends are done, persistent ones can go on. */
#include "mem.h"

enum { BLOCKS = 40, WAITALL, TESTALL, WAITSOME, TESTSOME, WAITANY, CALLS };

/* until both requests were completed or one failed */
static int complete(int call, MPI_Request *rq)
{
    int rc = MPI_SUCCESS, done = 0, flag, n, out[2];
    while (rc == MPI_SUCCESS && done < 2)
        switch (call) {
        case WAITALL:
            rc = MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
            done = 2;
            break;
        case TESTALL:
            rc = MPI_Testall(2, rq, &flag, MPI_STATUSES_IGNORE);
            done = flag ? 2 : 0;
            break;
        case WAITSOME:
        case TESTSOME:
            rc = call == WAITSOME ? MPI_Waitsome(2, rq, &n, out, MPI_STATUSES_IGNORE)
                                  : MPI_Testsome(2, rq, &n, out, MPI_STATUSES_IGNORE);
            done += n;
            break;
        default:
            rc = MPI_Waitany(2, rq, &n, MPI_STATUS_IGNORE);
            done++;
        }
    return rc;
}

int main(int argc, char **argv)
{
    MPI_Datatype t;
    layout l = {0};
    area s, d;
    unsigned char *plain;
    int i, call, persistent, first, rc;

    case_start(&argc, &argv, "errors_ignored", 2);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Type_vector(BLOCKS, 2, 3, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < BLOCKS; i++)
        lay_add(&l, 12 * i, 8);
    s = area_make(&l, 1);
    plain = host_buf(l.bytes);
    lay_gather(&l, s.img + s.zero, plain);
    for (call = WAITALL; call < CALLS; call++)
        for (persistent = 0; persistent < 2; persistent++)
            for (first = 0; first < 2; first++) {
                MPI_Request rq[2], *out = &rq[first], *in = &rq[1 - first];
                double host[4];
                d = area_make(&l, 2);
                if (case_rank == 1) {
                    OK(MPI_Recv(d.buf, 1, t, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                    ex_check_area(&d, &l, plain, "errors ignored", "the send");
                    OK(MPI_Send(s.buf, 1, t, 0, 2, MPI_COMM_WORLD));
                    if (persistent) {
                        OK(MPI_Recv(d.buf, 1, t, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                        ex_check_area(&d, &l, plain, "errors ignored", "the persistent send, once more");
                    }
                } else {
                    OK(MPI_Irecv(host, 4, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, in));
                    if (persistent) {
                        OK(MPI_Send_init(s.buf, 1, t, 1, 1, MPI_COMM_WORLD, out));
                        OK(MPI_Start(out));
                    } else {
                        OK(MPI_Isend(s.buf, 1, t, 1, 1, MPI_COMM_WORLD, out));
                    }
                    rc = complete(call, rq);
                    CHECK(rc != MPI_SUCCESS, "call %d: a receive that is too short succeeds", call);
                    OK(MPI_Wait(out, MPI_STATUS_IGNORE));
                    if (persistent) {
                        OK(MPI_Start(out));
                        OK(MPI_Wait(out, MPI_STATUS_IGNORE));
                        OK(MPI_Request_free(out));
                    }
                    CHECK(*out == MPI_REQUEST_NULL && *in == MPI_REQUEST_NULL, "call %d: a request is left", call);
                }
                area_drop(&d);
                OK(MPI_Barrier(MPI_COMM_WORLD));
            }
    OK(MPI_Type_free(&t));
    free(plain);
    area_drop(&s);
    return case_end();
}
