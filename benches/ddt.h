/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ddt.h - the halo layouts of real applications, after DDTBench: which arrays, which constructors, which sizes.
 *
 * Source of the facts: Schneider, Gerstenberger, Hoefler, "Micro-applications for communication data access patterns
 * and MPI datatypes" (EuroMPI 2012), and the arguments that the benchmark published with it calls itself with, here
 * the smallest and the largest of each. The programs are our own. Three things differ: the arrays of an application
 * lie in one allocation and the type counts from its start, not from MPI_BOTTOM (Open MPI would take MPI_BOTTOM for host
 * memory); an element's address that the benchmark gives as the buffer is a displacement in the type; and one type
 * is used in both directions. Two layouts more: particles by index in three fields, and a block-cyclic array.
 *
 * All are blocks of one size, so by hand each is one kernel: strided, or with a list of the blocks' places, which an
 * application has anyway.
 */
#ifndef DDT_H
#define DDT_H

#include "bench.h"

/* Arrays in an allocation begin where an allocation of their own would. */
static inline int64_t ddt_after(int64_t end) { return (end + 255) / 256 * 256; }

static inline struct layout ddt_layout(const char *name)
{
    struct layout l;
    memset(&l, 0, sizeof l);
    snprintf(l.name, sizeof l.name, "%s", name);
    return l;
}

/* A regular layout's numbers, and its type put `shape.offset` bytes into the buffer. */
static inline void ddt_strided(struct layout *l, MPI_Datatype type, struct shape shape)
{
    MPI_Aint at = shape.offset;
    l->shape = shape;
    l->bytes = shape.block * shape.n1 * shape.n2;
    l->extent = shape.offset + (shape.n2 - 1) * shape.s2 + (shape.n1 - 1) * shape.s1 + shape.block;
    MPI_Type_create_hindexed_block(1, 1, &at, type, &l->type);
    MPI_Type_free(&type);
    MPI_Type_commit(&l->type);
}

/* The numbers 0 to n - 1 in a random order. */
static inline int *ddt_shuffled(int n)
{
    int *list = malloc((size_t)n * sizeof *list);
    if (list == NULL)
        bench_fail("memory", "none left");
    for (int i = 0; i < n; i++)
        list[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(hashed((uint64_t)i) % (uint64_t)(i + 1)), number = list[i];
        list[i] = list[j];
        list[j] = number;
    }
    return list;
}

/* One array of records of `length` elements of `element` bytes, and which of its records are sent. */
struct field {
    int records, length, element;
    MPI_Datatype basic;
    const int *index;
    int n;
};

/* A struct of an indexed type a field; the index is in records. By hand: a list of blocks of the shortest record. */
static inline struct layout ddt_fields(const char *name, const struct field *fields, int count)
{
    struct layout l = ddt_layout(name);
    int ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    MPI_Datatype types[8];
    MPI_Aint places[8];
    struct list list;
    int64_t block = INT64_MAX, n = 0, bytes = 0, end = 0;
    for (int f = 0; f < count; f++) {
        int64_t record = (int64_t)fields[f].length * fields[f].element;
        block = record < block ? record : block; /* which divides the longer ones here */
        bytes += record * fields[f].n;
    }
    list = list_of(bytes / block, block, 0, 0);
    for (int f = 0; f < count; f++) {
        const struct field *field = &fields[f];
        int64_t record = (int64_t)field->length * field->element;
        int *displacements = malloc((size_t)field->n * sizeof *displacements);
        if (displacements == NULL || record % block != 0)
            bench_fail("field", name);
        places[f] = (MPI_Aint)ddt_after(end);
        end = places[f] + record * field->records;
        for (int i = 0; i < field->n; i++) {
            displacements[i] = field->index[i] * field->length;
            for (int64_t b = 0; b < record; b += block)
                list.at[n++] = places[f] + field->index[i] * record + b;
        }
        MPI_Type_create_indexed_block(field->n, field->length, displacements, field->basic, &types[f]);
        free(displacements);
    }
    MPI_Type_create_struct(count, ones, places, types, &l.type);
    MPI_Type_commit(&l.type);
    for (int f = 0; f < count; f++)
        MPI_Type_free(&types[f]);
    layout_list(&l, list);
    return l;
}

