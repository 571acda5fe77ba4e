/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 3 */
/* cuda-aware: MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw */
/* MPI_IN_PLACE in all three all-to-alls.  The send arguments mean nothing then:
 * they are null, negative and MPI_DATATYPE_NULL here.  Holes stay. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t, r;
    layout l = {0}, full = {0};
    area a;
    int i, k, how;

    case_start(&argc, &argv, "alltoall_in_place", 3);
    OK(MPI_Type_vector(5, 2, 4, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, 96, &r));
    OK(MPI_Type_commit(&r));
    for (i = 0; i < 5; i++)
        lay_add(&l, 16 * i, 8);
    lay_add(&full, 0, 96 * 6);

    for (how = 0; how < 4; how++) {
        int cnt[3], dis[3];
        MPI_Datatype ty[3];
        a = area_make(&full, (unsigned)(20 * how + case_rank));
        for (k = 0; k < 3; k++) {
            cnt[k] = how == 3 ? (case_rank + k) % 2 : 1;
            dis[k] = how == 2 ? 96 * (2 * k) + 8 : 2 * k;
            ty[k] = r;
        }
        if (how == 0)
            OK(MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, a.buf, 1, r, MPI_COMM_WORLD));
        else if (how == 2)
            OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, a.buf, cnt, dis, ty, MPI_COMM_WORLD));
        else
            OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, a.buf, cnt, dis, r, MPI_COMM_WORLD));
        for (k = 0; k < 3; k++) {
            area o = area_make(&full, (unsigned)(20 * how + k));
            MPI_Aint to = how == 0 ? 96 * k : how == 2 ? dis[k] : 96 * dis[k];
            MPI_Aint from = how == 0 ? 96 * case_rank : how == 2 ? 96 * (2 * case_rank) + 8 : 96 * 2 * case_rank;
            if (how != 3 || (case_rank + k) % 2)
                for (i = 0; i < 5; i++)
                    memcpy(a.img + a.zero + to + 16 * i, o.img + o.zero + from + 16 * i, 8);
            area_drop(&o);
        }
        mem_same(a.mem, a.img, a.len, how == 0 ? "MPI_Alltoall in place" : how == 1 ? "MPI_Alltoallv in place" : how == 2 ? "MPI_Alltoallw in place" : "MPI_Alltoallv in place, zero counts");
        area_drop(&a);
    }
    lay_drop(&l);
    lay_drop(&full);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&r));
    return case_end();
}
