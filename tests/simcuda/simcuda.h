/* simcuda.h - a CUDA driver without a GPU, for tests.
 *
 * The library built from this folder is called libcuda.so.1 and has the driver
 * API's symbols.  "Device" memory lies in address ranges that the CPU may not
 * touch; asynchronous work runs on a worker thread after a random delay;
 * kernels are run by tempi_kernel_run, the host build of the kernels' source.
 * What the real driver would only punish now and then (an access out of bounds
 * or after a free) is a message on stderr and an abort here.
 *
 * The one lock: sim_enter takes it, sim_leave drops it, so the body of every
 * driver call runs locked.  Whatever is declared here is called with the lock
 * held, except where it says "unlocked".  No CUDA header is used; numbers and
 * struct layouts are those of cuda.h.
 *
 * Environment, read at cuInit:
 *   SIMCUDA_DEVICES=1     number of devices; 0: cuInit gives NO_DEVICE
 *   SIMCUDA_READABLE=0    1: the CPU may touch device memory, which lets any MPI
 *                         play one that is CUDA-aware
 *   SIMCUDA_DELAY_US=50   the longest usual delay before queued work runs
 *   SIMCUDA_LAZY=1        0: no delay
 *   SIMCUDA_SEED=1        of delays, choices and addresses
 *   SIMCUDA_MEMORY        bytes a device has, 141 GiB normally
 *   SIMCUDA_CC=90, SIMCUDA_DRIVER=13000   compute capability, driver version
 *   SIMCUDA_FAIL          calls that fail: faults.c
 *   SIMCUDA_LOG=path      one line a call: log.c
 *   SIMCUDA_REPORT=path   what is alive at exit: report.c
 * For tests, by dlsym: simcuda_arm, simcuda_fired, simcuda_calls (faults.c),
 * simcuda_report, simcuda_live (report.c). */
#ifndef SIMCUDA_H
#define SIMCUDA_H

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_EXPORT __attribute__((visibility("default")))

/* ------------------------------------------------------- driver API types */

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
    CUDA_ERROR_INVALID_PTX = 218,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
    CUDA_ERROR_UNKNOWN = 999
};

/* -------------------------------------------------- what the kernels offer */

/* kernels/host.c: run every (block, thread) of a kernel; 0, or nonzero for an
 * unknown name.  translate may be called for each access. */
int tempi_kernel_run(const char *name, unsigned grid, unsigned block, const void *args,
                     void *(*translate)(uint64_t address, size_t bytes, int write));

/* ----------------------------------------------------------------- objects */

enum sim_kind {
    SIM_DEAD = 0,
    SIM_CONTEXT_OBJECT,
    SIM_STREAM_OBJECT,
    SIM_EVENT_OBJECT,
    SIM_MODULE_OBJECT,
    SIM_FUNCTION_OBJECT,
    SIM_GRAPH_OBJECT,
    SIM_NODE_OBJECT,
    SIM_EXEC_OBJECT,
    SIM_KINDS
};

/* every handle points to one of these; slots are never used twice, so a stale
 * handle is always found out */
struct sim_object {
    enum sim_kind kind;
};

void *sim_object_new(enum sim_kind kind);
void sim_object_end(void *object);
int sim_object_is(const void *handle, enum sim_kind kind); /* any pointer value may be asked about */
unsigned sim_object_count(enum sim_kind kind);

/* ------------------------------------------------------------ driver state */

#define SIM_MAX_DEVICES 16
#define SIM_MAX_PEERS 32

struct stream;

struct context {
    struct sim_object object;
    int device;
    int primary;
    unsigned flags;
    CUresult error;              /* sticky: a kernel crashed here */
    struct stream *legacy;       /* the default stream, handles 0 and 1 */
    struct stream *streams;      /* every stream with this context, the legacy one too */
    struct context *peers[SIM_MAX_PEERS];
    char maker[64];              /* file name of the object that made the context */
    struct context *next;
};

struct device {
    struct context *primary;
    unsigned primary_users;
    unsigned primary_flags;
    size_t used;                 /* bytes of live cuMemAlloc memory */
    int working;                 /* its worker thread runs */
    pthread_cond_t work;         /* what the worker waits for */
};

