// Bulk asynchronous copies from device memory to shared memory, which report to a transaction barrier (sm_90 on), and flags in device memory that say
// what is there to be copied.
#pragma once
#include "cluster.cuh"

namespace kerneltune {

// Bytes and both addresses are multiples of 16; completes so many bytes of the barrier's transaction count.
__device__ __forceinline__ void copy_bulk(unsigned target, const void* source, unsigned bytes, TransactionBarrier barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(target), "l"(source), "r"(bytes),
               "r"(barrier.address)
               : "memory");
}

// By one thread, behind a barrier of its block: the block's stores to device memory are seen by whoever sees the flag.
__device__ __forceinline__ void raise_flag(unsigned* flag, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

// Returns when the flag has been raised to the value or beyond it.
__device__ __forceinline__ void await_flag(const unsigned* flag, unsigned value) {
  unsigned found;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(flag) : "memory");
  } while (static_cast<int>(found - value) < 0);  // it may wrap around
}

// What this thread knows to be in device memory is seen by bulk copies that follow.
__device__ __forceinline__ void fence_device_for_async() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

}  // namespace kerneltune
