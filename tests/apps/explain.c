/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * explain.c - a few datatypes, each committed and used more than once: a vector
 * with a name, blocks of different length, a duplicate that is never committed,
 * one of too many blocks.
 */
#include "mem.h"

static void *object;

static void use(MPI_Datatype t)
{
    static char packed[4096];
    int i, position;
    for (i = 0; i < 3; i++) {
        position = 0;
        OK(MPI_Pack(object, 1, t, packed, sizeof packed, &position, MPI_COMM_SELF));
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype column, list, copy, gaps, pair, many;
    int lengths[3] = {1, 2, 1}, places[3] = {0, 4, 11}, many_lengths[2] = {1 << 26, 1}, many_places[2] = {0, 7};

    case_start(&argc, &argv, "explain", 1);
    object = host_buf(1 << 16);
    OK(MPI_Type_vector(64, 1, 4, MPI_DOUBLE, &column));
    OK(MPI_Type_set_name(column, "column"));
    OK(MPI_Type_commit(&column));
    OK(MPI_Type_commit(&column));
    use(column);
    OK(MPI_Type_indexed(3, lengths, places, MPI_DOUBLE, &list));
    OK(MPI_Type_commit(&list));
    use(list);
    OK(MPI_Type_dup(list, &copy));
    use(copy);
    OK(MPI_Type_create_resized(MPI_INT, 0, 8, &gaps));
    OK(MPI_Type_vector(2, 1, 3, gaps, &pair));
    OK(MPI_Type_indexed(2, many_lengths, many_places, pair, &many));
    OK(MPI_Type_commit(&many));
    OK(MPI_Type_commit(&many));
    OK(MPI_Type_free(&many));
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_free(&gaps));
    OK(MPI_Type_free(&copy));
    OK(MPI_Type_free(&list));
    OK(MPI_Type_free(&column));
    free(object);
    return case_end();
}
