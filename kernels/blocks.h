/* What the kernels of irregular layouts take and which there are. Plain C, as strided.h.
 *
 * The runs lie at the places of a table. One dimension of the launch, number `at`, is the table's: its strides in memory
 * are 0, and its index finds the entry.
 */
#ifndef TEMPI_BLOCKS_H
#define TEMPI_BLOCKS_H

#include "strided.h"

/* The one argument of every kernel. */
typedef struct {
    tempi_strided s;
    uint64_t table; /* address of the first entry of this launch */
    uint32_t at;    /* the table's dimension, the outermost being s.ndims - 1 */
    uint32_t wide;  /* equal runs: an entry is a byte offset in 64 bits; else in 32, in units of 1 << shift bytes */
    uint32_t shift;
    uint32_t zero;
} tempi_blocks;

/* An entry of runs of different length: the offset in memory, and the offset in the packed buffer above the length. The
 * words of a launch are lanes then: dimension 0 counts the lanes, a power of two, that share a run. */
#define TEMPI_LENGTH_BITS 20

/* Runs of equal length: X(name, bytes of a word, from, to). src/pack/kernel.rs lists the same names in the same order. */
#define TEMPI_EQUAL_OF_SIZE(X, SIZE)                                                                             \
    X(tempi_pack_equal_w##SIZE, SIZE, memory, packed)                                                            \
    X(tempi_unpack_equal_w##SIZE, SIZE, packed, memory)

#define TEMPI_EQUAL_KERNELS(X)                                                                                   \
    TEMPI_EQUAL_OF_SIZE(X, 1)                                                                                    \
    TEMPI_EQUAL_OF_SIZE(X, 2)                                                                                    \
    TEMPI_EQUAL_OF_SIZE(X, 4)                                                                                    \
    TEMPI_EQUAL_OF_SIZE(X, 8)                                                                                    \
    TEMPI_EQUAL_OF_SIZE(X, 16)

/* Runs of different length, each in the widest words that its ends allow: X(name, from, to). */
#define TEMPI_MIXED_KERNELS(X)                                                                                   \
    X(tempi_pack_mixed, memory, packed)                                                                          \
    X(tempi_unpack_mixed, packed, memory)

#endif
