/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Calls that return one status leave its MPI_ERROR field alone; ignored statuses
 * are not written at all. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t;
    MPI_Status st;
    MPI_Request rq[2];
    void *a, *b;
    int peer, flag, idx;

    case_start(&argc, &argv, "status_error_field", 2);
    peer = 1 - case_rank;
    a = mem_alloc(200);
    b = mem_alloc(200);
    mem_set(a, 0, 200);
    OK(MPI_Type_vector(10, 1, 4, MPI_INT, &t));
    OK(MPI_Type_commit(&t));

    st.MPI_ERROR = 4711;
    OK(MPI_Sendrecv(a, 1, t, peer, 1, b, 1, t, peer, 1, MPI_COMM_WORLD, &st));
    CHECK(st.MPI_ERROR == 4711, "MPI_Sendrecv wrote %d to MPI_ERROR", st.MPI_ERROR);
    OK(MPI_Isend(a, 1, t, peer, 2, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Recv(b, 1, t, peer, 2, MPI_COMM_WORLD, &st));
    CHECK(st.MPI_ERROR == 4711, "MPI_Recv wrote %d to MPI_ERROR", st.MPI_ERROR);
    OK(MPI_Wait(&rq[0], &st));
    CHECK(st.MPI_ERROR == 4711, "MPI_Wait of a send wrote %d to MPI_ERROR", st.MPI_ERROR);
    OK(MPI_Irecv(b, 1, t, peer, 3, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Isend(a, 1, t, peer, 3, MPI_COMM_WORLD, &rq[1]));
    OK(MPI_Wait(&rq[0], &st));
    CHECK(st.MPI_ERROR == 4711, "MPI_Wait of a receive wrote %d to MPI_ERROR", st.MPI_ERROR);
    do
        OK(MPI_Test(&rq[1], &flag, &st));
    while (!flag);
    CHECK(st.MPI_ERROR == 4711, "MPI_Test wrote %d to MPI_ERROR", st.MPI_ERROR);
    OK(MPI_Irecv(b, 1, t, peer, 4, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Isend(a, 1, t, peer, 4, MPI_COMM_WORLD, &rq[1]));
    OK(MPI_Waitany(2, rq, &idx, &st));
    CHECK(st.MPI_ERROR == 4711, "MPI_Waitany wrote %d to MPI_ERROR", st.MPI_ERROR);
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    mem_free(a);
    mem_free(b);
    OK(MPI_Type_free(&t));
    return case_end();
}
