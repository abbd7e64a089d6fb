// A linear scan in one pass over memory, for strategies of tiles of time and channels, as many at a time as the GPU
// holds. A block reduces its tile to what it does to the state, publishes that, finds the state that enters, and
// only then computes the results. Where a tile is kept in registers meanwhile, the next one is on its way into
// shared memory.
//
// The state that enters follows from what was published, always in the same order, so the bits repeat: the state at
// the beginning of a window of tiles, then the tiles of the window one by one. Only the last tile of a window
// publishes a state, so it passes through L2 once a window and not once a tile. Words carry a mark of their launch;
// blocks take tiles in an order of time first, all blocks run at once, and so whatever a tile waits for is computed.
//
// Steps is a thread's segment of a tile: Segment (segment.cuh) or StatesSegment (states_segment.cuh).
#pragma once
#include "tile_exchange.cuh"

namespace kerneltune {

template <class Chain>
__device__ __forceinline__ Chain lanes_before(const Chain& own, int distance) {
  Chain earlier;
#pragma unroll
  for (int i = 0; i < Chain::numbers; i++)
    earlier.number(i) = __shfl_up_sync(0xffffffffu, own.number(i), distance);
  return earlier;
}

// What segments of a warp do before each lane's own, and what the whole warp does, from what each lane's
// segment does.
template <class Shape, class Chain>
__device__ __forceinline__ void scan_warp(Chain (&own)[Shape::vector], Chain (&before)[Shape::vector]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int channel = 0; channel < Shape::vector; channel++) {
#pragma unroll
    for (int distance = Shape::columns; distance < 32; distance *= 2) {
      const Chain earlier = lanes_before(own[channel], distance);
      if (lane >= distance) own[channel].put_behind(earlier);
    }
    const Chain earlier = lanes_before(own[channel], Shape::columns);
    before[channel] = lane >= Shape::columns ? earlier : Chain{};
  }
}

template <class Shape, class Steps>
__device__ __forceinline__ void scan_tiles(const ScanArguments& arguments) {
  using Tiling = typename Shape::Tiling;
  using Chain = typename Steps::Chain;
  constexpr int warps = Shape::threads / 32;
  constexpr int channels = Shape::tile_channels;
  constexpr int states = Chain::states;
  struct Shared {
    float total[warps][channels][Chain::numbers];  // what each warp's segments do
    float entering[warps][channels][states];       // the state before them
  };
  static_assert(Ring<Shape>::shared_bytes + sizeof(Shared) + Steps::shared_bytes == Tiling::shared_memory,
                "shared memory as solved");
  static_assert(channels <= Shape::threads, "a thread for each channel");

  extern __shared__ __align__(128) unsigned char shared_memory[];
  Shared& shared = *reinterpret_cast<Shared*>(shared_memory + Ring<Shape>::shared_bytes);
  const Ring<Shape> ring(shared_memory);
  const int column = threadIdx.x % Shape::columns, warp = threadIdx.x / 32;
  const int groups_of_row = (arguments.channels + channels - 1) / channels;
  const int groups = groups_of_row * arguments.batch;
  const int times = (Shape::duration(arguments) + Shape::tile_steps - 1) / Shape::tile_steps;
  const int tiles = groups * times;

  const auto place_of = [&](int tile) {
    const int group = tile % groups;
    return Place<Shape>{group / groups_of_row, group % groups_of_row * channels,
                        tile / groups * Shape::tile_steps};
  };
  const auto copy = [&](int tile, int stage) {
    if (tile < tiles)
      ring.copy(arguments, place_of(tile), stage);
    else
      ring.skip();
  };
  const int stride = gridDim.x;
#pragma unroll
  for (int stage = 0; stage < Tiling::stages; stage++) copy(blockIdx.x + stage * stride, stage);
  TileExchange<Shape, Chain> exchange(arguments.workspace, groups, times);

  int stage = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += stride) {
    const Part<Shape> part(arguments, place_of(tile));
    const int time = tile / groups, group = tile % groups;
    exchange.ask(time, group);
    ring.wait();
    Steps steps(arguments, ring, part, stage, shared_memory + Ring<Shape>::shared_bytes + sizeof(Shared));
    Chain own[Shape::vector], before[Shape::vector];
    steps.reduce(own);
    scan_warp<Shape>(own, before);
    if (threadIdx.x % 32 >= 32 - Shape::columns)
#pragma unroll
      for (int channel = 0; channel < Shape::vector; channel++)
#pragma unroll
        for (int i = 0; i < Chain::numbers; i++)
          shared.total[warp][column * Shape::vector + channel][i] = own[channel].number(i);
    __syncthreads();
    const int channel = exchange.channel_of_tile();
    const auto total_of = [&](int w) {
      Chain total;
#pragma unroll
      for (int i = 0; i < Chain::numbers; i++) total.number(i) = shared.total[w][channel][i];
      return total;
    };
    constexpr bool remembers = warps * Chain::numbers <= 16;  // what warps do, while the state is waited for
    Chain all, totals[remembers ? warps : 1];
    if (exchange.speaks()) {
#pragma unroll
      for (int w = 0; w < warps; w++) {
        Chain next = total_of(w);
        if constexpr (remembers) totals[w] = next;
        if (w > 0) next.put_behind(all);
        all = next;
      }
      exchange.publish(time, group, all);
    }
    if constexpr (Tiling::keeps == 1) copy(tile + Tiling::stages * stride, stage);
    if (threadIdx.x < TileExchange<Shape, Chain>::threads) {
      const int global = group % groups_of_row * channels + channel;
      float state[states] = {};
      if (!Steps::divided && exchange.speaks() && time < Tiling::window && arguments.initial &&
          global < arguments.channels)
#pragma unroll
        for (int i = 0; i < states; i++)
          state[i] = arguments.initial[Steps::state_at(arguments, group / groups_of_row, global, i)];
      exchange.enter(time, group, all, state);
      if (exchange.speaks())
#pragma unroll
        for (int w = 0; w < warps; w++) {
#pragma unroll
          for (int i = 0; i < states; i++) shared.entering[w][channel][i] = state[i];
          if constexpr (remembers)
            totals[w].apply(state);
          else
            total_of(w).apply(state);
        }
    }
    __syncthreads();
    float state[Shape::vector][states];
#pragma unroll
    for (int i = 0; i < Shape::vector; i++) {
#pragma unroll
      for (int j = 0; j < states; j++) state[i][j] = shared.entering[warp][column * Shape::vector + i][j];
      before[i].apply(state[i]);
    }
    if constexpr (Tiling::keeps == 1) {
      steps.write(state, [](int) {});
    } else {
      const int next = tile + Tiling::stages * stride;
      typename Ring<Shape>::Refill refill(ring, arguments, place_of(next < tiles ? next : tile), stage,
                                          next < tiles);
      steps.write(state, [&](int step) { refill.step(step); });
      refill.close();
    }
    if (!Steps::divided && arguments.final_state && time == times - 1 &&
        threadIdx.x / Shape::columns == Shape::segments - 1 && part.channel < arguments.channels)
#pragma unroll
      for (int i = 0; i < Shape::vector; i++)
#pragma unroll
        for (int j = 0; j < states; j++)
          arguments.final_state[Steps::state_at(arguments, part.row, part.channel + i, j)] = state[i][j];
    steps.end_tile(time, group, times, exchange.behind());
    stage = stage + 1 < Tiling::stages ? stage + 1 : 0;
  }
  Steps::end(arguments, groups, times, exchange.behind(), exchange.counter());
  exchange.leave(Steps::counters);
}

}  // namespace kerneltune
