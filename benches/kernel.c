/* Measures the strided kernels on a GPU with nothing but the driver: completion, small and large objects, writes to
 * host memory, and the cost of the driver's queries. Prints tables; every time is a median.
 *
 *   gcc -O2 -std=gnu11 -I. -I$CUDA_HOME/include benches/kernel.c -ldl -o target/bench-kernel
 *   target/bench-kernel kernels/strided.ptx            measures
 *   target/bench-kernel --check kernels/strided.ptx    compares every kernel with a plain loop (for compute-sanitizer)
 *
 * Grids, blocks and orders of iteration are those of src/pack/plan.rs unless a table says otherwise. More than one
 * module may be named, to compare; the driver compiles each at load: CUDA_CACHE_DISABLE=1 shows how long that takes.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/strided.h"

#define NAME_OF(f) #f
#define EXPAND(f) NAME_OF(f)
static void *driver;
static void *symbol(const char *name)
{
    void *f = dlsym(driver, name);
    if (!f) {
        fprintf(stderr, "no %s\n", name);
        exit(2);
    }
    return f;
}
/* CALL(cuMemAlloc)(...) reaches the version that the header means. */
#define CALL(f) ({ static typeof(f) *p; if (!p) p = (typeof(f) *)symbol(EXPAND(f)); p; })
#define CHECK(f, ...)                                                                                            \
    do {                                                                                                         \
        CUresult r_ = CALL(f)(__VA_ARGS__);                                                                      \
        if (r_ != CUDA_SUCCESS) {                                                                                \
            fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #f, r_);                                \
            exit(2);                                                                                             \
        }                                                                                                        \
    } while (0)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, n, sizeof *v, ascending);
    return v[n / 2];
}

/* Evaluates the statement n times after n / 10 for warmth; the median in microseconds. */
#define MEDIAN(n, statement)                                                                                     \
    ({                                                                                                           \
        static double v_[4096];                                                                                  \
        for (int i_ = -(n) / 10; i_ < (n); i_++) {                                                               \
            const double t_ = now();                                                                             \
            statement;                                                                                           \
            if (i_ >= 0)                                                                                         \
                v_[i_] = now() - t_;                                                                             \
        }                                                                                                        \
        median(v_, (n));                                                                                         \
    })

/* The mean over a thousand, for what takes nanoseconds. */
#define MEAN_NS(statement)                                                                                       \
    ({                                                                                                           \
        double v_[15];                                                                                           \
        for (int i_ = 0; i_ < 15; i_++) {                                                                        \
            const double t_ = now();                                                                             \
            for (int k_ = 0; k_ < 1000; k_++) {                                                                  \
                statement;                                                                                       \
            }                                                                                                    \
            v_[i_] = now() - t_;                                                                                 \
        }                                                                                                        \
        median(v_, 15);                                                                                          \
    })

typedef struct {
    int64_t count, stride, packed;
} dim;

typedef struct {
    const char *name;
    CUmodule module;
    CUfunction f[5][2][2]; /* log2 of the word, unpack, o64 */
} variant;

static int sms;
static CUstream stream, loose;
static CUdeviceptr counter;
static volatile uint32_t *flag;
static uint64_t flag_device;
static uint32_t ticket;

static tempi_dim axis(dim d)
{
    uint32_t shift = 0;
    while ((1ull << shift) < (uint64_t)d.count)
        shift++;
    const uint64_t magic = ((1ull << (31 + shift)) + d.count - 1) / d.count;
    return (tempi_dim){.stride = d.stride, .packed = d.packed, .count = d.count, .magic = magic, .shift = shift};
}

static tempi_strided arrange(uint64_t memory, uint64_t packed, const dim *d, int n)
{
    tempi_strided a = {.memory = memory, .packed = packed, .words = 1, .ndims = n};
    for (int k = 0; k < n; k++) {
        a.words *= d[k].count;
        if (k + 1 < n)
            a.dims[k] = axis(d[k]);
    }
    a.outer_stride = d[n - 1].stride;
    a.outer_packed = d[n - 1].packed;
    return a;
}

