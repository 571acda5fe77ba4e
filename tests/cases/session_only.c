/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* MPI is started through a session; MPI_Init is never called.  An interposer
 * that sets itself up in MPI_Init has to do without. */
#include "mem.h"

int main(int argc, char **argv)
{
    case_name = "session_only";
#if MPI_VERSION < 4
    MPI_Init(&argc, &argv);
    return case_skip("this MPI has no sessions");
#else
    {
        MPI_Session ses;
        MPI_Group g;
        MPI_Comm comm;
        MPI_Datatype t;
        unsigned char *img, *want;
        void *a, *b;
        int i, peer, rank;
        (void)argc;
        (void)argv;
        if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &ses) != MPI_SUCCESS)
            FAIL("MPI_Session_init");
        OK(MPI_Group_from_session_pset(ses, "mpi://WORLD", &g));
        OK(MPI_Comm_create_from_group(g, "case", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
        OK(MPI_Comm_rank(comm, &rank));
        case_rank = rank;
        peer = 1 - rank;
        OK(MPI_Type_vector(20, 1, 2, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        a = mem_alloc(160);
        b = mem_alloc(80);
        img = pat_buf(160, 1u + (unsigned)rank);
        mem_put(a, img, 160);
        OK(MPI_Sendrecv(a, 1, t, peer, 0, b, 20, MPI_INT, peer, 0, comm, MPI_STATUS_IGNORE));
        free(img);
        img = pat_buf(160, 1u + (unsigned)peer);
        want = host_buf(80);
        for (i = 0; i < 20; i++)
            memcpy(want + 4 * i, img + 8 * i, 4);
        mem_same(b, want, 80, "session");
        OK(MPI_Type_free(&t));
        OK(MPI_Barrier(comm));
        OK(MPI_Group_free(&g));
        OK(MPI_Comm_free(&comm));
        OK(MPI_Session_finalize(&ses));
        mem_free(a);
        mem_free(b);
        case_ok();
    }
    return 0;
#endif
}
