/* selftest_driver.c - start and end, contexts, modules, faults, processes. */
#include "selftest.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void nothing_before_init(void)
{
    int number = -1;
    address device;
    OK(cuDriverGetVersion, &number);
    TRUE(number >= 12000);
    GIVES(3, cuDeviceGetCount, &number);
    GIVES(3, cuMemAlloc_v2, &device, Z(1));
    GIVES(1, cuInit, 1u);
    OK(cuInit, 0u);
    OK(cuDeviceGetCount, &number);
    TRUE(number >= 1);
}

static void no_context(void)
{
    address device = 0;
    void *stream = NULL, *context = (void *)1;
    int number;
    OK(cuInit, 0u);
    GIVES(201, cuMemAlloc_v2, &device, Z(1));
    GIVES(201, cuStreamCreate, &stream, 1u);
    GIVES(201, cuCtxGetDevice, &number);
    GIVES(201, cuCtxSynchronize, 0);
    GIVES(201, cuCtxPopCurrent_v2, &context);
    OK(cuCtxGetCurrent, &context);
    TRUE(context == NULL);
}

static void context_stack(void)
{
    void *primary = begin(), *other = NULL, *got = NULL;
    int device = -1;
    OK(cuCtxCreate_v2, &other, 0u, 0);
    OK(cuCtxGetCurrent, &got);
    TRUE(got == other && other != primary);
    OK(cuCtxPushCurrent_v2, primary);
    OK(cuCtxGetDevice, &device);
    TRUE(device == 0);
    OK(cuCtxPopCurrent_v2, &got);
    TRUE(got == primary);
    OK(cuCtxDestroy_v2, other);
    OK(cuCtxGetCurrent, &got);
    TRUE(got == primary);
    OK(cuCtxSetCurrent, NULL);
    OK(cuCtxGetCurrent, &got);
    TRUE(got == NULL);
}

static void primary_context(void)
{
    void *context = NULL, *again = NULL;
    unsigned flags;
    int active = -1;
    OK(cuInit, 0u);
    OK(cuDevicePrimaryCtxGetState, 0, &flags, &active);
    TRUE(active == 0);
    OK(cuDevicePrimaryCtxRetain, &context, 0);
    OK(cuDevicePrimaryCtxRetain, &again, 0);
    TRUE(context == again);
    OK(cuDevicePrimaryCtxRelease_v2, 0);
    OK(cuDevicePrimaryCtxGetState, 0, &flags, &active);
    TRUE(active == 1);
    OK(cuDevicePrimaryCtxRelease_v2, 0);
    OK(cuDevicePrimaryCtxGetState, 0, &flags, &active);
    TRUE(active == 0);
    GIVES(101, cuDevicePrimaryCtxRetain, &context, 99);
}

static void context_takes_all(void)
{
    void *context = begin();
    address device = device_memory(10);
    unsigned type;
    OK(cuMemsetD8Async, device, 0, Z(10), stream_new(1));
    OK(cuDevicePrimaryCtxRelease_v2, 0);
    GIVES(709, cuMemAlloc_v2, &device, Z(1));
    GIVES(201, cuCtxPushCurrent_v2, context);
    GIVES(1, cuPointerGetAttribute, &type, 2, device);
}

static void devices(void)
{
    char name[64] = "";
    int number = 0, major = 0, minor = -1;
    OK(cuInit, 0u);
    OK(cuDeviceGet, &number, 0);
    GIVES(101, cuDeviceGet, &number, 99);
    OK(cuDeviceGetName, name, 64, 0);
    TRUE(strstr(name, "H200") != NULL);
    OK(cuDeviceGetAttribute, &number, 16, 0);
    TRUE(number == 132);
    OK(cuDeviceGetAttribute, &major, 75, 0);
    OK(cuDeviceGetAttribute, &minor, 76, 0);
    TRUE(major == 9 && minor == 0);
    OK(cuDeviceGetAttribute, &number, 41, 0);
    TRUE(number == 1);
    OK(cuDeviceGetAttribute, &number, 89, 0);
    TRUE(number == 1);
}

