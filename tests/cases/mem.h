/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * mem.h - what every case program shares: buffers, checks, a type exerciser.
 *
 * Buffers.  mem_alloc() gives ordinary heap memory.  Built with -DUSE_CUDA it
 * gives GPU memory from cuMemAlloc instead; libcuda is opened at run time, so
 * no CUDA toolkit is needed to build.  A program never reads or writes through
 * a pointer from mem_alloc(): it moves bytes with mem_put / mem_get / mem_set.
 * A case therefore runs unchanged on host and on device memory.
 *
 * Environment (USE_CUDA only): MEM_DEVICE=n picks the GPU, MEM_PACK=host puts
 * the buffers of MPI_Pack / MPI_Unpack on the host, MEM_CONTIG=host puts the
 * plain (contiguous) side of a transfer on the host.
 *
 * Exit status: 0 right, 1 wrong (through MPI_Abort), 77 cannot run here.
 */
#ifndef CASE_MEM_H
#define CASE_MEM_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__GNUC__)
#define CASE_UNUSED __attribute__((unused))
#else
#define CASE_UNUSED
#endif

static int case_rank CASE_UNUSED = 0;
static int case_size CASE_UNUSED = 1;
static const char *case_name CASE_UNUSED = "?";

/* ------------------------------------------------------------------ report */

