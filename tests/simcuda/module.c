/* module.c - PTX modules and their functions.  The text is only read for its
 * version, its target and its entry points with their parameters. */
#include "simcuda.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%'; }

static const char *skip_blanks(const char *at)
{
    for (;;) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end != NULL ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

/* the word at `at` after blanks, if it is this one: what follows it; else NULL */
static const char *word(const char *at, const char *wanted)
{
    size_t length = strlen(wanted);
    at = skip_blanks(at);
    if (strncmp(at, wanted, length) != 0 || is_name(at[length]))
        return NULL;
    return skip_blanks(at + length);
}

/* the newest PTX ISA that a driver takes: 13.0 takes 9.0, 12.4 takes 8.4 */
static CUresult check_text(const char *text)
{
    int major, minor, newest = (sim.driver_version / 1000 - 4) * 10 + sim.driver_version % 1000 / 10;
    int target;
    const char *at = word(text, ".version");
    if (at == NULL)
        return CUDA_ERROR_INVALID_IMAGE;
    if (sscanf(at, "%d.%d", &major, &minor) != 2)
        return CUDA_ERROR_INVALID_PTX;
    if (10 * major + minor > newest)
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    at = word(at + strspn(at, "0123456789."), ".target");
    if (at == NULL || sscanf(at, "sm_%d", &target) != 1)
        return CUDA_ERROR_INVALID_PTX;
    if (target > sim.capability)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    at = word(at + strcspn(at, " \t\n/"), ".address_size");
    if (at == NULL || strncmp(at, "64", 2) != 0 || strstr(at, ".entry") == NULL)
        return CUDA_ERROR_INVALID_PTX;
    return CUDA_SUCCESS;
}

static CUresult load(struct module **module, const char *text)
{
    struct module *made;
    CUresult code;
    if (module == NULL || text == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    code = check_text(text);
    if (code != CUDA_SUCCESS)
        return code;
    made = sim_object_new(SIM_MODULE_OBJECT);
    made->context = sim_current();
    made->text = strdup(text);
    if (made->text == NULL)
        sim_trap("out of memory");
    *module = made;
    return CUDA_SUCCESS;
}

SIM_CALL(cuModuleLoadData, SIM_CONTEXT, (struct module **module, const void *image), (module, image), "%p", image)
{
    return load(module, image);
}

SIM_CALL(cuModuleLoadDataEx, SIM_CONTEXT,
         (struct module **module, const void *image, unsigned count, int *options, void **values),
         (module, image, count, options, values), "%p %u", image, count)
{
    if (count > 0 && (options == NULL || values == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    return load(module, image);
}

SIM_CALL(cuModuleUnload, SIM_CONTEXT, (struct module *module), (module), "%p", (void *)module)
{
    struct function *function;
    if (!sim_object_is(module, SIM_MODULE_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    for (function = module->functions; function != NULL; function = function->next)
        sim_object_end(function);
    free(module->text);
    sim_object_end(module);
    return CUDA_SUCCESS;
}

/* -------------------------------------------------------------- functions */

/* what follows the name of entry point `name`, or NULL */
static const char *find_entry(const char *text, const char *name)
{
    const char *at = text, *rest;
    while ((at = strstr(at, ".entry")) != NULL) {
        at += 6;
        rest = word(at, name);
        if (rest != NULL && *rest == '(')
            return rest + 1;
    }
    return NULL;
}

/* a scalar type's size, from ".u64" and the like */
static size_t size_of_type(const char *type)
{
    while (*type == '.' || isalpha((unsigned char)*type))
        type++;
    return strtoul(type, NULL, 10) / 8;
}

/* the next `.param` of a list; the text behind it, or NULL for a list that ends or is no list */
static const char *read_parameter(struct function *function, const char *at)
{
    size_t align = 0, size, count = 1;
    char *end;
    at = word(at, ".param");
    if (at == NULL || function->parameters == 16)
        return NULL;
    if (word(at, ".align") != NULL) {
        align = strtoul(word(at, ".align"), &end, 10);
        at = skip_blanks(end);
    }
    size = size_of_type(at);
    at += strcspn(at, " \t\n"); /* the type */
    if (word(at, ".ptr") != NULL) { /* .ptr .global .align 8 name */
        at = word(at, ".ptr");
        while (*at == '.' || isdigit((unsigned char)*at)) {
            at += strcspn(at, " \t\n");
            at = skip_blanks(at);
        }
    }
    at = skip_blanks(at);
    while (is_name(*at))
        at++;
    at = skip_blanks(at);
    if (*at == '[') {
        count = strtoul(at + 1, &end, 10);
        at = skip_blanks(end);
        at += *at == ']';
    }
    if (size == 0 || size > 8 || count == 0)
        return NULL;
    if (align == 0)
        align = size;
    function->bytes = (function->bytes + align - 1) / align * align;
    function->offset[function->parameters] = function->bytes;
    function->size[function->parameters++] = size * count;
    function->bytes += size * count;
    return skip_blanks(at);
}

SIM_CALL(cuModuleGetFunction, SIM_CONTEXT, (struct function **function, struct module *module, const char *name),
         (function, module, name), "%p %s", (void *)module, name != NULL ? name : "NULL")
{
    struct function *made;
    const char *at;
    if (!sim_object_is(module, SIM_MODULE_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (function == NULL || name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (made = module->functions; made != NULL; made = made->next)
        if (strcmp(made->name, name) == 0) {
            *function = made;
            return CUDA_SUCCESS;
        }
    at = *name != '\0' ? find_entry(module->text, name) : NULL;
    if (at == NULL || strlen(name) >= sizeof made->name)
        return CUDA_ERROR_NOT_FOUND;
    made = sim_object_new(SIM_FUNCTION_OBJECT);
    made->module = module;
    strcpy(made->name, name);
    made->max_dynamic_shared = 49152;
    while (at != NULL && *skip_blanks(at) != ')') {
        at = read_parameter(made, at);
        if (at != NULL && *at == ',')
            at++;
    }
    if (at == NULL || made->bytes > sizeof ((struct launch *)NULL)->arguments)
        sim_trap("the simulator cannot read the parameters of kernel %s", name);
    made->next = module->functions;
    module->functions = made;
    *function = made;
    return CUDA_SUCCESS;
}

SIM_CALL(cuFuncGetModule, SIM_CONTEXT, (struct module **module, struct function *function), (module, function),
         "%p", (void *)function)
{
    if (!sim_object_is(function, SIM_FUNCTION_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (module == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *module = function->module;
    return CUDA_SUCCESS;
}

/* CU_FUNC_ATTRIBUTE_... */
SIM_CALL(cuFuncGetAttribute, SIM_CONTEXT, (int *value, int attribute, struct function *function),
         (value, attribute, function), "%d %p", attribute, (void *)function)
{
    if (!sim_object_is(function, SIM_FUNCTION_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (value == NULL || attribute < 0 || attribute > 15)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case 0: /* MAX_THREADS_PER_BLOCK */
        *value = 1024;
        break;
    case 4: /* NUM_REGS */
        *value = 32;
        break;
    case 5: /* PTX_VERSION */
    case 6: /* BINARY_VERSION */
        *value = sim.capability;
        break;
    case 8: /* MAX_DYNAMIC_SHARED_SIZE_BYTES */
        *value = function->max_dynamic_shared;
        break;
    default:
        *value = 0;
    }
    return CUDA_SUCCESS;
}

SIM_CALL(cuFuncSetAttribute, SIM_CONTEXT, (struct function *function, int attribute, int value),
         (function, attribute, value), "%p %d %d", (void *)function, attribute, value)
{
    if (!sim_object_is(function, SIM_FUNCTION_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (attribute == 8) { /* MAX_DYNAMIC_SHARED_SIZE_BYTES */
        if (value < 0 || value > 232448)
            return CUDA_ERROR_INVALID_VALUE;
        function->max_dynamic_shared = value;
        return CUDA_SUCCESS;
    }
    return attribute == 9 && value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_CALL(cuFuncSetCacheConfig, SIM_CONTEXT, (struct function *function, int config), (function, config), "%p %d",
         (void *)function, config)
{
    return sim_object_is(function, SIM_FUNCTION_OBJECT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ------------------------------------------------------------- occupancy */

static CUresult occupancy(int *blocks, struct function *function, int block, size_t shared)
{
    if (!sim_object_is(function, SIM_FUNCTION_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (blocks == NULL || block <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = 2048 / ((block + 31) / 32 * 32);
    if (*blocks > 32)
        *blocks = 32;
    if (shared > 0 && 233472 / shared < (size_t)*blocks)
        *blocks = (int)(233472 / shared);
    return CUDA_SUCCESS;
}

SIM_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, SIM_CONTEXT,
         (int *blocks, struct function *function, int block, size_t shared), (blocks, function, block, shared),
         "%p %d %zu", (void *)function, block, shared)
{
    return occupancy(blocks, function, block, shared);
}

SIM_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, SIM_CONTEXT,
         (int *blocks, struct function *function, int block, size_t shared, unsigned flags),
         (blocks, function, block, shared, flags), "%p %d %zu %u", (void *)function, block, shared, flags)
{
    return flags > 1 ? CUDA_ERROR_INVALID_VALUE : occupancy(blocks, function, block, shared);
}

SIM_CALL(cuOccupancyMaxPotentialBlockSize, SIM_CONTEXT,
         (int *grid, int *block, struct function *function, size_t (*shared)(int), size_t fixed, int limit),
         (grid, block, function, shared, fixed, limit), "%p %zu %d", (void *)function, fixed, limit)
{
    if (!sim_object_is(function, SIM_FUNCTION_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (grid == NULL || block == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *block = limit > 0 && limit < 1024 ? limit : 1024;
    *grid = 132 * (2048 / *block);
    return CUDA_SUCCESS;
}
