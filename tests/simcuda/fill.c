/* fill.c - cuMemset...: asynchronous in any case, except on host memory. */
#include "simcuda.h"

#include <stdlib.h>
#include <string.h>

struct fill {
    struct operation operation;
    uint64_t address;
    uint32_t value;
    size_t element, width, height, pitch; /* bytes an element; elements a row; rows; bytes between rows */
};

static size_t extent(const struct fill *fill)
{
    return fill->pitch * (fill->height - 1) + fill->width * fill->element;
}

static void run(struct operation *operation)
{
    const struct fill *fill = (const struct fill *)operation;
    unsigned char *at = sim_touch(operation->stream->context, fill->address, extent(fill), "cuMemset");
    size_t x, y;
    for (y = 0; y < fill->height; y++, at += fill->pitch) {
        if (fill->element == 1)
            memset(at, (int)fill->value, fill->width);
        else
            for (x = 0; x < fill->width; x++)
                memcpy(at + x * fill->element, &fill->value, fill->element);
    }
}

static CUresult submit(uint64_t address, size_t pitch, uint32_t value, size_t element, size_t width, size_t height,
                       struct stream *stream, int wait)
{
    struct allocation *found = sim_find(address);
    struct fill *fill;
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (width == 0 || height == 0)
        return CUDA_SUCCESS;
    if (address % element != 0 || (found == NULL && !sim_is_ours(address)))
        return CUDA_ERROR_INVALID_VALUE;
    if (height > 1 && (pitch < width * element || pitch % element != 0))
        return CUDA_ERROR_INVALID_VALUE;
    fill = calloc(1, sizeof *fill);
    if (fill == NULL)
        sim_trap("out of memory");
    fill->address = address;
    fill->value = value;
    fill->element = element;
    fill->width = width;
    fill->height = height;
    fill->pitch = pitch;
    fill->operation.run = run;
    sim_reach(stream->context, address, extent(fill), "cuMemset");
    sim_submit(stream, &fill->operation);
    return wait && found->kind >= SIM_PINNED_MEMORY ? sim_wait_stream(stream) : CUDA_SUCCESS;
}

#define FILL(BITS, TYPE)                                                                                       \
    SIM_CALL(cuMemsetD##BITS##_v2, SIM_CONTEXT, (CUdeviceptr address, TYPE value, size_t count),               \
             (address, value, count), "%#llx %u %zu", (unsigned long long)address, (unsigned)value, count)     \
    {                                                                                                          \
        return submit(address, 0, value, BITS / 8, count, 1, sim_current()->legacy, 1);                        \
    }                                                                                                          \
    SIM_ALIAS(cuMemsetD##BITS, cuMemsetD##BITS##_v2);                                                          \
    SIM_CALL(cuMemsetD##BITS##Async, SIM_CONTEXT, (CUdeviceptr address, TYPE value, size_t count, void *stream), \
             (address, value, count, stream), "%#llx %u %zu %p", (unsigned long long)address, (unsigned)value, \
             count, stream)                                                                                    \
    {                                                                                                          \
        return submit(address, 0, value, BITS / 8, count, 1, sim_stream(stream), 0);                           \
    }                                                                                                          \
    SIM_CALL(cuMemsetD2D##BITS##_v2, SIM_CONTEXT,                                                              \
             (CUdeviceptr address, size_t pitch, TYPE value, size_t width, size_t height),                     \
             (address, pitch, value, width, height), "%#llx %zu %u %zu %zu", (unsigned long long)address,      \
             pitch, (unsigned)value, width, height)                                                            \
    {                                                                                                          \
        return submit(address, pitch, value, BITS / 8, width, height, sim_current()->legacy, 1);               \
    }                                                                                                          \
    SIM_ALIAS(cuMemsetD2D##BITS, cuMemsetD2D##BITS##_v2)

FILL(8, unsigned char);
FILL(16, unsigned short);
FILL(32, unsigned);
