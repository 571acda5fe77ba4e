/* The strided kernels' code: index arithmetic, bodies and completion, one text for the device and the host.
 *
 * A kernel is a body that every thread of a block runs, a barrier, and tempi_finish that one thread runs: so the
 * host can replay a block without a real barrier. Whoever includes this has included strided.h and defined
 *
 *   TEMPI_FN                    how a function is declared
 *   TEMPI_UNROLL                a pragma that unrolls the loop that follows, or nothing
 *   TEMPI_UNROLL_DIMS           the same for the loop over dimensions
 *   tempi_load_N, tempi_store_N one aligned access of N = 1, 2, 4, 8, 16 bytes at a 64-bit address
 *   tempi_count_up              adds one to the word at an address, or sets it to zero at `last`; returns the old value
 *   tempi_fence_system          orders this thread's earlier accesses before its later ones, for the host too
 *   tempi_raise_flag            stores a word where the host polls it
 */

/* Words that a thread has in flight. */
#ifndef TEMPI_DEPTH
#define TEMPI_DEPTH 4
#endif

/* Where words first, first + threads, first + 2 * threads, ... of the iteration lie, in bytes from the two
 * addresses. The outermost index is what the divisions leave, so n dimensions cost n - 1 of them. A word past
 * the end gets some place that nobody touches: the sums are unsigned, and may wrap. */
#define TEMPI_LOCATE(WIDTH, SIGNED, UNSIGNED)                                                                    \
    TEMPI_FN void tempi_locate_##WIDTH(const tempi_strided *a, uint32_t first, uint32_t threads,                 \
                                       uint64_t *memory, uint64_t *packed)                                       \
    {                                                                                                            \
        uint32_t rest[TEMPI_DEPTH];                                                                              \
        UNSIGNED in_memory[TEMPI_DEPTH], in_packed[TEMPI_DEPTH];                                                 \
        TEMPI_UNROLL                                                                                             \
        for (uint32_t j = 0; j < TEMPI_DEPTH; j++) {                                                             \
            rest[j] = first + j * threads;                                                                       \
            in_memory[j] = in_packed[j] = 0;                                                                     \
        }                                                                                                        \
        const uint32_t outer = a->ndims - 1;                                                                     \
        TEMPI_UNROLL_DIMS                                                                                        \
        for (uint32_t k = 0; k < TEMPI_MAX_DIMS - 1; k++) {                                                      \
            if (k >= outer)                                                                                      \
                break;                                                                                           \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < TEMPI_DEPTH; j++) {                                                         \
                const uint32_t i = rest[j];                                                                      \
                rest[j] = (uint32_t)(((uint64_t)(i << 1) * a->dims[k].magic) >> 32) >> a->dims[k].shift;         \
                const UNSIGNED index = i - rest[j] * a->dims[k].count;                                           \
                in_memory[j] += index * (UNSIGNED)a->dims[k].stride;                                             \
                in_packed[j] += index * (UNSIGNED)a->dims[k].packed;                                             \
            }                                                                                                    \
        }                                                                                                        \
        TEMPI_UNROLL                                                                                             \
        for (uint32_t j = 0; j < TEMPI_DEPTH; j++) {                                                             \
            in_memory[j] += (UNSIGNED)rest[j] * (UNSIGNED)a->outer_stride;                                       \
            in_packed[j] += (UNSIGNED)rest[j] * (UNSIGNED)a->outer_packed;                                       \
            memory[j] = a->memory + (uint64_t)(int64_t)(SIGNED)in_memory[j];                                     \
            packed[j] = a->packed + (uint64_t)(int64_t)(SIGNED)in_packed[j];                                     \
        }                                                                                                        \
    }

TEMPI_LOCATE(o32, int32_t, uint32_t)
TEMPI_LOCATE(o64, int64_t, uint64_t)

/* A block moves tiles of TEMPI_DEPTH * threads words: every load of a thread is under way before its first store.
 * Neighbouring threads take neighbouring words. No index overflows: words < 2^31 and the grid's stride is less. */
#define TEMPI_BODY(NAME, SIZE, WIDTH, FROM, TO)                                                                  \
    TEMPI_FN void NAME##_body(const tempi_strided *a, uint32_t thread, uint32_t threads, uint32_t block,         \
                              uint32_t blocks)                                                                   \
    {                                                                                                            \
        const uint32_t tile = threads * TEMPI_DEPTH;                                                             \
        for (uint32_t first = block * tile + thread; first < a->words; first += blocks * tile) {                 \
            uint64_t memory[TEMPI_DEPTH], packed[TEMPI_DEPTH];                                                   \
            tempi_word_##SIZE value[TEMPI_DEPTH];                                                                \
            tempi_locate_##WIDTH(a, first, threads, memory, packed);                                             \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < TEMPI_DEPTH; j++) {                                                         \
                if (first + j * threads < a->words)                                                              \
                    value[j] = tempi_load_##SIZE(FROM[j]);                                                       \
            }                                                                                                    \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < TEMPI_DEPTH; j++) {                                                         \
                if (first + j * threads < a->words)                                                              \
                    tempi_store_##SIZE(TO[j], value[j]);                                                         \
            }                                                                                                    \
        }                                                                                                        \
    }

/* What one thread of a block does after the barrier: the block that finds itself last tells the host. */
TEMPI_FN void tempi_finish(const tempi_strided *a, uint32_t blocks)
{
    if (a->flag == 0)
        return;
    tempi_fence_system();
    if (blocks > 1) {
        if (tempi_count_up(a->counter, blocks - 1) != blocks - 1)
            return;
        tempi_fence_system();
    }
    tempi_raise_flag(a->flag, a->value);
}

TEMPI_KERNELS(TEMPI_BODY)
