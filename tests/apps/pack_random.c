/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pack_random.c - packs and unpacks the datatypes of a file, one a line:
 *
 *     COUNT LO HI UNPACK RECIPE
 *
 * LO and HI bound the bytes that COUNT elements touch, from the buffer
 * argument; UNPACK is 0 for a type that names a byte twice.  The answer to a
 * line is a line:
 *
 *     LB EXTENT SIZE PACKED_HASH TARGET_HASH
 *
 * with the hash of the packed bytes, and of the whole target buffer after
 * MPI_Unpack, margins included; or "refused" if the MPI does not make such a
 * type, or "packed" or "unpacked" and how many bytes if the MPI moves others.
 * tests/recipe/case.rs knows the right answers.
 *
 * Usage: pack_random FILE
 */
#include "mem.h"
#include "recipe.h"

#define MARGIN 64

static uint64_t fnv1a(const unsigned char *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    size_t i;
    for (i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

/* the hash of n bytes in whatever memory */
static uint64_t hash(const void *buf, size_t n)
{
    unsigned char *copy = host_buf(n);
    uint64_t h;
    mem_get(copy, buf, n);
    h = fnv1a(copy, n);
    free(copy);
    return h;
}

/* a buffer for the bytes from lo on, filled with a pattern by offset */
static void *patterned(long long lo, size_t n, unsigned salt)
{
    unsigned char *copy = host_buf(n);
    void *buf = mem_alloc(n);
    size_t i;
    for (i = 0; i < n; i++)
        copy[i] = pat((size_t)(lo + (long long)i), salt);
    mem_put(buf, copy, n);
    free(copy);
    return buf;
}

static void answer(char *line)
{
    long long lo, hi, size;
    int count, unpack, used = 0, bytes, position = 0;
    MPI_Datatype t;
    MPI_Aint lb, extent;
    MPI_Count type_size;
    size_t span;
    void *source, *packed, *target;
    uint64_t packed_hash, target_hash = 0;

    CHECK(sscanf(line, "%d %lld %lld %d %n", &count, &lo, &hi, &unpack, &used) == 4, "bad line: %s", line);
    t = recipe_type(line + used);
    if (t == MPI_DATATYPE_NULL) {
        printf("refused\n");
        return;
    }
    OK(MPI_Type_get_extent(t, &lb, &extent));
    OK(MPI_Type_size_x(t, &type_size));
    size = count * (long long)type_size;
    bytes = (int)size;
    CHECK(size == bytes, "too many bytes: %lld", size);

    lo -= MARGIN;
    span = (size_t)(hi + MARGIN - lo);
    source = patterned(lo, span, 0);
    packed = mem_alloc_pack((size_t)bytes + MARGIN);
    OK(MPI_Pack(at(source, (MPI_Aint)-lo), count, t, packed, bytes + MARGIN, &position, MPI_COMM_SELF));
    if (position != bytes) {
        printf("packed %d of %d\n", position, bytes);
        return;
    }
    packed_hash = hash(packed, (size_t)bytes);
    if (unpack) {
        target = patterned(lo, span, 1);
        position = 0;
        OK(MPI_Unpack(packed, bytes, &position, at(target, (MPI_Aint)-lo), count, t, MPI_COMM_SELF));
        if (position != bytes) {
            printf("unpacked %d of %d\n", position, bytes);
            return;
        }
        target_hash = hash(target, span);
        mem_free(target);
    }
    mem_free(packed);
    mem_free(source);
    printf("%lld %lld %lld %016llx %016llx\n", (long long)lb, (long long)extent, (long long)type_size,
           (unsigned long long)packed_hash, (unsigned long long)target_hash);
    recipe_free(t);
}

int main(int argc, char **argv)
{
    char line[4096];
    FILE *f;
    MPI_Init(&argc, &argv);
    case_open("pack_random", 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(argc == 2, "usage: pack_random FILE");
    f = fopen(argv[1], "r");
    CHECK(f != NULL, "cannot open %s", argv[1]);
    while (fgets(line, sizeof line, f) != NULL) {
        answer(line);
        fflush(stdout); /* what was answered stays answered if the MPI crashes on the next line */
    }
    fclose(f);
    MPI_Finalize();
    return 0;
}
