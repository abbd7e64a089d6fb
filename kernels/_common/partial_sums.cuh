// Sums over the k splits: every warp leaves its part in shared memory, finishing warps add the parts of their groups.
// Layout [k_splits][groups][32 lanes][results] floats; each lane writes and reads whole vectors, free of bank conflicts.
#pragma once
#include "product_shape.cuh"
#include "recurrent_weights.cuh"

namespace kerneltune {

template <class Shape>
struct PartialSums {
  static constexpr int shared_bytes = Shape::k_splits * Shape::groups * 32 * Shape::results * 4;

  float* parts;

  __device__ __forceinline__ void store(Accumulators<Shape>& sums, const Lane<Shape>& lane) const {
#pragma unroll
    for (int unit_group = 0; unit_group < Shape::unit_groups; unit_group++)
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
        for (int parity = 0; parity < Shape::columns_per_lane; parity++) {
          const int group =
              ((lane.unit_warp * Shape::unit_groups + unit_group) * Shape::n_tiles + n) * Shape::columns_per_lane + parity;
          float* part = parts + ((lane.k_split * Shape::groups + group) * 32 + lane.lane) * Shape::results;
          if constexpr (Shape::results == 4) {
            *reinterpret_cast<float4*>(part) =
                make_float4(sums.element(unit_group, n, parity, 0), sums.element(unit_group, n, parity, 1),
                            sums.element(unit_group, n, parity, 2), sums.element(unit_group, n, parity, 3));
          } else {
#pragma unroll
            for (int result = 0; result < Shape::results; result++) part[result] = sums.element(unit_group, n, parity, result);
          }
        }
  }

  // Adds the parts of the warp's group `index` to sum, in the order of the splits: the same bits every time.
  __device__ __forceinline__ void add(float (&sum)[Shape::results], int index, const Lane<Shape>& lane) const {
    const int group = lane.warp * Shape::warp_groups + index;
#pragma unroll
    for (int split = 0; split < Shape::k_splits; split++) {
      const float* part = parts + ((split * Shape::groups + group) * 32 + lane.lane) * Shape::results;
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
};

}  // namespace kerneltune
