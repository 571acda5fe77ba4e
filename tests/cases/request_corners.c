/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Requests in their rarer states: several statuses of which one fails, completion
 * asked for before it is taken, requests and communicators that are gone before the
 * operation is over, receives that are freed, work left for MPI_Finalize. */
#include "mem.h"

enum { BLOCKS = 40 };

static MPI_Datatype t;
static layout l = {0};
static unsigned char *plain;

static const unsigned char *packed(unsigned salt)
{
    area a = area_make(&l, salt);
    lay_gather(&l, a.img + a.zero, plain);
    area_drop(&a);
    return plain;
}

/* one receive of three is too short: the others deliver, each status says its own */
static void one_of_three_fails(void)
{
    area a[3];
    MPI_Request rq[3];
    MPI_Status st[3];
    MPI_Datatype small;
    int k, rc, how, persistent;

    OK(MPI_Type_vector(BLOCKS / 2, 2, 3, MPI_INT, &small));
    OK(MPI_Type_commit(&small));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (how = 0; how < 3; how++)
        for (persistent = 0; persistent < 2; persistent++) {
            if (how == 2 && persistent)
                continue; /* MPIs disagree on what MPI_Waitsome leaves of a failed persistent request */
            for (k = 0; k < 3; k++) {
                MPI_Datatype u = k == 1 ? small : t;
                a[k] = area_make(&l, (unsigned)(50 + k + 10 * case_rank));
                if (case_rank == 0)
                    continue;
                if (persistent) {
                    OK(MPI_Recv_init(a[k].buf, 1, u, 0, k, MPI_COMM_WORLD, &rq[k]));
                    OK(MPI_Start(&rq[k]));
                } else {
                    OK(MPI_Irecv(a[k].buf, 1, u, 0, k, MPI_COMM_WORLD, &rq[k]));
                }
            }
            OK(MPI_Barrier(MPI_COMM_WORLD));
            if (case_rank == 0) {
                for (k = 0; k < 3; k++)
                    OK(MPI_Send(a[k].buf, 1, t, 1, k, MPI_COMM_WORLD));
            } else {
                for (k = 0; k < 3; k++) {
                    st[k].MPI_ERROR = 4711;
                    st[k].MPI_SOURCE = -5;
                }
                if (how == 0) {
                    rc = MPI_Waitall(3, rq, st);
                    CHECK(rc != MPI_SUCCESS, "MPI_Waitall with a message that is too long succeeds");
                    for (k = 0; k < 3; k++)
                        if (k != 1 && st[k].MPI_ERROR == MPI_ERR_PENDING)
                            OK(MPI_Wait(&rq[k], &st[k]));
                        else if (k != 1)
                            CHECK(st[k].MPI_ERROR == MPI_SUCCESS, "status %d has error %d", k, st[k].MPI_ERROR);
                } else if (how == 1) {
                    for (k = 0; k < 3; k++) {
                        rc = MPI_Wait(&rq[k], &st[k]);
                        CHECK((rc != MPI_SUCCESS) == (k == 1), "MPI_Wait of %d returned %d", k, rc);
                    }
                } else {
                    int left = 3, n, out[3], i, seen[3] = {0, 0, 0};
                    while (left > 0) {
                        MPI_Status s[3];
                        rc = MPI_Waitsome(3, rq, &n, out, s);
                        CHECK(n != MPI_UNDEFINED, "MPI_Waitsome: none left, but %d were not seen", left);
                        for (i = 0; i < n; i++) {
                            CHECK(out[i] >= 0 && out[i] < 3 && !seen[out[i]], "MPI_Waitsome: index %d", out[i]);
                            seen[out[i]] = 1;
                            st[out[i]] = s[i];
                            if (rc != MPI_SUCCESS)
                                CHECK((s[i].MPI_ERROR != MPI_SUCCESS) == (out[i] == 1), "status of %d has error %d", out[i], s[i].MPI_ERROR);
                        }
                        left -= n;
                    }
                }
                for (k = 0; k < 3; k += 2) {
                    CHECK(st[k].MPI_SOURCE == 0 && st[k].MPI_TAG == k, "status %d: source %d tag %d", k, st[k].MPI_SOURCE, st[k].MPI_TAG);
                    ex_check_area(&a[k], &l, packed((unsigned)(50 + k)), "one of three fails", persistent ? how ? "persistent, MPI_Wait" : "persistent, MPI_Waitall" : how == 2 ? "MPI_Waitsome" : how ? "MPI_Wait" : "MPI_Waitall");
                }
                for (k = 0; k < 3; k++)
                    if (persistent && rq[k] != MPI_REQUEST_NULL) /* Open MPI frees one that failed */
                        OK(MPI_Request_free(&rq[k]));
                    else if (!persistent)
                        CHECK(rq[k] == MPI_REQUEST_NULL, "request %d is left", k);
            }
            for (k = 0; k < 3; k++)
                area_drop(&a[k]);
        }
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Type_free(&small));
}

