/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pingpong.c - half a ping-pong of one derived datatype between two ranks, on GPU memory or (--host) in host memory.
 *
 * Columns: MPI_Send and MPI_Recv with the datatype (this MPI, or the library in front of it), and the same bytes by
 * hand: a kernel packs, the packed bytes travel as MPI_BYTE, a kernel unpacks. By hand there are three ways: through
 * device memory (a CUDA-aware MPI only: --not-aware leaves it out), one-shot (the kernels write to and read from
 * mapped host memory), and staged (pinned host memory and copies). The by-hand sends use PMPI_ names, so a preloaded
 * library has no part in them. `contiguous` is a ping-pong of the same number of contiguous bytes: nothing that packs
 * can be faster. Both ranks check every byte before and after the timing.
 *
 * usage: mpirun -n 2 pingpong [--host] [--ptx rival.ptx] [--not-aware] [--json FILE] [--label NAME] [--max-mib N]
 *                             [--budget S] [--limit S] [--only mpi|hand] [--irregular|--ddt]
 */
#include "ddt.h"

enum who { MPI, BY_DEVICE, ONE_SHOT, STAGED, LOOP, CONTIGUOUS, WAYS };
static const char *const names[WAYS] = {"mpi",    "hand-written, device", "hand-written, one-shot", "hand-written, staged",
                                        "hand-written", "contiguous"};

static struct {
    char *memory;         /* the strided object's */
    char *packed;         /* of the same kind */
    char *pinned;         /* mapped host memory */
    gpu_ptr pinned_device;
} at;

