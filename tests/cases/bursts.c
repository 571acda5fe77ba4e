/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Bursts of immediate sends, as a halo exchange makes them: whatever a library does to pack them together, each is
 * a request like any other, none is overtaken by a later message, and all travel although the program makes no further
 * MPI call. Several rounds, because a library may have learned from the earlier ones what to expect. */
#include "mem.h"
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 12, BLOCKS = 40, ROUNDS = 4 };

static MPI_Datatype t;
static layout l = {0};
static unsigned char *plain;
static area out[N], in[N];
static MPI_Request rq[N];

static void expect(area *d, unsigned salt, const char *what)
{
    area s = area_make(&l, salt);
    lay_gather(&l, s.img + s.zero, plain);
    area_drop(&s);
    ex_check_area(d, &l, plain, what, "data");
}

static void fill(unsigned salt)
{
    for (int i = 0; i < N; i++) {
        out[i] = area_make(&l, salt + (unsigned)i);
        in[i] = area_make(&l, 230);
        rq[i] = MPI_REQUEST_NULL;
    }
}

static void drop(void)
{
    for (int i = 0; i < N; i++) {
        area_drop(&out[i]);
        area_drop(&in[i]);
    }
}

static void received(unsigned salt, const char *what)
{
    for (int i = 0; i < N; i++)
        expect(&in[i], salt + (unsigned)i, what);
}

static void receive_all(int tag, MPI_Comm comm)
{
    for (int i = 0; i < N; i++)
        OK(MPI_Recv(in[i].buf, 1, t, 0, tag, comm, MPI_STATUS_IGNORE));
}

static void isend(int i, int tag, MPI_Comm comm)
{
    if (i % 3 == 2)
        OK(MPI_Issend(out[i].buf, 1, t, 1, tag, comm, &rq[i]));
    else
        OK(MPI_Isend(out[i].buf, 1, t, 1, tag, comm, &rq[i]));
}

/* ------------------------------------------------------------------ completion: the handles of a burst are like others */

static int left(void)
{
    int n = 0;
    for (int i = 0; i < N; i++)
        n += rq[i] != MPI_REQUEST_NULL;
    return n;
}

static void complete(int how)
{
    int flag = 0, index, count, places[N];
    MPI_Status st[N];
    switch (how) {
    case 0: OK(MPI_Waitall(N, rq, MPI_STATUSES_IGNORE)); break;
    case 1:
        for (int i = N - 1; i >= 0; i--)
            OK(MPI_Wait(&rq[i], &st[0]));
        break;
    case 2:
        for (int i = 0; i < N; i++) {
            OK(MPI_Waitany(N, rq, &index, MPI_STATUS_IGNORE));
            CHECK(index >= 0 && index < N && rq[index] == MPI_REQUEST_NULL, "MPI_Waitany: index %d", index);
        }
        OK(MPI_Waitany(N, rq, &index, &st[0]));
        CHECK(index == MPI_UNDEFINED, "MPI_Waitany of nothing: index %d", index);
        break;
    case 3:
        for (int done = 0; done < N; done += count) {
            OK(MPI_Waitsome(N, rq, &count, places, st));
            CHECK(count > 0 && done + count <= N, "MPI_Waitsome: %d of %d", count, N - done);
            CHECK(left() == N - done - count, "MPI_Waitsome left %d requests", left());
        }
        break;
    case 4:
        for (int i = 0; i < N; i++)
            for (flag = 0; !flag;)
                OK(MPI_Test(&rq[i], &flag, MPI_STATUS_IGNORE));
        break;
    case 5:
        while (!flag)
            OK(MPI_Testall(N, rq, &flag, st));
        break;
    case 6:
        for (int done = 0; done < N;) {
            OK(MPI_Testany(N, rq, &index, &flag, MPI_STATUS_IGNORE));
            done += flag && index != MPI_UNDEFINED;
        }
        break;
    case 7:
        for (int done = 0; done < N; done += count) {
            OK(MPI_Testsome(N, rq, &count, places, MPI_STATUSES_IGNORE));
            CHECK(count != MPI_UNDEFINED, "MPI_Testsome knows no request, %d are left", N - done);
        }
        break;
    case 8: /* seen to be complete first */
        for (int i = 0; i < N; i++) {
            for (flag = 0; !flag;)
                OK(MPI_Request_get_status(rq[i], &flag, MPI_STATUS_IGNORE));
            CHECK(rq[i] != MPI_REQUEST_NULL, "MPI_Request_get_status freed a request");
            OK(MPI_Wait(&rq[i], MPI_STATUS_IGNORE));
        }
        break;
    default: /* given up */
        for (int i = 0; i < N; i++)
            OK(MPI_Request_free(&rq[i]));
    }
    CHECK(left() == 0, "completion %d left %d requests", how, left());
}

