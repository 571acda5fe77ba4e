/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What may be called before MPI_Init and after MPI_Finalize, the tool interface, and children of the process: one that
 * leaves by exit() and one that becomes another program.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(const char *when, int other)
{
    int status = -1;
    pid_t pid;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        if (other)
            execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
        exit(3);
    }
    waitpid(pid, &status, 0);
    printf("%s: child left with %d\n", when, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void outside(const char *when)
{
    int up = -1, down = -1, version = -1, sub = -1, length = -1;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&up);
    MPI_Finalized(&down);
    MPI_Get_version(&version, &sub);
    MPI_Get_library_version(library, &length);
    printf("%s: initialized %d finalized %d version %d.%d library of %d characters\n", when, up, down, version, sub, length);
}

int main(int argc, char **argv)
{
    int provided = -1, variables = -1, rank, value[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[4] = {0}, position = 0;
    MPI_Datatype every;

    outside("before");
    child("before", 0);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&variables);
    printf("tool interface: provided %d, variables %s\n", provided, variables > 0 ? "some" : "none");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("threads %s\n", provided >= MPI_THREAD_FUNNELED ? "funneled or better" : "too few");
    MPI_Type_vector(4, 1, 2, MPI_INT, &every);
    MPI_Type_commit(&every);
    MPI_Pack(value, 1, every, out, sizeof out, &position, MPI_COMM_WORLD);
    printf("packed %d %d %d %d\n", out[0], out[1], out[2], out[3]);
    child("between", 0);
    child("between", 1);
    position = 0;
    MPI_Unpack(out, sizeof out, &position, value + 1, 1, every, MPI_COMM_WORLD);
    printf("unpacked %d %d %d %d\n", value[1], value[3], value[5], value[7]);
    MPI_T_finalize();
    MPI_Type_free(&every);
    MPI_Finalize();
    outside("after");
    child("after", 1);
    return 0;
}
