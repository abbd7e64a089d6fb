// A thread's segment of a tile of a cell whose step is linear in the states that it carries, which may be several,
// with weights of its own and an output beside them. Its arguments are those of a cell that is not linear.
//
// Forward, the states before each segment are kept. Backward, they are computed again from there, in shared memory
// that each thread has for itself, before the segment is reduced to what it does to the gradient by the states.
#pragma once
#include "../../common/exchange/group_barrier.cuh"
#include "link.cuh"
#include "ring.cuh"
#include "steps.cuh"

namespace kerneltune {

template <class Shape>
class StatesSegment {
  using Pass = typename Shape::Pass;
  using Cell = typename Pass::Cell;
  using Tiling = typename Shape::Tiling;
  using Scalar = typename Shape::Scalar;
  using Functions = typename Shape::Functions;
  using Factor = typename Shape::Factor;
  static constexpr bool is_backward = Tiling::backward != 0;
  static constexpr int steps = Shape::segment_steps;
  static constexpr int vector = Shape::vector;
  static constexpr int carried = Factor::states;
  static constexpr int states = Cell::states;
  static constexpr int inputs = Cell::inputs;
  static constexpr int weights = Cell::weights;
  static constexpr int warps = Shape::threads / 32;
  static constexpr bool sums_up = is_backward && weights > 0;
  static constexpr int kept_bytes = is_backward ? steps * carried * vector * Shape::threads * 4 : 0;
  static_assert(steps == checkpoint_steps, "a segment begins at a kept state");
  static_assert(Tiling::keeps == 0, "tiles are read twice");

 public:
  using Chain = Link<Factor, Tiling::resets != 0>;
  static constexpr bool divided = false;
  static constexpr int counters = sums_up ? 1 : 0;  // of the exchange, for a barrier
  static constexpr int shared_bytes = kept_bytes + (sums_up ? warps * weights * Shape::tile_channels * 4 : 0);

  static __device__ __forceinline__ Stride state_at(const ScanArguments& arguments, int row, int channel,
                                                    int number) {
    return (static_cast<Stride>(Cell::place(number)) * arguments.batch + row) * arguments.channels + channel;
  }

  __device__ __forceinline__ StatesSegment(const ScanArguments& arguments, const Ring<Shape>& ring,
                                           const Part<Shape>& part, int stage, void* storage)
      : arguments(arguments),
        ring(ring),
        part(part),
        stage(stage),
        kept(static_cast<float*>(storage) + threadIdx.x),
        warp_sums(reinterpret_cast<float*>(static_cast<unsigned char*>(storage) + kept_bytes)) {
    const int length = Tiling::lengths != 0 ? arguments.lengths[part.row] : arguments.steps;
    // The last step of the forward pass that counts.
    last_position = (Tiling::reverse != 0) != is_backward ? 0 : length - 1;
    is_empty = length == 0;
#pragma unroll
    for (int c = 0; c < vector; c++)
#pragma unroll
      for (int w = 0; w < weights; w++) {
        weight[c][w] = part.existing > 0
                           ? arguments.weights[static_cast<Stride>(w) * arguments.channels + part.channel + c]
                           : 0.0f;
        sum[c][w] = 0.0f;
      }
    if constexpr (Tiling::resets != 0)
      for (int step = 0; step < steps; step++)
        if (part.counts(step)) {
          const Stride place = static_cast<Stride>(part.row) * arguments.steps + position(step);
          dropped |= (arguments.resets[place] != 0 ? 1u : 0u) << step;
        }
  }

