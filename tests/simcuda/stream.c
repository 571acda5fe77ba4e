/* stream.c - streams, and the small operations on them. */
#include "simcuda.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* handles with a meaning of their own */
#define LEGACY ((uintptr_t)1)
#define PER_THREAD ((uintptr_t)2)

struct stream *sim_stream_new(struct context *context, unsigned flags, int priority)
{
    struct stream *stream = sim_object_new(SIM_STREAM_OBJECT);
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority;
    stream->next = context->streams;
    context->streams = stream;
    return stream;
}

static struct stream *per_thread(struct context *context)
{
    long self = syscall(SYS_gettid);
    struct stream *stream;
    for (stream = context->streams; stream != NULL; stream = stream->next)
        if (stream->thread == self)
            return stream;
    stream = sim_stream_new(context, 0, 0);
    stream->thread = self;
    return stream;
}

struct stream *sim_stream(void *handle)
{
    if (handle == NULL || (uintptr_t)handle == LEGACY)
        return sim_current()->legacy;
    if ((uintptr_t)handle == PER_THREAD)
        return per_thread(sim_current());
    return sim_object_is(handle, SIM_STREAM_OBJECT) ? handle : NULL;
}

static CUresult create(struct stream **stream, unsigned flags, int priority)
{
    if (stream == NULL || flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    *stream = sim_stream_new(sim_current(), flags, priority);
    return CUDA_SUCCESS;
}

SIM_CALL(cuStreamCreate, SIM_CONTEXT, (struct stream **stream, unsigned flags), (stream, flags), "%u = %p", flags,
         code == CUDA_SUCCESS ? (void *)*stream : NULL)
{
    return create(stream, flags, 0);
}

SIM_CALL(cuStreamCreateWithPriority, SIM_CONTEXT, (struct stream **stream, unsigned flags, int priority),
         (stream, flags, priority), "%u %d = %p", flags, priority, code == CUDA_SUCCESS ? (void *)*stream : NULL)
{
    return create(stream, flags, priority > 0 ? 0 : priority < -5 ? -5 : priority);
}

/* returns at once; the stream ends when its work is done */
SIM_CALL(cuStreamDestroy_v2, SIM_CONTEXT, (struct stream *stream), (stream), "%p", (void *)stream)
{
    struct stream **link;
    if (!sim_object_is(stream, SIM_STREAM_OBJECT) || stream->legacy || stream->thread != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_end(stream);
    stream->gone = 1;
    if (stream->head == NULL)
        for (link = &stream->context->streams; *link != NULL; link = &(*link)->next)
            if (*link == stream) {
                *link = stream->next;
                break;
            }
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuStreamDestroy, cuStreamDestroy_v2);

SIM_CALL(cuStreamSynchronize, SIM_CONTEXT, (void *handle), (handle), "%p", handle)
{
    struct stream *stream = sim_stream(handle);
    return stream == NULL ? CUDA_ERROR_INVALID_HANDLE : sim_wait_stream(stream);
}

SIM_CALL(cuStreamQuery, SIM_CONTEXT, (void *handle), (handle), "%p", handle)
{
    struct stream *stream = sim_stream(handle);
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    return sim_stream_idle(stream) ? stream->context->error : CUDA_ERROR_NOT_READY;
}

SIM_CALL(cuStreamGetFlags, SIM_CONTEXT, (void *handle, unsigned *flags), (handle, flags), "%p", handle)
{
    struct stream *stream = sim_stream(handle);
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

SIM_CALL(cuStreamGetPriority, SIM_CONTEXT, (void *handle, int *priority), (handle, priority), "%p", handle)
{
    struct stream *stream = sim_stream(handle);
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (priority == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

SIM_CALL(cuStreamGetCtx, SIM_CONTEXT, (void *handle, struct context **context), (handle, context), "%p", handle)
{
    struct stream *stream = sim_stream(handle);
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *context = stream->context;
    return CUDA_SUCCESS;
}

/* ---------------------------------------------------------- host functions */

struct host_call {
    struct operation operation;
    void (*function)(void *);
    void (*callback)(void *, CUresult, void *);
    void *argument, *handle;
};

static void call_host(struct operation *operation)
{
    struct host_call *call = (struct host_call *)operation;
    if (call->function != NULL)
        call->function(call->argument);
    else
        call->callback(call->handle, CUDA_SUCCESS, call->argument);
}

static CUresult submit_host(void *handle, void (*function)(void *), void (*callback)(void *, CUresult, void *),
                            void *argument)
{
    struct stream *stream = sim_stream(handle);
    struct host_call *call;
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (function == NULL && callback == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    call = calloc(1, sizeof *call);
    if (call == NULL)
        sim_trap("out of memory");
    call->operation.run = call_host;
    call->function = function;
    call->callback = callback;
    call->argument = argument;
    call->handle = handle;
    sim_submit(stream, &call->operation);
    return CUDA_SUCCESS;
}

SIM_CALL(cuLaunchHostFunc, SIM_CONTEXT, (void *handle, void (*function)(void *), void *argument),
         (handle, function, argument), "%p", handle)
{
    return submit_host(handle, function, NULL, argument);
}

SIM_CALL(cuStreamAddCallback, SIM_CONTEXT,
         (void *handle, void (*callback)(void *, CUresult, void *), void *argument, unsigned flags),
         (handle, callback, argument, flags), "%p %u", handle, flags)
{
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : submit_host(handle, NULL, callback, argument);
}

/* --------------------------------------------------------- words in memory */

struct word {
    struct operation operation;
    uint64_t address, value;
    unsigned bytes, compare;
};

static uint64_t load(const struct word *word)
{
    const unsigned char *at =
        sim_reach(word->operation.stream->context, word->address, word->bytes, "cuStreamWaitValue");
    return word->bytes == 4 ? __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE)
                            : __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

static int word_ready(struct operation *operation)
{
    const struct word *word = (const struct word *)operation;
    uint64_t now = load(word), mask = word->bytes == 4 ? UINT32_MAX : UINT64_MAX;
    switch (word->compare) {
    case 0: /* GEQ, cyclic */
        return word->bytes == 4 ? (int32_t)(uint32_t)(now - word->value) >= 0 : (int64_t)(now - word->value) >= 0;
    case 1:
        return now == word->value;
    case 2:
        return (now & word->value) != 0;
    default: /* NOR */
        return (~(now | word->value) & mask) != 0;
    }
}

static void write_word(struct operation *operation)
{
    const struct word *word = (const struct word *)operation;
    unsigned char *at = sim_touch(operation->stream->context, word->address, word->bytes, "cuStreamWriteValue");
    if (word->bytes == 4)
        __atomic_store_n((uint32_t *)(void *)at, (uint32_t)word->value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint64_t *)(void *)at, word->value, __ATOMIC_RELEASE);
}

static CUresult submit_word(void *handle, uint64_t address, uint64_t value, unsigned bytes, int wait, unsigned flags)
{
    struct stream *stream = sim_stream(handle);
    struct word *word;
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (address % bytes != 0 || (sim_find(address) == NULL && !sim_is_ours(address)))
        return CUDA_ERROR_INVALID_VALUE;
    if (wait ? (flags & ~(3u | 1u << 30)) != 0 : flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    sim_reach(stream->context, address, bytes, wait ? "cuStreamWaitValue" : "cuStreamWriteValue");
    word = calloc(1, sizeof *word);
    if (word == NULL)
        sim_trap("out of memory");
    word->address = address;
    word->value = value;
    word->bytes = bytes;
    word->compare = flags & 3u;
    if (wait) {
        word->operation.ready = word_ready;
        word->operation.polled = 1;
    } else {
        word->operation.run = write_word;
    }
    sim_submit(stream, &word->operation);
    return CUDA_SUCCESS;
}

#define WORD_CALL(NAME, TYPE, BYTES, WAIT)                                                             \
    SIM_CALL(NAME##_v2, SIM_CONTEXT, (void *handle, CUdeviceptr address, TYPE value, unsigned flags),  \
             (handle, address, value, flags), "%p %#llx %llu %u", handle, (unsigned long long)address, \
             (unsigned long long)value, flags)                                                         \
    {                                                                                                  \
        return submit_word(handle, address, value, BYTES, WAIT, flags);                                \
    }                                                                                                  \
    SIM_ALIAS(NAME, NAME##_v2)

WORD_CALL(cuStreamWriteValue32, uint32_t, 4, 0);
WORD_CALL(cuStreamWriteValue64, uint64_t, 8, 0);
WORD_CALL(cuStreamWaitValue32, uint32_t, 4, 1);
WORD_CALL(cuStreamWaitValue64, uint64_t, 8, 1);
