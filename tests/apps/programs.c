/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * programs.c FIRST COUNT - COUNT random programs of messages, each made from its number alone: which
 * rank sends what to whom, by which function, out of which memory, and by which functions it is
 * completed.  Prints a line for each: a hash of all that was received and of all statuses.  What is
 * printed does not depend on the order in which messages arrive, on the MPI's speed or on where the
 * buffers lie.
 *
 * In each of two rounds every rank posts its receives, then its sends, then the receives of messages
 * that arrive unexpected, and completes what it has posted; persistent requests are started in both.
 */
#include "mem.h"

enum { MOST = 24, ROUNDS = 2 };

static uint64_t roll(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}
static int below(uint64_t *s, int n) { return (int)(roll(s) % (uint64_t)n); }
static uint64_t seed(uint64_t a, uint64_t b)
{
    uint64_t s = (a + 1) * 0x9e3779b97f4a7c15ull ^ (b + 1) * 0xd1b54a32d192ed03ull;
    roll(&s);
    roll(&s);
    return s ? s : 1;
}

/* A type of `ints` ints (a multiple of 12) in one of several shapes; *span is what it covers. */
static MPI_Datatype shape(int kind, int ints, size_t *span)
{
    MPI_Datatype a, t;
    MPI_Aint lb, extent;
    switch (kind) {
    case 0: OK(MPI_Type_vector(ints / 3, 3, 5, MPI_INT, &t)); break;
    case 1: OK(MPI_Type_vector(ints, 1, 2, MPI_INT, &t)); break;
    case 2: /* two dimensions, columns first */
        OK(MPI_Type_vector(ints / 4, 1, 8, MPI_INT, &a));
        OK(MPI_Type_create_hvector(4, 1, 4, a, &t));
        OK(MPI_Type_free(&a));
        break;
    case 3: {
        int sizes[3] = {ints / 12 + 1, 4, 7}, sub[3] = {ints / 12, 3, 4}, starts[3] = {1, 1, 2};
        OK(MPI_Type_create_subarray(3, sizes, sub, starts, MPI_ORDER_C, MPI_INT, &t));
        break;
    }
    case 4: {
        int sizes[2] = {9, ints / 6 + 2}, sub[2] = {6, ints / 6}, starts[2] = {2, 1};
        OK(MPI_Type_create_subarray(2, sizes, sub, starts, MPI_ORDER_FORTRAN, MPI_INT, &t));
        break;
    }
    case 5: OK(MPI_Type_contiguous(ints, MPI_INT, &t)); break;
    default:
        OK(MPI_Type_vector(ints / 2, 2, 3, MPI_INT, &a));
        OK(MPI_Type_create_resized(a, 0, 6 * (MPI_Aint)ints + 4, &t));
        OK(MPI_Type_free(&a));
    }
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_get_true_extent(t, &lb, &extent));
    *span = (size_t)(lb + extent);
    return t;
}

struct message {
    int from, to, tag, comm, late, how_sent, how_received, freed;
    int count, room; /* elements sent, elements of the same size that are received at most */
    int ints, send_kind, recv_kind;
    enum mem_kind send_memory, recv_memory;
    MPI_Datatype send_type, recv_type;
    void *send, *recv;
    size_t send_bytes, recv_bytes;
    MPI_Request send_request, recv_request;
    MPI_Status status;
};

static MPI_Comm comms[2];

static void mix(uint64_t *hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    size_t i;
    for (i = 0; i < n; i++)
        *hash = (*hash ^ p[i]) * 0x100000001b3ull;
}

/* Complete all `n` requests by the calls that the rank's own dice choose.  MPI_Request_get_status is not asked about a
 * persistent one: plain MPICH 5.0.2 then forgets its status. */
