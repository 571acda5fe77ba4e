/* What the kernel that moves many layouts at once takes. Plain C, as strided.h.
 *
 * Every layout is an item of a list, and has blocks of the grid for itself. The list is the items and behind them an index, a
 * word for each item. It travels in the argument if it is short, and lies in device memory if not.
 */
#ifndef TEMPI_BATCH_H
#define TEMPI_BATCH_H

#include "blocks.h"

/* One layout: what tempi_blocks says of a launch, in less room. In the list only the dimensions in use follow the head. */
typedef struct {
    uint64_t memory; /* as in tempi_strided */
    uint64_t packed;
    uint64_t table; /* as in tempi_blocks; 0: none, `at` is no dimension then */
    int64_t outer_stride;
    int64_t outer_packed;
    uint32_t words;
    uint32_t blocks; /* blocks of the grid that share it */
    uint8_t kind;    /* log2 of the bytes of a word; TEMPI_MIXED: runs of different length */
    uint8_t ndims;
    uint8_t at;
    uint8_t wide;
    uint8_t shift;
    uint8_t zero[3];
    tempi_dim dims[TEMPI_MAX_DIMS - 1];
} tempi_item;

#define TEMPI_MIXED 5

/* An item as a block of the grid keeps it. */
typedef union {
    tempi_item item;
    uint64_t words[sizeof(tempi_item) / sizeof(uint64_t)];
} tempi_slot;

/* A word of the index: the item's first block, which ascends; where its words begin in the list; how many they are. */
#define TEMPI_FIRST(found) ((uint32_t)(found))
#define TEMPI_PLACE(found) ((uint32_t)((found) >> 32) & 0xffffff)
#define TEMPI_LENGTH(found) ((uint32_t)((found) >> 56))

/* The words that an argument of 4 KiB, the most that every driver takes, has room for. */
#define TEMPI_BATCH_WORDS 507

/* The one argument of the kernel. */
typedef struct {
    uint64_t flag; /* as in tempi_strided */
    uint64_t counter;
    uint32_t value;
    uint32_t unpack; /* 0: from memory to the packed buffers; 1: the other way */
    uint32_t items;
    uint32_t index; /* the word of the list where the index begins */
    uint64_t list;  /* address of the list; 0: it is here */
    uint64_t here[TEMPI_BATCH_WORDS];
} tempi_batch;

/* Kernels of many layouts: X(name). */
#define TEMPI_BATCH_KERNELS(X) X(tempi_move)

#endif
