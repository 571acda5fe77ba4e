/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 1 */
/* The completion calls on null requests, inactive persistent requests and empty
 * arrays: they return at once with the empty status and MPI_UNDEFINED. */
#include "mem.h"

static void empty_status(const MPI_Status *st, const char *what, const char *call)
{
    int n = -1, c = 1;
    CHECK(st->MPI_SOURCE == MPI_ANY_SOURCE && st->MPI_TAG == MPI_ANY_TAG, "%s, %s: source %d tag %d, have to be MPI_ANY_SOURCE and MPI_ANY_TAG", what, call, st->MPI_SOURCE, st->MPI_TAG);
    OK(MPI_Get_count(st, MPI_INT, &n));
    CHECK(n == 0, "%s, %s: count %d", what, call, n);
    OK(MPI_Test_cancelled(st, &c));
    CHECK(!c, "%s, %s: cancelled", what, call);
}

static void all_calls(MPI_Request *rq, int n, const char *what)
{
    MPI_Status st, sts[8];
    MPI_Request keep[8];
    int idx, flag, cnt, out[8], i;

    if (n > 0)
        memcpy(keep, rq, (size_t)n * sizeof *rq);
    if (n > 0) {
        memset(&st, 0x33, sizeof st);
        OK(MPI_Wait(&rq[0], &st));
        empty_status(&st, what, "MPI_Wait");
        memset(&st, 0x33, sizeof st);
        flag = 0;
        OK(MPI_Test(&rq[0], &flag, &st));
        CHECK(flag, "%s: MPI_Test says no", what);
        empty_status(&st, what, "MPI_Test");
    }
    memset(&st, 0x33, sizeof st);
    idx = 99;
    OK(MPI_Waitany(n, rq, &idx, &st));
    CHECK(idx == MPI_UNDEFINED, "%s: MPI_Waitany gave %d", what, idx);
    empty_status(&st, what, "MPI_Waitany");
    memset(&st, 0x33, sizeof st);
    idx = 99;
    flag = 0;
    OK(MPI_Testany(n, rq, &idx, &flag, &st));
    CHECK(flag && idx == MPI_UNDEFINED, "%s: MPI_Testany gave flag %d index %d", what, flag, idx);
    if (n == 0 || rq[0] == MPI_REQUEST_NULL) /* plain MPICH 4.0.2 forgets it for inactive ones */
        empty_status(&st, what, "MPI_Testany");
    cnt = 99;
    OK(MPI_Waitsome(n, rq, &cnt, out, sts));
    CHECK(cnt == MPI_UNDEFINED, "%s: MPI_Waitsome gave %d", what, cnt);
    cnt = 99;
    OK(MPI_Testsome(n, rq, &cnt, out, sts));
    CHECK(cnt == MPI_UNDEFINED, "%s: MPI_Testsome gave %d", what, cnt);
    memset(sts, 0x33, sizeof sts);
    OK(MPI_Waitall(n, rq, sts));
    for (i = 0; i < n; i++)
        empty_status(&sts[i], what, "MPI_Waitall");
    flag = 0;
    memset(sts, 0x33, sizeof sts);
    OK(MPI_Testall(n, rq, &flag, sts));
    CHECK(flag, "%s: MPI_Testall says no", what);
    for (i = 0; i < n; i++)
        empty_status(&sts[i], what, "MPI_Testall");
    OK(MPI_Waitall(n, rq, MPI_STATUSES_IGNORE));
    OK(MPI_Testall(n, rq, &flag, MPI_STATUSES_IGNORE));
    OK(MPI_Waitany(n, rq, &idx, MPI_STATUS_IGNORE));
    OK(MPI_Testsome(n, rq, &cnt, out, MPI_STATUSES_IGNORE));
    for (i = 0; i < n; i++)
        CHECK(rq[i] == keep[i], "%s: request %d changed", what, i);
}

int main(int argc, char **argv)
{
    MPI_Datatype t;
    MPI_Request rq[5];
    void *buf;
    int i;
    case_start(&argc, &argv, "null_inactive_requests", 1);
    buf = mem_alloc(400);
    OK(MPI_Type_vector(5, 1, 3, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    all_calls(NULL, 0, "no requests");
    for (i = 0; i < 5; i++)
        rq[i] = MPI_REQUEST_NULL;
    all_calls(rq, 5, "null requests");
    OK(MPI_Recv_init(buf, 1, t, 0, 1, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Send_init(buf, 1, t, 0, 1, MPI_COMM_WORLD, &rq[3]));
    all_calls(rq, 5, "inactive and null requests");
    OK(MPI_Request_free(&rq[0]));
    OK(MPI_Request_free(&rq[3]));
    CHECK(rq[0] == MPI_REQUEST_NULL && rq[3] == MPI_REQUEST_NULL, "MPI_Request_free left the handle");
    OK(MPI_Type_free(&t));
    mem_free(buf);
    return case_end();
}
