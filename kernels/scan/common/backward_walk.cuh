// Backward through a cell that is not linear in its state: tiles from the last to the first, each computed
// forward once more from the state that was
// kept before it, then backward. What is carried is the gradient by the state.
#pragma once
#include "walk.cuh"

namespace kerneltune {

template <class Shape>
class Walk<Shape, true> {
  using Pass = typename Shape::Pass;
  using Cell = typename Shape::Cell;
  using Tiling = typename Shape::Tiling;
  using Functions = typename Shape::Functions;
  static constexpr int steps = Shape::tile_steps;
  static constexpr int states = Shape::states;
  static constexpr int inputs = Cell::inputs;

 public:
  // The states before each step of a tile, [warps][steps][states][vector][32].
  static constexpr int shared_bytes = Shape::warps * steps * states * Shape::vector * 32 * 4;
  __device__ __forceinline__ explicit Walk(void* storage)
      : kept(static_cast<float*>(storage) + threadIdx.x / 32 * (steps * states * Shape::vector * 32) +
             threadIdx.x % 32) {}

  __device__ __forceinline__ void begin(const ScanArguments& arguments, const Strand<Shape>& strand) {
#pragma unroll
    for (int w = 0; w < Shape::weights; w++)
#pragma unroll
      for (int c = 0; c < Shape::vector; c++) {
        weight[c][w] =
            strand.exists
                ? arguments.weights[static_cast<Stride>(w) * arguments.channels + strand.channel + c]
                : 0.0f;
        sum[c][w] = 0.0f;
      }
  }

  // Time runs from the last tile; `first`, `written` and `end` are multiples of a tile.
  template <bool DEPENDENCE>
  __device__ __forceinline__ void run(const ScanArguments& arguments, const Strand<Shape>& strand,
                                      WarpRing<Shape>& ring, int first, int written, int end,
                                      Carried<Shape>& carried, Dependence<Shape, DEPENDENCE>& dependence) {
    const int duration = Shape::duration(arguments);
    Carried<Shape> entering;
    load_kept(arguments, strand, duration - steps - first, entering);
#pragma unroll 1
    for (int time = first - Tiling::stages * steps; time < end;
         time += steps) {  // at first the ring is filled
      if (time < first) {
        ask(arguments, strand, ring, time + Tiling::stages * steps, end);
        continue;
      }
      const int tile = duration - steps - time;
      const unsigned dropped = strand.resets(arguments, tile), counting = strand.counting(tile);
      const int existing = min(steps, arguments.steps - tile);
      if (time == written) {
#pragma unroll
        for (int c = 0; c < Shape::vector; c++) {
#pragma unroll
          for (int s = 0; s < states; s++) carried.start[c][s] = carried.state[c][s];
#pragma unroll
          for (int w = 0; w < Shape::weights; w++) sum[c][w] = 0.0f;
        }
      }
      const bool writes = time >= written && strand.exists;
      Targets<Shape> targets(arguments, strand, tile + existing - 1, true);
      Carried<Shape> state = entering;
      if (time + steps < end) load_kept(arguments, strand, tile - steps, entering);
#pragma unroll
      for (int c = 0; c < Shape::vector; c++) carried.magnitude[c] = 0.0f;
      ring.wait();
      __syncwarp();
      if (existing == steps && counting == (1ull << steps) - 1 && dropped == 0) {
        each_step<Shape, true>(ring, [&](int step, const StepWords<Shape>& read) {
          advance(read, step, true, false, state.state);
        });
        each_step<Shape, false>(ring, [&](int step, const StepWords<Shape>& read) {
          take(read, step, false, writes, targets, carried, dependence);
        });
      } else {
#pragma unroll 1
        for (int step = 0; step < existing; step++)
          if (counting >> step & 1) {
            StepWords<Shape> read;
            ring.read(step, read.array);
            advance(read, step, true, dropped >> step & 1, state.state);
          }
#pragma unroll 1
        for (int step = existing - 1; step >= 0; step--)
          if (counting >> step & 1) {
            StepWords<Shape> read;
            ring.read(step, read.array);
            take(read, step, dropped >> step & 1, writes, targets, carried, dependence);
          } else {
            targets.write(writes, {});
          }
      }
      __syncwarp();
      ask(arguments, strand, ring, time + Tiling::stages * steps, end);
      ring.pass();
    }
    if (written < end && end == duration) carried.store(arguments, strand, arguments.final_state);
  }

