/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* The two sides of a message may differ in count and type as long as the basic
 * types agree in order: 6 x 1, 1 x 6, 2 x 3, a struct against three vectors. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype a[4];
    int cnt[4] = {6, 1, 2, 3}, i, j, c, k, peer, n;
    MPI_Aint ext[4];
    layout l[4];
    case_start(&argc, &argv, "same_signature", 2);
    peer = 1 - case_rank;
    memset(l, 0, sizeof l);
    { /* 6 x (2 of 3 doubles) */
        MPI_Datatype v;
        OK(MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &v));
        OK(MPI_Type_create_resized(v, 0, 40, &a[0]));
        OK(MPI_Type_free(&v));
        ext[0] = 40;
        for (c = 0; c < 6; c++)
            for (k = 0; k < 2; k++)
                lay_add(&l[0], 40 * c + 16 * k, 8);
    }
    { /* 1 x 12 doubles in blocks of 4 */
        OK(MPI_Type_vector(3, 4, 7, MPI_DOUBLE, &a[1]));
        ext[1] = 0;
        for (k = 0; k < 3; k++)
            lay_add(&l[1], 56 * k, 32);
    }
    { /* 2 x 6 doubles, one run each, in reverse */
        int d[6] = {5, 4, 3, 2, 1, 0};
        OK(MPI_Type_create_indexed_block(6, 1, d, MPI_DOUBLE, &a[2]));
        ext[2] = 48;
        for (c = 0; c < 2; c++)
            for (k = 0; k < 6; k++)
                lay_add(&l[2], 48 * c + 8 * d[k], 8);
    }
    { /* 3 x struct of 1 + 3 doubles */
        int len[2] = {1, 3};
        MPI_Aint d[2] = {32, 0};
        MPI_Datatype ty[2] = {MPI_DOUBLE, MPI_DOUBLE}, s;
        OK(MPI_Type_create_struct(2, len, d, ty, &s));
        OK(MPI_Type_create_resized(s, 0, 64, &a[3]));
        OK(MPI_Type_free(&s));
        ext[3] = 64;
        for (c = 0; c < 3; c++) {
            lay_add(&l[3], 64 * c + 32, 8);
            lay_add(&l[3], 64 * c, 24);
        }
    }
    (void)ext;
    for (i = 0; i < 4; i++) {
        OK(MPI_Type_commit(&a[i]));
        CHECK(l[i].bytes == 96, "the case itself is wrong");
    }
    for (i = 0; i < 4; i++)
        for (j = 0; j < 4; j++) {
            area s = area_make(&l[i], 1u + (unsigned)case_rank), o = area_make(&l[i], 1u + (unsigned)peer), d = area_make(&l[j], 9);
            unsigned char plain[96];
            char what[64];
            MPI_Status st;
            lay_gather(&l[i], o.img + o.zero, plain);
            OK(MPI_Sendrecv(s.buf, cnt[i], a[i], peer, 1, d.buf, cnt[j], a[j], peer, 1, MPI_COMM_WORLD, &st));
            OK(MPI_Get_count(&st, a[j], &n));
            snprintf(what, sizeof what, "shape %d to shape %d", i, j);
            CHECK(n == cnt[j], "%s: count %d, has to be %d", what, n, cnt[j]);
            ex_check_area(&d, &l[j], plain, what, "data");
            area_drop(&s);
            area_drop(&o);
            area_drop(&d);
        }
    for (i = 0; i < 4; i++) {
        OK(MPI_Type_free(&a[i]));
        lay_drop(&l[i]);
    }
    return case_end();
}
