/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * halo.c - the exchange of examples/halo3d.c (26 neighbours, a cube of n³ doubles with a border of r cells) as a careful
 * programmer does it without derived datatypes, on GPU memory or (--host) in host memory.
 *
 * One kernel packs all 26 regions into one buffer, by a table of their cells made in advance; every neighbour gets its
 * part as contiguous doubles (Isend, Irecv); one kernel unpacks. Three ways: the buffers lie in device memory (a
 * CUDA-aware MPI only: --not-aware leaves it out), in mapped host memory (one-shot), or in device memory with one copy
 * to and one from pinned host memory (staged). The calls use PMPI_ names, so a preloaded library has no part in them.
 * Every cell is checked after the first and the last exchange; the checksum is the one that halo3d prints.
 *
 * usage: mpirun -n 2 halo [--host] [--ptx rival.ptx] [--not-aware] [--n 64] [--r 2] [--iters 200] [--seconds 2]
 *                             [--compute MILLISECONDS between the sends and the wait]
 */
#include "bench.h"

enum { GUARD = 64, NEIGHBOURS = 26, MAX_ITERATIONS = 1000 };
enum way { BY_DEVICE, ONE_SHOT, STAGED, LOOP, WAYS };
static const char *const names[WAYS] = {"device", "one-shot", "staged", "loop"};

static int n, r, dims[3], coords[3], side; /* side = n + 2r cells, border included */
static MPI_Comm cart;
static size_t bytes;                       /* of the cube and its guards */
static double *cube, *host;                /* where it lies, and the host's copy for filling and checking */
static int to[NEIGHBOURS], from[NEIGHBOURS];
static int64_t part[NEIGHBOURS + 1];       /* where the cells of direction k begin in the packed buffers */
static struct layout out, in;              /* own cells that leave, cells of the border, in the order of the buffers */

struct buffer {
    double *device, *mapped; /* in host memory only the first, which is then no device's */
    gpu_ptr mapped_device;
};
static struct buffer leaving, arriving;

static size_t at(int z, int y, int x) { return GUARD + ((size_t)z * side + (size_t)y) * (size_t)side + (size_t)x; }

static int64_t global(int i, int axis)
{
    int64_t whole = (int64_t)n * dims[axis];
    return ((int64_t)coords[axis] * n + i - r + whole) % whole;
}

static double owned(int z, int y, int x)
{
    return (double)(1 + (global(z, 0) * n * dims[1] + global(y, 1)) * n * dims[2] + global(x, 2));
}

static void fill_cube(void)
{
    for (size_t i = 0; i < bytes / sizeof *host; i++)
        host[i] = -1.0 - (double)i;
    for (int z = r; z < r + n; z++)
        for (int y = r; y < r + n; y++)
            for (int x = r; x < r + n; x++)
                host[at(z, y, x)] = owned(z, y, x);
    target_put(cube, host, bytes);
}

static void check_cube(const char *way)
{
    size_t last = at(side - 1, side - 1, side - 1);
    target_get(host, cube, bytes);
    for (int z = 0; z < side; z++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++)
                if (host[at(z, y, x)] != owned(z, y, x))
                    bench_fail(way, "a cell of the cube");
    for (size_t i = 0; i < bytes / sizeof *host; i++)
        if ((i < GUARD || i > last) && host[i] != -1.0 - (double)i)
            bench_fail(way, "a cell outside the cube was written");
}

static uint64_t checksum(void)
{
    uint64_t sum = (uint64_t)bench.rank, bits;
    for (size_t i = 0; i < bytes / sizeof *host; i++) {
        memcpy(&bits, &host[i], sizeof bits);
        sum = (sum ^ bits) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 29;
    }
    PMPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* The cells of both sides of all directions, in pairs where the sizes are even. */
static void make_lists(void)
{
    int step = n % 2 == 0 && r % 2 == 0 ? 2 : 1, k = 0;
    int64_t cells = (int64_t)side * side * side - (int64_t)n * n * n, filled = 0;
    struct list sends = list_of(cells / step, 8 * step, 0, 0), receives = list_of(cells / step, 8 * step, 0, 0);
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int d[3] = {dz, dy, dx}, sub[3], o[3], b[3], there[3], back[3];
                if (dz == 0 && dy == 0 && dx == 0)
                    continue;
                for (int i = 0; i < 3; i++) {
                    sub[i] = d[i] == 0 ? n : r;
                    o[i] = d[i] > 0 ? n : r;                      /* own cells next to that side */
                    b[i] = d[i] == 0 ? r : d[i] > 0 ? 0 : r + n;  /* border of the opposite side */
                    there[i] = (coords[i] + d[i] + dims[i]) % dims[i];
                    back[i] = (coords[i] - d[i] + dims[i]) % dims[i];
                }
                MPI_Cart_rank(cart, there, &to[k]);
                MPI_Cart_rank(cart, back, &from[k]);
                part[k++] = filled * step;
                for (int z = 0; z < sub[0]; z++)
                    for (int y = 0; y < sub[1]; y++)
                        for (int x = 0; x < sub[2]; x += step, filled++) {
                            sends.at[filled] = 8 * (int64_t)at(o[0] + z, o[1] + y, o[2] + x);
                            receives.at[filled] = 8 * (int64_t)at(b[0] + z, b[1] + y, b[2] + x);
                        }
            }
    part[k] = filled * step;
    if (filled != sends.n)
        bench_fail("cells", "the regions are not the border");
    layout_list(&out, sends);
    layout_list(&in, receives);
}

