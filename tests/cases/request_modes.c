/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Every mode of sending, at once and persistent, against every way of receiving; and
 * the order of messages that only differ in the function that sent them. */
#include "mem.h"

enum { BLOCKS = 24 };

static MPI_Datatype t;
static layout l = {0};
static unsigned char *plain;

typedef int (*isend_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static const struct {
    const char *name;
    isend_fn send;
    int persistent;
} modes[] = {
    {"MPI_Isend", MPI_Isend, 0},         {"MPI_Issend", MPI_Issend, 0},         {"MPI_Irsend", MPI_Irsend, 0},
    {"MPI_Ibsend", MPI_Ibsend, 0},       {"MPI_Send_init", MPI_Send_init, 1},   {"MPI_Ssend_init", MPI_Ssend_init, 1},
    {"MPI_Rsend_init", MPI_Rsend_init, 1}, {"MPI_Bsend_init", MPI_Bsend_init, 1},
};
enum { MODES = sizeof modes / sizeof *modes };

static void expect(area *d, unsigned salt, const char *what)
{
    area s = area_make(&l, salt);
    lay_gather(&l, s.img + s.zero, plain);
    area_drop(&s);
    ex_check_area(d, &l, plain, what, "data");
}

static void every_mode(void)
{
    int k, how, n, flag, token = 0;
    for (k = 0; k < MODES; k++)
        for (how = 0; how < 4; how++) {
            unsigned salt = (unsigned)(10 * k + how);
            area a = area_make(&l, case_rank ? 200 : salt);
            MPI_Request rq;
            MPI_Status st;
            MPI_Message msg;
            if (case_rank == 0) {
                /* the receive is posted when this comes (a ready send needs it) */
                OK(MPI_Recv(&token, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                OK(modes[k].send(a.buf, 1, t, 1, 2, MPI_COMM_WORLD, &rq));
                if (modes[k].persistent)
                    OK(MPI_Start(&rq));
                OK(MPI_Wait(&rq, &st));
                CHECK((rq == MPI_REQUEST_NULL) == !modes[k].persistent, "%s: request after MPI_Wait", modes[k].name);
                if (modes[k].persistent)
                    OK(MPI_Request_free(&rq));
                area_drop(&a);
                continue;
            }
            if (how < 2 || strstr(modes[k].name, "rsend") || strstr(modes[k].name, "Rsend")) {
                if (how == 1)
                    OK(MPI_Recv_init(a.buf, 1, t, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &rq));
                else
                    OK(MPI_Irecv(a.buf, 1, t, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &rq));
                if (how == 1)
                    OK(MPI_Start(&rq));
                OK(MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
                OK(MPI_Wait(&rq, &st));
                if (how == 1)
                    OK(MPI_Request_free(&rq));
            } else {
                OK(MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
                if (how == 2) {
                    OK(MPI_Mprobe(0, 2, MPI_COMM_WORLD, &msg, &st));
                } else {
                    do
                        OK(MPI_Improbe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &msg, &st));
                    while (!flag);
                }
                OK(MPI_Imrecv(a.buf, 3, t, &msg, &rq));
                CHECK(msg == MPI_MESSAGE_NULL, "MPI_Imrecv left the message");
                OK(MPI_Waitall(1, &rq, &st));
            }
            OK(MPI_Get_count(&st, t, &n));
            CHECK(st.MPI_SOURCE == 0 && st.MPI_TAG == 2 && n == 1, "%s, receive %d: source %d tag %d count %d", modes[k].name, how, st.MPI_SOURCE, st.MPI_TAG, n);
            expect(&a, salt, modes[k].name);
            area_drop(&a);
        }
}

/* typed and plain, blocking and not, persistent and buffered: one tag, program order */
static void order(void)
{
    enum { N = 40 };
    area a[N];
    MPI_Request rq[N];
    MPI_Status st[N];
    int i, plainrank = 1;
    void *contig = mem_alloc(l.bytes);
    for (i = 0; i < N; i++) {
        a[i] = area_make(&l, case_rank ? 220 : (unsigned)(100 + i));
        rq[i] = MPI_REQUEST_NULL;
    }
    if (case_rank == plainrank) {
        for (i = 0; i < N; i++)
            if (i % 3 == 1)
                OK(MPI_Recv_init(a[i].buf, 1, t, 0, 3, MPI_COMM_WORLD, &rq[i]));
        for (i = 0; i < N; i++) {
            if (i % 3 == 1)
                OK(MPI_Start(&rq[i]));
            else
                OK(MPI_Irecv(a[i].buf, 1, t, 0, 3, MPI_COMM_WORLD, &rq[i]));
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Waitall(N, rq, st));
        for (i = 0; i < N; i++) {
            expect(&a[i], (unsigned)(100 + i), "order of messages");
            if (i % 3 == 1)
                OK(MPI_Request_free(&rq[i]));
        }
    } else {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (i = 0; i < N; i++) {
            MPI_Request pair[2];
            switch (i % 5) {
            case 0: OK(MPI_Isend(a[i].buf, 1, t, 1, 3, MPI_COMM_WORLD, &rq[i])); break;
            case 1: OK(MPI_Send(a[i].buf, 1, t, 1, 3, MPI_COMM_WORLD)); break;
            case 2: /* this one and the next are started together */
                OK(MPI_Send_init(a[i].buf, 1, t, 1, 3, MPI_COMM_WORLD, &pair[0]));
                OK(MPI_Send_init(a[i + 1].buf, 1, t, 1, 3, MPI_COMM_WORLD, &pair[1]));
                OK(MPI_Startall(2, pair));
                rq[i] = pair[0];
                rq[i + 1] = pair[1];
                break;
            case 3: break;
            default: /* as plain data, out of another buffer */
                lay_gather(&l, a[i].img + a[i].zero, plain);
                mem_put(contig, plain, l.bytes);
                OK(MPI_Send(contig, (int)(l.bytes / 8), MPI_DOUBLE, 1, 3, MPI_COMM_WORLD));
            }
        }
        OK(MPI_Waitall(N, rq, MPI_STATUSES_IGNORE));
        for (i = 0; i < N; i++)
            if (rq[i] != MPI_REQUEST_NULL)
                OK(MPI_Request_free(&rq[i]));
    }
    mem_free(contig);
    for (i = 0; i < N; i++)
        area_drop(&a[i]);
}

/* nobody's message */
static void no_proc(void)
{
    MPI_Message msg;
    MPI_Request rq[2];
    MPI_Status st[2];
    area a = area_make(&l, 5);
    int n;
    OK(MPI_Mprobe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &msg, &st[0]));
    OK(MPI_Imrecv(a.buf, 1, t, &msg, &rq[0]));
    OK(MPI_Isend(a.buf, 1, t, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &rq[1]));
    OK(MPI_Waitall(2, rq, st));
    OK(MPI_Get_count(&st[0], t, &n));
    CHECK(st[0].MPI_SOURCE == MPI_PROC_NULL && n == 0, "source %d count %d", st[0].MPI_SOURCE, n);
    ex_check_area(&a, &l, NULL, "nobody's message", "untouched");
    area_drop(&a);
}

int main(int argc, char **argv)
{
    int i, size = 1 << 20;
    void *attached = malloc((size_t)size);
    case_start(&argc, &argv, "request_modes", 2);
    OK(MPI_Type_vector(BLOCKS, 1, 3, MPI_DOUBLE, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < BLOCKS; i++)
        lay_add(&l, 24 * i, 8);
    plain = host_buf(l.bytes);
    OK(MPI_Buffer_attach(attached, size));
    every_mode();
    order();
    no_proc();
    OK(MPI_Buffer_detach(&attached, &size));
    free(attached);
    OK(MPI_Type_free(&t));
    free(plain);
    return case_end();
}
