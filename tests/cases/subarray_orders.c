/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Subarrays of 1 to 4 dimensions in C and Fortran order, the same shapes given
 * both ways, with count, on ints and on three-byte elements. */
#include "mem.h"

static void sub(int nd, const int *sizes, const int *subs, const int *starts, int order, MPI_Datatype old, MPI_Datatype basic, int ob, int count)
{
    MPI_Datatype t;
    MPI_Aint lb, ext, total = ob;
    MPI_Aint stride[4];
    int idx[4] = {0, 0, 0, 0}, c, k, d, fast, n = 1;
    layout l = {0};
    char what[128];

    for (k = 0; k < nd; k++) {
        d = order == MPI_ORDER_C ? nd - 1 - k : k; /* fastest first */
        stride[d] = total;
        total *= sizes[d];
        n *= subs[d];
    }
    OK(MPI_Type_create_subarray(nd, sizes, subs, starts, order, old, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_get_extent(t, &lb, &ext));
    CHECK(lb == 0 && ext == total, "subarray: lb %ld extent %ld, have to be 0 and %ld", (long)lb, (long)ext, (long)total);
    for (c = 0; c < count; c++) {
        memset(idx, 0, sizeof idx);
        for (k = 0; k < n; k++) {
            MPI_Aint off = c * total;
            for (d = 0; d < nd; d++)
                off += (starts[d] + idx[d]) * stride[d];
            lay_add(&l, off, (size_t)ob);
            for (fast = 0; fast < nd; fast++) {
                d = order == MPI_ORDER_C ? nd - 1 - fast : fast;
                if (++idx[d] < subs[d])
                    break;
                idx[d] = 0;
            }
        }
    }
    snprintf(what, sizeof what, "%d-dim subarray, %s order, element of %d bytes, count %d", nd, order == MPI_ORDER_C ? "C" : "Fortran", ob, count);
    exercise(what, t, count, &l, basic, 0);
    lay_drop(&l);
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    int o;
    MPI_Datatype three;
    case_start(&argc, &argv, "subarray_orders", 2);
    OK(MPI_Type_contiguous(3, MPI_BYTE, &three));
    for (o = 0; o < 2; o++) {
        int ord = o ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
        {
            int s[1] = {20}, u[1] = {7}, a[1] = {5};
            sub(1, s, u, a, ord, MPI_INT, MPI_INT, 4, 1);
            sub(1, s, u, a, ord, MPI_INT, MPI_INT, 4, 3);
        }
        {
            int s[2] = {8, 11}, u[2] = {3, 4}, a[2] = {2, 5};
            sub(2, s, u, a, ord, MPI_INT, MPI_INT, 4, 1);
            sub(2, s, u, a, ord, MPI_DOUBLE, MPI_DOUBLE, 8, 2);
            sub(2, s, u, a, ord, three, MPI_BYTE, 3, 2);
        }
        {
            int s[3] = {6, 7, 9}, u[3] = {2, 3, 4}, a[3] = {3, 1, 5};
            sub(3, s, u, a, ord, MPI_INT, MPI_INT, 4, 1);
            sub(3, s, u, a, ord, MPI_SHORT, MPI_SHORT, 2, 3);
            sub(3, s, u, a, ord, three, MPI_BYTE, 3, 1);
        }
        { /* full in the fast dimensions of either order */
            int s[3] = {4, 5, 6}, u[3] = {4, 2, 6}, a[3] = {0, 2, 0};
            sub(3, s, u, a, ord, MPI_INT, MPI_INT, 4, 2);
        }
        {
            int s[4] = {3, 5, 4, 6}, u[4] = {2, 2, 3, 3}, a[4] = {1, 2, 0, 3};
            sub(4, s, u, a, ord, MPI_FLOAT, MPI_FLOAT, 4, 2);
            sub(4, s, u, a, ord, three, MPI_BYTE, 3, 1);
        }
    }
    OK(MPI_Type_free(&three));
    return case_end();
}
