// Sums over the k splits, through shared memory.
// Every warp writes its part, and finishing warps add the parts of their groups.
// Layout: [k_splits][groups][32 lanes][results] floats. Each lane writes and reads whole vectors without bank
// conflicts.
#pragma once
#include "../shape/product_shape.cuh"
#include "../weights/recurrent_weights.cuh"

namespace kerneltune {

template <class Shape>
class PartialSums {
  static constexpr int group_floats = 32 * Shape::results;
  static constexpr int split_floats = Shape::groups * group_floats;
  static constexpr int unit_warp_groups = Shape::unit_groups * Shape::n_tiles * Shape::columns_per_lane;

 public:
  static constexpr int buffer_floats = Shape::k_splits * split_floats;
  static constexpr int shared_bytes = buffer_floats * 4;

  // storage: one buffer or more.
  __device__ __forceinline__ PartialSums(void* storage, const Lane<Shape>& lane)
      : own(static_cast<float*>(storage) + lane.k_split * split_floats +
            lane.unit_warp * unit_warp_groups * group_floats + lane.lane * Shape::results),
        of_group(static_cast<float*>(storage) + lane.warp * Shape::warp_groups * group_floats +
                 lane.lane * Shape::results) {}

  __device__ __forceinline__ void store(Accumulators<Shape>& sums, int buffer = 0) const {
#pragma unroll
    for (int unit_group = 0; unit_group < Shape::unit_groups; unit_group++)
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
        for (int parity = 0; parity < Shape::columns_per_lane; parity++) {
          const int group = (unit_group * Shape::n_tiles + n) * Shape::columns_per_lane + parity;
          float* const part = own + buffer * buffer_floats + group * group_floats;
          if constexpr (Shape::results == 4) {
            *reinterpret_cast<float4*>(part) =
                make_float4(sums.element(unit_group, n, parity, 0), sums.element(unit_group, n, parity, 1),
                            sums.element(unit_group, n, parity, 2), sums.element(unit_group, n, parity, 3));
          } else {
#pragma unroll
            for (int result = 0; result < Shape::results; result++)
              part[result] = sums.element(unit_group, n, parity, result);
          }
        }
  }

  // Adds the parts of the warp's group `index` to `sum`, always in the order of the splits, so that results
  // are reproducible.
  __device__ __forceinline__ void add(float (&sum)[Shape::results], int index, int buffer = 0) const {
    const float* const first = of_group + buffer * buffer_floats;
#pragma unroll
    for (int split = 0; split < Shape::k_splits; split++) {
      const float* const part = first + split * split_floats + index * group_floats;
      if constexpr (Shape::results == 4) {
        const float4 value = *reinterpret_cast<const float4*>(part);
        sum[0] += value.x;
        sum[1] += value.y;
        sum[2] += value.z;
        sum[3] += value.w;
      } else {
#pragma unroll
        for (int result = 0; result < Shape::results; result++) sum[result] += part[result];
      }
    }
  }

 private:
  float* own;             // this lane's first part of its warp's split
  const float* of_group;  // this lane's first part of the warp's first group, in split 0
};

}  // namespace kerneltune
