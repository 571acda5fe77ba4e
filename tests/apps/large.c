/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * large.c - the large-count functions, which some MPIs lack.
 *
 * Usage: large calls    each of them once, and what the statuses say
 *        large bursts   many sends one behind the other
 *        large limits   counts and sizes that no int holds, as far as they need no memory
 *        large weak     a program that uses what it finds
 * Built with USE_CUDA the objects lie on a device.
 */
#include "mem.h"
#include "large.h"
#include <sys/mman.h>

#define BLOCKS 64
#define ELEMENTS (2 * BLOCKS)
#define BYTES (4 * ELEMENTS)
#define SPAN (16 * BLOCKS)

static MPI_Datatype vec; /* 2 of 4 ints */
static unsigned char *sent, *object, *target, packed[2 * BYTES];
static MPI_Request rq;
static MPI_Status st;

/* what `elements` ints of the object make of the target */
static void arrived(const char *what, int elements)
{
    unsigned char *want = host_buf(2 * SPAN);
    int i;
    memset(want, 0x5a, 2 * SPAN);
    for (i = 0; i < elements; i++)
        memcpy(want + 16 * (i / 2) + 4 * (i % 2), sent + 16 * (i / 2) + 4 * (i % 2), 4);
    mem_same(target, want, 2 * SPAN, what);
    mem_set(target, 0x5a, 2 * SPAN);
    free(want);
}

/* what a status says of a receive of `elements` ints */
static void says(const char *what, int elements)
{
    int n = -1, whole = elements % ELEMENTS == 0;
    large_get *count = large_getter("MPI_Get_count_c"), *parts = large_getter("MPI_Get_elements_c");
    MPI_Count c = -1;
    OK(MPI_Get_count(&st, vec, &n));
    CHECK(n == (whole ? elements / ELEMENTS : MPI_UNDEFINED), "%s: count %d", what, n);
    OK(MPI_Get_count(&st, MPI_INT, &n));
    CHECK(n == elements, "%s: %d ints", what, n);
    OK(MPI_Get_elements(&st, vec, &n));
    CHECK(n == elements, "%s: %d elements", what, n);
    OK(MPI_Get_elements_x(&st, vec, &c));
    CHECK(c == elements, "%s: %lld elements_x", what, (long long)c);
    if (count != NULL) {
        OK(count(&st, vec, &c));
        CHECK(c == (whole ? elements / ELEMENTS : MPI_UNDEFINED), "%s: count_c %lld", what, (long long)c);
    }
    if (parts != NULL) {
        OK(parts(&st, vec, &c));
        CHECK(c == elements, "%s: %lld elements_c", what, (long long)c);
    }
    CHECK(st.MPI_SOURCE == 0 && st.MPI_TAG == 3, "%s: source %d tag %d", what, st.MPI_SOURCE, st.MPI_TAG);
}

#define WHERE 0, 3, MPI_COMM_WORLD

static void send_modes(void)
{
    static char room[4 * BYTES + 4 * 512];
    int (*block[])(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send_c, MPI_Ssend_c, MPI_Rsend_c,
                                                                                  MPI_Bsend_c};
    int (*post[])(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
        MPI_Isend_c,     MPI_Issend_c,     MPI_Irsend_c,     MPI_Ibsend_c,
        MPI_Send_init_c, MPI_Ssend_init_c, MPI_Rsend_init_c, MPI_Bsend_init_c};
    MPI_Request mine;
    void *detached;
    char what[64];
    int i, n;

    OK(MPI_Buffer_attach(room, sizeof room));
    for (i = 0; i < 4; i++) {
        OK(MPI_Irecv(target, 1, vec, WHERE, &rq));
        OK(block[i](object, 1, vec, WHERE));
        OK(MPI_Wait(&rq, &st));
        snprintf(what, sizeof what, "blocking send %d", i);
        says(what, ELEMENTS);
        arrived(what, ELEMENTS);
    }
    for (i = 0; i < 8; i++) {
        OK(MPI_Irecv(target, 1, vec, WHERE, &rq));
        OK(post[i](object, 1, vec, WHERE, &mine));
        if (i >= 4)
            OK(MPI_Start(&mine));
        OK(MPI_Wait(&rq, &st));
        OK(MPI_Wait(&mine, MPI_STATUS_IGNORE));
        if (i >= 4)
            OK(MPI_Request_free(&mine));
        snprintf(what, sizeof what, "immediate send %d", i);
        says(what, ELEMENTS);
        arrived(what, ELEMENTS);
    }
    OK(MPI_Buffer_detach(&detached, &n));
}

