/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* The halo layouts of applications, after DDTBench (Schneider, Gerstenberger, Hoefler, EuroMPI 2012), small: WRF,
 * MILC, NAS LU and MG, LAMMPS, SPECFEM3D, FFT in two dimensions; and a block-cyclic array. What is a struct of arrays
 * goes twice: as parts of one buffer, and from MPI_BOTTOM with each array in an allocation of its own. */
#include "mem.h"

/* One array of a struct of arrays: its bytes, the type of what is sent of it, and where that lies in it. */
typedef struct {
    size_t bytes;
    MPI_Datatype type;
    layout l;
} part;

static void from_bottom(const char *what, part *parts, int n, const MPI_Datatype *types, MPI_Datatype basic, size_t bytes)
{
    int ones[16], nbasic, size, peer = 1 - case_rank, f;
    unsigned char *plain = host_buf(bytes), *to, *images[16];
    void *arrays[16], *contig = mem_alloc_contig(bytes);
    MPI_Aint places[16];
    MPI_Datatype t;
    MPI_Request rq;
    char msg[256];

    OK(MPI_Type_size(basic, &size));
    nbasic = (int)bytes / size;
    for (f = 0; f < n; f++) {
        ones[f] = 1;
        arrays[f] = mem_alloc(parts[f].bytes);
        images[f] = pat_buf(parts[f].bytes, 60u + (unsigned)f);
        mem_put(arrays[f], images[f], parts[f].bytes);
        OK(MPI_Get_address(arrays[f], &places[f]));
    }
    OK(MPI_Type_create_struct(n, ones, places, types, &t));
    OK(MPI_Type_commit(&t));

    /* both ranks' arrays hold the same, so this is what comes from the peer */
    OK(MPI_Irecv(contig, nbasic, basic, peer, 1, MPI_COMM_WORLD, &rq));
    OK(MPI_Send(MPI_BOTTOM, 1, t, peer, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&rq, MPI_STATUS_IGNORE));
    for (to = plain, f = 0; f < n; to += parts[f++].l.bytes)
        lay_gather(&parts[f].l, images[f], to);
    snprintf(msg, sizeof msg, "%s, sent from MPI_BOTTOM", what);
    mem_same(contig, plain, bytes, msg);

    for (f = 0; f < (int)bytes; f++)
        plain[f] = pat((size_t)f, 90);
    mem_put(contig, plain, bytes);
    OK(MPI_Isend(contig, nbasic, basic, peer, 2, MPI_COMM_WORLD, &rq));
    OK(MPI_Recv(MPI_BOTTOM, 1, t, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&rq, MPI_STATUS_IGNORE));
    snprintf(msg, sizeof msg, "%s, received to MPI_BOTTOM", what);
    for (to = plain, f = 0; f < n; to += parts[f++].l.bytes) {
        lay_scatter(&parts[f].l, images[f], to);
        mem_same(arrays[f], images[f], parts[f].bytes, msg);
    }
    OK(MPI_Type_free(&t));
    for (f = 0; f < n; f++) {
        mem_free(arrays[f]);
        free(images[f]);
    }
    mem_free(contig);
    free(plain);
}

/* Takes the parts' types and layouts. */
static void of_parts(const char *what, part *parts, int n, MPI_Datatype basic)
{
    int ones[16], f;
    size_t s;
    MPI_Aint places[16], end = 0;
    MPI_Datatype types[16], t;
    layout l = {0};

    for (f = n - 1; f >= 0; f--) { /* the last array lies first */
        places[f] = end;
        end += (MPI_Aint)(parts[f].bytes + 63) / 64 * 64;
    }
    for (f = 0; f < n; f++) {
        ones[f] = 1;
        types[f] = parts[f].type;
        for (s = 0; s < parts[f].l.n; s++)
            lay_add(&l, places[f] + parts[f].l.v[s].off, parts[f].l.v[s].len);
    }
    OK(MPI_Type_create_struct(n, ones, places, types, &t));
    OK(MPI_Type_commit(&t));
    exercise(what, t, 1, &l, basic, 0);
    OK(MPI_Type_free(&t));
    from_bottom(what, parts, n, types, basic, l.bytes);
    for (f = 0; f < n; f++) {
        OK(MPI_Type_free(&parts[f].type));
        lay_drop(&parts[f].l);
    }
    lay_drop(&l);
}

/* Takes the type and the layout of one element of it. */
static void of_one(const char *what, MPI_Datatype t, layout *one, MPI_Datatype basic)
{
    int count;
    OK(MPI_Type_commit(&t));
    for (count = 1; count <= 2; count++) {
        layout l = {0};
        MPI_Aint lb, extent;
        size_t s;
        int c;
        OK(MPI_Type_get_extent(t, &lb, &extent));
        for (c = 0; c < count; c++)
            for (s = 0; s < one->n; s++)
                lay_add(&l, c * extent + one->v[s].off, one->v[s].len);
        exercise(what, t, count, &l, basic, 0);
        lay_drop(&l);
    }
    OK(MPI_Type_free(&t));
    lay_drop(one);
}