  // What the segment does to what is carried.
  __device__ __forceinline__ void reduce(Chain (&chain)[vector]) {
    if constexpr (is_backward) recompute();
#pragma unroll 2
    for (int step = 0; step < steps; step++) {
      if (!part.counts(step)) continue;
      Words words;
      ring.read(stage, step, words.array);
#pragma unroll
      for (int c = 0; c < vector; c++) {
        float x[inputs], a[Factor::numbers], b[carried];
        input_of(words, c, x);
        Cell::template coefficients<Functions>(x, weight[c], a, b);
        if constexpr (is_backward) {
          float forward[Factor::numbers], before[states], gradient[states] = {}, by_input[inputs],
                                                          by_weight[length_for(weights)];
#pragma unroll
          for (int i = 0; i < Factor::numbers; i++) forward[i] = a[i];
          Factor::transposed(forward, a);
          add_gradients(words, step, c, gradient);
          before_step(step, c, before);
          Cell::template backward<Functions>(x, weight[c], before, gradient, by_input, by_weight);
#pragma unroll
          for (int i = 0; i < carried; i++)  // no gradient passes to what was dropped
            b[i] = is_reset(step) ? 0.0f : gradient[Cell::place(i)];
        }
        chain[c].add_step(a, b, is_reset(step));
      }
    }
  }

  // All results, from what is carried into the segment; leaves what is carried out of it. refill(step): its place
  // in the ring is free.
  template <class Refill>
  __device__ __forceinline__ void write(float (&carries)[vector][carried], const Refill& refill) {
    if (!is_backward && arguments.checkpoints && part.existing > 0) keep_states(carries);
    char* to[Pass::outputs];
    Stride stride[Pass::outputs];
#pragma unroll
    for (int output = 0; output < Pass::outputs; output++) {
      const StridedArray target = array_to_write(arguments, output);
      to[output] = reinterpret_cast<char*>(
          const_cast<Scalar*>(array_at<Shape>(arguments, target, part.row, part.channel, part.first)));
      stride[output] = (Tiling::reverse != 0 ? -target.step : target.step) * static_cast<int>(sizeof(Scalar));
    }
#pragma unroll 2
    for (int step = 0; step < steps; step++) {
      float result[Pass::outputs][vector] = {};
      const bool counts = part.counts(step);
      Words words;
      if (counts) ring.read(stage, step, words.array);
      refill(step);
      if (counts)
#pragma unroll
        for (int c = 0; c < vector; c++) take(words, step, c, carries[c], result);
#pragma unroll
      for (int output = 0; output < Pass::outputs; output++) {
        store_global<Scalar>(to[output], result[output], vector, exists(step));
        to[output] += stride[output];
      }
    }
  }

  // By all threads, behind a tile: the sums of the gradients by weights, for `end`; `partial` is the workspace that
  // the exchange has not taken, [groups][weights][tile_channels][times].
  __device__ __forceinline__ void end_tile(int time, int group, int times, void* partial) {
    if ((is_empty || is_backward) && time == times - 1 && arguments.final_state &&
        threadIdx.x / Shape::columns == Shape::segments - 1 && part.channel < arguments.channels)
      pass_others();
    if constexpr (sums_up) {
      const int lane = threadIdx.x % 32;
#pragma unroll
      for (int c = 0; c < vector; c++)
#pragma unroll
        for (int w = 0; w < weights; w++) {
#pragma unroll
          for (int distance = Shape::columns; distance < 32; distance *= 2)
            sum[c][w] += __shfl_xor_sync(0xffffffffu, sum[c][w], distance);
          if (lane < Shape::columns)
            warp_sums[(threadIdx.x / 32 * weights + w) * Shape::tile_channels + lane * vector + c] =
                sum[c][w];
        }
      __syncthreads();
      constexpr int numbers = weights * Shape::tile_channels;
      for (int i = threadIdx.x; i < numbers; i += Shape::threads) {
        float total = 0.0f;
#pragma unroll
        for (int warp = 0; warp < warps; warp++) total += warp_sums[warp * numbers + i];
        __stcg(static_cast<float*>(partial) + (static_cast<Stride>(group) * numbers + i) * times + time,
               total);
      }
    }
  }