/* every receive, with room for two, of so many ints */
static void receives(int elements)
{
    MPI_Message message;
    unsigned char *ints = host_buf(BYTES);
    MPI_Request mine;
    char what[64];
    int i;

    for (i = 0; i < elements; i++)
        memcpy(ints + 4 * i, sent + 16 * (i / 2) + 4 * (i % 2), 4);
    for (i = 0; i < 5; i++) {
        snprintf(what, sizeof what, "receive %d of %d ints", i, elements);
        OK(MPI_Isend(ints, elements, MPI_INT, WHERE, &mine));
        if (i == 1 || i == 3)
            OK(MPI_Mprobe(WHERE, &message, MPI_STATUS_IGNORE));
        switch (i) {
        case 0:
            OK(MPI_Recv_c(target, 2, vec, WHERE, &st));
            break;
        case 1:
            OK(MPI_Mrecv_c(target, 2, vec, &message, &st));
            break;
        case 2:
            OK(MPI_Irecv_c(target, 2, vec, WHERE, &rq));
            OK(MPI_Wait(&rq, &st));
            break;
        case 3:
            OK(MPI_Imrecv_c(target, 2, vec, &message, &rq));
            OK(MPI_Wait(&rq, &st));
            break;
        default:
            OK(MPI_Recv_init_c(target, 2, vec, WHERE, &rq));
            OK(MPI_Start(&rq));
            OK(MPI_Wait(&rq, &st));
            OK(MPI_Request_free(&rq));
        }
        OK(MPI_Wait(&mine, MPI_STATUS_IGNORE));
        says(what, elements);
        arrived(what, elements);
    }
    free(ints);
}

/* sends that may be packed together, as often as it takes to be expected */
static void bursts(void)
{
    enum { SENDS = 4, ROUNDS = 6 };
    unsigned char *targets[SENDS], *want = host_buf(SPAN);
    MPI_Request all[2 * SENDS];
    char what[64];
    int i, round;

    for (i = 0; i < SENDS; i++)
        targets[i] = mem_alloc(SPAN);
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < SENDS; i++) {
            mem_set(targets[i], 0x5a, SPAN);
            OK(MPI_Irecv_c(targets[i], 1, vec, 0, i, MPI_COMM_WORLD, &all[i]));
        }
        for (i = 0; i < SENDS; i++)
            OK(MPI_Isend_c(object + 16 * i, 1, vec, 0, i, MPI_COMM_WORLD, &all[SENDS + i]));
        OK(MPI_Waitall(2 * SENDS, all, MPI_STATUSES_IGNORE));
        for (i = 0; i < SENDS; i++) {
            int j;
            memset(want, 0x5a, SPAN);
            for (j = 0; j < BLOCKS; j++)
                memcpy(want + 16 * j, sent + 16 * (i + j), 8);
            snprintf(what, sizeof what, "send %d of round %d", i, round);
            mem_same(targets[i], want, SPAN, what);
        }
    }
    for (i = 0; i < SENDS; i++)
        mem_free(targets[i]);
    free(want);
}