/* 4 arrays [nj][ni], 3 [nj][nk][ni] and 2 [2][nj][nk][ni] of floats, of these the second slice: subarrays, or vectors. */
static void wrf(int vectors, int nj, int nk, int ni, int j, int mj, int i, int mi)
{
    part parts[9];
    int a, y, k;
    char what[96];
    for (a = 0; a < 9; a++) {
        int levels = a < 4 ? 1 : nk, slices = a < 7 ? 1 : 2;
        int from = a < 4 ? 2 : a < 7 ? 1 : 0;
        int sizes[4] = {2, nj, nk, ni}, sub[4] = {1, mj, nk, mi}, starts[4] = {1, j, 0, i};
        MPI_Aint row = 4 * ni, place = row * levels * ((slices - 1) * nj + j) + 4 * i;
        if (a < 4) {
            sizes[2] = nj;
            sub[2] = mj;
            starts[2] = j;
        }
        memset(&parts[a], 0, sizeof parts[a]);
        parts[a].bytes = (size_t)row * (size_t)(levels * nj * slices);
        if (vectors) {
            MPI_Datatype plane, box;
            OK(MPI_Type_vector(levels, mi, ni, MPI_FLOAT, &plane));
            OK(MPI_Type_create_hvector(mj, 1, row * levels, plane, &box));
            OK(MPI_Type_create_hindexed_block(1, 1, &place, box, &parts[a].type));
            OK(MPI_Type_free(&plane));
            OK(MPI_Type_free(&box));
        } else {
            OK(MPI_Type_create_subarray(4 - from, sizes + from, sub + from, starts + from, MPI_ORDER_C, MPI_FLOAT, &parts[a].type));
        }
        for (y = 0; y < mj; y++)
            for (k = 0; k < levels; k++)
                lay_add(&parts[a].l, place + row * (y * levels + k), (size_t)(4 * mi));
    }
    snprintf(what, sizeof what, "WRF by %s, %d x %d of %d x %d", vectors ? "vectors" : "subarrays", mj, mi, nj, ni);
    of_parts(what, parts, 9, MPI_FLOAT);
}

static void milc(int x, int y, int z, int t)
{
    MPI_Datatype su3, plane, type;
    MPI_Aint half = 24 * x * y * z * t / 2;
    layout l = {0};
    int parity, time;
    OK(MPI_Type_contiguous(6, MPI_FLOAT, &su3));
    OK(MPI_Type_vector(t, x * y / 2, x * y * z / 2, su3, &plane));
    OK(MPI_Type_create_hvector(2, 1, half, plane, &type));
    OK(MPI_Type_free(&su3));
    OK(MPI_Type_free(&plane));
    for (parity = 0; parity < 2; parity++)
        for (time = 0; time < t; time++)
            lay_add(&l, parity * half + 24 * (x * y * z / 2) * time, (size_t)(24 * (x * y / 2)));
    of_one("MILC su3 zdown", type, &l, MPI_FLOAT);
}

static void nas_lu(int n)
{
    MPI_Datatype cell, type;
    layout x = {0}, y = {0};
    int i;
    OK(MPI_Type_contiguous(5 * n, MPI_DOUBLE, &type));
    lay_add(&x, 0, (size_t)(40 * n));
    of_one("NAS LU x", type, &x, MPI_DOUBLE);
    OK(MPI_Type_contiguous(5, MPI_DOUBLE, &cell));
    OK(MPI_Type_vector(n, 1, n + 2, cell, &type));
    OK(MPI_Type_free(&cell));
    for (i = 0; i < n; i++)
        lay_add(&y, 40 * (n + 2) * i, 40);
    of_one("NAS LU y", type, &y, MPI_DOUBLE);
}

static void nas_mg(int nx, int ny, int nz)
{
    MPI_Datatype line, type;
    layout x = {0}, y = {0}, z = {0};
    int i, k;
    OK(MPI_Type_vector(ny - 2, 1, nx, MPI_DOUBLE, &line));
    OK(MPI_Type_create_hvector(nz - 2, 1, (MPI_Aint)8 * nx * ny, line, &type));
    OK(MPI_Type_free(&line));
    for (k = 0; k < nz - 2; k++)
        for (i = 0; i < ny - 2; i++)
            lay_add(&x, 8 * nx * (ny * k + i), 8);
    of_one("NAS MG x", type, &x, MPI_DOUBLE);
    OK(MPI_Type_vector(nz - 2, nx - 2, nx * ny, MPI_DOUBLE, &type));
    for (k = 0; k < nz - 2; k++)
        lay_add(&y, 8 * nx * ny * k, (size_t)(8 * (nx - 2)));
    of_one("NAS MG y", type, &y, MPI_DOUBLE);
    OK(MPI_Type_vector(ny - 2, nx - 2, nx, MPI_DOUBLE, &type));
    for (i = 0; i < ny - 2; i++)
        lay_add(&z, 8 * nx * i, (size_t)(8 * (nx - 2)));
    of_one("NAS MG z", type, &z, MPI_DOUBLE);
}

