/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Structs of structs and of subarrays: displacements inside, bounds, padding at
 * the end, and holes that a receive must leave alone. */
#include "mem.h"
#include <stddef.h>

struct inner {
    double d;
    char c;
};
struct outer {
    char tag;
    struct inner in[2];
    short s[3];
    float f;
};

int main(int argc, char **argv)
{
    case_start(&argc, &argv, "struct_bounds", 2);
    { /* float x2, {double,char} with extent 16, char x3 */
        int one[2] = {1, 1}, len[3] = {2, 1, 3};
        MPI_Aint d1[2] = {0, 8}, d2[3] = {0, 16, 26}, lb, ext;
        MPI_Datatype t1[2] = {MPI_DOUBLE, MPI_CHAR}, t2[3] = {MPI_FLOAT, 0, MPI_CHAR}, in, in16, s;
        layout l = {0};
        OK(MPI_Type_create_struct(2, one, d1, t1, &in));
        OK(MPI_Type_create_resized(in, 0, 16, &in16));
        t2[1] = in16;
        OK(MPI_Type_create_struct(3, len, d2, t2, &s));
        OK(MPI_Type_commit(&s));
        OK(MPI_Type_get_extent(s, &lb, &ext));
        (void)lb; /* MPIs differ in the bounds here: take theirs, do not compute them */
        (void)ext;
        lay_add(&l, 0, 8);
        lay_add(&l, 16, 8);
        lay_add(&l, 24, 1);
        lay_add(&l, 26, 3);
        exercise("struct with a struct inside", s, 1, &l, MPI_CHAR, EX_NO_CONTIG);
        lay_drop(&l);
        OK(MPI_Type_free(&in));
        OK(MPI_Type_free(&in16));
        OK(MPI_Type_free(&s));
    }
    { /* an array of C structs, padding everywhere */
        int one[2] = {1, 1}, len[4] = {1, 2, 3, 1};
        MPI_Aint d1[2] = {offsetof(struct inner, d), offsetof(struct inner, c)};
        MPI_Aint d2[4] = {offsetof(struct outer, tag), offsetof(struct outer, in), offsetof(struct outer, s), offsetof(struct outer, f)};
        MPI_Datatype t1[2] = {MPI_DOUBLE, MPI_CHAR}, t2[4] = {MPI_CHAR, 0, MPI_SHORT, MPI_FLOAT}, in, in16, s, so;
        layout l = {0};
        int c, k, n = 100;
        OK(MPI_Type_create_struct(2, one, d1, t1, &in));
        OK(MPI_Type_create_resized(in, 0, sizeof(struct inner), &in16));
        t2[1] = in16;
        OK(MPI_Type_create_struct(4, len, d2, t2, &s));
        OK(MPI_Type_create_resized(s, 0, sizeof(struct outer), &so));
        OK(MPI_Type_commit(&so));
        for (c = 0; c < n; c++) {
            MPI_Aint b = c * (MPI_Aint)sizeof(struct outer);
            lay_add(&l, b + d2[0], 1);
            for (k = 0; k < 2; k++) {
                lay_add(&l, b + d2[1] + k * (MPI_Aint)sizeof(struct inner) + d1[0], 8);
                lay_add(&l, b + d2[1] + k * (MPI_Aint)sizeof(struct inner) + d1[1], 1);
            }
            lay_add(&l, b + d2[2], 6);
            lay_add(&l, b + d2[3], 4);
        }
        exercise("array of padded structs", so, n, &l, MPI_CHAR, EX_NO_CONTIG);
        lay_drop(&l);
        OK(MPI_Type_free(&in));
        OK(MPI_Type_free(&in16));
        OK(MPI_Type_free(&s));
        OK(MPI_Type_free(&so));
    }
    { /* a header and a subarray body: the subarray's bounds are not sticky */
        int sizes[2] = {5, 12}, sub[2] = {3, 4}, start[2] = {1, 6}, len[2] = {16, 1}, i;
        MPI_Aint disp[2] = {0, 32}, lb, ext;
        MPI_Datatype body, types[2] = {MPI_BYTE, 0}, s;
        layout l = {0};
        OK(MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_BYTE, &body));
        types[1] = body;
        OK(MPI_Type_create_struct(2, len, disp, types, &s));
        OK(MPI_Type_commit(&s));
        OK(MPI_Type_get_extent(s, &lb, &ext));
        (void)lb; /* 0 or 32: MPIs differ in whether bounds of a part are sticky */
        lay_add(&l, 0, 16);
        for (i = 0; i < 3; i++)
            lay_add(&l, 32 + 12 * (1 + i) + 6, 4);
        exercise("header + subarray", s, 1, &l, MPI_BYTE, 0);
        lay_drop(&l);
        { /* several of them, at the step that this MPI gives them */
            int c, two[2] = {1, 1};
            MPI_Aint at2[2] = {200, 7};
            MPI_Datatype j;
            for (c = 0; c < 3; c++) {
                lay_add(&l, ext * c, 16);
                for (i = 0; i < 3; i++)
                    lay_add(&l, ext * c + 32 + 12 * (1 + i) + 6, 4);
            }
            exercise("header + subarray x 3", s, 3, &l, MPI_BYTE, ext == 92 ? 0 : EX_OVERLAP);
            lay_drop(&l);
            /* two subarrays joined by hindexed */
            OK(MPI_Type_create_hindexed(2, two, at2, body, &j));
            OK(MPI_Type_commit(&j));
            for (c = 0; c < 2; c++)
                for (i = 0; i < 3; i++)
                    lay_add(&l, at2[c] + 12 * (1 + i) + 6, 4);
            exercise("two subarrays joined", j, 1, &l, MPI_BYTE, 0);
            lay_drop(&l);
            OK(MPI_Type_free(&j));
        }
        OK(MPI_Type_free(&body));
        OK(MPI_Type_free(&s));
    }
    { /* three separate arrays through one struct of vectors, two copies */
        MPI_Datatype va, vb, types[3], s, r;
        MPI_Aint disp[3] = {0, 1024, 512};
        int len[3] = {1, 1, 4}, c, i;
        layout l = {0};
        OK(MPI_Type_vector(8, 1, 4, MPI_INT, &va));
        OK(MPI_Type_vector(4, 3, 5, MPI_INT, &vb));
        types[0] = va;
        types[1] = vb;
        types[2] = MPI_INT;
        OK(MPI_Type_create_struct(3, len, disp, types, &s));
        OK(MPI_Type_create_resized(s, 0, 2048, &r));
        OK(MPI_Type_commit(&r));
        for (c = 0; c < 2; c++) {
            for (i = 0; i < 8; i++)
                lay_add(&l, 2048 * c + 16 * i, 4);
            for (i = 0; i < 4; i++)
                lay_add(&l, 2048 * c + 1024 + 20 * i, 12);
            lay_add(&l, 2048 * c + 512, 16);
        }
        exercise("struct of vectors x 2", r, 2, &l, MPI_INT, 0);
        lay_drop(&l);
        OK(MPI_Type_free(&va));
        OK(MPI_Type_free(&vb));
        OK(MPI_Type_free(&s));
        OK(MPI_Type_free(&r));
    }
    return case_end();
}
