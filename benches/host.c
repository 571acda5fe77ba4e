/*
 * MPI_Pack and MPI_Unpack of derived datatypes in host memory: vectors, faces of a cube, nested vectors, transposes.
 * An unmodified MPI program: run it plain and with the library preloaded, and compare the two tables.
 *
 *   mpicc -O2 benches/host.c -o target/host -ldl
 *   mpirun -n 1 target/host > plain.txt
 *   mpirun -n 1 env LD_PRELOAD=target/release/libtempi.so target/host > preloaded.txt
 *   mpirun -n 1 env LD_PRELOAD=target/release/libtempi.so target/host --beside PATH/libmpi.so.40 > both.txt
 *
 * With --beside each batch of calls is followed by one of the functions of that file, which no preloaded library has part in:
 * the same buffers, the same moment of a machine that has other work, too.
 * Every shape is checked byte by byte against its definition once, so a wrong packer cannot look fast.
 * Prints a table; with --json one JSON object a line. Times are microseconds a call: the median and the least of
 * up to 101 batches. A word as first argument runs only the shapes whose names contain it.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 101, PAGE = 4096, MOST = 3 };

/* Nested repetitions of `block` bytes in type-map order, innermost first. */
struct shape {
  char name[64];
  long block, offset;
  int rank;
  long count[MOST], stride[MOST];
  int edge, dimension, width; /* a face is a subarray of edge^3 doubles; edge 0: not a face */
};

typedef int pack_function(const void *, int, MPI_Datatype, void *, int, int *, MPI_Comm);
typedef int unpack_function(const void *, int, int *, void *, int, MPI_Datatype, MPI_Comm);

/* Whose functions are measured: those that the program is linked to, which may be a preloaded library's, and those of --beside. */
struct functions {
  pack_function *pack;
  unpack_function *unpack;
};
enum { LINKED, BESIDE, SIDES };

static int json, sides = 1;
static const char *filter = "";
static struct functions functions[SIDES] = {{MPI_Pack, MPI_Unpack}, {NULL, NULL}};

static void beside(const char *path) {
  void *library = dlopen(path, RTLD_NOLOAD | RTLD_NOW);
  if (library) {
    functions[BESIDE].pack = (pack_function *)dlsym(library, "MPI_Pack");
    functions[BESIDE].unpack = (unpack_function *)dlsym(library, "MPI_Unpack");
  }
  if (!functions[BESIDE].pack || !functions[BESIDE].unpack) {
    fprintf(stderr, "%s is not the MPI of this program\n", path);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  sides = SIDES;
}

static void *room(size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, PAGE, bytes + PAGE) != 0) {
    fprintf(stderr, "out of memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  memset(memory, 0, bytes + PAGE);
  return memory;
}

static MPI_Datatype datatype_of(const struct shape *shape) {
  MPI_Datatype base = shape->block % 8 == 0 ? MPI_DOUBLE : MPI_FLOAT, type, outer;
  long element = shape->block % 8 == 0 ? 8 : 4;
  if (shape->edge) {
    int sizes[3], parts[3], starts[3] = {0, 0, 0};
    for (int d = 0; d < 3; d++) sizes[d] = parts[d] = shape->edge;
    parts[shape->dimension] = shape->width;
    starts[shape->dimension] = shape->edge - shape->width;
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, base, &type);
  } else {
    MPI_Type_vector((int)shape->count[0], (int)(shape->block / element), (int)(shape->stride[0] / element), base, &type);
    for (int d = 1; d < shape->rank; d++) {
      MPI_Type_create_hvector((int)shape->count[d], 1, shape->stride[d], type, &outer);
      MPI_Type_free(&type);
      type = outer;
    }
  }
  MPI_Type_commit(&type);
  return type;
}

