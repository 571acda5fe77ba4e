/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * recipe.h - a datatype from a line of text.
 *
 * The line is in reverse Polish notation; tests/recipe/mod.rs has the grammar
 * and the other half of this.  Whatever is wrong with a line ends the program:
 * only the tests write them.
 */
#ifndef RECIPE_H
#define RECIPE_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECIPE_DIMS 32
#define RECIPE_TYPES 16 /* that wait for a struct */

struct recipe {
    char *rest; /* what is left of the line; changed by reading */
    const char *word;
};

static void recipe_bad(const char *what, const char *word)
{
    fprintf(stderr, "recipe: %s: %s\n", what, word ? word : "end of line");
    exit(1);
}

static const char *recipe_word(struct recipe *r)
{
    r->word = strtok_r(NULL, " \t\r\n", &r->rest);
    return r->word;
}

static long long recipe_number(struct recipe *r)
{
    char *end;
    long long n;
    if (recipe_word(r) == NULL)
        recipe_bad("number expected", NULL);
    n = strtoll(r->word, &end, 10);
    if (*end != '\0')
        recipe_bad("number expected", r->word);
    return n;
}

static int recipe_int(struct recipe *r)
{
    long long n = recipe_number(r);
    if (n != (int)n)
        recipe_bad("too large", r->word);
    return (int)n;
}

static void recipe_list(struct recipe *r, int n, int *v)
{
    int i;
    for (i = 0; i < n; i++)
        v[i] = recipe_int(r);
}

static void recipe_bytes(struct recipe *r, int n, MPI_Aint *v)
{
    int i;
    for (i = 0; i < n; i++)
        v[i] = (MPI_Aint)recipe_number(r);
}

static int recipe_ndims(struct recipe *r)
{
    int n = recipe_int(r);
    if (n < 1 || n > RECIPE_DIMS)
        recipe_bad("too many dimensions", r->word);
    return n;
}

static int recipe_order(struct recipe *r)
{
    const char *w = recipe_word(r);
    if (w != NULL && strcmp(w, "C") == 0)
        return MPI_ORDER_C;
    if (w != NULL && strcmp(w, "F") == 0)
        return MPI_ORDER_FORTRAN;
    recipe_bad("order expected", w);
    return 0;
}

static int recipe_distribution(struct recipe *r)
{
    const char *w = recipe_word(r);
    if (w != NULL && strcmp(w, "b") == 0)
        return MPI_DISTRIBUTE_BLOCK;
    if (w != NULL && strcmp(w, "c") == 0)
        return MPI_DISTRIBUTE_CYCLIC;
    if (w != NULL && strcmp(w, "n") == 0)
        return MPI_DISTRIBUTE_NONE;
    recipe_bad("distribution expected", w);
    return 0;
}

static MPI_Datatype recipe_named(int bytes)
{
    switch (bytes) {
    case 1:
        return MPI_UNSIGNED_CHAR;
    case 2:
        return MPI_SHORT;
    case 4:
        return MPI_INT;
    case 8:
        return MPI_DOUBLE;
    default:
        recipe_bad("no predefined type of this size", "named");
        return MPI_DATATYPE_NULL;
    }
}

static MPI_Datatype recipe_pair(int first, int second_at, int second)
{
    if (first == 2 && second_at == 4 && second == 4)
        return MPI_SHORT_INT;
    if (first == 4 && second_at == 4 && second == 4)
        return MPI_2INT;
    if (first == 8 && second_at == 8 && second == 4)
        return MPI_DOUBLE_INT;
    if (first == 16 && second_at == 16 && second == 4)
        return MPI_LONG_DOUBLE_INT;
    recipe_bad("no predefined type of this layout", "pair");
    return MPI_DATATYPE_NULL;
}

