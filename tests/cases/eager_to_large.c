/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* timeout: 120 */
/* The same strided exchange at sizes around every protocol switch, with several
 * messages in flight that are completed in another order. */
#include "mem.h"

static void size(int blocks)
{
    MPI_Datatype t;
    layout l = {0};
    area s[4], d[4];
    unsigned char *plain, *o;
    MPI_Request rq[8];
    int i, k, peer = 1 - case_rank;
    char what[64];

    OK(MPI_Type_vector(blocks, 2, 3, MPI_FLOAT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < blocks; i++)
        lay_add(&l, 12 * (MPI_Aint)i, 8);
    plain = host_buf(l.bytes);
    for (k = 0; k < 4; k++) {
        s[k] = area_make(&l, 10u * (unsigned)case_rank + (unsigned)k);
        d[k] = area_make(&l, 99);
        OK(MPI_Irecv(d[k].buf, 1, t, peer, k, MPI_COMM_WORLD, &rq[k]));
    }
    for (k = 3; k >= 0; k--)
        OK(MPI_Isend(s[k].buf, 1, t, peer, k, MPI_COMM_WORLD, &rq[4 + k]));
    OK(MPI_Wait(&rq[2], MPI_STATUS_IGNORE));
    OK(MPI_Wait(&rq[5], MPI_STATUS_IGNORE));
    OK(MPI_Wait(&rq[0], MPI_STATUS_IGNORE));
    OK(MPI_Waitall(8, rq, MPI_STATUSES_IGNORE));
    for (k = 0; k < 4; k++) {
        area other = area_make(&l, 10u * (unsigned)peer + (unsigned)k);
        lay_gather(&l, other.img + other.zero, plain);
        snprintf(what, sizeof what, "%zu bytes, message %d", l.bytes, k);
        ex_check_area(&d[k], &l, plain, what, "received");
        area_drop(&other);
    }
    /* blocking, plain against typed */
    o = host_buf(l.bytes);
    {
        void *c = mem_alloc(l.bytes);
        area other = area_make(&l, 10u * (unsigned)peer);
        lay_gather(&l, other.img + other.zero, o);
        if (case_rank == 0) {
            OK(MPI_Send(s[0].buf, 1, t, 1, 7, MPI_COMM_WORLD));
            OK(MPI_Recv(c, 2 * blocks, MPI_FLOAT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Recv(c, 2 * blocks, MPI_FLOAT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Send(s[0].buf, 1, t, 0, 7, MPI_COMM_WORLD));
        }
        snprintf(what, sizeof what, "%zu bytes, blocking", l.bytes);
        mem_same(c, o, l.bytes, what);
        mem_free(c);
        area_drop(&other);
    }
    free(o);
    free(plain);
    for (k = 0; k < 4; k++) {
        area_drop(&s[k]);
        area_drop(&d[k]);
    }
    lay_drop(&l);
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    int n, i, odd[] = {1, 3, 7, 31, 127, 511, 512, 513, 1000, 1023, 1025, 2047, 4095, 4097, 8191, 8193, 16385, 32769, 65537, 131073};
    case_start(&argc, &argv, "eager_to_large", 2);
    for (n = 1; n <= 1 << 18; n *= 4)
        size(n);
    for (i = 0; i < (int)(sizeof odd / sizeof *odd); i++)
        size(odd[i]);
    return case_end();
}