static void send(enum who who, const struct layout *l)
{
    int bytes = (int)l->bytes, to = 1 - bench.rank;
    gpu_ptr memory = (gpu_ptr)(uintptr_t)at.memory, packed = (gpu_ptr)(uintptr_t)at.packed;
    enum done done = bytes <= MI ? DONE_FLAG : DONE_STREAM;
    switch (who) {
    case MPI:
        MPI_Send(at.memory, 1, l->type, to, 0, MPI_COMM_WORLD);
        break;
    case BY_DEVICE:
        hand_copy(0, memory, packed, l, done);
        PMPI_Send(at.packed, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        break;
    case ONE_SHOT:
        hand_copy(0, memory, at.pinned_device, l, done);
        PMPI_Send(at.pinned, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        break;
    case STAGED:
        hand_copy(0, memory, packed, l, done);
        GPU(cuMemcpyDtoHAsync_v2(at.pinned, packed, (size_t)bytes, gpu.stream));
        GPU(cuStreamSynchronize(gpu.stream));
        PMPI_Send(at.pinned, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        break;
    case LOOP:
        loop_copy(0, at.memory, at.packed, l);
        PMPI_Send(at.packed, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        break;
    default:
        PMPI_Send(at.packed, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        break;
    }
}

static void receive(enum who who, const struct layout *l)
{
    int bytes = (int)l->bytes, from = 1 - bench.rank;
    gpu_ptr memory = (gpu_ptr)(uintptr_t)at.memory, packed = (gpu_ptr)(uintptr_t)at.packed;
    enum done done = bytes <= MI ? DONE_FLAG : DONE_STREAM;
    switch (who) {
    case MPI:
        MPI_Recv(at.memory, 1, l->type, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case BY_DEVICE:
        PMPI_Recv(at.packed, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        hand_copy(1, memory, packed, l, done);
        break;
    case ONE_SHOT:
        PMPI_Recv(at.pinned, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        hand_copy(1, memory, at.pinned_device, l, done);
        break;
    case STAGED:
        PMPI_Recv(at.pinned, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        GPU(cuMemcpyHtoDAsync_v2(packed, at.pinned, (size_t)bytes, gpu.stream));
        hand_copy(1, memory, packed, l, done);
        break;
    case LOOP:
        PMPI_Recv(at.packed, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        loop_copy(1, at.memory, at.packed, l);
        break;
    default:
        PMPI_Recv(at.packed, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    }
}

static void once(enum who who, const struct layout *l)
{
    if (bench.rank == 0) {
        send(who, l);
        receive(who, l);
    } else {
        receive(who, l);
        send(who, l);
    }
}

/* Half a round trip in seconds, the same answer on both ranks. */
static double timed(enum who who, const struct layout *l)
{
    double t;
    PMPI_Barrier(MPI_COMM_WORLD);
    t = now();
    once(who, l);
    t = 0.5 * (now() - t);
    PMPI_Bcast(&t, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return t;
}

/* One exchange with every byte looked at: rank 1 starts with gap bytes alone, rank 0 loses its object in between. */
static double checked(enum who who, const struct layout *l, uint64_t seed, char *source, char *right, char *scratch)
{
    size_t extent = (size_t)l->extent;
    double t;
    if (who == CONTIGUOUS) {
        target_set(at.packed, 1, (size_t)l->bytes);
        return timed(who, l);
    }
    fill(source, (size_t)l->bytes, seed);
    memset(right, PATTERN_GAP, extent + 64);
    reference_unpack(right, source, l);
    if (bench.rank == 0)
        target_put(at.memory, right, extent + 64);
    else
        target_set(at.memory, PATTERN_GAP, extent + 64);
    PMPI_Barrier(MPI_COMM_WORLD);
    t = now();
    if (bench.rank == 0) {
        send(who, l);
        t = now() - t;
        target_set(at.memory, PATTERN_GAP, extent + 64);
        PMPI_Barrier(MPI_COMM_WORLD);
        receive(who, l);
    } else {
        receive(who, l);
        t = now() - t;
        PMPI_Barrier(MPI_COMM_WORLD);
        send(who, l);
    }
    PMPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    check_bytes(names[who], l, at.memory, right, extent + 64, scratch);
    return t;
}

/* Median of half a round trip in microseconds, within the budget. */
static double measure(enum who who, const struct layout *l, char *source, char *right, char *scratch)
{
    enum { MAX = 1000 };
    static double t[MAX];
    double spent = 0, first = checked(who, l, 1, source, right, scratch);
    int n = 0;
    if (first > bench.budget)
        return first * 1e6;
    while (n < MAX && (n < 5 || spent < bench.budget)) {
        t[n] = timed(who, l);
        spent += 2 * t[n++];
    }
    checked(who, l, 2, source, right, scratch);
    return median(t, n) * 1e6;
}

int main(int argc, char **argv)
{
    enum { MOST = 48 };
    static struct layout all[MOST];
    char *source, *right, *scratch, text[6][32];
    double last = 0;
    int count;

    bench_open(argc, argv);
    if (bench.size != 2)
        bench_fail("ranks", "this program needs two");
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
    at.memory = target_alloc(room);
    at.packed = target_alloc(room);
    if (gpu.rival) {
        void *pinned;
        size_t most = (size_t)(bench.max_bytes > MI ? bench.max_bytes : MI);
        GPU(cuMemHostAlloc(&pinned, most, 2 /* mapped */));
        at.pinned = pinned;
        GPU(cuMemHostGetDevicePointer_v2(&at.pinned_device, pinned, 0));
    }
    if (bench.rank == 0)
        printf("%-26s %9s %12s %12s %12s %12s %12s\n", bench.on_device ? gpu.name : "host memory", "size", bench.label,
               bench.on_device ? "device" : "loop", bench.on_device ? "one-shot" : "", bench.on_device ? "staged" : "", "contiguous");

    for (int i = 0; i < count; i++) {
        const struct layout *l = &all[i];
        double us[WAYS] = {0}, expected = 0;
        if (i > 0 && strcmp(all[i - 1].name, l->name) == 0)
            expected = last * (double)l->bytes / (double)all[i - 1].bytes;
        if (bench.mpi)
            us[MPI] = expected > bench.limit * 1e6 ? -expected : measure(MPI, l, source, right, scratch);
        last = us[MPI] < 0 ? -us[MPI] : us[MPI];
        PMPI_Bcast(&last, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (bench.mpi)
            emit("pingpong", "half", l, bench.label, us[MPI]);
        for (int who = BY_DEVICE; bench.hand && who < WAYS; who++) {
            if (who == BY_DEVICE ? !gpu.rival || !bench.aware
                : who == LOOP ? bench.on_device
                : who == CONTIGUOUS ? bench.on_device && !bench.aware : !gpu.rival)
                continue;
            us[who] = measure((enum who)who, l, source, right, scratch);
            emit("pingpong", "half", l, names[who], us[who]);
        }
        if (bench.rank == 0) {
            printf("%-26s %9s %12s %12s %12s %12s %12s\n", l->name, size_text(text[0], 32, l->bytes),
                   time_text(text[1], 32, us[MPI]), time_text(text[2], 32, us[bench.on_device ? BY_DEVICE : LOOP]),
                   bench.on_device ? time_text(text[3], 32, us[ONE_SHOT]) : "",
                   bench.on_device ? time_text(text[4], 32, us[STAGED]) : "", time_text(text[5], 32, us[CONTIGUOUS]));
            fflush(stdout);
        }
    }
    for (int i = 0; i < count; i++)
        layout_free(&all[i]);
    target_free(at.memory);
    target_free(at.packed);
    bench_close();
    return 0;
}
