// What the backward pass reads of the coming steps, in a ring: saved values and states, the gradient by h.
// Later steps come first.
#pragma once
#include "../arguments.cuh"
#include "../elements/element_gradients.cuh"
#include "../shape/backward_shape.cuh"
#include "../numeric/scalar.cuh"
#include "step_ring.cuh"

namespace kerneltune {

// Parts of 16 bytes, in this order: saved values, saved states, the gradient by h, h as the cell reads it, h
// after the step. The padding puts four batch rows in different banks. `unit_parts` parts hold one value of
// each of the eight units.
template <class Cell, class Shape>
struct GradientSource {
  using Scalar = typename Shape::Scalar;
  static constexpr bool reads_hidden = Cell::hidden_read >= 0;
  static constexpr int unit_parts = 8 / Shape::part;
  static constexpr int first_state_part = unit_parts * Cell::saved_values;
  static constexpr int output_part = first_state_part + 2 * Cell::saved_states;
  static constexpr int hidden_part = output_part + unit_parts;
  static constexpr bool reads_output = Shape::forward_clip > 0.0f;
  static constexpr int clipped_part = hidden_part + reads_hidden * unit_parts;
  static constexpr int row_chunks = clipped_part + reads_output * unit_parts;
  static constexpr int row_bytes = (row_chunks * 16 - 32 + 63) / 64 * 64 + 32;

  const BackwardArguments& arguments;
  int head;

  __device__ __forceinline__ size_t step_elements() const {
    return static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim;
  }
  // Size in bytes of an element in the array of a part.
  static __device__ __forceinline__ int element_bytes(int part) {
    if (part < first_state_part) return Cell::saved_values * static_cast<int>(sizeof(Scalar));
    if (part < output_part) return Cell::saved_states * 4;
    return sizeof(Scalar);
  }
  __device__ __forceinline__ const char* address(bool present, int row, int unit, int part) const {
    const size_t here =
        present ? (static_cast<size_t>(row) * arguments.heads + head) * Shape::head_dim + unit : 0;
    const size_t last = (arguments.steps - 1) * step_elements() + here;  // the step that is read first
    const void* array = arguments.output_gradient;
    int inside = 0;
    if (part < first_state_part) {
      array = arguments.saved_values;
      inside = part;
    } else if (part < output_part) {
      array = arguments.saved_states;
      inside = part - first_state_part;
    } else if (reads_output && part >= clipped_part) {
      array = static_cast<const Scalar*>(arguments.states) + step_elements();
      inside = part - clipped_part;
    } else if (part / unit_parts == hidden_part / unit_parts) {
      array = static_cast<const Scalar*>(arguments.states) +
              (reads_hidden ? Cell::hidden_read : 0) * step_elements();
      inside = unit_parts > 1 ? part - hidden_part : 0;
    } else if (unit_parts > 1) {
      inside = part - output_part;
    }
    return static_cast<const char*>(array) + last * element_bytes(part) + inside * 16;
  }
  __device__ __forceinline__ long long stride(int part) const {
    return -static_cast<long long>(step_elements()) * element_bytes(part);
  }
};

template <class Cell, class Shape, class Tiling>
class GradientRing : public StepRing<Shape, Tiling, GradientSource<Cell, Shape>> {
  using Scalar = typename Shape::Scalar;
  using Source = GradientSource<Cell, Shape>;
  using Ring = StepRing<Shape, Tiling, Source>;

 public:
  __device__ __forceinline__ GradientRing(const BackwardArguments& arguments, int head, int first_row,
                                          int first_unit, const Lane<Shape>& lane, void* shared_storage)
      : Ring({arguments, head}, arguments.batch, first_row, first_unit, lane, shared_storage),
        unit(lane.row) {}

  // Reads the records of this lane's elements.
  __device__ __forceinline__ void read(StepRecord<Cell> (&record)[Shape::warp_groups], int slot) const {
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) read(record[group], slot, group);
  }

 private:
  __device__ __forceinline__ void read(StepRecord<Cell>& record, int slot, int group) const {
    const unsigned row = this->row_address(slot, group);
    if constexpr (Cell::saved_values > 0)
      read_values<Scalar>(record.value, row + unit * Cell::saved_values * static_cast<int>(sizeof(Scalar)));
    if constexpr (Cell::saved_states > 0)
      read_floats(record.before, row + Source::first_state_part * 16 + unit * Cell::saved_states * 4);
    float scalar[1];
    read_values<Scalar>(scalar, row + Source::output_part * 16 + unit * static_cast<int>(sizeof(Scalar)));
    record.output_gradient = scalar[0];
    if constexpr (Source::reads_hidden)
      read_values<Scalar>(scalar, row + Source::hidden_part * 16 + unit * static_cast<int>(sizeof(Scalar)));
    record.hidden = scalar[0];
    if constexpr (Source::reads_output)
      read_values<Scalar>(scalar, row + Source::clipped_part * 16 + unit * static_cast<int>(sizeof(Scalar)));
    record.output = scalar[0];
  }

  int unit;  // of the eight
};

}  // namespace kerneltune