enum sim_state { SIM_FRESH, SIM_READY, SIM_OVER, SIM_FORKED };

struct sim {
    pthread_mutex_t lock;
    pthread_cond_t changed;      /* some operation has been completed */
    enum sim_state state;
    int devices;
    int driver_version;          /* 1000 * major + 10 * minor */
    int capability;              /* 10 * major + minor */
    int readable;                /* the CPU may touch device memory */
    unsigned delay_us;
    size_t memory;               /* bytes a device has */
    struct device device[SIM_MAX_DEVICES];
    struct context *contexts;
    uint64_t order;              /* operations submitted so far */
};
extern struct sim sim;

void sim_lock(void);
void sim_unlock(void);
uint64_t sim_random(void);
uint64_t sim_now(void);                                  /* nanoseconds; unlocked */
uint64_t sim_setting(const char *name, uint64_t normal); /* a number from the environment; unlocked */
/* say what the program did wrong and abort; unlocked or locked */
void sim_trap(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---------------------------------------------------------- the way in/out */

enum sim_need { SIM_NOTHING, SIM_INIT, SIM_CONTEXT };

struct sim_entry {
    const char *name;
    enum sim_need need;
    unsigned long calls;
    int linked;
    struct sim_entry *next;
};

/* Takes the lock; counts the call; gives the code that the call has to return
 * without doing its work, or 0. */
CUresult sim_enter(struct sim_entry *entry, void *caller);
/* Writes the log line, drops the lock. */
CUresult sim_leave(struct sim_entry *entry, CUresult code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* file name of the shared object that made the present call */
const char *sim_caller(void);

/* SIM_CALL(name, need, (parameters), (arguments), "log format", ...) { body } */
#define SIM_CALL(NAME, NEED, PARAMETERS, ARGUMENTS, ...)                                  \
    static CUresult NAME##_body PARAMETERS;                                               \
    SIM_EXPORT CUresult NAME PARAMETERS;                                                  \
    CUresult NAME PARAMETERS                                                              \
    {                                                                                     \
        static struct sim_entry entry = {#NAME, NEED, 0, 0, NULL};                        \
        CUresult code = sim_enter(&entry, __builtin_return_address(0));                   \
        if (code == CUDA_SUCCESS)                                                         \
            code = NAME##_body ARGUMENTS;                                                 \
        return sim_leave(&entry, code, __VA_ARGS__);                                      \
    }                                                                                     \
    static CUresult NAME##_body PARAMETERS

/* a second symbol for the same function */
#define SIM_ALIAS(NEW, OLD) \
    extern __typeof__(OLD) NEW __attribute__((alias(#OLD), visibility("default")))

/* faults.c: the code to return instead of working, or 0 */
CUresult sim_fault(const char *name);
void sim_faults_open(void);
/* capture.c: the code of a call that a capture under way forbids, or 0 */
CUresult sim_capture_forbids(const char *name);
/* log.c */
void sim_log_open(void);
void sim_log(const char *name, CUresult code, const char *format, va_list arguments);
extern struct sim_entry *sim_entries;
int sim_same_name(const char *entry, const char *asked, size_t length); /* _v2 and the like do not count */

/* report.c: at the end of the process */
void sim_report_write(void);

/* ----------------------------------------------------------------- context */

struct context *sim_current(void); /* this thread's, NULL for none */
int sim_peer_enabled(const struct context *context, int device);

/* ------------------------------------------------------------------ memory */

enum sim_memory { SIM_DEVICE_MEMORY, SIM_IPC_MEMORY, SIM_PINNED_MEMORY, SIM_REGISTERED_MEMORY, SIM_MANAGED_MEMORY, SIM_MEMORIES };

struct allocation {
    uint64_t base;
    size_t size;
    enum sim_memory kind;
    struct context *context;
    int device;
    unsigned flags;
    unsigned char *alias;        /* where the simulator itself may touch it */
    uint64_t id;
    int exported;                /* an IPC handle exists */
    int users;                   /* of an IPC mapping */
    uint64_t origin[3];          /* of an IPC mapping: process, file, offset */
};

#define SIM_FRESH_BYTE 0xA5
#define SIM_FREED_BYTE 0xDD

struct allocation *sim_find(uint64_t address);
struct allocation *sim_ipc_find(const uint64_t origin[3]);
/* does any allocation share a byte with [address, address + size)? */
int sim_overlaps(uint64_t address, size_t size);
/* is it an address that only this driver hands out? */
int sim_is_ours(uint64_t address);
/* new memory, or NULL when there is no room; fd >= 0: of that file, at that offset */
struct allocation *sim_allocate(enum sim_memory kind, int device, size_t size, int fd, uint64_t offset);
struct allocation *sim_register(void *address, size_t size);
void sim_release(struct allocation *allocation);
void sim_memory_of(struct context *context); /* its memory ends with a context */
void sim_access_changed(void); /* forget what earlier accesses have proved */
int sim_device_file(int device, uint64_t address, uint64_t *offset);
unsigned sim_memory_count(enum sim_memory kind, size_t *bytes);
/* where the simulator may touch [address, address + size) for work of
 * `context`; traps unless all of it is live and reachable. */
unsigned char *sim_reach(struct context *context, uint64_t address, size_t size, const char *what);
/* the same, unlocked */
unsigned char *sim_touch(struct context *context, uint64_t address, size_t size, const char *what);

/* ----------------------------------------------------- streams, operations */

struct event;

struct operation {
    struct operation *next;
    struct stream *stream;
    uint64_t order;              /* of submission, over all streams */
    uint64_t due;                /* not before this time unless someone waits */
    int (*ready)(struct operation *);  /* NULL: always; locked */
    int polled;                  /* `ready` looks at memory that changes silently */
    void (*run)(struct operation *);   /* unlocked, on the worker thread; NULL: nothing */
    void (*finish)(struct operation *); /* locked, after run or instead of it; NULL: nothing */
};

struct stream {
    struct sim_object object;
    struct context *context;
    unsigned flags;              /* 1: non-blocking */
    int priority;
    int legacy;
    long thread;                 /* a per-thread default stream's owner, or 0 */
    int gone;                    /* destroyed: leaves once it is empty */
    int running;
    unsigned waiters;
    struct operation *head, *tail;
    uint64_t submitted, completed;
    struct stream *next;
};

/* the stream for a handle (0, 1, 2 too), or NULL */
struct stream *sim_stream(void *handle);
struct stream *sim_stream_new(struct context *context, unsigned flags, int priority);
/* queue an operation (from malloc; freed after it ran) */
void sim_submit(struct stream *stream, struct operation *operation);
/* wait for what was submitted so far; gives the sticky error or 0 */
CUresult sim_wait_stream(struct stream *stream);
CUresult sim_wait_context(struct context *context);
/* this thread runs an operation of the simulator's */
extern _Thread_local int sim_on_worker;
/* wait until done(what); gives 0, the sticky error of context, or "deinitialised" */
CUresult sim_wait(struct context *context, int (*done)(void *), void *what);
/* what was submitted to the stream (for a legacy stream: and to all that block) is done */
int sim_stream_idle(struct stream *stream);
/* let a context's work end unfinished */
void sim_drop_context(struct context *context, CUresult error);
/* the queue of a device has changed, or how urgent it is */
void sim_wake(int device);

/* ------------------------------------------------------------------ kernels */

struct module {
    struct sim_object object;
    struct context *context;
    char *text;
    struct function *functions;
};

struct function {
    struct sim_object object;
    struct module *module;
    char name[160];
    unsigned parameters;
    size_t offset[16], size[16]; /* in the parameter space */
    size_t bytes;
    int max_dynamic_shared;
    struct function *next;
};

/* one launch, with its own copy of the parameters */
struct launch {
    struct function *function;
    unsigned grid[3], block[3], shared;
    _Alignas(16) unsigned char arguments[4096];
};

CUresult sim_launch_set(struct launch *launch, struct function *function, const unsigned grid[3],
                        const unsigned block[3], unsigned shared, void **parameters, void **extra);
CUresult sim_launch_submit(const struct launch *launch, struct stream *stream);

#endif
