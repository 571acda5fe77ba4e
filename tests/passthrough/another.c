/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * another FILE: opens a second MPI for the whole process, as a plug-in that is linked with it would, and goes on to use its own.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { BLOCKS = 64 };

int main(int argc, char **argv)
{
    int from[3 * BLOCKS], to[3 * BLOCKS], packed[2 * BLOCKS], i, position = 0, sum = 0;
    MPI_Datatype type;
    if (argc < 2 || dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    MPI_Init(&argc, &argv);
    for (i = 0; i < 3 * BLOCKS; i++) {
        from[i] = i;
        to[i] = -1;
    }
    MPI_Type_vector(BLOCKS, 2, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(from, 1, type, 0, 1, to, 1, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Pack(to, 1, type, packed, (int)sizeof packed, &position, MPI_COMM_SELF);
    for (i = 0; i < 2 * BLOCKS; i++)
        sum += packed[i] * (i + 1);
    printf("%d bytes, sum %d\n", position, sum);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