static void complete(int n, MPI_Request *rq, const int *persistent, MPI_Status *st, uint64_t *dice)
{
    int left[2 * MOST], open = 0, i, k, index, flag, some, indices[2 * MOST];
    MPI_Status one, many[2 * MOST];
    memset(left, 0, sizeof left);
    for (i = 0; i < n; i++) {
        left[i] = rq[i] != MPI_REQUEST_NULL;
        open += left[i];
    }
    while (open > 0) {
        switch (below(dice, 8)) {
        case 0: /* the rest at once */
            OK(MPI_Waitall(n, rq, many));
            for (i = 0; i < n; i++)
                if (left[i])
                    st[i] = many[i];
            return;
        case 1:
            OK(MPI_Waitany(n, rq, &index, &one));
            CHECK(index >= 0 && index < n && left[index], "MPI_Waitany gave %d", index);
            st[index] = one;
            left[index] = 0;
            open--;
            break;
        case 2:
            OK(MPI_Testany(n, rq, &index, &flag, &one));
            if (flag) {
                CHECK(index >= 0 && index < n && left[index], "MPI_Testany gave %d", index);
                st[index] = one;
                left[index] = 0;
                open--;
            }
            break;
        case 3:
        case 4:
            if (below(dice, 2))
                OK(MPI_Waitsome(n, rq, &some, indices, many));
            else
                OK(MPI_Testsome(n, rq, &some, indices, many));
            CHECK(some >= 0 && some <= open, "%d of %d at once", some, open);
            for (k = 0; k < some; k++) {
                CHECK(left[indices[k]], "index %d twice", indices[k]);
                st[indices[k]] = many[k];
                left[indices[k]] = 0;
            }
            open -= some;
            break;
        case 5:
            OK(MPI_Testall(n, rq, &flag, many));
            if (flag) {
                for (i = 0; i < n; i++)
                    if (left[i])
                        st[i] = many[i];
                return;
            }
            break;
        default:
            index = below(dice, n);
            if (!left[index])
                break;
            flag = 0;
            if (below(dice, 2) && !persistent[index])
                OK(MPI_Request_get_status(rq[index], &flag, &one));
            if (flag || below(dice, 2)) {
                OK(MPI_Wait(&rq[index], &st[index]));
                flag = 1;
            } else {
                OK(MPI_Test(&rq[index], &flag, &one));
                if (flag)
                    st[index] = one;
            }
            if (flag) {
                left[index] = 0;
                open--;
            }
        }
    }
}

static void receive(struct message *m, int round)
{
    MPI_Message handle;
    MPI_Status st;
    MPI_Comm comm = comms[m->comm];
    if (m->late && m->how_received == 0) {
        OK(MPI_Mprobe(m->from, m->tag, comm, &handle, &st));
        OK(MPI_Imrecv(m->recv, m->room, m->recv_type, &handle, &m->recv_request));
    } else if (m->how_received == 1) {
        if (round == 0)
            OK(MPI_Recv_init(m->recv, m->room, m->recv_type, m->from, m->tag, comm, &m->recv_request));
        OK(MPI_Start(&m->recv_request));
    } else {
        OK(MPI_Irecv(m->recv, m->room, m->recv_type, m->from, m->tag, comm, &m->recv_request));
    }
}