/* Weather Research and Forecasting: a halo of 4 two-, 3 three- and 2 four-dimensional arrays of floats [j][k][i], as a
 * struct of subarrays. Of the four-dimensional arrays' two slices the second is sent. nj, nk, ni are the arrays'
 * sizes, the others the halo's place and size in j and i; in k it is everything. */
static inline struct layout ddt_wrf(const char *name, int nj, int nk, int ni, int j, int mj, int i, int mi)
{
    struct layout l = ddt_layout(name);
    struct list list = list_of((int64_t)mj * (4 + 5 * nk), 4L * mi, 0, 0);
    int ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    MPI_Datatype types[9];
    MPI_Aint places[9];
    int64_t n = 0, end = 0;
    for (int a = 0; a < 9; a++) {
        int from = a < 4 ? 2 : a < 7 ? 1 : 0; /* of the four dimensions below: slices, j, k, i */
        int sizes[4] = {2, nj, nk, ni}, sub[4] = {1, mj, nk, mi}, starts[4] = {1, j, 0, i}, levels = a < 4 ? 1 : nk;
        if (a < 4) { /* no k */
            sizes[2] = nj;
            sub[2] = mj;
            starts[2] = j;
        }
        places[a] = (MPI_Aint)ddt_after(end);
        end = places[a] + 4L * ni * levels * nj * (a < 7 ? 1 : 2);
        MPI_Type_create_subarray(4 - from, sizes + from, sub + from, starts + from, MPI_ORDER_C, MPI_FLOAT, &types[a]);
        for (int64_t y = j; y < j + mj; y++)
            for (int64_t k = 0; k < levels; k++)
                list.at[n++] = places[a] + 4 * (((a < 7 ? y : nj + y) * levels + k) * ni + i);
    }
    MPI_Type_create_struct(9, ones, places, types, &l.type);
    MPI_Type_commit(&l.type);
    for (int a = 0; a < 9; a++)
        MPI_Type_free(&types[a]);
    layout_list(&l, list);
    return l;
}

/* MIMD Lattice Computation: su3 vectors (3 complex floats) of one z plane of a lattice x, y, z, t, the even and the
 * odd sites apart, each half of it. */
static inline struct layout ddt_milc(int x, int y, int z, int t)
{
    struct layout l = ddt_layout("MILC su3 zdown");
    MPI_Datatype su3, plane, type;
    int64_t half = 24L * x * y * z * t / 2;
    MPI_Type_contiguous(6, MPI_FLOAT, &su3);
    MPI_Type_vector(t, x * y / 2, x * y * z / 2, su3, &plane);
    MPI_Type_create_hvector(2, 1, (MPI_Aint)half, plane, &type);
    MPI_Type_free(&su3);
    MPI_Type_free(&plane);
    ddt_strided(&l, type, (struct shape){0, 12L * x * y, t, 12L * x * y * z, 2, half});
    return l;
}

/* NAS LU: rows of an array [z + 2][y + 2][5] of doubles: along y it is contiguous, along z it is not. */
static inline struct layout ddt_lu(int along_z, int n)
{
    struct layout l = ddt_layout(along_z ? "NAS LU y" : "NAS LU x");
    MPI_Datatype cell, type;
    int64_t row = 40L * (n + 2);
    if (along_z) {
        MPI_Type_contiguous(5, MPI_DOUBLE, &cell);
        MPI_Type_vector(n, 1, n + 2, cell, &type);
        MPI_Type_free(&cell);
        ddt_strided(&l, type, (struct shape){row + 40L * n, 40, n, row, 1, 0});
    } else {
        MPI_Type_contiguous(5 * n, MPI_DOUBLE, &type);
        ddt_strided(&l, type, (struct shape){n * row + 40, 40L * n, 1, 0, 1, 0});
    }
    return l;
}

