/* ipc.c - memory of another process on this machine: its device's file, opened
 * through /proc. */
#include "simcuda.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MARK 0x73696d637564616du

/* CUipcMemHandle: 64 bytes */
struct ipc_handle {
    uint64_t mark, process, file, offset, size, device;
    uint64_t reserved[2];
};
_Static_assert(sizeof(struct ipc_handle) == 64, "not cuda.h's size");

SIM_CALL(cuIpcGetMemHandle, SIM_CONTEXT, (struct ipc_handle *handle, CUdeviceptr address), (handle, address), "%#llx",
         (unsigned long long)address)
{
    struct allocation *found = sim_find(address);
    struct ipc_handle made = {.mark = MARK};
    if (handle == NULL || found == NULL || found->kind != SIM_DEVICE_MEMORY)
        return CUDA_ERROR_INVALID_VALUE;
    made.process = (uint64_t)getpid();
    made.file = (uint64_t)sim_device_file(found->device, found->base, &made.offset);
    made.size = found->size;
    made.device = (uint64_t)found->device;
    found->exported = 1;
    memcpy(handle, &made, sizeof made);
    return CUDA_SUCCESS;
}

SIM_CALL(cuIpcOpenMemHandle_v2, SIM_CONTEXT, (CUdeviceptr * address, struct ipc_handle handle, unsigned flags),
         (address, handle, flags), "%u = %#llx", flags, code == CUDA_SUCCESS ? (unsigned long long)*address : 0)
{
    const uint64_t origin[3] = {handle.process, handle.file, handle.offset};
    struct context *context = sim_current();
    struct allocation *found;
    char path[64];
    int file;
    if (address == NULL || flags > 1 || handle.mark != MARK)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle.process == (uint64_t)getpid())
        return CUDA_ERROR_INVALID_CONTEXT; /* the owner may not open its own */
    if (handle.device >= (uint64_t)sim.devices)
        return CUDA_ERROR_INVALID_DEVICE;
    if ((int)handle.device != context->device && (flags & 1u) == 0)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    found = sim_ipc_find(origin);
    if (found == NULL) {
        snprintf(path, sizeof path, "/proc/%llu/fd/%llu", (unsigned long long)handle.process,
                 (unsigned long long)handle.file);
        file = open(path, O_RDWR | O_CLOEXEC);
        if (file < 0)
            return CUDA_ERROR_INVALID_HANDLE;
        found = sim_allocate(SIM_IPC_MEMORY, (int)handle.device, handle.size, file, handle.offset);
        close(file);
        if (found == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(found->origin, origin, sizeof origin);
    }
    found->users++;
    *address = found->base;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2);

SIM_CALL(cuIpcCloseMemHandle, SIM_CONTEXT, (CUdeviceptr address), (address), "%#llx", (unsigned long long)address)
{
    struct allocation *found = sim_find(address);
    if (found == NULL || found->kind != SIM_IPC_MEMORY || found->base != address)
        return CUDA_ERROR_INVALID_VALUE;
    if (--found->users == 0)
        sim_release(found);
    return CUDA_SUCCESS;
}