static void modules(void)
{
    void *module = NULL, *function = NULL, *again = NULL;
    int number = 0, block = 0;
    begin();
    GIVES(200, cuModuleLoadData, &module, "not PTX at all");
    GIVES(222, cuModuleLoadData, &module, ".version 99.0\n.target sm_60\n.address_size 64\n.entry a() { ret; }\n");
    OK(cuModuleLoadDataEx, &module, module_text, 0u, NULL, NULL);
    GIVES(500, cuModuleGetFunction, &function, module, "cop");
    GIVES(500, cuModuleGetFunction, &function, module, "copy_param_0");
    OK(cuModuleGetFunction, &function, module, "copy");
    OK(cuModuleGetFunction, &again, module, "copy");
    TRUE(function == again);
    OK(cuFuncGetAttribute, &number, 0, function);
    TRUE(number == 1024);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor, &number, function, 256, Z(0));
    TRUE(number == 8);
    OK(cuOccupancyMaxPotentialBlockSize, &number, &block, function, NULL, Z(0), 0);
    TRUE(block == 1024 && number == 264);
    OK(cuModuleUnload, module);
}

static void module_for_newer_device(void)
{
    void *module = NULL;
    begin();
    GIVES(209, cuModuleLoadData, &module, module_text);
}

static void unknown_kernel(void)
{
    void *module = NULL, *function = NULL;
    begin();
    OK(cuModuleLoadData, &module, module_text);
    OK(cuModuleGetFunction, &function, module, "unknown");
    OK(cuLaunchKernel, function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, NULL, NULL, NULL);
    call(cuCtxSynchronize, 0);
}

static void procedures(void)
{
    void *function = NULL;
    int status = -1, version = 0;
    OK(cuGetProcAddress_v2, "cuMemAlloc", &function, 12000, (uint64_t)0, &status);
    TRUE(function == symbol("cuMemAlloc_v2") && status == 0);
    OK(cuGetProcAddress, "cuDriverGetVersion", &function, 12000, (uint64_t)0);
    TRUE(((int (*)(int *))function)(&version) == 0 && version >= 12000);
    GIVES(500, cuGetProcAddress, "cuNothing", &function, 12000, (uint64_t)0);
    TRUE(function == NULL);
}

