// Forward pass of a recurrent cell, strategy "grid": the units of one head and batch tile are spread over a group of thread blocks
// anywhere on the GPU, which exchange h through L2. Launched cooperatively: all blocks of a group must run at the same time.
//
// h travels through four slots of the workspace, used in turn, and every word of it carries its own arrival mark: a slot holds
// 0xffffffff, two NaNs that no conversion produces, until the data comes. A block reads a slot straight into its mma fragments and
// repeats the reads that found the mark; there is no barrier between blocks. The host fills the workspace with the mark before a launch.
//
// Why a word that is read is never an old one. When all its warps have received exchange e (its barrier says so), a block knows that all
// others have received e - 1, and puts the mark back over its own part of slot (e - 1) % 4, which e + 3 will use. A fence and the block's
// next barrier order that mark before the block publishes e + 2. Whoever polls for e + 3 has received all of e + 2, and so sees the mark
// or e + 3. This leans on L2 being where all these accesses meet, in the order in which they are issued behind the fence, and on polls
// not being issued before the loop ahead of them has ended; the PTX memory model alone would also ask for a fence in each publishing
// and each receiving thread, on the path between blocks.
//
// Groups take (head, batch tile) jobs in turn until none is left, so any batch runs on the groups that fit.
#include "../_common/elements.cuh"
#include "../_common/input_ring.cuh"
#include "../_common/partial_sums.cuh"
#include "../_common/recurrent_weights.cuh"

namespace kerneltune {

constexpr unsigned not_arrived = 0xffffffffu;

__device__ __forceinline__ uint4 load_shared_by_gpu(const void* pointer) {
  uint4 value;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(pointer)
               : "memory");
  return value;
}

__device__ __forceinline__ void store_shared_by_gpu(void* pointer, unsigned value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(pointer), "r"(value) : "memory");
}

__device__ __forceinline__ void store_shared_by_gpu(void* pointer, uint4 value) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(pointer), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
               : "memory");
}

__device__ __forceinline__ bool arrived(const uint4& value) {
  return value.x != not_arrived && value.y != not_arrived && value.z != not_arrived && value.w != not_arrived;
}

// One block's view of the slots [4][groups][head_dim / 8][batch_tile][8], and one lane's part of the h that has been received: for each
// n tile and pair of k tiles the 16 bytes that are its B fragments of both (ChunkedOrder). In this order a warp reads whole lines, and a
// line has one writer: lines written by several blocks while others poll them cost twice the time (benchmarks/NOTES.md).
template <class Shape>
struct GridExchange {
  using Scalar = typename Shape::Scalar;
  static constexpr int pairs = Shape::warp_k_tiles / 2;
  static constexpr int slots = 4;
  static constexpr int tile_elements = Shape::batch_tile * Shape::head_dim;
  static_assert(Shape::warp_k_tiles % 2 == 0, "k tiles are read in pairs");

  uint4 part[Shape::n_tiles][pairs];
  Scalar* tile;       // of this group in slot 0
  int slot_elements;  // from one slot to the next
  int published = 0;  // exchanges so far, all jobs together: below 2^31, since so many steps of h would fit no memory

  __device__ __forceinline__ GridExchange(const ForwardArguments& arguments, int group, int groups)
      : tile(static_cast<Scalar*>(arguments.workspace) + group * tile_elements), slot_elements(groups * tile_elements) {}

  __device__ __forceinline__ Scalar* slot(int exchange) const { return tile + exchange % slots * slot_elements; }

  // h before the first step, from states: the caller's, so it carries no mark.
  __device__ __forceinline__ void read_initial(const ForwardArguments& arguments, int head, int first_row, const Lane<Shape>& lane) {
    const Scalar* states = static_cast<const Scalar*>(arguments.states);
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
      for (int pair = 0; pair < pairs; pair++) {
        const int row = first_row + Shape::column_row(n, lane.row), unit = first_unit(lane) + pair * 32;
        const bool present = row < arguments.batch && unit < Shape::head_dim;
        const size_t index = state_index<Shape>(arguments, 0, 0, present ? row : 0, head, present ? unit : 0);
        part[n][pair] = present ? *reinterpret_cast<const uint4*>(states + index) : make_uint4(0, 0, 0, 0);
      }
  }

