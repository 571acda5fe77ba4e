/* copy.c - copies, by the driver's rules of when they return:
 *   - a copy to pageable host memory returns when it is done;
 *   - a copy from pageable host memory returns when the bytes are taken, which
 *     may be before they have arrived;
 *   - a call without "Async" works in the legacy stream and, where host memory
 *     takes part, returns when it is done; device to device it does not wait;
 *   - everything else returns at once. */
#include "simcuda.h"

#include <stdlib.h>
#include <string.h>

#define STAGE_MOST ((size_t)64 << 20) /* larger pageable sources are waited for */

enum side_kind { HOST, DEVICE, UNIFIED };

struct side {
    enum side_kind kind;
    uint64_t address;
    size_t pitch, slice;
    int pageable;
    struct context *context; /* that reaches the memory */
};

struct copy {
    struct operation operation;
    struct side to, from;
    size_t width, height, depth;
    unsigned char *staged; /* packed bytes of the source */
};

/* from the first byte to behind the last */
static size_t extent(const struct copy *copy, const struct side *side)
{
    return side->slice * (copy->depth - 1) + side->pitch * (copy->height - 1) + copy->width;
}

static unsigned char *resolve(const struct copy *copy, const struct side *side, const char *what)
{
    if (side->pageable)
        return (unsigned char *)(uintptr_t)side->address;
    return sim_touch(side->context, side->address, extent(copy, side), what);
}

static void move_rows(const struct copy *copy, unsigned char *to, size_t to_pitch, size_t to_slice,
                      const unsigned char *from, size_t from_pitch, size_t from_slice)
{
    size_t y, z;
    for (z = 0; z < copy->depth; z++)
        for (y = 0; y < copy->height; y++)
            memmove(to + z * to_slice + y * to_pitch, from + z * from_slice + y * from_pitch, copy->width);
}

static void run(struct operation *operation)
{
    struct copy *copy = (struct copy *)operation;
    unsigned char *to = resolve(copy, &copy->to, "copy, destination");
    if (copy->staged != NULL) {
        move_rows(copy, to, copy->to.pitch, copy->to.slice, copy->staged, copy->width, copy->width * copy->height);
        return;
    }
    move_rows(copy, to, copy->to.pitch, copy->to.slice, resolve(copy, &copy->from, "copy, source"),
              copy->from.pitch, copy->from.slice);
}

static void finish(struct operation *operation) { free(((struct copy *)operation)->staged); }

static CUresult check(const struct copy *copy, struct side *side, const char *what)
{
    struct allocation *found = sim_find(side->address);
    int device_only = found != NULL ? found->kind < SIM_PINNED_MEMORY : 0;
    side->pageable = found == NULL && !sim_is_ours(side->address);
    if (side->kind == HOST && (device_only || (found == NULL && !side->pageable)))
        return CUDA_ERROR_INVALID_VALUE;
    if (side->kind == DEVICE && side->pageable)
        return CUDA_ERROR_INVALID_VALUE;
    if (side->address == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!side->pageable)
        sim_reach(side->context, side->address, extent(copy, side), what);
    return CUDA_SUCCESS;
}

static int is_host(const struct side *side)
{
    return side->pageable || sim_find(side->address)->kind >= SIM_PINNED_MEMORY;
}

/* `copy` is on the caller's stack */
static CUresult submit(const struct copy *wanted, struct stream *stream, int wait)
{
    struct copy *copy;
    CUresult code;
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (wanted->width == 0 || wanted->height == 0 || wanted->depth == 0)
        return CUDA_SUCCESS;
    copy = malloc(sizeof *copy);
    if (copy == NULL)
        sim_trap("out of memory");
    *copy = *wanted;
    if (copy->to.context == NULL)
        copy->to.context = stream->context;
    if (copy->from.context == NULL)
        copy->from.context = stream->context;
    code = check(copy, &copy->to, "copy, destination");
    if (code == CUDA_SUCCESS)
        code = check(copy, &copy->from, "copy, source");
    if (code != CUDA_SUCCESS) {
        free(copy);
        return code;
    }
    copy->operation.run = run;
    copy->operation.finish = finish;
    wait = (wait && (is_host(&copy->to) || is_host(&copy->from))) || copy->to.pageable;
    if (copy->from.pageable && !copy->to.pageable) {
        size_t bytes = copy->width * copy->height * copy->depth;
        if (bytes > STAGE_MOST) {
            wait = 1;
        } else {
            if (wait) { /* the stream comes first, then the bytes are taken */
                code = sim_wait_stream(stream);
                if (code != CUDA_SUCCESS) {
                    free(copy);
                    return code;
                }
            }
            wait = 0;
            copy->staged = malloc(bytes);
            if (copy->staged == NULL)
                sim_trap("out of memory");
            move_rows(copy, copy->staged, copy->width, copy->width * copy->height,
                      (const unsigned char *)(uintptr_t)copy->from.address, copy->from.pitch, copy->from.slice);
        }
    }
    sim_submit(stream, &copy->operation);
    return wait ? sim_wait_stream(stream) : CUDA_SUCCESS;
}

