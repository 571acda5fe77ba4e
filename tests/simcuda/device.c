/* device.c - what devices there are and what they say of themselves: an H200. */
#include "simcuda.h"

#include <stdio.h>
#include <string.h>

static int is_device(CUdevice device) { return device >= 0 && device < sim.devices; }

/* cuda.h's CU_DEVICE_ATTRIBUTE_... numbers */
static const struct {
    int attribute, value;
} attributes[] = {
    {1, 1024},       /* MAX_THREADS_PER_BLOCK */
    {2, 1024},       /* MAX_BLOCK_DIM_X */
    {3, 1024},       /* MAX_BLOCK_DIM_Y */
    {4, 64},         /* MAX_BLOCK_DIM_Z */
    {5, 2147483647}, /* MAX_GRID_DIM_X */
    {6, 65535},      /* MAX_GRID_DIM_Y */
    {7, 65535},      /* MAX_GRID_DIM_Z */
    {8, 49152},      /* MAX_SHARED_MEMORY_PER_BLOCK */
    {9, 65536},      /* TOTAL_CONSTANT_MEMORY */
    {10, 32},        /* WARP_SIZE */
    {11, 2147483647},/* MAX_PITCH */
    {12, 65536},     /* MAX_REGISTERS_PER_BLOCK */
    {13, 1980000},   /* CLOCK_RATE, kHz */
    {14, 512},       /* TEXTURE_ALIGNMENT */
    {15, 1},         /* GPU_OVERLAP */
    {16, 132},       /* MULTIPROCESSOR_COUNT */
    {17, 0},         /* KERNEL_EXEC_TIMEOUT */
    {18, 0},         /* INTEGRATED */
    {19, 1},         /* CAN_MAP_HOST_MEMORY */
    {20, 0},         /* COMPUTE_MODE */
    {31, 1},         /* CONCURRENT_KERNELS */
    {32, 1},         /* ECC_ENABLED */
    {34, 0},         /* PCI_DEVICE_ID */
    {35, 0},         /* TCC_DRIVER */
    {36, 3201000},   /* MEMORY_CLOCK_RATE, kHz */
    {37, 6144},      /* GLOBAL_MEMORY_BUS_WIDTH */
    {38, 62914560},  /* L2_CACHE_SIZE */
    {39, 2048},      /* MAX_THREADS_PER_MULTIPROCESSOR */
    {40, 3},         /* ASYNC_ENGINE_COUNT */
    {41, 1},         /* UNIFIED_ADDRESSING */
    {50, 0},         /* PCI_DOMAIN_ID */
    {78, 1},         /* STREAM_PRIORITIES_SUPPORTED */
    {81, 233472},    /* MAX_SHARED_MEMORY_PER_MULTIPROCESSOR */
    {82, 65536},     /* MAX_REGISTERS_PER_MULTIPROCESSOR */
    {83, 1},         /* MANAGED_MEMORY */
    {84, 0},         /* MULTI_GPU_BOARD */
    {86, 0},         /* HOST_NATIVE_ATOMIC_SUPPORTED */
    {88, 0},         /* PAGEABLE_MEMORY_ACCESS */
    {89, 1},         /* CONCURRENT_MANAGED_ACCESS */
    {90, 1},         /* COMPUTE_PREEMPTION_SUPPORTED */
    {91, 1},         /* CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM */
    {92, 1},         /* CAN_USE_STREAM_MEM_OPS */
    {93, 1},         /* CAN_USE_64_BIT_STREAM_MEM_OPS */
    {94, 1},         /* CAN_USE_STREAM_WAIT_VALUE_NOR */
    {95, 0},         /* COOPERATIVE_LAUNCH */
    {97, 232448},    /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
    {98, 1},         /* CAN_FLUSH_REMOTE_WRITES */
    {99, 1},         /* HOST_REGISTER_SUPPORTED */
    {100, 0},        /* PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES */
    {101, 0},        /* DIRECT_MANAGED_MEM_ACCESS_FROM_HOST */
    {102, 0},        /* VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED */
    {103, 0},        /* HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED */
    {106, 32},       /* MAX_BLOCKS_PER_MULTIPROCESSOR */
    {115, 0},        /* MEMORY_POOLS_SUPPORTED */
    {116, 0},        /* GPU_DIRECT_RDMA_SUPPORTED */
};

