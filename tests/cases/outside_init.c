/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* The calls that are allowed before MPI_Init and after MPI_Finalize, and
 * MPI_Init with null arguments. */
#include "mem.h"

int main(void)
{
    char s[MPI_MAX_LIBRARY_VERSION_STRING];
    int v, sub, n, flag;
    MPI_Datatype t;
    void *early = malloc(64), *a, *b;

    case_name = "outside_init";
    OK(MPI_Initialized(&flag));
    CHECK(!flag, "initialized before MPI_Init");
    OK(MPI_Finalized(&flag));
    CHECK(!flag, "finalized before MPI_Init");
    OK(MPI_Get_version(&v, &sub));
    CHECK(v >= 3, "MPI %d.%d", v, sub);
    n = 0;
    OK(MPI_Get_library_version(s, &n));
    CHECK(n > 0, "no library version");
    MPI_Init(NULL, NULL);
    case_open("outside_init", 2);
    OK(MPI_Initialized(&flag));
    CHECK(flag, "not initialized after MPI_Init");
    OK(MPI_Type_vector(3, 1, 2, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    a = mem_alloc(64);
    b = mem_alloc(64);
    OK(MPI_Sendrecv(a, 1, t, 1 - case_rank, 0, b, 3, MPI_INT, 1 - case_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    mem_free(a);
    mem_free(b);
    free(early);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    /* t is left alive on purpose: MPI_Finalize has to cope */
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    CHECK(flag, "not finalized after MPI_Finalize");
    OK(MPI_Initialized(&flag));
    CHECK(flag, "MPI_Initialized forgot after MPI_Finalize");
    OK(MPI_Get_version(&v, &sub));
    case_ok();
    return 0;
}
