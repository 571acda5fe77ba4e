/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tables.c - thousands of indexed types, each used on the device and freed: at
 * once, while a message of it is under way, or a while later.  What lies on the
 * device does not grow, and holds the bytes of no type that is gone.
 */
#define USE_CUDA
#include "sim.h"

#define INTS 4096
#define KEPT 32
#define TYPES 3000
static int image[INTS], want[INTS];
static int *object, *packed, *target;

struct type {
    MPI_Datatype handle;
    int n, block[64], at[64], ints; /* in ints */
};

/* blocks in steps that vary, of one length or of two */
static void make(struct type *t, int i)
{
    int k, place = i % 5, unequal = i % 2;
    t->n = 8 + i % 50;
    t->ints = 0;
    for (k = 0; k < t->n; k++) {
        t->block[k] = 1 + (unequal ? (k * 5 + i) % 3 : i % 3);
        t->at[k] = place;
        t->ints += t->block[k];
        place += t->block[k] + 1 + (k * k + i) % 7;
    }
    OK(MPI_Type_indexed(t->n, t->block, t->at, MPI_INT, &t->handle));
    OK(MPI_Type_commit(&t->handle));
}

static void wanted(const struct type *t)
{
    int k, b, n = 0;
    for (k = 0; k < t->n; k++)
        for (b = 0; b < t->block[k]; b++)
            want[n++] = image[t->at[k] + b];
}

static void use(const struct type *t)
{
    int position = 0;
    OK(MPI_Pack(object, 1, t->handle, packed, 4 * INTS, &position, MPI_COMM_SELF));
    CHECK(position == 4 * t->ints, "%d bytes packed, has to be %d", position, 4 * t->ints);
    wanted(t);
    mem_same(packed, want, 4 * (size_t)t->ints, "packed");
}

/* the type is freed before the message is received */
static void send(struct type *t)
{
    MPI_Request rq;
    OK(MPI_Isend(object, 1, t->handle, 0, 3, MPI_COMM_SELF, &rq));
    OK(MPI_Type_free(&t->handle));
    OK(MPI_Recv(target, t->ints, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&rq, MPI_STATUS_IGNORE));
    wanted(t);
    mem_same(target, want, 4 * (size_t)t->ints, "received");
}

int main(int argc, char **argv)
{
    static struct type kept[KEPT];
    size_t bytes = 0, most = 0;
    int i;

    case_start(&argc, &argv, "tables", 1);
    for (i = 0; i < INTS; i++)
        image[i] = (int)(i * 2654435761u);
    object = mem_alloc(4 * INTS);
    packed = mem_alloc(4 * INTS);
    target = mem_alloc(4 * INTS);
    mem_put(object, image, 4 * INTS);
    cu_open();
    for (i = 0; i < TYPES; i++) {
        struct type one, *t = i % 4 == 0 ? &kept[i / 4 % KEPT] : &one;
        if (i % 4 == 0 && i / 4 >= KEPT) {
            use(t); /* once more */
            OK(MPI_Type_free(&t->handle));
        }
        make(t, i);
        use(t);
        if (i % 4 == 1)
            send(t);
        else if (i % 4 != 0)
            OK(MPI_Type_free(&t->handle));
        cu.simcuda_live("device", &bytes);
        if (i == TYPES / 10)
            most = bytes + 4 * 65536; /* as many more buffers may be on their way at a time */
        CHECK(i <= TYPES / 10 || bytes <= most, "%zu bytes on the device after type %d, at most %zu", bytes, i, most);
    }
    for (i = 0; i < KEPT; i++)
        OK(MPI_Type_free(&kept[i].handle));
    mem_free(object);
    mem_free(packed);
    mem_free(target);
    return case_end();
}
