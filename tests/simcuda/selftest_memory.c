/* selftest_memory.c - addresses, copies and what has to trap. */
#include "selftest.h"

#include <signal.h>
#include <sys/resource.h>

static unsigned char pattern(size_t i) { return (unsigned char)(i * 7 + i / 251); }

static unsigned char *patterned(size_t size)
{
    unsigned char *made = malloc(size);
    size_t i;
    for (i = 0; i < size; i++)
        made[i] = pattern(i);
    return made;
}

static void copies_line(void)
{
    unsigned char *from = patterned(100000), *to = calloc(1, 100000);
    address a, b;
    begin();
    a = device_memory(100000);
    b = device_memory(100000);
    TRUE(a % 256 == 0 && b % 256 == 0);
    OK(cuMemcpyHtoD_v2, a, from, Z(100000));
    memset(from, 0, 1000); /* the bytes are taken already */
    OK(cuMemcpyDtoD_v2, b, a, Z(100000));
    OK(cuMemcpyDtoH_v2, to, b, Z(100000));
    memcpy(from, to, 1000);
    TRUE(to[0] == pattern(0) && to[999] == pattern(999) && to[99999] == pattern(99999));
    OK(cuMemcpy, b + 5, a, Z(10));
    OK(cuMemcpy, (address)(uintptr_t)to, b, Z(20));
    TRUE(to[4] == pattern(4) && to[5] == pattern(0) && to[14] == pattern(9) && to[15] == pattern(15));
    OK(cuMemcpyDtoH_v2, to, a, Z(0));
    OK(cuMemFree_v2, a);
    OK(cuMemFree_v2, b);
    OK(cuMemFree_v2, (address)0);
}

static void copies_of_wrong_kinds(void)
{
    char host[64] = {0};
    address device;
    void *pinned;
    begin();
    device = device_memory(64);
    pinned = pinned_memory(64);
    GIVES(1, cuMemcpyHtoD_v2, (address)(uintptr_t)host, host, Z(8));
    GIVES(1, cuMemcpyDtoH_v2, host, (address)(uintptr_t)host, Z(8));
    GIVES(1, cuMemcpyDtoD_v2, device, (address)(uintptr_t)host, Z(8));
    GIVES(1, cuMemsetD8_v2, (address)(uintptr_t)host, 1, Z(8));
    OK(cuMemcpyDtoD_v2, device, (address)(uintptr_t)pinned, Z(8));
    GIVES(1, cuMemFree_v2, device + 1);
    GIVES(1, cuMemFree_v2, (address)(uintptr_t)host);
}

static void copies_of_rectangles(void)
{
    /* CUDA_MEMCPY2D and CUDA_MEMCPY3D, as words */
    uint64_t flat[16] = {0}, box[25] = {0};
    unsigned char *from = patterned(4096), to[64];
    address device;
    size_t x, y, z;
    begin();
    device = device_memory(4096);
    OK(cuMemcpyHtoD_v2, device, from, Z(4096));
    flat[0] = 3, flat[1] = 2, flat[2] = 2, flat[4] = device, flat[6] = 100; /* from (3, 2), device, pitch 100 */
    flat[9] = 1, flat[10] = (uintptr_t)to, flat[13] = 5;                    /* to the host, pitch 5 */
    flat[14] = 5, flat[15] = 4;
    OK(cuMemcpy2D_v2, flat);
    for (y = 0; y < 4; y++)
        for (x = 0; x < 5; x++)
            TRUE(to[y * 5 + x] == pattern((y + 2) * 100 + 3 + x));
    flat[6] = 6; /* x + width is more than the pitch */
    GIVES(1, cuMemcpy2D_v2, flat);
    box[0] = 1, box[1] = 2, box[2] = 3, box[4] = 2, box[6] = device, box[9] = 16, box[10] = 8;
    box[15] = 1, box[16] = (uintptr_t)to, box[20] = 4, box[21] = 3;
    box[22] = 4, box[23] = 3, box[24] = 2;
    OK(cuMemcpy3D_v2, box);
    for (z = 0; z < 2; z++)
        for (y = 0; y < 3; y++)
            for (x = 0; x < 4; x++)
                TRUE(to[(z * 3 + y) * 4 + x] == pattern(((z + 3) * 8 + y + 2) * 16 + 1 + x));
}

static void fills(void)
{
    unsigned char bytes[64];
    uint32_t words[4];
    address device;
    begin();
    device = device_memory(64);
    OK(cuMemsetD8_v2, device, 0x11, Z(64));
    OK(cuMemsetD16_v2, device + 2, 0x2233, Z(2));
    OK(cuMemcpyDtoH_v2, bytes, device, Z(64));
    TRUE(bytes[1] == 0x11 && bytes[2] == 0x33 && bytes[3] == 0x22 && bytes[5] == 0x22 && bytes[6] == 0x11);
    OK(cuMemsetD32_v2, device, 0x44556677u, Z(3));
    OK(cuMemcpyDtoH_v2, words, device, Z(16));
    TRUE(words[2] == 0x44556677u && words[3] == 0x11111111u);
    GIVES(1, cuMemsetD32_v2, device + 2, 0u, Z(1));
}