/* `total` bytes in blocks of `block` every 2 * block. */
static tempi_strided vector(uint64_t memory, uint64_t packed, int64_t total, int64_t block, int64_t word)
{
    const dim d[2] = {{block / word, word, word}, {total / block, 2 * block, block}};
    return block > word ? arrange(memory, packed, d, 2) : arrange(memory, packed, d + 1, 1);
}

static int log2_of(int64_t word)
{
    return __builtin_ctzll(word);
}

typedef struct {
    unsigned grid, threads;
} shape;

/* Blocks of `threads`, in at most `waves` waves; 0: as many as there are tiles. */
static shape shape_of(const tempi_strided *a, int64_t word, unsigned threads, unsigned waves)
{
    const unsigned tile = threads * (word == 16 ? 2 : 4), tiles = (a->words + tile - 1) / tile, most = waves * sms * 2048 / threads;
    return (shape){tiles == 0 ? 1 : waves && tiles > most ? most : tiles, threads};
}

/* What src/pack/plan.rs chooses. */
static shape planned(const tempi_strided *a, int64_t word, int unpack)
{
    const shape few = shape_of(a, word, 256, 0);
    return few.grid <= (unsigned)sms ? few : shape_of(a, word, 512, unpack ? 16 : 8);
}

static void launch(CUfunction f, tempi_strided *a, shape by, CUstream s)
{
    void *args[] = {a};
    CHECK(cuLaunchKernel, f, by.grid, 1, 1, by.threads, 1, 1, 0, s, args, NULL);
}

static void arm(tempi_strided *a)
{
    a->flag = flag_device;
    a->counter = counter;
    a->value = ++ticket;
}

static void poll(void)
{
    for (uint64_t spins = 0; *flag != ticket; spins++)
        if (spins == 1u << 30) {
            fprintf(stderr, "the flag never came\n");
            exit(2);
        }
}

static double flag_time(int n, CUfunction f, tempi_strided *a, shape by, CUstream s)
{
    return MEDIAN(n, (arm(a), launch(f, a, by, s), poll()));
}

/* The same through one instantiated graph of one kernel that alternates between two launches. */
static double graph_time(int n, CUfunction f, tempi_strided *a, shape by, CUfunction f2, tempi_strided *a2, shape by2, CUstream s)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    tempi_strided *both[2] = {a, a2};
    void *args[2][1] = {{a}, {a2}};
    CUDA_KERNEL_NODE_PARAMS p[2] = {{.func = f, .gridDimX = by.grid, .gridDimY = 1, .gridDimZ = 1, .blockDimX = by.threads,
                                     .blockDimY = 1, .blockDimZ = 1, .kernelParams = args[0]},
                                    {.func = f2, .gridDimX = by2.grid, .gridDimY = 1, .gridDimZ = 1, .blockDimX = by2.threads,
                                     .blockDimY = 1, .blockDimZ = 1, .kernelParams = args[1]}};
    int k = 0;
    arm(a);
    CHECK(cuGraphCreate, &graph, 0);
    CHECK(cuGraphAddKernelNode, &node, graph, NULL, 0, &p[0]);
    CHECK(cuGraphInstantiateWithFlags, &exec, graph, 0);
    const double time = MEDIAN(n, ({
        arm(both[k]);
        CHECK(cuGraphExecKernelNodeSetParams, exec, node, &p[k]);
        CHECK(cuGraphLaunch, exec, s);
        poll();
        k ^= 1;
    }));
    CHECK(cuStreamSynchronize, s);
    CHECK(cuGraphExecDestroy, exec);
    CHECK(cuGraphDestroy, graph);
    return time;
}

