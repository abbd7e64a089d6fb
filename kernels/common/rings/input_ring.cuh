// W x of the coming steps, in a ring that each warp keeps for itself.
#pragma once
#include "../arguments.cuh"
#include "../shape/forward_shape.cuh"
#include "../numeric/scalar.cuh"
#include "step_ring.cuh"

namespace kerneltune {

// W x of one head. The padding puts the four rows that a half-warp reads in different banks.
template <class Shape>
struct InputSource {
  using Scalar = typename Shape::Scalar;
  static constexpr int row_chunks = 8 * Shape::gates / Shape::part;  // of 16 bytes: 8 units x gates
  static constexpr int row_bytes = row_chunks * 16 + (sizeof(Scalar) == 2 || Shape::gates % 2 == 0 ? 32 : 0);

  const ForwardArguments& arguments;
  int head;

  __device__ __forceinline__ const char* address(bool present, int row, int unit, int part) const {
    const size_t element =
        ((static_cast<size_t>(row) * arguments.heads + head) * Shape::head_dim + unit) * Shape::gates;
    return static_cast<const char*>(arguments.input) + (present ? element * sizeof(Scalar) : 0) + part * 16;
  }
  __device__ __forceinline__ long long stride(int) const {
    return static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim * Shape::gates *
           sizeof(Scalar);
  }
};

template <class Shape, class Tiling>
class InputRing : public StepRing<Shape, Tiling, InputSource<Shape>> {
  using Scalar = typename Shape::Scalar;
  using Ring = StepRing<Shape, Tiling, InputSource<Shape>>;

 public:
  __device__ __forceinline__ InputRing(const ForwardArguments& arguments, int head, int first_row,
                                       int first_unit, const Lane<Shape>& lane, void* shared_storage)
      : Ring({arguments, head}, arguments.batch, first_row, first_unit, lane, shared_storage),
        unit_offset(lane.row * Shape::gates * static_cast<int>(sizeof(Scalar))) {}

  // Reads W x of all gates of this lane's elements.
  __device__ __forceinline__ void read(float (&input)[Shape::warp_groups][Shape::gates], int slot) const {
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++)
      read_values<Scalar>(input[group], this->row_address(slot, group) + unit_offset);
  }

 private:
  int unit_offset;
};

}  // namespace kerneltune
