/* graph.c - graphs of kernel nodes, run one after the other in the order in
 * which they were added (an order that every dependency allows). */
#include "simcuda.h"

#include <stdlib.h>

#define NODES 32

/* CUDA_KERNEL_NODE_PARAMS; the second version has two members more, unused here */
struct node_parameters {
    struct function *function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
};
_Static_assert(sizeof(struct node_parameters) == 56, "not cuda.h's layout");

struct node {
    struct sim_object object;
    struct launch *launch;
};

struct graph {
    struct sim_object object;
    unsigned count;
    struct node *nodes[NODES];
};

struct executable {
    struct sim_object object;
    struct context *context;
    unsigned count;
    struct {
        struct node *node;
        struct launch *launch;
    } steps[NODES];
};

static struct launch *launch_copy(const struct launch *from)
{
    struct launch *made = malloc(sizeof *made);
    if (made == NULL)
        sim_trap("out of memory");
    *made = *from;
    return made;
}

static CUresult set(struct launch *launch, const struct node_parameters *from)
{
    if (from == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_launch_set(launch, from->function, from->grid, from->block, from->shared, from->parameters,
                          from->extra);
}

SIM_CALL(cuGraphCreate, SIM_INIT, (struct graph **graph, unsigned flags), (graph, flags), "%u", flags)
{
    if (graph == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = sim_object_new(SIM_GRAPH_OBJECT);
    return CUDA_SUCCESS;
}

SIM_CALL(cuGraphAddKernelNode_v2, SIM_CONTEXT,
         (struct node **node, struct graph *graph, struct node *const *before, size_t count,
          const struct node_parameters *parameters),
         (node, graph, before, count, parameters), "%p %zu", (void *)graph, count)
{
    struct launch launch;
    CUresult code;
    size_t i;
    if (!sim_object_is(graph, SIM_GRAPH_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (node == NULL || (count > 0 && before == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    for (i = 0; i < count; i++)
        if (!sim_object_is(before[i], SIM_NODE_OBJECT))
            return CUDA_ERROR_INVALID_VALUE;
    if (graph->count == NODES)
        sim_trap("the simulator's graphs have at most %d nodes", NODES);
    code = set(&launch, parameters);
    if (code != CUDA_SUCCESS)
        return code;
    *node = sim_object_new(SIM_NODE_OBJECT);
    (*node)->launch = launch_copy(&launch);
    graph->nodes[graph->count++] = *node;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuGraphAddKernelNode, cuGraphAddKernelNode_v2);

SIM_CALL(cuGraphKernelNodeSetParams_v2, SIM_CONTEXT, (struct node *node, const struct node_parameters *parameters),
         (node, parameters), "%p", (void *)node)
{
    return sim_object_is(node, SIM_NODE_OBJECT) ? set(node->launch, parameters) : CUDA_ERROR_INVALID_HANDLE;
}
SIM_ALIAS(cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams_v2);

static CUresult instantiate(struct executable **executable, struct graph *graph)
{
    struct executable *made;
    unsigned i;
    if (!sim_object_is(graph, SIM_GRAPH_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (executable == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    made = sim_object_new(SIM_EXEC_OBJECT);
    made->context = sim_current();
    for (i = 0; i < graph->count; i++) {
        made->steps[i].node = graph->nodes[i];
        made->steps[i].launch = launch_copy(graph->nodes[i]->launch);
    }
    made->count = graph->count;
    *executable = made;
    return CUDA_SUCCESS;
}

SIM_CALL(cuGraphInstantiateWithFlags, SIM_CONTEXT,
         (struct executable **executable, struct graph *graph, unsigned long long flags), (executable, graph, flags),
         "%p %llu", (void *)graph, flags)
{
    return flags > 15 ? CUDA_ERROR_INVALID_VALUE : instantiate(executable, graph);
}

SIM_CALL(cuGraphInstantiate_v2, SIM_CONTEXT,
         (struct executable **executable, struct graph *graph, struct node **bad, char *text, size_t room),
         (executable, graph, bad, text, room), "%p", (void *)graph)
{
    if (bad != NULL)
        *bad = NULL;
    if (text != NULL && room > 0)
        *text = '\0';
    return instantiate(executable, graph);
}
SIM_ALIAS(cuGraphInstantiate, cuGraphInstantiate_v2);

SIM_CALL(cuGraphExecKernelNodeSetParams_v2, SIM_CONTEXT,
         (struct executable *executable, struct node *node, const struct node_parameters *parameters),
         (executable, node, parameters), "%p %p", (void *)executable, (void *)node)
{
    struct launch launch;
    CUresult code;
    unsigned i;
    if (!sim_object_is(executable, SIM_EXEC_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    for (i = 0; i < executable->count; i++)
        if (executable->steps[i].node == node) {
            code = set(&launch, parameters);
            if (code == CUDA_SUCCESS)
                *executable->steps[i].launch = launch;
            return code;
        }
    return CUDA_ERROR_INVALID_VALUE;
}
SIM_ALIAS(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2);

SIM_CALL(cuGraphUpload, SIM_CONTEXT, (struct executable *executable, void *stream), (executable, stream), "%p %p",
         (void *)executable, stream)
{
    return sim_object_is(executable, SIM_EXEC_OBJECT) && sim_stream(stream) != NULL ? CUDA_SUCCESS
                                                                                     : CUDA_ERROR_INVALID_HANDLE;
}

SIM_CALL(cuGraphLaunch, SIM_CONTEXT, (struct executable *executable, void *handle), (executable, handle), "%p %p",
         (void *)executable, handle)
{
    struct stream *stream = sim_stream(handle);
    unsigned i;
    if (!sim_object_is(executable, SIM_EXEC_OBJECT) || stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    for (i = 0; i < executable->count; i++) {
        CUresult code = sim_launch_submit(executable->steps[i].launch, stream);
        if (code != CUDA_SUCCESS)
            return code;
    }
    return CUDA_SUCCESS;
}

SIM_CALL(cuGraphExecDestroy, SIM_INIT, (struct executable *executable), (executable), "%p", (void *)executable)
{
    unsigned i;
    if (!sim_object_is(executable, SIM_EXEC_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    for (i = 0; i < executable->count; i++)
        free(executable->steps[i].launch);
    sim_object_end(executable);
    return CUDA_SUCCESS;
}

SIM_CALL(cuGraphDestroy, SIM_INIT, (struct graph *graph), (graph), "%p", (void *)graph)
{
    unsigned i;
    if (!sim_object_is(graph, SIM_GRAPH_OBJECT))
        return CUDA_ERROR_INVALID_HANDLE;
    for (i = 0; i < graph->count; i++) {
        free(graph->nodes[i]->launch);
        sim_object_end(graph->nodes[i]);
    }
    sim_object_end(graph);
    return CUDA_SUCCESS;
}