/* Microseconds of one launch in a row of several, by events. */
static double device_time(CUfunction f, tempi_strided *a, shape by)
{
    static CUevent from, to;
    if (!from) {
        CHECK(cuEventCreate, &from, 0);
        CHECK(cuEventCreate, &to, 0);
    }
    double v[7];
    arm(a);
    launch(f, a, by, stream);
    for (int i = 0; i < 7; i++) {
        float ms;
        CHECK(cuEventRecord, from, stream);
        for (int k = 0; k < 4; k++)
            launch(f, a, by, stream);
        CHECK(cuEventRecord, to, stream);
        CHECK(cuEventSynchronize, to);
        CHECK(cuEventElapsedTime, &ms, from, to);
        v[i] = ms * 1e3 / 4;
    }
    return median(v, 7);
}

static double copy_rate(uint64_t to, uint64_t from, size_t bytes)
{
    CUevent a, b;
    double v[9];
    CHECK(cuEventCreate, &a, 0);
    CHECK(cuEventCreate, &b, 0);
    for (int i = -1; i < 9; i++) {
        float ms;
        CHECK(cuEventRecord, a, stream);
        CHECK(cuMemcpyDtoDAsync, to, from, bytes, stream);
        CHECK(cuEventRecord, b, stream);
        CHECK(cuEventSynchronize, b);
        CHECK(cuEventElapsedTime, &ms, a, b);
        if (i >= 0)
            v[i] = 2.0 * bytes / ms * 1e-6;
    }
    return median(v, 9);
}

static void load(variant *v, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(2);
    }
    static char text[1 << 21];
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    const char *slash = strrchr(path, '/');
    v->name = slash ? slash + 1 : path;
    const double t = now();
    CHECK(cuModuleLoadData, &v->module, text);
    printf("module %s: %.0f ms\n", v->name, (now() - t) * 1e-3);
    for (int w = 0; w < 5; w++)
        for (int u = 0; u < 2; u++)
            for (int o = 0; o < 2; o++) {
                char name[64];
                snprintf(name, sizeof name, "tempi_%spack_w%d_o%d", u ? "un" : "", 1 << w, o ? 64 : 32);
                CHECK(cuModuleGetFunction, &v->f[w][u][o], v->module, name);
            }
}

/* ---- the check ---- */

static uint64_t seed = 0x9e3779b97f4a7c15;
static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int check(variant *v)
{
    enum { BYTES = 1 << 18 };
    static unsigned char memory[BYTES], packed[BYTES], got[BYTES];
    CUdeviceptr dm, dp;
    int wrong = 0;
    CHECK(cuMemAlloc, &dm, BYTES);
    CHECK(cuMemAlloc, &dp, BYTES);
    for (int round = 0; round < 20 * 8; round++) {
        const int w = round / 4 % 5, unpack = round & 1, wide = round >> 1 & 1, word = 1 << w;
        dim d[4] = {{1, 0, 0}};
        const int n = 1 + random64() % 4;
        int64_t order[4] = {0, 1, 2, 3}, reach = word;
        for (int k = 0; k < n; k++) {
            const int other = random64() % (k + 1);
            const int64_t t = order[k];
            order[k] = order[other];
            order[other] = t;
        }
        for (int k = 0; k < n; k++) {
            d[order[k]].count = 2 + random64() % (n < 3 ? 20 : 6);
            d[order[k]].packed = reach;
            reach *= d[order[k]].count;
        }
        const int64_t size = reach;
        reach = word;
        for (int k = 0; k < n; k++) {
            d[k].stride = reach + word * (random64() % 2);
            reach = d[k].stride * d[k].count;
        }
        const int64_t at = word * (random64() % 5), packed_at = word * (random64() % 5);
        if (at + reach > BYTES || packed_at + size > BYTES)
            continue;
        for (int i = 0; i < BYTES; i++) {
            memory[i] = random64();
            packed[i] = random64();
        }
        CHECK(cuMemcpyHtoD, dm, memory, BYTES);
        CHECK(cuMemcpyHtoD, dp, packed, BYTES);
        tempi_strided a = arrange(dm + at, dp + packed_at, d, n);
        for (uint32_t i = 0; i < a.words; i++) {
            uint32_t rest = i;
            int64_t m = at, p = packed_at;
            for (int k = 0; k < n; k++) {
                m += rest % d[k].count * d[k].stride;
                p += rest % d[k].count * d[k].packed;
                rest /= d[k].count;
            }
            if (unpack)
                memcpy(memory + m, packed + p, word);
            else
                memcpy(packed + p, memory + m, word);
        }
        const shape by = {1 + random64() % 7, 32 << random64() % 5};
        arm(&a);
        launch(v->f[w][unpack][wide], &a, by, stream);
        poll();
        CHECK(cuStreamSynchronize, stream);
        uint32_t left;
        CHECK(cuMemcpyDtoH, &left, counter, 4);
        CHECK(cuMemcpyDtoH, got, dm, BYTES);
        int bad = memcmp(got, memory, BYTES) != 0 || left != 0;
        CHECK(cuMemcpyDtoH, got, dp, BYTES);
        bad |= memcmp(got, packed, BYTES) != 0;
        if (bad)
            printf("WRONG: %s word %d unpack %d wide %d round %d\n", v->name, word, unpack, wide, round);
        wrong += bad;
    }
    CHECK(cuMemFree, dm);
    CHECK(cuMemFree, dp);
    printf("check %s: %d wrong\n", v->name, wrong);
    return wrong;
}