/* Whether packed bytes and unpacked memory are what the shape's definition says. */
static int right(const struct shape *shape, const char *memory, const char *packed, const char *landed) {
  long n[MOST] = {1, 1, 1};
  for (int d = 0; d < shape->rank; d++) n[d] = shape->count[d];
  for (long k = 0; k < n[2]; k++)
    for (long j = 0; j < n[1]; j++)
      for (long i = 0; i < n[0]; i++, packed += shape->block) {
        long at = shape->offset + i * shape->stride[0] + j * shape->stride[1] + k * shape->stride[2];
        if (memcmp(memory + at, packed, (size_t)shape->block) || memcmp(landed + at, packed, (size_t)shape->block)) return 0;
      }
  return 1;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct task {
  int unpack, bytes;
  char *memory, *packed;
  MPI_Datatype type;
};

static double batch(const struct task *task, const struct functions *by, long calls) {
  double start = MPI_Wtime();
  for (long call = 0; call < calls; call++) {
    int position = 0;
    if (task->unpack)
      by->unpack(task->packed, task->bytes, &position, task->memory, 1, task->type, MPI_COMM_WORLD);
    else
      by->pack(task->memory, 1, task->type, task->packed, task->bytes, &position, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) * 1e6;
}

/* Microseconds a call. */
struct result {
  double median, least;
};

static void measure(const struct task *task, struct result *results) {
  double times[SIDES][ROUNDS], begin = MPI_Wtime();
  long calls[SIDES] = {1, 1};
  int rounds = 0;
  for (int side = 0; side < sides; side++)
    while (batch(task, &functions[side], calls[side]) < 40) calls[side] *= 2;
  for (; rounds < ROUNDS && (rounds < 7 || MPI_Wtime() - begin < 0.2); rounds++)
    for (int side = 0; side < sides; side++)
      times[side][rounds] = batch(task, &functions[side], calls[side]) / (double)calls[side];
  for (int side = 0; side < sides; side++) {
    qsort(times[side], (size_t)rounds, sizeof(double), ascending);
    results[side] = (struct result){times[side][rounds / 2], times[side][0]};
  }
}

static void print(const struct shape *shape, long bytes, const struct result *packs, const struct result *unpacks) {
  static const char *const prefix[SIDES] = {"", "beside_"};
  printf(json ? "{\"shape\":\"%s\",\"bytes\":%ld" : "%-28s %9ld", shape->name, bytes);
  for (int side = 0; side < sides; side++) {
    struct result pack = packs[side], unpack = unpacks[side];
    const char *of = prefix[side];
    if (json)
      printf(",\"%smpi_pack_us\":%.4f,\"%smpi_pack_min_us\":%.4f,\"%smpi_unpack_us\":%.4f,\"%smpi_unpack_min_us\":%.4f", of,
             pack.median, of, pack.least, of, unpack.median, of, unpack.least);
    else
      printf(" | %10.3f %10.3f | %10.3f %10.3f", pack.median, pack.least, unpack.median, unpack.least);
  }
  printf(json ? "}\n" : "\n");
  fflush(stdout);
}

static void run(struct shape shape) {
  if (!strstr(shape.name, filter)) return;
  long bytes = shape.block, span = shape.offset + shape.block;
  for (int d = 0; d < shape.rank; d++) {
    bytes *= shape.count[d];
    span += (shape.count[d] - 1) * shape.stride[d];
  }
  MPI_Datatype type = datatype_of(&shape);
  char *memory = room((size_t)span), *landed = room((size_t)span), *packed = room((size_t)bytes);
  for (long i = 0; i < span; i++) memory[i] = (char)(i ^ i >> 8);
  struct task pack = {0, (int)bytes, memory, packed, type}, unpack = {1, (int)bytes, landed, packed, type};
  batch(&pack, &functions[LINKED], 1);
  batch(&unpack, &functions[LINKED], 1);
  if (!right(&shape, memory, packed, landed)) {
    fprintf(stderr, "%s, %ld bytes: wrong bytes\n", shape.name, bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  struct result packs[SIDES], unpacks[SIDES];
  measure(&pack, packs);
  measure(&unpack, unpacks);
  print(&shape, bytes, packs, unpacks);
  MPI_Type_free(&type);
  free(memory);
  free(landed);
  free(packed);
}

static void vectors(void) {
  static const long totals[] = {64, 256, 1L << 10, 1L << 12, 1L << 14, 1L << 16, 1L << 18, 1L << 20, 1L << 24};
  static const long blocks[] = {4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096};
  for (size_t t = 0; t < sizeof totals / sizeof *totals; t++)
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
      if (totals[t] >= 2 * blocks[b]) {
        struct shape shape = {.block = blocks[b], .rank = 1, .count = {totals[t] / blocks[b]}, .stride = {2 * blocks[b]}};
        snprintf(shape.name, sizeof shape.name, "vector %ld", blocks[b]);
        run(shape);
      }
}

static void faces(void) {
  for (int edge = 64; edge <= 256; edge *= 4)
    for (int width = 1; width <= 2; width++)
      for (int dimension = 0; dimension < 3; dimension++) {
        long n = edge, plane = n * n;
        long step = dimension == 0 ? plane : dimension == 1 ? n : 1;
        struct shape shape = {.block = 8, .rank = 3, .count = {n, n, n}, .stride = {8, 8 * n, 8 * plane}, .edge = edge,
                              .offset = (n - width) * step * 8, .dimension = dimension, .width = width};
        shape.count[2 - dimension] = width;
        snprintf(shape.name, sizeof shape.name, "face %d width %d dim %d", edge, width, dimension);
        run(shape);
      }
}

static void nested(void) {
  static const long pairs[][2] = {{2, 16}, {2, 4096}, {4, 8}, {4, 2048}, {16, 512}, {64, 128}, {1024, 64}};
  static const long triples[][3] = {{2, 3, 8}, {4, 8, 64}, {16, 16, 16}};
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    long inner = pairs[p][0], outer = pairs[p][1];
    struct shape shape = {.block = 8, .rank = 2, .count = {inner, outer}, .stride = {16, 8 * (2 * inner + 3)}};
    snprintf(shape.name, sizeof shape.name, "nested %ldx%ld", inner, outer);
    run(shape);
  }
  for (size_t t = 0; t < sizeof triples / sizeof *triples; t++) {
    long a = triples[t][0], b = triples[t][1], c = triples[t][2], row = 16 * a + 8;
    struct shape shape = {.block = 8, .rank = 3, .count = {a, b, c}, .stride = {16, row, row * b + 24}};
    snprintf(shape.name, sizeof shape.name, "nested %ldx%ldx%ld", a, b, c);
    run(shape);
  }
}

static void transposes(void) {
  static const long squares[][2] = {{4, 64}, {8, 8}, {8, 32}, {8, 64}, {8, 100}, {8, 256}, {8, 1024}, {16, 256}, {64, 128}};
  static const long fields[][2] = {{3, 16}, {3, 1000}, {3, 100000}, {8, 1000}};
  for (size_t s = 0; s < sizeof squares / sizeof *squares; s++) {
    long block = squares[s][0], n = squares[s][1];
    struct shape shape = {.block = block, .rank = 2, .count = {n, n}, .stride = {n * block, block}};
    snprintf(shape.name, sizeof shape.name, "transpose %ld %ldx%ld", block, n, n);
    run(shape);
  }
  for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
    long m = fields[f][0], n = fields[f][1];
    struct shape shape = {.block = 8, .rank = 2, .count = {n, m}, .stride = {8 * m, 8}};
    snprintf(shape.name, sizeof shape.name, "fields %ldx%ld", m, n);
    run(shape);
  }
}

int main(int argc, char **argv) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Init(&argc, &argv);
  for (int a = 1; a < argc; a++)
    if (strcmp(argv[a], "--json") == 0) json = 1;
    else if (strcmp(argv[a], "--beside") == 0 && a + 1 < argc) beside(argv[++a]);
    else filter = argv[a];
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = 0;
  if (!json) printf("# %s; microseconds a call%s\n%-28s %9s | %10s %10s | %10s %10s\n", version,
                    sides > 1 ? "; behind them the same of the functions beside" : "", "shape", "bytes", "pack", "least",
                    "unpack", "least");
  vectors();
  faces();
  nested();
  transposes();
  MPI_Finalize();
  return 0;
}