static void case_die(const char *file, int line, const char *fmt, ...)
{
    int up = 0, down = 0;
    va_list ap;
    fprintf(stderr, "wrong: %s, rank %d, %s:%d: ", case_name, case_rank, file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\n");
    fflush(stderr);
    MPI_Initialized(&up);
    MPI_Finalized(&down);
    if (up && !down)
        MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

#define FAIL(...) case_die(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(cond, ...)                                                      \
    do {                                                                      \
        if (!(cond))                                                          \
            FAIL(__VA_ARGS__);                                                \
    } while (0)
/* an MPI call that has to succeed */
#define OK(call)                                                              \
    do {                                                                      \
        int ok_rc_ = (call);                                                  \
        if (ok_rc_ != MPI_SUCCESS)                                            \
            FAIL("%s returned %d", #call, ok_rc_);                            \
    } while (0)

static CASE_UNUSED void case_open(const char *name, int ranks)
{
    case_name = name;
    MPI_Comm_rank(MPI_COMM_WORLD, &case_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &case_size);
    if (case_size != ranks)
        FAIL("needs %d ranks, started with %d", ranks, case_size);
}

/* start with the plain MPI_Init */
static CASE_UNUSED void case_start(int *argc, char ***argv, const char *name, int ranks)
{
    MPI_Init(argc, argv);
    case_open(name, ranks);
}

static CASE_UNUSED void case_ok(void)
{
    if (case_rank == 0) {
        printf("ok %s\n", case_name);
        fflush(stdout);
    }
}

static CASE_UNUSED int case_end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    case_ok();
    return 0;
}

/* the case does not apply to this MPI */
static CASE_UNUSED int case_skip(const char *why)
{
    int up = 0;
    MPI_Initialized(&up);
    if (up)
        MPI_Finalize();
    if (case_rank == 0)
        printf("skip %s: %s\n", case_name, why);
    return 77;
}

/* ------------------------------------------------------------------ memory */

enum mem_kind { MEM_TARGET, MEM_HOST, MEM_PINNED, MEM_MANAGED };

struct mem_entry {
    void *base;
    size_t len;
    enum mem_kind kind;
};
static struct mem_entry mem_table[4096] CASE_UNUSED;
static int mem_lock_word CASE_UNUSED = 0;

static CASE_UNUSED void mem_lock(void)
{
    while (__atomic_exchange_n(&mem_lock_word, 1, __ATOMIC_ACQUIRE))
        ;
}

static CASE_UNUSED void mem_unlock(void)
{
    __atomic_store_n(&mem_lock_word, 0, __ATOMIC_RELEASE);
}

static CASE_UNUSED void mem_note(void *p, size_t n, enum mem_kind kind)
{
    size_t i;
    mem_lock();
    for (i = 0; i < sizeof mem_table / sizeof *mem_table; i++)
        if (mem_table[i].base == NULL) {
            mem_table[i].base = p;
            mem_table[i].len = n;
            mem_table[i].kind = kind;
            mem_unlock();
            return;
        }
    mem_unlock();
    FAIL("too many live buffers");
}

/* the kind of the buffer that holds p; take it out of the table when drop */
static CASE_UNUSED enum mem_kind mem_find(const void *p, int drop)
{
    size_t i;
    enum mem_kind kind = MEM_HOST;
    uintptr_t a = (uintptr_t)p;
    mem_lock();
    for (i = 0; i < sizeof mem_table / sizeof *mem_table; i++) {
        uintptr_t b = (uintptr_t)mem_table[i].base;
        if (b != 0 && a >= b && a < b + mem_table[i].len) {
            kind = mem_table[i].kind;
            if (drop)
                mem_table[i].base = NULL;
            break;
        }
    }
    mem_unlock();
    return kind;
}

#ifdef USE_CUDA

#include <dlfcn.h>
typedef int (*mem_cu_fn)();
static struct {
    int ready;
    void *ctx;
    void *stream;
    mem_cu_fn mem_alloc, mem_free, host_alloc, host_free, managed, h2d, d2h;
    mem_cu_fn h2d_async, d2h_async, memset8, ctx_set, ctx_sync, stream_sync;
} mem_cu;

static mem_cu_fn mem_cu_sym(void *lib, const char *name)
{
    mem_cu_fn f;
    *(void **)&f = dlsym(lib, name);
    if (f == NULL) {
        fprintf(stderr, "no %s in libcuda\n", name);
        _exit(77);
    }
    return f;
}

static void mem_cu_do(const char *what, int rc)
{
    if (rc != 0)
        FAIL("CUDA: %s gave error %d", what, rc);
}
#define CU(call) mem_cu_do(#call, (call))

static void mem_open(void)
{
    void *lib;
    const char *s;
    int n = 0, dev = 0;
    mem_cu_fn init, count, device, retain, stream_create;

    if (mem_cu.ready)
        return;
    lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (lib == NULL) {
        fprintf(stderr, "no libcuda.so.1 here\n");
        _exit(77);
    }
    init = mem_cu_sym(lib, "cuInit");
    count = mem_cu_sym(lib, "cuDeviceGetCount");
    device = mem_cu_sym(lib, "cuDeviceGet");
    retain = mem_cu_sym(lib, "cuDevicePrimaryCtxRetain");
    stream_create = mem_cu_sym(lib, "cuStreamCreate");
    mem_cu.mem_alloc = mem_cu_sym(lib, "cuMemAlloc_v2");
    mem_cu.mem_free = mem_cu_sym(lib, "cuMemFree_v2");
    mem_cu.host_alloc = mem_cu_sym(lib, "cuMemHostAlloc");
    mem_cu.host_free = mem_cu_sym(lib, "cuMemFreeHost");
    mem_cu.managed = mem_cu_sym(lib, "cuMemAllocManaged");
    mem_cu.h2d = mem_cu_sym(lib, "cuMemcpyHtoD_v2");
    mem_cu.d2h = mem_cu_sym(lib, "cuMemcpyDtoH_v2");
    mem_cu.h2d_async = mem_cu_sym(lib, "cuMemcpyHtoDAsync_v2");
    mem_cu.d2h_async = mem_cu_sym(lib, "cuMemcpyDtoHAsync_v2");
    mem_cu.memset8 = mem_cu_sym(lib, "cuMemsetD8_v2");
    mem_cu.ctx_set = mem_cu_sym(lib, "cuCtxSetCurrent");
    mem_cu.ctx_sync = mem_cu_sym(lib, "cuCtxSynchronize");
    mem_cu.stream_sync = mem_cu_sym(lib, "cuStreamSynchronize");
    if (init(0u) != 0 || count(&n) != 0 || n < 1) {
        fprintf(stderr, "no usable GPU here\n");
        _exit(77);
    }
    s = getenv("MEM_DEVICE");
    if (s == NULL)
        s = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    if (s == NULL)
        s = getenv("MPI_LOCALRANKID");
    if (s != NULL)
        dev = atoi(s) % n;
    CU(device(&n, dev));
    CU(retain(&mem_cu.ctx, n));
    CU(mem_cu.ctx_set(mem_cu.ctx));
    CU(stream_create(&mem_cu.stream, 1u)); /* non-blocking */
    mem_cu.ready = 1;
}

static CASE_UNUSED void *mem_alloc_as(size_t n, enum mem_kind kind)
{
    void *p = NULL;
    uint64_t d = 0;
    mem_open();
    CU(mem_cu.ctx_set(mem_cu.ctx));
    if (n == 0)
        n = 1;
    switch (kind) {
    case MEM_TARGET:
        CU(mem_cu.mem_alloc(&d, n));
        p = (void *)(uintptr_t)d;
        break;
    case MEM_PINNED:
        CU(mem_cu.host_alloc(&p, n, 0u));
        break;
    case MEM_MANAGED:
        CU(mem_cu.managed(&d, n, 1u));
        p = (void *)(uintptr_t)d;
        break;
    default:
        p = malloc(n);
        CHECK(p != NULL, "out of memory (%zu bytes)", n);
    }
    mem_note(p, n, kind);
    return p;
}

static CASE_UNUSED void mem_free(void *p)
{
    if (p == NULL)
        return;
    switch (mem_find(p, 1)) {
    case MEM_TARGET:
    case MEM_MANAGED:
        CU(mem_cu.ctx_set(mem_cu.ctx));
        CU(mem_cu.mem_free((uint64_t)(uintptr_t)p));
        break;
    case MEM_PINNED:
        CU(mem_cu.ctx_set(mem_cu.ctx));
        CU(mem_cu.host_free(p));
        break;
    default:
        free(p);
    }
}

static CASE_UNUSED void mem_put(void *dst, const void *src, size_t n)
{
    if (n == 0)
        return;
    if (mem_find(dst, 0) == MEM_TARGET) {
        CU(mem_cu.ctx_set(mem_cu.ctx));
        CU(mem_cu.h2d((uint64_t)(uintptr_t)dst, src, n));
        CU(mem_cu.ctx_sync());
    } else {
        CU(mem_cu.ctx_sync());
        memcpy(dst, src, n);
    }
}

static CASE_UNUSED void mem_get(void *dst, const void *src, size_t n)
{
    if (n == 0)
        return;
    if (mem_find(src, 0) == MEM_TARGET) {
        CU(mem_cu.ctx_set(mem_cu.ctx));
        CU(mem_cu.d2h(dst, (uint64_t)(uintptr_t)src, n));
    } else {
        CU(mem_cu.ctx_sync());
        memcpy(dst, src, n);
    }
}

static CASE_UNUSED void mem_set(void *dst, int byte, size_t n)
{
    if (n == 0)
        return;
    if (mem_find(dst, 0) == MEM_TARGET) {
        CU(mem_cu.ctx_set(mem_cu.ctx));
        CU(mem_cu.memset8((uint64_t)(uintptr_t)dst, (unsigned char)byte, n));
        CU(mem_cu.ctx_sync());
    } else {
        CU(mem_cu.ctx_sync());
        memset(dst, byte, n);
    }
}

/* the same moves through a stream that does not wait for the default one */
static CASE_UNUSED void mem_put_stream(void *dst, const void *src, size_t n)
{
    if (mem_find(dst, 0) != MEM_TARGET) {
        memcpy(dst, src, n);
        return;
    }
    CU(mem_cu.ctx_set(mem_cu.ctx));
    CU(mem_cu.h2d_async((uint64_t)(uintptr_t)dst, src, n, mem_cu.stream));
    CU(mem_cu.stream_sync(mem_cu.stream));
}

static CASE_UNUSED void mem_get_stream(void *dst, const void *src, size_t n)
{
    if (mem_find(src, 0) != MEM_TARGET) {
        memcpy(dst, src, n);
        return;
    }
    CU(mem_cu.ctx_set(mem_cu.ctx));
    CU(mem_cu.d2h_async(dst, (uint64_t)(uintptr_t)src, n, mem_cu.stream));
    CU(mem_cu.stream_sync(mem_cu.stream));
}

/* leave this thread without a current context, and put it back */
static CASE_UNUSED void mem_no_context(void) { CU(mem_cu.ctx_set((void *)0)); }
static CASE_UNUSED void mem_context(void) { CU(mem_cu.ctx_set(mem_cu.ctx)); }

#else /* plain host memory */

static CASE_UNUSED void mem_open(void) {}

static CASE_UNUSED void *mem_alloc_as(size_t n, enum mem_kind kind)
{
    void *p = malloc(n ? n : 1);
    if (p == NULL)
        FAIL("out of memory (%zu bytes)", n);
    mem_note(p, n ? n : 1, kind);
    return p;
}

static CASE_UNUSED void mem_free(void *p)
{
    if (p != NULL)
        mem_find(p, 1);
    free(p);
}

static CASE_UNUSED void mem_put(void *dst, const void *src, size_t n) { memcpy(dst, src, n); }
static CASE_UNUSED void mem_get(void *dst, const void *src, size_t n) { memcpy(dst, src, n); }
static CASE_UNUSED void mem_set(void *dst, int byte, size_t n) { memset(dst, byte, n); }
static CASE_UNUSED void mem_put_stream(void *dst, const void *src, size_t n) { memcpy(dst, src, n); }
static CASE_UNUSED void mem_get_stream(void *dst, const void *src, size_t n) { memcpy(dst, src, n); }
static CASE_UNUSED void mem_no_context(void) {}
static CASE_UNUSED void mem_context(void) {}

#endif /* USE_CUDA */

static CASE_UNUSED void *mem_alloc(size_t n) { return mem_alloc_as(n, MEM_TARGET); }

static CASE_UNUSED enum mem_kind mem_env_kind(const char *var)
{
    const char *s = getenv(var);
    return s != NULL && strcmp(s, "host") == 0 ? MEM_HOST : MEM_TARGET;
}
static CASE_UNUSED void *mem_alloc_pack(size_t n) { return mem_alloc_as(n, mem_env_kind("MEM_PACK")); }
static CASE_UNUSED void *mem_alloc_contig(size_t n) { return mem_alloc_as(n, mem_env_kind("MEM_CONTIG")); }

/* ---------------------------------------------------------------- patterns */

/* byte number i of pattern number salt */
static CASE_UNUSED unsigned char pat(size_t i, unsigned salt)
{
    uint64_t x = (uint64_t)i + 1 + (uint64_t)salt * 0x9e3779b97f4a7c15ull;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 32;
    return (unsigned char)x;
}

static CASE_UNUSED void *host_buf(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (p == NULL)
        FAIL("out of memory (%zu bytes)", n);
    return p;
}

static CASE_UNUSED unsigned char *pat_buf(size_t n, unsigned salt)
{
    size_t i;
    unsigned char *p = host_buf(n);
    for (i = 0; i < n; i++)
        p[i] = pat(i, salt);
    return p;
}

/* compare a whole buffer with what it has to hold */
static CASE_UNUSED void mem_same(const void *buf, const void *want, size_t n, const char *what)
{
    size_t i;
    unsigned char *got = host_buf(n);
    mem_get(got, buf, n);
    for (i = 0; i < n; i++)
        if (got[i] != ((const unsigned char *)want)[i])
            FAIL("%s: byte %zu of %zu is %02x, has to be %02x", what, i, n, got[i],
                 ((const unsigned char *)want)[i]);
    free(got);
}

/* ----------------------------------------------------------------- layouts */

/* where the bytes of a message lie, in the order in which they travel */
typedef struct {
    MPI_Aint off;
    size_t len;
} seg;

typedef struct {
    seg *v;
    size_t n, cap, bytes;
    MPI_Aint lo, hi;
} layout;

static CASE_UNUSED void lay_add(layout *l, MPI_Aint off, size_t len)
{
    if (len == 0)
        return;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->v = realloc(l->v, l->cap * sizeof *l->v);
        if (l->v == NULL)
            FAIL("out of memory");
    }
    if (l->n == 0 || off < l->lo)
        l->lo = off;
    if (l->n == 0 || off + (MPI_Aint)len > l->hi)
        l->hi = off + (MPI_Aint)len;
    l->v[l->n].off = off;
    l->v[l->n].len = len;
    l->n++;
    l->bytes += len;
}

static CASE_UNUSED void lay_drop(layout *l)
{
    free(l->v);
    memset(l, 0, sizeof *l);
}

/* base + off without forming a C pointer outside an object on the way */
static CASE_UNUSED void *at(const void *base, MPI_Aint off)
{
    return (void *)((uintptr_t)base + (uintptr_t)off);
}

static CASE_UNUSED void lay_gather(const layout *l, const unsigned char *origin, unsigned char *out)
{
    size_t i;
    for (i = 0; i < l->n; i++) {
        memcpy(out, origin + l->v[i].off, l->v[i].len);
        out += l->v[i].len;
    }
}

static CASE_UNUSED void lay_scatter(const layout *l, unsigned char *origin, const unsigned char *in)
{
    size_t i;
    for (i = 0; i < l->n; i++) {
        memcpy(origin + l->v[i].off, in, l->v[i].len);
        in += l->v[i].len;
    }
}

#define EX_OVERLAP 1   /* bytes repeat: good for sending only            */
#define EX_NO_CONTIG 2 /* there is no plain type with the same signature */
#define EX_MARGIN 64

/* what one side of a transfer needs: a buffer that holds offsets lo..hi and 0 */
typedef struct {
    size_t len;
    MPI_Aint zero; /* where offset 0 lies in the buffer */
    void *mem;
    void *buf; /* what MPI gets */
    unsigned char *img;
} area;

static CASE_UNUSED area area_make(const layout *l, unsigned salt)
{
    area a;
    MPI_Aint lo = l->n && l->lo < 0 ? l->lo : 0;
    MPI_Aint hi = l->n && l->hi > 1 ? l->hi : 1;
    a.zero = EX_MARGIN - lo;
    a.len = (size_t)(hi - lo) + 2 * EX_MARGIN;
    a.mem = mem_alloc(a.len);
    a.buf = at(a.mem, a.zero);
    a.img = pat_buf(a.len, salt);
    mem_put(a.mem, a.img, a.len);
    return a;
}

static CASE_UNUSED void area_drop(area *a)
{
    mem_free(a->mem);
    free(a->img);
}

static CASE_UNUSED void ex_check_area(area *a, const layout *l, const unsigned char *in,
                                      const char *what, const char *step)
{
    char msg[256];
    if (in != NULL)
        lay_scatter(l, a->img + a->zero, in);
    snprintf(msg, sizeof msg, "%s, %s", what, step);
    mem_same(a->mem, a->img, a->len, msg);
}

/* Put (count, type) through pack, unpack, and transfers to oneself and to the
 * neighbour rank, against the layout it has to have.  `basic` is the predefined
 * type that the type is made of, all through. */
static CASE_UNUSED void exercise(const char *what, MPI_Datatype type, int count, const layout *l,
                                 MPI_Datatype basic, int flags)
{
    int bsize, tsize, nbasic, p, npeers, peers[2];
    unsigned char *plain = host_buf(l->bytes);
    char msg[256];

    OK(MPI_Type_size(basic, &bsize));
    OK(MPI_Type_size(type, &tsize));
    CHECK((size_t)tsize * (size_t)count == l->bytes, "%s: type size %d x %d, has to be %zu bytes in all",
          what, tsize, count, l->bytes);
    CHECK(l->bytes % (size_t)bsize == 0, "%s: the case itself is wrong", what);
    nbasic = (int)(l->bytes / (size_t)bsize);

    { /* pack */
        int psize = -1, pos = 0;
        size_t room;
        area src = area_make(l, 11);
        unsigned char *img;
        void *pk;
        OK(MPI_Pack_size(count, type, MPI_COMM_WORLD, &psize));
        CHECK(psize >= (int)l->bytes, "%s: MPI_Pack_size says %d for %zu bytes", what, psize, l->bytes);
        room = (size_t)psize + EX_MARGIN;
        pk = mem_alloc_pack(room);
        img = pat_buf(room, 12);
        mem_put(pk, img, room);
        OK(MPI_Pack(src.buf, count, type, pk, psize, &pos, MPI_COMM_WORLD));
        CHECK(pos == (int)l->bytes, "%s: MPI_Pack moved position to %d, has to be %zu", what, pos, l->bytes);
        lay_gather(l, src.img + src.zero, plain);
        memcpy(img, plain, l->bytes);
        snprintf(msg, sizeof msg, "%s, MPI_Pack", what);
        mem_same(pk, img, room, msg);
        ex_check_area(&src, l, NULL, what, "source of MPI_Pack");

        if (!(flags & EX_OVERLAP)) { /* unpack */
            area dst = area_make(l, 13);
            int at2 = 0;
            OK(MPI_Unpack(pk, pos, &at2, dst.buf, count, type, MPI_COMM_WORLD));
            CHECK(at2 == pos, "%s: MPI_Unpack moved position to %d, has to be %d", what, at2, pos);
            ex_check_area(&dst, l, plain, what, "MPI_Unpack");
            area_drop(&dst);
        }
        mem_free(pk);
        free(img);
        area_drop(&src);
    }

    npeers = 0;
    peers[npeers++] = case_rank;
    if (case_rank < 2 && case_size >= 2)
        peers[npeers++] = 1 - case_rank;

    for (p = 0; p < npeers; p++) {
        int peer = peers[p], got;
        unsigned hers = 20u + (unsigned)peer, mine = 20u + (unsigned)case_rank;
        MPI_Request rq[2];
        MPI_Status st[2];
        area src = area_make(l, mine), other = area_make(l, hers);
        const char *who = peer == case_rank ? "to self" : "to the other rank";
        char step[96];
        unsigned char *cimg;
        void *contig;

        lay_gather(l, other.img + other.zero, plain); /* what the peer sends */
        cimg = pat_buf(l->bytes + EX_MARGIN, 31);

        if (!(flags & EX_NO_CONTIG)) {
            /* type -> plain */
            contig = mem_alloc_contig(l->bytes + EX_MARGIN);
            mem_put(contig, cimg, l->bytes + EX_MARGIN);
            OK(MPI_Isend(src.buf, count, type, peer, 1, MPI_COMM_WORLD, &rq[0]));
            OK(MPI_Recv(contig, nbasic, basic, peer, 1, MPI_COMM_WORLD, &st[0]));
            OK(MPI_Wait(&rq[0], MPI_STATUS_IGNORE));
            OK(MPI_Get_count(&st[0], basic, &got));
            snprintf(msg, sizeof msg, "%s, typed send %s, plain receive", what, who);
            CHECK(got == nbasic, "%s: count %d, has to be %d", msg, got, nbasic);
            memcpy(cimg, plain, l->bytes);
            mem_same(contig, cimg, l->bytes + EX_MARGIN, msg);

            if (!(flags & EX_OVERLAP)) {
                /* plain -> type */
                area dst = area_make(l, 41);
                unsigned char *mineplain = host_buf(l->bytes);
                lay_gather(l, src.img + src.zero, mineplain);
                mem_put(contig, mineplain, l->bytes);
                OK(MPI_Isend(contig, nbasic, basic, peer, 2, MPI_COMM_WORLD, &rq[0]));
                OK(MPI_Recv(dst.buf, count, type, peer, 2, MPI_COMM_WORLD, &st[0]));
                OK(MPI_Wait(&rq[0], MPI_STATUS_IGNORE));
                OK(MPI_Get_count(&st[0], type, &got));
                snprintf(step, sizeof step, "plain send %s, typed receive", who);
                CHECK(got == (tsize ? count : 0) || tsize == 0, "%s, %s: count %d, has to be %d", what, step, got, count);
                ex_check_area(&dst, l, plain, what, step);
                area_drop(&dst);
                free(mineplain);
            }
            mem_free(contig);
        }
        if (!(flags & EX_OVERLAP)) {
            area dst = area_make(l, 42);
            OK(MPI_Irecv(dst.buf, count, type, peer, 3, MPI_COMM_WORLD, &rq[0]));
            OK(MPI_Isend(src.buf, count, type, peer, 3, MPI_COMM_WORLD, &rq[1]));
            OK(MPI_Waitall(2, rq, st));
            snprintf(step, sizeof step, "Isend/Irecv/Waitall %s", who);
            CHECK(rq[0] == MPI_REQUEST_NULL && rq[1] == MPI_REQUEST_NULL, "%s, %s: request not cleared", what, step);
            CHECK(st[0].MPI_SOURCE == peer && st[0].MPI_TAG == 3, "%s, %s: status has source %d tag %d", what, step,
                  st[0].MPI_SOURCE, st[0].MPI_TAG);
            ex_check_area(&dst, l, plain, what, step);
            area_drop(&dst);

            dst = area_make(l, 43);
            OK(MPI_Sendrecv(src.buf, count, type, peer, 4, dst.buf, count, type, peer, 4, MPI_COMM_WORLD, &st[0]));
            snprintf(step, sizeof step, "MPI_Sendrecv %s", who);
            ex_check_area(&dst, l, plain, what, step);
            area_drop(&dst);
        }
        snprintf(step, sizeof step, "send buffer after sending %s", who);
        ex_check_area(&src, l, NULL, what, step);
        free(cimg);
        area_drop(&src);
        area_drop(&other);
    }
    free(plain);
}

#endif
