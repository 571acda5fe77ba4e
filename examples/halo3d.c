/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * halo3d.c - a 3-D halo exchange as simulation codes write it: every rank owns a cube of n³ doubles with a border of
 * r cells, and fills the border from its 26 neighbours, each piece described by an MPI subarray type. Plain MPI: the
 * program knows nothing of any library in front of its MPI.
 *
 *   mpicc -O2 halo3d.c -o halo3d -ldl
 *   mpirun -n 2 ./halo3d [--n 64] [--r 2] [--mode irecv|sendrecv] [--memory host|device|staged]
 *                        [--iters 20] [--seconds 5] [--compute MILLISECONDS]
 *
 * --device is short for --memory device: the cube lies on the GPU (rank i of a node takes GPU i modulo their number),
 * reached through the driver that is opened at run time, so no CUDA is needed to build. `staged` is what one does when
 * MPI cannot read GPU memory: copy the cube to the host, exchange there, copy it back.
 *
 * --compute MS: that many milliseconds of work between MPI_Isend and MPI_Waitall, to see what of the exchange it hides.
 *
 * Every cell of the border, the interior and the guard space around the cube is checked after the first and after
 * the last exchange. Prints a checksum of all cells and the median time of an exchange (of its slowest rank).
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GUARD = 64, NEIGHBOURS = 26, MAX_ITERATIONS = 1000 };

/* ------------------------------------------------------------------------------ GPU memory, without a CUDA toolkit */

static struct {
    int (*init)(unsigned), (*count)(int *), (*get)(int *, int), (*retain)(void **, int), (*current)(void *);
    int (*alloc)(uint64_t *, size_t), (*to_device)(uint64_t, const void *, size_t);
    int (*to_host)(void *, uint64_t, size_t), (*wait)(void);
} cu;

static void stop(const char *what)
{
    fprintf(stderr, "halo3d: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void must(int code, const char *what)
{
    if (code != 0)
        stop(what);
}

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    if (address == NULL)
        stop(name);
    return address;
}

static void open_gpu(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *context;
    MPI_Comm node;
    int local, devices = 0, device;
    if (library == NULL)
        stop("no CUDA driver (libcuda.so.1) here");
    *(void **)&cu.init = symbol(library, "cuInit");
    *(void **)&cu.count = symbol(library, "cuDeviceGetCount");
    *(void **)&cu.get = symbol(library, "cuDeviceGet");
    *(void **)&cu.retain = symbol(library, "cuDevicePrimaryCtxRetain");
    *(void **)&cu.current = symbol(library, "cuCtxSetCurrent");
    *(void **)&cu.alloc = symbol(library, "cuMemAlloc_v2");
    *(void **)&cu.to_device = symbol(library, "cuMemcpyHtoD_v2");
    *(void **)&cu.to_host = symbol(library, "cuMemcpyDtoH_v2");
    *(void **)&cu.wait = symbol(library, "cuCtxSynchronize");
    if (cu.init(0) != 0 || cu.count(&devices) != 0 || devices < 1)
        stop("no GPU here");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local);
    MPI_Comm_free(&node);
    must(cu.get(&device, local % devices), "cuDeviceGet");
    must(cu.retain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cu.current(context), "cuCtxSetCurrent");
}

/* --------------------------------------------------------------------------------------------------- the simulation */

static int n = 64, r = 2, iterations = 20, sendrecv, on_device, staged;
static double seconds = 5, compute; /* compute: seconds of it between the sends and the wait for them */
static int rank, dims[3], coords[3], side; /* side = n + 2r cells, border included */
static MPI_Comm cart;
static size_t bytes;      /* of the cube and its guards */
static double *cube;      /* where MPI sees it: host or device memory, guards before and after */
static double *device;    /* --memory staged: the cube's home */
static double *host;      /* the host's copy for filling and checking */
static MPI_Datatype send_type[NEIGHBOURS], recv_type[NEIGHBOURS];
static int to[NEIGHBOURS], from[NEIGHBOURS];

static size_t at(int z, int y, int x) { return GUARD + ((size_t)z * side + (size_t)y) * (size_t)side + (size_t)x; }

/* Local coordinate (the border included) to the whole, periodic domain. */
static int64_t global(int i, int axis)
{
    int64_t whole = (int64_t)n * dims[axis];
    return ((int64_t)coords[axis] * n + i - r + whole) % whole;
}

static int inside(int i) { return i >= r && i < r + n; }