/* ---- the measurements ---- */

static double empty_flag;

static void completion(variant *v)
{
    CUfunction f = v->f[4][0][0];
    const dim one = {1, 16, 16};
    const shape single = {1, 256};
    tempi_strided a = arrange(0, 0, &one, 1);
    a.words = 0;
    printf("\n## Completion of an empty kernel (us)\n\n| stream | launch + sync | launch + flag | graph, set params + flag | launch alone "
           "|\n|---|---|---|---|---|\n");
    for (int k = 0; k < 3; k++) {
        CUstream s = k == 0 ? stream : k == 1 ? loose : NULL;
        a.flag = 0;
        const double sync = MEDIAN(2000, (launch(f, &a, single, s), CALL(cuStreamSynchronize)(s)));
        const double by_flag = flag_time(2000, f, &a, single, s);
        const double alone = MEDIAN(500, (a.flag = 0, launch(f, &a, single, s)));
        CHECK(cuStreamSynchronize, s);
        printf("| %s | %.2f | %.2f | %.2f | %.2f |\n", k == 0 ? "blocking" : k == 1 ? "non-blocking" : "legacy", sync, by_flag,
               graph_time(2000, f, &a, single, f, &a, single, s), alone);
        if (k == 0)
            empty_flag = by_flag;
    }
    printf("\nEmpty kernel + flag by blocks (256 threads):");
    for (unsigned g = 1; g <= 4096; g *= 2)
        printf(" %u: %.2f", g, flag_time(1000, f, &a, (shape){g, 256}, stream));
    printf("\n");
}

static const int64_t small_blocks[] = {8, 16, 64, 512, 4096};
enum { SMALL = sizeof small_blocks / sizeof small_blocks[0] };

