/* object.c - handles: slots in one reserved range, never used twice. */
#include "simcuda.h"

#include <sys/mman.h>

#define SLOT 1024u
#define SLOTS (1u << 21)

static unsigned char *slots;
static uint64_t used = 1; /* slot 0 stays empty */
static unsigned live[SIM_KINDS];

_Static_assert(sizeof(struct context) <= SLOT && sizeof(struct stream) <= SLOT, "slot too small");
_Static_assert(sizeof(struct function) <= SLOT && sizeof(struct module) <= SLOT, "slot too small");

void *sim_object_new(enum sim_kind kind)
{
    struct sim_object *object;
    if (slots == NULL) {
        void *map = mmap(NULL, (size_t)SLOT * SLOTS, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED)
            sim_trap("no room for handles");
        slots = map;
    }
    if (used == SLOTS)
        sim_trap("%u handles made: the program creates without end", SLOTS);
    object = (struct sim_object *)(void *)(slots + SLOT * used++);
    object->kind = kind;
    live[kind]++;
    return object;
}

void sim_object_end(void *handle)
{
    struct sim_object *object = handle;
    live[object->kind]--;
    object->kind = SIM_DEAD;
}

int sim_object_is(const void *handle, enum sim_kind kind)
{
    uint64_t at = (uint64_t)(uintptr_t)handle - (uint64_t)(uintptr_t)slots;
    if (slots == NULL || at == 0 || at % SLOT != 0 || at / SLOT >= used)
        return 0;
    return ((const struct sim_object *)handle)->kind == kind;
}

unsigned sim_object_count(enum sim_kind kind) { return live[kind]; }
