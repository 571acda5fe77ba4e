/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * failures.c - every driver call of an operation fails once, one after another.
 *
 * The operation has to deliver the right bytes or to return an MPI error and
 * leave alone what lies outside its layout; the context that was current stays
 * so; afterwards the operation works again, and nothing has leaked.
 *
 * Prints for each operation how often it was run with failures and how often it
 * delivered in spite of them:
 *
 *     OPERATION: FAILURES failures, DELIVERED delivered
 *
 * Usage: failures [messages]
 */
#include "sim.h"

#define START 3 /* where packed bytes begin */

enum side { HOST, DEVICE };
enum what { PACK, UNPACK, SEND, RECV, SENDRECV, REPLACE };

struct operation {
    const char *name;
    enum what what;
    enum side object, packed;
    int blocks;
    int block; /* ints of one; 2 more lie between two */
};

static const struct operation operations[] = {
    {"pack device to device", PACK, DEVICE, DEVICE, 40, 3},
    {"pack device to host", PACK, DEVICE, HOST, 40, 3},
    {"pack device to host, large", PACK, DEVICE, HOST, 17, 4000},
    {"pack host to device", PACK, HOST, DEVICE, 40, 3},
    {"pack one block", PACK, DEVICE, HOST, 1, 120},
    {"unpack device to device", UNPACK, DEVICE, DEVICE, 40, 3},
    {"unpack host to device", UNPACK, DEVICE, HOST, 40, 3},
    {"unpack host to device, large", UNPACK, DEVICE, HOST, 17, 4000},
    {"unpack device to host", UNPACK, HOST, DEVICE, 40, 3},
    {"send", SEND, DEVICE, HOST, 40, 3},
    {"send one block", SEND, DEVICE, HOST, 1, 120},
    {"recv", RECV, DEVICE, HOST, 40, 3},
    {"recv one block", RECV, DEVICE, HOST, 1, 120},
    {"sendrecv", SENDRECV, DEVICE, DEVICE, 40, 3},
    {"sendrecv_replace", REPLACE, DEVICE, DEVICE, 40, 3},
};

static const char *in_force = "nothing"; /* the rule, for messages */

/* what an operation works on, in one context */
struct bench {
    const struct operation *op;
    MPI_Datatype type;
    size_t bytes, span, room; /* packed, of the object, of the packed buffer */
    unsigned char *object_image, *packed_image, *other_image, *want, *got;
    void *object, *packed, *other;
    int failures, delivered;
};

static void *buffer(enum side side, const unsigned char *image, size_t n)
{
    if (side == DEVICE)
        return cu_new(image, n);
    return memcpy(host_buf(n), image, n);
}

static void put(enum side side, void *to, const unsigned char *image, size_t n)
{
    if (side == DEVICE)
        cu_put(to, image, n);
    else
        memcpy(to, image, n);
}

static void get(enum side side, unsigned char *image, const void *from, size_t n)
{
    if (side == DEVICE)
        cu_get(image, from, n);
    else
        memcpy(image, from, n);
}

static void release(enum side side, void *p)
{
    if (side == DEVICE)
        CU_OK(cu.cuMemFree_v2((uint64_t)(uintptr_t)p));
    else
        free(p);
}

static void gather(const struct bench *b, unsigned char *packed, const unsigned char *object)
{
    size_t i, block = 4 * (size_t)b->op->block;
    for (i = 0; i < (size_t)b->op->blocks; i++)
        memcpy(packed + i * block, object + i * (block + 8), block);
}

static void scatter(const struct bench *b, unsigned char *object, const unsigned char *packed)
{
    size_t i, block = 4 * (size_t)b->op->block;
    for (i = 0; i < (size_t)b->op->blocks; i++)
        memcpy(object + i * (block + 8), packed + i * block, block);
}