static void small(variant *v, int n, CUdeviceptr memory, CUdeviceptr packed)
{
    printf("\n## 64 KiB, flag (us, pack / unpack; the empty kernel with flag: %.2f)\n\n| module | threads | 8 B | 16 B | 64 B | 512 B | 4 KiB "
           "|\n|---|---|---|---|---|---|---|\n", empty_flag);
    for (int i = 0; i < n; i++)
        for (unsigned threads = 64; threads <= 1024; threads *= 2) {
            printf("| %s | %u%s |", v[i].name, threads, threads == 256 ? " (planned)" : "");
            for (int b = 0; b < SMALL; b++) {
                const int64_t block = small_blocks[b], word = block < 16 ? block : 16;
                tempi_strided a = vector(memory, packed, 65536, block, word);
                const shape by = shape_of(&a, word, threads, 0);
                printf(" %.2f / %.2f |", flag_time(400, v[i].f[log2_of(word)][0][0], &a, by, stream),
                       flag_time(400, v[i].f[log2_of(word)][1][0], &a, by, stream));
            }
            printf("\n");
        }
    tempi_strided a = vector(memory, packed, 65536, 16, 16), b = vector(memory, packed, 131072, 16, 16), c = vector(memory, packed, 65536, 8, 8);
    const shape a_by = planned(&a, 16, 0), b_by = planned(&b, 16, 0), c_by = planned(&c, 8, 0);
    CUfunction f = v->f[4][0][0], g = v->f[3][0][0];
    printf("\nOne instantiated graph, 16 B blocks, pack: parameters change %.2f, and the grid %.2f, and the function %.2f\n",
           graph_time(1000, f, &a, a_by, f, &a, a_by, stream), graph_time(1000, f, &a, a_by, f, &b, b_by, stream),
           graph_time(1000, f, &a, a_by, g, &c, c_by, stream));

    printf("\n## By payload, us by flag, pack / unpack\n\n| bytes | 8 B | 16 B | 64 B | 512 B |\n|---|---|---|---|---|\n");
    for (int64_t size = 1 << 10; size <= 256 << 20; size *= 4) {
        printf("| %ld |", (long)size);
        for (int k = 0; k < 4; k++) {
            const int64_t block = small_blocks[k], word = block < 16 ? block : 16;
            tempi_strided a = vector(memory, packed, size, block, word);
            for (int u = 0; u < 2; u++)
                printf(" %.1f %s", flag_time(size > 4 << 20 ? 60 : 400, v->f[log2_of(word)][u][0], &a, planned(&a, word, u), stream), u ? "|" : "/");
        }
        printf("\n");
    }

    printf("\n## Faces of a 256^3 cube of doubles, width 2 (1 MiB): us by flag, pack / unpack\n\n");
    const int64_t row = 2048, plane = 256 * row;
    const dim faces[3][2] = {{{2 * plane / 16, 16, 16}}, {{2 * row / 16, 16, 16}, {256, plane, 2 * row}}, {{65536, row, 16}}};
    for (int k = 0; k < 3; k++) {
        tempi_strided a = arrange(memory, packed, faces[k], k == 1 ? 2 : 1);
        printf("%c: %.2f / %.2f\n", "zyx"[k], flag_time(1000, v->f[4][0][0], &a, planned(&a, 16, 0), stream),
               flag_time(1000, v->f[4][1][0], &a, planned(&a, 16, 1), stream));
    }
}

static const int64_t blocks[] = {4, 8, 16, 32, 64, 128, 512, 1024, 4096};
enum { BLOCKS = sizeof blocks / sizeof blocks[0] };

/* threads 0: as planned */
static void large_row(variant *v, CUdeviceptr memory, CUdeviceptr packed, int threads, int waves, int wide)
{
    if (threads)
        printf("| %s | %d | %d | %s |", v->name, threads, waves, wide ? "o64" : "o32");
    else
        printf("| %s | planned | | %s |", v->name, wide ? "o64" : "o32");
    for (int u = 0; u < 2; u++)
        for (int b = 0; b < BLOCKS; b++) {
            const int64_t total = 128 << 20, block = blocks[b], word = block < 16 ? block : 16;
            tempi_strided a = vector(memory, packed, total, block, word);
            const shape by = threads ? shape_of(&a, word, threads, waves) : planned(&a, word, u);
            printf(" %.0f |", total / device_time(v->f[log2_of(word)][u][wide], &a, by) * 1e-3);
        }
    printf("\n");
}

