// Thread-block clusters: addresses and stores in other blocks' shared memory, transaction barriers.
// They need sm_90 or later.
#pragma once
#include "mma.cuh"

namespace kerneltune {

__device__ __forceinline__ unsigned cluster_block_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ unsigned address_in_block(unsigned shared, unsigned rank) {
  unsigned address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared), "r"(rank));
  return address;
}

// Called by every thread of every block of the cluster. Also orders their accesses to shared memory.
__device__ __forceinline__ void cluster_synchronize() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Stores 16 bytes in another block's shared memory; completes 16 bytes of the transaction count of the
// barrier there.
__device__ __forceinline__ void store_async(unsigned remote_address, uint4 value, unsigned remote_barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
          remote_address),
      "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "r"(remote_barrier)
      : "memory");
}

// A barrier in shared memory that counts arrivals and arriving bytes (mbarrier).
struct TransactionBarrier {
  unsigned address;

  __device__ __forceinline__ void initialize(unsigned arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
  }
  __device__ __forceinline__ void arrive() const {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
  }
  // Arrives at the barrier in the same place of a block of the cluster, to say that this warp has read what a
  // copy brought. A release with the scope of the cluster would wait for every store of the SM.
  __device__ __forceinline__ void arrive_in(unsigned rank) const {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(address_in_block(address, rank))
                 : "memory");
  }
  // Arrives, and makes this phase also wait for `bytes` from other blocks.
  __device__ __forceinline__ void arrive_expecting(unsigned bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes)
                 : "memory");
  }
  __device__ __forceinline__ void wait(unsigned parity) const {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(address),
        "r"(parity)
        : "memory");
  }
  // For barriers that only this block and its bulk copies arrive at. The acquire has the scope of the block,
  // so L1 is not invalidated.
  __device__ __forceinline__ void wait_in_block(unsigned parity) const {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(address),
        "r"(parity)
        : "memory");
  }
};

}  // namespace kerneltune