static void same(const struct bench *b, const unsigned char *got, const unsigned char *want, size_t n, const char *what)
{
    size_t i;
    if (memcmp(got, want, n) == 0)
        return;
    for (i = 0; got[i] == want[i]; i++)
        ;
    FAIL("%s, %s: byte %zu of %zu is %02x, has to be %02x (%s)", b->op->name, what, i, n, got[i], want[i], in_force);
}

/* the object's bytes outside of the layout are as they were; inside, anything may be by now */
static void outside(const struct bench *b, enum side side, const void *object, const unsigned char *image)
{
    unsigned char *was = host_buf(b->span), *inside = host_buf(b->bytes);
    get(side, b->got, object, b->span);
    memcpy(was, image, b->span);
    gather(b, inside, b->got);
    scatter(b, was, inside);
    same(b, b->got, was, b->span, "outside of the layout");
    free(inside);
    free(was);
}

static void open_buffers(struct bench *b)
{
    b->object = buffer(b->op->object, b->object_image, b->span);
    b->packed = buffer(b->op->packed, b->packed_image, b->room);
    b->other = buffer(b->op->object, b->other_image, b->span);
}

static void close_buffers(struct bench *b)
{
    release(b->op->object, b->object);
    release(b->op->packed, b->packed);
    release(b->op->object, b->other);
}

static void reset(struct bench *b)
{
    put(b->op->object, b->object, b->object_image, b->span);
    put(b->op->packed, b->packed, b->packed_image, b->room);
    put(b->op->object, b->other, b->other_image, b->span);
}

/* the operation, with `rule` in force or without a failure; gives whether it delivered */
static int attempt(struct bench *b, const char *rule, int *fired)
{
    const struct operation *op = b->op;
    int rc = 0, position = START, flag, cls, end = START + (int)b->bytes;
    unsigned char *host = host_buf(b->room);
    void *current = cu_current();
    MPI_Comm comm = MPI_COMM_SELF;
    MPI_Request rq = MPI_REQUEST_NULL;
    MPI_Status st;

    reset(b);
    memcpy(host, b->packed_image, b->room);
    if (op->what == SEND)
        OK(MPI_Irecv(host, (int)b->bytes, MPI_BYTE, 0, 7, comm, &rq));
    if (op->what == RECV)
        OK(MPI_Isend(host, (int)b->bytes, MPI_BYTE, 0, 7, comm, &rq));
    if (rule != NULL)
        in_force = rule;
    CHECK(cu.simcuda_arm(rule) == 0, "no rule: %s", in_force);
    switch (op->what) {
    case PACK:
        rc = MPI_Pack(b->object, 1, b->type, b->packed, (int)b->room, &position, comm);
        break;
    case UNPACK:
        rc = MPI_Unpack(b->packed, (int)b->room, &position, b->object, 1, b->type, comm);
        break;
    case SEND:
        rc = MPI_Send(b->object, 1, b->type, 0, 7, comm);
        break;
    case RECV:
        rc = MPI_Recv(b->object, 1, b->type, 0, 7, comm, &st);
        break;
    case SENDRECV:
        rc = MPI_Sendrecv(b->object, 1, b->type, 0, 7, b->other, 1, b->type, 0, 7, comm, &st);
        break;
    case REPLACE:
        rc = MPI_Sendrecv_replace(b->object, 1, b->type, 0, 7, 0, 7, comm, &st);
        break;
    }
    *fired = cu.simcuda_fired();
    CHECK(cu.simcuda_arm(NULL) == 0, "disarm");
    CHECK(cu_current() == current, "%s: another context is current than before", op->name);

    if (rc != MPI_SUCCESS) {
        OK(MPI_Error_class(rc, &cls));
        CHECK(cls == MPI_ERR_OTHER || cls == MPI_ERR_NO_MEM, "%s: error class %d", op->name, cls);
        CHECK(position == START, "%s: the position moved", op->name);
        if (op->what == SEND) {
            OK(MPI_Cancel(&rq));
            OK(MPI_Wait(&rq, &st));
            OK(MPI_Test_cancelled(&st, &flag));
            CHECK(flag, "%s: an error, and the message was sent", op->name);
        }
        if (op->what == RECV) {
            OK(MPI_Iprobe(0, 7, comm, &flag, &st));
            if (flag)
                OK(MPI_Recv(b->got, (int)b->bytes, MPI_BYTE, 0, 7, comm, &st));
            OK(MPI_Wait(&rq, MPI_STATUS_IGNORE));
        }
        /* the message itself is lost or still unsent: no other may be there */
        OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &st));
        CHECK(!flag, "%s: a message is left", op->name);
        outside(b, op->object, b->object, b->object_image);
        outside(b, op->object, b->other, b->other_image);
        free(host);
        return 0;
    }
    OK(MPI_Wait(&rq, MPI_STATUS_IGNORE));
    if (op->what == PACK || op->what == UNPACK)
        CHECK(position == end, "%s: position %d, has to be %d", op->name, position, end);
    /* what has to be in the packed buffer, the host's, and the objects */
    memcpy(b->want, b->packed_image, b->room);
    if (op->what == PACK)
        gather(b, b->want + START, b->object_image);
    get(op->packed, b->got, b->packed, b->room);
    same(b, b->got, b->want, b->room, "packed buffer");
    memcpy(b->want, b->packed_image, b->room);
    if (op->what == SEND)
        gather(b, b->want, b->object_image);
    same(b, host, b->want, b->room, "message");
    memcpy(b->want, b->object_image, b->span);
    if (op->what == UNPACK)
        scatter(b, b->want, b->packed_image + START);
    if (op->what == RECV)
        scatter(b, b->want, b->packed_image);
    get(op->object, b->got, b->object, b->span);
    same(b, b->got, b->want, b->span, "object");
    memcpy(b->want, b->other_image, b->span);
    if (op->what == SENDRECV) {
        gather(b, host, b->object_image);
        scatter(b, b->want, host);
    }
    get(op->object, b->got, b->other, b->span);
    same(b, b->got, b->want, b->span, "other object");
    free(host);
    return 1;
}

