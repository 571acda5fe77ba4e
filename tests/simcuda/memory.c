/* memory.c - the address space.
 *
 * Each device has a terabyte of addresses (never read or written through by the
 * simulator) and a file of the same size mapped elsewhere: the alias.  Pinned
 * and managed memory have a terabyte each and are their own alias.  Addresses
 * of freed memory are not given out again until the terabyte is used up, and a
 * page at least lies between two allocations. */
#include "simcuda.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((uint64_t)4096)
#define REGION ((uint64_t)1 << 40)
#define FILL_ALL ((size_t)4 << 20)
#define FILL_ENDS ((size_t)64 << 10)
#define PINNED SIM_MAX_DEVICES
#define MANAGED (SIM_MAX_DEVICES + 1)
#define REGIONS (SIM_MAX_DEVICES + 2)

struct region {
    uint64_t base; /* 0: not in use yet */
    uint64_t cursor;
    unsigned char *alias;
    int file;
};

static struct region regions[REGIONS];
static struct allocation **live; /* by address */
static size_t count, room;
static uint64_t last_id;
static struct {
    uint64_t base;
    size_t size;
} freed[1024]; /* the last ones, for what a trap says */
static size_t frees;
static uint64_t generation = 1; /* changes whenever an access that was good may no longer be */

static uint64_t up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }
static uint64_t down(uint64_t value, uint64_t to) { return value / to * to; }
static void *pointer(uint64_t address) { return (void *)(uintptr_t)address; }

/* --------------------------------------------------------------- lookups */

