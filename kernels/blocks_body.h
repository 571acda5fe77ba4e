/* The code of the kernels of irregular layouts, one text for the device and the host: as body.h, which it follows. */

/* Words that a thread has in flight. src/pack/blocks.rs counts on them. */
#define TEMPI_EQUAL_DEPTH_1 4
#define TEMPI_EQUAL_DEPTH_2 4
#define TEMPI_EQUAL_DEPTH_4 4
#define TEMPI_EQUAL_DEPTH_8 4
#define TEMPI_EQUAL_DEPTH_16 2
#define TEMPI_MIXED_DEPTH 4

/* Where words first, first + threads, ... lie but for the table's part, and which entries those are. A word past the
 * end takes the place of word 0: the table has no entry for it. S is what the argument, of type TYPE, says of strides. */
#define TEMPI_BLOCKS_LOCATE(NAME, DEPTH, TYPE, S)                                                                \
    TEMPI_FN void NAME##_locate(const TYPE *a, uint32_t first, uint32_t threads, uint64_t *memory,               \
                                uint64_t *packed, uint32_t *entry)                                               \
    {                                                                                                            \
        uint32_t rest[DEPTH];                                                                                    \
        TEMPI_UNROLL                                                                                             \
        for (uint32_t j = 0; j < DEPTH; j++) {                                                                   \
            const uint32_t i = first + j * threads;                                                              \
            rest[j] = i < S.words ? i : 0;                                                                       \
            memory[j] = S.memory;                                                                                \
            packed[j] = S.packed;                                                                                \
            entry[j] = 0;                                                                                        \
        }                                                                                                        \
        const uint32_t inner = S.ndims - 1;                                                                      \
        TEMPI_NO_UNROLL                                                                                          \
        for (uint32_t k = 0; k < inner; k++) {                                                                   \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < DEPTH; j++) {                                                               \
                const uint32_t i = rest[j];                                                                      \
                rest[j] = (uint32_t)(((uint64_t)(i << 1) * S.dims[k].magic) >> 32) >> S.dims[k].shift;           \
                const uint32_t index = i - rest[j] * S.dims[k].count;                                            \
                memory[j] += index * (uint64_t)S.dims[k].stride;                                                 \
                packed[j] += index * (uint64_t)S.dims[k].packed;                                                 \
                entry[j] = k == a->at ? index : entry[j];                                                        \
            }                                                                                                    \
        }                                                                                                        \
        TEMPI_UNROLL                                                                                             \
        for (uint32_t j = 0; j < DEPTH; j++) {                                                                   \
            memory[j] += rest[j] * (uint64_t)S.outer_stride;                                                     \
            packed[j] += rest[j] * (uint64_t)S.outer_packed;                                                     \
            entry[j] = a->at == inner ? rest[j] : entry[j];                                                      \
        }                                                                                                        \
    }

/* The offsets of DEPTH entries, all loads under way before the first is needed. */
#define TEMPI_ENTRIES(DEPTH)                                                                                     \
    if (a->wide) {                                                                                               \
        TEMPI_UNROLL                                                                                             \
        for (uint32_t j = 0; j < DEPTH; j++)                                                                     \
            offset[j] = tempi_load_8(a->table + entry[j] * (uint64_t)8);                                         \
    } else {                                                                                                     \
        TEMPI_UNROLL                                                                                             \
        for (uint32_t j = 0; j < DEPTH; j++)                                                                     \
            offset[j] = (uint64_t)(int64_t)(int32_t)tempi_load_4(a->table + entry[j] * (uint64_t)4) << a->shift; \
    }

/* As TEMPI_BODY_OF_DEPTH. */
#define TEMPI_EQUAL_BODY_OF_DEPTH(NAME, SIZE, DEPTH, FROM, TO)                                                   \
    TEMPI_BLOCKS_LOCATE(NAME, DEPTH, tempi_blocks, a->s)                                                         \
    TEMPI_FN void NAME##_body(const tempi_blocks *a, uint32_t thread, uint32_t threads, uint32_t block,          \
                              uint32_t blocks)                                                                   \
    {                                                                                                            \
        const uint32_t tile = threads * DEPTH;                                                                   \
        for (uint32_t first = block * tile + thread; first < a->s.words; first += blocks * tile) {               \
            uint64_t memory[DEPTH], packed[DEPTH], offset[DEPTH];                                                \
            uint32_t entry[DEPTH];                                                                               \
            tempi_word_##SIZE value[DEPTH];                                                                      \
            NAME##_locate(a, first, threads, memory, packed, entry);                                             \
            TEMPI_ENTRIES(DEPTH)                                                                                 \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < DEPTH; j++)                                                                 \
                memory[j] += offset[j];                                                                          \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < DEPTH; j++) {                                                               \
                if (first + j * threads < a->s.words)                                                            \
                    value[j] = tempi_load_##SIZE(FROM[j]);                                                       \
            }                                                                                                    \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < DEPTH; j++) {                                                               \
                if (first + j * threads < a->s.words)                                                            \
                    tempi_store_##SIZE(TO[j], value[j]);                                                         \
            }                                                                                                    \
        }                                                                                                        \
    }

