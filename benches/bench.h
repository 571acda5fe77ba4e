/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * bench.h - what the benchmark programs share: options, memory of one kind, the layouts, checks, clocks, JSON lines.
 *
 * The programs are plain MPI: they know nothing of the library. Whether it is loaded is read from /proc/self/maps and
 * only names the column.
 */
#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>

#include "gpu.h"

#define MI (1024L * 1024L)
#define PATTERN_GAP 0xA5

static struct {
    int rank, size, on_device, aware;
    int64_t max_bytes;       /* larger objects are left out */
    double budget, limit;    /* seconds to spend on a figure, and the longest single call that is still made */
    int mpi, hand;           /* --only mpi leaves the competitor out, --only hand the MPI */
    const char *label;       /* the name of the MPI column, for the reader of the JSON lines */
    FILE *json;
} bench;

static inline void bench_fail(const char *what, const char *detail)
{
    fprintf(stderr, "wrong: %s: %s\n", what, detail);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

static inline int preloaded(void)
{
    char line[1024];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, "libtempi") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* ------------------------------------------------------------------------------------------------------- options */

static inline const char *option(int argc, char **argv, const char *name)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return NULL;
}

static inline int flag(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return 0;
}

static inline double number(int argc, char **argv, const char *name, double otherwise)
{
    const char *s = option(argc, argv, name);
    return s ? atof(s) : otherwise;
}

/* MPI, the GPU unless --host, and the options that all programs take. */
static inline void bench_open(int argc, char **argv)
{
    const char *path = option(argc, argv, "--json"), *only;
    MPI_Comm node;
    int local;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local);
    MPI_Comm_free(&node);
    bench.max_bytes = (int64_t)(number(argc, argv, "--max-mib", 128) * MI);
    bench.budget = number(argc, argv, "--budget", 0.1);
    bench.limit = number(argc, argv, "--limit", 2);
    only = option(argc, argv, "--only");
    bench.mpi = !only || strcmp(only, "hand") != 0;
    bench.hand = !only || strcmp(only, "mpi") != 0;
    bench.aware = !flag(argc, argv, "--not-aware");
    bench.on_device = !flag(argc, argv, "--host");
    bench.label = option(argc, argv, "--label");
    if (bench.label == NULL)
        bench.label = preloaded() ? "preloaded" : "plain";
    if (bench.on_device && gpu_open(local) == 0) {
        if (bench.rank == 0)
            fprintf(stderr, "no GPU here; --host measures in host memory\n");
        MPI_Finalize();
        exit(77);
    }
    if (bench.on_device && bench.hand)
        gpu_load_rival(option(argc, argv, "--ptx"));
    if (path && bench.rank == 0 && (bench.json = fopen(path, "a")) == NULL)
        bench_fail("--json", path);
}

static inline void bench_close(void)
{
    if (bench.json)
        fclose(bench.json);
    MPI_Finalize();
}

/* -------------------------------------------------------------------------------------------------------- memory */

static inline void *target_alloc(size_t n)
{
    gpu_ptr device = 0;
    void *host = NULL;
    if (bench.on_device) {
        GPU(cuMemAlloc_v2(&device, n));
        return (void *)(uintptr_t)device;
    }
    if (posix_memalign(&host, 4096, n) != 0)
        bench_fail("memory", "none left");
    return host;
}

static inline void target_free(void *p)
{
    if (bench.on_device)
        GPU(cuMemFree_v2((gpu_ptr)(uintptr_t)p));
    else
        free(p);
}

static inline void target_put(void *target, const void *host, size_t n)
{
    if (bench.on_device) {
        GPU(cuMemcpyHtoD_v2((gpu_ptr)(uintptr_t)target, host, n));
        GPU(cuCtxSynchronize());
    } else {
        memcpy(target, host, n);
    }
}

static inline void target_get(void *host, const void *target, size_t n)
{
    if (bench.on_device)
        GPU(cuMemcpyDtoH_v2(host, (gpu_ptr)(uintptr_t)target, n));
    else
        memcpy(host, target, n);
}

