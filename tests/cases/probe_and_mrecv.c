/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* A strided message looks to MPI_Probe and MPI_Mprobe like the elements in it,
 * not like something private; matched receives fill strided layouts, and the
 * type may be freed before they complete. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t, u;
    layout ls = {0}, lr = {0};
    area src, dst;
    unsigned char *plain;
    MPI_Status st;
    MPI_Message m;
    MPI_Request rq;
    int i, n, flag, rep;

    case_start(&argc, &argv, "probe_and_mrecv", 2);
    OK(MPI_Type_vector(25, 2, 3, MPI_DOUBLE, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 25; i++)
        lay_add(&ls, 24 * i, 16);
    for (i = 0; i < 10; i++)
        lay_add(&lr, 64 * i, 40);
    src = area_make(&ls, 1);
    plain = host_buf(ls.bytes);
    lay_gather(&ls, src.img + src.zero, plain);

    for (rep = 0; rep < 5; rep++) {
        if (case_rank == 0) {
            OK(MPI_Send(src.buf, 1, t, 1, 10 + rep, MPI_COMM_WORLD));
            continue;
        }
        OK(MPI_Type_vector(10, 5, 8, MPI_DOUBLE, &u));
        OK(MPI_Type_commit(&u));
        dst = area_make(&lr, 2);
        switch (rep) {
        case 0: /* probe, then receive what was announced */
            OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st));
            OK(MPI_Get_count(&st, MPI_DOUBLE, &n));
            CHECK(n == 50, "probed %d doubles, has to be 50", n);
            OK(MPI_Get_count(&st, u, &n));
            CHECK(n == 1, "probed %d of the receive type, has to be 1", n);
            OK(MPI_Get_elements(&st, t, &n));
            CHECK(n == 50, "probed %d elements, has to be 50", n);
            OK(MPI_Recv(dst.buf, 1, u, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD, &st));
            break;
        case 1: /* matched probe, blocking */
            OK(MPI_Mprobe(0, 11, MPI_COMM_WORLD, &m, &st));
            OK(MPI_Get_count(&st, MPI_DOUBLE, &n));
            CHECK(n == 50, "mprobed %d doubles, has to be 50", n);
            OK(MPI_Mrecv(dst.buf, 1, u, &m, &st));
            CHECK(m == MPI_MESSAGE_NULL, "message handle not cleared");
            break;
        case 2: /* matched probe, nonblocking, type freed early */
            do
                OK(MPI_Improbe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &flag, &m, &st));
            while (!flag);
            OK(MPI_Imrecv(dst.buf, 1, u, &m, &rq));
            OK(MPI_Type_free(&u));
            OK(MPI_Wait(&rq, &st));
            OK(MPI_Get_elements(&st, MPI_DOUBLE, &n));
            CHECK(n == 50, "imrecv of %d doubles, has to be 50", n);
            break;
        case 3: /* probe, then receive it plainly */
            OK(MPI_Probe(0, 13, MPI_COMM_WORLD, &st));
            OK(MPI_Get_count(&st, MPI_BYTE, &n));
            CHECK(n == (int)ls.bytes, "probed %d bytes, has to be %zu", n, ls.bytes);
            {
                void *c = mem_alloc((size_t)n);
                OK(MPI_Recv(c, 50, MPI_DOUBLE, 0, 13, MPI_COMM_WORLD, &st));
                mem_same(c, plain, ls.bytes, "probed, received plainly");
                mem_free(c);
            }
            break;
        default: /* a typed receive posted before, another message probed past it */
            OK(MPI_Irecv(dst.buf, 1, u, 0, 14, MPI_COMM_WORLD, &rq));
            OK(MPI_Iprobe(0, 999, MPI_COMM_WORLD, &flag, &st));
            CHECK(!flag, "a message with tag 999 that nobody sent");
            OK(MPI_Wait(&rq, &st));
        }
        if (rep != 3) {
            CHECK(st.MPI_SOURCE == 0 && st.MPI_TAG == 10 + rep, "round %d: source %d tag %d", rep, st.MPI_SOURCE, st.MPI_TAG);
            ex_check_area(&dst, &lr, plain, "probe", "data");
        }
        if (rep != 2)
            OK(MPI_Type_free(&u));
        area_drop(&dst);
    }
    area_drop(&src);
    free(plain);
    OK(MPI_Type_free(&t));
    return case_end();
}
