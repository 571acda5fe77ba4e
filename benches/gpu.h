/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * gpu.h - the CUDA driver through dlopen, and the hand-written competitor's kernels.
 *
 * A program that includes this needs no CUDA header, library or compiler. gpu_open() answers 0 where there is no
 * driver or no device. The competitor (rival.cu) is optional: where its PTX does not load, and on a simulated
 * driver, gpu.rival stays 0 and the figures that need it are left out.
 */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t gpu_ptr;

/* name, parameters: every driver call that the benchmarks make */
#define GPU_CALLS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDeviceGetCount, (int *))                                                                                       \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDeviceGetName, (char *, int, int))                                                                             \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                        \
    X(cuCtxSetCurrent, (void *))                                                                                       \
    X(cuCtxSynchronize, (void))                                                                                        \
    X(cuMemAlloc_v2, (gpu_ptr *, size_t))                                                                              \
    X(cuMemFree_v2, (gpu_ptr))                                                                                         \
    X(cuMemcpyHtoD_v2, (gpu_ptr, const void *, size_t))                                                                \
    X(cuMemcpyDtoH_v2, (void *, gpu_ptr, size_t))                                                                      \
    X(cuMemsetD8_v2, (gpu_ptr, unsigned char, size_t))

/* what only the competitor and the limits need */
#define GPU_RIVAL_CALLS(X)                                                                                             \
    X(cuStreamCreate, (void **, unsigned))                                                                             \
    X(cuStreamSynchronize, (void *))                                                                                   \
    X(cuMemHostAlloc, (void **, size_t, unsigned))                                                                     \
    X(cuMemHostGetDevicePointer_v2, (gpu_ptr *, void *, unsigned))                                                     \
    X(cuMemcpyDtoDAsync_v2, (gpu_ptr, gpu_ptr, size_t, void *))                                                        \
    X(cuMemcpyHtoDAsync_v2, (gpu_ptr, const void *, size_t, void *))                                                   \
    X(cuMemcpyDtoHAsync_v2, (void *, gpu_ptr, size_t, void *))                                                         \
    X(cuModuleLoadData, (void **, const void *))                                                                       \
    X(cuModuleGetFunction, (void **, void *, const char *))                                                            \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,  \
                       void **))

/* Mirrors `struct args` in rival.cu. */
struct rival_args {
    gpu_ptr memory, packed;
    int64_t s1, s2;
    uint32_t words, n1, n2, value;
    gpu_ptr flag, counter, table;
};

static struct {
    int devices;                /* 0: no GPU here */
    int rival;                  /* 1: the competitor's kernels are loaded */
    char name[128];             /* the device's */
    void *context, *stream;
    void *pack[5], *unpack[5];  /* by log2 of the word size */
    void *gather[5], *scatter[5];
    void *empty;
    volatile uint32_t *flag;    /* mapped host memory, and how the device sees it */
    gpu_ptr flag_device, counter;
    uint32_t value;
#define X(name, parameters) int(*name) parameters;
    GPU_CALLS(X)
    GPU_RIVAL_CALLS(X)
#undef X
} gpu;

