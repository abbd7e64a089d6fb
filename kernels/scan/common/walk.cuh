// A warp takes the steps of its channels in order, from tile to tile.
#pragma once
#include "warp_ring.cuh"

namespace kerneltune {

// What a lane carries: the state of each of its channels, and what follows from it.
template <class Shape>
struct Carried {
  float state[Shape::vector][Shape::states];
  float start[Shape::vector][Shape::states];  // as it was where results begin
  float magnitude[Shape::vector];             // of what is added to the state, of the last tile

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int c = 0; c < Shape::vector; c++)
#pragma unroll
      for (int s = 0; s < Shape::states; s++) state[c][s] = 0.0f;
  }
  // From or to an array [states, B, D].
  __device__ __forceinline__ void load(const ScanArguments& arguments, const Strand<Shape>& strand,
                                       const float* from) {
    clear();
    if (!from || !strand.exists) return;
#pragma unroll
    for (int s = 0; s < Shape::states; s++)
#pragma unroll
      for (int c = 0; c < Shape::vector; c++) state[c][s] = from[strand.state_at(arguments, s) + c];
  }
  __device__ __forceinline__ void store(const ScanArguments& arguments, const Strand<Shape>& strand,
                                        float* to) const {
    if (!to || !strand.exists) return;
#pragma unroll
    for (int s = 0; s < Shape::states; s++)
#pragma unroll
      for (int c = 0; c < Shape::vector; c++) to[strand.state_at(arguments, s) + c] = state[c][s];
  }
};

// How the end of some steps depends on the state before them; kept where WANTED.
template <class Shape, bool WANTED>
struct Dependence {
  float of[WANTED ? Shape::vector : 1][Shape::states][Shape::states];

  __device__ __forceinline__ void begin() {
#pragma unroll
    for (auto& channel : of)
#pragma unroll
      for (int i = 0; i < Shape::states; i++)
#pragma unroll
        for (int j = 0; j < Shape::states; j++) channel[i][j] = i == j ? 1.0f : 0.0f;
  }
  __device__ __forceinline__ void drop() {
#pragma unroll
    for (auto& channel : of)
#pragma unroll
      for (int i = 0; i < Shape::states; i++)
#pragma unroll
        for (int j = 0; j < Shape::states; j++) channel[i][j] = 0.0f;
  }
};

// What a lane has read of a step.
template <class Shape>
struct StepWords {
  VectorWords<Shape> array[Shape::Pass::loads];

  __device__ __forceinline__ void values(int channel, float (&value)[Shape::Pass::loads]) const {
#pragma unroll
    for (int i = 0; i < Shape::Pass::loads; i++) value[i] = array[i].value(channel);
  }
};

// Calls act(step, what the lane has read of it) for a whole tile, in order or from the last step on; some
// steps are read ahead.
template <class Shape, bool FORWARD, class Act>
__device__ __forceinline__ void each_step(const WarpRing<Shape>& ring, const Act& act) {
  constexpr int at_once = Shape::at_once, steps = Shape::tile_steps;
  StepWords<Shape> now[at_once], next[at_once];
#pragma unroll
  for (int i = 0; i < at_once; i++) ring.read(FORWARD ? i : steps - 1 - i, now[i].array);
#pragma unroll 1
  for (int begin = 0; begin < steps; begin += at_once) {
    const int ahead = begin + at_once < steps ? begin + at_once : begin;
#pragma unroll
    for (int i = 0; i < at_once; i++) ring.read(FORWARD ? ahead + i : steps - 1 - ahead - i, next[i].array);
#pragma unroll
    for (int i = 0; i < at_once; i++) act(FORWARD ? begin + i : steps - 1 - begin - i, now[i]);
#pragma unroll
    for (int i = 0; i < at_once; i++) now[i] = next[i];
  }
}

// Where a lane writes its results: those of a step, then those of the step that is computed next.
template <class Shape>
class Targets {
  static constexpr int outputs = Shape::Pass::outputs;

 public:
  // From step `step` on, or from it back.
  __device__ __forceinline__ Targets(const ScanArguments& arguments, const Strand<Shape>& strand, int step,
                                     bool back) {
#pragma unroll
    for (int output = 0; output < outputs; output++) {
      const StridedArray array = array_to_write(arguments, output);
      const auto* const values = static_cast<const typename Shape::Scalar*>(array.pointer);
      to[output] = reinterpret_cast<char*>(const_cast<typename Shape::Scalar*>(
          values + strand.row * array.batch + Strand<Shape>::position(arguments, step) * array.step +
          strand.channel));
      stride[output] = (Shape::from_last != back ? -array.step : array.step) *
                       static_cast<int>(sizeof(typename Shape::Scalar));
    }
  }
  // Where they are not wanted, only the place of the next ones; without a branch.
  __device__ __forceinline__ void write(bool wanted, const float (&result)[outputs][Shape::vector]) {
#pragma unroll
    for (int output = 0; output < outputs; output++) {
      VectorWords<Shape>::store(wanted, to[output], result[output]);
      to[output] += stride[output];
    }
  }

 private:
  char* to[outputs];
  Stride stride[outputs];
};

template <class Shape, bool DIFFERENTIATES = Shape::differentiates>
class Walk {
  using Pass = typename Shape::Pass;
  using Tiling = typename Shape::Tiling;
  using Functions = typename Shape::Functions;
  static constexpr int steps = Shape::tile_steps;

