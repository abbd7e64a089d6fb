// Forward pass of a recurrent cell, strategy "warpgroup", for batches large enough for wgmma.
// As in "grid", the units of one head and batch tile are spread over a group of thread blocks anywhere on the
// GPU. The launch is cooperative: all blocks of a group must run at the same time. Groups take (head, batch
// tiles) jobs in turn until none is left.
//
// Four or eight warps compute. Four other warps, the couriers, do all that waits for other blocks or for
// memory. Each batch tile in flight has two couriers: one publishes the new h and requests the other blocks'
// h (arriving_hidden.cuh); the other writes h to states and copies W x (bulk_input_ring.cuh). With two batch
// tiles in flight, one is computed while the other is exchanged.
#include "../../common/exchange/arriving_hidden.cuh"
#include "../../common/rings/bulk_input_ring.cuh"
#include "../../common/elements/elements.cuh"
#include "../../common/elements/job_elements.cuh"
#include "../../common/weights/warpgroup_weights.cuh"

namespace kerneltune {

// The state of a batch tile that the computing warps share with the tile's two couriers.
template <class Cell, class Tiling>
struct BatchTileInFlight {
  using Shape = WarpgroupShape<Cell, Tiling>;
  using Scalar = typename Shape::Scalar;
  using Hidden = ArrivingHidden<Shape>;
  using Input = BulkInputRing<Shape, Tiling::input_stages>;
  // Offsets in shared memory: h, two parts of the new h, ring of W x, barriers.
  static constexpr int parts_place = Hidden::shared_bytes;
  static constexpr int ring_place = parts_place + 2 * Hidden::part_bytes;
  static constexpr int barriers_place = ring_place + round_up(Input::shared_bytes, 256);
  static constexpr int shared_bytes =
      barriers_place + round_up(Hidden::barrier_bytes + Input::barrier_bytes, 256);
  static constexpr int tiles = Shape::tiles_in_flight;
  static constexpr int meeting =
      32 * (Shape::warps + 2);  // threads of the named barrier at the end of a step

  unsigned char* parts;  // two buffers: this block's part of the new h, in the layout of the other blocks
  Hidden hidden;
  Input input;
  int first_row = 0;

  __device__ __forceinline__ BatchTileInFlight(unsigned char* storage, unsigned char* workspace)
      : parts(storage + parts_place),
        hidden(storage, storage + barriers_place, workspace),
        input(storage + ring_place, storage + barriers_place + Hidden::barrier_bytes) {}

  __device__ __forceinline__ void initialize_barriers() const {
    hidden.initialize_barriers();
    input.initialize_barriers();
    fence_shared_for_async();
  }

  __device__ __forceinline__ unsigned char* part(int step) const {
    return parts + step % 2 * Hidden::part_bytes;
  }

  // Moves to another tile in shared memory. For the computing warps.
  __device__ __forceinline__ void move(int bytes) {
    parts += bytes;
    hidden.move(bytes);
    input.move(bytes);
  }

  // The named barrier of a tile: the computing warps have read h and W x of a step and written the new part.
  static __device__ __forceinline__ void say_computed(int index) {
    asm volatile("bar.arrive %0, %1;" ::"r"(1 + index), "n"(meeting) : "memory");
  }
  static __device__ __forceinline__ void await_computed(int index) {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + index), "n"(meeting) : "memory");
  }

  // Between a tile's couriers: h has been published. The fence of publish waits for all stores of the block,
  // so other stores come after it.
  static __device__ __forceinline__ void say_published(int index) {
    asm volatile("bar.arrive %0, %1;" ::"r"(1 + tiles + index), "n"(64) : "memory");
  }
  static __device__ __forceinline__ void await_published(int index) {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + tiles + index), "n"(64) : "memory");
  }

  // Writes the new h to states. Called by one warp.
  __device__ __forceinline__ void write_states(const ForwardArguments& arguments, int step, int head,
                                               int first_unit) const {
    constexpr int octets = Shape::block_units / Shape::part;
    Scalar* const states = static_cast<Scalar*>(arguments.states);
#pragma unroll 1  // a courier has few registers
    for (int piece = threadIdx.x % 32; piece < Hidden::pieces; piece += 32) {
      const int row = piece / octets, octet = piece % octets;
      if (first_row + row >= arguments.batch) continue;
      const size_t index =
          state_index<Shape>(arguments, 0, step + 1, first_row + row, head, first_unit + octet * Shape::part);
      __stcs(reinterpret_cast<uint4*>(states + index),
             *reinterpret_cast<const uint4*>(part(step) + Hidden::place(octet, row)));
    }
  }
};

