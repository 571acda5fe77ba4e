/* The kernels on the device: PTX for what body.h asks for, and the entry points.
 *
 * Needs no CUDA header, so that any compiler that writes PTX will do (scripts/ptx). Accesses are inline PTX:
 * the same instructions whichever compiler made the module.
 */
#define TEMPI_FN static __attribute__((device, always_inline)) inline
#define TEMPI_UNROLL _Pragma("unroll")
#define TEMPI_NO_UNROLL _Pragma("nounroll")

#include "batch.h"
#include "blocks.h"
#include "strided.h"

/* Sources are read by these kernels and written by nobody while one runs (MPI forbids it): the read-only path. */
#define TEMPI_LOAD "ld.global.nc"
#define TEMPI_STORE "st.global"

#define TEMPI_ACCESS(SIZE, TYPE, REGISTER)                                                                       \
    TEMPI_FN tempi_word_##SIZE tempi_load_##SIZE(uint64_t address)                                               \
    {                                                                                                            \
        tempi_word_##SIZE value;                                                                                 \
        asm volatile(TEMPI_LOAD "." TYPE " %0, [%1];" : "=" REGISTER(value) : "l"(address));                     \
        return value;                                                                                            \
    }                                                                                                            \
    TEMPI_FN void tempi_store_##SIZE(uint64_t address, tempi_word_##SIZE value)                                  \
    {                                                                                                            \
        asm volatile(TEMPI_STORE "." TYPE " [%0], %1;" : : "l"(address), REGISTER(value) : "memory");            \
    }

TEMPI_ACCESS(2, "u16", "h")
TEMPI_ACCESS(4, "u32", "r")
TEMPI_ACCESS(8, "u64", "l")

/* PTX has no 8-bit registers: a byte travels in a wider one. */
TEMPI_FN tempi_word_1 tempi_load_1(uint64_t address)
{
    uint32_t value;
    asm volatile(TEMPI_LOAD ".u8 %0, [%1];" : "=r"(value) : "l"(address));
    return (tempi_word_1)value;
}

TEMPI_FN void tempi_store_1(uint64_t address, tempi_word_1 value)
{
    asm volatile(TEMPI_STORE ".u8 [%0], %1;" : : "l"(address), "r"((uint32_t)value) : "memory");
}

TEMPI_FN tempi_word_16 tempi_load_16(uint64_t address)
{
    tempi_word_16 value;
    asm volatile(TEMPI_LOAD ".v2.u64 {%0, %1}, [%2];" : "=l"(value.low), "=l"(value.high) : "l"(address));
    return value;
}

TEMPI_FN void tempi_store_16(uint64_t address, tempi_word_16 value)
{
    asm volatile(TEMPI_STORE ".v2.u64 [%0], {%1, %2};" : : "l"(address), "l"(value.low), "l"(value.high) : "memory");
}

TEMPI_FN uint32_t tempi_count_up(uint64_t address, uint32_t last)
{
    uint32_t old;
    asm volatile("atom.global.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(address), "r"(last) : "memory");
    return old;
}

TEMPI_FN void tempi_fence_system(void)
{
    asm volatile("membar.sys;" : : : "memory");
}

TEMPI_FN void tempi_raise_flag(uint64_t address, uint32_t value)
{
    asm volatile("st.volatile.global.u32 [%0], %1;" : : "l"(address), "r"(value) : "memory");
}

TEMPI_FN void tempi_barrier(void)
{
    asm volatile("bar.sync 0;" : : : "memory");
}

#define TEMPI_REGISTER(NAME, PTX)                                                                                \
    TEMPI_FN uint32_t NAME(void)                                                                                 \
    {                                                                                                            \
        uint32_t value;                                                                                          \
        asm("mov.u32 %0, %" PTX ";" : "=r"(value));                                                              \
        return value;                                                                                            \
    }

TEMPI_REGISTER(tempi_thread, "%tid.x")
TEMPI_REGISTER(tempi_threads, "%ntid.x")
TEMPI_REGISTER(tempi_block, "%ctaid.x")
TEMPI_REGISTER(tempi_blocks_of_grid, "%nctaid.x")

#include "body.h"
#include "blocks_body.h"
#include "batch_body.h"

#define TEMPI_ENTRY_OF(NAME, TYPE, HEAD)                                                                         \
    extern "C" __attribute__((global)) void NAME(const TYPE a)                                                   \
    {                                                                                                            \
        NAME##_body(&a, tempi_thread(), tempi_threads(), tempi_block(), tempi_blocks_of_grid());                 \
        tempi_barrier();                                                                                         \
        if (tempi_thread() == 0)                                                                                 \
            tempi_finish(HEAD.flag, HEAD.counter, HEAD.value, tempi_blocks_of_grid());                           \
    }

#define TEMPI_ENTRY(NAME, SIZE, WIDTH, FROM, TO) TEMPI_ENTRY_OF(NAME, tempi_strided, a)
#define TEMPI_EQUAL_ENTRY(NAME, SIZE, FROM, TO) TEMPI_ENTRY_OF(NAME, tempi_blocks, a.s)
#define TEMPI_MIXED_ENTRY(NAME, FROM, TO) TEMPI_ENTRY_OF(NAME, tempi_blocks, a.s)
#define TEMPI_BATCH_ENTRY(NAME)                                                                                  \
    extern "C" __attribute__((global)) void NAME(const tempi_batch b)                                            \
    {                                                                                                            \
        static __attribute__((shared)) tempi_slot slot;                                                          \
        const uint64_t found = tempi_find(&b, tempi_block());                                                    \
        tempi_fetch(&b, found, &slot, tempi_thread(), tempi_threads());                                          \
        tempi_barrier();                                                                                         \
        tempi_item_body(&slot.item, b.unpack, tempi_thread(), tempi_threads(),                                   \
                        tempi_block() - TEMPI_FIRST(found));                                                     \
        tempi_barrier();                                                                                         \
        if (tempi_thread() == 0)                                                                                 \
            tempi_finish(b.flag, b.counter, b.value, tempi_blocks_of_grid());                                    \
    }

TEMPI_KERNELS(TEMPI_ENTRY)
TEMPI_EQUAL_KERNELS(TEMPI_EQUAL_ENTRY)
TEMPI_MIXED_KERNELS(TEMPI_MIXED_ENTRY)
TEMPI_BATCH_KERNELS(TEMPI_BATCH_ENTRY)
