/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pack.c - MPI_Pack and MPI_Unpack of one object, on GPU memory or (--host) in host memory.
 *
 * Columns: this MPI (or the library in front of it), the hand-written competitor, and the limit: an empty kernel with
 * its completion, or the time that a device-to-device copy needs for the bytes that must move, whichever is longer
 * (in host memory a memcpy of the packed bytes). Every byte of every figure is checked.
 *
 * usage: mpirun -n 1 pack [--host] [--ptx rival.ptx] [--json FILE] [--label NAME] [--max-mib N] [--budget S]
 *                         [--limit S] [--only mpi|hand] [--irregular|--ddt]
 *        --irregular: indexed and struct types instead of vectors and faces, by hand with a table of offsets
 *        --ddt: the halos of applications (ddt.h)
 *        pack --ptx rival.ptx --overrun   only reads past the end of an allocation: what a memory checker must report
 */
#include "ddt.h"

enum who { MPI, RIVAL_FLAG, RIVAL_STREAM, RIVAL_LOOP, NOTHING, COPY };
static const char *const names[] = {"mpi",          "hand-written, flag", "hand-written, stream",
                                    "hand-written", "limit",              "limit"};

struct job {
    enum who who;
    int unpack;
    const struct layout *layout;
    char *memory, *packed;
};

static void once(const struct job *j)
{
    const struct layout *l = j->layout;
    gpu_ptr memory = (gpu_ptr)(uintptr_t)j->memory, packed = (gpu_ptr)(uintptr_t)j->packed;
    int position = 0;
    switch (j->who) {
    case MPI:
        if (j->unpack)
            MPI_Unpack(j->packed, (int)l->bytes, &position, j->memory, 1, l->type, MPI_COMM_WORLD);
        else
            MPI_Pack(j->memory, 1, l->type, j->packed, (int)l->bytes, &position, MPI_COMM_WORLD);
        if (position != l->bytes)
            bench_fail("position", l->name);
        break;
    case RIVAL_FLAG:
    case RIVAL_STREAM:
        hand_copy(j->unpack, memory, packed, l, j->who == RIVAL_FLAG ? DONE_FLAG : DONE_STREAM);
        break;
    case RIVAL_LOOP:
        loop_copy(j->unpack, j->memory, j->packed, l);
        break;
    case NOTHING:
        rival_nothing(DONE_FLAG);
        break;
    case COPY:
        if (bench.on_device) {
            GPU(cuMemcpyDtoDAsync_v2(packed, memory, (size_t)l->bytes, gpu.stream));
            GPU(cuStreamSynchronize(gpu.stream));
        } else {
            memcpy(j->packed, j->memory, (size_t)l->bytes);
        }
        break;
    }
}

/* Median of one call in microseconds, within the budget; calls of less than 5 us are timed in groups. */
static double measure(const struct job *j)
{
    enum { MAX = 2000 };
    static double t[MAX];
    int n = 0, group = 1;
    double start = now(), first, s;
    once(j);
    first = now() - start;
    if (first > bench.budget)
        return first * 1e6;
    s = now();
    once(j);
    s = now() - s;
    if (s < 5e-6)
        group = 1 + (int)(5e-6 / (s + 1e-8));
    for (start = now(); n < MAX && (n < 3 || now() - start < bench.budget); n++) {
        s = now();
        for (int i = 0; i < group; i++)
            once(j);
        t[n] = (now() - s) / group;
    }
    return median(t, n) * 1e6;
}