  // By all threads of all blocks, behind all tiles: what tiles summed up, a warp for each sum.
  static __device__ __forceinline__ void end(const ScanArguments& arguments, int groups, int times,
                                             void* partial, unsigned* counter) {
    if (arguments.repaired && blockIdx.x == 0 && threadIdx.x < 4) arguments.repaired[threadIdx.x] = 0;
    if constexpr (sums_up) {
      GroupBarrier barrier(counter, gridDim.x);
      barrier.arrive();
      barrier.wait();
      constexpr int numbers = weights * Shape::tile_channels;
      const int groups_of_row = groups / arguments.batch;
      for (int task = blockIdx.x * warps + threadIdx.x / 32; task < groups * numbers;
           task += gridDim.x * warps) {
        const int group = task / numbers, w = task % numbers / Shape::tile_channels;
        const int channel = group % groups_of_row * Shape::tile_channels + task % Shape::tile_channels;
        if (channel >= arguments.channels) continue;
        const float* const from = static_cast<const float*>(partial) + static_cast<Stride>(task) * times;
        float total = 0.0f;
        for (int time = threadIdx.x % 32; time < times; time += 32) total += __ldcg(from + time);
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
          total += __shfl_xor_sync(0xffffffffu, total, distance);
        if (arguments.weight_gradient && threadIdx.x % 32 == 0)
          arguments.weight_gradient[(static_cast<Stride>(group / groups_of_row) * weights + w) *
                                        arguments.channels +
                                    channel] = total;
      }
    }
  }

 private:
  struct Words {
    unsigned array[Ring<Shape>::step_words];
  };

  __device__ __forceinline__ int position(int step) const {
    return Part<Shape>::position(arguments, part.first + step);
  }
  __device__ __forceinline__ bool exists(int step) const {
    return part.first + step >= 0 && step < part.existing;
  }
  __device__ __forceinline__ bool is_reset(int step) const {
    return Tiling::resets != 0 && (dropped >> step & 1) != 0;
  }
  static constexpr __device__ __forceinline__ bool is_carried(int state) {
    for (int i = 0; i < carried; i++)
      if (Cell::place(i) == state) return true;
    return false;
  }
  static __device__ __forceinline__ float number(const Words& words, int array, int channel) {
    return number_of<Scalar>(words.array + Ring<Shape>::first_word(array), channel);
  }
  static __device__ __forceinline__ void input_of(const Words& words, int channel, float (&x)[inputs]) {
#pragma unroll
    for (int i = 0; i < inputs; i++) x[i] = number(words, i, channel);
  }
  // Of the first channel in an array [states, B, D].
  __device__ __forceinline__ Stride place_of(int state) const {
    return (static_cast<Stride>(state) * arguments.batch + part.row) * arguments.channels + part.channel;
  }
  __device__ __forceinline__ float& kept_at(int step, int channel, int number) const {
    return kept[((step * carried + number) * vector + channel) * Shape::threads];
  }
  // The kept states that a segment begins at, counted from the first step of the forward pass.
  __device__ __forceinline__ float* kept_states() const {
    const int first = is_backward ? arguments.steps - part.first - steps : part.first;
    return arguments.checkpoints +
           static_cast<Stride>(first / steps) * states * arguments.batch * arguments.channels;
  }

  __device__ __forceinline__ void keep_states(const float (&carries)[vector][carried]) const {
    float* const to = kept_states();
#pragma unroll
    for (int c = 0; c < vector; c++) {
#pragma unroll
      for (int s = 0; s < states; s++)
        if (!is_carried(s)) to[place_of(s) + c] = 0.0f;  // no step reads it
#pragma unroll
      for (int i = 0; i < carried; i++) to[place_of(Cell::place(i)) + c] = carries[c][i];
    }
  }

