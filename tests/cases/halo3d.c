/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 4 */
/* Halo exchanges as applications write them: the six faces and some edges of a
 * box of cells with several values each, through subarrays, through vectors of
 * vectors and through indexed types, all checked cell by cell. */
#include "mem.h"

enum { NX = 10, NY = 8, NZ = 6, NV = 3, CELL = NV * 4, BYTES = NX * NY * NZ * CELL };

static MPI_Aint cell(int x, int y, int z) { return CELL * ((MPI_Aint)(z * NY + y) * NX + x); }

/* region [lo, hi) as bytes in x-fastest order */
static void region(layout *l, const int *lo, const int *hi)
{
    int x, y, z;
    for (z = lo[2]; z < hi[2]; z++)
        for (y = lo[1]; y < hi[1]; y++)
            for (x = lo[0]; x < hi[0]; x++)
                lay_add(l, cell(x, y, z), CELL);
}

static MPI_Datatype make(int kind, const int *lo, const int *hi)
{
    MPI_Datatype c, t = MPI_DATATYPE_NULL, row, plane, mid;
    int n[3], i, len = 1;
    MPI_Aint disp;
    OK(MPI_Type_contiguous(NV, MPI_FLOAT, &c));
    for (i = 0; i < 3; i++)
        n[i] = hi[i] - lo[i];
    if (kind == 0) {
        int s[3] = {NZ, NY, NX}, u[3] = {n[2], n[1], n[0]}, a[3] = {lo[2], lo[1], lo[0]};
        OK(MPI_Type_create_subarray(3, s, u, a, MPI_ORDER_C, c, &t));
    } else if (kind == 1) {
        int s[3] = {NX, NY, NZ};
        OK(MPI_Type_create_subarray(3, s, n, lo, MPI_ORDER_FORTRAN, c, &t));
    } else if (kind == 2) {
        OK(MPI_Type_contiguous(n[0], c, &row));
        OK(MPI_Type_create_hvector(n[1], 1, CELL * NX, row, &plane));
        OK(MPI_Type_create_hvector(n[2], 1, CELL * NX * NY, plane, &mid));
        disp = cell(lo[0], lo[1], lo[2]);
        OK(MPI_Type_create_hindexed(1, &len, &disp, mid, &t));
        OK(MPI_Type_free(&row));
        OK(MPI_Type_free(&plane));
        OK(MPI_Type_free(&mid));
    } else {
        int k = 0, y, z, *d = host_buf(sizeof(int) * (size_t)(n[1] * n[2]));
        for (z = lo[2]; z < hi[2]; z++)
            for (y = lo[1]; y < hi[1]; y++)
                d[k++] = (z * NY + y) * NX + lo[0];
        OK(MPI_Type_create_indexed_block(k, n[0], d, c, &t));
        free(d);
    }
    OK(MPI_Type_free(&c));
    OK(MPI_Type_commit(&t));
    return t;
}

int main(int argc, char **argv)
{
    int kind, f, i, right, left;
    unsigned char *img, *his;
    void *a;

    case_start(&argc, &argv, "halo3d", 4);
    right = (case_rank + 1) % 4;
    left = (case_rank + 3) % 4;
    a = mem_alloc(BYTES);
    for (kind = 0; kind < 4; kind++) {
        MPI_Request rq[16];
        MPI_Datatype ty[16];
        layout sl[8], rl[8];
        int nrq = 0;
        img = pat_buf(BYTES, (unsigned)(10 * kind + case_rank));
        his = pat_buf(BYTES, (unsigned)(10 * kind + left));
        mem_put(a, img, BYTES);
        for (f = 0; f < 8; f++) {
            int slo[3] = {1, 1, 1}, shi[3] = {NX - 1, NY - 1, NZ - 1}, rlo[3], rhi[3];
            if (f < 6) { /* faces: send the inner layer, fill the opposite halo */
                int d = f / 2;
                slo[d] = f % 2 ? 1 : (d == 0 ? NX : d == 1 ? NY : NZ) - 2;
                shi[d] = slo[d] + 1;
                memcpy(rlo, slo, sizeof rlo);
                memcpy(rhi, shi, sizeof rhi);
                rlo[d] = f % 2 ? (d == 0 ? NX : d == 1 ? NY : NZ) - 1 : 0;
                rhi[d] = rlo[d] + 1;
            } else { /* an edge along z, and one along x, two cells thick */
                if (f == 6) {
                    slo[0] = 1, shi[0] = 2, slo[1] = 1, shi[1] = 2;
                    memcpy(rlo, slo, sizeof rlo);
                    memcpy(rhi, shi, sizeof rhi);
                    rlo[0] = NX - 1, rhi[0] = NX, rlo[1] = NY - 1, rhi[1] = NY;
                } else {
                    slo[1] = NY - 2, shi[1] = NY - 1, slo[2] = NZ - 2, shi[2] = NZ - 1;
                    memcpy(rlo, slo, sizeof rlo);
                    memcpy(rhi, shi, sizeof rhi);
                    rlo[1] = 0, rhi[1] = 1, rlo[2] = 0, rhi[2] = 1;
                }
            }
            memset(&sl[f], 0, sizeof sl[f]);
            memset(&rl[f], 0, sizeof rl[f]);
            region(&sl[f], slo, shi);
            region(&rl[f], rlo, rhi);
            ty[nrq] = make((kind + f) % 4, rlo, rhi);
            OK(MPI_Irecv(a, 1, ty[nrq], left, f, MPI_COMM_WORLD, &rq[nrq]));
            nrq++;
            ty[nrq] = make(kind, slo, shi);
            OK(MPI_Isend(a, 1, ty[nrq], right, f, MPI_COMM_WORLD, &rq[nrq]));
            nrq++;
        }
        OK(MPI_Waitall(nrq, rq, MPI_STATUSES_IGNORE));
        for (f = 0; f < 8; f++) {
            unsigned char *p = host_buf(sl[f].bytes);
            lay_gather(&sl[f], his, p);
            lay_scatter(&rl[f], img, p);
            free(p);
            lay_drop(&sl[f]);
            lay_drop(&rl[f]);
        }
        mem_same(a, img, BYTES, "halo");
        for (i = 0; i < nrq; i++)
            OK(MPI_Type_free(&ty[i]));
        free(img);
        free(his);
    }
    mem_free(a);
    return case_end();
}
