/* Measures the kernel of many layouts on a GPU with nothing but the driver: what a halo exchange packs and unpacks, the 26
 * faces, edges and corners of a cube of doubles with a halo of two, in one launch and in 26.
 *
 *   gcc -O2 -std=gnu11 -I. benches/batch.c -ldl -o target/bench-batch
 *   target/bench-batch kernels/strided.ptx
 *
 * Every time is a median, from the first call of the driver to the flag, in microseconds. Grids are those of src/pack/plan.rs
 * and src/pack/list.rs. The limit of all is one kernel that moves as many bytes from one contiguous place to another.
 */
#include "benches/gpu.h"
#include "kernels/batch.h"

enum { FACES = 26, WORD = 16, DEPTH = 2, FEW = 256, MANY = 512, LIST = 8192 };

static unsigned multiprocessors;
static void *stream, *single[2], *move;
static volatile uint32_t *flag;
static gpu_ptr flag_device, counter, list_device;
static uint64_t *list_host;
static uint32_t ticket;

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

/* The median of n evaluations of the statement, after some for warmth. */
#define MEDIAN(n, statement)                                                                                     \
    ({                                                                                                           \
        static double v_[1000];                                                                                  \
        for (int i_ = -(n) / 10; i_ < (n); i_++) {                                                               \
            const double t_ = now();                                                                             \
            statement;                                                                                           \
            if (i_ >= 0)                                                                                         \
                v_[i_] = now() - t_;                                                                             \
        }                                                                                                        \
        qsort(v_, n, sizeof *v_, ascending);                                                                     \
        v_[(n) / 2];                                                                                             \
    })

static void launch(void *function, unsigned grid, unsigned block, void *argument)
{
    void *arguments[] = {argument};
    GPU(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, arguments, NULL));
}

static void poll(void)
{
    for (uint64_t spins = 0; *flag != ticket; spins++)
        if (spins == 1ull << 32) {
            fprintf(stderr, "the flag never came\n");
            exit(2);
        }
}

/* ---- plans ---- */

static void add(tempi_strided *a, uint32_t *outer, uint32_t count, int64_t stride, int64_t packed)
{
    if (count == 1)
        return;
    if (*outer > 0) { /* what was the outermost gets its reciprocal */
        uint32_t shift = 0;
        while ((1ull << shift) < *outer)
            shift++;
        a->dims[a->ndims - 1] = (tempi_dim){a->outer_stride, a->outer_packed, *outer,
                                            ((1ull << (31 + shift)) + *outer - 1) / *outer, shift, 0};
        a->ndims++;
    }
    *outer = count;
    a->words *= count;
    a->outer_stride = stride;
    a->outer_packed = packed;
}

static tempi_strided contiguous(gpu_ptr memory, gpu_ptr packed, uint32_t words)
{
    return (tempi_strided){.memory = memory, .packed = packed, .words = words, .ndims = 1, .outer_stride = WORD,
                           .outer_packed = WORD};
}

/* What a cube of n^3 doubles sends to its 26 neighbours, or receives from them, one behind the other in the packed buffer;
 * returns the words. */
static uint32_t faces(tempi_strided *a, gpu_ptr memory, gpu_ptr packed, int64_t n, int receives)
{
    const int64_t r = 2, row = (n + 2 * r) * 8, plane = row * (n + 2 * r);
    const int64_t from[3] = {receives ? 0 : r, r, receives ? r + n : n}, size[3] = {r, n, r};
    uint32_t words = 0;
    for (int place = 0, k = 0; place < 27; place++) {
        const int x = place % 3, y = place / 3 % 3, z = place / 9;
        const int64_t block = size[x] * 8;
        uint32_t outer = 0;
        if (place == 13)
            continue;
        a[k] = (tempi_strided){.memory = memory + from[x] * 8 + from[y] * row + from[z] * plane,
                               .packed = packed + (uint64_t)words * WORD, .words = 1, .ndims = 1};
        add(&a[k], &outer, block / WORD, WORD, WORD);
        add(&a[k], &outer, size[y], row, block);
        add(&a[k], &outer, size[z], plane, block * size[y]);
        words += a[k++].words;
    }
    return words;
}

static unsigned tiles(const tempi_strided *a, unsigned threads)
{
    return (a->words + threads * DEPTH - 1) / (threads * DEPTH);
}

static unsigned most(int unpack)
{
    return multiprocessors * 4 * (unpack ? 16 : 8);
}

static void launch_one(tempi_strided *a, int unpack)
{
    unsigned grid = tiles(a, FEW), block = FEW;
    if (grid > multiprocessors) {
        grid = tiles(a, MANY) < most(unpack) ? tiles(a, MANY) : most(unpack);
        block = MANY;
    }
    launch(single[unpack], grid, block, a);
}