  // The states before each step, from the kept ones.
  __device__ __forceinline__ void recompute() const {
    if (part.existing == 0) return;
    const float* const from = kept_states();
    float state[vector][states] = {};
#pragma unroll
    for (int c = 0; c < vector; c++)
#pragma unroll
      for (int i = 0; i < carried; i++) state[c][Cell::place(i)] = from[place_of(Cell::place(i)) + c];
#pragma unroll 2
    for (int step = steps - 1; step >= 0; step--) {
      if (!part.counts(step)) continue;
      Words words;
      ring.read(stage, step, words.array);
#pragma unroll
      for (int c = 0; c < vector; c++) {
        float x[inputs];
        input_of(words, c, x);
#pragma unroll
        for (int i = 0; i < carried; i++) {
          if (is_reset(step)) state[c][Cell::place(i)] = 0.0f;
          kept_at(step, c, i) = state[c][Cell::place(i)];
        }
        Cell::template step<Functions>(x, weight[c], state[c]);
      }
    }
  }
  __device__ __forceinline__ void before_step(int step, int channel, float (&before)[states]) const {
#pragma unroll
    for (int s = 0; s < states; s++) before[s] = 0.0f;
#pragma unroll
    for (int i = 0; i < carried; i++) before[Cell::place(i)] = kept_at(step, channel, i);
  }

  // The gradients from outside by the states after a step: by h, and by what no later step reads of the last one.
  __device__ __forceinline__ void add_gradients(const Words& words, int step, int channel,
                                                float (&gradient)[states]) const {
    gradient[0] += number(words, inputs, channel);
#pragma unroll
    for (int s = 0; s < states; s++)
      if (!is_carried(s) && arguments.initial && position(step) == last_position)
        gradient[s] += arguments.initial[place_of(s) + channel];
  }

  __device__ __forceinline__ void take(const Words& words, int step, int channel, float (&carries)[carried],
                                       float (&result)[Pass::outputs][vector]) {
    float x[inputs], state[states] = {};
    input_of(words, channel, x);
#pragma unroll
    for (int i = 0; i < carried; i++) state[Cell::place(i)] = carries[i];
    if constexpr (is_backward) {
      float before[states], by_input[inputs], by_weight[length_for(weights)];
      add_gradients(words, step, channel, state);
      before_step(step, channel, before);
      Cell::template backward<Functions>(x, weight[channel], before, state, by_input, by_weight);
#pragma unroll
      for (int i = 0; i < inputs; i++) result[i][channel] = by_input[i];
#pragma unroll
      for (int w = 0; w < weights; w++) sum[channel][w] += by_weight[w];
    } else {
      if (is_reset(step))
#pragma unroll
        for (int s = 0; s < states; s++) state[s] = 0.0f;
      Cell::template step<Functions>(x, weight[channel], state);
      result[0][channel] = state[0];
#pragma unroll
      for (int s = 0; s < states; s++)
        if (!is_carried(s) && arguments.final_state && position(step) == last_position)
          arguments.final_state[place_of(s) + channel] = state[s];
    }
#pragma unroll
    for (int i = 0; i < carried; i++)
      carries[i] = is_backward && is_reset(step) ? 0.0f : state[Cell::place(i)];
  }

  // States that are not carried leave a row without steps as they enter; else no gradient by them is left.
  __device__ __forceinline__ void pass_others() const {
#pragma unroll
    for (int s = 0; s < states; s++)
      if (!is_carried(s))
#pragma unroll
        for (int c = 0; c < vector; c++)
          arguments.final_state[place_of(s) + c] =
              is_empty && arguments.initial ? arguments.initial[place_of(s) + c] : 0.0f;
  }

  const ScanArguments& arguments;
  const Ring<Shape>& ring;
  const Part<Shape>& part;
  int stage;
  int last_position;
  bool is_empty;
  unsigned dropped = 0;
  float* kept;       // [steps][carried][vector][threads]
  float* warp_sums;  // [warps][weights][tile_channels]
  float weight[vector][length_for(weights)];
  float sum[vector][length_for(weights)];
};

}  // namespace kerneltune
