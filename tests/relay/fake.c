/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * An MPI in name only: a relay has no signature, so these functions have those that use every place an argument can be in. Each
 * answers with a number that is right only if all arguments came through.
 */
#include <stdarg.h>

int MPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

int PMPI_Get_library_version(char *version, int *length)
{
    version[0] = *length = 0;
    return 0;
}

/* more integers and floating-point numbers than there are registers */
double MPI_Get_accumulate(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, double p, double q, double r,
                          double s, double t, double u, double v, double w, double x, double y)
{
    double z = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
    return z + 0.5 * (p + 2 * q + 3 * r + 4 * s + 5 * t + 6 * u + 7 * v + 8 * w + 9 * x + 10 * y);
}

/* a result in memory, whose address AArch64 passes in x8 */
struct large {
    long value[5];
};
struct large MPI_Comm_split(long a, long b)
{
    struct large large = {{a, b, a + b, a - b, a * b}};
    return large;
}

/* x86-64: al says how many of the arguments are in vector registers; the low byte of this address, which passes through rax, says none */
double MPI_Pcontrol(int level, ...) __attribute__((aligned(256)));
double MPI_Pcontrol(int level, ...)
{
    va_list list;
    double sum = 0;
    va_start(list, level);
    for (int i = 1; i <= level; i++)
        sum += i * va_arg(list, double);
    va_end(list);
    return sum;
}

/* which name was called */
int MPI_Barrier(void) { return 1; }
int PMPI_Barrier(void) { return 2; }
int PMPI_Bcast(void) { return 3; }
int MPI_Reduce(void) { return 4; }
