/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Count zero with a null buffer and a strided type, in every call: nothing may
 * look at the pointer. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t;
    MPI_Request rq[2];
    MPI_Status st;
    int peer, n, pos, psize, z[2] = {0, 0}, d[2] = {0, 0};
    MPI_Aint da[2] = {0, 0};
    MPI_Datatype ty[2];
    MPI_Comm g;
    char pk[16];

    case_start(&argc, &argv, "zero_count_null_buffer", 2);
    peer = 1 - case_rank;
    OK(MPI_Type_vector(4, 1, 3, MPI_DOUBLE, &t));
    OK(MPI_Type_commit(&t));
    ty[0] = ty[1] = t;
    OK(MPI_Irecv(NULL, 0, t, peer, 1, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Isend(NULL, 0, t, peer, 1, MPI_COMM_WORLD, &rq[1]));
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    OK(MPI_Sendrecv(NULL, 0, t, peer, 2, NULL, 0, t, peer, 2, MPI_COMM_WORLD, &st));
    OK(MPI_Get_count(&st, t, &n));
    CHECK(n == 0 && st.MPI_SOURCE == peer && st.MPI_TAG == 2, "count %d source %d tag %d", n, st.MPI_SOURCE, st.MPI_TAG);
    if (case_rank == 0) {
        OK(MPI_Send(NULL, 0, t, 1, 3, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv(NULL, 0, t, 0, 3, MPI_COMM_WORLD, &st));
    }
    pos = 4;
    OK(MPI_Pack_size(0, t, MPI_COMM_WORLD, &psize));
    OK(MPI_Pack(NULL, 0, t, pk, (int)sizeof pk, &pos, MPI_COMM_WORLD));
    CHECK(pos == 4, "MPI_Pack of nothing moved position to %d", pos);
    OK(MPI_Unpack(pk, (int)sizeof pk, &pos, NULL, 0, t, MPI_COMM_WORLD));
    CHECK(pos == 4, "MPI_Unpack of nothing moved position to %d", pos);
    /* one side null at a time: plain MPICH calls two null buffers aliased */
    OK(MPI_Alltoall(NULL, 0, t, pk, 0, t, MPI_COMM_WORLD));
    OK(MPI_Alltoall(pk, 0, t, NULL, 0, t, MPI_COMM_WORLD));
    OK(MPI_Alltoallv(NULL, z, d, t, pk, z, d, t, MPI_COMM_WORLD));
    OK(MPI_Alltoallv(pk, z, d, t, NULL, z, d, t, MPI_COMM_WORLD));
    OK(MPI_Alltoallw(NULL, z, d, ty, pk, z, d, ty, MPI_COMM_WORLD));
    OK(MPI_Alltoallw(pk, z, d, ty, NULL, z, d, ty, MPI_COMM_WORLD));
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, MPI_UNWEIGHTED, 1, &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g));
    OK(MPI_Neighbor_alltoall(NULL, 0, t, NULL, 0, t, g));
    OK(MPI_Neighbor_alltoallv(NULL, z, d, t, NULL, z, d, t, g));
    OK(MPI_Neighbor_alltoallw(NULL, z, da, ty, NULL, z, da, ty, g));
    OK(MPI_Comm_free(&g));
    OK(MPI_Type_free(&t));
    return case_end();
}