static void *new_context(void)
{
    void *context = NULL;
    CU_OK(cu.cuCtxCreate_v2(&context, 0, 0));
    return context;
}

/* streams made so far: none in a context means that the kernels did not load there, which may be so for good */
static unsigned long streams(void)
{
    return cu.simcuda_calls("cuStreamCreate");
}

static void clean(struct bench *b, unsigned long loaded, int excused, const char *rule)
{
    int fired;
    if (!attempt(b, NULL, &fired))
        CHECK(excused && streams() == loaded, "%s: does not work any more after %s", b->op->name, rule);
}

static void failing(struct bench *b, const char *rule, int *fired)
{
    int delivered = attempt(b, rule, fired);
    CHECK(delivered || *fired > 0, "%s: an error without a failure (%s)", b->op->name, rule);
    b->failures += *fired > 0;
    b->delivered += *fired > 0 && delivered;
}

struct live {
    size_t device, pinned, stream, module;
};

static struct live live(void)
{
    struct live l;
    CU_OK(cu.cuCtxSynchronize());
    l.device = cu.simcuda_live("device", NULL);
    l.pinned = cu.simcuda_live("pinned", NULL);
    l.stream = cu.simcuda_live("stream", NULL);
    l.module = cu.simcuda_live("module", NULL); /* of dead contexts too */
    return l;
}

static void compare(struct live was, struct live is, const char *what)
{
    CHECK(is.device == was.device && is.pinned == was.pinned && is.stream == was.stream && is.module == was.module,
          "%s: %zu device, %zu pinned, %zu streams, %zu modules live, had been %zu, %zu, %zu, %zu", what, is.device, is.pinned,
          is.stream, is.module, was.device, was.pinned, was.stream, was.module);
}

