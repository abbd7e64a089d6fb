// Micro-benchmarks, each a kernel that kerneltune tunes and verifies like any other. Loads and products are volatile.
#include <cuda_fp16.h>

// Each thread adds what it reads, PASSES times: from memory, or from L2 where the array fits it.
extern "C" __global__ void __launch_bounds__(1024) read(const float* values, float* sums, int each) {
  const int threads = gridDim.x * blockDim.x, own = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int pass = 0; pass < PASSES; pass++) {
#pragma unroll UNROLL
    for (int i = 0; i < each; i++) {
      float x, y, z, w;
      asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
                   : "l"(values + 4 * ((size_t)i * threads + own)));
      sum += (x + y) + (z + w);
    }
  }
  sums[own] = sum;
}

extern "C" __global__ void __launch_bounds__(1024) copy(const float4* from, float4* to, int each) {
  const int threads = gridDim.x * blockDim.x, own = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll UNROLL
  for (int i = 0; i < each; i++) to[(size_t)i * threads + own] = from[(size_t)i * threads + own];
}

// Reads of shared memory without bank conflicts.
extern "C" __global__ void __launch_bounds__(1024) shared(const float* values, float* sums) {
  __shared__ __align__(16) float kept[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) kept[i] = values[i];
  __syncthreads();
  const unsigned place = (unsigned)__cvta_generic_to_shared(kept + 4 * threadIdx.x);
  float sum = 0.0f;
#pragma unroll UNROLL
  for (int i = 0; i < PASSES; i++) {
    float x, y, z, w;
    asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "r"(place));
    sum += (x + y) + (z + w);
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Products m16n8k16 of ones, CHAINS of them side by side in a warp, each waiting for the one before it.
extern "C" __global__ void __launch_bounds__(32 * WARPS) product(const half* ones, float* sums) {
  unsigned one;
  const half2 pair = __halves2half2(ones[0], ones[1]);
  memcpy(&one, &pair, 4);
  float c[CHAINS][4] = {};
  for (int i = 0; i < PASSES; i++) {
#pragma unroll
    for (int k = 0; k < CHAINS; k++)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
                   "{%4, %4}, {%0, %1, %2, %3};"
                   : "+f"(c[k][0]), "+f"(c[k][1]), "+f"(c[k][2]), "+f"(c[k][3])
                   : "r"(one));
  }
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < CHAINS; k++) sum += (c[k][0] + c[k][1] + c[k][2] + c[k][3]) / (4 * CHAINS);
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
