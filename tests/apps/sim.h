/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sim.h - the driver as a program that manages its own contexts has it, and
 * what the simulated one (tests/simcuda) offers to tests besides.
 */
#ifndef APP_SIM_H
#define APP_SIM_H

#include "mem.h"
#include <dlfcn.h>

#define CU_CALLS(X)                                                                 \
    X(cuInit, (unsigned))                                                           \
    X(cuCtxCreate_v2, (void **, unsigned, int))                                     \
    X(cuCtxDestroy_v2, (void *))                                                    \
    X(cuCtxGetCurrent, (void **))                                                   \
    X(cuCtxSetCurrent, (void *))                                                    \
    X(cuCtxSynchronize, (void))                                                     \
    X(cuDevicePrimaryCtxGetState, (int, unsigned *, int *))                         \
    X(cuMemAlloc_v2, (uint64_t *, size_t))                                          \
    X(cuMemFree_v2, (uint64_t))                                                     \
    X(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t))                            \
    X(cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                                  \
    X(simcuda_arm, (const char *))                                                  \
    X(simcuda_fired, (void))

#define X(name, parameters) int (*name) parameters;
static struct {
    CU_CALLS(X)
    size_t (*simcuda_live)(const char *, size_t *);
    unsigned long (*simcuda_calls)(const char *);
} cu CASE_UNUSED;
#undef X

static CASE_UNUSED void *cu_symbol(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    CHECK(symbol != NULL, "no %s in libcuda.so.1", name);
    return symbol;
}

static CASE_UNUSED void cu_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    CHECK(library != NULL, "no libcuda.so.1: %s", dlerror());
#define X(name, parameters) *(void **)&cu.name = cu_symbol(library, #name);
    CU_CALLS(X)
#undef X
    *(void **)&cu.simcuda_live = cu_symbol(library, "simcuda_live");
    *(void **)&cu.simcuda_calls = cu_symbol(library, "simcuda_calls");
    CHECK(cu.cuInit(0) == 0, "cuInit");
}

/* a driver call of the program's own, which has to succeed */
#define CU_OK(call)                                      \
    do {                                                 \
        int cu_rc_ = (call);                             \
        if (cu_rc_ != 0)                                 \
            FAIL("%s returned %d", #call, cu_rc_);       \
    } while (0)

static CASE_UNUSED void *cu_current(void)
{
    void *context = NULL;
    CU_OK(cu.cuCtxGetCurrent(&context));
    return context;
}

/* device memory of the current context, filled */
static CASE_UNUSED void *cu_new(const void *bytes, size_t n)
{
    uint64_t address = 0;
    CU_OK(cu.cuMemAlloc_v2(&address, n));
    CU_OK(cu.cuMemcpyHtoD_v2(address, bytes, n));
    CU_OK(cu.cuCtxSynchronize()); /* from pageable memory the copy may come later */
    return (void *)(uintptr_t)address;
}

static CASE_UNUSED void cu_put(void *device, const void *bytes, size_t n)
{
    CU_OK(cu.cuMemcpyHtoD_v2((uint64_t)(uintptr_t)device, bytes, n));
    CU_OK(cu.cuCtxSynchronize());
}

static CASE_UNUSED void cu_get(void *bytes, const void *device, size_t n)
{
    CU_OK(cu.cuMemcpyDtoH_v2(bytes, (uint64_t)(uintptr_t)device, n));
}

#endif