  // The gradients by the weights of what was written, one after the other so far apart.
  __device__ __forceinline__ void write_sums(const ScanArguments&, const Strand<Shape>& strand, float* to,
                                             Stride apart) const {
    if (!strand.exists) return;
#pragma unroll
    for (int w = 0; w < Shape::weights; w++)
#pragma unroll
      for (int c = 0; c < Shape::vector; c++) to[w * apart + c] = sum[c][w];
  }

 private:
  static __device__ __forceinline__ void ask(const ScanArguments& arguments, const Strand<Shape>& strand,
                                             WarpRing<Shape>& ring, int time, int end) {
    const int tile = Shape::duration(arguments) - steps - time;
    if (time < end)
      ring.fill(arguments, strand, tile, min(steps, arguments.steps - tile));
    else
      ring.skip();
  }
  static __device__ __forceinline__ void load_kept(const ScanArguments& arguments,
                                                   const Strand<Shape>& strand, int tile,
                                                   Carried<Shape>& state) {
    state.load(arguments, strand,
               arguments.checkpoints +
                   static_cast<Stride>(tile / steps) * states * arguments.batch * arguments.channels);
  }
  __device__ __forceinline__ float& kept_at(int step, int channel, int state) const {
    return kept[((step * states + state) * Shape::vector + channel) * 32];
  }

  // The cell's step, from the state that is kept for the way back.
  __device__ __forceinline__ void advance(const StepWords<Shape>& words, int step, bool goes_on, bool reset,
                                          float (&state)[Shape::vector][states]) const {
#pragma unroll
    for (int c = 0; c < Shape::vector; c++) {
#pragma unroll
      for (int s = 0; s < states; s++) {
        if (reset) state[c][s] = 0.0f;
        kept_at(step, c, s) = state[c][s];
      }
      float read[Pass::loads], input[inputs];
      words.values(c, read);
#pragma unroll
      for (int i = 0; i < inputs; i++) input[i] = read[i];
      if (goes_on) Cell::template step<Functions>(input, weight[c], state[c]);
    }
  }

  // One step back.
  template <bool DEPENDENCE>
  __device__ __forceinline__ void take(const StepWords<Shape>& words, int step, bool reset, bool writes,
                                       Targets<Shape>& targets, Carried<Shape>& carried,
                                       Dependence<Shape, DEPENDENCE>& dependence) {
    float result[inputs][Shape::vector];
#pragma unroll
    for (int c = 0; c < Shape::vector; c++) {
      float read[Pass::loads], input[inputs], before[states], by_input[inputs],
          by_weight[length_for(Shape::weights)];
      words.values(c, read);
#pragma unroll
      for (int i = 0; i < inputs; i++) input[i] = read[i];
#pragma unroll
      for (int s = 0; s < states; s++) before[s] = kept_at(step, c, s);
      if constexpr (DEPENDENCE)
        chain_jacobian<Functions, Cell, true>(input, weight[c], before, dependence.of[c]);
      carried.state[c][0] += read[Pass::gradient];
#pragma unroll
      for (int s = 0; s < states; s++)
        carried.magnitude[c] = larger(carried.magnitude[c], fabsf(carried.state[c][s]));
      Cell::template backward<Functions>(input, weight[c], before, carried.state[c], by_input, by_weight);
#pragma unroll
      for (int i = 0; i < inputs; i++) result[i][c] = by_input[i];
#pragma unroll
      for (int w = 0; w < Shape::weights; w++) sum[c][w] += by_weight[w];
      if (reset)
#pragma unroll
        for (int s = 0; s < states; s++) carried.state[c][s] = 0.0f;
    }
    if (DEPENDENCE && reset) dependence.drop();
    targets.write(writes, result);
  }

  static __device__ __forceinline__ float larger(float a, float b) { return b > a ? b : a; }

  float* kept;
  float weight[Shape::vector][length_for(Shape::weights)];
  float sum[Shape::vector][length_for(Shape::weights)];
};

}  // namespace kerneltune
