/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* timeout: 30 */
/* Small strided MPI_Sends that both MPIs buffer.  Many programs lean on that
 * although no standard promises it; packing must not turn a send that returned
 * at once into one that waits for the receiver. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t;
    layout l = {0};
    area s, d, o;
    unsigned char *plain;
    int i, k, peer;

    case_start(&argc, &argv, "small_sends_return", 2);
    peer = 1 - case_rank;
    OK(MPI_Type_vector(8, 1, 4, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (i = 0; i < 8; i++)
        lay_add(&l, 16 * i, 4);
    s = area_make(&l, 1u + (unsigned)case_rank);
    o = area_make(&l, 1u + (unsigned)peer);
    plain = host_buf(l.bytes);
    lay_gather(&l, o.img + o.zero, plain);
    for (k = 0; k < 10; k++)
        OK(MPI_Send(s.buf, 1, t, peer, k, MPI_COMM_WORLD)); /* head to head */
    for (k = 9; k >= 0; k--) {
        d = area_make(&l, 9);
        OK(MPI_Recv(d.buf, 1, t, peer, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        ex_check_area(&d, &l, plain, "head to head", "data");
        area_drop(&d);
    }
    OK(MPI_Send(s.buf, 1, t, case_rank, 20, MPI_COMM_WORLD)); /* to oneself */
    d = area_make(&l, 9);
    lay_gather(&l, s.img + s.zero, plain);
    OK(MPI_Recv(d.buf, 1, t, case_rank, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    ex_check_area(&d, &l, plain, "to oneself", "data");
    area_drop(&d);
    area_drop(&s);
    area_drop(&o);
    free(plain);
    OK(MPI_Type_free(&t));
    return case_end();
}