/* MPI_Request_get_status says yes: the data is there; the call that frees the request writes nothing */
static void status_before_wait(void)
{
    area a = area_make(&l, (unsigned)(70 + case_rank));
    MPI_Request rq;
    MPI_Status st;
    int flag = 0, n, round;

    for (round = 0; round < 2; round++) {
        if (case_rank == 0) {
            OK(MPI_Send(a.buf, 1, t, 1, 5, MPI_COMM_WORLD));
        } else {
            OK(MPI_Irecv(a.buf, 2, t, 0, 5, MPI_COMM_WORLD, &rq));
            do
                OK(MPI_Request_get_status(rq, &flag, round ? MPI_STATUS_IGNORE : &st));
            while (!flag);
            ex_check_area(&a, &l, packed(70), "MPI_Request_get_status", "data when it says yes");
            mem_set(a.mem, 0x5a, a.len);
            OK(MPI_Request_get_status(rq, &flag, &st));
            CHECK(flag, "MPI_Request_get_status says no after yes");
            memset(&st, 0, sizeof st);
            OK(MPI_Test(&rq, &flag, &st));
            CHECK(flag && rq == MPI_REQUEST_NULL, "MPI_Test after MPI_Request_get_status");
            OK(MPI_Get_count(&st, t, &n));
            CHECK(n == 1, "%d elements", n);
            memset(a.img, 0x5a, a.len);
            ex_check_area(&a, &l, NULL, "MPI_Request_get_status", "nothing is written twice");
        }
    }
    area_drop(&a);
}

