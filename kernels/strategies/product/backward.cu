// Backward pass of a recurrent cell, strategy "product".
// Each step is one launch of this kernel for the gates' gradients of its elements, and a library's matrix
// product of them with R, which gives the gradient by h before it. `step` counts down; T stands for putting R
// in the order of the gradients, [H, D, G, D], and -1 for the gradients by the states before the first step.
// The workspace has the library's part, that R, the products [H, B, D] in float32, and what elements carry
// from step to step, each [B, H, D] in float32.
#include "../../common/elements/element_gradients.cuh"
#include "pieces.cuh"

namespace kerneltune {

// Rows of R one after another: all gates of a unit side by side.
template <class Cell, class Tiling>
__device__ __forceinline__ void order_weights(const BackwardArguments& arguments, unsigned* target) {
  constexpr int row_words = Tiling::head_dim * sizeof(typename Tiling::Scalar) / 4;
  static_assert(row_words % 4 == 0, "heads of a multiple of eight units");
  constexpr size_t quads = row_words / 4;
  const size_t count = static_cast<size_t>(arguments.heads) * Cell::gates * Tiling::head_dim * quads;
  const size_t stride = static_cast<size_t>(gridDim.x) * Tiling::threads;
  for (size_t i = static_cast<size_t>(blockIdx.x) * Tiling::threads + threadIdx.x; i < count; i += stride) {
    const size_t row = i / quads, quad = i - row * quads;
    const size_t head_unit = row / Cell::gates, gate = row - head_unit * Cell::gates;
    const size_t head = head_unit / Tiling::head_dim, unit = head_unit - head * Tiling::head_dim;
    const size_t from = ((head * Cell::gates + gate) * Tiling::head_dim + unit) * quads + quad;
    reinterpret_cast<uint4*>(target)[i] = static_cast<const uint4*>(arguments.recurrent)[from];
  }
}

template <class Cell, class Tiling>
__device__ __forceinline__ void product_backward(const BackwardArguments& arguments) {
  using Scalar = typename Tiling::Scalar;
  constexpr int units = Tiling::lane_units, gates = Cell::gates, dim = Tiling::head_dim;
  constexpr int states = Cell::saved_states, values = Cell::saved_values;
  char* workspace = static_cast<char*>(arguments.workspace) + Tiling::library_bytes;
  const int step = arguments.step;
  if (step == arguments.steps) {
    order_weights<Cell, Tiling>(arguments, reinterpret_cast<unsigned*>(workspace));
    return;
  }
  const UnitsOfThread<Tiling> mine(arguments.batch, arguments.heads);
  if (!mine.present()) return;
  const size_t weight_bytes = static_cast<size_t>(arguments.heads) * dim * gates * dim * sizeof(Scalar);
  const float* products = reinterpret_cast<const float*>(workspace + part_bytes(weight_bytes));
  float* kept = const_cast<float*>(products) + part_bytes(mine.all * 4) / 4;
  const bool is_last = step == arguments.steps - 1;

  float through[units] = {}, carried[Cell::carried][units], after[units * at_least_one(states)] = {};
  if (!is_last && !Tiling::cut_recurrent_gradient)
    load_values<Float32>(through, products,
                         (static_cast<size_t>(mine.head) * arguments.batch + mine.row) * dim + mine.unit);
  if constexpr (states > 0)
    load_values<Float32>(after, arguments.saved_states, ((step + 1) * mine.all + mine.here) * states);
  if (is_last) {
    float gradient[Cell::states][units];
#pragma unroll
    for (int s = 0; s < Cell::states; s++)
      load_values<Scalar>(gradient[s], arguments.last_gradient, s * mine.all + mine.here);
#pragma unroll
    for (int i = 0; i < units; i++) {
      float own[Cell::states], last[at_least_one(states)], begun[Cell::carried];
#pragma unroll
      for (int s = 0; s < Cell::states; s++) own[s] = gradient[s][i];
#pragma unroll
      for (int s = 0; s < at_least_one(states); s++) last[s] = after[i * at_least_one(states) + s];
      Cell::begin_backward(own, last, begun);
#pragma unroll
      for (int c = 0; c < Cell::carried; c++) carried[c][i] = begun[c];
    }
  } else {
#pragma unroll
    for (int c = 0; c < Cell::carried; c++) load_values<Float32>(carried[c], kept, c * mine.all + mine.here);
  }

  if (step < 0) {
    float gradient[Cell::states][units];
#pragma unroll
    for (int i = 0; i < units; i++) {
      float own[Cell::states], first[at_least_one(states)], rest[Cell::carried];
#pragma unroll
      for (int s = 0; s < at_least_one(states); s++) first[s] = after[i * at_least_one(states) + s];
#pragma unroll
      for (int c = 0; c < Cell::carried; c++) rest[c] = carried[c][i];
      Cell::end_backward(through[i] + rest[0], first, rest, own);
#pragma unroll
      for (int s = 0; s < Cell::states; s++) gradient[s][i] = own[s];
    }
#pragma unroll
    for (int s = 0; s < Cell::states; s++)
      store_values<Scalar>(arguments.initial_gradient, s * mine.all + mine.here, gradient[s]);
    return;
  }

  const size_t at = step * mine.all + mine.here;
  float value[units * at_least_one(values)], before[units * at_least_one(states)] = {};
  float hidden[units] = {}, output[units] = {}, by_output[units];
  if constexpr (values > 0) load_values<Scalar>(value, arguments.saved_values, at * values, true);
  if constexpr (states > 0) load_values<Float32>(before, arguments.saved_states, at * states);
  load_values<Scalar>(by_output, arguments.output_gradient, at, true);
  if constexpr (Cell::hidden_read >= 0)
    load_values<Scalar>(hidden, arguments.states, at + Cell::hidden_read * mine.all);
  if constexpr (Tiling::forward_clip > 0.0f) load_values<Scalar>(output, arguments.states, at + mine.all);

  float by_input[units * gates], by_recurrent[units * gates];
#pragma unroll
  for (int i = 0; i < units; i++) {
    StepRecord<Cell> record;
    float own[Cell::carried], later[at_least_one(states)], input_part[gates], recurrent_part[gates];
#pragma unroll
    for (int v = 0; v < at_least_one(values); v++) record.value[v] = value[i * at_least_one(values) + v];
#pragma unroll
    for (int s = 0; s < at_least_one(states); s++) {
      record.before[s] = before[i * at_least_one(states) + s];
      later[s] = after[i * at_least_one(states) + s];
    }
    record.hidden = hidden[i], record.output = output[i], record.output_gradient = by_output[i];
#pragma unroll
    for (int c = 0; c < Cell::carried; c++) own[c] = carried[c][i];
    UnitWeights<Cell> weights;
    weights.template load<Scalar>(arguments, mine.head, dim, mine.unit + i, true);
    element_gradients<Cell, Tiling>(through[i], record, later, weights, own, input_part, recurrent_part);
#pragma unroll
    for (int c = 0; c < Cell::carried; c++) carried[c][i] = own[c];
#pragma unroll
    for (int gate = 0; gate < gates; gate++) {
      by_input[i * gates + gate] = input_part[gate];
      by_recurrent[i * gates + gate] = recurrent_part[gate];
    }
  }
  store_values<Scalar>(arguments.input_gradient, at * gates, by_input);
  if constexpr (Cell::separate_gradients)
    store_values<Scalar>(arguments.recurrent_gradient, at * gates, by_recurrent);
#pragma unroll
  for (int c = 0; c < Cell::carried; c++) store_values<Float32>(kept, c * mine.all + mine.here, carried[c]);
}

}  // namespace kerneltune
