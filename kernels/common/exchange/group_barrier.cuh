// A barrier among blocks anywhere on the GPU that run at the same time: a counter in device memory, zero before the launch.
#pragma once
#include "shared_words.cuh"

namespace kerneltune {

class GroupBarrier {
 public:
  __device__ __forceinline__ GroupBarrier(unsigned* counter, unsigned blocks)
      : counter(counter), blocks(blocks) {}

  // By all threads of the block, after what the others shall see.
  __device__ __forceinline__ void arrive() {
    __syncthreads();
    if (threadIdx.x == 0)
      asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(1u) : "memory");
    awaited += blocks;
  }

  // By all threads; behind it stands what the threads of all blocks did before they arrived.
  __device__ __forceinline__ void wait() const {
    if (threadIdx.x == 0) await_flag(counter, awaited);
    __syncthreads();
  }

 private:
  unsigned* counter;
  unsigned blocks;
  unsigned awaited = 0;
};

}  // namespace kerneltune