static double owned(int z, int y, int x)
{
    return (double)(1 + (global(z, 0) * n * dims[1] + global(y, 1)) * n * dims[2] + global(x, 2));
}

static void put(void)
{
    if (staged || on_device) {
        must(cu.to_device((uint64_t)(uintptr_t)(staged ? device : cube), host, bytes), "cuMemcpyHtoD");
        must(cu.wait(), "cuCtxSynchronize");
    } else {
        memcpy(cube, host, bytes);
    }
}

static void get(void)
{
    if (staged || on_device)
        must(cu.to_host(host, (uint64_t)(uintptr_t)(staged ? device : cube), bytes), "cuMemcpyDtoH");
    else
        memcpy(host, cube, bytes);
}

/* Own cells get their value, the border and the guards something else. */
static void fill(void)
{
    for (size_t i = 0; i < bytes / sizeof *host; i++)
        host[i] = -1.0 - (double)i;
    for (int z = r; z < r + n; z++)
        for (int y = r; y < r + n; y++)
            for (int x = r; x < r + n; x++)
                host[at(z, y, x)] = owned(z, y, x);
    put();
}

static void check(const char *when)
{
    size_t cells = bytes / sizeof *host, last = at(side - 1, side - 1, side - 1);
    get();
    for (int z = 0; z < side; z++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++)
                if (host[at(z, y, x)] != owned(z, y, x)) {
                    fprintf(stderr, "halo3d: %s, rank %d: %s cell (%d,%d,%d) is %.17g, not %.17g\n", when, rank,
                            inside(z) && inside(y) && inside(x) ? "own" : "border", z, y, x, host[at(z, y, x)],
                            owned(z, y, x));
                    stop("wrong");
                }
    for (size_t i = 0; i < cells; i++)
        if ((i < GUARD || i > last) && host[i] != -1.0 - (double)i)
            stop("wrong: a cell outside the cube was written");
}

