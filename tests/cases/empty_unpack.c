/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 1 */
/* plain-fails-mpich4: 4.0.2 divides by zero in MPI_Unpack of a type of size zero */
/* Unpacking count > 0 of a type of size zero moves nothing.  (Plain MPICH 4.0.2
 * divides by zero here; an interposer that answers the call itself need not.) */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t[3];
    unsigned char *img, *buf;
    int len[2] = {0, 0}, disp[2] = {3, 9}, i;
    case_start(&argc, &argv, "empty_unpack", 1);
    buf = mem_alloc(128);
    img = pat_buf(128, 3);
    mem_put(buf, img, 128);
    OK(MPI_Type_contiguous(0, MPI_INT, &t[0]));
    OK(MPI_Type_vector(5, 0, 7, MPI_INT, &t[1]));
    OK(MPI_Type_indexed(2, len, disp, MPI_DOUBLE, &t[2]));
    for (i = 0; i < 3; i++) {
        char pk[64] = "";
        int pos = 5;
        OK(MPI_Type_commit(&t[i]));
        OK(MPI_Unpack(pk, (int)sizeof pk, &pos, buf + 64, 7, t[i], MPI_COMM_WORLD));
        CHECK(pos == 5, "unpacking type %d moved position to %d", i, pos);
        mem_same(buf, img, 128, "buffer");
        OK(MPI_Type_free(&t[i]));
    }
    mem_free(buf);
    return case_end();
}