SIM_CALL(cuDriverGetVersion, SIM_NOTHING, (int *version), (version), "")
{
    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *version = (int)sim_setting("SIMCUDA_DRIVER", 13000);
    return CUDA_SUCCESS;
}

SIM_CALL(cuDeviceGetCount, SIM_INIT, (int *count), (count), "")
{
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *count = sim.devices;
    return CUDA_SUCCESS;
}

SIM_CALL(cuDeviceGet, SIM_INIT, (CUdevice * device, int ordinal), (device, ordinal), "%d", ordinal)
{
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

SIM_CALL(cuDeviceGetAttribute, SIM_INIT, (int *value, int attribute, CUdevice device), (value, attribute, device),
         "%d %d", attribute, device)
{
    size_t i;
    if (value == NULL || attribute <= 0 || attribute > 200)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *value = 0;
    if (attribute == 33) /* PCI_BUS_ID */
        *value = device + 1;
    if (attribute == 75) /* COMPUTE_CAPABILITY_MAJOR */
        *value = sim.capability / 10;
    if (attribute == 76) /* COMPUTE_CAPABILITY_MINOR */
        *value = sim.capability % 10;
    for (i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].attribute == attribute)
            *value = attributes[i].value;
    return CUDA_SUCCESS;
}

SIM_CALL(cuDeviceComputeCapability, SIM_INIT, (int *major, int *minor, CUdevice device), (major, minor, device),
         "%d", device)
{
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *major = sim.capability / 10;
    *minor = sim.capability % 10;
    return CUDA_SUCCESS;
}

SIM_CALL(cuDeviceGetName, SIM_INIT, (char *name, int room, CUdevice device), (name, room, device), "%d", device)
{
    if (name == NULL || room <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)room, "Simulated H200");
    return CUDA_SUCCESS;
}

SIM_CALL(cuDeviceGetUuid_v2, SIM_INIT, (unsigned char *uuid, CUdevice device), (uuid, device), "%d", device)
{
    if (uuid == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    memcpy(uuid, "simcuda-device-", 15);
    uuid[15] = (unsigned char)device;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2);

SIM_CALL(cuDeviceGetPCIBusId, SIM_INIT, (char *id, int room, CUdevice device), (id, room, device), "%d", device)
{
    if (id == NULL || room <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(id, (size_t)room, "0000:%02X:00.0", (unsigned)device + 1);
    return CUDA_SUCCESS;
}

SIM_CALL(cuDeviceTotalMem_v2, SIM_INIT, (size_t *bytes, CUdevice device), (bytes, device), "%d", device)
{
    if (bytes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = sim.memory;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuDeviceTotalMem, cuDeviceTotalMem_v2);

SIM_CALL(cuDeviceCanAccessPeer, SIM_INIT, (int *can, CUdevice device, CUdevice peer), (can, device, peer), "%d %d",
         device, peer)
{
    if (can == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device) || !is_device(peer))
        return CUDA_ERROR_INVALID_DEVICE;
    *can = device != peer;
    return CUDA_SUCCESS;
}

/* CU_DEVICE_P2P_ATTRIBUTE_...: 1 performance rank, 2 access, 3 native atomics */
SIM_CALL(cuDeviceGetP2PAttribute, SIM_INIT, (int *value, int attribute, CUdevice device, CUdevice peer),
         (value, attribute, device, peer), "%d %d %d", attribute, device, peer)
{
    if (value == NULL || attribute < 1 || attribute > 5)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device) || !is_device(peer) || device == peer)
        return CUDA_ERROR_INVALID_DEVICE;
    *value = attribute == 2 || attribute == 3;
    return CUDA_SUCCESS;
}
