/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A ring exchange of matrix columns, MPI_Pack of them, and what came of it, one line a rank.
 * Also the body of a plug-in (-DPLUGIN): then main is run(), and another program opens it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 37, COLUMNS = 11 };

static unsigned long sum(const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    unsigned long s = 14695981039346656037ul;
    for (size_t i = 0; i < size; i++)
        s = (s ^ b[i]) * 1099511628211ul;
    return s;
}

#ifdef PLUGIN
int run(int argc, char **argv);
int run(int argc, char **argv)
#else
int main(int argc, char **argv)
#endif
{
    int rank, ranks, position = 0, size, count;
    double matrix[ROWS][COLUMNS];
    MPI_Datatype column;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            matrix[i][j] = 1000 * rank + 100 * i + j;
    MPI_Type_vector(ROWS, 2, COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(&matrix[0][2], 1, column, (rank + 1) % ranks, 5, &matrix[0][7], 1, column, (rank + ranks - 1) % ranks, 5,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, column, &count);
    MPI_Pack_size(1, column, MPI_COMM_WORLD, &size);
    char *packed = calloc(1, (size_t)size);
    MPI_Pack(&matrix[0][6], 1, column, packed, size, &position, MPI_COMM_WORLD);
    printf("rank %d of %d: count %d from %d, position %d, matrix %lx, packed %lx\n", rank, ranks, count, status.MPI_SOURCE,
           position, sum(matrix, sizeof matrix), sum(packed, (size_t)position));
    fflush(stdout);
    free(packed);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
