// A thread's segment of a tile: its steps, read from the ring twice, or with the coefficients kept in registers where these are dear.
#pragma once
#include "link.cuh"
#include "ring.cuh"

namespace kerneltune {

template <class Shape>
class Segment {
  using Pass = typename Shape::Pass;
  using Tiling = typename Shape::Tiling;
  using Words = VectorWords<Shape>[Pass::loads];
  static constexpr int steps = Shape::segment_steps;
  static constexpr bool keeps = Tiling::keeps != 0;
  static constexpr int at_once = keeps || !Pass::computes ? steps : 2;  // unrolled: the gates of many steps overflow the instruction cache

 public:
  using Chain = Link<Tiling::resets != 0>;

  __device__ __forceinline__ Segment(const ScanArguments& arguments, const Ring<Shape>& ring, const Part<Shape>& part, int stage)
      : arguments(arguments), ring(ring), part(part), stage(stage) {
    if constexpr (Tiling::resets != 0) {
#pragma unroll
      for (int step = 0; step < steps; step++)
        if (part.counts(step)) {
          const Stride place = static_cast<Stride>(part.row) * arguments.steps + Part<Shape>::position(arguments, part.first + step);
          dropped |= (arguments.resets[place] != 0 ? 1u : 0u) << step;
        }
    }
  }

  // What the segment does to the state of each channel.
  __device__ __forceinline__ void reduce(Chain (&chain)[Shape::vector]) {
#pragma unroll at_once
    for (int step = 0; step < steps; step++) {
      if (!part.counts(step)) continue;
      Words words;
      ring.read(stage, step, words);
#pragma unroll
      for (int channel = 0; channel < Shape::vector; channel++) {
        float read[Pass::loads], a, b;
        values(words, channel, read);
        compute(step, read, a, b);
        if constexpr (keeps) {
          kept_a[step][channel] = a;
          kept_b[step][channel] = b;
        }
        chain[channel].add_step(a, b, is_reset(step));
      }
    }
  }

  // All results of the segment, from the state of each channel before it; leaves the state after it.
  __device__ __forceinline__ void write(float (&state)[Shape::vector]) const {
    char* to[Pass::outputs];
    Stride stride[Pass::outputs];
#pragma unroll
    for (int output = 0; output < Pass::outputs; output++) {
      const StridedArray target = array_to_write(arguments, output);
      to[output] = reinterpret_cast<char*>(const_cast<typename Shape::Scalar*>(array_at<Shape>(arguments, target, part.row, part.channel, part.first)));
      stride[output] = (Tiling::reverse != 0 ? -target.step : target.step) * static_cast<int>(sizeof(typename Shape::Scalar));
    }
#pragma unroll at_once
    for (int step = 0; step < steps; step++) {
      if (step >= part.existing) continue;
      float result[Pass::outputs][Shape::vector] = {};
      if (part.counts(step)) advance(step, state, result);
#pragma unroll
      for (int output = 0; output < Pass::outputs; output++) {
        VectorWords<Shape>::store(to[output], result[output]);
        to[output] += stride[output];
      }
    }
  }

 private:
  __device__ __forceinline__ bool is_reset(int step) const { return Tiling::resets != 0 && (dropped >> step & 1) != 0; }

  static __device__ __forceinline__ void values(const Words& words, int channel, float (&read)[Pass::loads]) {
#pragma unroll
    for (int array = 0; array < Pass::loads; array++) read[array] = words[array].value(channel);
  }

  __device__ __forceinline__ void compute(int step, const float (&read)[Pass::loads], float& a, float& b) const {
    Pass::template coefficients<typename Shape::Functions>(read, a, b);
    if (is_reset(step)) {
      a = 0.0f;
      if (Pass::hidden >= 0) b = 0.0f;  // no gradient passes to what was dropped
    }
  }

  // One step of all channels.
  __device__ __forceinline__ void advance(int step, float (&state)[Shape::vector], float (&result)[Pass::outputs][Shape::vector]) const {
    Words words;
    if (!keeps || Pass::hidden >= 0) ring.read(stage, step, words);
#pragma unroll
    for (int channel = 0; channel < Shape::vector; channel++) {
      float read[Pass::loads] = {}, out[Pass::outputs], a, b, before = 0.0f;
      if (!keeps || Pass::hidden >= 0) values(words, channel, read);
      if constexpr (keeps) {
        a = kept_a[step][channel];
        b = kept_b[step][channel];
      } else {
        compute(step, read, a, b);
      }
      const float entering = state[channel];
      state[channel] = is_reset(step) ? b : fmaf(a, entering, b);
      if constexpr (Pass::hidden >= 0) before = hidden_before(step, channel, read[Pass::hidden]);
      Pass::template results<typename Shape::Functions>(read, before, entering, state[channel], out);
#pragma unroll
      for (int output = 0; output < Pass::outputs; output++) result[output][channel] = out[output];
    }
  }

  __device__ __forceinline__ float hidden_before(int step, int channel, float read) const {
    if (is_reset(step)) return 0.0f;
    if (part.first + step + 1 < part.end) return read;
    return arguments.first_hidden ? arguments.first_hidden[static_cast<Stride>(part.row) * arguments.channels + part.channel + channel] : 0.0f;
  }

  const ScanArguments& arguments;
  const Ring<Shape>& ring;
  const Part<Shape>& part;
  int stage;
  unsigned dropped = 0;
  float kept_a[steps][Shape::vector];
  float kept_b[steps][Shape::vector];
};

}  // namespace kerneltune
