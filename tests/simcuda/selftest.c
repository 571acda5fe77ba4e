/* selftest.c - the simulator's own test:  selftest LIBCUDA [--real] [CASE]
 * With --real only what the real driver has to do as well, on that driver. */
#include "selftest.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path;
static void *library;

void *symbol(const char *name)
{
    void *found;
    if (library == NULL)
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "no symbol %s\n", name);
        exit(1);
    }
    return found;
}

void require(int good, const char *file, int line, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    _exit(1);
}

void require_code(int got, int wanted, const char *file, int line, const char *what)
{
    if (got == wanted)
        return;
    fprintf(stderr, "%s:%d: %s gave %d, has to give %d\n", file, line, what, got, wanted);
    _exit(1);
}

/* ----------------------------------------------------------------- helpers */

void *begin(void)
{
    void *context = NULL;
    OK(cuInit, 0u);
    OK(cuDevicePrimaryCtxRetain, &context, 0);
    OK(cuCtxSetCurrent, context);
    return context;
}

address device_memory(size_t size)
{
    address made = 0;
    OK(cuMemAlloc_v2, &made, size);
    return made;
}

void *pinned_memory(size_t size)
{
    void *made = NULL;
    OK(cuMemHostAlloc, &made, size, 2u);
    return made;
}

void *stream_new(unsigned flags)
{
    void *made = NULL;
    OK(cuStreamCreate, &made, flags);
    return made;
}

struct gate gate_shut(void *stream)
{
    struct gate gate = {pinned_memory(4)};
    *gate.word = 0;
    OK(cuStreamWaitValue32_v2, stream, (address)(uintptr_t)gate.word, 1u, 1u);
    return gate;
}

void gate_open(struct gate gate) { __atomic_store_n(gate.word, 1u, __ATOMIC_SEQ_CST); }

const char module_text[] = "// a comment\n.version 5.0\n.target sm_60\n.address_size 64\n"
                           ".visible .entry copy(\n\t.param .align 8 .b8 copy_param_0[40]\n)\n{\n\tret;\n}\n"
                           ".visible .entry copy_apart(.param .u64 .ptr .global .align 1 a, .param .u64 b, "
                           ".param .u64 c, .param .u64 d, .param .u32 e)\n{\n\tret;\n}\n"
                           ".visible .entry unknown()\n{\n\tret;\n}\n";

void *copy_kernel(void)
{
    void *module = NULL, *function = NULL;
    OK(cuModuleLoadData, &module, module_text);
    OK(cuModuleGetFunction, &function, module, "copy");
    return function;
}

int launch_copy(void *function, const struct copy_arguments *arguments, void *stream)
{
    const void *parameters[] = {arguments};
    return call(cuLaunchKernel, function, 2u, 1u, 1u, 32u, 1u, 1u, 0u, stream, parameters, NULL);
}

/* ----------------------------------------------------------------- harness */

static void set_environment(const char *text)
{
    char *copy, *one, *next;
    if (text == NULL)
        return;
    copy = strdup(text);
    for (one = strtok_r(copy, " ", &next); one != NULL; one = strtok_r(NULL, " ", &next))
        putenv(strdup(one));
    free(copy);
}

static int run(const struct test *test)
{
    char output[4096] = "";
    int ends[2], status = 0, good;
    size_t length = 0;
    ssize_t n;
    pid_t child;
    if (pipe(ends) != 0)
        return 0;
    child = fork();
    if (child == 0) {
        close(ends[0]);
        dup2(ends[1], 2);
        close(ends[1]);
        alarm(30);
        set_environment(test->environment);
        test->run();
        exit(0); /* with the library's exit handlers */
    }
    close(ends[1]);
    while ((n = read(ends[0], output + length, sizeof output - 1 - length)) > 0)
        length += (size_t)n;
    output[length] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    good = test->signal == 0 ? status == 0 : WIFSIGNALED(status) && WTERMSIG(status) == test->signal;
    if (good && test->text != NULL)
        good = strstr(output, test->text) != NULL;
    if (!good)
        printf("FAILED %s: status %#x\n%s\n", test->name, (unsigned)status, output);
    return good;
}

int main(int argc, char **argv)
{
    const struct test *const parts[] = {memory_tests, stream_tests, driver_tests};
    const struct test *test;
    const char *only = NULL;
    int real = 0, ran = 0, wrong = 0;
    size_t i;
    if (argc < 2)
        return 2;
    path = argv[1];
    for (i = 2; i < (size_t)argc; i++)
        if (strcmp(argv[i], "--real") == 0)
            real = 1;
        else
            only = argv[i];
    for (i = 0; i < sizeof parts / sizeof *parts; i++)
        for (test = parts[i]; test->name != NULL; test++) {
            if ((real && !test->real) || (only != NULL && strcmp(only, test->name) != 0))
                continue;
            ran++;
            fflush(stdout);
            wrong += !run(test);
        }
    printf("simcuda: %d cases, %d failed\n", ran, wrong);
    return wrong != 0 || ran == 0;
}
