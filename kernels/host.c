/* The kernels on the host: the same bodies, replayed thread by thread. For tests and the simulated driver.
 *
 * Every access goes through the caller's translate(), which turns a device address into one that this process may
 * touch. Build with -fsanitize=undefined -fsanitize-undefined-trap-on-error and a misaligned word traps.
 */
#include <stddef.h>
#include <string.h>

#include "batch.h"
#include "blocks.h"
#include "strided.h"

#define TEMPI_FN static inline
#define TEMPI_UNROLL
#define TEMPI_NO_UNROLL

/* What src/pack/kernel.rs asserts of its mirror. */
_Static_assert(sizeof(tempi_dim) == 32 && offsetof(tempi_dim, shift) == 24, "tempi_dim");
_Static_assert(sizeof(tempi_strided) == 64 + 32 * (TEMPI_MAX_DIMS - 1), "tempi_strided");
_Static_assert(offsetof(tempi_strided, ndims) == 40 && offsetof(tempi_strided, dims) == 64, "tempi_strided");
_Static_assert(sizeof(tempi_blocks) == sizeof(tempi_strided) + 24, "tempi_blocks");
_Static_assert(offsetof(tempi_blocks, table) == sizeof(tempi_strided), "tempi_blocks");
_Static_assert(offsetof(tempi_blocks, shift) == sizeof(tempi_strided) + 16, "tempi_blocks");
_Static_assert(sizeof(tempi_item) == 56 + 32 * (TEMPI_MAX_DIMS - 1) && offsetof(tempi_item, dims) == 56, "tempi_item");
_Static_assert(offsetof(tempi_item, words) == 40 && offsetof(tempi_item, kind) == 48, "tempi_item");
_Static_assert(sizeof(tempi_batch) == 4096 && offsetof(tempi_batch, here) == 40, "tempi_batch");
_Static_assert(offsetof(tempi_batch, items) == 24 && offsetof(tempi_batch, list) == 32, "tempi_batch");

typedef void *tempi_translate(uint64_t address, size_t bytes, int write);

static _Thread_local tempi_translate *translate;

#define TEMPI_ACCESS(SIZE)                                                                                       \
    static inline tempi_word_##SIZE tempi_load_##SIZE(uint64_t address)                                          \
    {                                                                                                            \
        return *(const volatile tempi_word_##SIZE *)translate(address, SIZE, 0);                                 \
    }                                                                                                            \
    static inline void tempi_store_##SIZE(uint64_t address, tempi_word_##SIZE value)                             \
    {                                                                                                            \
        *(volatile tempi_word_##SIZE *)translate(address, SIZE, 1) = value;                                      \
    }

TEMPI_ACCESS(1)
TEMPI_ACCESS(2)
TEMPI_ACCESS(4)
TEMPI_ACCESS(8)
TEMPI_ACCESS(16)

static inline uint32_t tempi_count_up(uint64_t address, uint32_t last)
{
    uint32_t *word = translate(address, sizeof *word, 1);
    const uint32_t old = *word;
    *word = old >= last ? 0 : old + 1;
    return old;
}

static inline void tempi_fence_system(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void tempi_raise_flag(uint64_t address, uint32_t value)
{
    __atomic_store_n((uint32_t *)translate(address, sizeof value, 1), value, __ATOMIC_RELEASE);
}

#include "body.h"
#include "blocks_body.h"
#include "batch_body.h"

/* The body of a kernel, by the kind of its argument. */
typedef struct {
    const char *name;
    void (*strided)(const tempi_strided *, uint32_t, uint32_t, uint32_t, uint32_t);
    void (*blocks)(const tempi_blocks *, uint32_t, uint32_t, uint32_t, uint32_t);
} tempi_kernel;

#define TEMPI_ENTRY(NAME, SIZE, WIDTH, FROM, TO) {#NAME, NAME##_body, NULL},
#define TEMPI_EQUAL_ENTRY(NAME, SIZE, FROM, TO) {#NAME, NULL, NAME##_body},
#define TEMPI_MIXED_ENTRY(NAME, FROM, TO) {#NAME, NULL, NAME##_body},
#define TEMPI_BATCH_ENTRY(NAME) {#NAME, NULL, NULL},
static const tempi_kernel kernels[] = {TEMPI_KERNELS(TEMPI_ENTRY) TEMPI_EQUAL_KERNELS(TEMPI_EQUAL_ENTRY)
                                           TEMPI_MIXED_KERNELS(TEMPI_MIXED_ENTRY)
                                               TEMPI_BATCH_KERNELS(TEMPI_BATCH_ENTRY)};

static void run_strided(const tempi_kernel *kernel, uint32_t grid, uint32_t threads, const tempi_strided *a)
{
    for (uint32_t block = 0; block < grid; block++) {
        for (uint32_t thread = 0; thread < threads; thread++)
            kernel->strided(a, thread, threads, block, grid);
        tempi_finish(a->flag, a->counter, a->value, grid);
    }
}

static void run_blocks(const tempi_kernel *kernel, uint32_t grid, uint32_t threads, const tempi_blocks *a)
{
    for (uint32_t block = 0; block < grid; block++) {
        for (uint32_t thread = 0; thread < threads; thread++)
            kernel->blocks(a, thread, threads, block, grid);
        tempi_finish(a->s.flag, a->s.counter, a->s.value, grid);
    }
}

static void run_batch(uint32_t grid, uint32_t threads, const tempi_batch *b)
{
    for (uint32_t block = 0; block < grid; block++) {
        tempi_slot slot;
        uint64_t found = tempi_find(b, block);
        memset(&slot, 0x5a, sizeof slot); /* what is not fetched is garbage on a device too */
        for (uint32_t thread = 0; thread < threads; thread++)
            tempi_fetch(b, found, &slot, thread, threads);
        for (uint32_t thread = 0; thread < threads; thread++)
            tempi_item_body(&slot.item, b->unpack, thread, threads, block - TEMPI_FIRST(found));
        tempi_finish(b->flag, b->counter, b->value, grid);
    }
}

/* Runs every thread of every block of the kernel called `name`. Not 0: there is no such kernel. */
int tempi_kernel_run(const char *name, unsigned grid, unsigned block, const void *args, tempi_translate *addresses)
{
    translate = addresses;
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        const tempi_kernel *kernel = &kernels[k];
        if (strcmp(kernel->name, name) != 0)
            continue;
        if (kernel->strided != NULL)
            run_strided(kernel, grid, block, args);
        else if (kernel->blocks != NULL)
            run_blocks(kernel, grid, block, args);
        else
            run_batch(grid, block, args);
        return 0;
    }
    return 1;
}