/* The list of n layouts; `argument` gets everything but the place of the words. */
static uint32_t make_list(tempi_batch *argument, uint64_t *words, const tempi_strided *a, uint32_t n, int unpack,
                          unsigned *grid, unsigned *block)
{
    uint32_t length = 0, place[1024], sizes[1024];
    uint64_t all = 0, many = 0;
    for (uint32_t k = 0; k < n; k++) {
        tempi_item item = {a[k].memory, a[k].packed, 0, a[k].outer_stride, a[k].outer_packed, a[k].words, 0, 4,
                           a[k].ndims, 0xff, 0, 0, {0}, {{0}}};
        memcpy(item.dims, a[k].dims, sizeof item.dims);
        place[k] = length;
        sizes[k] = 7 + 4 * (a[k].ndims - 1);
        memcpy(words + length, &item, sizes[k] * 8);
        length += sizes[k];
        all += tiles(&a[k], FEW);
        many += tiles(&a[k], MANY);
    }
    *block = all <= multiprocessors + n ? FEW : MANY;
    *grid = 0;
    argument->unpack = unpack;
    argument->items = n;
    argument->index = length;
    for (uint32_t k = 0; k < n; k++) {
        uint64_t share = tiles(&a[k], *block);
        if (*block == MANY && many > most(unpack) && (share = share * most(unpack) / many) == 0)
            share = 1;
        words[place[k] + 5] |= share << 32;
        words[length++] = *grid | (uint64_t)place[k] << 32 | (uint64_t)sizes[k] << 56;
        *grid += share;
    }
    return length;
}

/* ---- measurements ---- */

static double one_time(int n, tempi_strided *a, int unpack)
{
    return MEDIAN(n, ({
        a->flag = flag_device;
        a->counter = counter;
        a->value = ++ticket;
        launch_one(a, unpack);
        poll();
    }));
}

static double single_time(int n, tempi_strided *a, int unpack)
{
    return MEDIAN(n, ({
        a[FACES - 1].flag = flag_device;
        a[FACES - 1].counter = counter;
        a[FACES - 1].value = ++ticket;
        for (int k = 0; k < FACES; k++)
            launch_one(&a[k], unpack);
        poll();
    }));
}

/* where 0: the list in the argument; 1: in device memory; 2: copied there each time */
static double batch_time(int n, tempi_batch *b, const uint64_t *words, uint32_t length, unsigned grid, unsigned block, int where)
{
    memcpy(list_host, words, length * 8);
    GPU(cuMemcpyHtoD_v2(list_device, list_host, length * 8));
    b->list = where ? list_device : 0;
    memset(b->here, 0, sizeof b->here);
    if (!where)
        memcpy(b->here, words, length * 8);
    return MEDIAN(n, ({
        b->flag = flag_device;
        b->counter = counter;
        b->value = ++ticket;
        if (where == 2)
            GPU(cuMemcpyHtoDAsync_v2(list_device, list_host, length * 8, stream));
        launch(move, grid, block, b);
        poll();
    }));
}

/* Compares two pieces of device memory. */
static int differ(gpu_ptr one, gpu_ptr other, size_t bytes)
{
    unsigned char *a = malloc(bytes), *b = malloc(bytes);
    GPU(cuMemcpyDtoH_v2(a, one, bytes));
    GPU(cuMemcpyDtoH_v2(b, other, bytes));
    const int result = memcmp(a, b, bytes) != 0;
    free(a);
    free(b);
    return result;
}

static int cube(int64_t n, int times)
{
    const size_t bytes = (size_t)(n + 4) * (n + 4) * (n + 4) * 8;
    static tempi_strided a[FACES], other[FACES];
    static tempi_batch b;
    static uint64_t words[LIST];
    gpu_ptr memory, packed, memory2, packed2;
    int wrong = 0;
    GPU(cuMemAlloc_v2(&memory, bytes));
    GPU(cuMemAlloc_v2(&memory2, bytes));
    GPU(cuMemAlloc_v2(&packed, bytes));
    GPU(cuMemAlloc_v2(&packed2, bytes));
    const uint32_t total = faces(a, memory, packed, n, 0);
    uint32_t *noise = malloc(bytes);
    for (size_t i = 0; i < bytes / 4; i++)
        noise[i] = i * 2654435761u;
    GPU(cuMemcpyHtoD_v2(memory, noise, bytes));
    free(noise);
    for (int unpack = 0; unpack < 2; unpack++) {
        unsigned grid, block;
        tempi_strided all = contiguous(packed, packed2, total);
        GPU(cuMemsetD8_v2(packed2, 1, bytes));
        GPU(cuMemsetD8_v2(memory2, 1, bytes));
        faces(a, unpack ? memory2 : memory, packed, n, unpack);
        const double apart = single_time(times, a, unpack);
        GPU(cuCtxSynchronize());
        /* the same by the batch, to another place */
        if (unpack)
            GPU(cuMemsetD8_v2(memory, 1, bytes));
        faces(other, memory, unpack ? packed : packed2, n, unpack);
        const uint32_t length = make_list(&b, words, other, FACES, unpack, &grid, &block);
        double time[3];
        for (int where = 0; where < 3; where++) {
            time[where] = batch_time(times, &b, words, length, grid, block, where);
            GPU(cuCtxSynchronize());
            wrong += unpack ? differ(memory, memory2, bytes) : differ(packed, packed2, (size_t)total * WORD);
        }
        const double limit = one_time(times, &all, 0);
        printf("| %ld^3 %s | %.2f | %u x %u | %.1f | %.1f | %.1f | %.1f | %.1f |\n", (long)n, unpack ? "unpack" : "pack",
               total * WORD / 1048576., grid, block, apart, time[0], time[1], time[2], limit);
    }
    GPU(cuMemFree_v2(memory));
    GPU(cuMemFree_v2(memory2));
    GPU(cuMemFree_v2(packed));
    GPU(cuMemFree_v2(packed2));
    return wrong;
}

