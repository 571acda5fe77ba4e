/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cuda_runtime_api.h - the few functions of CUDA's run time that the MPICH suite's test programs call, over a driver
 * that is opened at run time: they then compile without CUDA and run on the simulated driver as on a real one.
 */
#ifndef CUDA_RUNTIME_API_H
#define CUDA_RUNTIME_API_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { cudaMemcpyDefault = 4, cudaMemAttachGlobal = 1 };

/* The driver's function of this name; the first call opens the driver and makes device 0's context current. */
static inline int (*cuda_driver(const char *name))()
{
    static void *library;
    int (*function)();
    if (library == NULL) {
        void *context;
        library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
        if (library == NULL || cuda_driver("cuInit")(0u) != 0 ||
            cuda_driver("cuDevicePrimaryCtxRetain")(&context, 0) != 0 || cuda_driver("cuCtxSetCurrent")(context) != 0) {
            fprintf(stderr, "no usable libcuda.so.1\n");
            exit(1);
        }
    }
    *(void **)&function = dlsym(library, name);
    if (function == NULL) {
        fprintf(stderr, "no %s in libcuda.so.1\n", name);
        exit(1);
    }
    return function;
}

/* The test programs do not look at what the run time returns: a failure ends them here. */
static inline int cuda_done(const char *name, int code)
{
    if (code != 0) {
        fprintf(stderr, "%s gave CUDA error %d\n", name, code);
        exit(1);
    }
    return code;
}
#define CUDA_DRIVER(name, ...) cuda_done(#name, cuda_driver(#name)(__VA_ARGS__))

static inline int cudaGetDeviceCount(int *count) { return CUDA_DRIVER(cuDeviceGetCount, count); }
static inline int cudaSetDevice(int device) { return device == 0 ? 0 : cuda_done("cudaSetDevice", 101); }
static inline int cudaMalloc(void **p, size_t n) { return CUDA_DRIVER(cuMemAlloc_v2, p, n ? n : 1); }
static inline int cudaMallocHost(void **p, size_t n) { return CUDA_DRIVER(cuMemHostAlloc, p, n ? n : 1, 0u); }
static inline int cudaMallocManaged(void **p, size_t n, unsigned flags)
{
    return CUDA_DRIVER(cuMemAllocManaged, p, n ? n : 1, flags);
}
static inline int cudaFree(void *p) { return CUDA_DRIVER(cuMemFree_v2, (uint64_t)(uintptr_t)p); }
static inline int cudaFreeHost(void *p) { return CUDA_DRIVER(cuMemFreeHost, p); }
static inline int cudaMemcpy(void *to, const void *from, size_t n, int kind)
{
    (void)kind;
    CUDA_DRIVER(cuMemcpy, (uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, n);
    return CUDA_DRIVER(cuCtxSynchronize, );
}

#endif
