/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * contexts.c - four threads, four contexts on two devices: each thread packs,
 * unpacks and sends objects of every context, of its own types and of a shared
 * one, while the others do the same.  The context that is current in a thread
 * stays so, and nobody makes another.
 */
#include "sim.h"
#include <pthread.h>

#define THREADS 4
#define ROUNDS 60
#define INTS 2000

static void *context[THREADS];
static MPI_Comm comm[THREADS];
static MPI_Datatype shared; /* 100 blocks of 3, 7 apart */

static void expect(const int *got, const int *want, const char *what, int thread, int round)
{
    int i;
    for (i = 0; i < INTS; i++)
        CHECK(got[i] == want[i], "%s, thread %d, round %d: int %d is %d, has to be %d", what, thread, round, i, got[i],
              want[i]);
}

static void *run(void *argument)
{
    int me = (int)(intptr_t)argument, round, i;
    int *image = host_buf(4 * INTS), *want = host_buf(4 * INTS), *got = host_buf(4 * INTS), *plain = host_buf(4 * INTS);
    for (round = 0; round < ROUNDS; round++) {
        void *home = context[(me + round) % THREADS], *away = round % 3 ? context[me] : NULL;
        int blocks = 20 + round, block = 3, stride = 7, position = 0;
        MPI_Datatype t = shared;
        void *object, *packed, *target;
        if (round % 2) {
            stride = 5 + me;
            OK(MPI_Type_vector(blocks, block, stride, MPI_INT, &t));
            OK(MPI_Type_commit(&t));
        } else {
            blocks = 100;
        }
        for (i = 0; i < INTS; i++)
            image[i] = i * (me + 1) + round * 1000003;
        memset(plain, 0, 4 * INTS);
        for (i = 0; i < blocks * block; i++)
            plain[i] = image[i / block * stride + i % block];
        CU_OK(cu.cuCtxSetCurrent(home));
        object = cu_new(image, 4 * INTS);
        memset(want, 0, 4 * INTS);
        packed = cu_new(want, 4 * INTS);
        target = cu_new(want, 4 * INTS);
        CU_OK(cu.cuCtxSetCurrent(away));

        OK(MPI_Pack(object, 1, t, packed, 4 * INTS, &position, comm[me]));
        CHECK(cu_current() == away, "MPI_Pack changed the context");
        OK(MPI_Sendrecv(object, 1, t, 0, round, target, 1, t, 0, round, comm[me], MPI_STATUS_IGNORE));
        CHECK(cu_current() == away, "MPI_Sendrecv changed the context");
        CU_OK(cu.cuCtxSetCurrent(home));
        cu_get(got, packed, 4 * INTS);
        expect(got, plain, "packed", me, round);
        for (i = 0; i < blocks * block; i++)
            want[i / block * stride + i % block] = plain[i];
        cu_get(got, target, 4 * INTS);
        expect(got, want, "received", me, round);
        memset(got, 0, 4 * INTS);
        cu_put(target, got, 4 * INTS);
        CU_OK(cu.cuCtxSetCurrent(away));
        position = 0;
        OK(MPI_Unpack(packed, 4 * INTS, &position, target, 1, t, comm[me]));
        CHECK(cu_current() == away, "MPI_Unpack changed the context");
        CU_OK(cu.cuCtxSetCurrent(home));
        cu_get(got, target, 4 * INTS);
        expect(got, want, "unpacked", me, round);

        CU_OK(cu.cuMemFree_v2((uint64_t)(uintptr_t)object));
        CU_OK(cu.cuMemFree_v2((uint64_t)(uintptr_t)packed));
        CU_OK(cu.cuMemFree_v2((uint64_t)(uintptr_t)target));
        if (t != shared)
            OK(MPI_Type_free(&t));
    }
    free(image);
    free(want);
    free(got);
    free(plain);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int provided, i;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    case_open("contexts", 1);
    if (provided < MPI_THREAD_MULTIPLE)
        return case_skip("no MPI_THREAD_MULTIPLE");
    cu_open();
    for (i = 0; i < THREADS; i++) {
        CU_OK(cu.cuCtxCreate_v2(&context[i], 0, i % 2));
        OK(MPI_Comm_dup(MPI_COMM_SELF, &comm[i]));
    }
    OK(MPI_Type_vector(100, 3, 7, MPI_INT, &shared));
    OK(MPI_Type_commit(&shared));
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, run, (void *)(intptr_t)i) == 0, "pthread_create");
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0, "pthread_join");
    CHECK(cu.simcuda_live("context", NULL) == THREADS, "%zu contexts", cu.simcuda_live("context", NULL));
    for (i = 0; i < 2; i++) {
        unsigned flags;
        int active = 1;
        CU_OK(cu.cuDevicePrimaryCtxGetState(i, &flags, &active));
        CHECK(!active, "the primary context of device %d was made", i);
    }
    OK(MPI_Type_free(&shared));
    for (i = 0; i < THREADS; i++)
        OK(MPI_Comm_free(&comm[i]));
    return case_end();
}
