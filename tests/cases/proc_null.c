/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Transfers with MPI_PROC_NULL finish at once, touch nothing and give the null
 * status - even when the buffer is no address at all. */
#include "mem.h"

static void null_status(const MPI_Status *st, MPI_Datatype t, const char *what)
{
    int n = -1;
    CHECK(st->MPI_SOURCE == MPI_PROC_NULL, "%s: source %d, has to be MPI_PROC_NULL", what, st->MPI_SOURCE);
    CHECK(st->MPI_TAG == MPI_ANY_TAG, "%s: tag %d, has to be MPI_ANY_TAG", what, st->MPI_TAG);
    OK(MPI_Get_count(st, t, &n));
    CHECK(n == 0, "%s: count %d, has to be 0", what, n);
}

int main(int argc, char **argv)
{
    MPI_Datatype t;
    layout l = {0};
    area a, b;
    MPI_Status st, sts[2];
    MPI_Request rq[2];
    void *wild = (void *)(uintptr_t)64;
    int i, flag, to, from;
    unsigned char *plain;

    case_start(&argc, &argv, "proc_null", 2);
    OK(MPI_Type_vector(5, 2, 4, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 5; i++)
        lay_add(&l, 16 * i, 8);
    a = area_make(&l, 1);
    b = area_make(&l, 2);

    OK(MPI_Send(wild, 3, t, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Recv(wild, 3, t, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &st));
    null_status(&st, t, "MPI_Recv");
    OK(MPI_Recv(b.buf, 1, t, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv(wild, 2, t, MPI_PROC_NULL, 1, b.buf, 1, t, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &st));
    null_status(&st, t, "MPI_Sendrecv");

    OK(MPI_Isend(wild, 3, t, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Irecv(wild, 3, t, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &rq[1]));
    OK(MPI_Waitall(2, rq, sts));
    null_status(&sts[1], t, "MPI_Irecv, MPI_Waitall");
    OK(MPI_Irecv(b.buf, 1, t, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &rq[0]));
    flag = 0;
    for (i = 0; i < 1000 && !flag; i++)
        OK(MPI_Test(&rq[0], &flag, &st));
    CHECK(flag, "a receive from MPI_PROC_NULL does not complete");
    null_status(&st, t, "MPI_Irecv, MPI_Test");
    OK(MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &st));
    CHECK(flag, "MPI_Iprobe of MPI_PROC_NULL has to say yes");
    null_status(&st, t, "MPI_Iprobe");
    ex_check_area(&b, &l, NULL, "MPI_PROC_NULL", "receive buffer");

    /* the ends of a line: one side real, one side null */
    to = case_rank == 0 ? 1 : MPI_PROC_NULL;
    from = case_rank == 1 ? 0 : MPI_PROC_NULL;
    OK(MPI_Sendrecv(a.buf, 1, t, to, 1, b.buf, 1, t, from, 1, MPI_COMM_WORLD, &st));
    plain = host_buf(l.bytes);
    lay_gather(&l, a.img + a.zero, plain);
    if (case_rank == 1)
        ex_check_area(&b, &l, plain, "line", "end");
    else {
        null_status(&st, t, "MPI_Sendrecv, start of a line");
        ex_check_area(&b, &l, NULL, "line", "start");
    }
    free(plain);
    area_drop(&a);
    area_drop(&b);
    OK(MPI_Type_free(&t));
    return case_end();
}
