/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Objects that reach beyond 4 GiB: strides, displacements and extents that 32 bits do not hold, in either
 * direction.  The memory is never touched but where the data lies. */
#include "mem.h"
#include <sys/mman.h>

#define GIB ((MPI_Aint)1 << 30)
#define LENGTH (13 * GIB)
#define MIDDLE (6 * GIB)

typedef struct {
    unsigned char *mem, *buf; /* buf: MIDDLE bytes after mem */
} expanse;

static expanse expanse_make(void)
{
    expanse e;
#ifdef USE_CUDA
    e.mem = mem_alloc((size_t)LENGTH);
#else
    e.mem = mmap(NULL, (size_t)LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(e.mem != MAP_FAILED, "no address space");
#endif
    e.buf = e.mem + MIDDLE;
    return e;
}

static void expanse_drop(expanse *e)
{
#ifdef USE_CUDA
    mem_free(e->mem);
#else
    munmap(e->mem, (size_t)LENGTH);
#endif
}

/* the bytes around each piece, so that a byte too many shows */
enum { AROUND = 16 };

static void fill(expanse *e, const layout *l, unsigned salt)
{
    size_t i;
    for (i = 0; i < l->n; i++) {
        size_t n = l->v[i].len + 2 * AROUND;
        unsigned char *bytes = pat_buf(n, salt + (unsigned)i);
        mem_put(e->buf + l->v[i].off - AROUND, bytes, n);
        free(bytes);
    }
}

/* the pieces hold what the pieces of an object filled with `salt` hold, the bytes around them are their own */
static void check(expanse *e, const layout *l, unsigned salt, unsigned own, const char *what)
{
    size_t i;
    for (i = 0; i < l->n; i++) {
        size_t n = l->v[i].len + 2 * AROUND;
        unsigned char *want = pat_buf(n, own + (unsigned)i), *there = pat_buf(n, salt + (unsigned)i);
        char msg[128];
        memcpy(want + AROUND, there + AROUND, l->v[i].len);
        snprintf(msg, sizeof msg, "%s, piece %zu at %lld", what, i, (long long)l->v[i].off);
        mem_same(e->buf + l->v[i].off - AROUND, want, n, msg);
        free(want);
        free(there);
    }
}

static void exchange(const char *what, MPI_Datatype type, int count, const layout *l)
{
    const int peer = 1 - case_rank;
    const unsigned mine = 1u + 100u * (unsigned)case_rank, hers = 1u + 100u * (unsigned)peer;
    expanse s = expanse_make(), d = expanse_make();
    MPI_Request rq[2];
    MPI_Status st;
    MPI_Count elements = -1;
    char msg[128];
    unsigned char packed[4096];
    int position = 0, n = -1;

    CHECK(l->bytes <= sizeof packed, "the case itself is wrong");
    fill(&s, l, mine);
    fill(&d, l, 7);
    OK(MPI_Pack(s.buf, count, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
    CHECK(position == (int)l->bytes, "%s: %d packed bytes", what, position);
    position = 0;
    OK(MPI_Unpack(packed, (int)l->bytes, &position, d.buf, count, type, MPI_COMM_WORLD));
    snprintf(msg, sizeof msg, "%s, pack and unpack", what);
    check(&d, l, mine, 7, msg);

    fill(&d, l, 7);
    OK(MPI_Irecv(d.buf, count, type, peer, 1, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Send(s.buf, count, type, peer, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&rq[0], &st));
    OK(MPI_Get_count(&st, type, &n));
    CHECK(n == count, "%s: count %d", what, n);
    OK(MPI_Get_elements_x(&st, type, &elements));
    CHECK(elements == (MPI_Count)l->bytes / 8, "%s: %lld elements", what, (long long)elements);
    snprintf(msg, sizeof msg, "%s, Send to Irecv", what);
    check(&d, l, hers, 7, msg);

    fill(&d, l, 7);
    OK(MPI_Isend(s.buf, count, type, peer, 2, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Recv(d.buf, count, type, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&rq[0], MPI_STATUS_IGNORE));
    snprintf(msg, sizeof msg, "%s, Isend to Recv", what);
    check(&d, l, hers, 7, msg);

    fill(&d, l, 7);
    OK(MPI_Send_init(s.buf, count, type, peer, 3, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Recv_init(d.buf, count, type, peer, 3, MPI_COMM_WORLD, &rq[1]));
    OK(MPI_Startall(2, rq));
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    OK(MPI_Request_free(&rq[0]));
    OK(MPI_Request_free(&rq[1]));
    snprintf(msg, sizeof msg, "%s, persistent", what);
    check(&d, l, hers, 7, msg);
    check(&s, l, mine, mine, "the source");
    expanse_drop(&s);
    expanse_drop(&d);
}

int main(int argc, char **argv)
{
    MPI_Datatype t, u;
    layout l;
    int i, j;

    case_start(&argc, &argv, "far_offsets", 2);

    /* a vector of 5 GiB strides, upwards and downwards */
    OK(MPI_Type_create_hvector(2, 3, 5 * GIB + 8, MPI_DOUBLE, &t));
    OK(MPI_Type_commit(&t));
    memset(&l, 0, sizeof l);
    for (i = 0; i < 2; i++)
        lay_add(&l, i * (5 * GIB + 8), 24);
    exchange("vector upwards", t, 1, &l);
    lay_drop(&l);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_create_hvector(2, 3, -(5 * GIB + 8), MPI_DOUBLE, &t));
    OK(MPI_Type_commit(&t));
    memset(&l, 0, sizeof l);
    for (i = 0; i < 2; i++)
        lay_add(&l, -i * (5 * GIB + 8), 24);
    exchange("vector downwards", t, 1, &l);
    lay_drop(&l);
    OK(MPI_Type_free(&t));

    /* displacements from -5 to 5 GiB, without a rule, and the far ends of small vectors */
    {
        MPI_Aint at[5] = {4 * GIB + 1024, -5 * GIB, 0, 5 * GIB + 72, -3 * GIB - 88};
        int lengths[5] = {3, 1, 2, 5, 4};
        OK(MPI_Type_create_hindexed(5, lengths, at, MPI_DOUBLE, &t));
        OK(MPI_Type_commit(&t));
        memset(&l, 0, sizeof l);
        for (i = 0; i < 5; i++)
            lay_add(&l, at[i], (size_t)lengths[i] * 8);
        exchange("list", t, 1, &l);
        lay_drop(&l);
        OK(MPI_Type_free(&t));

        OK(MPI_Type_vector(3, 2, 16, MPI_DOUBLE, &u));
        OK(MPI_Type_create_hindexed_block(5, 1, at, u, &t));
        OK(MPI_Type_commit(&t));
        memset(&l, 0, sizeof l);
        for (i = 0; i < 5; i++)
            for (j = 0; j < 3; j++)
                lay_add(&l, at[i] + 128 * j, 16);
        exchange("list of vectors", t, 1, &l);
        lay_drop(&l);
        OK(MPI_Type_free(&t));
        OK(MPI_Type_free(&u));
    }

    /* elements 2.5 GiB apart, by the extent */
    OK(MPI_Type_vector(2, 1, 8, MPI_DOUBLE, &u));
    OK(MPI_Type_create_resized(u, 0, 5 * GIB / 2, &t));
    OK(MPI_Type_commit(&t));
    memset(&l, 0, sizeof l);
    for (i = 0; i < 3; i++)
        for (j = 0; j < 2; j++)
            lay_add(&l, i * (5 * GIB / 2) + 64 * j, 8);
    exchange("extent", t, 3, &l);
    lay_drop(&l);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&u));
    return case_end();
}
