// A ring in shared memory for what the coming steps read from device memory.
// Each finishing warp has its own ring and reads only what it copied, so the copies need no barrier between
// warps.
#pragma once
#include "../ptx/mma.cuh"
#include "../shape/product_shape.cuh"

namespace kerneltune {

// Ring: [stages][warp_groups][4 batch rows][8 units with all their values, padded to Source::row_bytes].
//
// Source defines what a step reads of 8 units of a batch row: `row_chunks` parts of 16 bytes.
// address(present, row, unit, part) is the address of a part in the step that is read first (any valid
// address if not present). stride(part) is the distance in bytes to the next step.
template <class Shape, class Tiling, class Source>
class StepRing {
  static constexpr int stages = Tiling::input_stages;
  static constexpr int row_chunks = Source::row_chunks;
  static constexpr int row_bytes = Source::row_bytes;
  static constexpr int group_bytes = 4 * row_bytes;
  static constexpr int warp_stage_bytes = Shape::warp_groups * group_bytes;
  static constexpr int chunks = Shape::warp_groups * 4 * row_chunks;
  static constexpr int chunks_per_lane = (chunks + 31) / 32;

 public:
  static constexpr int shared_bytes = Shape::finishing_warps * stages * warp_stage_bytes;

  // rows: batch rows that exist. first_row, first_unit: where the block begins in the batch and in the head.
  __device__ __forceinline__ StepRing(const Source& from, int rows, int first_row, int first_unit,
                                      const Lane<Shape>& lane, void* shared_storage)
      : ring(shared_address(shared_storage) + lane.warp * stages * warp_stage_bytes) {
#pragma unroll
    for (int i = 0; i < chunks_per_lane; i++) {
      const int chunk = i * 32 + lane.lane;
      const int group = chunk / (4 * row_chunks), row = chunk / row_chunks % 4, part = chunk % row_chunks;
      const int batch_row = first_row + lane.group_batch_row(group, row);
      const int unit = first_unit + lane.unit(group) - lane.row;
      present[i] = chunk < chunks && lane.finishes() && batch_row < rows;
      source[i] = from.address(present[i], batch_row, unit, part);
      stride[i] = from.stride(part);
      target[i] = group * group_bytes + row * row_bytes + part * 16;
    }
    read_offset = lane.quad * row_bytes;
  }

  // Copies the first stages - 1 of `steps` steps, into the slots from 0 on.
  __device__ __forceinline__ void begin(int steps) {
#pragma unroll
    for (int step = 0; step < stages - 1; step++) copy_next(step, step < steps);
  }

  // Copies the next step, if it exists, into `slot`. Counts as one group of copies in either case.
  __device__ __forceinline__ void copy_next(int slot, bool exists) {
#pragma unroll
    for (int i = 0; i < chunks_per_lane; i++) {
      if (exists && present[i]) copy_16_bytes(ring + slot * warp_stage_bytes + target[i], source[i]);
      source[i] += stride[i];
    }
    if constexpr (Tiling::async_copy) asm volatile("cp.async.commit_group;" ::: "memory");
  }

  // Brings a later step to L2, AHEAD steps after the one that is copied next. Loads of an SM return in the
  // order in which they were issued. A kernel that polls for other blocks' data must not have a copy from
  // device memory return before its polls.
  template <int AHEAD>
  __device__ __forceinline__ void prefetch(bool exists) const {
#pragma unroll
    for (int i = 0; i < chunks_per_lane; i++)
      if (exists && present[i]) prefetch_line(source[i] + stride[i] * AHEAD);
  }

  // Waits until all but the newest NEWER copied steps of this lane have arrived. __syncwarp or more must
  // follow before reading.
  template <int NEWER>
  __device__ __forceinline__ void wait() {
    if constexpr (Tiling::async_copy) asm volatile("cp.async.wait_group %0;" ::"n"(NEWER) : "memory");
  }

  // Address of the 8 units in the batch row of this lane's element of group `group`.
  __device__ __forceinline__ unsigned row_address(int slot, int group) const {
    return ring + slot * warp_stage_bytes + group * group_bytes + read_offset;
  }

 private:
  static __device__ __forceinline__ void copy_16_bytes(unsigned address, const char* from) {
    if constexpr (Tiling::async_copy) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
    } else {
      const uint4 value = __ldcs(reinterpret_cast<const uint4*>(from));
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value.x), "r"(value.y),
                   "r"(value.z), "r"(value.w)
                   : "memory");
    }
  }

  unsigned ring;
  const char* source[chunks_per_lane];
  long long stride[chunks_per_lane];
  bool present[chunks_per_lane];
  int target[chunks_per_lane];
  int read_offset;
};

}  // namespace kerneltune
