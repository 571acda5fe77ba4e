/* symbol.c - cuGetProcAddress: function pointers by name and version. */
#include "simcuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* the newest version of a function whose header name is `name` */
static void *find(const char *name, int version)
{
    static const char *const endings[] = {"_v2", ""};
    void *self, *found = NULL;
    Dl_info where;
    char full[128];
    size_t i;
    if (strncmp(name, "cu", 2) != 0 || strlen(name) > 100)
        return NULL;
    if (version >= 12000 && strcmp(name, "cuGraphInstantiate") == 0)
        name = "cuGraphInstantiateWithFlags";
    if (dladdr((void *)(uintptr_t)find, &where) == 0)
        return NULL;
    self = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (self == NULL)
        return NULL;
    for (i = 0; i < sizeof endings / sizeof *endings && found == NULL; i++) {
        snprintf(full, sizeof full, "%s%s", name, endings[i]);
        found = dlsym(self, full);
    }
    dlclose(self);
    return found;
}

/* The older form of the call gives an error for a name that is unknown, the
 * newer one also says why in *status (0 found, 1 unknown). */
SIM_CALL(cuGetProcAddress_v2, SIM_NOTHING,
         (const char *name, void **function, int version, uint64_t flags, int *status),
         (name, function, version, flags, status), "%s %d", name != NULL ? name : "NULL", version)
{
    if (name == NULL || function == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    /* the caller gets the five-argument form from version 12 on */
    *function = version < 12000 && strcmp(name, "cuGetProcAddress") == 0 ? NULL : find(name, version);
    if (status != NULL)
        *status = *function == NULL;
    return *function == NULL ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

SIM_CALL(cuGetProcAddress, SIM_NOTHING, (const char *name, void **function, int version, uint64_t flags),
         (name, function, version, flags), "%s %d", name != NULL ? name : "NULL", version)
{
    if (name == NULL || function == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *function = find(name, version);
    return *function == NULL ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