/* in one context, which the library knows: every call fails in turn */
static void warm(struct bench *b, int code)
{
    struct live before = {0, 0, 0, 0};
    void *context = new_context();
    char rule[64];
    int n, fired, round;
    open_buffers(b);
    clean(b, 0, 0, "nothing");
    /* the first round may fill the pool */
    for (round = 0; round < 2; round++) {
        if (round == 1)
            before = live();
        for (n = 1, fired = 1; fired > 0; n++) {
            snprintf(rule, sizeof rule, code ? "any@tempi:%d:%d" : "any@tempi:%d", n, code);
            failing(b, rule, &fired);
            clean(b, 0, 0, rule);
        }
    }
    compare(before, live(), b->op->name);
    close_buffers(b);
    CU_OK(cu.cuCtxDestroy_v2(context));
}

/* every call fails in turn, in a context that is new each time */
static void cold(struct bench *b, int code)
{
    struct live before = {0, 0, 0, 0};
    char rule[64];
    int n, fired;
    for (n = 1, fired = 1; fired > 0; n++) {
        unsigned long loaded = streams();
        void *context = new_context();
        if (n == 1)
            before = live();
        open_buffers(b);
        snprintf(rule, sizeof rule, code ? "any@tempi:%d:%d" : "any@tempi:%d", n, code);
        failing(b, rule, &fired);
        clean(b, loaded, code == 0, rule);
        close_buffers(b);
        CU_OK(cu.cuCtxDestroy_v2(context));
        context = new_context();
        before.module = cu.simcuda_live("module", NULL);
        compare(before, live(), b->op->name);
        CU_OK(cu.cuCtxDestroy_v2(context));
    }
}

/* all calls of one function fail, in a context that is known or not */
static void all(struct bench *b, const char *function, int known)
{
    char rule[64];
    int fired;
    unsigned long loaded = streams();
    void *context = new_context();
    open_buffers(b);
    if (known)
        clean(b, 0, 0, "nothing");
    snprintf(rule, sizeof rule, "%s@tempi:*", function);
    failing(b, rule, &fired);
    clean(b, loaded, 1, rule);
    close_buffers(b);
    CU_OK(cu.cuCtxDestroy_v2(context));
}

int main(int argc, char **argv)
{
    static const char *const functions[] = {"cuMemAlloc",     "cuMemHostAlloc", "cuMemHostGetDevicePointer", "cuLaunchKernel",
                                            "cuMemcpyAsync",  "cuStreamCreate", "cuMemsetD32Async",          "cuStreamQuery",
                                            "cuCtxPushCurrent", "cuModuleLoadDataEx", "cuModuleGetFunction",  "cuCtxGetDevice",
                                            "cuDeviceGetAttribute"};
    size_t i, f;
    case_start(&argc, &argv, "failures", 1);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    cu_open();
    for (i = 0; i < sizeof operations / sizeof *operations; i++) {
        struct bench b = {.op = &operations[i]};
        int blocks = b.op->blocks, block = b.op->block;
        if (argc > 1 && b.op->what < SEND)
            continue;
        b.bytes = (size_t)blocks * 4 * (size_t)block;
        b.span = b.bytes + (size_t)blocks * 8;
        b.room = b.span + 64;
        b.object_image = pat_buf(b.span, 1);
        b.other_image = pat_buf(b.span, 2);
        b.packed_image = pat_buf(b.room, 3);
        b.want = host_buf(b.room);
        b.got = host_buf(b.room);
        OK(MPI_Type_vector(blocks, block, block + 2, MPI_INT, &b.type));
        OK(MPI_Type_commit(&b.type));
        warm(&b, 0);
        warm(&b, 2);
        cold(&b, 0);
        cold(&b, 2);
        for (f = 0; f < sizeof functions / sizeof *functions; f++) {
            all(&b, functions[f], 0);
            all(&b, functions[f], 1);
        }
        printf("%s: %d failures, %d delivered\n", b.op->name, b.failures, b.delivered);
        OK(MPI_Type_free(&b.type));
        free(b.object_image);
        free(b.other_image);
        free(b.packed_image);
        free(b.want);
        free(b.got);
    }
    return case_end();
}
