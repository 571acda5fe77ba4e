/* pointer.c - what an address is. */
#include "simcuda.h"

#include <string.h>

enum { HOST_TYPE = 1, DEVICE_TYPE = 2 };

#define GIVE(TYPE, VALUE)                      \
    do {                                       \
        TYPE given_ = (TYPE)(VALUE);           \
        memcpy(data, &given_, sizeof given_);  \
        return CUDA_SUCCESS;                   \
    } while (0)

/* one attribute (CU_POINTER_ATTRIBUTE_...) of an address in an allocation */
static CUresult attribute_of(void *data, int attribute, uint64_t address, const struct allocation *in)
{
    int on_device = in->kind == SIM_DEVICE_MEMORY || in->kind == SIM_IPC_MEMORY;
    int managed = in->kind == SIM_MANAGED_MEMORY;
    switch (attribute) {
    case 1: /* CONTEXT */
        GIVE(void *, in->context);
    case 2: /* MEMORY_TYPE */
        GIVE(unsigned, on_device || managed ? DEVICE_TYPE : HOST_TYPE);
    case 3: /* DEVICE_POINTER */
        GIVE(uint64_t, address);
    case 4: /* HOST_POINTER */
        if (on_device)
            return CUDA_ERROR_INVALID_VALUE;
        GIVE(uint64_t, address);
    case 6: /* SYNC_MEMOPS */
        GIVE(unsigned, 0);
    case 7: /* BUFFER_ID */
        GIVE(uint64_t, in->id);
    case 8: /* IS_MANAGED */
        GIVE(unsigned, managed);
    case 9: /* DEVICE_ORDINAL */
        GIVE(int, in->device);
    case 10: /* IS_LEGACY_CUDA_IPC_CAPABLE */
        GIVE(unsigned, in->kind == SIM_DEVICE_MEMORY);
    case 11: /* RANGE_START_ADDR */
        GIVE(uint64_t, in->base);
    case 12: /* RANGE_SIZE */
        GIVE(size_t, in->size);
    case 13: /* MAPPED */
        GIVE(unsigned, 1);
    case 14: /* ALLOWED_HANDLE_TYPES */
        GIVE(uint64_t, 0);
    case 15: /* IS_GPU_DIRECT_RDMA_CAPABLE */
        GIVE(unsigned, 0);
    case 16: /* ACCESS_FLAGS: read and write */
        GIVE(unsigned, 3);
    case 17: /* MEMPOOL_HANDLE */
        GIVE(void *, NULL);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* how much an attribute takes; 0 for none of ours */
static size_t size_of(int attribute)
{
    switch (attribute) {
    case 2: case 6: case 8: case 9: case 10: case 13: case 15: case 16:
        return 4;
    case 1: case 3: case 4: case 7: case 11: case 12: case 14: case 17:
        return 8;
    default:
        return 0;
    }
}

SIM_CALL(cuPointerGetAttribute, SIM_INIT, (void *data, int attribute, CUdeviceptr address),
         (data, attribute, address), "%d %#llx", attribute, (unsigned long long)address)
{
    struct allocation *found = sim_find(address);
    if (data == NULL || found == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return attribute_of(data, attribute, address, found);
}

/* Unlike the call above this one succeeds for any address: zeros. */
SIM_CALL(cuPointerGetAttributes, SIM_INIT,
         (unsigned count, int *attributes, void **data, CUdeviceptr address), (count, attributes, data, address),
         "%u %#llx", count, (unsigned long long)address)
{
    struct allocation *found = sim_find(address);
    unsigned i;
    if (count == 0 || attributes == NULL || data == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (i = 0; i < count; i++)
        if (size_of(attributes[i]) == 0 || data[i] == NULL)
            return CUDA_ERROR_INVALID_VALUE;
    for (i = 0; i < count; i++)
        if (found == NULL || attribute_of(data[i], attributes[i], address, found) != CUDA_SUCCESS)
            memset(data[i], 0, size_of(attributes[i]));
    if (found == NULL)
        for (i = 0; i < count; i++)
            if (attributes[i] == 9) { /* DEVICE_ORDINAL: no device, CU_DEVICE_INVALID */
                int none = -2;
                memcpy(data[i], &none, sizeof none);
            }
    return CUDA_SUCCESS;
}

SIM_CALL(cuPointerSetAttribute, SIM_INIT, (const void *value, int attribute, CUdeviceptr address),
         (value, attribute, address), "%d %#llx", attribute, (unsigned long long)address)
{
    /* SYNC_MEMOPS is the only one that may be set */
    return value == NULL || attribute != 6 || sim_find(address) == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

SIM_CALL(cuMemGetAddressRange_v2, SIM_CONTEXT, (CUdeviceptr * base, size_t *size, CUdeviceptr address),
         (base, size, address), "%#llx", (unsigned long long)address)
{
    struct allocation *found = sim_find(address);
    if (found == NULL)
        return CUDA_ERROR_NOT_FOUND;
    if (base != NULL)
        *base = found->base;
    if (size != NULL)
        *size = found->size;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuMemGetAddressRange, cuMemGetAddressRange_v2);
