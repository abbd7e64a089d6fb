// Forward pass of a recurrent cell, strategy "grid".
// The units of one head and batch tile are spread over a group of thread blocks anywhere on the GPU, which
// exchange h through L2 (grid_exchange.cuh). The launch is cooperative: all blocks of a group must run at the
// same time. Groups take (head, batch tile) jobs in turn until none is left, so any batch runs on the groups
// that fit.
#include "../../common/elements/elements.cuh"
#include "../../common/exchange/grid_exchange.cuh"
#include "../../common/rings/input_ring.cuh"
#include "../../common/exchange/partial_sums.cuh"
#include "../../common/weights/recurrent_weights.cuh"

namespace kerneltune {

// Reads the initial h from states. The caller wrote it, so it carries no mark.
template <class Shape, class Exchange>
__device__ __forceinline__ void read_initial_hidden(Exchange& exchange, const ForwardArguments& arguments,
                                                    int head, int first_row, const Lane<Shape>& lane) {
  using Scalar = typename Shape::Scalar;
  const Scalar* states = static_cast<const Scalar*>(arguments.states);
#pragma unroll
  for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
    for (int pair = 0; pair < Exchange::pairs; pair++) {
      const int row = first_row + Shape::column_row(n, lane.row),
                unit = exchange.first_k(lane) + pair * exchange.pair_size;
      const bool present = row < arguments.batch && unit < Shape::head_dim;
      const size_t index = state_index<Shape>(arguments, 0, 0, present ? row : 0, head, present ? unit : 0);
      exchange.part[n][pair] =
          present ? *reinterpret_cast<const uint4*>(states + index) : make_uint4(0, 0, 0, 0);
    }
}

// Writes finished elements to the exchange and to states. Addresses are kept, as this is on the path between
// blocks.
template <class Shape>
struct GridOutlet {
  using Scalar = typename Shape::Scalar;
  int offset[Shape::warp_groups];      // within a slot; negative for lanes that write nothing
  Scalar* target[Shape::warp_groups];  // in states, of the coming step
  size_t step_elements;

  __device__ __forceinline__ GridOutlet(const ForwardArguments& arguments, int head, int first_row,
                                        int first_unit, const Lane<Shape>& lane)
      : step_elements(static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim) {
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      const int row = lane.batch_row(group), unit = first_unit + lane.unit(group);
      const bool writes =
          lane.finishes() && lane.row % (Shape::part / 4) == 0 && first_row + row < arguments.batch;
      offset[group] =
          writes ? (unit / Shape::part * Shape::batch_tile + row) * Shape::part + unit % Shape::part : -1;
      target[group] = static_cast<Scalar*>(arguments.states) +
                      (writes ? state_index<Shape>(arguments, 0, 1, first_row + row, head, unit) : 0);
    }
  }

  // Where a word holds two units, the lane of the even unit also writes its neighbour's h: others always see
  // a whole word.
  __device__ __forceinline__ void publish(Scalar* slot, float h, int group, bool awaited) const {
    const float next = next_unit<Scalar>(h);
    if (offset[group] < 0) return;
    const unsigned word = word_of<Scalar>(h, next);
    if (awaited) store_shared_by_gpu(slot + offset[group], word);
    __stcs(reinterpret_cast<unsigned*>(target[group]), word);
  }

  __device__ __forceinline__ void next_step() {
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) target[group] += step_elements;
  }
};

template <class Cell, class Tiling>
struct GridForward {
  using Shape = ForwardShape<Cell, Tiling>;
  using Scalar = typename Shape::Scalar;
  using Weights = RecurrentWeights<Shape, ChunkedOrder, Tiling::register_k_tiles>;
  using Ring = InputRing<Shape, Tiling>;
  using Partials = PartialSums<Shape>;
  using Exchange = GridExchange<Shape, Tiling::exchange_slots>;
  static constexpr int partial_bytes =
      Shape::k_splits > 1 ? Partials::shared_bytes : 0;  // of each of two buffers
  static_assert(Weights::shared_bytes + Ring::shared_bytes + 2 * partial_bytes == Tiling::shared_memory,
                "shared memory as solved");
  static constexpr int stages = Tiling::input_stages;
  static constexpr int prefetch_distance = 4;  // in steps
  // Cycles from a warp's own data being out to its first poll. No other block's data is there earlier, and
  // vain polls delay the data on its way. Warps that publish nothing have waited for those that do, and poll
  // at once.
  static constexpr unsigned head_start = 200;
  static constexpr int marking_warp = Shape::warps - 1;
  // Whether some warps do not finish elements. They do not poll until the finishing warps have published.
  static constexpr bool waiting_warps = Shape::finishing_warps < Shape::warps;