static void transmit(struct message *m, int round)
{
    static int (*const now[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};
    static int (*const later[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
        MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend, MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};
    MPI_Comm comm = comms[m->comm];
    int how = m->how_sent;
    m->send_request = round == 0 || how < 8 ? MPI_REQUEST_NULL : m->send_request;
    if (how < 4) {
        OK(now[how](m->send, m->count, m->send_type, m->to, m->tag, comm));
        return;
    }
    if (how < 8 || round == 0)
        OK(later[how - 4](m->send, m->count, m->send_type, m->to, m->tag, comm, &m->send_request));
    if (how >= 8)
        OK(MPI_Start(&m->send_request));
    else if (m->freed)
        OK(MPI_Request_free(&m->send_request));
}

static uint64_t program(uint64_t number)
{
    static struct message list[MOST];
    static const enum mem_kind kinds[] = {MEM_TARGET, MEM_TARGET, MEM_TARGET, MEM_HOST, MEM_PINNED, MEM_MANAGED};
    uint64_t dice = seed(number, 0), own = seed(number, 1000 + (uint64_t)case_rank), hash = 0xcbf29ce484222325ull;
    int n = 6 + below(&dice, MOST - 6), i, round, requests, persistent[2 * MOST];
    MPI_Request rq[2 * MOST];
    MPI_Status st[2 * MOST];
    memset(list, 0, sizeof list);
    for (i = 0; i < n; i++) {
        struct message *m = &list[i];
        m->from = below(&dice, case_size);
        m->to = below(&dice, case_size);
        m->comm = below(&dice, 2);
        m->late = below(&dice, 4) == 0;
        m->tag = below(&dice, 2) + 10 * m->late;
        m->how_sent = below(&dice, 12);
        m->how_received = below(&dice, 3);
        m->freed = below(&dice, 6) == 0;
        if (m->late) /* nobody is waiting yet: neither block nor presume a receive */
            m->how_sent = below(&dice, 2) ? 4 : below(&dice, 2) ? 8 : 5;
        m->ints = 12 * (1 + below(&dice, below(&dice, 8) ? 20 : 2000));
        m->count = 1 + below(&dice, 3);
        m->room = m->count + below(&dice, 2);
        m->send_kind = below(&dice, 7);
        m->recv_kind = below(&dice, 7);
        m->send_memory = kinds[below(&dice, 6)];
        m->recv_memory = kinds[below(&dice, 6)];
        if (m->how_sent == 3 || m->how_sent == 7 || m->how_sent == 11)
            m->ints = 12; /* the attached buffer is small */
    }
    for (i = 0; i < n; i++) {
        struct message *m = &list[i];
        MPI_Aint lb, extent;
        size_t span;
        m->send_request = m->recv_request = MPI_REQUEST_NULL;
        if (m->from == case_rank) {
            m->send_type = shape(m->send_kind, m->ints, &span);
            OK(MPI_Type_get_extent(m->send_type, &lb, &extent));
            m->send_bytes = span + (size_t)(m->count - 1) * (size_t)extent;
            m->send = mem_alloc_as(m->send_bytes, m->send_memory);
        }
        if (m->to == case_rank) {
            m->recv_type = shape(m->recv_kind, m->ints, &span);
            OK(MPI_Type_get_extent(m->recv_type, &lb, &extent));
            m->recv_bytes = span + (size_t)(m->room - 1) * (size_t)extent;
            m->recv = mem_alloc_as(m->recv_bytes, m->recv_memory);
        }
    }
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < n; i++) {
            struct message *m = &list[i];
            if (m->send != NULL) {
                unsigned char *image = pat_buf(m->send_bytes, (unsigned)(number * 100 + (uint64_t)(2 * i + round)));
                mem_put(m->send, image, m->send_bytes);
                free(image);
            }
            if (m->recv != NULL)
                mem_set(m->recv, 0xee, m->recv_bytes);
        }
        for (i = 0; i < n; i++)
            if (list[i].recv != NULL && !list[i].late)
                receive(&list[i], round);
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* ready sends may go */
        for (i = 0; i < n; i++)
            if (list[i].send != NULL)
                transmit(&list[i], round);
        for (i = 0; i < n; i++)
            if (list[i].recv != NULL && list[i].late)
                receive(&list[i], round);
        if (round == ROUNDS - 1) /* types may go before the requests do */
            for (i = 0; i < n; i++) {
                if (list[i].send != NULL)
                    OK(MPI_Type_free(&list[i].send_type));
                if (list[i].recv != NULL)
                    OK(MPI_Type_free(&list[i].recv_type));
            }
        for (requests = i = 0; i < n; i++) {
            persistent[requests] = list[i].how_received == 1;
            rq[requests++] = list[i].recv_request;
            persistent[requests] = list[i].how_sent >= 8;
            rq[requests++] = list[i].send_request;
        }
        memset(st, 0, sizeof st);
        complete(requests, rq, persistent, st, &own);
        for (i = 0; i < n; i++) {
            struct message *m = &list[i];
            m->recv_request = rq[2 * i];
            m->send_request = rq[2 * i + 1];
            if (m->recv != NULL) {
                unsigned char *got = host_buf(m->recv_bytes);
                int fields[3];
                OK(MPI_Get_elements(&st[2 * i], MPI_INT, &fields[0]));
                fields[1] = st[2 * i].MPI_SOURCE;
                fields[2] = st[2 * i].MPI_TAG;
                CHECK(fields[0] == m->count * m->ints && fields[1] == m->from && fields[2] == m->tag,
                      "program %llu, message %d: %d ints from %d tag %d", (unsigned long long)number, i, fields[0], fields[1], fields[2]);
                mem_get(got, m->recv, m->recv_bytes);
                mix(&hash, fields, sizeof fields);
                mix(&hash, got, m->recv_bytes);
                free(got);
            }
        }
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* what was freed has arrived */
    }
    for (i = 0; i < n; i++) {
        struct message *m = &list[i];
        if (m->send_request != MPI_REQUEST_NULL)
            OK(MPI_Request_free(&m->send_request));
        if (m->recv_request != MPI_REQUEST_NULL)
            OK(MPI_Request_free(&m->recv_request));
        mem_free(m->send);
        mem_free(m->recv);
    }
    return hash;
}

int main(int argc, char **argv)
{
    uint64_t first, count, number, hash, all[16];
    int size = 1 << 20, i;
    void *attached = malloc((size_t)size);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    case_open("programs", size);
    CHECK(argc == 3 && size <= 16, "usage: programs FIRST COUNT, on 16 ranks at most");
    first = strtoull(argv[1], NULL, 10);
    count = strtoull(argv[2], NULL, 10);
    comms[0] = MPI_COMM_WORLD;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    OK(MPI_Buffer_attach(attached, 1 << 20));
    for (number = first; number < first + count; number++) {
        hash = program(number);
        OK(MPI_Gather(&hash, 8, MPI_BYTE, all, 8, MPI_BYTE, 0, MPI_COMM_WORLD));
        if (case_rank == 0) {
            printf("%llu", (unsigned long long)number);
            for (i = 0; i < size; i++)
                printf(" %016llx", (unsigned long long)all[i]);
            printf("\n");
        }
    }
    OK(MPI_Buffer_detach(&attached, &size));
    free(attached);
    OK(MPI_Comm_free(&comms[1]));
    MPI_Finalize();
    return 0;
}