static struct buffer buffer_of(size_t size)
{
    struct buffer b = {target_alloc(size), NULL, 0};
    void *mapped;
    if (gpu.rival) {
        GPU(cuMemHostAlloc(&mapped, size, 2 /* mapped */));
        GPU(cuMemHostGetDevicePointer_v2(&b.mapped_device, mapped, 0));
        b.mapped = mapped;
    }
    return b;
}

static double compute; /* seconds between the sends and the wait for them */

static void exchange(enum way way)
{
    gpu_ptr memory = (gpu_ptr)(uintptr_t)cube;
    gpu_ptr departs = way == ONE_SHOT ? leaving.mapped_device : (gpu_ptr)(uintptr_t)leaving.device;
    gpu_ptr arrives = way == ONE_SHOT ? arriving.mapped_device : (gpu_ptr)(uintptr_t)arriving.device;
    int on_host = way == ONE_SHOT || way == STAGED;
    double *sent = on_host ? leaving.mapped : leaving.device, *received = on_host ? arriving.mapped : arriving.device;
    enum done done = out.bytes <= MI ? DONE_FLAG : DONE_STREAM;
    MPI_Request requests[2 * NEIGHBOURS];
    for (int k = 0; k < NEIGHBOURS; k++)
        PMPI_Irecv(received + part[k], (int)(part[k + 1] - part[k]), MPI_DOUBLE, from[k], k, cart, &requests[k]);
    if (way == LOOP)
        loop_copy(0, (char *)cube, (char *)sent, &out);
    else
        hand_copy(0, memory, departs, &out, done);
    if (way == STAGED) {
        GPU(cuMemcpyDtoHAsync_v2(sent, departs, (size_t)out.bytes, gpu.stream));
        GPU(cuStreamSynchronize(gpu.stream));
    }
    for (int k = 0; k < NEIGHBOURS; k++)
        PMPI_Isend(sent + part[k], (int)(part[k + 1] - part[k]), MPI_DOUBLE, to[k], k, cart, &requests[NEIGHBOURS + k]);
    for (double end = now() + compute; now() < end;)
        ;
    PMPI_Waitall(2 * NEIGHBOURS, requests, MPI_STATUSES_IGNORE);
    if (way == STAGED)
        GPU(cuMemcpyHtoDAsync_v2(arrives, received, (size_t)in.bytes, gpu.stream));
    if (way == LOOP)
        loop_copy(1, (char *)cube, (char *)received, &in);
    else
        hand_copy(1, memory, arrives, &in, done);
}

/* Seconds of the slowest rank. */
static double timed(enum way way)
{
    double t;
    PMPI_Barrier(cart);
    t = now();
    exchange(way);
    t = now() - t;
    PMPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, cart);
    return t;
}

static void measure(enum way way, int iterations, double seconds)
{
    static double t[MAX_ITERATIONS];
    double spent;
    uint64_t sum;
    int done = 0;
    fill_cube();
    spent = timed(way);
    check_cube(names[way]);
    while (done < iterations && (done == 0 || spent < seconds)) {
        t[done] = timed(way);
        spent += t[done++];
    }
    fill_cube();
    exchange(way);
    check_cube(names[way]);
    sum = checksum();
    if (bench.rank == 0)
        printf("halo %d ranks, %d^3 doubles each, radius %d, by hand, %s: checksum %016llx, %.1f us an exchange\n", bench.size,
               n, r, names[way], (unsigned long long)sum, median(t, done) * 1e6);
}

int main(int argc, char **argv)
{
    int iterations, periodic[3] = {1, 1, 1};
    double seconds;
    bench_open(argc, argv);
    n = (int)number(argc, argv, "--n", 64);
    r = (int)number(argc, argv, "--r", 2);
    iterations = (int)number(argc, argv, "--iters", 200);
    seconds = number(argc, argv, "--seconds", 2);
    compute = number(argc, argv, "--compute", 0) * 1e-3;
    if (n < 1 || r < 1 || r > n || iterations < 1 || iterations > MAX_ITERATIONS)
        bench_fail("options", "needs 1 <= r <= n and 1 to 1000 iterations");
    if (bench.on_device && !gpu.rival) {
        if (bench.rank == 0)
            fprintf(stderr, "%s: the competitor's kernels do not load here (--ptx)\n", gpu.name);
        MPI_Finalize();
        return 77;
    }
    MPI_Dims_create(bench.size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &cart);
    MPI_Cart_coords(cart, bench.rank, 3, coords);
    side = n + 2 * r;
    bytes = ((size_t)side * side * side + 2 * GUARD) * sizeof(double);
    if ((host = malloc(bytes)) == NULL)
        bench_fail("memory", "none left");
    cube = target_alloc(bytes);
    make_lists();
    leaving = buffer_of((size_t)out.bytes);
    arriving = buffer_of((size_t)in.bytes);
    for (int way = 0; way < WAYS; way++)
        if (way == LOOP ? !bench.on_device : bench.on_device && (way != BY_DEVICE || bench.aware))
            measure((enum way)way, iterations, seconds);
    MPI_Comm_free(&cart);
    target_free(cube);
    target_free(leaving.device);
    target_free(arriving.device);
    bench_close();
    return 0;
}
