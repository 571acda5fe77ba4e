/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * commit.c - what a derived datatype costs: microseconds to create it, commit it, use it first and again, and free it.
 *
 * A library may put work off from MPI_Type_commit to the first use, so both are shown: `first` and `next` are MPI_Pack
 * of one object, right after the commit and once more. Every repetition makes a new type; the figures are medians.
 *
 * usage: mpirun -n 1 commit [--host] [--not-aware] [--json FILE] [--label NAME] [--max-mib N] [--budget S] [--limit S]
 *        --not-aware: this MPI cannot read GPU memory, so nothing is packed
 *        --limit: nor is a type whose pack is expected to take longer
 */
#include "bench.h"

enum kind { SUBARRAY, VECTOR, INDEXED, INDEXED_REGULAR, MIXED, BLOCKS, KINDS };
static const char *const names[KINDS] = {"subarray, face of 256^3", "vector of 8 B", "indexed 8 B, sorted",
                                         "indexed as a vector", "indexed 8 or 16 B", "indexed 128 B"};
enum step { CREATE, COMMIT, FIRST, NEXT, FREE, STEPS };
static const char *const steps[STEPS] = {"create", "commit", "first", "next", "free"};

/* The places of an indexed type's blocks; empty for the other kinds. */
static struct list places(enum kind kind, int64_t bytes)
{
    struct list list = {0, 0, NULL, 0, 0};
    if (kind == INDEXED)
        return list_of(bytes / 8, 8, 8, 6);
    if (kind == BLOCKS)
        return list_of(bytes / 128, 128, 128, 3);
    if (kind == MIXED)
        return list_of(bytes / 12, 16, 8, 6);
    if (kind == INDEXED_REGULAR) {
        list = list_of(bytes / 8, 8, 8, 0);
        for (int64_t i = 0; i < list.n; i++)
            list.at[i] *= 2;
    }
    return list;
}

static MPI_Datatype create(enum kind kind, int64_t bytes, const int *displacements, const int *lengths, int n, int length)
{
    const int sizes[3] = {256, 256, 256}, sub[3] = {256, 256, 2}, starts[3] = {0, 0, 2};
    MPI_Datatype type;
    if (kind == SUBARRAY)
        MPI_Type_create_subarray(3, sizes, sub, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    else if (kind == VECTOR)
        MPI_Type_vector((int)(bytes / 8), 1, 2, MPI_DOUBLE, &type);
    else if (kind == MIXED)
        MPI_Type_indexed(n, lengths, displacements, MPI_DOUBLE, &type);
    else
        MPI_Type_create_indexed_block(n, length, displacements, MPI_DOUBLE, &type);
    return type;
}

static void pack(char *memory, char *packed, int64_t bytes, MPI_Datatype type, const char *name)
{
    int position = 0;
    MPI_Pack(memory, 1, type, packed, (int)bytes, &position, MPI_COMM_WORLD);
    if (position != bytes)
        bench_fail("position", name);
}

int main(int argc, char **argv)
{
    enum { MAX = 100 };
    static double t[STEPS][MAX];
    const size_t room = 128 * (size_t)MI;
    char *memory, *packed, text[STEPS][32], size[32];
    double expected = 0; /* microseconds of a pack of the large type, by the small one */

    bench_open(argc, argv);
    memory = target_alloc(room);
    packed = target_alloc(16 * (size_t)MI);
    target_set(memory, 1, room);
    printf("%-24s %9s %9s %11s %11s %11s %11s %11s %12s  (%s)\n", "type", "size", "blocks", "create", "commit", "first pack",
           "next pack", "free", "ns a block", bench.label);
    for (int kind = 0; kind < KINDS; kind++)
        for (int large = 0; large < (kind == SUBARRAY ? 1 : 2); large++) {
            int64_t mean = kind == SUBARRAY ? 16 : kind == BLOCKS ? 128 : kind == MIXED ? 12 : 8; /* bytes of a block */
            int64_t blocks = kind == SUBARRAY ? 65536 : kind == BLOCKS ? (large ? 131072 : 8192) : large ? MI : 4096;
            int64_t bytes = blocks * mean;
            if (bytes > bench.max_bytes)
                continue;
            struct list list = places((enum kind)kind, bytes);
            int *displacements = list.n ? malloc((size_t)list.n * 2 * sizeof *displacements) : NULL, n = 0;
            int *lengths = displacements ? displacements + list.n : NULL; /* of mixed blocks: one and two doubles */
            int packs = (!bench.on_device || bench.aware) && (!large || expected <= bench.limit * 1e6);
            double start, us[STEPS];
            if (list.n && displacements == NULL)
                bench_fail("memory", "none left");
            for (int64_t i = 0; i < list.n; i++) {
                displacements[i] = (int)(list.at[i] / 8);
                lengths[i] = 1 + (int)(i % 2);
            }
            for (start = now(); n < MAX && (n < 1 || now() - start < bench.budget * 5); n++) {
                double at[STEPS + 1];
                MPI_Datatype type;
                at[CREATE] = now();
                type = create((enum kind)kind, bytes, displacements, lengths, (int)list.n, (int)(mean / 8));
                at[COMMIT] = now();
                MPI_Type_commit(&type);
                at[FIRST] = now();
                if (packs)
                    pack(memory, packed, bytes, type, names[kind]);
                at[NEXT] = now();
                if (packs)
                    pack(memory, packed, bytes, type, names[kind]);
                at[FREE] = now();
                MPI_Type_free(&type);
                at[STEPS] = now();
                for (int s = 0; s < STEPS; s++)
                    t[s][n] = at[s + 1] - at[s];
            }
            for (int s = 0; s < STEPS; s++)
                us[s] = packs || (s != FIRST && s != NEXT) ? median(t[s], n) * 1e6 : 0;
            expected = us[NEXT] * (kind == BLOCKS ? 16 : 256);
            printf("%-24s %9s %9ld %11s %11s %11s %11s %11s %12.2f\n", names[kind], size_text(size, sizeof size, bytes),
                   (long)blocks, time_text(text[0], 32, us[0]), time_text(text[1], 32, us[1]), time_text(text[2], 32, us[2]),
                   time_text(text[3], 32, us[3]), time_text(text[4], 32, us[4]), us[COMMIT] * 1e3 / (double)blocks);
            if (bench.json) {
                fprintf(bench.json, "{\"bench\":\"commit\",\"layout\":\"%s\",\"blocks\":%ld,\"bytes\":%ld,\"who\":\"%s\"",
                        names[kind], (long)blocks, (long)bytes, bench.label);
                for (int s = 0; s < STEPS; s++)
                    if (us[s] > 0)
                        fprintf(bench.json, ",\"%s\":%.3f", steps[s], us[s]);
                    else
                        fprintf(bench.json, ",\"%s\":null", steps[s]);
                fprintf(bench.json, "}\n");
            }
            fflush(stdout);
            free(displacements);
            free(list.at);
        }
    target_free(memory);
    target_free(packed);
    bench_close();
    return 0;
}