static void attributes_of_pointers(void)
{
    void *context = begin(), *pinned = pinned_memory(100), *got = NULL, *plain = malloc(100);
    address device = device_memory(1000), managed = 0, number = 0, number2 = 0;
    unsigned type = 0, is_managed = 7;
    int ordinal = -9, what[] = {2, 9, 3, 8};
    void *into[] = {&type, &ordinal, &number, &is_managed};
    size_t size = 0;
    OK(cuMemAllocManaged, &managed, Z(100), 1u);
    OK(cuPointerGetAttribute, &type, 2, device + 999);
    TRUE(type == 2);
    GIVES(1, cuPointerGetAttribute, &type, 2, (address)(uintptr_t)plain);
    OK(cuPointerGetAttribute, &got, 1, device);
    TRUE(got == context);
    GIVES(1, cuPointerGetAttribute, &got, 4, device);
    OK(cuPointerGetAttribute, &type, 2, (address)(uintptr_t)pinned);
    TRUE(type == 1);
    OK(cuPointerGetAttribute, &number, 3, (address)(uintptr_t)pinned + 5);
    TRUE(number == (address)(uintptr_t)pinned + 5);
    OK(cuPointerGetAttribute, &type, 2, managed);
    OK(cuPointerGetAttribute, &is_managed, 8, managed);
    TRUE(type == 2 && (is_managed & 255) == 1);
    OK(cuPointerGetAttribute, &number, 7, device);
    OK(cuPointerGetAttribute, &number2, 7, managed);
    TRUE(number != number2);
    OK(cuPointerGetAttribute, &number, 11, device + 500);
    OK(cuPointerGetAttribute, &size, 12, device + 500);
    TRUE(number == device && size == 1000);
    OK(cuMemGetAddressRange_v2, &number, &size, device + 500);
    TRUE(number == device && size == 1000);
    OK(cuPointerGetAttributes, 4u, what, into, device + 1);
    TRUE(type == 2 && ordinal == 0 && number == device + 1);
    is_managed = 0;
    type = 9;
    OK(cuPointerGetAttributes, 4u, what, into, (address)(uintptr_t)plain);
    TRUE(type == 0 && number == 0 && ordinal == -2);
    OK(cuMemFree_v2, device);
    GIVES(1, cuPointerGetAttribute, &type, 2, device);
    /* no context is needed to ask */
    OK(cuCtxSetCurrent, (void *)0);
    OK(cuPointerGetAttribute, &type, 2, managed);
}

static void registered_memory(void)
{
    unsigned char *plain = NULL;
    unsigned type = 0;
    address device = 0;
    begin();
    TRUE(posix_memalign((void **)&plain, 4096, 8192) == 0);
    OK(cuMemHostRegister_v2, plain, Z(8192), 2u);
    GIVES(712, cuMemHostRegister_v2, plain, Z(8192), 2u);
    GIVES(712, cuMemHostRegister_v2, plain + 4096, Z(4096), 2u);
    OK(cuPointerGetAttribute, &type, 2, (address)(uintptr_t)plain + 77);
    TRUE(type == 1);
    OK(cuMemHostGetDevicePointer_v2, &device, plain, 0u);
    OK(cuMemsetD8_v2, device, 3, Z(10));
    OK(cuCtxSynchronize, 0);
    TRUE(plain[9] == 3);
    OK(cuMemHostUnregister, plain);
    GIVES(713, cuMemHostUnregister, plain);
    GIVES(1, cuPointerGetAttribute, &type, 2, (address)(uintptr_t)plain);
    GIVES(1, cuMemHostGetDevicePointer_v2, &device, plain, 0u);
}

static void touch_device(void)
{
    begin();
    *(volatile char *)(uintptr_t)device_memory(64) = 1;
}

static void readable(void)
{
    address device;
    char back = 0;
    begin();
    device = device_memory(5000);
    ((volatile char *)(uintptr_t)device)[4999] = 42;
    OK(cuMemcpyDtoH_v2, &back, device + 4999, Z(1));
    TRUE(back == 42);
    OK(cuMemsetD8_v2, device, 17, Z(5000));
    OK(cuCtxSynchronize, 0);
    TRUE(((volatile char *)(uintptr_t)device)[17] == 17);
}

static void touch_freed(void)
{
    address device;
    begin();
    device = device_memory(64);
    OK(cuMemFree_v2, device);
    (void)*(volatile char *)(uintptr_t)device;
}

static void touch_freed_pinned(void)
{
    void *pinned;
    begin();
    pinned = pinned_memory(64);
    OK(cuMemFreeHost, pinned);
    (void)*(volatile char *)pinned;
}

static void fresh_is_poison(void)
{
    unsigned char back[3];
    begin();
    OK(cuMemcpyDtoH_v2, back, device_memory(3), Z(3));
    TRUE(back[0] == 0xA5 && back[2] == 0xA5 && *(unsigned char *)pinned_memory(1) == 0xA5);
}

