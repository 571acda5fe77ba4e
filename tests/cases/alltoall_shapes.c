/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 4 */
/* cuda-aware: MPI_Alltoall, MPI_Alltoallv */
/* MPI_Alltoall where the two sides have different shapes, MPI_Alltoallv whose
 * displacements count extents, with zero counts and unequal pieces. */
#include "mem.h"

int main(int argc, char **argv)
{
    MPI_Datatype col, colr, gap, gapr;
    int i, k, c, big;

    case_start(&argc, &argv, "alltoall_shapes", 4);
    for (big = 0; big < 2; big++) {
        int rows = big ? 4000 : 6, np = 4;
        size_t bytes = 4 * (size_t)rows;
        unsigned char *img, *want, *from;
        void *s, *r;

        /* a matrix of rows x 4: column k goes to rank k as a plain run */
        OK(MPI_Type_vector(rows, 1, np, MPI_INT, &col));
        OK(MPI_Type_create_resized(col, 0, 4, &colr));
        OK(MPI_Type_commit(&colr));
        s = mem_alloc(bytes * (size_t)np);
        r = mem_alloc(bytes * (size_t)np);
        img = pat_buf(bytes * 4, (unsigned)case_rank);
        want = host_buf(bytes * 4);
        mem_put(s, img, bytes * 4);
        mem_set(r, 0, bytes * 4);
        OK(MPI_Alltoall(s, 1, colr, r, rows, MPI_INT, MPI_COMM_WORLD));
        for (k = 0; k < np; k++) {
            from = pat_buf(bytes * 4, (unsigned)k);
            for (i = 0; i < rows; i++)
                memcpy(want + bytes * (size_t)k + 4 * i, from + 4 * (np * i + case_rank), 4);
            free(from);
        }
        mem_same(r, want, bytes * 4, "MPI_Alltoall, columns to runs");
        /* and runs into columns: the transpose */
        mem_set(r, 0, bytes * 4);
        OK(MPI_Alltoall(s, rows, MPI_INT, r, 1, colr, MPI_COMM_WORLD));
        for (k = 0; k < np; k++) {
            from = pat_buf(bytes * 4, (unsigned)k);
            for (i = 0; i < rows; i++)
                memcpy(want + 4 * (np * i + k), from + bytes * (size_t)case_rank + 4 * i, 4);
            free(from);
        }
        mem_same(r, want, bytes * 4, "MPI_Alltoall, runs to columns");
        free(img);
        free(want);
        mem_free(s);
        mem_free(r);

        { /* rank i sends (i + k) % 3 gapped elements to rank k, at extents apart */
            int sc[4], sd[4], rc[4], rd[4], e = big ? 512 : 3;
            size_t ext = 8 * (size_t)e + 24, len = ext * 4 * 3;
            OK(MPI_Type_vector(e, 1, 2, MPI_INT, &gap));
            OK(MPI_Type_create_resized(gap, 0, (MPI_Aint)ext, &gapr));
            OK(MPI_Type_commit(&gapr));
            for (k = 0; k < 4; k++) {
                sc[k] = (case_rank + k) % 3;
                rc[k] = (k + case_rank) % 3;
                sd[k] = 3 * k;
                rd[k] = 3 * (3 - k);
            }
            s = mem_alloc(len);
            r = mem_alloc(len);
            img = pat_buf(len, 10u + (unsigned)case_rank);
            want = pat_buf(len, 50);
            mem_put(s, img, len);
            mem_put(r, want, len);
            OK(MPI_Alltoallv(s, sc, sd, gapr, r, rc, rd, gapr, MPI_COMM_WORLD));
            for (k = 0; k < 4; k++) {
                from = pat_buf(len, 10u + (unsigned)k);
                for (c = 0; c < rc[k]; c++)
                    for (i = 0; i < e; i++)
                        memcpy(want + ext * (size_t)(rd[k] + c) + 8 * i, from + ext * (size_t)(3 * case_rank + c) + 8 * i, 4);
                free(from);
            }
            mem_same(r, want, len, "MPI_Alltoallv, displacements in extents");
            /* typed to plain: counts differ, signatures do not */
            for (k = 0; k < 4; k++) {
                rc[k] *= e;
                rd[k] = k * 3 * e;
            }
            free(want);
            want = pat_buf(len, 51);
            mem_put(r, want, len);
            OK(MPI_Alltoallv(s, sc, sd, gapr, r, rc, rd, MPI_INT, MPI_COMM_WORLD));
            for (k = 0; k < 4; k++) {
                from = pat_buf(len, 10u + (unsigned)k);
                for (c = 0; c < rc[k] / e; c++)
                    for (i = 0; i < e; i++)
                        memcpy(want + 4 * (size_t)(rd[k] + c * e + i), from + ext * (size_t)(3 * case_rank + c) + 8 * i, 4);
                free(from);
            }
            mem_same(r, want, len, "MPI_Alltoallv, typed to plain");
            free(img);
            free(want);
            mem_free(s);
            mem_free(r);
            OK(MPI_Type_free(&gap));
            OK(MPI_Type_free(&gapr));
        }
        OK(MPI_Type_free(&col));
        OK(MPI_Type_free(&colr));
    }
    return case_end();
}
