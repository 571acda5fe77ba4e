/* The strided kernels' code: index arithmetic, bodies and completion, one text for the device and the host.
 *
 * A kernel is a body that every thread of a block runs, a barrier, and tempi_finish that one thread runs: so the
 * host can replay a block without a real barrier. Whoever includes this has included strided.h and defined
 *
 *   TEMPI_FN                    how a function is declared
 *   TEMPI_UNROLL                a pragma that unrolls the loop that follows, or nothing
 *   TEMPI_NO_UNROLL             a pragma that keeps it a loop, or nothing
 *   tempi_load_N, tempi_store_N one aligned access of N = 1, 2, 4, 8, 16 bytes at a 64-bit address
 *   tempi_count_up              adds one to the word at an address, or sets it to zero at `last`; returns the old value
 *   tempi_fence_system          orders this thread's earlier accesses before its later ones, for the host too
 *   tempi_raise_flag            stores a word where the host polls it
 */

/* Words that a thread has in flight, by measurement: fewer hide too little latency, more cost registers and so threads.
 * src/pack/plan.rs counts on them. */
#define TEMPI_DEPTH_1 4
#define TEMPI_DEPTH_2 4
#define TEMPI_DEPTH_4 4
#define TEMPI_DEPTH_8 4
#define TEMPI_DEPTH_16 2

/* Byte offsets are summed in unsigned integers, where a sum may wrap, and read as signed ones. */
typedef int32_t tempi_offset_o32;
typedef int64_t tempi_offset_o64;
typedef uint32_t tempi_sum_o32;
typedef uint64_t tempi_sum_o64;

/* Where words first, first + threads, first + 2 * threads, ... of the iteration lie. The outermost index is what the
 * divisions leave, so n dimensions cost n - 1 of them. A word past the end gets some place that nobody touches. */
#define TEMPI_LOCATE(NAME, DEPTH, WIDTH)                                                                         \
    TEMPI_FN void NAME##_locate(const tempi_strided *a, uint32_t first, uint32_t threads, uint64_t *memory,      \
                                uint64_t *packed)                                                                \
    {                                                                                                            \
        uint32_t rest[DEPTH];                                                                                    \
        tempi_sum_##WIDTH in_memory[DEPTH], in_packed[DEPTH];                                                    \
        TEMPI_UNROLL                                                                                             \
        for (uint32_t j = 0; j < DEPTH; j++) {                                                                   \
            rest[j] = first + j * threads;                                                                       \
            in_memory[j] = in_packed[j] = 0;                                                                     \
        }                                                                                                        \
        const uint32_t inner = a->ndims - 1;                                                                     \
        TEMPI_NO_UNROLL                                                                                          \
        for (uint32_t k = 0; k < inner; k++) {                                                                   \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < DEPTH; j++) {                                                               \
                const uint32_t i = rest[j];                                                                      \
                rest[j] = (uint32_t)(((uint64_t)(i << 1) * a->dims[k].magic) >> 32) >> a->dims[k].shift;         \
                const tempi_sum_##WIDTH index = i - rest[j] * a->dims[k].count;                                  \
                in_memory[j] += index * (tempi_sum_##WIDTH)a->dims[k].stride;                                    \
                in_packed[j] += index * (tempi_sum_##WIDTH)a->dims[k].packed;                                    \
            }                                                                                                    \
        }                                                                                                        \
        TEMPI_UNROLL                                                                                             \
        for (uint32_t j = 0; j < DEPTH; j++) {                                                                   \
            in_memory[j] += rest[j] * (tempi_sum_##WIDTH)a->outer_stride;                                        \
            in_packed[j] += rest[j] * (tempi_sum_##WIDTH)a->outer_packed;                                        \
            memory[j] = a->memory + (uint64_t)(int64_t)(tempi_offset_##WIDTH)in_memory[j];                       \
            packed[j] = a->packed + (uint64_t)(int64_t)(tempi_offset_##WIDTH)in_packed[j];                       \
        }                                                                                                        \
    }

/* A block moves tiles of DEPTH * threads words, and every load of a thread is under way before its first store.
 * Neighbouring threads take neighbouring words. No index overflows: words < 2^31, and the grid's stride is less. */
#define TEMPI_BODY_OF_DEPTH(NAME, SIZE, DEPTH, WIDTH, FROM, TO)                                                  \
    TEMPI_LOCATE(NAME, DEPTH, WIDTH)                                                                             \
    TEMPI_FN void NAME##_body(const tempi_strided *a, uint32_t thread, uint32_t threads, uint32_t block,         \
                              uint32_t blocks)                                                                   \
    {                                                                                                            \
        const uint32_t tile = threads * DEPTH;                                                                   \
        for (uint32_t first = block * tile + thread; first < a->words; first += blocks * tile) {                 \
            uint64_t memory[DEPTH], packed[DEPTH];                                                               \
            tempi_word_##SIZE value[DEPTH];                                                                      \
            NAME##_locate(a, first, threads, memory, packed);                                                    \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < DEPTH; j++) {                                                               \
                if (first + j * threads < a->words)                                                              \
                    value[j] = tempi_load_##SIZE(FROM[j]);                                                       \
            }                                                                                                    \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < DEPTH; j++) {                                                               \
                if (first + j * threads < a->words)                                                              \
                    tempi_store_##SIZE(TO[j], value[j]);                                                         \
            }                                                                                                    \
        }                                                                                                        \
    }

#define TEMPI_BODY(NAME, SIZE, WIDTH, FROM, TO) TEMPI_BODY_OF_DEPTH(NAME, SIZE, TEMPI_DEPTH_##SIZE, WIDTH, FROM, TO)

/* What one thread of a block does after the barrier: the block that finds itself last tells the host. */
TEMPI_FN void tempi_finish(uint64_t flag, uint64_t counter, uint32_t value, uint32_t blocks)
{
    if (flag == 0)
        return;
    tempi_fence_system();
    if (blocks > 1) {
        if (tempi_count_up(counter, blocks - 1) != blocks - 1)
            return;
        tempi_fence_system();
    }
    tempi_raise_flag(flag, value);
}

TEMPI_KERNELS(TEMPI_BODY)