static void calls(void)
{
    MPI_Count position = 8;

    send_modes();
    receives(ELEMENTS);
    receives(5);
    OK(MPI_Sendrecv_c(object, 1, vec, 0, 3, target, 2, vec, WHERE, &st));
    says("sendrecv", ELEMENTS);
    arrived("sendrecv", ELEMENTS);
    mem_put(target, sent, SPAN);
    OK(MPI_Sendrecv_replace_c(target, 1, vec, 0, 3, WHERE, &st));
    says("sendrecv_replace", ELEMENTS);
    mem_same(target, sent, SPAN, "sendrecv_replace");
    mem_set(target, 0x5a, 2 * SPAN);
    OK(MPI_Pack_c(object, 1, vec, packed, sizeof packed, &position, MPI_COMM_WORLD));
    CHECK(position == 8 + BYTES, "position %lld after the pack", (long long)position);
    position = 8;
    OK(MPI_Unpack_c(packed, sizeof packed, &position, target, 1, vec, MPI_COMM_WORLD));
    CHECK(position == 8 + BYTES, "position %lld after the unpack", (long long)position);
    arrived("pack and unpack", ELEMENTS);
    /* forwarded, and counted by its name */
    OK(MPI_Send_c(object, 1, vec, MPI_PROC_NULL, 3, MPI_COMM_WORLD));
}

static void limits(void)
{
    const MPI_Count many = ((MPI_Count)1 << 31) + 7, far = ((MPI_Count)1 << 32) + 24;
    const int numbers[3] = {11, 22, 33};
    MPI_Datatype none, apart;
    MPI_Message message;
    MPI_Count position;
    unsigned char *room;
    int i, n, got[3 * 4];

    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Type_contiguous(0, MPI_INT, &none));
    OK(MPI_Type_commit(&none));
    OK(MPI_Type_create_resized(MPI_INT, 0, 16, &apart));
    OK(MPI_Type_commit(&apart));

    /* many elements of nothing, and of something to nobody */
    OK(MPI_Irecv_c(got, many, none, WHERE, &rq));
    OK(MPI_Send_c(numbers, many, none, WHERE));
    OK(MPI_Wait(&rq, &st));
    OK(MPI_Get_count(&st, MPI_BYTE, &n));
    CHECK(n == 0, "%d bytes of nothing", n);
    OK(MPI_Send_c(numbers, many, vec, MPI_PROC_NULL, 3, MPI_COMM_WORLD));

    /* room for more elements than an int counts, three of which come */
    for (i = 0; i < 6; i++) {
        MPI_Request mine;
        memset(got, 0, sizeof got);
        OK(MPI_Isend(numbers, 3, MPI_INT, WHERE, &mine));
        if (i == 1 || i == 3)
            OK(MPI_Mprobe(WHERE, &message, MPI_STATUS_IGNORE));
        switch (i) {
        case 0:
            OK(MPI_Recv_c(got, many, apart, WHERE, &st));
            break;
        case 1:
            OK(MPI_Mrecv_c(got, many, apart, &message, &st));
            break;
        case 2:
            OK(MPI_Irecv_c(got, many, apart, WHERE, &rq));
            OK(MPI_Wait(&rq, &st));
            break;
        case 3:
            OK(MPI_Imrecv_c(got, many, apart, &message, &rq));
            OK(MPI_Wait(&rq, &st));
            break;
        case 4:
            OK(MPI_Sendrecv_c(numbers, many, none, MPI_PROC_NULL, 3, got, many, apart, WHERE, &st));
            break;
        default:
            OK(MPI_Recv_init_c(got, many, apart, WHERE, &rq));
            OK(MPI_Start(&rq));
            OK(MPI_Wait(&rq, &st));
            OK(MPI_Request_free(&rq));
        }
        OK(MPI_Wait(&mine, MPI_STATUS_IGNORE));
        OK(MPI_Get_count(&st, apart, &n));
        CHECK(n == 3, "receive %d: count %d", i, n);
        CHECK(got[0] == 11 && got[4] == 22 && got[8] == 33 && got[1] == 0 && got[5] == 0, "receive %d: data", i);
    }

    /* what is no count */
    CHECK(MPI_Send_c(numbers, -1, MPI_INT, WHERE) != MPI_SUCCESS, "a negative count");
    CHECK(MPI_Send_c(numbers, -many, MPI_INT, WHERE) != MPI_SUCCESS, "a very negative count");