static void every_completion(void)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int how = 0; how < 10; how++) {
            unsigned salt = (unsigned)(20 * how + round);
            fill(salt);
            if (case_rank == 0) {
                for (int i = 0; i < N; i++)
                    isend(i, how, MPI_COMM_WORLD);
                complete(how);
            } else {
                receive_all(how, MPI_COMM_WORLD);
                received(salt, "a burst");
            }
            OK(MPI_Barrier(MPI_COMM_WORLD)); /* those that were given up still need their data */
            drop();
        }
}

/* ------------------------------------------------------------------ what may follow a burst */

static volatile int *shared;
static MPI_Win window;

/* The receiver sees the messages of the burst although the sender does something else that needs the receiver. */
static void followed_by(int what)
{
    MPI_Comm comm = MPI_COMM_WORLD, copy;
    MPI_Status st;
    int token = 0, flag;
    unsigned salt = (unsigned)(10 * what + 7);
    if (shared == NULL) {
        int *base;
        MPI_Aint size;
        int unit;
        OK(MPI_Win_allocate_shared(case_rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, comm, &base, &window));
        OK(MPI_Win_shared_query(window, 0, &size, &unit, &base));
        shared = base;
        shared[0] = 0;
        OK(MPI_Barrier(comm));
    }
    OK(MPI_Comm_dup(comm, &copy));
    fill(salt);
    if (case_rank == 0) {
        for (int i = 0; i < N; i++)
            isend(i, 5, copy);
        switch (what) {
        case 0: OK(MPI_Recv(&token, 1, MPI_INT, 1, 6, comm, MPI_STATUS_IGNORE)); break;
        case 1: OK(MPI_Probe(1, 6, comm, &st)); break;
        case 2:
            for (flag = 0; !flag;)
                OK(MPI_Iprobe(1, 6, comm, &flag, &st));
            break;
        case 3: OK(MPI_Barrier(comm)); break;
        case 4: OK(MPI_Bcast(&token, 1, MPI_INT, 1, comm)); break;
        case 5: OK(MPI_Ssend(&token, 1, MPI_INT, 1, 6, comm)); break;
        case 6: /* no MPI call at all: the other side answers through memory */
            while (__atomic_load_n(&shared[0], __ATOMIC_ACQUIRE) == 0)
                ;
            shared[0] = 0;
            break;
        case 7: OK(MPI_Sendrecv(&token, 1, MPI_INT, 1, 6, &token, 1, MPI_INT, 1, 6, comm, MPI_STATUS_IGNORE)); break;
        default: { /* the communicator and the type are given up at once */
            MPI_Datatype other;
            OK(MPI_Type_dup(t, &other));
            OK(MPI_Type_free(&other));
            OK(MPI_Comm_free(&copy));
        }
        }
        if (what == 1 || what == 2)
            OK(MPI_Recv(&token, 1, MPI_INT, 1, 6, comm, MPI_STATUS_IGNORE));
        OK(MPI_Waitall(N, rq, MPI_STATUSES_IGNORE));
    } else {
        receive_all(5, copy);
        received(salt, "followed by another call");
        switch (what) {
        case 0: case 1: case 2: OK(MPI_Send(&token, 1, MPI_INT, 0, 6, comm)); break;
        case 3: OK(MPI_Barrier(comm)); break;
        case 4: OK(MPI_Bcast(&token, 1, MPI_INT, 1, comm)); break;
        case 5: OK(MPI_Recv(&token, 1, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE)); break;
        case 6: __atomic_store_n(&shared[0], 1, __ATOMIC_RELEASE); break;
        case 7: OK(MPI_Sendrecv(&token, 1, MPI_INT, 0, 6, &token, 1, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE)); break;
        default: OK(MPI_Comm_free(&copy));
        }
    }
    if (copy != MPI_COMM_NULL)
        OK(MPI_Comm_free(&copy));
    OK(MPI_Barrier(comm));
    drop();
}

/* ------------------------------------------------------------------ order, whatever mixture */

