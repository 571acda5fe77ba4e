/* queue.c - when queued operations run.
 *
 * Each device has one worker thread.  It picks at random among the streams
 * whose first operation may run: its random delay is over (or someone waits
 * for the stream), what it waits for has happened, and the default stream's
 * rule holds: work in the legacy stream comes after all earlier work in the
 * context's blocking streams, and theirs after its earlier work. */
#include "simcuda.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

_Thread_local int sim_on_worker;

#define POLL_NS 20000u /* between looks at memory that an operation waits for */

void sim_wake(int device) { pthread_cond_signal(&sim.device[device].work); }

static int blocks(const struct stream *stream) { return (stream->flags & 1u) == 0; }

/* the first operation of the stream if nothing but time keeps it back */
static struct operation *candidate(struct stream *stream, int *polled)
{
    struct operation *first = stream->head;
    const struct stream *other;
    if (first == NULL || stream->running)
        return NULL;
    if (stream->legacy) {
        for (other = stream->context->streams; other != NULL; other = other->next)
            if (other != stream && blocks(other) && other->head != NULL && other->head->order < first->order)
                return NULL;
    } else if (blocks(stream)) {
        other = stream->context->legacy;
        if (other->head != NULL && other->head->order < first->order)
            return NULL;
    }
    if (stream->context->error == CUDA_SUCCESS && first->ready != NULL && !first->ready(first)) {
        *polled |= first->polled;
        return NULL;
    }
    return first;
}

static void sleep_until(pthread_cond_t *condition, uint64_t time)
{
    struct timespec until;
    if (time == UINT64_MAX) {
        pthread_cond_wait(condition, &sim.lock);
        return;
    }
    until.tv_sec = (time_t)(time / 1000000000u);
    until.tv_nsec = (long)(time % 1000000000u);
    pthread_cond_timedwait(condition, &sim.lock, &until);
}

/* the operation to run now, or NULL and when to look again */
static struct operation *choose(int device, uint64_t *again)
{
    uint64_t now = sim_now();
    struct operation *chosen = NULL;
    unsigned seen = 0;
    int polled = 0;
    struct context *context;
    struct stream *stream;
    *again = UINT64_MAX;
    for (context = sim.contexts; context != NULL; context = context->next) {
        if (context->device != device)
            continue;
        for (stream = context->streams; stream != NULL; stream = stream->next) {
            struct operation *first = candidate(stream, &polled);
            if (first == NULL)
                continue;
            if (first->due > now && stream->waiters == 0 && context->error == CUDA_SUCCESS) {
                if (first->due < *again)
                    *again = first->due;
                continue;
            }
            if (sim_random() % ++seen == 0)
                chosen = first;
        }
    }
    if (polled && now + POLL_NS < *again)
        *again = now + POLL_NS;
    return chosen;
}

static void unlink_stream(struct stream *gone)
{
    struct stream **link;
    for (link = &gone->context->streams; *link != NULL; link = &(*link)->next)
        if (*link == gone) {
            *link = gone->next;
            return;
        }
}

static void perform(struct operation *operation)
{
    struct stream *stream = operation->stream;
    int drop = stream->context->error != CUDA_SUCCESS;
    int device;
    stream->running = 1;
    if (!drop && operation->run != NULL) {
        sim_unlock();
        operation->run(operation);
        sim_lock();
    }
    if (operation->finish != NULL)
        operation->finish(operation);
    stream->running = 0;
    stream->head = operation->next;
    if (stream->head == NULL)
        stream->tail = NULL;
    stream->completed++;
    free(operation);
    if (stream->gone && stream->head == NULL)
        unlink_stream(stream);
    pthread_cond_broadcast(&sim.changed);
    for (device = 0; device < sim.devices; device++) /* events reach across devices */
        if (device != stream->context->device && sim.device[device].working)
            sim_wake(device);
}