/* What the batch costs beside the single kernel when there is next to nothing to do. */
static void small(int times, gpu_ptr memory)
{
    static tempi_strided a[300];
    static tempi_batch b;
    static uint64_t words[LIST];
    tempi_strided one = contiguous(memory, memory + 65536, 1);
    printf("\nItems of 16 bytes, us: one by its own kernel %.2f\n\n| items | in the argument | in device memory | copied there |\n"
           "|---|---|---|---|\n", one_time(times, &one, 0));
    for (int k = 0; k < 300; k++)
        a[k] = contiguous(memory + 64 * k, memory + 65536 + WORD * k, 1);
    for (int n = 1; n <= 300; n = n < 8 ? n * 2 : n == 8 ? 26 : n == 26 ? 60 : n == 60 ? 300 : 301) {
        unsigned grid, block;
        const uint32_t length = make_list(&b, words, a, n, 0, &grid, &block);
        printf("| %d |", n);
        for (int where = 0; where < 3; where++)
            if (where == 0 && length > TEMPI_BATCH_WORDS)
                printf(" |");
            else
                printf(" %.2f |", batch_time(times, &b, words, length, grid, block, where));
        printf("\n");
    }
}

static void load(const char *path)
{
    static char text[1 << 21];
    void *module;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const double start = now();
    GPU(cuModuleLoadData(&module, text));
    printf("module: %.0f ms (CUDA_CACHE_DISABLE=1 shows how long it compiles)\n", (now() - start) * 1e-3);
    GPU(cuModuleGetFunction(&single[0], module, "tempi_pack_w16_o32"));
    GPU(cuModuleGetFunction(&single[1], module, "tempi_unpack_w16_o32"));
    GPU(cuModuleGetFunction(&move, module, "tempi_move"));
}

int main(int argc, char **argv)
{
    int value = 0, wrong = 0, quick = argc > 2 && strcmp(argv[2], "--quick") == 0;
    void *host;
    gpu_ptr memory;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 2 || !gpu_open(0)) {
        fprintf(stderr, argc < 2 ? "usage: bench-batch kernels/strided.ptx [--quick]\n" : "no GPU\n");
        return 2;
    }
    int (*attribute)(int *, int, int) = (int (*)(int *, int, int))dlsym(RTLD_DEFAULT, "cuDeviceGetAttribute");
    if (attribute == NULL || attribute(&value, 16, 0) != 0)
        return 2;
    multiprocessors = value;
    printf("%s, %u multiprocessors\n", gpu.name, multiprocessors);
    GPU(cuStreamCreate(&stream, 0));
    load(argv[1]);
    GPU(cuMemAlloc_v2(&counter, 256));
    GPU(cuMemsetD8_v2(counter, 0, 256));
    GPU(cuMemAlloc_v2(&list_device, LIST * 8));
    GPU(cuMemHostAlloc(&host, 4096, 3));
    GPU(cuMemHostGetDevicePointer_v2(&flag_device, host, 0));
    flag = host;
    *flag = 0;
    GPU(cuMemHostAlloc(&host, LIST * 8, 3));
    list_host = host;
    GPU(cuMemAlloc_v2(&memory, 1 << 20));
    small(quick ? 2 : 900, memory);
    printf("\n26 faces of a cube of doubles, halo 2, us\n\n| | MiB | grid | 26 launches | list in the argument | in device memory | copied there "
           "| contiguous, one launch |\n|---|---|---|---|---|---|---|---|\n");
    for (int64_t n = 32; n <= (quick ? 32 : 256); n = n == 32 ? 128 : n * 2)
        wrong += cube(n, quick ? 2 : 300);
    printf("\n%d wrong\n", wrong);
    return wrong != 0;
}
