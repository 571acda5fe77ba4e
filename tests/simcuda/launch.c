/* launch.c - kernel launches.
 *
 * A launch that the rule "launch-fault" picks crashes: the kernel does nothing
 * (so it never writes its flag) and the context is unusable from then on, as
 * after an illegal address. */
#include "simcuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct operation operation;
    int crash;
    char reads[192], writes[192]; /* what a trap says */
    struct launch launch;
};

static _Thread_local const struct run *running;

static void *translate(uint64_t address, size_t bytes, int write)
{
    return sim_touch(running->operation.stream->context, address, bytes, write ? running->writes : running->reads);
}

static void perform(struct operation *operation)
{
    const struct run *run = (const struct run *)operation;
    const struct launch *launch = &run->launch;
    if (run->crash)
        return;
    if (launch->grid[1] != 1 || launch->grid[2] != 1 || launch->block[1] != 1 || launch->block[2] != 1)
        sim_trap("kernel %s: the simulator runs one-dimensional grids only", launch->function->name);
    running = run;
    if (tempi_kernel_run(launch->function->name, launch->grid[0], launch->block[0], launch->arguments, translate) != 0)
        sim_trap("kernel %s is not in the host build of the kernels", launch->function->name);
    running = NULL;
}

static void finish(struct operation *operation)
{
    const struct run *run = (const struct run *)operation;
    if (run->crash && operation->stream->context->error == CUDA_SUCCESS)
        operation->stream->context->error = CUDA_ERROR_ILLEGAL_ADDRESS;
}

CUresult sim_launch_set(struct launch *launch, struct function *function, const unsigned grid[3],
                        const unsigned block[3], unsigned shared, void **parameters, void **extra)
{
    unsigned i;
    if (!sim_object_is(function, SIM_FUNCTION_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    for (i = 0; i < 3; i++)
        if (grid[i] == 0 || block[i] == 0 || grid[i] > (i == 0 ? 2147483647u : 65535u) ||
            block[i] > (i == 2 ? 64u : 1024u))
            return CUDA_ERROR_INVALID_VALUE;
    if ((uint64_t)block[0] * block[1] * block[2] > 1024 || shared > (unsigned)function->max_dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    if (parameters != NULL && extra != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memset(launch, 0, sizeof *launch);
    launch->function = function;
    memcpy(launch->grid, grid, sizeof launch->grid);
    memcpy(launch->block, block, sizeof launch->block);
    launch->shared = shared;
    if (function->parameters == 0)
        return CUDA_SUCCESS;
    if (parameters != NULL) {
        for (i = 0; i < function->parameters; i++) {
            if (parameters[i] == NULL)
                sim_trap("kernel %s: parameter %u is NULL", function->name, i);
            memcpy(launch->arguments + function->offset[i], parameters[i], function->size[i]);
        }
        return CUDA_SUCCESS;
    }
    if (extra != NULL) { /* BUFFER_POINTER (1), BUFFER_SIZE (2), END (0) */
        const void *buffer = NULL;
        size_t size = 0;
        for (i = 0; extra[i] != NULL; i += 2) {
            if ((uintptr_t)extra[i] == 1)
                buffer = extra[i + 1];
            if ((uintptr_t)extra[i] == 2)
                memcpy(&size, extra[i + 1], sizeof size);
        }
        if (buffer != NULL && size >= function->bytes) {
            memcpy(launch->arguments, buffer, function->bytes);
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_launch_submit(const struct launch *launch, struct stream *stream)
{
    struct run *run;
    if (stream == NULL || launch->function->module->context != stream->context)
        return CUDA_ERROR_INVALID_HANDLE;
    run = calloc(1, sizeof *run);
    if (run == NULL)
        sim_trap("out of memory");
    run->launch = *launch;
    snprintf(run->reads, sizeof run->reads, "kernel %s, read", launch->function->name);
    snprintf(run->writes, sizeof run->writes, "kernel %s, write", launch->function->name);
    run->crash = sim_fault("launch-fault") != CUDA_SUCCESS;
    run->operation.run = perform;
    run->operation.finish = finish;
    sim_submit(stream, &run->operation);
    return CUDA_SUCCESS;
}

SIM_CALL(cuLaunchKernel, SIM_CONTEXT,
         (struct function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
          unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **parameters, void **extra),
         (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, parameters, extra),
         "%s %u,%u,%u %u,%u,%u %p", sim_object_is(function, SIM_FUNCTION_OBJECT) ? function->name : "?", grid_x,
         grid_y, grid_z, block_x, block_y, block_z, stream)
{
    const unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    struct launch launch;
    CUresult code = sim_launch_set(&launch, function, grid, block, shared, parameters, extra);
    return code != CUDA_SUCCESS ? code : sim_launch_submit(&launch, sim_stream(stream));
}
