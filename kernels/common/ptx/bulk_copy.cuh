// Bulk asynchronous copies from device memory to shared memory, which report to a transaction barrier (sm_90 on).
#pragma once
#include "cluster.cuh"

namespace kerneltune {

// Bytes and both addresses are multiples of 16; completes so many bytes of the barrier's transaction count.
__device__ __forceinline__ void copy_bulk(unsigned target, const void* source, unsigned bytes,
                                          TransactionBarrier barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(target),
      "l"(source), "r"(bytes), "r"(barrier.address)
      : "memory");
}

// What this thread knows to be in device memory is seen by bulk copies that follow.
__device__ __forceinline__ void fence_device_for_async() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

}  // namespace kerneltune