 public:
  static constexpr int shared_bytes = 0;  // besides the ring
  __device__ __forceinline__ explicit Walk(void*) {}

  __device__ __forceinline__ void begin(const ScanArguments& arguments, const Strand<Shape>& strand) {
    if constexpr (Shape::weights > 0)
#pragma unroll
      for (int w = 0; w < Shape::weights; w++)
#pragma unroll
        for (int c = 0; c < Shape::vector; c++)
          weight[c][w] =
              strand.exists
                  ? arguments.weights[static_cast<Stride>(w) * arguments.channels + strand.channel + c]
                  : 0.0f;
  }

  // Steps from `first` to `end`, multiples of a tile or the last end; results are written from `written` on.
  template <bool DEPENDENCE>
  __device__ __forceinline__ void run(const ScanArguments& arguments, const Strand<Shape>& strand,
                                      WarpRing<Shape>& ring, int first, int written, int end,
                                      Carried<Shape>& carried, Dependence<Shape, DEPENDENCE>& dependence) {
#pragma unroll
    for (int c = 0; c < Shape::vector; c++) carried.magnitude[c] = 1.0f;
#pragma unroll 1
    for (int tile = first - Tiling::stages * steps; tile < end;
         tile += steps) {  // at first the ring is filled
      if (tile < first) {
        ask(arguments, strand, ring, tile + Tiling::stages * steps, end);
        continue;
      }
      const unsigned dropped = strand.resets(arguments, tile), counting = strand.counting(tile);
      const int existing = min(steps, end - tile);
      if (tile == written)
#pragma unroll
        for (int c = 0; c < Shape::vector; c++)
#pragma unroll
          for (int s = 0; s < Shape::states; s++) carried.start[c][s] = carried.state[c][s];
      const bool writes = tile >= written;
      if (Shape::keeps_states && writes && arguments.checkpoints && tile % checkpoint_steps == 0)
        carried.store(arguments, strand,
                      arguments.checkpoints + static_cast<Stride>(tile / checkpoint_steps) * Shape::states *
                                                  arguments.batch * arguments.channels);
      Targets<Shape> targets(arguments, strand, tile, false);
      ring.wait();
      __syncwarp();
      if (existing == steps && counting == (1ull << steps) - 1 && dropped == 0 &&
          (Pass::hidden < 0 || tile + steps < strand.high)) {
        if (writes)
          each_step<Shape, true>(ring, [&](int step, const StepWords<Shape>& read) {
            take<true>(read, step, false, true, nullptr, strand.exists, targets, carried, dependence);
          });
        else
          each_step<Shape, true>(ring, [&](int step, const StepWords<Shape>& read) {
            take<false>(read, step, false, true, nullptr, false, targets, carried, dependence);
          });
      } else {
#pragma unroll 1
        for (int step = 0; step < existing; step++) {
          const float* before = nullptr;
          if (Pass::hidden >= 0 && tile + step + 1 >= strand.high && arguments.first_hidden && strand.exists)
            before = arguments.first_hidden + strand.state_at(arguments, 0);
          const bool stored = Pass::hidden < 0 || tile + step + 1 < strand.high;
          if (counting >> step & 1) {
            StepWords<Shape> read;
            ring.read(step, read.array);
            take<true>(read, step, dropped >> step & 1, stored, before, writes && strand.exists, targets,
                       carried, dependence);
          } else {
            targets.write(writes && strand.exists, {});
          }
        }
      }
      __syncwarp();
      ask(arguments, strand, ring, tile + Tiling::stages * steps, end);
      ring.pass();
    }
    if (written < end && end == arguments.steps) carried.store(arguments, strand, arguments.final_state);
  }

  // There is nothing to add up.
  __device__ __forceinline__ void write_sums(const ScanArguments&, const Strand<Shape>&, float*,
                                             Stride) const {}

 private:
  static __device__ __forceinline__ void ask(const ScanArguments& arguments, const Strand<Shape>& strand,
                                             WarpRing<Shape>& ring, int tile, int end) {
    if (tile < end)
      ring.fill(arguments, strand, tile, min(steps, end - tile));
    else
      ring.skip();
  }

  // One step of all channels of the lane.
  template <bool WRITES, bool DEPENDENCE>
  __device__ __forceinline__ void take(const StepWords<Shape>& words, int step, bool reset, bool stored,
                                       const float* first_hidden, bool writes, Targets<Shape>& targets,
                                       Carried<Shape>& carried,
                                       Dependence<Shape, DEPENDENCE>& dependence) const {
    float result[Pass::outputs][Shape::vector];
    if (DEPENDENCE && reset) dependence.drop();
#pragma unroll
    for (int c = 0; c < Shape::vector; c++) {
      float read[Pass::loads], before = 0.0f, out[Pass::outputs];
      words.values(c, read);
      if constexpr (Pass::hidden >= 0)
        if (!reset) before = stored ? read[Pass::hidden] : first_hidden ? first_hidden[c] : 0.0f;
      if constexpr (DEPENDENCE)
        if (!reset)
          chain_jacobian<Functions, typename Shape::Cell, false>(read, weight[c], carried.state[c],
                                                                 dependence.of[c]);
      Pass::template step<Functions>(read, weight[c], before, reset, carried.state[c], out);
#pragma unroll
      for (int output = 0; output < Pass::outputs; output++) result[output][c] = out[output];
    }
    if constexpr (WRITES) targets.write(writes, result);
  }

  float weight[Shape::vector][length_for(Shape::weights)];
};

}  // namespace kerneltune
