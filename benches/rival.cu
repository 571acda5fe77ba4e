// The competitor: what a careful application programmer writes by hand instead of a derived datatype.
//
// One kernel copies a three-level strided object between its place in memory and a contiguous buffer, one word a
// step; the host picks the word (1 to 16 bytes) and a thread block whose x runs along the contiguous bytes. It knows
// the layout in advance, so it needs no analysis, no table and no division. A second one copies blocks of one size at
// any places, which a table in device memory gives: one thread an element, or neighbouring threads along a block.
//
// rival.ptx is this file compiled with
//   clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 -nocudainc -nocudalib -O3 -S -o rival.ptx rival.cu
// and is used where no nvcc is at hand; `nvcc -ptx rival.cu` replaces it where there is one.

#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
struct clang_index {
  unsigned x, y, z;
};
#define INDEX(kind)                                                                                                    \
  (clang_index{(unsigned)__nvvm_read_ptx_sreg_##kind##_x(), (unsigned)__nvvm_read_ptx_sreg_##kind##_y(),               \
               (unsigned)__nvvm_read_ptx_sreg_##kind##_z()})
#define threadIdx INDEX(tid)
#define blockIdx INDEX(ctaid)
#define blockDim INDEX(ntid)
#define gridDim INDEX(nctaid)
#define SYNC_BLOCK() __syncthreads()
#define FENCE() __nvvm_membar_sys()
#define ADD_ONE(p) __nvvm_atom_add_gen_i((int *)(p), 1)
typedef unsigned word16 __attribute__((ext_vector_type(4)));
#else
#define SYNC_BLOCK() __syncthreads()
#define FENCE() __threadfence_system()
#define ADD_ONE(p) atomicAdd((p), 1u)
typedef uint4 word16;
#endif

// Mirrored by `struct rival_args` in gpu.h.
struct args {
  char *memory;          // first byte of the object
  char *packed;          // first packed byte
  long long s1, s2;      // byte strides of the second and third level
  unsigned words;        // words in a contiguous block
  unsigned n1, n2;       // blocks, and groups of blocks
  unsigned value;        // what the last thread block writes to *flag
  volatile unsigned *flag; // mapped host memory; null: the host waits for the stream instead
  unsigned *counter;     // device memory, zero between launches
  const unsigned *table; // of the irregular kernels: where block i lies, in words from `memory`
};

__device__ static inline void finish(const args &a) {
  if (!a.flag)
    return;
  SYNC_BLOCK();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    FENCE();
    unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    if ((unsigned)ADD_ONE(a.counter) == blocks - 1) {
      *a.counter = 0;
      FENCE();
      *a.flag = a.value;
    }
  }
}

template <typename W, bool PACK> __device__ static inline void copy(const args &a) {
  for (unsigned z = blockIdx.z; z < a.n2; z += gridDim.z)
    for (unsigned y = blockIdx.y * blockDim.y + threadIdx.y; y < a.n1; y += gridDim.y * blockDim.y) {
      W *memory = (W *)(a.memory + z * a.s2 + y * a.s1);
      W *packed = (W *)a.packed + ((unsigned long long)z * a.n1 + y) * a.words;
      for (unsigned x = blockIdx.x * blockDim.x + threadIdx.x; x < a.words; x += gridDim.x * blockDim.x) {
        if (PACK)
          packed[x] = memory[x];
        else
          memory[x] = packed[x];
      }
    }
  finish(a);
}

template <typename W, bool PACK> __device__ static inline void copy_list(const args &a) {
  for (unsigned y = blockIdx.y * blockDim.y + threadIdx.y; y < a.n1; y += gridDim.y * blockDim.y) {
    W *memory = (W *)a.memory + a.table[y];
    W *packed = (W *)a.packed + (unsigned long long)y * a.words;
    for (unsigned x = blockIdx.x * blockDim.x + threadIdx.x; x < a.words; x += gridDim.x * blockDim.x) {
      if (PACK)
        packed[x] = memory[x];
      else
        memory[x] = packed[x];
    }
  }
  finish(a);
}

#define KERNELS(bytes, W)                                                                                              \
  extern "C" __global__ void rival_pack_w##bytes(args a) { copy<W, true>(a); }                                         \
  extern "C" __global__ void rival_unpack_w##bytes(args a) { copy<W, false>(a); }                                       \
  extern "C" __global__ void rival_gather_w##bytes(args a) { copy_list<W, true>(a); }                                  \
  extern "C" __global__ void rival_scatter_w##bytes(args a) { copy_list<W, false>(a); }

KERNELS(1, unsigned char)
KERNELS(2, unsigned short)
KERNELS(4, unsigned)
KERNELS(8, unsigned long long)
KERNELS(16, word16)

extern "C" __global__ void rival_empty(args a) { finish(a); }
