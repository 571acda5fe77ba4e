/* event.c - events: each record has a number, and is done when the stream gets there. */
#include "simcuda.h"

#include <stdlib.h>

#define DISABLE_TIMING 2u

struct event {
    struct sim_object object;
    struct context *context;
    unsigned flags;
    uint64_t recorded, completed; /* numbers of records */
    uint64_t time;                /* when the last completed one was */
    struct stream *stream;        /* of the last record */
};

struct mark {
    struct operation operation;
    struct event *event;
    uint64_t number;
};

static void reach(struct operation *operation)
{
    struct mark *mark = (struct mark *)operation;
    if (mark->number > mark->event->completed) {
        mark->event->completed = mark->number;
        mark->event->time = sim_now();
    }
}

static int passed(struct operation *operation)
{
    const struct mark *mark = (const struct mark *)operation;
    return mark->event->completed >= mark->number;
}

static struct mark *mark_new(struct event *event)
{
    struct mark *mark = calloc(1, sizeof *mark);
    if (mark == NULL)
        sim_trap("out of memory");
    mark->event = event;
    mark->number = event->recorded;
    return mark;
}

SIM_CALL(cuEventCreate, SIM_CONTEXT, (struct event **event, unsigned flags), (event, flags), "%u = %p", flags,
         code == CUDA_SUCCESS ? (void *)*event : NULL)
{
    struct event *made;
    /* BLOCKING_SYNC, DISABLE_TIMING, INTERPROCESS (only together with the one before) */
    if (event == NULL || flags > 7 || (flags & 6) == 4)
        return CUDA_ERROR_INVALID_VALUE;
    made = sim_object_new(SIM_EVENT_OBJECT);
    made->context = sim_current();
    made->flags = flags;
    *event = made;
    return CUDA_SUCCESS;
}

SIM_CALL(cuEventDestroy_v2, SIM_CONTEXT, (struct event *event), (event), "%p", (void *)event)
{
    if (!sim_object_is(event, SIM_EVENT_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_end(event);
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuEventDestroy, cuEventDestroy_v2);

static CUresult record(struct event *event, void *handle)
{
    struct stream *stream = sim_stream(handle);
    struct mark *mark;
    if (stream == NULL || !sim_object_is(event, SIM_EVENT_OBJECT) || stream->context != event->context)
        return CUDA_ERROR_INVALID_HANDLE;
    event->recorded++;
    event->stream = stream;
    mark = mark_new(event);
    mark->operation.finish = reach;
    sim_submit(stream, &mark->operation);
    return CUDA_SUCCESS;
}

SIM_CALL(cuEventRecord, SIM_CONTEXT, (struct event *event, void *handle), (event, handle), "%p %p", (void *)event,
         handle)
{
    return record(event, handle);
}

SIM_CALL(cuEventRecordWithFlags, SIM_CONTEXT, (struct event *event, void *handle, unsigned flags),
         (event, handle, flags), "%p %p %u", (void *)event, handle, flags)
{
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : record(event, handle);
}

SIM_CALL(cuEventQuery, SIM_CONTEXT, (struct event *event), (event), "%p", (void *)event)
{
    if (!sim_object_is(event, SIM_EVENT_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    return event->completed < event->recorded ? CUDA_ERROR_NOT_READY : event->context->error;
}

static int number_reached(void *what)
{
    const struct mark *mark = what;
    return mark->event->completed >= mark->number;
}

SIM_CALL(cuEventSynchronize, SIM_CONTEXT, (struct event *event), (event), "%p", (void *)event)
{
    struct mark mark = {.event = event};
    struct stream *stream;
    CUresult code;
    if (!sim_object_is(event, SIM_EVENT_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    stream = event->stream;
    mark.number = event->recorded;
    if (stream == NULL)
        return CUDA_SUCCESS;
    stream->waiters++;
    sim_wake(stream->context->device);
    code = sim_wait(event->context, number_reached, &mark);
    stream->waiters--;
    return code;
}

SIM_CALL(cuEventElapsedTime, SIM_CONTEXT, (float *milliseconds, struct event *start, struct event *end),
         (milliseconds, start, end), "%p %p", (void *)start, (void *)end)
{
    if (milliseconds == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_object_is(start, SIM_EVENT_OBJECT) || !sim_object_is(end, SIM_EVENT_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (start->recorded == 0 || end->recorded == 0 || ((start->flags | end->flags) & DISABLE_TIMING) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    if (start->completed < start->recorded || end->completed < end->recorded)
        return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)((double)(int64_t)(end->time - start->time) / 1e6);
    return CUDA_SUCCESS;
}

SIM_CALL(cuStreamWaitEvent, SIM_CONTEXT, (void *handle, struct event *event, unsigned flags), (handle, event, flags),
         "%p %p %u", handle, (void *)event, flags)
{
    struct stream *stream = sim_stream(handle);
    struct mark *mark;
    if (stream == NULL || !sim_object_is(event, SIM_EVENT_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (event->recorded == 0)
        return CUDA_SUCCESS;
    mark = mark_new(event);
    mark->operation.ready = passed;
    sim_submit(stream, &mark->operation);
    return CUDA_SUCCESS;
}
