// Forward pass of a recurrent cell, strategy "product".
// Each step is a library's matrix product, R h of each head, and one launch of this kernel for its elements.
// The workspace has the library's part, R h [H, B, G, D] in storage type, and what elements carry in float32
// from step to step: the states after h, and h itself for cells that read it, each [B, H, D].
#include "../../common/elements/unit_weights.cuh"
#include "../../common/shape/product_shape.cuh"
#include "pieces.cuh"

namespace kerneltune {

// Whether a step reads h before it, other than through R h. A cell that does not say so may.
template <class Cell, class = void>
constexpr bool reads_hidden_of = true;
template <class Cell>
constexpr bool reads_hidden_of<Cell, decltype(static_cast<void>(Cell::reads_hidden))> = Cell::reads_hidden;

template <class Cell, class Tiling>
__device__ __forceinline__ void product_forward(const ForwardArguments& arguments) {
  using Scalar = typename Tiling::Scalar;
  constexpr int units = Tiling::lane_units, gates = Cell::gates, dim = Tiling::head_dim;
  constexpr int first = reads_hidden_of<Cell> ? 0 : 1;  // of the states that are carried
  const UnitsOfThread<Tiling> mine(arguments.batch, arguments.heads);
  if (!mine.present()) return;
  const int step = arguments.step;
  const size_t at = step * mine.all + mine.here;

  const char* sums = static_cast<const char*>(arguments.workspace) + Tiling::library_bytes;
  float* carried =
      reinterpret_cast<float*>(const_cast<char*>(sums) + part_bytes(mine.all * gates * sizeof(Scalar)));
  float input[units * gates], sum[gates][units], bias[gates][units], state[Cell::states][units];
  load_values<Scalar>(input, arguments.input, at * gates, true);
#pragma unroll
  for (int gate = 0; gate < gates; gate++) {
    const size_t row = static_cast<size_t>(mine.head) * arguments.batch + mine.row;
    load_values<Scalar>(sum[gate], sums, (row * gates + gate) * dim + mine.unit);
    load_values<Scalar>(bias[gate], arguments.bias,
                        (static_cast<size_t>(mine.head) * gates + gate) * dim + mine.unit);
  }
#pragma unroll
  for (int s = 0; s < Cell::states; s++) {
    if (step == 0)
      load_values<Scalar>(state[s], arguments.states, s * (arguments.steps + 1) * mine.all + mine.here);
    else if (s >= first)
      load_values<Float32>(state[s], carried, (s - first) * mine.all + mine.here);
  }

  float saved[units * at_least_one(Cell::saved_values)], kept[units * at_least_one(Cell::saved_states)];
#pragma unroll
  for (int i = 0; i < units; i++) {
    float total[gates], from_input[gates], own[Cell::states], value[at_least_one(Cell::saved_values)];
#pragma unroll
    for (int gate = 0; gate < gates; gate++) {
      from_input[gate] = input[i * gates + gate];
      total[gate] = sum[gate][i] + (bias[gate][i] + (Cell::adds_input(gate) ? from_input[gate] : 0.0f));
    }
#pragma unroll
    for (int s = 0; s < Cell::states; s++) own[s] = s >= first || step == 0 ? state[s][i] : 0.0f;
    if (Tiling::saves && step == 0) {
#pragma unroll
      for (int s = 0; s < Cell::saved_states; s++) kept[i * Cell::saved_states + s] = own[s + 1];
    }
    if constexpr (weights_of<Cell> > 0) {
      UnitWeights<Cell> weights;
      weights.template load<Scalar>(arguments, mine.head, dim, mine.unit + i, true);
      Cell::template step<Math<sizeof(Scalar) == 4>>(total, from_input, weights.value, own, value);
    } else {
      Cell::template step<Math<sizeof(Scalar) == 4>>(total, from_input, own, value);
    }
    if constexpr (Tiling::forward_clip > 0.0f) own[0] = bounded(own[0], Tiling::forward_clip);
#pragma unroll
    for (int s = 0; s < Cell::states; s++) state[s][i] = own[s];
#pragma unroll
    for (int v = 0; v < Cell::saved_values; v++) saved[i * Cell::saved_values + v] = value[v];
  }

  store_values<Scalar>(arguments.states, at + mine.all, state[0]);
#pragma unroll
  for (int s = first; s < Cell::states; s++)
    store_values<Float32>(carried, (s - first) * mine.all + mine.here, state[s]);
  if (step == arguments.steps - 1) {
#pragma unroll
    for (int s = 1; s < Cell::states; s++)
      store_values<Scalar>(arguments.states,
                           (s * (arguments.steps + 1) + arguments.steps) * mine.all + mine.here, state[s]);
  }
  if constexpr (Tiling::saves) {
    if constexpr (Cell::saved_values > 0)
      store_values<Scalar>(arguments.saved_values, at * Cell::saved_values, saved, true);
    if constexpr (Cell::saved_states > 0) {
      if (step == 0)
        store_values<Float32>(arguments.saved_states, mine.here * Cell::saved_states, kept, true);
#pragma unroll
      for (int i = 0; i < units; i++)
#pragma unroll
        for (int s = 0; s < Cell::saved_states; s++) kept[i * Cell::saved_states + s] = state[s + 1][i];
      store_values<Float32>(arguments.saved_states, (at + mine.all) * Cell::saved_states, kept, true);
    }
  }
}

}  // namespace kerneltune
