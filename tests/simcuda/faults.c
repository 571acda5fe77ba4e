/* faults.c - calls that fail on demand.
 *
 * A rule is  NAME[@CALLER]:N[*][:CODE] , rules are separated by commas.  The
 * N-th call (from 1, counted since the rule was set) of NAME returns CODE and
 * does nothing; with a star, every call from the N-th on.  "*" alone for N
 * means "1*".  NAME is a driver function without its _v2, or "any", or
 * "launch-fault" (that launch crashes as a kernel does, see launch.c).
 * CALLER: count only calls out of a shared object with this in its file name.
 * CODE is 2 (out of memory) for names with "Alloc" in them, else 999. */
#include "simcuda.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define RULES 32

struct rule {
    char name[64];
    char caller[64];
    unsigned long nth, seen;
    int onward;
    CUresult code; /* 0: by the name */
};

static struct rule rules[RULES];
static unsigned count;
static int fired;

SIM_EXPORT int simcuda_arm(const char *specification);
SIM_EXPORT int simcuda_fired(void);
SIM_EXPORT unsigned long simcuda_calls(const char *name);

int sim_same_name(const char *entry, const char *asked, size_t length)
{
    if (strncmp(entry, asked, length) != 0)
        return 0;
    entry += length;
    return *entry == '\0' || (entry[0] == '_' && entry[1] == 'v' && isdigit((unsigned char)entry[2]));
}

static int copy(char *to, size_t room, const char *from, size_t length)
{
    if (length == 0 || length >= room)
        return -1;
    memcpy(to, from, length);
    to[length] = '\0';
    return 0;
}

static int parse(const char *text, size_t length, struct rule *rule)
{
    const char *end = text + length, *colon = memchr(text, ':', length), *mark, *at;
    char *stop;
    memset(rule, 0, sizeof *rule);
    if (colon == NULL)
        return -1;
    mark = memchr(text, '@', (size_t)(colon - text));
    if (mark != NULL && copy(rule->caller, sizeof rule->caller, mark + 1, (size_t)(colon - mark - 1)) != 0)
        return -1;
    if (copy(rule->name, sizeof rule->name, text, (size_t)((mark != NULL ? mark : colon) - text)) != 0)
        return -1;
    at = colon + 1;
    rule->nth = 1;
    if (at < end && *at != '*') {
        rule->nth = strtoul(at, &stop, 10);
        if (stop == at || rule->nth == 0)
            return -1;
        at = stop;
    } else if (at == end) {
        return -1;
    }
    if (at < end && *at == '*') {
        rule->onward = 1;
        at++;
    }
    if (at < end && *at == ':') {
        rule->code = (CUresult)strtol(at + 1, &stop, 10);
        if (stop == at + 1 || rule->code <= 0)
            return -1;
        at = stop;
    }
    return at == end ? 0 : -1;
}

static int arm(const char *specification)
{
    struct rule fresh[RULES];
    unsigned n = 0;
    const char *at = specification;
    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, ",");
        if (n == RULES || parse(at, length, &fresh[n++]) != 0)
            return -1;
        at += length;
        if (*at == ',')
            at++;
    }
    memcpy(rules, fresh, n * sizeof *rules);
    count = n;
    fired = 0;
    return 0;
}

void sim_faults_open(void)
{
    const char *specification = getenv("SIMCUDA_FAIL");
    if (count == 0 && specification != NULL && arm(specification) != 0)
        sim_trap("SIMCUDA_FAIL=%s: not NAME[@CALLER]:N[*][:CODE],...", specification);
}

static int applies(const struct rule *rule, const char *name)
{
    if (strcmp(rule->name, "any") != 0 || strcmp(name, "launch-fault") == 0) {
        if (!sim_same_name(name, rule->name, strlen(rule->name)))
            return 0;
    }
    return rule->caller[0] == '\0' || strstr(sim_caller(), rule->caller) != NULL;
}

CUresult sim_fault(const char *name)
{
    unsigned i;
    CUresult code = CUDA_SUCCESS;
    for (i = 0; i < count; i++) {
        struct rule *rule = &rules[i];
        if (!applies(rule, name))
            continue;
        rule->seen++;
        if (rule->seen == rule->nth || (rule->onward && rule->seen > rule->nth)) {
            fired++;
            code = rule->code;
            if (code == CUDA_SUCCESS)
                code = strstr(name, "Alloc") != NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_UNKNOWN;
        }
    }
    return code;
}

/* ------------------------------------------------- what a test may call */

/* Replace all rules; NULL or "" removes them.  Counting starts anew.  0, or -1
 * for a specification that is none (the rules stay). */
int simcuda_arm(const char *specification)
{
    int result;
    sim_lock();
    result = arm(specification);
    sim_unlock();
    return result;
}

/* How many calls failed by a rule since the rules were set. */
int simcuda_fired(void)
{
    int result;
    sim_lock();
    result = fired;
    sim_unlock();
    return result;
}

/* How often a function was called in this process, or all of them ("any"). */
unsigned long simcuda_calls(const char *name)
{
    const struct sim_entry *entry;
    unsigned long calls = 0;
    int any = strcmp(name, "any") == 0;
    sim_lock();
    for (entry = sim_entries; entry != NULL; entry = entry->next)
        if (any || sim_same_name(entry->name, name, strlen(name)))
            calls += entry->calls;
    sim_unlock();
    return calls;
}
