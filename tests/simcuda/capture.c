/* capture.c - capture of streams, so far as other calls notice it: what is forbidden meanwhile ends the capture. Nothing
 * is recorded; work that is given to a stream under capture is done at once. */
#include "simcuda.h"

#include <string.h>

enum mode { GLOBAL, THREAD_LOCAL, RELAXED };

static __thread enum mode own_mode = GLOBAL;
static __thread unsigned own_captures; /* not relaxed, begun by this thread */
static unsigned global_captures;       /* begun in mode GLOBAL by whomever */
static int broken;                     /* the captures under way were invalidated */
static void *captured;                 /* the one stream, which is enough for tests */
static enum mode captured_mode;

/* what cuda.h calls potentially unsafe: calls that wait for the device or that a replay could not repeat */
static const char *const unsafe[] = {"cuMemAlloc_v2",    "cuMemFree_v2",     "cuMemHostAlloc", "cuMemFreeHost",
                                     "cuMemAllocManaged", "cuModuleLoadData", "cuModuleLoadDataEx", "cuEventQuery",
                                     "cuStreamQuery"};

CUresult sim_capture_forbids(const char *name)
{
    size_t i;
    if (captured == NULL || own_mode == RELAXED)
        return CUDA_SUCCESS;
    if (own_captures == 0 && (own_mode == THREAD_LOCAL || global_captures == 0))
        return CUDA_SUCCESS;
    for (i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        if (strcmp(unsafe[i], name) == 0) {
            broken = 1;
            return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return CUDA_SUCCESS;
}

SIM_CALL(cuThreadExchangeStreamCaptureMode, SIM_INIT, (int *mode), (mode), "%d", mode != NULL ? *mode : -1)
{
    enum mode old = own_mode;
    if (mode == NULL || *mode < GLOBAL || *mode > RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    own_mode = (enum mode)*mode;
    *mode = (int)old;
    return CUDA_SUCCESS;
}

SIM_CALL(cuStreamBeginCapture_v2, SIM_CONTEXT, (void *handle, int mode), (handle, mode), "%p %d", handle, mode)
{
    if (sim_stream(handle) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (mode < GLOBAL || mode > RELAXED || captured != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    captured = handle;
    captured_mode = (enum mode)mode;
    own_captures += mode != RELAXED;
    global_captures += mode == GLOBAL;
    return CUDA_SUCCESS;
}

SIM_CALL(cuStreamEndCapture, SIM_CONTEXT, (void *handle, void **graph), (handle, graph), "%p", handle)
{
    int failed = broken;
    if (graph == NULL || captured == NULL || handle != captured)
        return CUDA_ERROR_INVALID_VALUE;
    own_captures -= captured_mode != RELAXED;
    global_captures -= captured_mode == GLOBAL;
    captured = NULL;
    broken = 0;
    *graph = NULL;
    return failed ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

SIM_CALL(cuStreamIsCapturing, SIM_CONTEXT, (void *handle, int *status), (handle, status), "%p", handle)
{
    if (sim_stream(handle) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (status == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *status = handle != captured ? 0 : broken ? 2 : 1;
    return CUDA_SUCCESS;
}