  // The newest exchange; returns when all of this lane's part is there. rows: batch rows of the tile that exist.
  __device__ __forceinline__ void receive(int rows, const Lane<Shape>& lane) {
    const Scalar* source = slot(published) + (first_unit(lane) / 8 * Shape::batch_tile + lane_row(lane)) * 8;
    bool complete;
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
      for (int pair = 0; pair < pairs; pair++)
        part[n][pair] = present(n, pair, rows, lane) ? make_uint4(not_arrived, 0, 0, 0) : make_uint4(0, 0, 0, 0);
    do {
      complete = true;
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
        for (int pair = 0; pair < pairs; pair++)
          if (!arrived(part[n][pair]))
            part[n][pair] = load_shared_by_gpu(source + (pair * 4 * Shape::batch_tile + n * 8) * 8);
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
        for (int pair = 0; pair < pairs; pair++) complete = complete && arrived(part[n][pair]);
    } while (!complete);
    __syncwarp();
  }

  // Puts the mark back over this block's part of the exchange before the newest. By one warp, after the whole block has received.
  __device__ __forceinline__ void clear_previous(int block_unit, const Lane<Shape>& lane) const {
    Scalar* target = slot(published + slots - 1) + block_unit * Shape::batch_tile;
    for (int chunk = lane.lane; chunk < Shape::batch_tile * Shape::block_units / 8; chunk += 32)
      store_shared_by_gpu(target + chunk * 8, make_uint4(not_arrived, not_arrived, not_arrived, not_arrived));
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }

 private:
  static __device__ __forceinline__ int lane_row(const Lane<Shape>& lane) { return Shape::column_row(0, lane.row); }
  static __device__ __forceinline__ int first_unit(const Lane<Shape>& lane) {
    return lane.k_split * Shape::warp_k_tiles * 16 + 8 * lane.quad;
  }
  static __device__ __forceinline__ bool present(int n, int pair, int rows, const Lane<Shape>& lane) {
    return Shape::column_row(n, lane.row) < rows && (Shape::k_padded == Shape::head_dim || first_unit(lane) + pair * 32 < Shape::head_dim);
  }
};

// The way out for finished elements: to the exchange and to states. Addresses are kept, since they lie on the path between blocks.
template <class Shape>
struct GridOutlet {
  using Scalar = typename Shape::Scalar;
  int offset[Shape::warp_groups];  // within a slot; negative for lanes that write nothing
  Scalar* target[Shape::warp_groups];  // in states, of the coming step
  size_t step_elements;