  // Runs one head and batch tile from the first step to the last. shared_memory: weights, input ring, two
  // buffers of partial sums.
  static __device__ __forceinline__ void run_job(const ForwardArguments& arguments, int head, int first_row,
                                                 int first_unit, const Lane<Shape>& lane, Exchange& exchange,
                                                 unsigned char* shared_memory) {
    unsigned char* const ring_storage = shared_memory + Weights::shared_bytes;
    unsigned char* const partial_storage = ring_storage + Ring::shared_bytes;
    Ring ring(arguments, head, first_row, first_unit, lane, ring_storage);
    ring.begin(arguments.steps);
    const Weights weights(arguments.recurrent, head, first_unit, lane, shared_memory);
    Elements<Cell, Shape> elements;
    elements.load(arguments, head, first_row, first_unit, lane);
    GridOutlet<Shape> outlet(arguments, head, first_row, first_unit, lane);
    const Partials partials(partial_storage, lane);
    const int rows = arguments.batch - first_row;

    int slot = 0;
    for (int step = 0; step < arguments.steps; step++) {
      Accumulators<Shape> sums;
      sums.clear();
      exchange.prepare_next();
      if (step == 0) {
        read_initial_hidden(exchange, arguments, head, first_row, lane);
        exchange.template multiply<Tiling::mma_k>(sums, weights);
      } else {
        exchange.template multiply_arriving<Tiling::mma_k>(sums, weights);
      }
      sums.join_chains();
      // Two buffers: a warp may be ahead of the warps that add this step's parts, but not by two barriers.
      const int buffer = step % 2;
      if constexpr (Shape::k_splits > 1) partials.store(sums, buffer);
      // W x is read after the barrier, which also orders its copies. Before the barrier, all warps would wait
      // until the finishing warps have it. Before receiving, the warp would have to synchronise, which waits
      // for all loads and so for other blocks.
      ring.template wait<stages - 2>();
      __syncthreads();
      if (lane.finishes()) {
        float input[Shape::warp_groups][Shape::gates];
        ring.read(input, slot);
#pragma unroll
        for (int group = 0; group < Shape::warp_groups; group++) {
          float sum[Shape::gates];
#pragma unroll
          for (int gate = 0; gate < Shape::gates; gate++) {
            sum[gate] = elements.offset(group, gate, input[group][gate]);
            if constexpr (Shape::k_splits == 1) sum[gate] += sums.of_group(group, gate);
          }
          if constexpr (Shape::k_splits > 1) partials.add(sum, group, buffer);
          outlet.publish(exchange.next, elements.step(group, sum, input[group]), group,
                         step + 1 < arguments.steps);
        }
        outlet.next_step();
      }
      // Polling slows down the finishing warps' accesses to shared memory. Nothing can arrive before this
      // block's own part is out.
      if constexpr (waiting_warps) {
        if (lane.finishes())
          asm volatile("bar.arrive 1, %0;" ::"n"(Shape::threads) : "memory");
        else
          asm volatile("bar.sync 1, %0;" ::"n"(Shape::threads) : "memory");
      }
      const unsigned published = cycle();
      if (lane.finishes()) elements.save();
      const unsigned received = exchange.published;
      if (step + 1 < arguments.steps) {
        exchange.advance(lane);
        if (lane.finishes()) pass_cycles(published, head_start);
        exchange.request(rows, lane);
      }
      if (step > 0 && lane.warp == marking_warp) exchange.clear_before(received, first_unit, lane);
      ring.template prefetch<prefetch_distance>(step + stages - 1 + prefetch_distance < arguments.steps);
      ring.copy_next(slot == 0 ? stages - 1 : slot - 1, step + stages - 1 < arguments.steps);
      slot = slot == stages - 1 ? 0 : slot + 1;
    }
    elements.store_last(arguments, head, first_row, first_unit, lane);
  }
};

template <class Cell, class Tiling>
__device__ __forceinline__ void grid_forward(const ForwardArguments& arguments) {
  using Forward = GridForward<Cell, Tiling>;
  using Shape = typename Forward::Shape;
  constexpr int group_blocks = Shape::head_dim / Shape::block_units;
  extern __shared__ __align__(128) unsigned char shared_memory[];
  const Lane<Shape> lane;
  const int groups = gridDim.x / group_blocks;
  const int first_unit = blockIdx.x % group_blocks * Shape::block_units;
  typename Forward::Exchange exchange(arguments.workspace, blockIdx.x / group_blocks, groups);
  const int batch_tiles = (arguments.batch + Shape::batch_tile - 1) / Shape::batch_tile;
  for (int job = blockIdx.x / group_blocks; job < arguments.heads * batch_tiles; job += groups) {
    Forward::run_job(arguments, job % arguments.heads, job / arguments.heads * Shape::batch_tile, first_unit,
                     lane, exchange, shared_memory);
    __syncthreads();  // the next job overwrites the partial sums and the rings
  }
}

}  // namespace kerneltune
