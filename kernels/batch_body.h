/* The code of the kernel of many layouts, one text for the device and the host: as body.h, which it follows.
 *
 * A block finds its item and its threads fetch it together; a barrier; then they run the body for the item's kind, with
 * the item's share of the grid for the whole. The direction is looked at for each word, which costs nothing beside the
 * access and saves half of the code.
 */

/* Word i of the list. */
TEMPI_FN uint64_t tempi_listed(const tempi_batch *b, uint32_t i)
{
    return b->list != 0 ? tempi_load_8(b->list + i * (uint64_t)8) : b->here[i];
}

/* The word of the index for `block`: the last one whose first block is not behind it. */
TEMPI_FN uint64_t tempi_find(const tempi_batch *b, uint32_t block)
{
    uint32_t low = 0, high = b->items;
    uint64_t found = tempi_listed(b, b->index);
    TEMPI_NO_UNROLL
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        const uint64_t word = tempi_listed(b, b->index + middle);
        if (TEMPI_FIRST(word) <= block) {
            low = middle;
            found = word;
        } else {
            high = middle;
        }
    }
    return found;
}

/* A thread's part of copying the item to where the block keeps it. */
TEMPI_FN void tempi_fetch(const tempi_batch *b, uint64_t found, tempi_slot *slot, uint32_t thread, uint32_t threads)
{
    TEMPI_NO_UNROLL
    for (uint32_t i = thread; i < TEMPI_LENGTH(found); i += threads)
        slot->words[i] = tempi_listed(b, TEMPI_PLACE(found) + i);
}

/* As TEMPI_EQUAL_BODY_OF_DEPTH; a layout without a table is one whose entry is 0. */
#define TEMPI_ITEM_BODY_OF_DEPTH(SIZE, DEPTH)                                                                    \
    TEMPI_BLOCKS_LOCATE(tempi_item_w##SIZE, DEPTH, tempi_item, (*a))                                             \
    TEMPI_FN void tempi_item_w##SIZE##_body(const tempi_item *a, uint32_t unpack, uint32_t thread,               \
                                            uint32_t threads, uint32_t block)                                    \
    {                                                                                                            \
        const uint32_t tile = threads * DEPTH;                                                                   \
        for (uint32_t first = block * tile + thread; first < a->words; first += a->blocks * tile) {              \
            uint64_t memory[DEPTH], packed[DEPTH], offset[DEPTH];                                                \
            uint32_t entry[DEPTH];                                                                               \
            tempi_word_##SIZE value[DEPTH];                                                                      \
            tempi_item_w##SIZE##_locate(a, first, threads, memory, packed, entry);                               \
            if (a->table != 0) {                                                                                 \
                TEMPI_ENTRIES(DEPTH)                                                                             \
                TEMPI_UNROLL                                                                                     \
                for (uint32_t j = 0; j < DEPTH; j++)                                                             \
                    memory[j] += offset[j];                                                                      \
            }                                                                                                    \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < DEPTH; j++) {                                                               \
                if (first + j * threads < a->words)                                                              \
                    value[j] = tempi_load_##SIZE(unpack ? packed[j] : memory[j]);                                \
            }                                                                                                    \
            TEMPI_UNROLL                                                                                         \
            for (uint32_t j = 0; j < DEPTH; j++) {                                                               \
                if (first + j * threads < a->words)                                                              \
                    tempi_store_##SIZE(unpack ? memory[j] : packed[j], value[j]);                                \
            }                                                                                                    \
        }                                                                                                        \
    }

#define TEMPI_ITEM_BODY(SIZE) TEMPI_ITEM_BODY_OF_DEPTH(SIZE, TEMPI_EQUAL_DEPTH_##SIZE)

TEMPI_ITEM_BODY(1)
TEMPI_ITEM_BODY(2)
TEMPI_ITEM_BODY(4)
TEMPI_ITEM_BODY(8)
TEMPI_ITEM_BODY(16)

/* As TEMPI_MIXED_BODY. */
TEMPI_BLOCKS_LOCATE(tempi_item_mixed, 1, tempi_item, (*a))
TEMPI_FN void tempi_item_mixed_body(const tempi_item *a, uint32_t unpack, uint32_t thread, uint32_t threads, uint32_t block)
{
    const uint32_t lanes = a->dims[0].count;
    for (uint32_t i = block * threads + thread; i < a->words; i += a->blocks * threads) {
        uint64_t memory, packed;
        uint32_t entry;
        tempi_item_mixed_locate(a, i, 0, &memory, &packed, &entry);
        const tempi_word_16 run = tempi_load_16(a->table + entry * (uint64_t)16);
        memory += run.low;
        packed += run.high >> TEMPI_LENGTH_BITS;
        tempi_run(unpack ? packed : memory, unpack ? memory : packed, (uint32_t)run.high & ((1u << TEMPI_LENGTH_BITS) - 1),
                  i & (lanes - 1), lanes);
    }
}

/* What a thread of a block of the grid does after the barrier that follows tempi_fetch; `block` counts from the item's first. */
TEMPI_FN void tempi_item_body(const tempi_item *a, uint32_t unpack, uint32_t thread, uint32_t threads, uint32_t block)
{
    switch (a->kind) {
    case 0:
        tempi_item_w1_body(a, unpack, thread, threads, block);
        break;
    case 1:
        tempi_item_w2_body(a, unpack, thread, threads, block);
        break;
    case 2:
        tempi_item_w4_body(a, unpack, thread, threads, block);
        break;
    case 3:
        tempi_item_w8_body(a, unpack, thread, threads, block);
        break;
    case 4:
        tempi_item_w16_body(a, unpack, thread, threads, block);
        break;
    default:
        tempi_item_mixed_body(a, unpack, thread, threads, block);
    }
}