// The warps that compute one head: R, and this lane's elements of the tiles in flight. One tile is at hand,
// so the code of a step exists once for all tiles.
template <class Cell, class Tiling>
struct WarpgroupCompute {
  using Shape = WarpgroupShape<Cell, Tiling>;
  using Scalar = typename Shape::Scalar;
  using Tile = BatchTileInFlight<Cell, Tiling>;
  using Weights = WarpgroupWeights<Shape, Tiling::register_k_tiles>;
  static constexpr int tiles = Shape::tiles_in_flight;

  const ForwardArguments& arguments;
  int head, first_row, first_unit;
  Lane<Shape> lane;
  Weights weights;
  Elements<Cell, Shape> elements;                         // of the tile at hand
  float other_states[Shape::warp_groups][Shape::states];  // of the other tile

  // tile: the first one. The first tile is at hand again after all tiles had their turn.
  __device__ __forceinline__ void load(Tile& tile, unsigned char* weight_storage) {
    weights.load(arguments.recurrent, head, first_unit, lane, weight_storage);
#pragma unroll
    for (int index = tiles - 1; index >= 0; index--) {
      if (index == 1) tile.move(Tile::shared_bytes);
      tile.hidden.fill(arguments, head, row_of(index));
      elements.load(arguments, head, row_of(index), first_unit, lane);
      if (index == 1) next_tile(tile, 1);
    }
    fence_shared_for_async();
  }

  // One step of every tile in flight.
  __device__ __forceinline__ void step(Tile& tile, int step) {
#pragma unroll 1
    for (int index = 0; index < tiles; index++) {
      float sums[Shape::n_tiles][4];
      tile.hidden.multiply(sums, weights);
      tile.input.wait();
      update(tile, sums, row_of(index), step);
      Tile::say_computed(index);
      next_tile(tile, index);
    }
    tile.hidden.parity ^= 1;
    tile.input.next_step();
  }

  __device__ __forceinline__ void store_last(Tile& tile) {
#pragma unroll
    for (int index = 0; index < tiles; index++) {
      elements.store_last(arguments, head, row_of(index), first_unit, lane);
      next_tile(tile, index);
    }
  }

 private:
  __device__ __forceinline__ int row_of(int index) const { return first_row + index * Shape::batch_tile; }

  // Switches from tile `index` to the other one, where there are two.
  __device__ __forceinline__ void next_tile(Tile& tile, int index) {
    if constexpr (tiles == 1) return;
    tile.move(index == 0 ? Tile::shared_bytes : -Tile::shared_bytes);
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++)
#pragma unroll
      for (int i = 0; i < Shape::states; i++) {
        const float state = elements.state[group][i];
        elements.state[group][i] = other_states[group][i];
        other_states[group][i] = state;
      }
  }

  // Computes the new h of this lane's elements.
  __device__ __forceinline__ void update(const Tile& tile, const float (&sums)[Shape::n_tiles][4],
                                         int tile_row, int step) {
    const JobElements<Shape, ForwardArguments> job{arguments, head, tile_row, first_unit, lane};
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      const int unit = lane.unit(group);
      float sum[Shape::gates], x[Shape::gates];
      tile.input.read(x, group, lane);
      gates_of(sum, sums, group);
#pragma unroll
      for (int gate = 0; gate < Shape::gates; gate++) sum[gate] += elements.offset(group, gate, x[gate]);
      Scalar* const target = reinterpret_cast<Scalar*>(
          tile.part(step) + Tile::Hidden::place(unit / Shape::part, lane.batch_row(group)));
      target[unit % Shape::part] = from_float<Scalar>(elements.step(group, sum, x));
      if constexpr (Shape::saves)
        if (job.exists(group))
          elements.saved.write_group(group, step * job.step_elements() + job.index(group),
                                     elements.state[group]);
    }
  }

  // The gates' sums of this lane's element. Where a unit has four rows, two lanes hold two gates of two
  // columns each; each lane keeps one column.
  __device__ __forceinline__ void gates_of(float (&sum)[Shape::gates], const float (&sums)[Shape::n_tiles][4],
                                           int group) const {
    if constexpr (Shape::unit_rows == 1) {
      sum[0] = sums[group / 2 % Shape::n_tiles][group / (2 * Shape::n_tiles) * 2 + group % 2];
    } else {
      const bool odd = lane.row % 2;
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const float even_column = sums[group][2 * half], odd_column = sums[group][2 * half + 1];
        const float own = odd ? odd_column : even_column;
        const float received = __shfl_xor_sync(0xffffffffu, odd ? even_column : odd_column, 4);
        sum[2 * half] = odd ? received : own;
        if (2 * half + 1 < Shape::gates) sum[2 * half + 1] = odd ? own : received;
      }
    }
  }
};

