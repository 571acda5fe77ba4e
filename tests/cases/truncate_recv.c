/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* A message longer than the receive has room for is an error of class
 * MPI_ERR_TRUNCATE; nothing outside the receive layout may be written, and the
 * connection goes on working. */
#include "mem.h"

static void longer(int sent, int room, int how)
{
    MPI_Datatype t, r;
    layout l = {0};
    area dst;
    MPI_Status st;
    int c, b, rc, cls;
    void *src = mem_alloc(24 * (size_t)sent);

    mem_set(src, 0x77, 24 * (size_t)sent);
    OK(MPI_Type_vector(3, 2, 4, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, 56, &r));
    OK(MPI_Type_commit(&r));
    for (c = 0; c < room; c++)
        for (b = 0; b < 3; b++)
            lay_add(&l, 56 * c + 16 * b, 8);
    dst = area_make(&l, 3);
    if (case_rank == 0) {
        OK(MPI_Send(src, 6 * sent, MPI_INT, 1, 5, MPI_COMM_WORLD));
        OK(MPI_Send(src, 6 * room, MPI_INT, 1, 6, MPI_COMM_WORLD));
    } else {
        unsigned char *got, *in = host_buf(l.bytes);
        size_t k, j;
        rc = MPI_SUCCESS;
        if (how == 0) {
            rc = MPI_Recv(dst.buf, room, r, 0, 5, MPI_COMM_WORLD, &st);
        } else if (how == 1) {
            MPI_Request rq;
            OK(MPI_Irecv(dst.buf, room, r, 0, 5, MPI_COMM_WORLD, &rq));
            rc = MPI_Wait(&rq, &st);
        } else {
            MPI_Request rq[2];
            MPI_Status sts[2];
            void *x = mem_alloc(24 * (size_t)room);
            memset(sts, 0, sizeof sts);
            OK(MPI_Irecv(dst.buf, room, r, 0, 5, MPI_COMM_WORLD, &rq[0]));
            OK(MPI_Irecv(x, 6 * room, MPI_INT, 0, 6, MPI_COMM_WORLD, &rq[1]));
            rc = MPI_Waitall(2, rq, sts);
            OK(MPI_Error_class(rc, &cls));
            CHECK(cls == MPI_ERR_IN_STATUS, "MPI_Waitall gave class %d, has to be MPI_ERR_IN_STATUS", cls);
            if (sts[1].MPI_ERROR == MPI_ERR_PENDING)
                OK(MPI_Wait(&rq[1], MPI_STATUS_IGNORE));
            else
                CHECK(sts[1].MPI_ERROR == MPI_SUCCESS, "the good request has error %d", sts[1].MPI_ERROR);
            rc = sts[0].MPI_ERROR;
            memset(in, 0x77, l.bytes);
            mem_same(x, in, 24 * (size_t)room, "the good message");
            mem_free(x);
        }
        CHECK(rc != MPI_SUCCESS, "%d sent, room for %d, no error", sent, room);
        OK(MPI_Error_class(rc, &cls));
        CHECK(cls == MPI_ERR_TRUNCATE, "%d sent, room for %d: error class %d, has to be MPI_ERR_TRUNCATE", sent, room, cls);
        got = host_buf(dst.len);
        mem_get(got, dst.mem, dst.len);
        for (k = 0, j = 0; k < dst.len; k++) { /* outside the layout: untouched */
            MPI_Aint o = (MPI_Aint)k - dst.zero;
            while (j < l.n && l.v[j].off + (MPI_Aint)l.v[j].len <= o)
                j++;
            if (j == l.n || o < l.v[j].off)
                CHECK(got[k] == dst.img[k], "%d sent, room for %d: byte at offset %ld was written", sent, room, (long)o);
        }
        free(got);
        if (how != 2) {
            mem_put(dst.mem, dst.img, dst.len);
            OK(MPI_Recv(dst.buf, room, r, 0, 6, MPI_COMM_WORLD, &st));
            memset(in, 0x77, l.bytes);
            ex_check_area(&dst, &l, in, "truncate", "the next message");
        }
        free(in);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    area_drop(&dst);
    mem_free(src);
    lay_drop(&l);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&r));
}

int main(int argc, char **argv)
{
    int how;
    case_start(&argc, &argv, "truncate_recv", 2);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (how = 0; how < 3; how++) {
        longer(3, 2, how);
        longer(10, 1, how);
        longer(2000, 1999, how);
        longer(40000, 20000, how);
    }
    return case_end();
}