static uint64_t checksum(void)
{
    uint64_t sum = (uint64_t)rank, bits;
    for (size_t i = 0; i < bytes / sizeof *host; i++) {
        memcpy(&bits, &host[i], sizeof bits);
        sum = (sum ^ bits) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 29;
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* For each direction: the layer of own cells that goes there, and the layer of the border that comes from the
 * opposite side. Message k travels in direction k, so two messages between one pair of ranks have different tags. */
static void make_types(void)
{
    int k = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int d[3] = {dz, dy, dx}, sizes[3] = {side, side, side}, sub[3], out[3], in[3], there[3], back[3];
                if (dz == 0 && dy == 0 && dx == 0)
                    continue;
                for (int i = 0; i < 3; i++) {
                    sub[i] = d[i] == 0 ? n : r;
                    out[i] = d[i] > 0 ? n : r;                       /* own cells next to that side */
                    in[i] = d[i] == 0 ? r : d[i] > 0 ? 0 : r + n;    /* border of the opposite side */
                    there[i] = (coords[i] + d[i] + dims[i]) % dims[i];
                    back[i] = (coords[i] - d[i] + dims[i]) % dims[i];
                }
                MPI_Type_create_subarray(3, sizes, sub, out, MPI_ORDER_C, MPI_DOUBLE, &send_type[k]);
                MPI_Type_create_subarray(3, sizes, sub, in, MPI_ORDER_C, MPI_DOUBLE, &recv_type[k]);
                MPI_Type_commit(&send_type[k]);
                MPI_Type_commit(&recv_type[k]);
                MPI_Cart_rank(cart, there, &to[k]);
                MPI_Cart_rank(cart, back, &from[k]);
                k++;
            }
}

/* Stands for the work on the cells inside, which need no border. */
static void work(void)
{
    struct timespec at;
    double end;
    clock_gettime(CLOCK_MONOTONIC, &at);
    end = (double)at.tv_sec + 1e-9 * (double)at.tv_nsec + compute;
    while ((double)at.tv_sec + 1e-9 * (double)at.tv_nsec < end)
        clock_gettime(CLOCK_MONOTONIC, &at);
}

static void exchange(void)
{
    double *first = cube + GUARD;
    if (staged)
        must(cu.to_host(cube, (uint64_t)(uintptr_t)device, bytes), "cuMemcpyDtoH");
    if (sendrecv) {
        /* every rank shifts in the same direction at the same time, so nobody waits in a circle */
        for (int k = 0; k < NEIGHBOURS; k++)
            MPI_Sendrecv(first, 1, send_type[k], to[k], k, first, 1, recv_type[k], from[k], k, cart, MPI_STATUS_IGNORE);
    } else {
        MPI_Request requests[2 * NEIGHBOURS];
        for (int k = 0; k < NEIGHBOURS; k++)
            MPI_Irecv(first, 1, recv_type[k], from[k], k, cart, &requests[k]);
        for (int k = 0; k < NEIGHBOURS; k++)
            MPI_Isend(first, 1, send_type[k], to[k], k, cart, &requests[NEIGHBOURS + k]);
        work();
        MPI_Waitall(2 * NEIGHBOURS, requests, MPI_STATUSES_IGNORE);
    }
    if (staged) {
        must(cu.to_device((uint64_t)(uintptr_t)device, cube, bytes), "cuMemcpyHtoD");
        must(cu.wait(), "cuCtxSynchronize");
    }
}

static double timed_exchange(void)
{
    double t;
    MPI_Barrier(cart);
    t = MPI_Wtime();
    exchange();
    t = MPI_Wtime() - t;
    MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, cart);
    return t;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double t[MAX_ITERATIONS];
    double spent = 0;
    uint64_t device_address;
    int size, periodic[3] = {1, 1, 1}, done = 0;
    const char *memory = "host";

    MPI_Init(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--device") == 0) {
            memory = "device";
            continue;
        }
        if (strcmp(argv[i], "--n") == 0)
            n = atoi(value);
        else if (strcmp(argv[i], "--r") == 0)
            r = atoi(value);
        else if (strcmp(argv[i], "--iters") == 0)
            iterations = atoi(value);
        else if (strcmp(argv[i], "--seconds") == 0)
            seconds = atof(value);
        else if (strcmp(argv[i], "--compute") == 0)
            compute = atof(value) * 1e-3;
        else if (strcmp(argv[i], "--memory") == 0)
            memory = value;
        else if (strcmp(argv[i], "--mode") == 0 && (strcmp(value, "irecv") == 0 || strcmp(value, "sendrecv") == 0))
            sendrecv = value[0] == 's';
        else
            stop("usage: halo3d [--n N] [--r R] [--mode irecv|sendrecv] [--device | --memory host|device|staged] "
                 "[--iters N] [--seconds S] [--compute MS]");
        i++;
    }
    on_device = strcmp(memory, "device") == 0;
    staged = strcmp(memory, "staged") == 0;
    if (!on_device && !staged && strcmp(memory, "host") != 0)
        stop("--memory is host, device or staged");
    if (n < 1 || r < 1 || r > n || iterations < 1 || iterations > MAX_ITERATIONS)
        stop("needs 1 <= r <= n and 1 to 1000 iterations");

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &cart);
    MPI_Comm_rank(cart, &rank);
    MPI_Cart_coords(cart, rank, 3, coords);
    side = n + 2 * r;
    bytes = ((size_t)side * side * side + 2 * GUARD) * sizeof(double);

    if ((host = malloc(bytes)) == NULL)
        stop("out of memory");
    if (on_device || staged) {
        open_gpu();
        must(cu.alloc(&device_address, bytes), "cuMemAlloc");
        device = (double *)(uintptr_t)device_address;
    }
    cube = on_device ? device : malloc(bytes);
    if (cube == NULL)
        stop("out of memory");
    make_types();

    fill();
    spent = timed_exchange();
    check("after the first exchange");
    t[done++] = spent; /* kept only when there is time for no other */
    MPI_Bcast(&spent, 1, MPI_DOUBLE, 0, cart);
    for (int i = 0; i < iterations && spent < seconds; i++) {
        double again = timed_exchange();
        spent += again;
        t[i] = again;
        done = i + 1;
    }
    fill();
    exchange();
    check("after the last exchange");
    uint64_t sum = checksum();
    qsort(t, (size_t)done, sizeof *t, ascending);
    if (rank == 0)
        printf("halo3d %d ranks, %d^3 doubles each, radius %d, %s, %s memory: checksum %016llx, %.1f us an exchange\n", size,
               n, r, sendrecv ? "sendrecv" : "irecv", memory, (unsigned long long)sum, t[done / 2] * 1e6);
    for (int k = 0; k < NEIGHBOURS; k++) {
        MPI_Type_free(&send_type[k]);
        MPI_Type_free(&recv_type[k]);
    }
    MPI_Comm_free(&cart);
    MPI_Finalize();
    return 0;
}