static void copy_beyond(void)
{
    char host[64] = {0};
    begin();
    call(cuMemcpyHtoD_v2, device_memory(63), host, Z(64));
}

static void copy_freed(void)
{
    char host[64];
    address device;
    begin();
    device = device_memory(64);
    OK(cuMemFree_v2, device);
    call(cuMemcpyDtoH_v2, host, device, Z(64));
}

static void free_in_use(void)
{
    void *stream;
    address device;
    struct gate gate;
    begin();
    stream = stream_new(1);
    device = device_memory(64);
    gate = gate_shut(stream);
    OK(cuMemsetD8Async, device, 0, Z(64), stream);
    OK(cuMemFree_v2, device);
    gate_open(gate);
    call(cuStreamSynchronize, stream);
}

static void kernel_beyond(void)
{
    struct copy_arguments arguments = {.bytes = 65};
    void *function;
    begin();
    function = copy_kernel();
    arguments.to = device_memory(64);
    arguments.from = device_memory(65);
    launch_copy(function, &arguments, NULL);
    call(cuCtxSynchronize, 0);
}

static void kernel_on_freed(void)
{
    struct copy_arguments arguments = {.bytes = 64};
    void *function;
    begin();
    function = copy_kernel();
    arguments.to = device_memory(64);
    arguments.from = device_memory(64);
    launch_copy(function, &arguments, NULL);
    OK(cuCtxSynchronize, 0);
    OK(cuMemFree_v2, arguments.from);
    launch_copy(function, &arguments, NULL);
    call(cuCtxSynchronize, 0);
}

static void kernel_on_plain_memory(void)
{
    struct copy_arguments arguments = {.bytes = 8};
    void *function;
    begin();
    function = copy_kernel();
    arguments.to = device_memory(64);
    arguments.from = (uintptr_t)malloc(8);
    launch_copy(function, &arguments, NULL);
    call(cuCtxSynchronize, 0);
}

static void large_is_cheap(void)
{
    struct rusage usage;
    unsigned char byte = 77, back = 0;
    address device;
    int i;
    begin();
    for (i = 0; i < 300; i++) { /* more than the address range holds at once */
        device = device_memory((size_t)8 << 30);
        OK(cuMemcpyHtoD_v2, device + ((address)7 << 30), &byte, Z(1));
        OK(cuMemcpyDtoH_v2, &back, device + ((address)7 << 30), Z(1));
        TRUE(back == 77);
        OK(cuMemFree_v2, device);
    }
    getrusage(RUSAGE_SELF, &usage);
    TRUE(usage.ru_maxrss < 200 * 1024);
}

static void memory_ends(void)
{
    address device = 0;
    size_t left = 0, total = 0;
    begin();
    GIVES(2, cuMemAlloc_v2, &device, Z(1 << 20) + 1);
    OK(cuMemAlloc_v2, &device, Z(1 << 19));
    OK(cuMemGetInfo_v2, &left, &total);
    TRUE(total == 1 << 20 && left == 1 << 19);
    GIVES(2, cuMemAlloc_v2, &device, Z((1 << 19) + 1));
    GIVES(1, cuMemAlloc_v2, &device, Z(0));
}

const struct test memory_tests[] = {
    {"copies_line", copies_line, NULL, 0, NULL, 1},
    {"copies_of_wrong_kinds", copies_of_wrong_kinds, NULL, 0, NULL, 1},
    {"copies_of_rectangles", copies_of_rectangles, NULL, 0, NULL, 1},
    {"fills", fills, NULL, 0, NULL, 1},
    {"attributes_of_pointers", attributes_of_pointers, NULL, 0, NULL, 1},
    {"registered_memory", registered_memory, NULL, 0, NULL, 1},
    {"touch_device", touch_device, NULL, SIGSEGV, NULL, 1},
    {"readable", readable, "SIMCUDA_READABLE=1", 0, NULL, 0},
    {"touch_freed", touch_freed, "SIMCUDA_READABLE=1", SIGSEGV, NULL, 0},
    {"touch_freed_pinned", touch_freed_pinned, NULL, SIGSEGV, NULL, 0},
    {"fresh_is_poison", fresh_is_poison, NULL, 0, NULL, 0},
    {"copy_beyond", copy_beyond, NULL, SIGABRT, "out of bounds", 0},
    {"copy_freed", copy_freed, NULL, SIGABRT, "freed memory, offset 0", 0},
    {"free_in_use", free_in_use, NULL, SIGABRT, "freed memory, offset 0", 0},
    {"kernel_beyond", kernel_beyond, NULL, SIGABRT, "kernel copy, write: 1 bytes at", 0},
    {"kernel_on_freed", kernel_on_freed, NULL, SIGABRT, "freed memory, offset 0", 0},
    {"kernel_on_plain_memory", kernel_on_plain_memory, NULL, SIGABRT, "kernel copy, read", 0},
    {"large_is_cheap", large_is_cheap, NULL, 0, NULL, 0},
    {"memory_ends", memory_ends, "SIMCUDA_MEMORY=1048576", 0, NULL, 0},
    {.name = NULL},
};
