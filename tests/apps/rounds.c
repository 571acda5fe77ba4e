/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rounds.c ROUNDS - random small exchanges, over and over: in each round every rank posts a few receives and sends of random
 * types to its neighbours (itself, if it is alone) and waits for all. Every 1000th round is checked byte by byte. Prints what memory
 * the process holds after a tenth of the rounds and at the end: nothing may be left of the others.
 */
#include "mem.h"
#include <unistd.h>

enum { MOST = 8, TYPES = 12, ROOM = 4096 };

static uint64_t state = 88172645463325252ull;
static int below(int n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)n);
}

/* KiB that the process has in memory */
static long resident(void)
{
    long pages = 0, all;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &all, &pages) != 2)
        FAIL("/proc/self/statm");
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000, early = 0;
    MPI_Datatype types[TYPES];
    int ints[TYPES];
    char *out, *in, *host, *want;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &case_size));
    case_open("rounds", case_size);
    for (int k = 0; k < TYPES; k++) {
        ints[k] = 2 + 3 * k;
        OK(MPI_Type_vector(ints[k], 1, 2 + k % 3, MPI_INT, &types[k]));
        OK(MPI_Type_commit(&types[k]));
    }
    out = mem_alloc(MOST * ROOM);
    in = mem_alloc(MOST * ROOM);
    host = host_buf(MOST * ROOM);
    want = host_buf(MOST * ROOM);
    for (long round = 0; round < rounds; round++) {
        int n = 1 + below(MOST), chosen[MOST], to = (case_rank + 1) % case_size, from = (case_rank + case_size - 1) % case_size;
        int check = round % 1000 == 0;
        MPI_Request all[2 * MOST];
        for (int i = 0; i < n; i++)
            chosen[i] = below(TYPES);
        if (check) {
            for (int i = 0; i < MOST * ROOM; i++)
                host[i] = (char)pat((size_t)i, (unsigned)(round / 1000));
            mem_put(out, host, MOST * ROOM);
            mem_set(in, 0, MOST * ROOM);
        }
        for (int i = 0; i < n; i++)
            OK(MPI_Irecv(in + i * ROOM, 1, types[chosen[i]], from, i, MPI_COMM_WORLD, &all[i]));
        for (int i = 0; i < n; i++)
            OK(MPI_Isend(out + i * ROOM, 1, types[chosen[i]], to, i, MPI_COMM_WORLD, &all[n + i]));
        OK(MPI_Waitall(2 * n, all, MPI_STATUSES_IGNORE));
        if (check) {
            memset(want, 0, MOST * ROOM);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < ints[chosen[i]]; j++) {
                    int at = i * ROOM + 4 * j * (2 + chosen[i] % 3);
                    memcpy(want + at, host + at, 4);
                }
            mem_same(in, want, MOST * ROOM, "a round");
        }
        if (round == rounds / 10)
            early = resident();
    }
    printf("rank %d: %ld rounds, %ld KiB in memory after a tenth, %ld at the end\n", case_rank, rounds, early, resident());
    if (resident() > early + 4096)
        FAIL("%ld KiB grew to %ld", early, resident());
    mem_free(out);
    mem_free(in);
    free(host);
    free(want);
    for (int k = 0; k < TYPES; k++)
        OK(MPI_Type_free(&types[k]));
    return case_end();
}
