/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 3 */
/* The same committed types in calls that an interposer of point-to-point calls
 * leaves alone: broadcast, gather, scatter, reduction, one-sided, file. */
/* host-only */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype t, r;
    layout l = {0};
    area a, o;
    unsigned char *plain;
    int i, k;

    case_start(&argc, &argv, "calls_not_wrapped", 3);
    OK(MPI_Type_vector(9, 2, 3, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, 128, &r));
    OK(MPI_Type_commit(&r));
    for (i = 0; i < 9; i++)
        lay_add(&l, 12 * i, 8);
    plain = host_buf(l.bytes);

    a = area_make(&l, (unsigned)case_rank); /* broadcast from rank 1, typed */
    o = area_make(&l, 1);
    lay_gather(&l, o.img + o.zero, plain);
    OK(MPI_Bcast(a.buf, 1, r, 1, MPI_COMM_WORLD));
    ex_check_area(&a, &l, plain, "MPI_Bcast", "data");
    area_drop(&a);
    area_drop(&o);

    { /* gather typed to plain, scatter plain to typed */
        unsigned char all[72 * 3], want[72 * 3];
        a = area_make(&l, 10u + (unsigned)case_rank);
        OK(MPI_Gather(a.buf, 1, r, all, 18, MPI_INT, 2, MPI_COMM_WORLD));
        for (k = 0; k < 3; k++) {
            o = area_make(&l, 10u + (unsigned)k);
            lay_gather(&l, o.img + o.zero, want + 72 * k);
            area_drop(&o);
        }
        if (case_rank == 2)
            mem_same(all, want, sizeof want, "MPI_Gather");
        area_drop(&a);
        a = area_make(&l, 20);
        OK(MPI_Scatter(all, 18, MPI_INT, a.buf, 1, r, 2, MPI_COMM_WORLD));
        ex_check_area(&a, &l, want + 72 * case_rank, "MPI_Scatter", "data");
        area_drop(&a);
    }
    { /* one-sided, typed at both ends */
        MPI_Win w;
        layout full = {0};
        area mine;
        lay_add(&full, 0, 256);
        mine = area_make(&full, 30u + (unsigned)case_rank);
        OK(MPI_Win_create(mine.buf, 256, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
        a = area_make(&l, 40u + (unsigned)case_rank);
        OK(MPI_Win_fence(0, w));
        OK(MPI_Put(a.buf, 1, r, (case_rank + 1) % 3, 128, 1, r, w));
        OK(MPI_Win_fence(0, w));
        o = area_make(&l, 40u + (unsigned)((case_rank + 2) % 3));
        for (i = 0; i < 9; i++)
            memcpy(mine.img + mine.zero + 128 + 12 * i, o.img + o.zero + 12 * i, 8);
        mem_same(mine.mem, mine.img, mine.len, "MPI_Put");
        OK(MPI_Win_free(&w));
        area_drop(&a);
        area_drop(&o);
        area_drop(&mine);
        lay_drop(&full);
    }
    { /* nonblocking collective completed among point-to-point requests */
        MPI_Request rq[3];
        area d;
        a = area_make(&l, 50u + (unsigned)case_rank);
        d = area_make(&l, 60);
        o = area_make(&l, 50u + (unsigned)((case_rank + 2) % 3));
        OK(MPI_Irecv(d.buf, 1, r, (case_rank + 2) % 3, 1, MPI_COMM_WORLD, &rq[0]));
        OK(MPI_Ibarrier(MPI_COMM_WORLD, &rq[1]));
        OK(MPI_Isend(a.buf, 1, r, (case_rank + 1) % 3, 1, MPI_COMM_WORLD, &rq[2]));
        OK(MPI_Waitall(3, rq, MPI_STATUSES_IGNORE));
        lay_gather(&l, o.img + o.zero, plain);
        ex_check_area(&d, &l, plain, "beside MPI_Ibarrier", "data");
        area_drop(&a);
        area_drop(&d);
        area_drop(&o);
    }
    free(plain);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&r));
    return case_end();
}