#define TEMPI_EQUAL_BODY(NAME, SIZE, FROM, TO)                                                                   \
    TEMPI_EQUAL_BODY_OF_DEPTH(NAME, SIZE, TEMPI_EQUAL_DEPTH_##SIZE, FROM, TO)

/* Words `lane`, `lane + lanes`, ... of a run of n words. */
#define TEMPI_RUN(SIZE)                                                                                          \
    TEMPI_FN void tempi_run_##SIZE(uint64_t from, uint64_t to, uint32_t n, uint32_t lane, uint32_t lanes)        \
    {                                                                                                            \
        for (uint32_t first = lane; first < n; first += TEMPI_MIXED_DEPTH * lanes) {                             \
            tempi_word_##SIZE value[TEMPI_MIXED_DEPTH];                                                          \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < TEMPI_MIXED_DEPTH; j++) {                                                   \
                if (first + j * lanes < n)                                                                       \
                    value[j] = tempi_load_##SIZE(from + (first + j * lanes) * (uint64_t)SIZE);                   \
            }                                                                                                    \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < TEMPI_MIXED_DEPTH; j++) {                                                   \
                if (first + j * lanes < n)                                                                       \
                    tempi_store_##SIZE(to + (first + j * lanes) * (uint64_t)SIZE, value[j]);                     \
            }                                                                                                    \
        }                                                                                                        \
    }

TEMPI_RUN(1)
TEMPI_RUN(2)
TEMPI_RUN(4)
TEMPI_RUN(8)
TEMPI_RUN(16)

TEMPI_FN void tempi_run(uint64_t from, uint64_t to, uint32_t bytes, uint32_t lane, uint32_t lanes)
{
    const uint32_t bits = (uint32_t)from | (uint32_t)to | bytes;
    if ((bits & 15) == 0)
        tempi_run_16(from, to, bytes / 16, lane, lanes);
    else if ((bits & 7) == 0)
        tempi_run_8(from, to, bytes / 8, lane, lanes);
    else if ((bits & 3) == 0)
        tempi_run_4(from, to, bytes / 4, lane, lanes);
    else if ((bits & 1) == 0)
        tempi_run_2(from, to, bytes / 2, lane, lanes);
    else
        tempi_run_1(from, to, bytes, lane, lanes);
}

/* `words` counts threads here: `lanes` neighbours share a run. */
#define TEMPI_MIXED_BODY(NAME, FROM, TO)                                                                         \
    TEMPI_BLOCKS_LOCATE(NAME, 1, tempi_blocks, a->s)                                                             \
    TEMPI_FN void NAME##_body(const tempi_blocks *a, uint32_t thread, uint32_t threads, uint32_t block,          \
                              uint32_t blocks)                                                                   \
    {                                                                                                            \
        const uint32_t lanes = a->s.dims[0].count;                                                               \
        for (uint32_t i = block * threads + thread; i < a->s.words; i += blocks * threads) {                     \
            uint64_t memory, packed;                                                                             \
            uint32_t entry;                                                                                      \
            NAME##_locate(a, i, 0, &memory, &packed, &entry);                                                    \
            const tempi_word_16 run = tempi_load_16(a->table + entry * (uint64_t)16);                            \
            memory += run.low;                                                                                   \
            packed += run.high >> TEMPI_LENGTH_BITS;                                                             \
            tempi_run(FROM, TO, (uint32_t)run.high & ((1u << TEMPI_LENGTH_BITS) - 1), i & (lanes - 1), lanes);   \
        }                                                                                                        \
    }

TEMPI_EQUAL_KERNELS(TEMPI_EQUAL_BODY)
TEMPI_MIXED_KERNELS(TEMPI_MIXED_BODY)