static void *work(void *argument)
{
    int device = (int)(intptr_t)argument;
    uint64_t again;
    sim_on_worker = 1;
    prctl(PR_SET_TIMERSLACK, 1ul, 0, 0, 0);
    sim_lock();
    while (sim.state == SIM_READY) {
        struct operation *chosen = choose(device, &again);
        if (chosen != NULL)
            perform(chosen);
        else
            sleep_until(&sim.device[device].work, again);
    }
    sim_unlock();
    return NULL;
}

static void start_worker(int device)
{
    pthread_t thread;
    pthread_attr_t detached;
    sigset_t all, before;
    if (sim.device[device].working)
        return;
    sim.device[device].working = 1;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sigfillset(&all); /* the program's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, &detached, work, (void *)(intptr_t)device) != 0)
        sim_trap("cannot start a thread");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
}

/* mostly short, now and then ten times the longest */
static uint64_t delay(void)
{
    uint64_t ns;
    if (sim.delay_us == 0)
        return 0;
    ns = sim_random() % ((uint64_t)sim.delay_us * 1000);
    return sim_random() % 32 == 0 ? 10 * ns : ns;
}

void sim_submit(struct stream *stream, struct operation *operation)
{
    int device = stream->context->device;
    operation->next = NULL;
    operation->stream = stream;
    operation->order = ++sim.order;
    operation->due = sim_now() + delay();
    if (stream->tail != NULL)
        stream->tail->next = operation;
    else
        stream->head = operation;
    stream->tail = operation;
    stream->submitted++;
    start_worker(device);
    sim_wake(device);
}

/* ---------------------------------------------------------------- waiting */

CUresult sim_wait(struct context *context, int (*done)(void *), void *what)
{
    while (!done(what)) {
        if (sim.state != SIM_READY)
            return CUDA_ERROR_DEINITIALIZED;
        pthread_cond_wait(&sim.changed, &sim.lock);
    }
    return context->error;
}

int sim_stream_idle(struct stream *stream)
{
    const struct stream *other;
    if (stream->legacy)
        for (other = stream->context->streams; other != NULL; other = other->next)
            if (blocks(other) && other->head != NULL)
                return 0;
    return stream->head == NULL;
}

/* how far each stream has to come */
struct goal {
    struct stream *stream;
    uint64_t completed;
};

struct goals {
    struct goal *list;
    size_t count;
};

static int reached(void *what)
{
    const struct goals *goals = what;
    size_t i;
    for (i = 0; i < goals->count; i++)
        if (goals->list[i].stream->completed < goals->list[i].completed)
            return 0;
    return 1;
}

/* wait for one stream of a context, with what it implies, or for all (NULL) */
static CUresult wait_for(struct context *context, const struct stream *one)
{
    struct goals goals = {NULL, 0};
    struct stream *stream;
    size_t n = 0, i;
    CUresult code;
    for (stream = context->streams; stream != NULL; stream = stream->next)
        n++;
    goals.list = malloc((n + 1) * sizeof *goals.list);
    if (goals.list == NULL)
        sim_trap("out of memory");
    for (stream = context->streams; stream != NULL; stream = stream->next)
        if (stream->head != NULL &&
            (one == NULL || stream == one || (one->legacy && blocks(stream)))) {
            goals.list[goals.count].stream = stream;
            goals.list[goals.count++].completed = stream->submitted;
            stream->waiters++;
        }
    if (goals.count > 0)
        sim_wake(context->device);
    code = sim_wait(context, reached, &goals);
    for (i = 0; i < goals.count; i++)
        goals.list[i].stream->waiters--; /* slots outlive their streams */
    free(goals.list);
    return code;
}

CUresult sim_wait_stream(struct stream *stream) { return wait_for(stream->context, stream); }
CUresult sim_wait_context(struct context *context) { return wait_for(context, NULL); }

void sim_drop_context(struct context *context, CUresult error)
{
    context->error = error;
    wait_for(context, NULL);
}