/* Number i of the messages goes by another function; the receiver must see them in the order of their numbers. */
static void order(int round)
{
    enum { CELLS = BLOCKS };
    double *contiguous[N], *host[N];
    MPI_Request persistent = MPI_REQUEST_NULL;
    unsigned salt = (unsigned)(40 + round);
    fill(salt);
    if (case_rank == 0) {
        for (int i = 0; i < N; i++) {
            contiguous[i] = mem_alloc_contig(CELLS * sizeof(double));
            host[i] = host_buf(CELLS * sizeof(double));
            lay_gather(&l, out[i].img + out[i].zero, plain);
            mem_put(contiguous[i], plain, l.bytes);
            memcpy(host[i], plain, l.bytes);
        }
        for (int i = 0; i < N; i++) {
            int kind = (i + round) % 6;
            if (kind < 2) {
                OK(MPI_Isend(out[i].buf, 1, t, 1, 7, MPI_COMM_WORLD, &rq[i]));
            } else if (kind == 2) {
                OK(MPI_Isend(contiguous[i], CELLS, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &rq[i]));
            } else if (kind == 3) {
                OK(MPI_Isend(host[i], CELLS, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &rq[i]));
            } else if (kind == 4) {
                OK(MPI_Isend(out[i].buf, 0, t, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &rq[i]));
                OK(MPI_Wait(&rq[i], MPI_STATUS_IGNORE));
                OK(MPI_Irsend(out[i].buf, 0, t, 1, 8, MPI_COMM_WORLD, &rq[i])); /* empty, posted for by the other side */
                OK(MPI_Wait(&rq[i], MPI_STATUS_IGNORE));
                OK(MPI_Isend(out[i].buf, 1, t, 1, 7, MPI_COMM_WORLD, &rq[i]));
            } else if (round % 2) {
                OK(MPI_Send(out[i].buf, 1, t, 1, 7, MPI_COMM_WORLD));
            } else {
                OK(MPI_Send_init(out[i].buf, 1, t, 1, 7, MPI_COMM_WORLD, &persistent));
                OK(MPI_Start(&persistent));
                rq[i] = persistent;
            }
        }
        OK(MPI_Waitall(N, rq, MPI_STATUSES_IGNORE));
        for (int i = 0; i < N; i++) {
            if (rq[i] != MPI_REQUEST_NULL)
                OK(MPI_Request_free(&rq[i]));
            mem_free(contiguous[i]);
            free(host[i]);
        }
    } else {
        MPI_Request empty[N];
        int n = 0;
        for (int i = 0; i < N; i++)
            if ((i + round) % 6 == 4)
                OK(MPI_Irecv(in[i].buf, 0, t, 0, 8, MPI_COMM_WORLD, &empty[n++]));
        receive_all(7, MPI_COMM_WORLD);
        received(salt, "order");
        OK(MPI_Waitall(n, empty, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    drop();
}

/* Both sides at once, receives and sends in turn, and a program that computes before it waits. */
static void both_ways(int round)
{
    MPI_Request all[2 * N];
    int peer = 1 - case_rank;
    unsigned salt = (unsigned)(60 + 20 * round);
    fill(salt + (unsigned)case_rank);
    for (int i = 0; i < N; i++) {
        OK(MPI_Irecv(in[i].buf, 1, t, peer, 9, MPI_COMM_WORLD, &all[2 * i]));
        OK(MPI_Isend(out[i].buf, 1, t, peer, 9, MPI_COMM_WORLD, &all[2 * i + 1]));
    }
    if (round % 2) {
        struct timespec pause = {0, 3000000};
        nanosleep(&pause, NULL);
    }
    OK(MPI_Waitall(2 * N, all, MPI_STATUSES_IGNORE));
    received(salt + (unsigned)peer, "both ways");
    drop();
}

/* A child that is made in the middle of a burst has nothing to do with it. */
static void forked(int round)
{
    unsigned salt = (unsigned)(120 + 20 * round);
    fill(salt);
    if (case_rank == 0) {
        pid_t child;
        int end = 0;
        for (int i = 0; i < N; i++)
            isend(i, 10, MPI_COMM_WORLD);
        if ((child = fork()) == 0) {
            alarm(20);
            _exit(MPI_Wtime() >= 0 ? 0 : 1);
        }
        CHECK(child > 0 && waitpid(child, &end, 0) == child && end == 0, "the child ended with %d", end);
        OK(MPI_Waitall(N, rq, MPI_STATUSES_IGNORE));
    } else {
        receive_all(10, MPI_COMM_WORLD);
        received(salt, "a burst, and a child made in it");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (case_rank == 1) {
        int flag;
        OK(MPI_Iprobe(0, 10, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag, "the child has sent messages of its own");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    drop();
}

int main(int argc, char **argv)
{
    case_start(&argc, &argv, "bursts", 2);
    OK(MPI_Type_vector(BLOCKS, 1, 3, MPI_DOUBLE, &t));
    OK(MPI_Type_commit(&t));
    for (int i = 0; i < BLOCKS; i++)
        lay_add(&l, 24 * i, 8);
    plain = host_buf(l.bytes);
    every_completion();
    for (int round = 0; round < ROUNDS; round++)
        for (int what = 0; what < 9; what++)
            followed_by(what);
    OK(MPI_Win_free(&window));
    for (int round = 0; round < 12; round++)
        order(round);
    for (int round = 0; round < 6; round++)
        both_ways(round);
    for (int round = 0; round < 3; round++)
        forked(round);
    OK(MPI_Type_free(&t));
    lay_drop(&l);
    free(plain);
    return case_end();
}