int main(int argc, char **argv)
{
    enum { MOST = 48 };
    static struct layout all[MOST];
    struct layout whole;
    char *source, *right, *scratch, *memory, *packed, a[32], b[32], c[32], d[32];
    double copy_rate = 0, nothing = 0, last[2] = {0, 0};
    int count;

    bench_open(argc, argv);
    count = flag(argc, argv, "--ddt")       ? ddt_layouts(all, MOST)
            : flag(argc, argv, "--irregular") ? irregular_layouts(all, MOST)
                                              : layouts(all, MOST);
    size_t room = 128 * (size_t)MI; /* the cube */
    for (int i = 0; i < count; i++)
        if ((size_t)all[i].extent > room)
            room = (size_t)all[i].extent;
    room += 4096;
    source = malloc(room);
    right = malloc(room);
    scratch = malloc(room);
    if (!source || !right || !scratch)
        bench_fail("memory", "none left");
    fill(source, room, 1);
    memory = target_alloc(room);
    packed = target_alloc(room);

    if (flag(argc, argv, "--overrun")) {
        const struct shape past = {(int64_t)room, 4096, 1, 0, 1, 0};
        if (!gpu.rival)
            bench_fail("--overrun", "needs the competitor's kernels");
        rival_copy(0, (gpu_ptr)(uintptr_t)memory, (gpu_ptr)(uintptr_t)packed, &past, DONE_STREAM);
        bench_close();
        return 0;
    }

    { /* the first call of a process may load kernels, which is no part of any figure */
        MPI_Datatype small;
        int position = 0;
        MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &small);
        MPI_Type_commit(&small);
        target_set(memory, 0, 64);
        if (bench.mpi)
            MPI_Pack(memory, 1, small, packed, 64, &position, MPI_COMM_WORLD);
        MPI_Type_free(&small);
    }
    memset(&whole, 0, sizeof whole);
    strcpy(whole.name, "copy");
    whole.bytes = (int64_t)room / 4096 * 4096;
    target_put(memory, source, room);
    target_set(packed, 0, room);
    if (gpu.rival) {
        struct job copy = {COPY, 0, &whole, memory, packed}, empty = {NOTHING, 0, &whole, memory, packed};
        copy_rate = 2.0 * (double)whole.bytes / measure(&copy); /* bytes read and written in a microsecond */
        nothing = measure(&empty);
        printf("%s: empty kernel and its completion %.2f us, device-to-device copy %.0f GB/s read and written\n", gpu.name,
               nothing, copy_rate * 1e-3);
    } else if (bench.on_device) {
        printf("%s: no competitor here, this MPI's figures only\n", gpu.name);
    }
    printf("%-7s %-22s %9s %14s %14s %14s %8s\n", "", "layout", "size", bench.label, "hand-written", "limit", "GB/s");

    for (int i = 0; i < count; i++)
        for (int unpack = 0; unpack < 2; unpack++) {
            const struct layout *l = &all[i];
            const char *op = unpack ? "unpack" : "pack";
            struct job j = {MPI, unpack, l, memory, packed};
            size_t bytes = (size_t)l->bytes, extent = (size_t)l->extent;
            double us = 0, rival = 0, limit = 0, expected = 0;
            enum who rivals[2] = {RIVAL_FLAG, RIVAL_STREAM};
            int n_rivals = gpu.rival ? 2 : 0;
            if (!bench.on_device && bench.hand) {
                rivals[0] = RIVAL_LOOP;
                n_rivals = 1;
            }

            /* MPI's time grows with the blocks, so the size before of the same kind foretells it. */
            if (i > 0 && strcmp(all[i - 1].name, l->name) == 0 && last[unpack] != 0)
                expected = last[unpack] * (double)l->bytes / (double)all[i - 1].bytes;
            for (int r = bench.mpi ? -1 : 0; r < n_rivals; r++) {
                double t;
                j.who = r < 0 ? MPI : rivals[r];
                if (r < 0 && expected > bench.limit * 1e6) {
                    us = -expected;
                    continue;
                }
                if (unpack) {
                    target_put(packed, source, bytes);
                    target_set(memory, PATTERN_GAP, extent + 64);
                    memset(right, PATTERN_GAP, extent + 64);
                    reference_unpack(right, source, l);
                } else {
                    target_put(memory, source, extent);
                    target_set(packed, PATTERN_GAP, bytes + 64);
                    memset(right + bytes, PATTERN_GAP, 64);
                    reference_pack(right, source, l);
                }
                t = measure(&j);
                check_bytes(op, l, unpack ? memory : packed, right, unpack ? extent + 64 : bytes + 64, scratch);
                if (r < 0) {
                    us = t;
                } else {
                    rival = rival == 0 || t < rival ? t : rival;
                    emit("pack", op, l, names[j.who], t);
                }
            }
            last[unpack] = us < 0 ? -us : us;
            if (bench.mpi)
                emit("pack", op, l, bench.label, us);
            if (gpu.rival) {
                limit = (sector_bytes(l) + (double)bytes) / copy_rate;
                limit = limit > nothing ? limit : nothing;
            } else if (!bench.on_device && bench.hand) {
                j.who = COPY;
                limit = measure(&j);
            }
            if (limit > 0)
                emit("pack", op, l, "limit", limit);
            printf("%-7s %-22s %9s %14s %14s %14s ", op, l->name, size_text(a, sizeof a, l->bytes),
                   time_text(b, sizeof b, us), time_text(c, sizeof c, rival), time_text(d, sizeof d, limit));
            if (us > 0)
                printf("%8.1f\n", (double)bytes / us * 1e-3);
            else
                printf("%8s\n", "");
            fflush(stdout);
        }
    for (int i = 0; i < count; i++)
        layout_free(&all[i]);
    target_free(memory);
    target_free(packed);
    bench_close();
    return 0;
}
