/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * forward.c - what a call costs that has nothing to accelerate: run it without and with the library and subtract.
 *
 * usage: mpirun -n 1 forward [--driver] [--device] [--json FILE] [--label NAME]
 *   --driver  libcuda is in the process and initialised, with a context, as in a GPU program; buffers in host memory
 *   --device  the same, and the buffers of the sends to MPI_PROC_NULL lie on the GPU
 *
 * Prints the lowest of 40 rounds in nanoseconds a call, which is what repeats from run to run.
 */
#include "bench.h"

enum { ROUNDS = 40, CALLS = 5000 };

static struct {
    char *buffer;         /* of the sends to nobody */
    double host[64];      /* of the messages to self */
    MPI_Datatype vector;
} at;

static void send_bytes(void) { MPI_Send(at.buffer, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); }
static void send_vector(void) { MPI_Send(at.buffer, 1, at.vector, MPI_PROC_NULL, 0, MPI_COMM_WORLD); }
static void recv_bytes(void)
{
    MPI_Recv(at.buffer, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void type_size(void)
{
    int n;
    MPI_Type_size(at.vector, &n);
}
static void comm_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}
static void to_self(void)
{
    MPI_Request request;
    MPI_Irecv(at.host + 32, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(at.host, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void pack_bytes(void)
{
    int position = 0;
    MPI_Pack(at.host, 8, MPI_BYTE, at.host + 32, 8, &position, MPI_COMM_SELF);
}
static void waitall_none(void)
{
    MPI_Request none[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Waitall(4, none, MPI_STATUSES_IGNORE);
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {
    {"MPI_Send bytes to PROC_NULL", send_bytes},   {"MPI_Send vector to PROC_NULL", send_vector},
    {"MPI_Recv bytes from PROC_NULL", recv_bytes}, {"MPI_Type_size", type_size},
    {"MPI_Comm_rank", comm_rank},                  {"MPI_Pack 8 bytes", pack_bytes},
    {"MPI_Waitall of 4 null requests", waitall_none},
    {"Irecv, Send, Wait of 8 bytes to self", to_self},
};

int main(int argc, char **argv)
{
    int driver = flag(argc, argv, "--driver"), device = flag(argc, argv, "--device"), local;
    const char *path = option(argc, argv, "--json"), *label = option(argc, argv, "--label");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &local);
    if ((driver || device) && gpu_open(local) == 0) {
        fprintf(stderr, "no GPU here\n");
        MPI_Finalize();
        return 77;
    }
    bench.on_device = device;
    if (path && (bench.json = fopen(path, "a")) == NULL)
        bench_fail("--json", path);
    label = label ? label : preloaded() ? "preloaded" : "plain";
    at.buffer = target_alloc(4096);
    MPI_Type_vector(8, 1, 2, MPI_DOUBLE, &at.vector);
    MPI_Type_commit(&at.vector);
    printf("%-40s %12s  (ns a call; %s)\n", "", label,
           device ? "driver in the process, buffer on the GPU" : driver ? "driver in the process" : "no driver");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        double best = 1e9;
        for (int round = 0; round < ROUNDS; round++) {
            double t = now();
            for (int k = 0; k < CALLS; k++)
                calls[i].call();
            t = (now() - t) / CALLS;
            best = t < best ? t : best;
        }
        at.host[32] = 0;
        at.host[0] = 1;
        to_self();
        if (at.host[32] != 1)
            bench_fail("message to self", "not delivered");
        printf("%-40s %12.1f\n", calls[i].name, best * 1e9);
        if (bench.json)
            fprintf(bench.json, "{\"bench\":\"forward\",\"memory\":\"%s\",\"op\":\"%s\",\"who\":\"%s\",\"ns\":%.2f}\n",
                    device ? "device" : driver ? "host, driver" : "host", calls[i].name, label, best * 1e9);
    }
    MPI_Type_free(&at.vector);
    target_free(at.buffer);
    bench_close();
    return 0;
}
