/* selftest_stream.c - what runs when.  A gate holds a stream still, so nothing
 * here depends on time. */
#include "selftest.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* long enough for anything that is not held back */
static void pause_a_little(void) { usleep(30000); }

static void *event_new(void)
{
    void *made = NULL;
    OK(cuEventCreate, &made, 0u);
    return made;
}

/* has the stream's or the default stream's work been done by itself? */
static int comes_to_pass(void *event)
{
    int i, code = 600;
    for (i = 0; i < 200 && code == 600; i++) {
        code = call(cuEventQuery, event);
        usleep(1000);
    }
    TRUE(code == 0 || code == 600);
    return code == 0;
}

static void asynchronous(void)
{
    unsigned char *to, *from;
    address device;
    void *stream;
    struct gate gate;
    begin();
    stream = stream_new(1);
    device = device_memory(4);
    to = pinned_memory(4);
    from = pinned_memory(4);
    memset(to, 1, 4);
    memset(from, 2, 4);
    gate = gate_shut(stream);
    OK(cuMemcpyHtoDAsync_v2, device, from, Z(4), stream);
    OK(cuMemcpyDtoHAsync_v2, to, device, Z(4), stream);
    memset(from, 3, 4); /* pinned memory is read when the copy runs */
    pause_a_little();
    GIVES(600, cuStreamQuery, stream);
    TRUE(to[0] == 1);
    gate_open(gate);
    OK(cuStreamSynchronize, stream);
    TRUE(to[0] == 3 && to[3] == 3);
    OK(cuStreamQuery, stream);
}

static void runs_unasked(void)
{
    volatile uint32_t *flag;
    void *stream;
    int i;
    begin();
    stream = stream_new(1);
    flag = pinned_memory(4);
    *flag = 0;
    OK(cuStreamWriteValue32_v2, stream, (address)(uintptr_t)flag, 9u, 0u);
    for (i = 0; i < 2000 && *flag != 9; i++)
        usleep(1000);
    TRUE(*flag == 9);
}

static void legacy_after_blocking(void)
{
    void *stream, *event;
    struct gate gate;
    begin();
    stream = stream_new(0);
    event = event_new();
    gate = gate_shut(stream);
    OK(cuEventRecord, event, NULL);
    pause_a_little();
    GIVES(600, cuEventQuery, event);
    gate_open(gate);
    OK(cuEventSynchronize, event);
    OK(cuStreamQuery, stream);
}

static void blocking_after_legacy(void)
{
    void *stream, *free_stream, *event, *free_event;
    struct gate gate;
    begin();
    stream = stream_new(0);
    free_stream = stream_new(1);
    event = event_new();
    free_event = event_new();
    gate = gate_shut(NULL);
    OK(cuEventRecord, event, stream);
    OK(cuEventRecord, free_event, free_stream);
    TRUE(comes_to_pass(free_event)); /* a non-blocking stream does not wait */
    GIVES(600, cuEventQuery, event);
    gate_open(gate);
    OK(cuEventSynchronize, event);
}

static void legacy_not_after_non_blocking(void)
{
    void *stream, *event;
    struct gate gate;
    unsigned char byte = 1;
    begin();
    stream = stream_new(1);
    event = event_new();
    gate = gate_shut(stream);
    OK(cuMemcpyHtoD_v2, device_memory(1), &byte, Z(1));
    OK(cuEventRecord, event, NULL);
    TRUE(comes_to_pass(event));
    GIVES(600, cuStreamQuery, stream);
    gate_open(gate);
    OK(cuCtxSynchronize, 0);
    OK(cuStreamQuery, stream);
}

static void per_thread_is_blocking(void)
{
    void *event;
    struct gate gate;
    begin();
    event = event_new();
    gate = gate_shut((void *)2);
    OK(cuEventRecord, event, (void *)1);
    pause_a_little();
    GIVES(600, cuEventQuery, event);
    gate_open(gate);
    OK(cuEventSynchronize, event);
}

static void events_across_streams(void)
{
    void *first, *second, *event, *after;
    struct gate gate;
    float ms = -1;
    begin();
    first = stream_new(1);
    second = stream_new(1);
    event = event_new();
    after = event_new();
    OK(cuEventQuery, event); /* never recorded: done */
    OK(cuStreamWaitEvent, second, event, 0u);
    GIVES(400, cuEventElapsedTime, &ms, event, after);
    gate = gate_shut(first);
    OK(cuEventRecord, event, first);
    OK(cuStreamWaitEvent, second, event, 0u);
    OK(cuEventRecord, after, second);
    pause_a_little();
    GIVES(600, cuEventQuery, after);
    GIVES(600, cuEventElapsedTime, &ms, event, after);
    gate_open(gate);
    OK(cuEventSynchronize, after);
    OK(cuEventElapsedTime, &ms, event, after);
    TRUE(ms >= 0 && ms < 10000);
    OK(cuEventDestroy_v2, event);
    OK(cuStreamDestroy_v2, first);
}