static void large(variant *v, int n, CUdeviceptr memory, CUdeviceptr packed)
{
    const double limit = copy_rate(packed, memory, 1 << 30);
    printf("\n## 128 MiB, blocks every 2 blocks: GB/s of payload, pack then unpack, completions counted\n\nDevice-to-device copy of 1 GiB: "
           "%.0f GB/s read + written, so 80%% is a payload of %.0f\n\n| module | threads | waves | offsets |", limit, 0.4 * limit);
    for (int u = 0; u < 2; u++)
        for (int b = 0; b < BLOCKS; b++)
            printf(" %s %ld |", u ? "unpack" : "pack", (long)blocks[b]);
    printf("\n|---|---|---|---|");
    for (int b = 0; b < 2 * BLOCKS; b++)
        printf("---|");
    printf("\n");
    for (int i = 0; i < n; i++) {
        large_row(&v[i], memory, packed, 0, 0, 0);
        large_row(&v[i], memory, packed, 0, 0, 1);
        for (int threads = 256; threads <= 1024; threads *= 2)
            for (int waves = 0; waves <= 16; waves = waves ? 2 * waves : 4)
                large_row(&v[i], memory, packed, threads, waves, 0);
    }
    printf("\nDevice-to-device copy again: %.0f\n", copy_rate(packed, memory, 1 << 30));

    printf("\n## 32 MiB in words of 1 and 2 bytes, GB/s of payload, pack / unpack\n\n| module | offsets | 1 B word, 64 B block | 2 B word, 64 B block "
           "|\n|---|---|---|---|\n");
    for (int i = 0; i < n; i++)
        for (int wide = 0; wide < 2; wide++) {
            printf("| %s | %s |", v[i].name, wide ? "o64" : "o32");
            for (int word = 1; word <= 2; word++) {
                tempi_strided a = vector(memory + word, packed + word, 32 << 20, 64, word);
                for (int u = 0; u < 2; u++)
                    printf(" %.0f %s", (32 << 20) / device_time(v[i].f[word - 1][u][wide], &a, planned(&a, word, u)) * 1e-3, u ? "|" : "/");
            }
            printf("\n");
        }
}

static void transposed(variant *v, int n, CUdeviceptr memory, CUdeviceptr packed)
{
    printf("\n## Transposes: square matrix, 128 MiB, columns packed: GB/s of payload, pack / unpack\n\n");
    for (int e = 4; e <= 16; e *= 2) {
        const int64_t side = e == 4 ? 5792 : e == 8 ? 4096 : 2896, row = side * e;
        /* m: along a row in memory; p: along a column, dense in the packed buffer */
#define M(lo, count) {count, (int64_t)(lo) * e, (int64_t)(lo) * row}
#define P(lo, count) {count, (int64_t)(lo) * row, (int64_t)(lo) * e}
        const struct {
            const char *name;
            int n;
            dim d[3];
        } orders[] = {
            {"m p", 2, {M(1, side), P(1, side)}},
            {"p m", 2, {P(1, side), M(1, side)}},
            {"few m, p, m (planned for unpack)", 3, {M(1, 64 / e), P(1, side), M(64 / e, side * e / 64)}},
            {"few p, m, p (planned for pack)", 3, {P(1, 64 / e), M(1, side), P(64 / e, side * e / 64)}},
        };
        printf("| %d B |", e);
        for (int i = 0; i < n; i++)
            printf(" %s |", v[i].name);
        printf("\n|---|");
        for (int i = 0; i < n; i++)
            printf("---|");
        printf("\n");
        for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
            printf("| %s |", orders[k].name);
            for (int i = 0; i < n; i++) {
                tempi_strided a = arrange(memory, packed, orders[k].d, orders[k].n);
                const double bytes = (double)a.words * e * 1e-3;
                printf(" %.0f / %.0f |", bytes / device_time(v[i].f[log2_of(e)][0][0], &a, planned(&a, e, 0)),
                       bytes / device_time(v[i].f[log2_of(e)][1][0], &a, planned(&a, e, 1)));
            }
            printf("\n");
        }
    }
}