/* NAS MG: a face without its rim of an array [z][y][x] of doubles, by a vector, or a vector of vectors for x. */
static inline struct layout ddt_mg(char dim, int x, int y, int z)
{
    struct layout l = ddt_layout("NAS MG x");
    int64_t row = 8L * x, plane = row * y, inner = 8L * (x - 2);
    MPI_Datatype line, type;
    l.name[7] = dim;
    if (dim == 'x') {
        MPI_Type_vector(y - 2, 1, x, MPI_DOUBLE, &line);
        MPI_Type_create_hvector(z - 2, 1, (MPI_Aint)plane, line, &type);
        MPI_Type_free(&line);
        ddt_strided(&l, type, (struct shape){plane + row + inner, 8, y - 2, row, z - 2, plane});
    } else if (dim == 'y') {
        MPI_Type_vector(z - 2, x - 2, x * y, MPI_DOUBLE, &type);
        ddt_strided(&l, type, (struct shape){plane + row * (y - 2) + 8, inner, z - 2, plane, 1, 0});
    } else {
        MPI_Type_vector(y - 2, x - 2, x, MPI_DOUBLE, &type);
        ddt_strided(&l, type, (struct shape){plane * (z - 2) + row + 8, inner, y - 2, row, 1, 0});
    }
    return l;
}

/* LAMMPS: `n` of `all` atoms by a list: positions (3 doubles), and 5 (full) or 3 (atomic) fields of a double. */
static inline struct layout ddt_lammps(int full, int all, int n)
{
    int *list = ddt_shuffled(all);
    struct field fields[6];
    struct layout l;
    for (int f = 0; f < 6; f++)
        fields[f] = (struct field){all + n, f == 0 ? 3 : 1, 8, MPI_DOUBLE, list, n};
    l = ddt_fields(full ? "LAMMPS full" : "LAMMPS atomic", fields, full ? 6 : 4);
    free(list);
    return l;
}

/* SPECFEM3D outer core: single floats of one array by a list. */
static inline struct layout ddt_specfem_oc(int all, int n)
{
    int *list = ddt_shuffled(all);
    struct field field = {all, 1, 4, MPI_FLOAT, list, n};
    struct layout l = ddt_fields("SPECFEM3D oc", &field, 1);
    free(list);
    return l;
}

/* SPECFEM3D crust-mantle and inner core: 3 floats a point, two arrays, two lists. */
static inline struct layout ddt_specfem_cm(int all, int n, int all_inner, int n_inner)
{
    int *list = ddt_shuffled(all), *inner = ddt_shuffled(all_inner);
    struct field fields[2] = {{all, 3, 4, MPI_FLOAT, list, n}, {all_inner, 3, 4, MPI_FLOAT, inner, n_inner}};
    struct layout l = ddt_fields("SPECFEM3D cm", fields, 2);
    free(list);
    free(inner);
    return l;
}

/* SPECFEM3D mass transfer: every other triple of floats. */
static inline struct layout ddt_specfem_mt(int n)
{
    struct layout l = ddt_layout("SPECFEM3D mt");
    MPI_Datatype triple, type;
    MPI_Type_contiguous(3, MPI_FLOAT, &triple);
    MPI_Type_vector(n, 1, 2, triple, &type);
    MPI_Type_free(&triple);
    ddt_strided(&l, type, (struct shape){0, 12, n, 24, 1, 0});
    return l;
}

/* FFT in two dimensions over 2 ranks: one rank's part of an n x n matrix of complex doubles, what goes to the other:
 * rows of half a row, or (how it arrives) the same transposed, column after column. */
static inline struct layout ddt_fft(int transposed, int n)
{
    struct layout l = ddt_layout(transposed ? "FFT2D transposed" : "FFT2D");
    MPI_Datatype number, column, resized, type;
    int m = n / 2;
    MPI_Type_contiguous(2, MPI_DOUBLE, &number);
    if (transposed) {
        MPI_Type_vector(m, 1, n, number, &column);
        MPI_Type_create_resized(column, 0, 16, &resized);
        MPI_Type_contiguous(m, resized, &type);
        MPI_Type_free(&resized);
    } else {
        MPI_Type_vector(m, m, n, number, &column);
        MPI_Type_create_resized(column, 0, 16 * (MPI_Aint)m, &type);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&number);
    ddt_strided(&l, type, transposed ? (struct shape){0, 16, m, 16L * n, m, 16} : (struct shape){0, 16L * m, m, 16L * n, 1, 0});
    return l;
}

