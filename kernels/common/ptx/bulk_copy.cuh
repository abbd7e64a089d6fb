// Bulk asynchronous copies from device memory to shared memory (sm_90 and later).
#pragma once
#include "cluster.cuh"

namespace kerneltune {

// Copies `bytes` and completes as many bytes of the barrier's transaction count. Size and addresses are
// multiples of 16.
__device__ __forceinline__ void copy_bulk(unsigned target, const void* source, unsigned bytes,
                                          TransactionBarrier barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(target),
      "l"(source), "r"(bytes), "r"(barrier.address)
      : "memory");
}

// The same for each block of the cluster whose bit in `blocks` is set. Target and barrier are in the same
// places of all of them.
__device__ __forceinline__ void copy_bulk_to_blocks(unsigned target, const void* source, unsigned bytes,
                                                    TransactionBarrier barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1], %2, [%3], %4;" ::"r"(target),
      "l"(source), "r"(bytes), "r"(barrier.address), "h"(blocks)
      : "memory");
}

// Makes device memory that this thread sees visible to later bulk copies.
__device__ __forceinline__ void fence_device_for_async() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

}  // namespace kerneltune