  __device__ __forceinline__ GridOutlet(const ForwardArguments& arguments, int head, int first_row, int first_unit, const Lane<Shape>& lane)
      : step_elements(static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim) {
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      const int row = lane.batch_row(group), unit = first_unit + lane.unit(group);
      const bool writes = lane.finishes() && lane.row % 2 == 0 && first_row + row < arguments.batch;
      offset[group] = writes ? (unit / 8 * Shape::batch_tile + row) * 8 + unit % 8 : -1;
      target[group] = static_cast<Scalar*>(arguments.states) +
                      (writes ? state_index<Shape>(arguments, 0, 1, first_row + row, head, unit) : 0);
    }
  }

  // Lanes of even units write their own h and their neighbour's as one word: what others see is always a whole word.
  __device__ __forceinline__ void publish(const GridExchange<Shape>& exchange, float h, int group, bool awaited, const Lane<Shape>& lane) const {
    const float neighbour = __shfl_down_sync(0xffffffffu, h, 4);
    if (offset[group] < 0) return;
    const unsigned word = Scalar::pack(h, neighbour);
    if (awaited) store_shared_by_gpu(exchange.slot(exchange.published + 1) + offset[group], word);
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
  static constexpr int partial_bytes = Shape::k_splits > 1 ? Partials::shared_bytes : 0;  // each of two buffers
  static_assert(Weights::shared_bytes + Ring::shared_bytes + 2 * partial_bytes == Tiling::shared_memory, "shared memory as solved");
  static constexpr int stages = Tiling::input_stages;
  static constexpr int marking_warp = Shape::warps - 1;
  // Warps that neither finish nor mark hold their polling back until the finishing warps have published.
  static constexpr bool waiting_warps = Shape::finishing_warps < Shape::warps - 1;

  // Runs one head and batch tile from first step to last. shared_memory: weights, input ring, two buffers of partial sums.
  static __device__ __forceinline__ void run_job(const ForwardArguments& arguments, int head, int first_row, int first_unit,
                                                 const Lane<Shape>& lane, GridExchange<Shape>& exchange, unsigned char* shared_memory) {
    unsigned char* const ring_storage = shared_memory + Weights::shared_bytes;
    float* const partial_storage = reinterpret_cast<float*>(ring_storage + Ring::shared_bytes);
    Ring ring(arguments, head, first_row, first_unit, lane, ring_storage);
#pragma unroll
    for (int step = 0; step < stages - 1; step++) ring.copy_next(step, step < arguments.steps);
    Weights weights;
    weights.load(arguments.recurrent, head, first_unit, lane, shared_memory);
    Elements<Cell, Shape> elements;
    elements.load(arguments, head, first_row, first_unit, lane);
    GridOutlet<Shape> outlet(arguments, head, first_row, first_unit, lane);
    const int rows = arguments.batch - first_row;

    int slot = 0;
    for (int step = 0; step < arguments.steps; step++) {
      float input[Shape::warp_groups][Shape::gates];
      Accumulators<Shape> sums;
      sums.clear();
      ring.template wait<stages - 2>();
      __syncwarp();
      if (lane.finishes()) {
#pragma unroll
        for (int group = 0; group < Shape::warp_groups; group++) ring.read(input[group], slot, group);
      }
      if (step == 0)
        exchange.read_initial(arguments, head, first_row, lane);
      else
        exchange.receive(rows, lane);
#pragma unroll
      for (int k = 0; k < Shape::warp_k_tiles; k++)
#pragma unroll
        for (int n = 0; n < Shape::n_tiles; n++) {
          const uint4& h = exchange.part[n][k / 2];
          sums.template add_k_tile<Tiling::mma_k>(weights, k, n, k % 2 ? h.z : h.x, k % 2 ? h.w : h.y);
        }
      sums.join_chains();
      // Two buffers: a warp may be ahead of the warps that add the parts of this step, but not by two barriers.
      const Partials partials{partial_storage + step % 2 * (partial_bytes / 4)};
      if constexpr (Shape::k_splits > 1) partials.store(sums, lane);
      __syncthreads();
      if (lane.finishes()) {
#pragma unroll
        for (int group = 0; group < Shape::warp_groups; group++) {
          float sum[Shape::gates];
#pragma unroll
          for (int gate = 0; gate < Shape::gates; gate++) {
            sum[gate] = elements.offset(group, gate, input[group][gate]);
            if constexpr (Shape::k_splits == 1) sum[gate] += sums.of_group(group, gate);
          }
          if constexpr (Shape::k_splits > 1) partials.add(sum, group, lane);
          outlet.publish(exchange, elements.step(group, sum, input[group]), group, step + 1 < arguments.steps, lane);
        }
        outlet.next_step();
      }
      // Polling crowds out the finishing warps' shared memory accesses, and nothing can arrive before this block's own part is out.
      if constexpr (waiting_warps) {
        if (lane.finishes())
          asm volatile("bar.arrive 1, %0;" ::"n"((Shape::warps - 1) * 32) : "memory");
        else if (lane.warp != marking_warp)
          asm volatile("bar.sync 1, %0;" ::"n"((Shape::warps - 1) * 32) : "memory");
      }
      if (step > 0 && lane.warp == marking_warp) exchange.clear_previous(first_unit, lane);
      if (step + 1 < arguments.steps) exchange.published++;
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
  GridExchange<Shape> exchange(arguments, blockIdx.x / group_blocks, groups);
  const int batch_tiles = (arguments.batch + Shape::batch_tile - 1) / Shape::batch_tile;
  for (int job = blockIdx.x / group_blocks; job < arguments.heads * batch_tiles; job += groups) {
    Forward::run_job(arguments, job % arguments.heads, job / arguments.heads * Shape::batch_tile, first_unit, lane, exchange,
                     shared_memory);
    __syncthreads();  // the next job overwrites the partial sums and the rings
  }
}

}  // namespace kerneltune
