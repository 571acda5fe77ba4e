/* log.c - the call log (SIMCUDA_LOG=path): one line a call, appended in one
 * write, so several processes may share a file:
 *     PID TID CALLER NAME arguments -> CODE */
#include "simcuda.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int log_file = -1;

void sim_log_open(void)
{
    const char *path = getenv("SIMCUDA_LOG");
    if (path == NULL || *path == '\0')
        return;
    log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_file < 0)
        sim_trap("cannot open SIMCUDA_LOG=%s", path);
}

void sim_log(const char *name, CUresult code, const char *format, va_list arguments)
{
    char line[512];
    size_t room = sizeof line - 32; /* the code and the line's end always fit */
    int n, more;
    if (log_file < 0)
        return;
    n = snprintf(line, room, "%d %ld %s %s ", (int)getpid(), syscall(SYS_gettid), sim_caller(), name);
    if (n > 0 && (size_t)n < room) {
        more = vsnprintf(line + n, room - (size_t)n, format, arguments);
        n = more < 0 ? n : (size_t)(n + more) < room ? n + more : (int)room - 1;
    } else {
        n = (int)room - 1;
    }
    n += snprintf(line + n, sizeof line - (size_t)n, " -> %d\n", code);
    if (write(log_file, line, (size_t)n) != n)
        log_file = -1;
}
