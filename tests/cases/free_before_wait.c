/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* A type may be freed, and a communicator too, while transfers that use it are
 * still under way.  They complete as if nothing had happened. */
#include "mem.h"

static void early(int blocks, int freecomm)
{
    MPI_Datatype s, r, x;
    layout ls = {0}, lr = {0};
    area src, dst, o;
    unsigned char *plain;
    MPI_Comm comm;
    MPI_Request rq[2];
    int i, peer = 1 - case_rank;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Type_vector(blocks, 2, 3, MPI_DOUBLE, &s));
    OK(MPI_Type_vector(blocks, 2, 5, MPI_DOUBLE, &r));
    OK(MPI_Type_commit(&s));
    OK(MPI_Type_commit(&r));
    for (i = 0; i < blocks; i++) {
        lay_add(&ls, 24 * (MPI_Aint)i, 16);
        lay_add(&lr, 40 * (MPI_Aint)i, 16);
    }
    src = area_make(&ls, 1u + (unsigned)case_rank);
    o = area_make(&ls, 1u + (unsigned)peer);
    dst = area_make(&lr, 9);
    plain = host_buf(ls.bytes);
    lay_gather(&ls, o.img + o.zero, plain);

    OK(MPI_Irecv(dst.buf, 1, r, peer, 0, comm, &rq[0]));
    OK(MPI_Type_free(&r));
    CHECK(r == MPI_DATATYPE_NULL, "MPI_Type_free left the handle");
    OK(MPI_Isend(src.buf, 1, s, peer, 0, comm, &rq[1]));
    OK(MPI_Type_free(&s));
    if (freecomm)
        OK(MPI_Comm_free(&comm));
    /* make new types, likely under the same handles, with other shapes */
    OK(MPI_Type_contiguous(3, MPI_CHAR, &x));
    OK(MPI_Type_commit(&x));
    OK(MPI_Type_free(&x));
    OK(MPI_Type_vector(2, 1, 1000, MPI_CHAR, &x));
    OK(MPI_Type_commit(&x));
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    ex_check_area(&dst, &lr, plain, "types freed early", freecomm ? "communicator too" : "communicator kept");
    ex_check_area(&src, &ls, NULL, "types freed early", "send buffer");
    OK(MPI_Type_free(&x));
    if (!freecomm)
        OK(MPI_Comm_free(&comm));
    area_drop(&src);
    area_drop(&dst);
    area_drop(&o);
    free(plain);
    lay_drop(&ls);
    lay_drop(&lr);
}

int main(int argc, char **argv)
{
    int rep;
    case_start(&argc, &argv, "free_before_wait", 2);
    for (rep = 0; rep < 3; rep++) {
        early(4, 0);
        early(4, 1);
        early(40000, 0);
        early(40000, 1);
    }
    return case_end();
}