/* the number of allocations that begin at or below the address */
static size_t below(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (live[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct allocation *sim_find(uint64_t address)
{
    size_t n = below(address);
    if (n == 0 || address - live[n - 1]->base >= live[n - 1]->size)
        return NULL;
    return live[n - 1];
}

int sim_overlaps(uint64_t address, size_t size)
{
    size_t n = below(address);
    return sim_find(address) != NULL || (n < count && live[n]->base - address < size);
}

void sim_access_changed(void) { __atomic_add_fetch(&generation, 1, __ATOMIC_SEQ_CST); }

struct allocation *sim_ipc_find(const uint64_t origin[3])
{
    size_t i;
    for (i = 0; i < count; i++)
        if (live[i]->kind == SIM_IPC_MEMORY && memcmp(live[i]->origin, origin, sizeof live[i]->origin) == 0)
            return live[i];
    return NULL;
}

int sim_is_ours(uint64_t address)
{
    size_t i;
    for (i = 0; i < REGIONS; i++)
        if (regions[i].base != 0 && address - regions[i].base < REGION)
            return 1;
    return 0;
}

static void insert(struct allocation *allocation)
{
    size_t n = below(allocation->base);
    if (count == room) {
        room = room ? 2 * room : 256;
        live = realloc(live, room * sizeof *live);
        if (live == NULL)
            sim_trap("out of memory");
    }
    memmove(live + n + 1, live + n, (count - n) * sizeof *live);
    live[n] = allocation;
    count++;
    allocation->id = ++last_id;
}

/* ------------------------------------------------------------ allocation */

static void *map(void *at, size_t size, int protection, int flags, int file, uint64_t offset)
{
    void *made = mmap(at, size, protection, flags | MAP_NORESERVE, file, (off_t)offset);
    if (made == MAP_FAILED)
        sim_trap("mmap of %zu bytes at %p failed", size, at);
    return made;
}

static struct region *open_region(int index)
{
    struct region *region = &regions[index];
    uint64_t wish;
    if (region->base != 0)
        return region;
    for (wish = ((uint64_t)0x20 + (uint64_t)index) << 40; wish < (uint64_t)0x7000 << 32; wish += REGION * REGIONS) {
        void *got = mmap(pointer(wish), REGION, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == pointer(wish)) {
            region->base = wish;
            break;
        }
        if (got != MAP_FAILED)
            munmap(got, REGION);
    }
    if (region->base == 0)
        sim_trap("no room in the address space");
    region->cursor = region->base + PAGE;
    region->file = -1;
    if (index < SIM_MAX_DEVICES) {
        char name[32];
        snprintf(name, sizeof name, "simcuda-device-%d", index);
        region->file = memfd_create(name, MFD_CLOEXEC);
        if (region->file < 0 || ftruncate(region->file, (off_t)REGION) != 0)
            sim_trap("no file for the memory of device %d", index);
        region->alias = map(NULL, REGION, PROT_READ | PROT_WRITE, MAP_SHARED, region->file, 0);
    } else {
        region->alias = pointer(region->base);
    }
    return region;
}

/* a free span of whole pages with a free page on each side, or 0 */
static uint64_t place(struct region *region, uint64_t span)
{
    int pass;
    if (span > REGION / 2)
        return 0;
    for (pass = 0; pass < 2; pass++) {
        uint64_t at = pass == 0 ? region->cursor : region->base + PAGE;
        size_t n = below(at);
        if (n > 0)
            n--; /* it may reach beyond */
        while (at + span + PAGE <= region->base + REGION) {
            while (n < count && up(live[n]->base + live[n]->size, PAGE) + PAGE <= at)
                n++;
            if (n == count || down(live[n]->base, PAGE) >= at + span + PAGE) {
                region->cursor = at + span + PAGE;
                return at;
            }
            at = up(live[n]->base + live[n]->size, PAGE) + PAGE;
        }
    }
    return 0;
}

/* large memory only at its ends: it must stay cheap */
static void fill(unsigned char *at, size_t size, int byte)
{
    if (size <= FILL_ALL) {
        memset(at, byte, size);
        return;
    }
    memset(at, byte, FILL_ENDS);
    memset(at + size - FILL_ENDS, byte, FILL_ENDS);
}

static int region_of(enum sim_memory kind, int device)
{
    return kind == SIM_PINNED_MEMORY ? PINNED : kind == SIM_MANAGED_MEMORY ? MANAGED : device;
}

struct allocation *sim_allocate(enum sim_memory kind, int device, size_t size, int fd, uint64_t offset)
{
    struct region *region = open_region(region_of(kind, device));
    /* no better aligned than cuMemAlloc promises: 256 bytes */
    uint64_t lead = kind == SIM_IPC_MEMORY ? offset % PAGE : sim_random() % 16 * 256;
    uint64_t span, at;
    struct allocation *made;
    if (size > REGION / 2)
        return NULL;
    span = up(lead + size, PAGE);
    at = place(region, span);
    if (at == 0)
        return NULL;
    made = calloc(1, sizeof *made);
    if (made == NULL)
        sim_trap("out of memory");
    made->base = at + lead;
    made->size = size;
    made->kind = kind;
    made->device = device;
    made->context = sim_current();
    switch (kind) {
    case SIM_IPC_MEMORY:
        made->alias = (unsigned char *)map(NULL, span, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset - lead) + lead;
        if (sim.readable)
            map(pointer(at), span, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, offset - lead);
        break;
    case SIM_DEVICE_MEMORY:
        made->alias = region->alias + (made->base - region->base);
        if (sim.readable)
            map(pointer(at), span, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, region->file, at - region->base);
        sim.device[device].used += size;
        fill(made->alias, size, SIM_FRESH_BYTE);
        break;
    default:
        made->alias = pointer(made->base);
        map(pointer(at), span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        fill(made->alias, size, SIM_FRESH_BYTE);
        break;
    }
    insert(made);
    return made;
}

struct allocation *sim_register(void *address, size_t size)
{
    struct allocation *made = calloc(1, sizeof *made);
    if (made == NULL)
        sim_trap("out of memory");
    made->base = (uint64_t)(uintptr_t)address;
    made->size = size;
    made->kind = SIM_REGISTERED_MEMORY;
    made->context = sim_current();
    made->device = made->context->device;
    made->alias = address;
    insert(made);
    return made;
}

void sim_release(struct allocation *gone)
{
    size_t n = below(gone->base) - 1;
    uint64_t first = down(gone->base, PAGE), span = up(gone->base + gone->size, PAGE) - first;
    struct region *region = &regions[region_of(gone->kind, gone->device)];
    memmove(live + n, live + n + 1, (count - n - 1) * sizeof *live);
    count--;
    freed[frees % 1024].base = gone->base;
    freed[frees++ % 1024].size = gone->size;
    sim_access_changed();
    switch (gone->kind) {
    case SIM_REGISTERED_MEMORY:
        break;
    case SIM_IPC_MEMORY:
        munmap(gone->alias - (gone->base - first), span);
        if (sim.readable)
            map(pointer(first), span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        break;
    case SIM_DEVICE_MEMORY:
        sim.device[gone->device].used -= gone->size;
        if (sim.readable)
            map(pointer(first), span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (gone->exported) /* another process may still look */
            fill(gone->alias, gone->size, SIM_FREED_BYTE);
        else
            fallocate(region->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(first - region->base),
                      (off_t)span);
        break;
    default:
        map(pointer(first), span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        break;
    }
    free(gone);
}

void sim_memory_of(struct context *context)
{
    size_t i = 0;
    while (i < count)
        if (live[i]->context == context)
            sim_release(live[i]);
        else
            i++;
}

int sim_device_file(int device, uint64_t address, uint64_t *offset)
{
    *offset = address - regions[device].base;
    return regions[device].file;
}

unsigned sim_memory_count(enum sim_memory kind, size_t *bytes)
{
    size_t i;
    unsigned n = 0;
    *bytes = 0;
    for (i = 0; i < count; i++)
        if (live[i]->kind == kind) {
            n++;
            *bytes += live[i]->size;
        }
    return n;
}

/* ----------------------------------------------------------------- access */

static void explain(uint64_t address, size_t size, const char *what)
{
    size_t n = below(address), i;
    for (i = 0; i < 1024 && sim_find(address) == NULL; i++)
        if (address - freed[i].base < freed[i].size)
            sim_trap("%s: %zu bytes at %#llx: freed memory, offset %llu of an allocation that had %zu bytes", what,
                     size, (unsigned long long)address, (unsigned long long)(address - freed[i].base),
                     freed[i].size);
    if (n > 0) {
        const struct allocation *near = live[n - 1];
        uint64_t at = address - near->base;
        if (at < near->size + (1 << 16))
            sim_trap("%s: %zu bytes at %#llx reach out of bounds: offset %llu of an allocation of %zu bytes", what,
                     size, (unsigned long long)address, (unsigned long long)at, near->size);
    }
    if (n < count && live[n]->base - address < (1 << 16))
        sim_trap("%s: %zu bytes at %#llx out of bounds: %llu bytes before an allocation", what, size,
                 (unsigned long long)address, (unsigned long long)(live[n]->base - address));
    sim_trap("%s: %zu bytes at %#llx: %s", what, size, (unsigned long long)address,
             sim_is_ours(address) ? "memory that was never allocated or was freed long ago" : "not an address a device knows");
}

unsigned char *sim_reach(struct context *context, uint64_t address, size_t size, const char *what)
{
    struct allocation *found = sim_find(address);
    if (found == NULL || size > found->size - (address - found->base))
        explain(address, size, what);
    if (found->kind == SIM_DEVICE_MEMORY && found->device != context->device &&
        !sim_peer_enabled(context, found->device))
        sim_trap("%s: memory of device %d at %#llx from a context of device %d without peer access", what,
                 found->device, (unsigned long long)address, context->device);
    return found->alias + (address - found->base);
}

/* A kernel calls this for each of its accesses, so each thread remembers where
 * it was last. */
unsigned char *sim_touch(struct context *context, uint64_t address, size_t size, const char *what)
{
    static _Thread_local struct {
        uint64_t generation, base, size;
        unsigned char *alias;
        struct context *context;
    } known[4];
    static _Thread_local unsigned turn;
    uint64_t now = __atomic_load_n(&generation, __ATOMIC_SEQ_CST);
    struct allocation *found;
    unsigned char *at;
    unsigned i;
    for (i = 0; i < 4; i++)
        if (known[i].generation == now && known[i].context == context && address - known[i].base < known[i].size &&
            size <= known[i].size - (address - known[i].base))
            return known[i].alias + (address - known[i].base);
    sim_lock();
    at = sim_reach(context, address, size, what);
    found = sim_find(address);
    turn = (turn + 1) % 4;
    known[turn].generation = now;
    known[turn].base = found->base;
    known[turn].size = found->size;
    known[turn].alias = found->alias;
    known[turn].context = context;
    sim_unlock();
    return at;
}