static void one_shot(variant *v, int n, CUdeviceptr memory)
{
    const int64_t sizes[] = {16 << 10, 64 << 10, 1 << 20, 16 << 20}, kinds[] = {8, 16, 64, 4096};
    void *host;
    CUdeviceptr view;
    CHECK(cuMemHostAlloc, &host, 16 << 20, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
    CHECK(cuMemHostGetDevicePointer, &view, host, 0);
    printf("\n## One-shot: packed bytes in mapped host memory, us by flag, pack / unpack\n\n| module | threads | block | 16 KiB | 64 KiB | 1 MiB | "
           "16 MiB |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < n; i++)
        for (int threads = 0; threads <= 512; threads = threads ? 2 * threads : 128)
            for (int b = 0; b < 4; b++) {
                const int64_t block = kinds[b], word = block < 16 ? block : 16;
                if (threads)
                    printf("| %s | %d, at most half the multiprocessors | %ld |", v[i].name, threads, (long)block);
                else
                    printf("| %s | planned | %ld |", v[i].name, (long)block);
                for (int k = 0; k < 4; k++) {
                    tempi_strided a = vector(memory, view, sizes[k], block, word);
                    const int times = sizes[k] > 1 << 20 ? 20 : sizes[k] > 1 << 16 ? 100 : 400;
                    for (int u = 0; u < 2; u++) {
                        shape by = threads ? shape_of(&a, word, threads, 0) : planned(&a, word, u);
                        if (threads && by.grid > (unsigned)sms / 2)
                            by.grid = sms / 2;
                        printf(" %.1f %s", flag_time(times, v[i].f[log2_of(word)][u][0], &a, by, stream), u ? "|" : "/");
                    }
                }
                printf("\n");
            }
    printf("| cuMemcpyDtoHAsync, HtoDAsync, sync | | |");
    for (int k = 0; k < 4; k++) {
        printf(" %.1f /", MEDIAN(100, (CALL(cuMemcpyDtoHAsync)(host, memory, sizes[k], stream), CALL(cuStreamSynchronize)(stream))));
        printf(" %.1f |", MEDIAN(100, (CALL(cuMemcpyHtoDAsync)(memory, host, sizes[k], stream), CALL(cuStreamSynchronize)(stream))));
    }
    printf("\n");
    CHECK(cuMemFreeHost, host);
}

static void queries(CUcontext context, CUdeviceptr device)
{
    void *pinned, *plain = malloc(1 << 22);
    CUdeviceptr managed;
    char on_stack[64];
    memset(plain, 1, 1 << 22);
    CHECK(cuMemHostAlloc, &pinned, 1 << 20, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    CHECK(cuMemAllocManaged, &managed, 1 << 16, CU_MEM_ATTACH_GLOBAL);
    const struct {
        const char *name;
        CUdeviceptr p;
    } kinds[] = {{"device", device}, {"pinned", (CUdeviceptr)pinned}, {"managed", managed},
                 {"malloc", (CUdeviceptr)plain}, {"stack", (CUdeviceptr)on_stack}};
    unsigned type = 0, is_managed = 0, ordinal = 0;
    CUcontext owner = NULL;
    void *as_host = NULL;
    CUdeviceptr as_device = 0;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_CONTEXT,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_HOST_POINTER,
                                   CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
    void *into[] = {&type, &is_managed, &owner, &ordinal, &as_host, &as_device};
    printf("\n## Queries (ns)\n\n| pointer | one: MEMORY_TYPE (result, value) | 1 of several | 2 | 4 | 6 | values: type managed ordinal context |\n"
           "|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        CUresult r = CUDA_SUCCESS;
        type = 0;
        const double one = MEAN_NS(r = CALL(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, kinds[k].p));
        printf("| %s | %.0f (%d, %u) |", kinds[k].name, one, r, type);
        type = is_managed = ordinal = 99;
        owner = NULL;
        for (int n = 1; n <= 6; n += n < 2 ? 1 : 2)
            printf(" %.0f |", MEAN_NS(r = CALL(cuPointerGetAttributes)(n, which, into, kinds[k].p)));
        printf(" %d: %u %u %u %s |\n", r, type, is_managed, ordinal, owner == context ? "ours" : owner ? "other" : "null");
    }
    CUcontext got;
    CUcontext popped;
    printf("\ncuCtxGetCurrent %.0f ns, cuCtxPushCurrent + Pop %.0f ns, cuStreamQuery idle %.0f ns\n", MEAN_NS(CALL(cuCtxGetCurrent)(&got)),
           MEAN_NS((CALL(cuCtxPushCurrent)(context), CALL(cuCtxPopCurrent)(&popped))), MEAN_NS(CALL(cuStreamQuery)(stream)));
    CHECK(cuCtxSetCurrent, context);
    printf("cuMemcpyDtoHAsync 64 KiB pinned + sync %.2f us, pageable %.2f us; HtoD pinned + sync %.2f us\n",
           MEDIAN(500, (CALL(cuMemcpyDtoHAsync)(pinned, device, 65536, stream), CALL(cuStreamSynchronize)(stream))),
           MEDIAN(500, (CALL(cuMemcpyDtoHAsync)(plain, device, 65536, stream), CALL(cuStreamSynchronize)(stream))),
           MEDIAN(500, (CALL(cuMemcpyHtoDAsync)(device, pinned, 65536, stream), CALL(cuStreamSynchronize)(stream))));
    CUevent event;
    CHECK(cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
    printf("cuEventRecord + cuEventQuery done %.2f us\n", MEDIAN(500, ({
               CALL(cuEventRecord)(event, stream);
               while (CALL(cuEventQuery)(event) != CUDA_SUCCESS)
                   ;
           })));
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    const int only_check = argc > 1 && strcmp(argv[1], "--check") == 0;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    CUdevice device;
    CUcontext context;
    char name[128];
    int version;
    CHECK(cuInit, 0);
    CHECK(cuDeviceGet, &device, 0);
    CHECK(cuDeviceGetName, name, sizeof name, device);
    CHECK(cuDriverGetVersion, &version);
    CHECK(cuDeviceGetAttribute, &sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    CHECK(cuDevicePrimaryCtxRetain, &context, device);
    CHECK(cuCtxSetCurrent, context);
    CHECK(cuStreamCreate, &stream, CU_STREAM_DEFAULT);
    CHECK(cuStreamCreate, &loose, CU_STREAM_NON_BLOCKING);
    CHECK(cuMemAlloc, &counter, 256);
    CHECK(cuMemsetD8, counter, 0, 256);
    void *word;
    CUdeviceptr word_device;
    CHECK(cuMemHostAlloc, &word, 4096, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
    CHECK(cuMemHostGetDevicePointer, &word_device, word, 0);
    flag = word;
    *flag = 0;
    flag_device = word_device;
    printf("%s, %d multiprocessors, CUDA driver %d\n", name, sms, version);

    static variant v[32];
    int n = 0, wrong = 0;
    for (int i = 1 + only_check; i < argc && n < 32; i++)
        load(&v[n++], argv[i]);
    for (int i = 0; i < n; i++)
        wrong += check(&v[i]);
    if (only_check || wrong || n == 0)
        return wrong != 0;

    CUdeviceptr memory, packed;
    CHECK(cuMemAlloc, &memory, 1 << 30);
    CHECK(cuMemAlloc, &packed, 1 << 30);
    uint32_t *noise = malloc(1 << 26);
    for (int i = 0; i < 1 << 24; i++)
        noise[i] = random64();
    for (int i = 0; i < 16; i++) {
        CHECK(cuMemcpyHtoD, memory + ((uint64_t)i << 26), noise, 1 << 26);
        CHECK(cuMemcpyHtoD, packed + ((uint64_t)i << 26), noise, 1 << 26);
    }
    for (const double t = now(); now() - t < 5e5;) /* the clocks rise */
        copy_rate(packed, memory, 1 << 30);
    completion(v);
    small(v, n, memory, packed);
    large(v, n, memory, packed);
    transposed(v, n, memory, packed);
    one_shot(v, n, memory);
    queries(context, memory);
    return 0;
}
