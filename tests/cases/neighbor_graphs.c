/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 3 */
/* cuda-aware: MPI_Neighbor_alltoall and its kin */
/* plain-fails-mpich4: 4.0.2 with dataloop sends wrong data in MPI_Neighbor_alltoallw (pmodels/mpich#6233) */
/* Graph neighbourhoods where in and out lists differ: nobody at all, one sender
 * and two receivers, oneself, the same rank twice. */
#include "mem.h"

static MPI_Datatype elem; /* four ints of eight, extent 32 */

/* exchange over the given lists with all three calls; slot k of the list `in`
 * gets what rank in[k] sent to me with the matching edge */
static void graph(const char *name, int nin, const int *in, const int *inslot, int nout, const int *out)
{
    MPI_Comm g;
    int how, k, i, cnt[4] = {1, 1, 1, 1}, di[4] = {0, 1, 2, 3};
    MPI_Aint da[4] = {0, 32, 64, 96};
    MPI_Datatype ty[4] = {elem, elem, elem, elem};
    layout full = {0};
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, nin, in, MPI_UNWEIGHTED, nout, out, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g));
    lay_add(&full, 0, 128);
    for (how = 0; how < 3; how++) {
        area s = area_make(&full, (unsigned)(10 * how + case_rank)), d = area_make(&full, 99);
        char what[96];
        if (how == 0)
            OK(MPI_Neighbor_alltoall(s.buf, 1, elem, d.buf, 1, elem, g));
        else if (how == 1)
            OK(MPI_Neighbor_alltoallv(s.buf, cnt, di, elem, d.buf, cnt, di, elem, g));
        else
            OK(MPI_Neighbor_alltoallw(s.buf, cnt, da, ty, d.buf, cnt, da, ty, g));
        for (k = 0; k < nin; k++) {
            area o = area_make(&full, (unsigned)(10 * how + in[k]));
            for (i = 0; i < 4; i++)
                memcpy(d.img + d.zero + 32 * k + 8 * i, o.img + o.zero + 32 * inslot[k] + 8 * i, 4);
            area_drop(&o);
        }
        snprintf(what, sizeof what, "%s, %s", name, how == 0 ? "MPI_Neighbor_alltoall" : how == 1 ? "MPI_Neighbor_alltoallv" : "MPI_Neighbor_alltoallw");
        mem_same(d.mem, d.img, d.len, what);
        area_drop(&s);
        area_drop(&d);
    }
    lay_drop(&full);
    OK(MPI_Comm_free(&g));
}

int main(int argc, char **argv)
{
    MPI_Datatype t;
    case_start(&argc, &argv, "neighbor_graphs", 3);
    OK(MPI_Type_vector(4, 1, 2, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, 32, &elem));
    OK(MPI_Type_commit(&elem));
    {
        int none[1] = {0};
        graph("nobody", 0, none, none, 0, none);
    }
    { /* 0 to 1 and 2 */
        int from0[1] = {0}, slot[1], to[2] = {1, 2}, none[1] = {0};
        slot[0] = case_rank - 1;
        if (case_rank == 0)
            graph("fan out", 0, none, none, 2, to);
        else
            graph("fan out", 1, from0, slot, 0, none);
    }
    { /* 1 and 2 to 0, listed backwards at 0 */
        int from[2] = {2, 1}, slot[2] = {0, 0}, to[1] = {0}, none[1] = {0};
        if (case_rank == 0)
            graph("fan in", 2, from, slot, 0, none);
        else
            graph("fan in", 0, none, none, 1, to);
    }
    { /* a ring and oneself */
        int in[2], out[2], slot[2] = {1, 0};
        in[0] = case_rank;             /* from myself: my second edge */
        in[1] = (case_rank + 2) % 3;   /* from the left: its first edge */
        out[0] = (case_rank + 1) % 3;
        out[1] = case_rank;
        graph("ring and self", 2, in, slot, 2, out);
    }
    { /* the same neighbour twice: first edge meets first edge */
        int in[2], out[2], slot[2] = {0, 1};
        in[0] = in[1] = (case_rank + 2) % 3;
        out[0] = out[1] = (case_rank + 1) % 3;
        graph("double edge", 2, in, slot, 2, out);
    }
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&elem));
    return case_end();
}