static void error_names(void)
{
    const char *text = NULL;
    OK(cuGetErrorName, 700, &text);
    TRUE(strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    OK(cuGetErrorString, 2, &text);
    TRUE(strcmp(text, "out of memory") == 0);
    GIVES(1, cuGetErrorName, 12345, &text);
}

/* ------------------------------------------------------------------ faults */

static int arm(const char *text) { return ((int (*)(const char *))symbol("simcuda_arm"))(text); }
static int fired(void) { return ((int (*)(void))symbol("simcuda_fired"))(); }
static unsigned long calls(const char *name)
{
    return ((unsigned long (*)(const char *))symbol("simcuda_calls"))(name);
}

static void faults(void)
{
    address device = 0;
    unsigned long before;
    begin(); /* the environment's rule: the second allocation */
    OK(cuMemAlloc_v2, &device, Z(8));
    GIVES(2, cuMemAlloc_v2, &device, Z(8));
    OK(cuMemAlloc_v2, &device, Z(8));
    TRUE(fired() == 1);
    before = calls("cuMemAlloc");
    TRUE(before == 3);
    TRUE(arm("cuMemsetD8:1,cuMemFree:2*:701") == 0);
    GIVES(999, cuMemsetD8_v2, device, 0, Z(8));
    OK(cuMemsetD8_v2, device, 0, Z(8));
    OK(cuCtxSynchronize, 0);
    OK(cuMemFree_v2, device);
    device = device_memory(8);
    GIVES(701, cuMemFree_v2, device);
    GIVES(701, cuMemFree_v2, device);
    TRUE(fired() == 3);
    TRUE(arm("any:3:4") == 0);
    OK(cuMemsetD8_v2, device, 0, Z(8));
    OK(cuCtxSynchronize, 0);
    GIVES(4, cuMemFree_v2, device);
    OK(cuMemFree_v2, device); /* the failed ones did nothing */
    TRUE(arm("any@selftest:1,cuMemAlloc@elsewhere:1") == 0);
    GIVES(2, cuMemAlloc_v2, &device, Z(8));
    OK(cuMemAlloc_v2, &device, Z(8));
    TRUE(arm("nonsense") == -1 && arm("a:0") == -1 && arm("a:1:x") == -1);
    TRUE(arm(NULL) == 0 && fired() == 0);
    TRUE(calls("any") > calls("cuMemAlloc") && calls("cuMemAlloc") == before + 3);
}

static void log_and_report(void)
{
    char name[] = "/tmp/simcuda-log-XXXXXX", line[512], want[64];
    int file = mkstemp(name), found = 0;
    size_t bytes = 0;
    const char *(*report)(void);
    size_t (*live)(const char *, size_t *);
    address device;
    FILE *log;
    TRUE(file >= 0);
    setenv("SIMCUDA_LOG", name, 1);
    begin();
    report = (const char *(*)(void))symbol("simcuda_report");
    live = (size_t (*)(const char *, size_t *))symbol("simcuda_live");
    device = device_memory(1234);
    stream_new(1);
    TRUE(live("device", &bytes) == 1 && bytes == 1234);
    TRUE(live("stream", NULL) == 1 && live("context", NULL) == 1);
    snprintf(line, sizeof line, "%d memory device 1 1234\n", (int)getpid());
    TRUE(strstr(report(), line) != NULL);
    TRUE(strstr(report(), "context device 0 primary made by selftest\n") != NULL);
    OK(cuMemFree_v2, device);
    TRUE(live("device", &bytes) == 0 && bytes == 0);
    GIVES(1, cuMemFree_v2, device);
    log = fopen(name, "r");
    TRUE(log != NULL);
    snprintf(want, sizeof want, "selftest cuMemFree_v2 %#llx -> 1\n", (unsigned long long)device);
    while (fgets(line, sizeof line, log) != NULL)
        found += atoi(line) == (int)getpid() && strstr(line, want) != NULL;
    TRUE(found == 1);
    fclose(log);
    unlink(name);
}

static char report_name[] = "/tmp/simcuda-report-XXXXXX";

static void check_report(void)
{
    char text[4096] = "", want[64];
    FILE *report = fopen(report_name, "r");
    TRUE(report != NULL);
    TRUE(fread(text, 1, sizeof text - 1, report) > 0);
    snprintf(want, sizeof want, "%d memory pinned 1 77\n", (int)getpid());
    TRUE(strstr(text, want) != NULL);
    unlink(report_name);
}

static void report_at_exit(void)
{
    TRUE(mkstemp(report_name) >= 0);
    setenv("SIMCUDA_REPORT", report_name, 1);
    atexit(check_report); /* runs after the driver's own handler */
    begin();
    pinned_memory(77);
}

/* --------------------------------------------------------------- processes */

static void fork_and_exit(void)
{
    void *context = begin(), *got;
    unsigned char byte = 0;
    address device = device_memory(4);
    int status = -1;
    pid_t child;
    OK(cuMemsetD8Async, device, 5, Z(4), stream_new(1));
    child = fork();
    if (child == 0) {
        GIVES(3, cuCtxGetCurrent, &got);
        GIVES(3, cuInit, 0u);
        exit(0);
    }
    TRUE(waitpid(child, &status, 0) == child && status == 0);
    OK(cuCtxSynchronize, 0);
    OK(cuMemcpyDtoH_v2, &byte, device, Z(1));
    TRUE(byte == 5 && context != NULL);
}

/* waits and exit handlers after the driver's end must come back */
static void late_call(void) { GIVES(4, cuCtxSynchronize, 0); }
static void call_at_exit(void)
{
    atexit(late_call); /* runs after the driver's own handler */
    begin();
    gate_shut(stream_new(1));
}

static void interprocess(void)
{
    struct {
        char bytes[64];
    } handle;
    int down[2], up[2], status = -1;
    address device = 0, mapped = 0;
    char text[8] = "", word = 0;
    unsigned type = 0;
    pid_t child;
    TRUE(pipe(down) == 0 && pipe(up) == 0);
    child = fork();
    begin();
    if (child == 0) {
        TRUE(read(down[0], &handle, 64) == 64);
        OK(cuIpcOpenMemHandle_v2, &mapped, handle, 1u);
        OK(cuMemcpyDtoH_v2, text, mapped, Z(6));
        TRUE(memcmp(text, "parent", 6) == 0);
        OK(cuMemcpyHtoD_v2, mapped, "child!", Z(6));
        OK(cuCtxSynchronize, 0);
        OK(cuIpcCloseMemHandle, mapped);
        GIVES(1, cuPointerGetAttribute, &type, 2, mapped);
        TRUE(write(up[1], "x", 1) == 1);
        exit(0);
    }
    device = device_memory(100);
    OK(cuMemcpyHtoD_v2, device, "parent", Z(6));
    OK(cuCtxSynchronize, 0);
    OK(cuIpcGetMemHandle, &handle, device);
    GIVES(201, cuIpcOpenMemHandle_v2, &mapped, handle, 1u);
    TRUE(write(down[1], &handle, 64) == 64);
    close(up[1]); /* so that a child that fails is seen */
    TRUE(read(up[0], &word, 1) == 1 || waitpid(child, &status, 0) == -1);
    TRUE(waitpid(child, &status, 0) == child && status == 0);
    OK(cuMemcpyDtoH_v2, text, device, Z(6));
    TRUE(memcmp(text, "child!", 6) == 0);
}

/* ------------------------------------------------------------------- peers */

static void *second_context(void)
{
    void *context = NULL;
    OK(cuDevicePrimaryCtxRetain, &context, 1);
    return context;
}

static void peers(void)
{
    void *first = begin(), *second = second_context();
    struct copy_arguments arguments = {.bytes = 4};
    address here = device_memory(4), there = 0;
    char text[5] = "";
    int can = 0, ordinal = -1;
    void *function = copy_kernel();
    OK(cuDeviceCanAccessPeer, &can, 0, 1);
    TRUE(can == 1);
    OK(cuCtxPushCurrent_v2, second);
    there = device_memory(4);
    OK(cuMemcpyHtoD_v2, there, "peer", Z(4));
    OK(cuCtxSynchronize, 0);
    OK(cuCtxPopCurrent_v2, NULL);
    OK(cuPointerGetAttribute, &ordinal, 9, there);
    TRUE(ordinal == 1);
    OK(cuMemcpyPeer, here, first, there, second, Z(4));
    OK(cuMemcpyDtoH_v2, text, here, Z(4));
    TRUE(strcmp(text, "peer") == 0);
    OK(cuCtxEnablePeerAccess, second, 0u);
    GIVES(704, cuCtxEnablePeerAccess, second, 0u);
    arguments.to = there;
    arguments.from = here;
    arguments.bytes = 2;
    TRUE(launch_copy(function, &arguments, NULL) == 0);
    OK(cuCtxSynchronize, 0);
    OK(cuCtxPushCurrent_v2, second);
    GIVES(400, cuLaunchKernel, function, 2u, 1u, 1u, 32u, 1u, 1u, 0u, NULL, (void *[]){&arguments}, NULL);
}

static void peer_not_enabled(void)
{
    struct copy_arguments arguments = {.bytes = 4};
    void *function;
    begin();
    function = copy_kernel();
    arguments.to = device_memory(4);
    OK(cuCtxPushCurrent_v2, second_context());
    arguments.from = device_memory(4);
    OK(cuCtxPopCurrent_v2, NULL);
    launch_copy(function, &arguments, NULL);
    call(cuCtxSynchronize, 0);
}

const struct test driver_tests[] = {
    {"nothing_before_init", nothing_before_init, NULL, 0, NULL, 1},
    {"no_context", no_context, NULL, 0, NULL, 1},
    {"context_stack", context_stack, NULL, 0, NULL, 1},
    {"primary_context", primary_context, NULL, 0, NULL, 1},
    {"context_takes_all", context_takes_all, NULL, 0, NULL, 0},
    {"devices", devices, NULL, 0, NULL, 1},
    {"modules", modules, NULL, 0, NULL, 1},
    {"module_for_newer_device", module_for_newer_device, "SIMCUDA_CC=50", 0, NULL, 0},
    {"unknown_kernel", unknown_kernel, NULL, SIGABRT, "kernel unknown is not in the host build", 0},
    {"procedures", procedures, NULL, 0, NULL, 0},
    {"error_names", error_names, NULL, 0, NULL, 1},
    {"faults", faults, "SIMCUDA_FAIL=cuMemAlloc:2", 0, NULL, 0},
    {"bad_fault_rule", faults, "SIMCUDA_FAIL=cuMemAlloc", SIGABRT, "SIMCUDA_FAIL", 0},
    {"log_and_report", log_and_report, NULL, 0, NULL, 0},
    {"report_at_exit", report_at_exit, NULL, 0, NULL, 0},
    {"fork_and_exit", fork_and_exit, NULL, 0, NULL, 1},
    {"call_at_exit", call_at_exit, NULL, 0, NULL, 0},
    {"interprocess", interprocess, NULL, 0, NULL, 1},
    {"peers", peers, "SIMCUDA_DEVICES=2", 0, NULL, 0},
    {"peer_not_enabled", peer_not_enabled, "SIMCUDA_DEVICES=2", SIGABRT, "without peer access", 0},
    {.name = NULL},
};