static int inside = -1;
static void host_function(void *argument)
{
    void *context;
    inside = call(cuCtxGetCurrent, &context);
    *(volatile int *)argument += 1;
}

static void host_functions(void)
{
    volatile int count = 0;
    void *stream;
    struct gate gate;
    begin();
    stream = stream_new(1);
    gate = gate_shut(stream);
    OK(cuLaunchHostFunc, stream, host_function, &count);
    OK(cuLaunchHostFunc, stream, host_function, &count);
    pause_a_little();
    TRUE(count == 0);
    gate_open(gate);
    OK(cuStreamSynchronize, stream);
    TRUE(count == 2);
}

static void host_functions_call_nothing(void)
{
    host_functions();
    TRUE(inside == 800);
}

static void slow_function(void *argument)
{
    usleep(20000);
    *(volatile int *)argument = 1;
}

/* copies with ordinary memory: to it, done at the return; from it, the
 * synchronous one is behind the stream's earlier work */
static void pageable_memory_waits(void)
{
    volatile int passed = 0;
    unsigned char byte = 0, other = 7;
    address device;
    void *stream;
    begin();
    stream = stream_new(1);
    device = device_memory(1);
    OK(cuMemsetD8Async, device, 9, Z(1), stream);
    OK(cuLaunchHostFunc, stream, slow_function, &passed);
    OK(cuMemcpyDtoHAsync_v2, &byte, device, Z(1), stream);
    TRUE(passed == 1 && byte == 9);
    passed = 0;
    OK(cuLaunchHostFunc, NULL, slow_function, &passed);
    OK(cuMemcpyHtoD_v2, device, &other, Z(1));
    TRUE(passed == 1);
    OK(cuMemcpyDtoH_v2, &byte, device, Z(1));
    TRUE(byte == 7);
}

static void kernel_and_flag(void)
{
    struct copy_arguments arguments = {.bytes = 5, .value = 12};
    void *function, *stream, *module = NULL, *apart = NULL;
    volatile uint32_t *flag;
    char *to;
    int i;
    begin();
    function = copy_kernel();
    stream = stream_new(1);
    flag = pinned_memory(4);
    to = pinned_memory(8);
    *flag = 0;
    arguments.to = (uintptr_t)to;
    arguments.from = device_memory(5);
    arguments.flag = (uintptr_t)flag;
    OK(cuMemcpyHtoD_v2, arguments.from, "hello", Z(5));
    OK(cuCtxSynchronize, 0);
    require_code(launch_copy(function, &arguments, stream), 0, __FILE__, __LINE__, "launch");
    arguments.value = 13; /* the launch has its own copy */
    for (i = 0; i < 5000 && *flag == 0; i++)
        usleep(1000);
    TRUE(*flag == 12 && memcmp(to, "hello", 5) == 0);
    { /* five parameters instead of a struct */
        void *parameters[] = {&arguments.to, &arguments.from, &arguments.bytes, &arguments.flag, &arguments.value};
        OK(cuModuleLoadData, &module, module_text);
        OK(cuModuleGetFunction, &apart, module, "copy_apart");
        memset(to, 0, 5);
        OK(cuLaunchKernel, apart, 2u, 1u, 1u, 32u, 1u, 1u, 0u, stream, parameters, NULL);
        OK(cuStreamSynchronize, stream);
        TRUE(*flag == 13 && memcmp(to, "hello", 5) == 0);
        GIVES(1, cuLaunchKernel, apart, 0u, 1u, 1u, 32u, 1u, 1u, 0u, stream, parameters, NULL);
        GIVES(1, cuLaunchKernel, apart, 1u, 65536u, 1u, 32u, 1u, 1u, 0u, stream, parameters, NULL);
        GIVES(1, cuLaunchKernel, apart, 1u, 1u, 1u, 32u, 64u, 1u, 0u, stream, parameters, NULL);
        GIVES(1, cuLaunchKernel, apart, 1u, 1u, 1u, 1025u, 1u, 1u, 0u, stream, parameters, NULL);
    }
}