/* Particles by index in three arrays: positions (3 doubles), charges (a double), identities (a 64-bit integer). */
static inline struct layout ddt_particles(int all, int n)
{
    int *list = ddt_shuffled(all);
    struct field fields[3] = {{all, 3, 8, MPI_DOUBLE, list, n}, {all, 1, 8, MPI_DOUBLE, list, n}, {all, 1, 8, MPI_INT64_T, list, n}};
    struct layout l = ddt_fields("particles in 3 fields", fields, 3);
    free(list);
    return l;
}

/* Rank 1 of 2 x 2 ranks' part of an n x n array of doubles in a block-cyclic distribution, blocks of b x b: rows of b. */
static inline struct layout ddt_cyclic(int n, int b)
{
    struct layout l = ddt_layout("block-cyclic darray");
    struct list list = list_of((int64_t)n / 2 * (n / 2 / b), 8L * b, 0, 0);
    int sizes[2] = {n, n}, ranks[2] = {2, 2}, blocks[2] = {b, b}, i = 0;
    int kinds[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    for (int64_t row = 0; row < n; row++)
        for (int64_t column = b; row / b % 2 == 0 && column < n; column += 2 * b)
            list.at[i++] = 8 * (row * n + column);
    MPI_Type_create_darray(4, 1, 2, sizes, kinds, blocks, ranks, MPI_ORDER_C, MPI_DOUBLE, &l.type);
    MPI_Type_commit(&l.type);
    layout_list(&l, list);
    return l;
}

/* Every layout above, at most `max`, small ones of a kind first. */
static inline int ddt_layouts(struct layout *out, int max)
{
    int n = 0;
    if (max < 33)
        bench_fail("layouts", "no room");
    out[n++] = ddt_wrf("WRF x", 24, 65, 19, 4, 16, 9, 3);
    out[n++] = ddt_wrf("WRF x", 52, 65, 32, 4, 44, 22, 3);
    out[n++] = ddt_wrf("WRF y", 24, 65, 19, 7, 3, 4, 11);
    out[n++] = ddt_wrf("WRF y", 52, 65, 32, 7, 3, 5, 23);
    out[n++] = ddt_milc(8, 8, 8, 8);
    out[n++] = ddt_milc(16, 16, 16, 16);
    for (int along_z = 0; along_z < 2; along_z++) {
        out[n++] = ddt_lu(along_z, 12);
        out[n++] = ddt_lu(along_z, 1020);
    }
    for (int dim = 0; dim < 3; dim++) {
        out[n++] = ddt_mg("xyz"[dim], 34, 18, 18);
        out[n++] = ddt_mg("xyz"[dim], 514, 258, 258);
    }
    out[n++] = ddt_lammps(1, 1907, 1662);
    out[n++] = ddt_lammps(1, 3534, 3062);
    out[n++] = ddt_lammps(0, 1217, 114);
    out[n++] = ddt_lammps(0, 4084, 243);
    out[n++] = ddt_specfem_oc(3697, 493);
    out[n++] = ddt_specfem_oc(88881, 3225);
    out[n++] = ddt_specfem_cm(39929, 1957, 1225, 245);
    out[n++] = ddt_specfem_cm(834917, 11797, 51153, 3009);
    out[n++] = ddt_specfem_mt(5600);
    out[n++] = ddt_specfem_mt(7600);
    for (int transposed = 0; transposed < 2; transposed++) {
        out[n++] = ddt_fft(transposed, 256);
        out[n++] = ddt_fft(transposed, 1536);
    }
    out[n++] = ddt_particles(98304, 65536);
    out[n++] = ddt_cyclic(256, 8);
    out[n++] = ddt_cyclic(2048, 8);
    for (int i = 0; i < n; i++) {
        int size;
        MPI_Type_size(out[i].type, &size);
        if (size != out[i].bytes)
            bench_fail("size", out[i].name);
    }
    return n;
}

#endif