static CUresult line(enum side_kind to_kind, uint64_t to, enum side_kind from_kind, uint64_t from, size_t bytes,
                     struct stream *stream, int wait)
{
    struct copy copy = {.to = {.kind = to_kind, .address = to, .pitch = bytes, .slice = bytes},
                        .from = {.kind = from_kind, .address = from, .pitch = bytes, .slice = bytes},
                        .width = bytes, .height = 1, .depth = 1};
    return submit(&copy, stream, wait);
}

static uint64_t number(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }

/* ------------------------------------------------------------- plain copies */

#define LEGACY_STREAM (sim_current()->legacy)
#define FORMAT "%#llx %#llx %zu"
#define VALUES(TO, FROM) (unsigned long long)(TO), (unsigned long long)(FROM), bytes

SIM_CALL(cuMemcpyHtoD_v2, SIM_CONTEXT, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes), FORMAT,
         VALUES(to, number(from)))
{
    return line(DEVICE, to, HOST, number(from), bytes, LEGACY_STREAM, 1);
}
SIM_ALIAS(cuMemcpyHtoD, cuMemcpyHtoD_v2);

SIM_CALL(cuMemcpyDtoH_v2, SIM_CONTEXT, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes), FORMAT,
         VALUES(number(to), from))
{
    return line(HOST, number(to), DEVICE, from, bytes, LEGACY_STREAM, 1);
}
SIM_ALIAS(cuMemcpyDtoH, cuMemcpyDtoH_v2);

SIM_CALL(cuMemcpyDtoD_v2, SIM_CONTEXT, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes), FORMAT,
         VALUES(to, from))
{
    return line(DEVICE, to, DEVICE, from, bytes, LEGACY_STREAM, 1);
}
SIM_ALIAS(cuMemcpyDtoD, cuMemcpyDtoD_v2);

SIM_CALL(cuMemcpy, SIM_CONTEXT, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes), FORMAT,
         VALUES(to, from))
{
    return line(UNIFIED, to, UNIFIED, from, bytes, LEGACY_STREAM, 1);
}

SIM_CALL(cuMemcpyHtoDAsync_v2, SIM_CONTEXT, (CUdeviceptr to, const void *from, size_t bytes, void *stream),
         (to, from, bytes, stream), FORMAT " %p", VALUES(to, number(from)), stream)
{
    return line(DEVICE, to, HOST, number(from), bytes, sim_stream(stream), 0);
}
SIM_ALIAS(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2);

SIM_CALL(cuMemcpyDtoHAsync_v2, SIM_CONTEXT, (void *to, CUdeviceptr from, size_t bytes, void *stream),
         (to, from, bytes, stream), FORMAT " %p", VALUES(number(to), from), stream)
{
    return line(HOST, number(to), DEVICE, from, bytes, sim_stream(stream), 0);
}
SIM_ALIAS(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2);

SIM_CALL(cuMemcpyDtoDAsync_v2, SIM_CONTEXT, (CUdeviceptr to, CUdeviceptr from, size_t bytes, void *stream),
         (to, from, bytes, stream), FORMAT " %p", VALUES(to, from), stream)
{
    return line(DEVICE, to, DEVICE, from, bytes, sim_stream(stream), 0);
}
SIM_ALIAS(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2);

SIM_CALL(cuMemcpyAsync, SIM_CONTEXT, (CUdeviceptr to, CUdeviceptr from, size_t bytes, void *stream),
         (to, from, bytes, stream), FORMAT " %p", VALUES(to, from), stream)
{
    return line(UNIFIED, to, UNIFIED, from, bytes, sim_stream(stream), 0);
}

/* The two contexts say who reaches what; peer access need not be enabled. */
static CUresult peer(uint64_t to, struct context *to_context, uint64_t from, struct context *from_context,
                     size_t bytes, struct stream *stream)
{
    struct copy copy = {
        .to = {.kind = DEVICE, .address = to, .pitch = bytes, .slice = bytes, .context = to_context},
        .from = {.kind = DEVICE, .address = from, .pitch = bytes, .slice = bytes, .context = from_context},
        .width = bytes, .height = 1, .depth = 1};
    if (!sim_object_is(to_context, SIM_CONTEXT_OBJECT) || !sim_object_is(from_context, SIM_CONTEXT_OBJECT))
        return CUDA_ERROR_INVALID_CONTEXT;
    return submit(&copy, stream, 0);
}

SIM_CALL(cuMemcpyPeer, SIM_CONTEXT,
         (CUdeviceptr to, struct context *to_context, CUdeviceptr from, struct context *from_context, size_t bytes),
         (to, to_context, from, from_context, bytes), FORMAT, VALUES(to, from))
{
    return peer(to, to_context, from, from_context, bytes, LEGACY_STREAM);
}

SIM_CALL(cuMemcpyPeerAsync, SIM_CONTEXT,
         (CUdeviceptr to, struct context *to_context, CUdeviceptr from, struct context *from_context, size_t bytes,
          void *stream),
         (to, to_context, from, from_context, bytes, stream), FORMAT " %p", VALUES(to, from), stream)
{
    return peer(to, to_context, from, from_context, bytes, sim_stream(stream));
}