static void graphs(void)
{
    struct copy_arguments arguments = {.bytes = 3};
    const void *parameters[] = {&arguments};
    struct {
        void *function;
        unsigned grid[3], block[3], shared;
        const void **parameters;
        void *extra, *kernel, *context;
    } node_parameters = {NULL, {2, 1, 1}, {32, 1, 1}, 0, parameters, NULL, NULL, NULL};
    void *graph = NULL, *node = NULL, *executable = NULL, *stream;
    char *to, *from;
    begin();
    node_parameters.function = copy_kernel();
    stream = stream_new(1);
    to = pinned_memory(6);
    from = pinned_memory(6);
    memcpy(from, "abcdef", 6);
    memcpy(to, "......", 6);
    arguments.to = (uintptr_t)to;
    arguments.from = (uintptr_t)from;
    OK(cuGraphCreate, &graph, 0u);
    OK(cuGraphAddKernelNode_v2, &node, graph, NULL, Z(0), &node_parameters);
    OK(cuGraphInstantiateWithFlags, &executable, graph, 0ull);
    arguments.to = 0; /* has no effect any more */
    OK(cuGraphLaunch, executable, stream);
    OK(cuStreamSynchronize, stream);
    TRUE(memcmp(to, "abc...", 6) == 0);
    arguments.to = (uintptr_t)to + 3;
    OK(cuGraphExecKernelNodeSetParams_v2, executable, node, &node_parameters);
    OK(cuGraphDestroy, graph);
    OK(cuGraphLaunch, executable, stream);
    OK(cuStreamSynchronize, stream);
    TRUE(memcmp(to, "abcabc", 6) == 0);
    OK(cuGraphExecDestroy, executable);
}

static void launch_fault(void)
{
    struct copy_arguments arguments = {.bytes = 1, .value = 1};
    void *function, *stream, *context;
    volatile uint32_t *flag;
    address more = 0;
    begin();
    function = copy_kernel();
    stream = stream_new(1);
    flag = pinned_memory(4);
    *flag = 0;
    arguments.to = device_memory(1);
    arguments.from = device_memory(1);
    arguments.flag = (uintptr_t)flag;
    TRUE(launch_copy(function, &arguments, stream) == 0);
    OK(cuStreamSynchronize, stream);
    TRUE(*flag == 1);
    arguments.value = 2;
    TRUE(launch_copy(function, &arguments, stream) == 0);
    GIVES(700, cuStreamSynchronize, stream);
    GIVES(700, cuStreamQuery, stream);
    GIVES(700, cuMemAlloc_v2, &more, Z(1));
    TRUE(*flag == 1);
    OK(cuCtxGetCurrent, &context);
}

static void exit_with_work(void)
{
    void *stream;
    begin();
    stream = stream_new(1);
    gate_shut(stream); /* and never opened */
    OK(cuMemsetD8Async, device_memory(4), 0, Z(4), stream);
}

static void *many(void *context)
{
    unsigned char *back = NULL, byte;
    address device;
    void *stream;
    int i;
    OK(cuCtxSetCurrent, context);
    stream = stream_new(1);
    back = pinned_memory(1);
    device = device_memory(1);
    for (i = 0; i < 300; i++) {
        byte = (unsigned char)i;
        OK(cuMemcpyHtoDAsync_v2, device, &byte, Z(1), stream);
        byte = 0; /* pageable memory is read at the call */
        OK(cuMemcpyDtoHAsync_v2, back, device, Z(1), stream);
        OK(cuStreamSynchronize, stream);
        TRUE(*back == (unsigned char)i);
    }
    OK(cuStreamDestroy_v2, stream);
    OK(cuMemFree_v2, device);
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    void *context = begin();
    int i;
    for (i = 0; i < 4; i++)
        TRUE(pthread_create(&thread[i], NULL, many, context) == 0);
    for (i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

static void stale_handles(void)
{
    void *stream, *event;
    begin();
    stream = stream_new(1);
    event = event_new();
    OK(cuStreamDestroy_v2, stream);
    OK(cuEventDestroy_v2, event);
    GIVES(400, cuStreamSynchronize, stream);
    GIVES(400, cuEventQuery, event);
    GIVES(400, cuStreamDestroy_v2, stream);
}

const struct test stream_tests[] = {
    {"asynchronous", asynchronous, NULL, 0, NULL, 1},
    {"runs_unasked", runs_unasked, NULL, 0, NULL, 1},
    {"legacy_after_blocking", legacy_after_blocking, NULL, 0, NULL, 1},
    {"blocking_after_legacy", blocking_after_legacy, NULL, 0, NULL, 1},
    {"legacy_not_after_non_blocking", legacy_not_after_non_blocking, NULL, 0, NULL, 1},
    {"per_thread_is_blocking", per_thread_is_blocking, NULL, 0, NULL, 1},
    {"events_across_streams", events_across_streams, NULL, 0, NULL, 1},
    {"host_functions", host_functions, NULL, 0, NULL, 1},
    {"host_functions_call_nothing", host_functions_call_nothing, NULL, 0, NULL, 0},
    {"pageable_memory_waits", pageable_memory_waits, NULL, 0, NULL, 1},
    {"kernel_and_flag", kernel_and_flag, NULL, 0, NULL, 0},
    {"graphs", graphs, NULL, 0, NULL, 0},
    {"launch_fault", launch_fault, "SIMCUDA_FAIL=launch-fault:2", 0, NULL, 0},
    {"exit_with_work", exit_with_work, NULL, 0, NULL, 0},
    {"threads", threads, NULL, 0, NULL, 1},
    {"stale_handles", stale_handles, NULL, 0, NULL, 0},
    {.name = NULL},
};
