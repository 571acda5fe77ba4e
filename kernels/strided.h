/* What the strided kernels take and which there are. Plain C: the device code, the host build and, field by field,
 * src/pack/kernel.rs share it.
 */
#ifndef TEMPI_STRIDED_H
#define TEMPI_STRIDED_H

#include <stdint.h>

/* Dimensions of one launch, the contiguous block counted as one. */
#define TEMPI_MAX_DIMS 8

/* One dimension. x / count == mulhi(2 * x, magic) >> shift for every x < 2^31. */
typedef struct {
    int64_t stride; /* bytes from one repetition to the next in memory */
    int64_t packed; /* and in the packed buffer */
    uint32_t count;
    uint32_t magic;
    uint32_t shift;
    uint32_t zero;
} tempi_dim;

/* The one argument of every kernel. */
typedef struct {
    uint64_t memory;  /* address of the first byte of repetition (0, ..., 0) in memory */
    uint64_t packed;  /* and in the packed buffer */
    uint64_t flag;    /* a 32-bit word that the last block sets to `value` when everything is written; 0: none */
    uint64_t counter; /* a 32-bit device word, zero before and after every launch that has a flag */
    uint32_t value;
    uint32_t words; /* words to move, the product of the counts: less than 2^31 */
    uint32_t ndims; /* 1 ... TEMPI_MAX_DIMS */
    uint32_t zero;
    int64_t outer_stride; /* the outermost dimension, whose count nobody needs */
    int64_t outer_packed;
    tempi_dim dims[TEMPI_MAX_DIMS - 1]; /* the others in order of iteration, the fastest first */
} tempi_strided;

/* 16 bytes that move together. */
typedef struct {
    uint64_t low, high;
} __attribute__((aligned(16))) tempi_word_16;

typedef uint8_t tempi_word_1;
typedef uint16_t tempi_word_2;
typedef uint32_t tempi_word_4;
typedef uint64_t tempi_word_8;

/* Every kernel: X(name, bytes of a word, width of the offsets, from, to). `o32`: every byte offset of
 * the launch fits a signed 32-bit integer. src/pack/kernel.rs lists the same names in the same order. */
#define TEMPI_KERNELS_OF_SIZE(X, SIZE)                                                                           \
    X(tempi_pack_w##SIZE##_o32, SIZE, o32, memory, packed)                                              \
    X(tempi_pack_w##SIZE##_o64, SIZE, o64, memory, packed)                                              \
    X(tempi_unpack_w##SIZE##_o32, SIZE, o32, packed, memory)                                            \
    X(tempi_unpack_w##SIZE##_o64, SIZE, o64, packed, memory)

#define TEMPI_KERNELS(X)                                                                                         \
    TEMPI_KERNELS_OF_SIZE(X, 1)                                                                                  \
    TEMPI_KERNELS_OF_SIZE(X, 2)                                                                                  \
    TEMPI_KERNELS_OF_SIZE(X, 4)                                                                                  \
    TEMPI_KERNELS_OF_SIZE(X, 8)                                                                                  \
    TEMPI_KERNELS_OF_SIZE(X, 16)

#endif
