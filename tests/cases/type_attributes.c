/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* np: 2 */
/* Attributes cached on types: their callbacks run when the program duplicates or
 * frees, as often as it does so, and never because somebody below did. */
#include "mem.h"

static int copies, deletes;

static int copied(MPI_Datatype t, int key, void *extra, void *in, void *out, int *flag)
{
    (void)t;
    (void)key;
    (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int deleted(MPI_Datatype t, int key, void *val, void *extra)
{
    (void)t;
    (void)key;
    (void)val;
    (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Datatype t, d;
    int key, peer, x = 5, flag, n;
    void *got;
    char name[MPI_MAX_OBJECT_NAME];
    void *a, *b;
    MPI_Request rq[2];

    case_start(&argc, &argv, "type_attributes", 2);
    peer = 1 - case_rank;
    a = mem_alloc(400);
    b = mem_alloc(400);
    mem_set(a, 1, 400);
    OK(MPI_Type_create_keyval(copied, deleted, &key, NULL));
    OK(MPI_Type_vector(10, 1, 3, MPI_INT, &t));
    OK(MPI_Type_set_attr(t, key, &x));
    OK(MPI_Type_set_name(t, "mine"));
    OK(MPI_Type_commit(&t));
    CHECK(copies == 0 && deletes == 0, "commit ran %d copy and %d delete callbacks", copies, deletes);
    OK(MPI_Irecv(b, 1, t, peer, 0, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Isend(a, 1, t, peer, 0, MPI_COMM_WORLD, &rq[1]));
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    OK(MPI_Sendrecv(a, 1, t, peer, 1, b, 1, t, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(copies == 0 && deletes == 0, "transfers ran %d copy and %d delete callbacks", copies, deletes);
    OK(MPI_Type_dup(t, &d));
    CHECK(copies == 1, "MPI_Type_dup ran %d copy callbacks", copies);
    OK(MPI_Type_get_attr(d, key, &got, &flag));
    CHECK(flag && got == &x, "the duplicate lost the attribute");
    OK(MPI_Type_get_name(t, name, &n));
    CHECK(strcmp(name, "mine") == 0, "the name is %s", name);
    OK(MPI_Irecv(b, 1, d, peer, 0, MPI_COMM_WORLD, &rq[0]));
    OK(MPI_Isend(a, 1, t, peer, 0, MPI_COMM_WORLD, &rq[1]));
    OK(MPI_Waitall(2, rq, MPI_STATUSES_IGNORE));
    OK(MPI_Type_free(&t)); /* its callback may wait until the duplicate goes */
    OK(MPI_Type_free(&d));
    CHECK(copies == 1 && deletes == 2, "in the end %d copies and %d deletes", copies, deletes);
    OK(MPI_Type_vector(10, 1, 3, MPI_INT, &t)); /* one without duplicates */
    OK(MPI_Type_set_attr(t, key, &x));
    OK(MPI_Type_commit(&t));
    OK(MPI_Sendrecv(a, 1, t, peer, 1, b, 1, t, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&t));
    CHECK(copies == 1 && deletes == 3, "after one more type %d copies and %d deletes: something still holds it", copies, deletes);
    OK(MPI_Type_free_keyval(&key));
    mem_free(a);
    mem_free(b);
    return case_end();
}
