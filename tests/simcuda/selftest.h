/* selftest.h - what the parts of the simulator's own test share. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t address;

/* One case runs in a process of its own, which has to end with status 0, or by
 * `signal` with `text` on its stderr. */
struct test {
    const char *name;
    void (*run)(void);
    const char *environment; /* NAME=value, separated by blanks; or NULL */
    int signal;
    const char *text;
    int real; /* the real driver has to pass, too */
};
extern const struct test memory_tests[], stream_tests[], driver_tests[];

void *symbol(const char *name);
void require(int good, const char *file, int line, const char *what);
void require_code(int got, int wanted, const char *file, int line, const char *what);

/* a driver call; arguments must have the parameter's width */
#define call(NAME, ...) (((int (*)())symbol(#NAME))(__VA_ARGS__))
#define TRUE(WHAT) require((WHAT), __FILE__, __LINE__, #WHAT)
#define GIVES(CODE, NAME, ...) require_code(call(NAME, __VA_ARGS__), CODE, __FILE__, __LINE__, #NAME)
#define OK(NAME, ...) GIVES(0, NAME, __VA_ARGS__)
#define Z(NUMBER) ((size_t)(NUMBER))

/* cuInit, device 0's primary context made current */
void *begin(void);
address device_memory(size_t size);
void *pinned_memory(size_t size);
void *stream_new(unsigned flags);

/* a stream that stands still until it is let go */
struct gate {
    volatile uint32_t *word;
};
struct gate gate_shut(void *stream);
void gate_open(struct gate gate);

/* selftest_kernels.c: copy the bytes, then write the flag (if any) */
struct copy_arguments {
    uint64_t to, from, bytes, flag;
    uint32_t value, zero;
};
extern const char module_text[];
void *copy_kernel(void);
int launch_copy(void *function, const struct copy_arguments *arguments, void *stream);

#endif
