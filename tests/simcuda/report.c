/* report.c - what is still alive, for tests that look for leaks.
 *
 *     PID memory device 2 8192         kind, number, bytes
 *     PID object stream 1              kind, number
 *     PID context device 0 primary made by app
 *
 * SIMCUDA_REPORT=path appends this at the process's end. */
#include "simcuda.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

SIM_EXPORT const char *simcuda_report(void);
SIM_EXPORT size_t simcuda_live(const char *kind, size_t *bytes);

static const char *const memories[SIM_MEMORIES] = {"device", "ipc", "pinned", "registered", "managed"};
static const char *const objects[SIM_KINDS] = {NULL,       "context", "stream", "event",     "module",
                                               "function", "graph",   "node",   "executable"};

/* default streams belong to their contexts */
static unsigned made_by_program(enum sim_kind kind)
{
    unsigned n = sim_object_count(kind);
    const struct context *context;
    const struct stream *stream;
    if (kind == SIM_STREAM_OBJECT)
        for (context = sim.contexts; context != NULL; context = context->next)
            for (stream = context->streams; stream != NULL; stream = stream->next)
                if (stream->legacy || stream->thread != 0)
                    n--;
    return n;
}

static void add(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t room, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, room - length, format, arguments);
    va_end(arguments);
}

static void write_report(char *text, size_t room)
{
    const struct context *context;
    int i, process = (int)getpid();
    text[0] = '\0';
    for (i = 0; i < SIM_MEMORIES; i++) {
        size_t bytes;
        unsigned n = sim_memory_count((enum sim_memory)i, &bytes);
        add(text, room, "%d memory %s %u %zu\n", process, memories[i], n, bytes);
    }
    for (i = 1; i < SIM_KINDS; i++)
        add(text, room, "%d object %s %u\n", process, objects[i], made_by_program((enum sim_kind)i));
    for (context = sim.contexts; context != NULL; context = context->next)
        add(text, room, "%d context device %d %s made by %s\n", process, context->device,
            context->primary ? "primary" : "created", context->maker);
}

/* The report as text, good until this thread asks again. */
const char *simcuda_report(void)
{
    static _Thread_local char text[4096];
    sim_lock();
    write_report(text, sizeof text);
    sim_unlock();
    return text;
}

/* How many of one kind of memory or object live; bytes (or NULL) gets their size. */
size_t simcuda_live(const char *kind, size_t *bytes)
{
    size_t n = 0, size = 0;
    int i;
    sim_lock();
    for (i = 0; i < SIM_MEMORIES; i++)
        if (strcmp(kind, memories[i]) == 0)
            n = sim_memory_count((enum sim_memory)i, &size);
    for (i = 1; i < SIM_KINDS; i++)
        if (strcmp(kind, objects[i]) == 0)
            n = made_by_program((enum sim_kind)i);
    sim_unlock();
    if (bytes != NULL)
        *bytes = size;
    return n;
}

void sim_report_write(void)
{
    const char *path = getenv("SIMCUDA_REPORT");
    char text[4096];
    int file;
    if (path == NULL || *path == '\0')
        return;
    write_report(text, sizeof text);
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
        fprintf(stderr, "simcuda: cannot write SIMCUDA_REPORT=%s\n", path);
    if (file >= 0)
        close(file);
}
