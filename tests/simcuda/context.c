/* context.c - contexts and each thread's stack of them. */
#include "simcuda.h"

#include <stdio.h>
#include <string.h>

#define DEPTH 64

static _Thread_local struct context *stack[DEPTH];
static _Thread_local unsigned depth;

struct context *sim_current(void) { return depth > 0 ? stack[depth - 1] : NULL; }

static int is_device(CUdevice device) { return device >= 0 && device < sim.devices; }

int sim_peer_enabled(const struct context *context, int device)
{
    unsigned i;
    for (i = 0; i < SIM_MAX_PEERS; i++)
        if (context->peers[i] != NULL && context->peers[i]->device == device &&
            context->peers[i]->object.kind != SIM_DEAD)
            return 1;
    return 0;
}

static struct context *make(int device, int primary, unsigned flags)
{
    struct context *context = sim_object_new(SIM_CONTEXT_OBJECT);
    context->device = device;
    context->primary = primary;
    context->flags = flags;
    snprintf(context->maker, sizeof context->maker, "%s", sim_caller());
    context->legacy = sim_stream_new(context, 0, 0);
    context->legacy->legacy = 1;
    context->next = sim.contexts;
    sim.contexts = context;
    return context;
}

/* A context takes its streams, modules and memory along. */
static void end(struct context *context)
{
    struct context **link;
    struct stream *stream;
    sim_drop_context(context, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    for (stream = context->streams; stream != NULL; stream = stream->next)
        if (stream->object.kind != SIM_DEAD) {
            sim_object_end(stream);
            stream->gone = 1;
        }
    sim_memory_of(context);
    for (link = &sim.contexts; *link != NULL; link = &(*link)->next)
        if (*link == context) {
            *link = context->next;
            break;
        }
    sim_object_end(context);
}

/* -------------------------------------------------------- primary contexts */

SIM_CALL(cuDevicePrimaryCtxRetain, SIM_INIT, (struct context **context, CUdevice device), (context, device),
         "%d", device)
{
    struct device *at;
    if (context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    at = &sim.device[device];
    if (at->primary_users++ == 0)
        at->primary = make(device, 1, at->primary_flags);
    *context = at->primary;
    return CUDA_SUCCESS;
}

SIM_CALL(cuDevicePrimaryCtxRelease_v2, SIM_INIT, (CUdevice device), (device), "%d", device)
{
    struct device *at;
    struct context *context;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    at = &sim.device[device];
    if (at->primary_users == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--at->primary_users == 0) {
        context = at->primary;
        at->primary = NULL;
        end(context);
    }
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);

SIM_CALL(cuDevicePrimaryCtxReset_v2, SIM_INIT, (CUdevice device), (device), "%d", device)
{
    struct device *at;
    struct context *context;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    at = &sim.device[device];
    context = at->primary;
    if (context != NULL) {
        at->primary = NULL;
        at->primary_users = 0;
        end(context);
    }
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);

SIM_CALL(cuDevicePrimaryCtxGetState, SIM_INIT, (CUdevice device, unsigned *flags, int *active),
         (device, flags, active), "%d", device)
{
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (flags == NULL || active == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = sim.device[device].primary_flags;
    *active = sim.device[device].primary_users > 0;
    return CUDA_SUCCESS;
}

SIM_CALL(cuDevicePrimaryCtxSetFlags_v2, SIM_INIT, (CUdevice device, unsigned flags), (device, flags), "%d %u",
         device, flags)
{
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    sim.device[device].primary_flags = flags;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);

/* ---------------------------------------------------------- other contexts */

static CUresult push(struct context *context)
{
    if (!sim_object_is(context, SIM_CONTEXT_OBJECT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (depth == DEPTH)
        sim_trap("%d contexts pushed: a push without its pop", DEPTH);
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

SIM_CALL(cuCtxCreate_v2, SIM_INIT, (struct context **context, unsigned flags, CUdevice device),
         (context, flags, device), "%u %d", flags, device)
{
    if (context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *context = make(device, 0, flags);
    return push(*context);
}
SIM_ALIAS(cuCtxCreate, cuCtxCreate_v2);

SIM_CALL(cuCtxDestroy_v2, SIM_INIT, (struct context *context), (context), "%p", (void *)context)
{
    if (!sim_object_is(context, SIM_CONTEXT_OBJECT) || context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    end(context);
    if (sim_current() == context)
        depth--;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuCtxDestroy, cuCtxDestroy_v2);

/* --------------------------------------------------------------- the stack */

SIM_CALL(cuCtxPushCurrent_v2, SIM_INIT, (struct context *context), (context), "%p", (void *)context)
{
    return push(context);
}
SIM_ALIAS(cuCtxPushCurrent, cuCtxPushCurrent_v2);

SIM_CALL(cuCtxPopCurrent_v2, SIM_INIT, (struct context **context), (context), "%p",
         context != NULL ? (void *)*context : NULL)
{
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (context != NULL)
        *context = stack[depth];
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuCtxPopCurrent, cuCtxPopCurrent_v2);

SIM_CALL(cuCtxSetCurrent, SIM_INIT, (struct context *context), (context), "%p", (void *)context)
{
    if (context != NULL && !sim_object_is(context, SIM_CONTEXT_OBJECT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (depth > 0)
        depth--;
    return context != NULL ? push(context) : CUDA_SUCCESS;
}

SIM_CALL(cuCtxGetCurrent, SIM_INIT, (struct context **context), (context), "")
{
    if (context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *context = sim_current();
    return CUDA_SUCCESS;
}

SIM_CALL(cuCtxGetDevice, SIM_INIT, (CUdevice * device), (device), "")
{
    if (sim_current() == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *device = sim_current()->device;
    return CUDA_SUCCESS;
}

SIM_CALL(cuCtxGetFlags, SIM_CONTEXT, (unsigned *flags), (flags), "")
{
    if (flags == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = sim_current()->flags;
    return CUDA_SUCCESS;
}

SIM_CALL(cuCtxGetApiVersion, SIM_INIT, (struct context *context, unsigned *version), (context, version), "%p",
         (void *)context)
{
    if (context == NULL)
        context = sim_current();
    if (!sim_object_is(context, SIM_CONTEXT_OBJECT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
}

SIM_CALL(cuCtxSynchronize, SIM_CONTEXT, (void), (), "") { return sim_wait_context(sim_current()); }

SIM_CALL(cuCtxGetStreamPriorityRange, SIM_CONTEXT, (int *least, int *greatest), (least, greatest), "")
{
    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = -5;
    return CUDA_SUCCESS;
}

/* The limits have no meaning here; they are accepted. */
SIM_CALL(cuCtxSetLimit, SIM_CONTEXT, (int limit, size_t value), (limit, value), "%d %zu", limit, value)
{
    return limit < 0 || limit > 6 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

SIM_CALL(cuCtxGetLimit, SIM_CONTEXT, (size_t *value, int limit), (value, limit), "%d", limit)
{
    if (value == NULL || limit < 0 || limit > 6)
        return CUDA_ERROR_INVALID_VALUE;
    *value = 1024;
    return CUDA_SUCCESS;
}

SIM_CALL(cuCtxGetId, SIM_INIT, (struct context *context, unsigned long long *id), (context, id), "%p",
         (void *)context)
{
    if (context == NULL)
        context = sim_current();
    if (!sim_object_is(context, SIM_CONTEXT_OBJECT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (id == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *id = (unsigned long long)(uintptr_t)context; /* slots are never used twice */
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------- peer access */

SIM_CALL(cuCtxEnablePeerAccess, SIM_CONTEXT, (struct context *peer, unsigned flags), (peer, flags), "%p %u",
         (void *)peer, flags)
{
    struct context *context = sim_current();
    unsigned i;
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_object_is(peer, SIM_CONTEXT_OBJECT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (peer->device == context->device)
        return CUDA_ERROR_INVALID_DEVICE;
    for (i = 0; i < SIM_MAX_PEERS; i++)
        if (context->peers[i] == peer)
            return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    for (i = 0; i < SIM_MAX_PEERS; i++)
        if (context->peers[i] == NULL || context->peers[i]->object.kind == SIM_DEAD) {
            context->peers[i] = peer;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_CALL(cuCtxDisablePeerAccess, SIM_CONTEXT, (struct context *peer), (peer), "%p", (void *)peer)
{
    struct context *context = sim_current();
    unsigned i;
    if (!sim_object_is(peer, SIM_CONTEXT_OBJECT))
        return CUDA_ERROR_INVALID_CONTEXT;
    for (i = 0; i < SIM_MAX_PEERS; i++)
        if (context->peers[i] == peer) {
            context->peers[i] = NULL;
            sim_access_changed();
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