/* -------------------------------------------------- rectangles and boxes */

enum { TYPE_HOST = 1, TYPE_DEVICE = 2, TYPE_UNIFIED = 4 };

/* CUDA_MEMCPY2D */
struct corner2 {
    size_t x, y;
    int type;
    const void *host;
    CUdeviceptr device;
    void *array;
    size_t pitch;
};
struct rectangle {
    struct corner2 from, to;
    size_t width, height;
};

/* CUDA_MEMCPY3D */
struct corner3 {
    size_t x, y, z, lod;
    int type;
    const void *host;
    CUdeviceptr device;
    void *array;
    void *reserved;
    size_t pitch, height;
};
struct cuboid {
    struct corner3 from, to;
    size_t width, height, depth;
};

_Static_assert(sizeof(struct rectangle) == 128 && sizeof(struct cuboid) == 200, "not cuda.h's layout");

static CUresult side_of(struct side *side, const struct corner3 *corner, const struct cuboid *box)
{
    size_t pitch = corner->pitch != 0 ? corner->pitch : corner->x + box->width;
    size_t rows = corner->height != 0 ? corner->height : corner->y + box->height;
    uint64_t base;
    switch (corner->type) {
    case TYPE_HOST:
        side->kind = HOST;
        base = number(corner->host);
        break;
    case TYPE_DEVICE:
        side->kind = DEVICE;
        base = corner->device;
        break;
    case TYPE_UNIFIED:
        side->kind = UNIFIED;
        base = corner->device;
        break;
    default: /* arrays: there are none */
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (box->height > 1 && corner->x + box->width > pitch)
        return CUDA_ERROR_INVALID_VALUE;
    if (box->depth > 1 && corner->y + box->height > rows)
        return CUDA_ERROR_INVALID_VALUE;
    if (side->kind != HOST && pitch > INT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (__builtin_mul_overflow(pitch, rows, &side->slice))
        return CUDA_ERROR_INVALID_VALUE;
    side->pitch = pitch;
    side->address = base + corner->z * side->slice + corner->y * pitch + corner->x;
    return CUDA_SUCCESS;
}

static CUresult box_copy(const struct cuboid *box, struct stream *stream, int wait)
{
    struct copy copy = {.width = box->width, .height = box->height, .depth = box->depth};
    if (box->width == 0 || box->height == 0 || box->depth == 0)
        return CUDA_SUCCESS;
    if (side_of(&copy.to, &box->to, box) != CUDA_SUCCESS || side_of(&copy.from, &box->from, box) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    return submit(&copy, stream, wait);
}

static void lift(struct corner3 *to, const struct corner2 *from)
{
    memset(to, 0, sizeof *to);
    to->x = from->x;
    to->y = from->y;
    to->type = from->type;
    to->host = from->host;
    to->device = from->device;
    to->pitch = from->pitch;
}

static CUresult rectangle_copy(const struct rectangle *flat, struct stream *stream, int wait)
{
    struct cuboid box;
    if (flat == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    lift(&box.from, &flat->from);
    lift(&box.to, &flat->to);
    box.width = flat->width;
    box.height = flat->height;
    box.depth = 1;
    return box_copy(&box, stream, wait);
}

SIM_CALL(cuMemcpy2D_v2, SIM_CONTEXT, (const struct rectangle *flat), (flat), "%p", (const void *)flat)
{
    return rectangle_copy(flat, LEGACY_STREAM, 1);
}
SIM_ALIAS(cuMemcpy2D, cuMemcpy2D_v2);

SIM_CALL(cuMemcpy2DUnaligned_v2, SIM_CONTEXT, (const struct rectangle *flat), (flat), "%p", (const void *)flat)
{
    return rectangle_copy(flat, LEGACY_STREAM, 1);
}
SIM_ALIAS(cuMemcpy2DUnaligned, cuMemcpy2DUnaligned_v2);

SIM_CALL(cuMemcpy2DAsync_v2, SIM_CONTEXT, (const struct rectangle *flat, void *stream), (flat, stream), "%p %p",
         (const void *)flat, stream)
{
    return rectangle_copy(flat, sim_stream(stream), 0);
}
SIM_ALIAS(cuMemcpy2DAsync, cuMemcpy2DAsync_v2);

SIM_CALL(cuMemcpy3D_v2, SIM_CONTEXT, (const struct cuboid *box), (box), "%p", (const void *)box)
{
    return box == NULL ? CUDA_ERROR_INVALID_VALUE : box_copy(box, LEGACY_STREAM, 1);
}
SIM_ALIAS(cuMemcpy3D, cuMemcpy3D_v2);

SIM_CALL(cuMemcpy3DAsync_v2, SIM_CONTEXT, (const struct cuboid *box, void *stream), (box, stream), "%p %p",
         (const void *)box, stream)
{
    return box == NULL ? CUDA_ERROR_INVALID_VALUE : box_copy(box, sim_stream(stream), 0);
}
SIM_ALIAS(cuMemcpy3DAsync, cuMemcpy3DAsync_v2);