/* a receive that was freed still delivers; a persistent send that was freed still sends */
static void freed_while_active(void)
{
    area a = area_make(&l, (unsigned)(80 + case_rank));
    MPI_Request rq, none = MPI_REQUEST_NULL;
    int token = 0, flag;

    if (case_rank == 1) {
        OK(MPI_Irecv(a.buf, 1, t, 0, 6, MPI_COMM_WORLD, &rq));
        OK(MPI_Request_free(&rq));
        CHECK(rq == MPI_REQUEST_NULL, "MPI_Request_free left the handle");
        OK(MPI_Send(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
        /* the second message comes after the first: once it is here, so is that */
        OK(MPI_Recv(&token, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (token = 0; token < 1000; token++)
            OK(MPI_Test(&none, &flag, MPI_STATUS_IGNORE));
        ex_check_area(&a, &l, packed(80), "freed receive", "data");
    } else {
        OK(MPI_Recv(&token, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Ssend_init(a.buf, 1, t, 1, 6, MPI_COMM_WORLD, &rq));
        OK(MPI_Start(&rq));
        OK(MPI_Request_free(&rq));
        CHECK(rq == MPI_REQUEST_NULL, "MPI_Request_free left the handle of a persistent request");
        OK(MPI_Send(&token, 1, MPI_INT, 1, 6, MPI_COMM_WORLD));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    area_drop(&a);
}

/* the communicator is freed before anything was sent on it */
static void comm_freed(void)
{
    area s = area_make(&l, (unsigned)(90 + case_rank)), d = area_make(&l, 99);
    MPI_Comm comm;
    MPI_Request rq[2];
    int peer = 1 - case_rank;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Irecv(d.buf, 1, t, peer, 8, comm, &rq[0]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Isend(s.buf, 1, t, peer, 8, comm, &rq[1]));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    ex_check_area(&d, &l, packed((unsigned)(90 + peer)), "freed communicator", "data");
    area_drop(&s);
    area_drop(&d);
}

/* a persistent receive gets messages of different lengths, and one start is cancelled */
static void persistent_lengths(void)
{
    MPI_Datatype half;
    layout h = {0};
    area s = area_make(&l, 110), d = area_make(&l, 111);
    unsigned char *halfplain;
    MPI_Request rq;
    MPI_Status st;
    int i, round, n, flag;

    OK(MPI_Type_vector(BLOCKS / 4, 2, 3, MPI_INT, &half));
    OK(MPI_Type_commit(&half));
    for (i = 0; i < BLOCKS / 4; i++)
        lay_add(&h, 12 * i, 8);
    halfplain = host_buf(h.bytes);
    lay_gather(&h, s.img + s.zero, halfplain);
    if (case_rank == 1)
        OK(MPI_Recv_init(d.buf, 1, t, 0, 9, MPI_COMM_WORLD, &rq));
    for (round = 0; round < 4; round++) {
        int part = round % 2;
        if (case_rank == 0) {
            OK(MPI_Recv(&i, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Send(s.buf, 1, part ? half : t, 1, 9, MPI_COMM_WORLD));
            continue;
        }
        if (round == 2) { /* nobody has sent yet */
            OK(MPI_Start(&rq));
            OK(MPI_Cancel(&rq));
            OK(MPI_Waitany(1, &rq, &i, &st));
            OK(MPI_Test_cancelled(&st, &flag));
            CHECK(i == 0 && flag, "index %d, cancelled %d", i, flag);
        }
        mem_set(d.mem, 0x11, d.len);
        memset(d.img, 0x11, d.len);
        OK(MPI_Start(&rq));
        OK(MPI_Request_get_status(rq, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag, "complete, but nothing was sent");
        OK(MPI_Send(&i, 1, MPI_INT, 0, 10, MPI_COMM_WORLD));
        if (round < 2) {
            OK(MPI_Wait(&rq, &st));
        } else {
            do
                OK(MPI_Testany(1, &rq, &i, &flag, &st));
            while (!flag);
            CHECK(i == 0, "MPI_Testany gave %d", i);
        }
        OK(MPI_Get_elements(&st, MPI_INT, &n));
        CHECK(n == (part ? BLOCKS / 2 : 2 * BLOCKS), "round %d: %d ints", round, n);
        if (part)
            ex_check_area(&d, &h, halfplain, "persistent receive", "half a message");
        else
            ex_check_area(&d, &l, packed(110), "persistent receive", "a whole message");
    }
    if (case_rank == 1) {
        /* started again and freed without a message ever: cancelled first, so that nothing is left */
        OK(MPI_Start(&rq));
        OK(MPI_Cancel(&rq));
        OK(MPI_Request_free(&rq));
        CHECK(rq == MPI_REQUEST_NULL, "MPI_Request_free left the handle");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Type_free(&half));
    free(halfplain);
    lay_drop(&h);
    area_drop(&s);
    area_drop(&d);
}

/* large freed sends that are over, but nobody has asked for them when MPI_Finalize comes */
static void left_for_finalize(void)
{
    MPI_Datatype big;
    MPI_Request rq;
    size_t len = 40000 * 16;
    void *buf = mem_alloc(len);
    unsigned char *img = pat_buf(len, (unsigned)case_rank), *want = pat_buf(len, 0);
    size_t i;

    mem_put(buf, img, len);
    OK(MPI_Type_vector(40000, 1, 2, MPI_DOUBLE, &big));
    OK(MPI_Type_commit(&big));
    if (case_rank == 0) {
        OK(MPI_Isend(buf, 1, big, 1, 11, MPI_COMM_WORLD, &rq));
        OK(MPI_Request_free(&rq));
    } else {
        OK(MPI_Recv(buf, 1, big, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (i = 0; i < len; i += 16)
            memcpy(img + i, want + i, 8);
        mem_same(buf, img, len, "a send left for MPI_Finalize");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Type_free(&big));
    free(img);
    free(want);
    /* rank 0's buffer is not freed: its send may be under way until MPI_Finalize */
}

int main(int argc, char **argv)
{
    int i;
    case_start(&argc, &argv, "request_corners", 2);
    OK(MPI_Type_vector(BLOCKS, 2, 3, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 2 * BLOCKS; i++) /* room for two elements */
        lay_add(&l, 12 * i - (i >= BLOCKS ? 4 : 0), 8);
    l.n = BLOCKS;
    l.bytes = 8 * BLOCKS;
    plain = host_buf(l.bytes);
    one_of_three_fails();
    status_before_wait();
    freed_while_active();
    comm_freed();
    persistent_lengths();
    left_for_finalize();
    OK(MPI_Type_free(&t));
    return case_end();
}