/* The i-th number of a list below `all` that no stride makes. */
static int listed(int i, int all) { return (int)((7L * i * i + 3L * i + 5) % all); }

/* An array of records of `length` basic elements, n of them by a list without repeats. */
static part by_list(int all, int n, int length, MPI_Datatype basic)
{
    part p;
    int size, i, k = 0;
    int *at = host_buf(sizeof(int) * (size_t)n);
    char *taken = calloc((size_t)all, 1);
    memset(&p, 0, sizeof p);
    OK(MPI_Type_size(basic, &size));
    p.bytes = (size_t)(all * length * size);
    for (i = 0; k < n; i++) {
        int number = listed(i, all);
        while (taken[number])
            number = (number + 1) % all;
        taken[number] = 1;
        at[k++] = number * length;
        lay_add(&p.l, number * length * size, (size_t)(length * size));
    }
    OK(MPI_Type_create_indexed_block(n, length, at, basic, &p.type));
    free(taken);
    free(at);
    return p;
}

static void lammps(int fields, int all, int n)
{
    part parts[6];
    int f;
    for (f = 0; f < fields; f++)
        parts[f] = by_list(all, n, f == 0 ? 3 : 1, MPI_DOUBLE);
    of_parts(fields == 6 ? "LAMMPS full" : "LAMMPS atomic", parts, fields, MPI_DOUBLE);
}

static void specfem(void)
{
    part oc = by_list(397, 93, 1, MPI_FLOAT), cm[2];
    MPI_Datatype triple, type;
    layout l = {0};
    int i;
    of_one("SPECFEM3D oc", oc.type, &oc.l, MPI_FLOAT);
    cm[0] = by_list(399, 157, 3, MPI_FLOAT);
    cm[1] = by_list(125, 45, 3, MPI_FLOAT);
    of_parts("SPECFEM3D cm", cm, 2, MPI_FLOAT);
    OK(MPI_Type_contiguous(3, MPI_FLOAT, &triple));
    OK(MPI_Type_vector(76, 1, 2, triple, &type));
    OK(MPI_Type_free(&triple));
    for (i = 0; i < 76; i++)
        lay_add(&l, 24 * i, 12);
    of_one("SPECFEM3D mt", type, &l, MPI_FLOAT);
}

/* n x n complex doubles over 2 ranks: half rows, and how they arrive, column after column. */
static void fft(int n)
{
    MPI_Datatype number, vector, resized, type;
    layout rows = {0}, columns = {0};
    int m = n / 2, i, j;
    OK(MPI_Type_contiguous(2, MPI_DOUBLE, &number));
    OK(MPI_Type_vector(m, m, n, number, &vector));
    OK(MPI_Type_create_resized(vector, 0, (MPI_Aint)16 * m, &type));
    OK(MPI_Type_free(&vector));
    for (i = 0; i < m; i++)
        lay_add(&rows, 16 * n * i, (size_t)(16 * m));
    of_one("FFT2D", type, &rows, MPI_DOUBLE);
    OK(MPI_Type_vector(m, 1, n, number, &vector));
    OK(MPI_Type_create_resized(vector, 0, 16, &resized));
    OK(MPI_Type_contiguous(m, resized, &type));
    OK(MPI_Type_free(&vector));
    OK(MPI_Type_free(&resized));
    OK(MPI_Type_free(&number));
    for (j = 0; j < m; j++)
        for (i = 0; i < m; i++)
            lay_add(&columns, 16 * (n * i + j), 16);
    of_one("FFT2D transposed", type, &columns, MPI_DOUBLE);
}

/* Each rank's part of an n x n array of doubles, blocks of b x b dealt to 2 x 2. */
static void cyclic(int n, int b)
{
    int sizes[2] = {n, n}, ranks[2] = {2, 2}, blocks[2] = {b, b}, r, i, j;
    int kinds[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    for (r = 0; r < 4; r++) {
        MPI_Datatype type;
        layout l = {0};
        char what[64];
        OK(MPI_Type_create_darray(4, r, 2, sizes, kinds, blocks, ranks, MPI_ORDER_C, MPI_DOUBLE, &type));
        for (i = 0; i < n; i++)
            for (j = 0; j < n; j++)
                if (i / b % 2 == r / 2 && j / b % 2 == r % 2)
                    lay_add(&l, 8 * (n * i + j), 8);
        snprintf(what, sizeof what, "block-cyclic piece %d of %d x %d by %d", r, n, n, b);
        of_one(what, type, &l, MPI_DOUBLE);
    }
}

int main(int argc, char **argv)
{
    int vectors;
    case_start(&argc, &argv, "ddt_layouts", 2);
    for (vectors = 0; vectors < 2; vectors++) {
        wrf(vectors, 12, 5, 9, 2, 8, 4, 3);
        wrf(vectors, 12, 5, 9, 3, 3, 2, 5);
    }
    milc(4, 4, 4, 6);
    nas_lu(12);
    nas_mg(12, 8, 6);
    lammps(6, 190, 166);
    lammps(4, 121, 14);
    specfem();
    fft(16);
    cyclic(24, 4);
    cyclic(21, 4);
    return case_end();
}