#define GPU(call)                                                                                                      \
    do {                                                                                                               \
        int gpu_code_ = gpu.call;                                                                                      \
        if (gpu_code_ != 0) {                                                                                          \
            fprintf(stderr, "%s:%d: %s gave CUDA error %d\n", __FILE__, __LINE__, #call, gpu_code_);                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Opens the driver and makes the primary context of device `index` (modulo their number) current; the number of
 * devices, 0 when there is nothing to use. */
static inline int gpu_open(int index)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    int count = 0, device = 0;
    if (library == NULL)
        return 0;
#define X(name, parameters)                                                                                            \
    if ((*(void **)&gpu.name = dlsym(library, #name)) == NULL)                                                         \
        return 0;
    GPU_CALLS(X)
#undef X
#define X(name, parameters) *(void **)&gpu.name = dlsym(library, #name);
    GPU_RIVAL_CALLS(X)
#undef X
    if (gpu.cuInit(0) != 0 || gpu.cuDeviceGetCount(&count) != 0 || count < 1)
        return 0;
    GPU(cuDeviceGet(&device, index % count));
    GPU(cuDeviceGetName(gpu.name, (int)sizeof gpu.name, device));
    GPU(cuDevicePrimaryCtxRetain(&gpu.context, device));
    GPU(cuCtxSetCurrent(gpu.context));
    return gpu.devices = count;
}

/* Loads the competitor from the PTX file at `path`; gpu.rival says whether that worked. */
static inline void gpu_load_rival(const char *path)
{
    static const char *const words[5] = {"1", "2", "4", "8", "16"};
    char name[32], *text;
    void *module, *host;
    long length;
    FILE *file;
    if (strncmp(gpu.name, "Simulated", 9) == 0) /* the simulated driver runs the library's own kernels only */
        return;
    file = path ? fopen(path, "rb") : NULL;
    if (file == NULL)
        return;
#define X(name, parameters)                                                                                            \
    if (gpu.name == NULL) {                                                                                            \
        fclose(file);                                                                                                  \
        return;                                                                                                        \
    }
    GPU_RIVAL_CALLS(X)
#undef X
    fseek(file, 0, SEEK_END);
    length = ftell(file);
    rewind(file);
    text = calloc(1, (size_t)length + 1);
    if (text == NULL || fread(text, 1, (size_t)length, file) != (size_t)length || gpu.cuModuleLoadData(&module, text)) {
        free(text);
        fclose(file);
        return;
    }
    free(text);
    fclose(file);
    for (int kind = 0; kind < 4; kind++) {
        static const char *const kinds[4] = {"pack", "unpack", "gather", "scatter"};
        void **kernels = kind == 0 ? gpu.pack : kind == 1 ? gpu.unpack : kind == 2 ? gpu.gather : gpu.scatter;
        for (int i = 0; i < 5; i++) {
            snprintf(name, sizeof name, "rival_%s_w%s", kinds[kind], words[i]);
            if (gpu.cuModuleGetFunction(&kernels[i], module, name) != 0)
                return;
        }
    }
    if (gpu.cuModuleGetFunction(&gpu.empty, module, "rival_empty") != 0)
        return;
    GPU(cuStreamCreate(&gpu.stream, 1 /* does not wait for the default stream */));
    GPU(cuMemHostAlloc(&host, 64, 2 /* mapped */));
    memset(host, 0, 64);
    gpu.flag = host;
    GPU(cuMemHostGetDevicePointer_v2(&gpu.flag_device, host, 0));
    GPU(cuMemAlloc_v2(&gpu.counter, 64));
    GPU(cuMemsetD8_v2(gpu.counter, 0, 64));
    GPU(cuCtxSynchronize());
    gpu.rival = 1;
}

/* A three-level strided object: n2 groups, s2 bytes apart, of n1 blocks, s1 bytes apart, of `block` bytes. */
struct shape {
    int64_t offset, block, n1, s1, n2, s2;
};

/* Blocks of one size at any places: block i at `at[i]`, its bytes the i-th of the packed form. */
struct list {
    int64_t n, block;
    int64_t *at;   /* bytes from the buffer's start, each block apart from the others */
    gpu_ptr table; /* the same in device memory, in words of 1 << word bytes, as 32-bit numbers */
    int word;
};

/* How a rival learns that its kernel is done: the kernel's own flag, polled, or the stream. */
enum done { DONE_FLAG, DONE_STREAM };

static inline void gpu_launch(void *kernel, struct rival_args *a, const unsigned grid[3], const unsigned block[2],
                              enum done done)
{
    void *parameters[1] = {a};
    a->flag = done == DONE_FLAG ? gpu.flag_device : 0;
    a->counter = gpu.counter;
    a->value = ++gpu.value;
    GPU(cuLaunchKernel(kernel, grid[0], grid[1], grid[2], block[0], block[1], 1, 0, gpu.stream, parameters, NULL));
    if (done == DONE_FLAG) {
        while (*gpu.flag != a->value)
            ;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } else {
        GPU(cuStreamSynchronize(gpu.stream));
    }
}

static inline int64_t gpu_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* One thread a word: x along the words of a block, y and z over the blocks. */
static inline void rival_launch(void *kernel, struct rival_args *a, int64_t words, int64_t n1, int64_t n2, enum done done)
{
    unsigned grid[3], block[2] = {1, 1};
    while (block[0] < 256 && block[0] < words)
        block[0] *= 2;
    block[1] = 256 / block[0];
    grid[0] = (unsigned)((words + block[0] - 1) / block[0]);
    grid[1] = (unsigned)gpu_min((n1 + block[1] - 1) / block[1], 65535);
    grid[2] = (unsigned)gpu_min(n2, 65535);
    if (done == DONE_FLAG) { /* every thread block touches one counter: keep them few enough for that to cost nothing */
        grid[0] = (unsigned)gpu_min(grid[0], 1024);
        grid[1] = (unsigned)gpu_min(grid[1], (1023 + grid[0]) / grid[0]);
        grid[2] = (unsigned)gpu_min(grid[2], (1023 + grid[0] * grid[1]) / (grid[0] * grid[1]));
    }
    a->words = (uint32_t)words;
    a->n1 = (uint32_t)n1;
    a->n2 = (uint32_t)n2;
    gpu_launch(kernel, a, grid, block, done);
}

/* log2 of the largest word, at most 16 bytes, that all these numbers (or-ed together) are multiples of. */
static inline int rival_word(uint64_t all)
{
    int word = 0;
    while (word < 4 && all % (2u << word) == 0)
        word++;
    return word;
}

/* Copies the object of `shape` at `memory` to `packed`, or back, and waits for it. */
static inline void rival_copy(int unpack, gpu_ptr memory, gpu_ptr packed, const struct shape *shape, enum done done)
{
    struct rival_args a = {0};
    uint64_t all = (uint64_t)(memory + (gpu_ptr)shape->offset) | packed | (uint64_t)shape->block;
    int word;
    if (shape->n1 > 1)
        all |= (uint64_t)shape->s1;
    if (shape->n2 > 1)
        all |= (uint64_t)shape->s2;
    word = rival_word(all);
    a.memory = memory + (gpu_ptr)shape->offset;
    a.packed = packed;
    a.s1 = shape->s1;
    a.s2 = shape->s2;
    rival_launch((unpack ? gpu.unpack : gpu.pack)[word], &a, shape->block >> word, shape->n1, shape->n2, done);
}

/* Puts the table of `list` into device memory, once, as an application does that knows its indices. */
static inline void rival_table(struct list *list)
{
    uint64_t all = (uint64_t)list->block;
    uint32_t *table = malloc((size_t)list->n * sizeof *table);
    if (table == NULL)
        exit(1);
    for (int64_t i = 0; i < list->n; i++)
        all |= (uint64_t)list->at[i];
    list->word = rival_word(all);
    for (int64_t i = 0; i < list->n; i++)
        table[i] = (uint32_t)(list->at[i] >> list->word);
    GPU(cuMemAlloc_v2(&list->table, (size_t)list->n * sizeof *table));
    GPU(cuMemcpyHtoD_v2(list->table, table, (size_t)list->n * sizeof *table));
    GPU(cuCtxSynchronize());
    free(table);
}

/* Copies the blocks of `list` to `packed`, or back, and waits for it; both buffers as aligned as allocations are. */
static inline void rival_list(int unpack, gpu_ptr memory, gpu_ptr packed, const struct list *list, enum done done)
{
    struct rival_args a = {0};
    a.memory = memory;
    a.packed = packed;
    a.table = list->table;
    rival_launch((unpack ? gpu.scatter : gpu.gather)[list->word], &a, list->block >> list->word, list->n, 1, done);
}

/* An empty kernel and the news of its end: the least that any kernel costs. */
static inline void rival_nothing(enum done done)
{
    struct rival_args a = {0};
    unsigned one[3] = {1, 1, 1}, warp[2] = {32, 1};
    gpu_launch(gpu.empty, &a, one, warp, done);
}

#endif