#ifdef OPEN_MPI
    CHECK(MPI_Send_c(numbers, (MPI_Count)1 << 62, MPI_INT, WHERE) != MPI_SUCCESS, "a count beyond all types");
#endif

    /* positions that an int does not hold */
    room = mmap(NULL, (size_t)far + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(room != MAP_FAILED, "no address space");
    position = far;
    OK(MPI_Pack_c(object, 1, vec, room, far + BYTES, &position, MPI_COMM_WORLD));
    CHECK(position == far + BYTES, "position %lld", (long long)position);
#ifdef OPEN_MPI /* MPICH does not look */
    CHECK(MPI_Pack_c(object, 1, vec, room, far + BYTES, &position, MPI_COMM_WORLD) != MPI_SUCCESS, "no room");
    CHECK(position == far + BYTES, "position %lld after an error", (long long)position);
#endif
    position = far;
    OK(MPI_Unpack_c(room, far + BYTES, &position, target, 1, vec, MPI_COMM_WORLD));
    CHECK(position == far + BYTES, "position %lld", (long long)position);
    arrived("far pack and unpack", ELEMENTS);
    /* a count that no int holds, of nothing */
    position = far;
    OK(MPI_Pack_c(object, many, none, room, far + BYTES, &position, MPI_COMM_WORLD));
    CHECK(position == far, "position %lld after nothing", (long long)position);
    munmap(room, (size_t)far + 4096);
    OK(MPI_Type_free(&none));
    OK(MPI_Type_free(&apart));
}

static void weak(void)
{
    static const char *const others[] = {"MPI_Isendrecv",  "MPI_Isendrecv_c", "MPI_Bcast_c",
                                         "MPI_Type_size_c", "MPI_Get_count_c", "PMPI_Reduce_c"};
    int (*send)(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
    unsigned i;

    *(void **)&send = dlsym(RTLD_DEFAULT, "MPI_Send_c");
    CHECK((send == NULL) == (MPI_Send_c == NULL), "dlsym and the reference disagree");
    OK(MPI_Irecv(target, 1, vec, WHERE, &rq));
    if (send != NULL)
        OK(send(object, 1, vec, WHERE));
    else
        OK(MPI_Send(object, 1, vec, WHERE));
    OK(MPI_Wait(&rq, &st));
    arrived("by dlsym", ELEMENTS);
    OK(MPI_Irecv(target, 1, vec, WHERE, &rq));
    if (MPI_Send_c != NULL)
        OK(MPI_Send_c(object, 1, vec, WHERE));
    else
        OK(MPI_Send(object, 1, vec, WHERE));
    OK(MPI_Wait(&rq, &st));
    arrived("by a weak reference", ELEMENTS);
    for (i = 0; i < sizeof others / sizeof *others; i++)
        printf("%s %s\n", others[i], dlsym(RTLD_DEFAULT, others[i]) != NULL ? "found" : "absent");
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    case_start(&argc, &argv, "large", 1);
    OK(MPI_Type_vector(BLOCKS, 2, 4, MPI_INT, &vec));
    OK(MPI_Type_commit(&vec));
    sent = pat_buf(2 * SPAN, 3);
    object = mem_alloc(2 * SPAN);
    target = mem_alloc(2 * SPAN);
    mem_put(object, sent, 2 * SPAN);
    mem_set(target, 0x5a, 2 * SPAN);
    if (strcmp(name, "calls") == 0)
        calls();
    else if (strcmp(name, "bursts") == 0)
        bursts();
    else if (strcmp(name, "limits") == 0)
        limits();
    else if (strcmp(name, "weak") == 0)
        weak();
    else
        FAIL("nothing to do of the name \"%s\"", name);
    OK(MPI_Type_free(&vec));
    mem_free(object);
    mem_free(target);
    free(sent);
    return case_end();
}