static inline void target_set(void *target, int byte, size_t n)
{
    if (bench.on_device) {
        GPU(cuMemsetD8_v2((gpu_ptr)(uintptr_t)target, (unsigned char)byte, n));
        GPU(cuCtxSynchronize());
    } else {
        memset(target, byte, n);
    }
}

/* Bytes that differ from place to place, by a seed. */
static inline void fill(void *host, size_t n, uint64_t seed)
{
    uint64_t *words = host;
    for (size_t i = 0; i < n / 8; i++) {
        uint64_t x = (i + seed) * 0x9E3779B97F4A7C15u;
        words[i] = x ^ (x >> 29);
    }
}

/* ------------------------------------------------------------------------------------------------------- layouts */

struct layout {
    char name[40];
    struct shape shape;
    struct list list; /* n > 0: an irregular layout, of these blocks; shape.block is theirs, the rest means nothing */
    int64_t bytes, extent; /* packed bytes; bytes of memory from the buffer's start to the object's end */
    MPI_Datatype type;
};

/* `bytes` in blocks of `block` at twice that distance, as MPI_Type_vector makes it. */
static inline struct layout layout_vector(int64_t block, int64_t bytes)
{
    struct layout l;
    int64_t n = bytes / block;
    memset(&l, 0, sizeof l);
    snprintf(l.name, sizeof l.name, "vector of %ld B", (long)block);
    l.shape = (struct shape){0, block, n, 2 * block, 1, 0};
    l.bytes = bytes;
    l.extent = (n - 1) * 2 * block + block;
    MPI_Type_vector((int)n, (int)(block / 8), (int)(block / 4), MPI_DOUBLE, &l.type);
    MPI_Type_commit(&l.type);
    return l;
}

/* The face of width 2 of a cube of n³ doubles, `dim` 0 the slowest, 2 the fastest; `fortran` says it with
 * MPI_ORDER_FORTRAN and the sizes turned round, which is the same memory. */
static inline struct layout layout_face(int n, int dim, int fortran)
{
    struct layout l;
    int sizes[3] = {n, n, n}, sub[3] = {n, n, n}, starts[3] = {0, 0, 0};
    int64_t row = 8L * n, plane = row * n, cube = plane * n;
    memset(&l, 0, sizeof l);
    snprintf(l.name, sizeof l.name, "face %c of %d^3%s", "zyx"[dim], n, fortran ? " (Fortran)" : "");
    sub[fortran ? 2 - dim : dim] = 2;
    starts[fortran ? 2 - dim : dim] = 2;
    if (dim == 0)
        l.shape = (struct shape){2 * plane, 2 * plane, 1, 0, 1, 0};
    else if (dim == 1)
        l.shape = (struct shape){2 * row, 2 * row, n, plane, 1, 0};
    else
        l.shape = (struct shape){16, 16, (int64_t)n * n, row, 1, 0};
    l.bytes = 2 * plane;
    l.extent = cube;
    MPI_Type_create_subarray(3, sizes, sub, starts, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, MPI_DOUBLE, &l.type);
    MPI_Type_commit(&l.type);
    return l;
}

/* Every regular layout that the benchmarks use, at most `max` of them, small ones of a kind first. */
static inline int layouts(struct layout *out, int max)
{
    static const int64_t blocks[] = {8, 64, 512, 4096}, sizes[] = {1024, 64 * 1024, MI, 16 * MI, 128 * MI};
    int n = 0;
    for (int b = 0; b < 4; b++)
        for (int s = 0; s < 5; s++)
            if (sizes[s] >= blocks[b] && sizes[s] <= bench.max_bytes && n < max)
                out[n++] = layout_vector(blocks[b], sizes[s]);
    for (int dim = 0; dim < 3 && n < max; dim++)
        out[n++] = layout_face(256, dim, 0);
    if (n < max)
        out[n++] = layout_face(256, 2, 1);
    return n;
}

