/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 1 */
/* A type that was not committed is refused with MPI_ERR_TYPE, whoever packs; committed
 * later, under the same handle, it works. */
#include "mem.h"

enum { BLOCKS = 40 };

static void refused(int rc, const char *call)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    CHECK(class == MPI_ERR_TYPE, "%s of a type that was not committed gives class %d", call, class);
}

int main(int argc, char **argv)
{
    MPI_Datatype t;
    MPI_Request rq[2];
    layout l = {0};
    area a, b;
    unsigned char *plain;
    char packed[8 * BLOCKS];
    int i, position = 0;

    case_start(&argc, &argv, "uncommitted_refused", 1);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Type_vector(BLOCKS, 2, 3, MPI_INT, &t));
    for (i = 0; i < BLOCKS; i++)
        lay_add(&l, 12 * i, 8);
    a = area_make(&l, 1);
    b = area_make(&l, 2);
    plain = host_buf(l.bytes);
    lay_gather(&l, a.img + a.zero, plain);
    refused(MPI_Isend(a.buf, 1, t, 0, 1, MPI_COMM_SELF, &rq[0]), "MPI_Isend");
    refused(MPI_Irecv(b.buf, 1, t, 0, 1, MPI_COMM_SELF, &rq[1]), "MPI_Irecv");
    refused(MPI_Send_init(a.buf, 1, t, 0, 1, MPI_COMM_SELF, &rq[0]), "MPI_Send_init");
    refused(MPI_Pack(a.buf, 1, t, packed, (int)sizeof packed, &position, MPI_COMM_SELF), "MPI_Pack");
    CHECK(position == 0, "a refused MPI_Pack moves the position");
    OK(MPI_Type_commit(&t));
    OK(MPI_Irecv(b.buf, 1, t, 0, 1, MPI_COMM_SELF, &rq[1]));
    OK(MPI_Isend(a.buf, 1, t, 0, 1, MPI_COMM_SELF, &rq[0]));
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    ex_check_area(&b, &l, plain, "uncommitted", "committed later");
    OK(MPI_Type_free(&t));
    free(plain);
    area_drop(&a);
    area_drop(&b);
    return case_end();
}