template <class Cell, class Tiling>
struct WarpgroupForward {
  using Shape = WarpgroupShape<Cell, Tiling>;
  using Tile = BatchTileInFlight<Cell, Tiling>;
  using Compute = WarpgroupCompute<Cell, Tiling>;
  static constexpr int tiles = Shape::tiles_in_flight;
  static_assert(Compute::Weights::shared_bytes + tiles * Tile::shared_bytes == Tiling::shared_memory,
                "shared memory as solved");
  // Otherwise setmaxnreg.inc would wait for ever.
  static_assert(Tiling::moved_registers == 0 ||
                    (Shape::warpgroups * Tiling::compute_registers + Tiling::courier_registers) * 128 <=
                        Tiling::registers * Tiling::threads,
                "no more registers are taken than the launch has");

  const ForwardArguments& arguments;
  unsigned char* const shared_memory;  // R beyond the registers; the tiles in flight
  const int groups = gridDim.x / Shape::group_blocks, group = blockIdx.x / Shape::group_blocks;
  const int first_unit = blockIdx.x % Shape::group_blocks * Shape::block_units;

  __device__ __forceinline__ Tile tile(int index) const {
    unsigned char* const workspace = static_cast<unsigned char*>(arguments.workspace);
    return Tile(shared_memory + Compute::Weights::shared_bytes + index * Tile::shared_bytes,
                workspace + static_cast<size_t>(group * tiles + index) * Tile::Hidden::workspace_bytes);
  }

  // Calls run(head, first batch row of the first tile) for each of the group's jobs.
  template <class Run>
  __device__ __forceinline__ void for_each_job(const Run& run) const {
    constexpr int rows = tiles * Shape::batch_tile;
    const int jobs = arguments.heads * ((arguments.batch + rows - 1) / rows);
    for (int job = group; job < jobs; job += groups) {
      __syncthreads();  // the barriers are initialised; all threads have left the previous job
      run(job % arguments.heads, job / arguments.heads * rows);
    }
  }

  __device__ __forceinline__ void compute() const {
    Tile first = tile(0);
    for_each_job([&](int head, int first_row) {
      Compute compute{arguments, head, first_row, first_unit};
      compute.load(first, shared_memory);
      __syncthreads();  // h of the first step is present
#pragma unroll 1
      for (int step = 0; step < arguments.steps; step++) compute.step(first, step);
      compute.store_last(first);
    });
  }

  // The first courier of a tile: publishes h and requests the other blocks' h.
  __device__ __forceinline__ void carry_hidden(int index) const {
    Tile own = tile(index);
    for_each_job([&](int, int) {
      __syncthreads();
      own.hidden.say_filled();
#pragma unroll 1
      for (int step = 0; step + 1 < arguments.steps; step++) {
        own.await_computed(index);
        own.hidden.publish(own.part(step), first_unit / Shape::block_units);
        own.say_published(index);
        own.hidden.request();
      }
      own.await_computed(index);
      own.say_published(index);
    });
  }

  // The second courier of a tile: writes h to states and copies W x.
  __device__ __forceinline__ void carry_steps(int index) const {
    constexpr int stages = Tiling::input_stages;
    Tile own = tile(index);
    for_each_job([&](int head, int first_row) {
      own.first_row = first_row + index * Shape::batch_tile;
      __syncthreads();
#pragma unroll 1
      for (int step = -stages; step < arguments.steps; step++) {
        if (step >= 0) {
          own.await_computed(index);
          own.await_published(index);
        }
        own.input.copy(arguments, step + stages, head, own.first_row, first_unit);
        own.input.next_step();
        if (step >= 0) own.write_states(arguments, step, head, first_unit);
      }
    });
  }
};

template <class Cell, class Tiling>
__device__ __forceinline__ void warpgroup_forward(const ForwardArguments& arguments) {
  using Forward = WarpgroupForward<Cell, Tiling>;
  extern __shared__ __align__(256) unsigned char shared_memory[];
  const Forward forward{arguments, shared_memory};
  if (threadIdx.x < Forward::tiles) forward.tile(threadIdx.x).initialize_barriers();
  const int courier = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0) - Forward::Shape::warps;
  if (courier < 0) {
    if constexpr (Tiling::moved_registers > 0) take_registers<Tiling::compute_registers>();
    forward.compute();
  } else {
    if constexpr (Tiling::moved_registers > 0) give_registers<Tiling::courier_registers>();
    if (courier >= 2 * Forward::tiles)
      forward.for_each_job([](int, int) { __syncthreads(); });
    else if (courier % 2 == 0)
      forward.carry_hidden(courier / 2);
    else
      forward.carry_steps(courier / 2);
  }
}

}  // namespace kerneltune