/* Numbers that look random and are the same in every run. */
static inline uint64_t hashed(uint64_t x)
{
    x = (x + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The places of `n` blocks of `block` bytes: ascending, the gap after each a multiple of `unit` up to `most` units. */
static inline struct list list_of(int64_t n, int64_t block, int64_t unit, int64_t most)
{
    struct list list = {n, block, malloc((size_t)n * sizeof(int64_t)), 0, 0};
    int64_t place = 0;
    if (list.at == NULL)
        bench_fail("memory", "none left");
    for (int64_t i = 0; i < n; i++) {
        list.at[i] = place;
        place += block + unit * (int64_t)(hashed((uint64_t)i) % (uint64_t)(most + 1));
    }
    return list;
}

static inline void shuffle(struct list *list)
{
    for (int64_t i = list->n - 1; i > 0; i--) {
        int64_t j = (int64_t)(hashed((uint64_t)i) % (uint64_t)(i + 1)), place = list->at[i];
        list->at[i] = list->at[j];
        list->at[j] = place;
    }
}

static inline void layout_list(struct layout *l, struct list list)
{
    l->list = list;
    l->shape = (struct shape){0, list.block, list.n, 0, 1, 0};
    l->bytes = list.n * list.block;
    l->extent = 0;
    for (int64_t i = 0; i < list.n; i++)
        if (list.at[i] + list.block > l->extent)
            l->extent = list.at[i] + list.block;
    if (gpu.rival)
        rival_table(&l->list);
}

/* The MPI type that an application with an array of indices makes: blocks of `block` / 8 doubles. */
static inline MPI_Datatype type_indexed(const int64_t *at, int64_t n, int64_t block)
{
    MPI_Datatype type;
    int *displacements = malloc((size_t)n * sizeof *displacements);
    if (displacements == NULL)
        bench_fail("memory", "none left");
    for (int64_t i = 0; i < n; i++)
        displacements[i] = (int)(at[i] / 8);
    MPI_Type_create_indexed_block((int)n, (int)(block / 8), displacements, MPI_DOUBLE, &type);
    free(displacements);
    return type;
}

static inline struct layout layout_indexed(const char *name, struct list list)
{
    struct layout l;
    memset(&l, 0, sizeof l);
    snprintf(l.name, sizeof l.name, "%s", name);
    l.type = type_indexed(list.at, list.n, list.block);
    MPI_Type_commit(&l.type);
    layout_list(&l, list);
    return l;
}

/* The layout of layout_vector(), said with a list of indices: whatever packs it should take the same time. */
static inline struct layout layout_indexed_regular(int64_t block, int64_t bytes)
{
    struct layout l = layout_vector(block, bytes);
    struct list list = list_of(bytes / block, block, block, 0);
    for (int64_t i = 0; i < list.n; i++)
        list.at[i] *= 2;
    MPI_Type_free(&l.type);
    snprintf(l.name, sizeof l.name, "indexed as a vector");
    l.type = type_indexed(list.at, list.n, block);
    MPI_Type_commit(&l.type);
    free(list.at);
    return l;
}

/* 64 Ki particles in the middle of three arrays: double position[][3], float charge[], int id[], which lie in another
 * order in memory. By hand it is a list of pieces of 4 KiB. */
static inline struct layout layout_particles(void)
{
    enum { PIECE = 4096, PARTICLES = 65536, FIRST = 16384, ALL = 98304 };
    static const int64_t sizes[3] = {24, 4, 4};
    const int64_t arrays[3] = {4 * ALL + 192, 28 * ALL + 448, 0}; /* where each begins */
    const int lengths[3] = {3 * PARTICLES, PARTICLES, PARTICLES};
    MPI_Datatype types[3] = {MPI_DOUBLE, MPI_FLOAT, MPI_INT};
    MPI_Aint displacements[3];
    struct list list = list_of(32 * PARTICLES / PIECE, PIECE, 0, 0);
    struct layout l;
    int64_t n = 0;
    memset(&l, 0, sizeof l);
    snprintf(l.name, sizeof l.name, "struct of 3 arrays");
    for (int f = 0; f < 3; f++) {
        displacements[f] = (MPI_Aint)(arrays[f] + FIRST * sizes[f]);
        for (int64_t b = 0; b < PARTICLES * sizes[f]; b += PIECE)
            list.at[n++] = displacements[f] + b;
    }
    MPI_Type_create_struct(3, lengths, displacements, types, &l.type);
    MPI_Type_commit(&l.type);
    layout_list(&l, list);
    return l;
}

/* Every irregular layout that fits, at most `max` of them, small ones of a kind first; and the vector to compare. */
static inline int irregular_layouts(struct layout *out, int max)
{
    static const int64_t doubles[2] = {4096, MI}, sizes[2] = {MI, 16 * MI};
    int n = 0;
    if (max < 11)
        bench_fail("layouts", "no room");
    for (int random = 0; random < 2; random++)
        for (int i = 0; i < 2 && 8 * doubles[i] <= bench.max_bytes; i++) {
            struct list list = list_of(doubles[i], 8, 8, 6);
            if (random)
                shuffle(&list);
            out[n++] = layout_indexed(random ? "indexed 8 B, random" : "indexed 8 B, sorted", list);
        }
    for (int i = 0; i < 2; i++)
        if (sizes[i] <= bench.max_bytes) /* whole blocks apart, as elements of a mesh are */
            out[n++] = layout_indexed("indexed 128 B", list_of(sizes[i] / 128, 128, 128, 3));
    for (int i = 0; i < 2; i++)
        if (sizes[i] <= bench.max_bytes) /* any number of doubles apart */
            out[n++] = layout_indexed("indexed 8 KiB", list_of(sizes[i] / 8192, 8192, 8, 1023));
    if (2 * MI <= bench.max_bytes)
        out[n++] = layout_particles();
    if (MI <= bench.max_bytes) {
        out[n++] = layout_indexed_regular(8, MI);
        out[n++] = layout_vector(8, MI);
    }
    return n;
}

static inline void layout_free(struct layout *l)
{
    MPI_Type_free(&l->type);
    free(l->list.at);
    if (l->list.table)
        GPU(cuMemFree_v2(l->list.table));
}

/* The reference: block after block, as the type map says. */
static inline void reference_pack(char *packed, const char *memory, const struct layout *l)
{
    const struct shape *s = &l->shape;
    for (int64_t i = 0; i < l->list.n; i++, packed += s->block)
        memcpy(packed, memory + l->list.at[i], (size_t)s->block);
    if (l->list.n > 0)
        return;
    memory += s->offset;
    for (int64_t k = 0; k < s->n2; k++)
        for (int64_t j = 0; j < s->n1; j++, packed += s->block)
            memcpy(packed, memory + k * s->s2 + j * s->s1, (size_t)s->block);
}

static inline void reference_unpack(char *memory, const char *packed, const struct layout *l)
{
    const struct shape *s = &l->shape;
    for (int64_t i = 0; i < l->list.n; i++, packed += s->block)
        memcpy(memory + l->list.at[i], packed, (size_t)s->block);
    if (l->list.n > 0)
        return;
    memory += s->offset;
    for (int64_t k = 0; k < s->n2; k++)
        for (int64_t j = 0; j < s->n1; j++, packed += s->block)
            memcpy(memory + k * s->s2 + j * s->s1, packed, (size_t)s->block);
}

/* Blocks by a list, or at a distance; inlined, so that a `block` that is a constant is a few instructions. */
static inline __attribute__((always_inline)) void loop_list(int unpack, char *m, char *p, const int64_t *at, int64_t n, size_t block)
{
    for (int64_t i = 0; i < n; i++, p += block)
        memcpy(unpack ? m + at[i] : p, unpack ? p : m + at[i], block);
}

static inline __attribute__((always_inline)) void loop_strided(int unpack, char *m, char *p, const struct shape *s, size_t block)
{
    for (int64_t k = 0; k < s->n2; k++)
        for (int64_t i = 0; i < s->n1; i++, p += block)
            memcpy(unpack ? m + k * s->s2 + i * s->s1 : p, unpack ? p : m + k * s->s2 + i * s->s1, block);
}

/* What a programmer writes for host memory: the loop over blocks, with the small blocks spelled out. */
static inline void loop_copy(int unpack, char *memory, char *packed, const struct layout *l)
{
    const struct shape *s = &l->shape;
    char *m = memory + s->offset;
#define LOOP(block)                                                                                                    \
    (l->list.n > 0 ? loop_list(unpack, m, packed, l->list.at, l->list.n, block) : loop_strided(unpack, m, packed, s, block))
    switch (s->block) {
    case 4: LOOP(4); break;
    case 8: LOOP(8); break;
    case 12: LOOP(12); break;
    case 16: LOOP(16); break;
    case 40: LOOP(40); break;
    case 64: LOOP(64); break;
    case 128: LOOP(128); break;
    default: LOOP((size_t)s->block);
    }
#undef LOOP
}

/* What a programmer writes for GPU memory: the kernel for this layout, and the wait for it. */
static inline void hand_copy(int unpack, gpu_ptr memory, gpu_ptr packed, const struct layout *l, enum done done)
{
    if (l->list.n > 0)
        rival_list(unpack, memory, packed, &l->list, done);
    else
        rival_copy(unpack, memory, packed, &l->shape, done);
}

/* Stops the run unless `n` bytes of target memory are those of `right`. */
static inline void check_bytes(const char *what, const struct layout *l, const void *target, const void *right, size_t n,
                               char *scratch)
{
    target_get(scratch, target, n);
    if (memcmp(scratch, right, n) == 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (scratch[i] != ((const char *)right)[i]) {
            fprintf(stderr, "%s of %ld bytes: byte %zu is %02x, not %02x\n", l->name, (long)l->bytes, i,
                    (unsigned char)scratch[i], ((const unsigned char *)right)[i]);
            bench_fail(what, "bytes differ");
        }
}

/* Bytes that the memory system must move for this object on the strided side: whole sectors of 32 bytes, each once.
 * Reading a table of offsets comes on top of that; this is what nothing can do without. */
static inline double sector_bytes(const struct layout *l)
{
    const struct shape *s = &l->shape;
    int64_t block = (s->block + 31) / 32 * 32, sectors = 0;
    int64_t step = s->n1 > 1 && s->s1 < block ? s->s1 : block;
    char *touched;
    if (l->list.n == 0 && s->n2 == 1)
        return (double)(step * s->n1);
    touched = calloc((size_t)l->extent / 32 + 1, 1);
    if (touched == NULL)
        bench_fail("memory", "none left");
    for (int64_t i = 0; i < s->n1 * s->n2; i++) {
        int64_t at = l->list.n > 0 ? l->list.at[i] : s->offset + i / s->n1 * s->s2 + i % s->n1 * s->s1;
        for (int64_t k = at / 32; k <= (at + s->block - 1) / 32; k++) {
            sectors += !touched[k];
            touched[k] = 1;
        }
    }
    free(touched);
    return 32.0 * (double)sectors;
}

/* ----------------------------------------------------------------------------------------------------- reporting */

/* One figure as a JSON line; us < 0: not measured, -us is what one call was expected to take. */
static inline void emit(const char *program, const char *operation, const struct layout *l, const char *who, double us)
{
    if (bench.json == NULL)
        return;
    fprintf(bench.json,
            "{\"bench\":\"%s\",\"memory\":\"%s\",\"op\":\"%s\",\"layout\":\"%s\",\"block\":%ld,\"bytes\":%ld,"
            "\"who\":\"%s\",",
            program, bench.on_device ? "device" : "host", operation, l->name, (long)l->shape.block, (long)l->bytes, who);
    if (us < 0)
        fprintf(bench.json, "\"us\":null,\"expected_us\":%.0f}\n", -us);
    else
        fprintf(bench.json, "\"us\":%.3f,\"checked\":true}\n", us);
    fflush(bench.json);
}

static inline const char *time_text(char *out, size_t n, double us)
{
    if (us < 0)
        snprintf(out, n, "(> %.0f s)", -us * 1e-6);
    else if (us == 0)
        snprintf(out, n, "-");
    else if (us < 1e3)
        snprintf(out, n, "%.2f us", us);
    else if (us < 1e6)
        snprintf(out, n, "%.2f ms", us * 1e-3);
    else
        snprintf(out, n, "%.2f s", us * 1e-6);
    return out;
}

static inline const char *size_text(char *out, size_t n, int64_t bytes)
{
    if (bytes % MI == 0)
        snprintf(out, n, "%ld MiB", (long)(bytes / MI));
    else if (bytes < 10240 && bytes % 1024 != 0)
        snprintf(out, n, "%ld B", (long)bytes);
    else
        snprintf(out, n, "%ld KiB", (long)(bytes / 1024));
    return out;
}

#endif
