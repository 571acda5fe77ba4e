/* state.c - the driver's global state: start, fork, end. */
#include "simcuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct sim sim = {.lock = PTHREAD_MUTEX_INITIALIZER};
struct sim_entry *sim_entries;
static uint64_t random_state = 1;
static _Thread_local void *caller_address;

void sim_lock(void) { pthread_mutex_lock(&sim.lock); }
void sim_unlock(void) { pthread_mutex_unlock(&sim.lock); }

uint64_t sim_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1du >> 16;
}

uint64_t sim_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t sim_setting(const char *name, uint64_t normal)
{
    const char *text = getenv(name);
    char *end;
    unsigned long long value;
    if (text == NULL || *text == '\0')
        return normal;
    errno = 0;
    value = strtoull(text, &end, 0);
    if (errno != 0 || *end != '\0' || *text == '-')
        sim_trap("%s=%s is not a number", name, text);
    return value;
}

void sim_trap(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "simcuda: process %d: %s\n", (int)getpid(), text);
    abort();
}

/* ------------------------------------------------------------- fork, exit */

static void before_fork(void) { sim_lock(); }
static void parent_after_fork(void) { sim_unlock(); }

/* As with the real driver, the child has no driver: every call fails. */
static void child_after_fork(void)
{
    pthread_mutex_init(&sim.lock, NULL);
    if (sim.state != SIM_FRESH)
        sim.state = SIM_FORKED;
}

static void condition(pthread_cond_t *made)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(made, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* From here on calls give DEINITIALIZED, and the workers start nothing new. */
static void at_exit(void)
{
    sim_lock();
    if (sim.state == SIM_READY) {
        sim_report_write();
        sim.state = SIM_OVER;
        pthread_cond_broadcast(&sim.changed);
    }
    sim_unlock();
}

static CUresult start(void)
{
    int i;
    if (sim.state == SIM_READY)
        return CUDA_SUCCESS;
    sim.devices = (int)sim_setting("SIMCUDA_DEVICES", 1);
    if (sim.devices > SIM_MAX_DEVICES)
        sim_trap("SIMCUDA_DEVICES can be at most %d", SIM_MAX_DEVICES);
    if (sim.devices == 0)
        return CUDA_ERROR_NO_DEVICE;
    sim.driver_version = (int)sim_setting("SIMCUDA_DRIVER", 13000);
    sim.capability = (int)sim_setting("SIMCUDA_CC", 90);
    sim.readable = sim_setting("SIMCUDA_READABLE", 0) != 0;
    sim.delay_us = sim_setting("SIMCUDA_LAZY", 1) ? (unsigned)sim_setting("SIMCUDA_DELAY_US", 50) : 0;
    sim.memory = sim_setting("SIMCUDA_MEMORY", (uint64_t)141 << 30);
    random_state = sim_setting("SIMCUDA_SEED", 1) * 0x9e3779b97f4a7c15u + 1;
    if (random_state == 0)
        random_state = 1;
    condition(&sim.changed);
    for (i = 0; i < sim.devices; i++)
        condition(&sim.device[i].work);
    pthread_atfork(before_fork, parent_after_fork, child_after_fork);
    atexit(at_exit);
    sim.state = SIM_READY;
    return CUDA_SUCCESS;
}

/* --------------------------------------------------------- the way in/out */

static CUresult admit(const struct sim_entry *entry)
{
    struct context *current;
    if (sim_on_worker)
        return CUDA_ERROR_NOT_PERMITTED; /* a host function may not call the driver */
    if (entry->need == SIM_NOTHING)
        return CUDA_SUCCESS;
    if (sim.state == SIM_OVER)
        return CUDA_ERROR_DEINITIALIZED;
    if (sim.state != SIM_READY)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (entry->need == SIM_INIT)
        return CUDA_SUCCESS;
    current = sim_current();
    if (current == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (current->object.kind == SIM_DEAD)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return current->error;
}

CUresult sim_enter(struct sim_entry *entry, void *caller)
{
    static int opened;
    CUresult code;
    sim_lock();
    caller_address = caller;
    if (!opened) {
        opened = 1;
        sim_log_open();
        sim_faults_open();
    }
    if (!entry->linked) {
        entry->linked = 1;
        entry->next = sim_entries;
        sim_entries = entry;
    }
    entry->calls++;
    code = sim_fault(entry->name);
    if (code == CUDA_SUCCESS)
        code = sim_capture_forbids(entry->name);
    return code != CUDA_SUCCESS ? code : admit(entry);
}

CUresult sim_leave(struct sim_entry *entry, CUresult code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    sim_log(entry->name, code, format, arguments);
    va_end(arguments);
    sim_unlock();
    return code;
}

const char *sim_caller(void)
{
    Dl_info where;
    const char *slash;
    if (dladdr(caller_address, &where) == 0 || where.dli_fname == NULL)
        return "?";
    slash = strrchr(where.dli_fname, '/');
    return slash != NULL ? slash + 1 : where.dli_fname;
}

SIM_CALL(cuInit, SIM_NOTHING, (unsigned flags), (flags), "%u", flags)
{
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim.state == SIM_OVER)
        return CUDA_ERROR_DEINITIALIZED;
    if (sim.state == SIM_FORKED)
        return CUDA_ERROR_NOT_INITIALIZED;
    /* A real driver takes far longer; who looks for it once a tick of the coarse clock has to find it before a context is made. */
    nanosleep(&(struct timespec){0, 12 * 1000 * 1000}, NULL);
    return start();
}
