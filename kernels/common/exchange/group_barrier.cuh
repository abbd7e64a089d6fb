// A barrier among blocks that run at the same time: a counter in device memory, zero before the launch.
#pragma once
#include "shared_words.cuh"

namespace kerneltune {

class GroupBarrier {
 public:
  __device__ __forceinline__ GroupBarrier(unsigned* counter, unsigned blocks)
      : counter(counter), blocks(blocks) {}

  // Called by all threads of the block. Their earlier writes become visible to threads that return from wait.
  __device__ __forceinline__ void arrive() {
    __syncthreads();
    if (threadIdx.x == 0)
      asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(1u) : "memory");
    awaited += blocks;
  }

  // Called by all threads. Returns when all blocks have arrived, and shows what their threads wrote before.
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
