/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Device, pinned, managed and plain host buffers, every kind on either side and
 * both kinds inside one MPI_Pack.  (All are heap memory without USE_CUDA.) */
#include "mem.h"

int main(int argc, char **argv)
{
    enum mem_kind kinds[4] = {MEM_TARGET, MEM_PINNED, MEM_MANAGED, MEM_HOST};
    const char *names[4] = {"device", "pinned", "managed", "host"};
    MPI_Datatype t;
    int i, j, k, peer, pos, big;

    case_start(&argc, &argv, "memory_kinds", 2);
    peer = 1 - case_rank;
    for (big = 0; big < 2; big++) {
        int blocks = big ? 30000 : 9;
        size_t len = (size_t)blocks * 16, bytes = (size_t)blocks * 8;
        OK(MPI_Type_vector(blocks, 2, 4, MPI_INT, &t));
        OK(MPI_Type_commit(&t));
        for (i = 0; i < 4; i++)
            for (j = 0; j < 4; j++) {
                unsigned char *mine = pat_buf(len, 1u + (unsigned)case_rank), *his = pat_buf(len, 1u + (unsigned)peer), *want = pat_buf(len, 9);
                void *s = mem_alloc_as(len, kinds[i]), *d = mem_alloc_as(len, kinds[j]), *p = mem_alloc_as(bytes, kinds[j]);
                MPI_Request rq[2];
                char what[64];
                snprintf(what, sizeof what, "%s to %s", names[i], names[j]);
                mem_put(s, mine, len);
                mem_put(d, want, len);
                OK(MPI_Irecv(d, 1, t, peer, 1, MPI_COMM_WORLD, &rq[0]));
                OK(MPI_Isend(s, 1, t, peer, 1, MPI_COMM_WORLD, &rq[1]));
                OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
                for (k = 0; k < blocks; k++)
                    memcpy(want + 16 * k, his + 16 * k, 8);
                mem_same(d, want, len, what);
                /* pack across kinds, unpack back */
                pos = 0;
                OK(MPI_Pack(s, 1, t, p, (int)bytes, &pos, MPI_COMM_WORLD));
                for (k = 0; k < blocks; k++)
                    memcpy(want + 8 * k, mine + 16 * k, 8);
                mem_same(p, want, bytes, what);
                mem_set(s, 0, len);
                pos = 0;
                OK(MPI_Unpack(p, (int)bytes, &pos, s, 1, t, MPI_COMM_WORLD));
                for (k = 0; k < blocks; k++)
                    memset(mine + 16 * k + 8, 0, 8);
                mem_same(s, mine, len, what);
                free(mine);
                free(his);
                free(want);
                mem_free(s);
                mem_free(d);
                mem_free(p);
            }
        OK(MPI_Type_free(&t));
    }
    return case_end();
}
