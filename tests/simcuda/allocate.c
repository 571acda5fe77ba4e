/* allocate.c - the cuMem... calls that make and end memory. */
#include "simcuda.h"

#include <stdio.h>

static CUresult allocate(uint64_t *address, enum sim_memory kind, size_t size, unsigned flags)
{
    int device = sim_current()->device;
    struct allocation *made;
    if (address == NULL || size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (kind == SIM_DEVICE_MEMORY && (size > sim.memory || sim.device[device].used > sim.memory - size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    made = sim_allocate(kind, device, size, -1, 0);
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->flags = flags;
    *address = made->base;
    return CUDA_SUCCESS;
}

static CUresult release(uint64_t address, enum sim_memory kind, enum sim_memory other)
{
    struct allocation *found = sim_find(address);
    if (found == NULL || found->base != address || (found->kind != kind && found->kind != other))
        return CUDA_ERROR_INVALID_VALUE;
    sim_release(found);
    return CUDA_SUCCESS;
}

SIM_CALL(cuMemAlloc_v2, SIM_CONTEXT, (CUdeviceptr * address, size_t size), (address, size), "%zu = %#llx", size,
         code == CUDA_SUCCESS ? (unsigned long long)*address : 0)
{
    return allocate(address, SIM_DEVICE_MEMORY, size, 0);
}
SIM_ALIAS(cuMemAlloc, cuMemAlloc_v2);

SIM_CALL(cuMemAllocPitch_v2, SIM_CONTEXT,
         (CUdeviceptr * address, size_t *pitch, size_t width, size_t height, unsigned element),
         (address, pitch, width, height, element), "%zu %zu %u = %#llx", width, height, element,
         code == CUDA_SUCCESS ? (unsigned long long)*address : 0)
{
    size_t size;
    if (pitch == NULL || width == 0 || (element != 4 && element != 8 && element != 16))
        return CUDA_ERROR_INVALID_VALUE;
    *pitch = (width + 511) / 512 * 512;
    if (__builtin_mul_overflow(*pitch, height, &size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return allocate(address, SIM_DEVICE_MEMORY, size, 0);
}
SIM_ALIAS(cuMemAllocPitch, cuMemAllocPitch_v2);

/* Unlike the real call this one does not wait for running work: work that
 * still uses the memory is a bug here and ends in a trap. */
SIM_CALL(cuMemFree_v2, SIM_CONTEXT, (CUdeviceptr address), (address), "%#llx", (unsigned long long)address)
{
    return address == 0 ? CUDA_SUCCESS : release(address, SIM_DEVICE_MEMORY, SIM_MANAGED_MEMORY);
}
SIM_ALIAS(cuMemFree, cuMemFree_v2);

SIM_CALL(cuMemAllocManaged, SIM_CONTEXT, (CUdeviceptr * address, size_t size, unsigned flags),
         (address, size, flags), "%zu %u = %#llx", size, flags,
         code == CUDA_SUCCESS ? (unsigned long long)*address : 0)
{
    if (flags != 1 && flags != 2) /* ATTACH_GLOBAL, ATTACH_HOST */
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(address, SIM_MANAGED_MEMORY, size, flags);
}

SIM_CALL(cuMemHostAlloc, SIM_CONTEXT, (void **address, size_t size, unsigned flags), (address, size, flags),
         "%zu %u = %p", size, flags, code == CUDA_SUCCESS ? *address : NULL)
{
    uint64_t at = 0;
    CUresult code;
    if (address == NULL || (flags & ~7u) != 0) /* PORTABLE, DEVICEMAP, WRITECOMBINED */
        return CUDA_ERROR_INVALID_VALUE;
    code = allocate(&at, SIM_PINNED_MEMORY, size, flags);
    if (code == CUDA_SUCCESS)
        *address = (void *)(uintptr_t)at;
    return code;
}

SIM_CALL(cuMemAllocHost_v2, SIM_CONTEXT, (void **address, size_t size), (address, size), "%zu = %p", size,
         code == CUDA_SUCCESS ? *address : NULL)
{
    uint64_t at = 0;
    CUresult code;
    if (address == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    code = allocate(&at, SIM_PINNED_MEMORY, size, 0);
    if (code == CUDA_SUCCESS)
        *address = (void *)(uintptr_t)at;
    return code;
}
SIM_ALIAS(cuMemAllocHost, cuMemAllocHost_v2);

SIM_CALL(cuMemFreeHost, SIM_CONTEXT, (void *address), (address), "%p", address)
{
    return release((uint64_t)(uintptr_t)address, SIM_PINNED_MEMORY, SIM_PINNED_MEMORY);
}

SIM_CALL(cuMemHostGetDevicePointer_v2, SIM_CONTEXT, (CUdeviceptr * device, void *host, unsigned flags),
         (device, host, flags), "%p %u", host, flags)
{
    struct allocation *found = sim_find((uint64_t)(uintptr_t)host);
    if (device == NULL || flags != 0 || found == NULL || found->kind < SIM_PINNED_MEMORY)
        return CUDA_ERROR_INVALID_VALUE;
    *device = (uint64_t)(uintptr_t)host;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2);

SIM_CALL(cuMemHostGetFlags, SIM_CONTEXT, (unsigned *flags, void *host), (flags, host), "%p", host)
{
    struct allocation *found = sim_find((uint64_t)(uintptr_t)host);
    if (flags == NULL || found == NULL || found->kind != SIM_PINNED_MEMORY)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = found->flags | 2u; /* all of it is mapped */
    return CUDA_SUCCESS;
}

SIM_CALL(cuMemHostRegister_v2, SIM_CONTEXT, (void *address, size_t size, unsigned flags), (address, size, flags),
         "%p %zu %u", address, size, flags)
{
    uint64_t first = (uint64_t)(uintptr_t)address;
    if (address == NULL || size == 0 || (flags & ~15u) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_is_ours(first))
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_overlaps(first, size))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    sim_register(address, size)->flags = flags;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuMemHostRegister, cuMemHostRegister_v2);

SIM_CALL(cuMemHostUnregister, SIM_CONTEXT, (void *address), (address), "%p", address)
{
    struct allocation *found = sim_find((uint64_t)(uintptr_t)address);
    if (address == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (found == NULL || found->kind != SIM_REGISTERED_MEMORY || found->base != (uint64_t)(uintptr_t)address)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    sim_release(found);
    return CUDA_SUCCESS;
}

SIM_CALL(cuMemGetInfo_v2, SIM_CONTEXT, (size_t *free_bytes, size_t *total), (free_bytes, total), "")
{
    if (free_bytes == NULL || total == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *total = sim.memory;
    *free_bytes = sim.memory - sim.device[sim_current()->device].used;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuMemGetInfo, cuMemGetInfo_v2);