/* one constructor, r->word, around old: 1, or -1 if the MPI refuses */
static int recipe_step(struct recipe *r, MPI_Datatype old, MPI_Datatype *t)
{
    int rc = MPI_SUCCESS;
    int a[RECIPE_DIMS], b[RECIPE_DIMS], c[RECIPE_DIMS], d[RECIPE_DIMS];
    MPI_Aint bytes[RECIPE_DIMS];
    int n, i, order, size, rank;
    MPI_Aint lb;
    const char *w = r->word;

    if (strcmp(w, "dup") == 0) {
        rc = MPI_Type_dup(old, t);
    } else if (strcmp(w, "resized") == 0) {
        lb = (MPI_Aint)recipe_number(r);
        rc = MPI_Type_create_resized(old, lb, (MPI_Aint)recipe_number(r), t);
    } else if (strcmp(w, "contig") == 0) {
        rc = MPI_Type_contiguous(recipe_int(r), old, t);
    } else if (strcmp(w, "vec") == 0) {
        recipe_list(r, 3, a);
        rc = MPI_Type_vector(a[0], a[1], a[2], old, t);
    } else if (strcmp(w, "hvec") == 0) {
        recipe_list(r, 2, a);
        rc = MPI_Type_create_hvector(a[0], a[1], (MPI_Aint)recipe_number(r), old, t);
    } else if (strcmp(w, "sub") == 0) {
        order = recipe_order(r);
        n = recipe_ndims(r);
        recipe_list(r, n, a);
        recipe_list(r, n, b);
        recipe_list(r, n, c);
        rc = MPI_Type_create_subarray(n, a, b, c, order, old, t);
    } else if (strcmp(w, "darray") == 0) {
        order = recipe_order(r);
        size = recipe_int(r);
        rank = recipe_int(r);
        n = recipe_ndims(r);
        recipe_list(r, n, a);
        for (i = 0; i < n; i++)
            b[i] = recipe_distribution(r);
        recipe_list(r, n, c);
        for (i = 0; i < n; i++)
            if (c[i] == -1)
                c[i] = MPI_DISTRIBUTE_DFLT_DARG;
        recipe_list(r, n, d);
        rc = MPI_Type_create_darray(size, rank, n, a, b, c, d, order, old, t);
    } else if (strcmp(w, "idx") == 0) {
        n = recipe_ndims(r);
        recipe_list(r, n, a);
        recipe_list(r, n, b);
        rc = MPI_Type_indexed(n, a, b, old, t);
    } else if (strcmp(w, "idxb") == 0) {
        n = recipe_ndims(r);
        size = recipe_int(r);
        recipe_list(r, n, b);
        rc = MPI_Type_create_indexed_block(n, size, b, old, t);
    } else if (strcmp(w, "hidx") == 0) {
        n = recipe_ndims(r);
        recipe_list(r, n, a);
        recipe_bytes(r, n, bytes);
        rc = MPI_Type_create_hindexed(n, a, bytes, old, t);
    } else if (strcmp(w, "hidxb") == 0) {
        n = recipe_ndims(r);
        size = recipe_int(r);
        recipe_bytes(r, n, bytes);
        rc = MPI_Type_create_hindexed_block(n, size, bytes, old, t);
    } else {
        recipe_bad("no constructor", w);
    }
    return rc == MPI_SUCCESS ? 1 : -1;
}

static void recipe_free(MPI_Datatype t)
{
    int ni, na, nd, combiner;
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(&t);
}

/* The datatype of a line, committed, or MPI_DATATYPE_NULL if the MPI refuses to
 * make it and errors return.  The line is changed.  recipe_free() the type. */
static MPI_Datatype recipe_type(char *line)
{
    struct recipe r = {line, NULL};
    MPI_Datatype types[RECIPE_TYPES], next;
    MPI_Aint bytes[RECIPE_DIMS];
    int a[RECIPE_DIMS], depth = 0, made, n, i;
    const char *w;

    while ((w = recipe_word(&r)) != NULL) {
        made = 1;
        n = 0; /* types that the next one is made from */
        if (strcmp(w, "named") == 0) {
            next = recipe_named(recipe_int(&r));
        } else if (strcmp(w, "pair") == 0) {
            recipe_list(&r, 3, a);
            next = recipe_pair(a[0], a[1], a[2]);
        } else if (strcmp(w, "struct") == 0) {
            n = recipe_ndims(&r);
            recipe_list(&r, n, a);
            recipe_bytes(&r, n, bytes);
            if (n > depth)
                recipe_bad("too few types are left", "struct");
            if (MPI_Type_create_struct(n, a, bytes, types + depth - n, &next) != MPI_SUCCESS)
                made = -1;
        } else {
            n = 1;
            if (depth == 0)
                recipe_bad("no type is left", w);
            made = recipe_step(&r, types[depth - 1], &next);
        }
        for (i = 0; i < n; i++)
            recipe_free(types[--depth]);
        if (made < 0)
            return MPI_DATATYPE_NULL;
        if (depth == RECIPE_TYPES)
            recipe_bad("too many types are left", w);
        types[depth++] = next;
    }
    if (depth != 1)
        recipe_bad("not one type", NULL);
    MPI_Type_commit(&types[0]);
    return types[0];
}

#endif
