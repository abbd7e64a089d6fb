// W x of the coming steps, copied ahead into a ring in shared memory. Each finishing warp has a ring of its own and reads only what
// it copied, so the copies need no barrier between warps.
#pragma once
#include "arguments.cuh"
#include "forward_shape.cuh"
#include "mma.cuh"

namespace kerneltune {

// Ring: [stages][warp_groups][4 batch rows][8 units x gates, padded]. The padding of 32 bytes puts the four rows that a half-warp reads
// in different banks.
template <class Shape, class Tiling>
class InputRing {
  using Scalar = typename Shape::Scalar;
  static constexpr int stages = Tiling::input_stages;
  static constexpr int row_chunks = Shape::gates;  // of 16 bytes: 8 units x gates x 2 bytes
  static constexpr int row_bytes = row_chunks * 16 + 32;
  static constexpr int group_bytes = 4 * row_bytes;
  static constexpr int warp_stage_bytes = Shape::warp_groups * group_bytes;
  static constexpr int chunks = Shape::warp_groups * 4 * row_chunks;
  static constexpr int chunks_per_lane = (chunks + 31) / 32;

 public:
  static constexpr int shared_bytes = Shape::finishing_warps * stages * warp_stage_bytes;

  // first_row, first_unit: batch row and unit (within the head) where the block begins.
  __device__ __forceinline__ InputRing(const ForwardArguments& arguments, int head, int first_row, int first_unit,
                                       const Lane<Shape>& lane, void* shared_storage)
      : step_bytes(static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim * Shape::gates * sizeof(Scalar)),
        ring(shared_address(shared_storage) + lane.warp * stages * warp_stage_bytes) {
#pragma unroll
    for (int i = 0; i < chunks_per_lane; i++) {
      const int chunk = i * 32 + lane.lane;
      const int group = chunk / (4 * row_chunks), row = chunk / row_chunks % 4, part = chunk % row_chunks;
      const int batch_row = first_row + lane.group_batch_row(group, row);
      const int unit = first_unit + lane.unit(group) - lane.row;
      present[i] = chunk < chunks && lane.finishes() && batch_row < arguments.batch;
      const size_t element = ((static_cast<size_t>(batch_row) * arguments.heads + head) * Shape::head_dim + unit) * Shape::gates;
      source[i] = static_cast<const char*>(arguments.input) + (present[i] ? element * sizeof(Scalar) : 0) + part * 16;
      target[i] = group * group_bytes + row * row_bytes + part * 16;
    }
    read_offset = lane.quad * row_bytes + lane.row * Shape::gates * static_cast<int>(sizeof(Scalar));
  }

  // Copy the next step, if there is one, into `slot`; counts as one group of copies either way.
  __device__ __forceinline__ void copy_next(int slot, bool exists) {
#pragma unroll
    for (int i = 0; i < chunks_per_lane; i++) {
      if (exists && present[i]) copy_16_bytes(ring + slot * warp_stage_bytes + target[i], source[i]);
      source[i] += step_bytes;
    }
    if constexpr (Tiling::async_copy) asm volatile("cp.async.commit_group;" ::: "memory");
  }

  // Returns when all but the newest `newer` copied steps of this lane have arrived. __syncwarp (or more) must follow before reading.
  template <int NEWER>
  __device__ __forceinline__ void wait() {
    if constexpr (Tiling::async_copy) asm volatile("cp.async.wait_group %0;" ::"n"(NEWER) : "memory");
  }

  // W x of all gates of this lane's element of group `group`.
  __device__ __forceinline__ void read(float (&gate)[Shape::gates], int slot, int group) const {
    const unsigned address = ring + slot * warp_stage_bytes + group * group_bytes + read_offset;
    if constexpr (Shape::gates == 4) {
      unsigned first, second;
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(first), "=r"(second) : "r"(address));
      gate[0] = Scalar::low(first);
      gate[1] = Scalar::high(first);
      gate[2] = Scalar::low(second);
      gate[3] = Scalar::high(second);
    } else {
#pragma unroll
      for (int i = 0; i < Shape::gates; i++) {
        unsigned short half;
        asm volatile("ld.shared.u16 %0, [%1];" : "=h"(half) : "r"(address + i * 2));
        gate[i] = Scalar::low(half);
      }
    }
  }

 private:
  static __device__ __forceinline__ void copy_16_bytes(unsigned address, const char* from) {
    if constexpr (Tiling::async_copy) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
    } else {
      const uint4 value = __ldcs(reinterpret_cast<const uint4*>(from));
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
                   : "memory");
    }
  }

  size_t step_bytes;
  unsigned ring;
  const char* source[chunks_per_lane];
  bool present[chunks_per_lane];
  int target[chunks_per_lane];
  int read_offset;
};

}  // namespace kerneltune
