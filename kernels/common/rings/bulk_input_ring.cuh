// W x of the coming steps of one head and batch tile, in a ring in shared memory that the whole block reads.
// One warp fills the ring by bulk copies, one for each batch row. Layout:
// [stages][batch_tile][block_units][gates], with padded rows.
#pragma once
#include "../arguments.cuh"
#include "../ptx/bulk_copy.cuh"
#include "../numeric/scalar.cuh"
#include "../shape/warpgroup_shape.cuh"

namespace kerneltune {

template <class Shape, int STAGES>
struct BulkInputRing {
  using Scalar = typename Shape::Scalar;
  static constexpr int unit_bytes = Shape::gates * static_cast<int>(sizeof(Scalar));
  static constexpr int copied_bytes = Shape::block_units * unit_bytes;
  // The padding puts the eight rows that a warp reads at once in different banks.
  static constexpr int row_bytes = copied_bytes + 32;
  static constexpr int stage_bytes = Shape::batch_tile * row_bytes;
  static constexpr int shared_bytes = STAGES * stage_bytes;
  static constexpr int barrier_bytes = STAGES * 8;
  static_assert(copied_bytes % 16 == 0, "bulk copies are of 16 bytes");

  unsigned ring, barriers;  // shared addresses
  int stage = 0;            // of the coming step
  unsigned parity = 0;      // of its barrier

  __device__ __forceinline__ BulkInputRing(unsigned char* storage, unsigned char* barrier_storage)
      : ring(shared_address(storage)), barriers(shared_address(barrier_storage)) {}

  // Moves to another tile in shared memory. For the computing warps.
  __device__ __forceinline__ void move(int bytes) {
    ring += bytes;
    barriers += bytes;
  }

  // Called by one thread.
  __device__ __forceinline__ void initialize_barriers() const {
    for (int i = 0; i < STAGES; i++) barrier(i).initialize(Shape::batch_tile);
  }

  // Requests a step for the next stage. The whole block must have read the stage's previous step. Called by
  // one warp; each lane copies its rows.
  __device__ __forceinline__ void copy(const ForwardArguments& arguments, int step, int head, int first_row,
                                       int first_unit) const {
    if (step >= arguments.steps) return;
    const Scalar* const input = static_cast<const Scalar*>(arguments.input);
#pragma unroll 1  // a courier has few registers
    for (int row = threadIdx.x % 32; row < Shape::batch_tile; row += 32) {
      if (first_row + row >= arguments.batch) {
        barrier(stage).arrive();
        continue;
      }
      const size_t plane =
          (static_cast<size_t>(step) * arguments.batch + first_row + row) * arguments.heads + head;
      barrier(stage).arrive_expecting(copied_bytes);
      copy_bulk(ring + stage * stage_bytes + row * row_bytes,
                input + (plane * Shape::head_dim + first_unit) * Shape::gates, copied_bytes, barrier(stage));
    }
  }

  __device__ __forceinline__ void wait() const { barrier(stage).wait_in_block(parity); }

  // Reads the input of this lane's element in the coming step. The step must have been awaited.
  __device__ __forceinline__ void read(float (&input)[Shape::gates], int group,
                                       const Lane<Shape>& lane) const {
    read_values<Scalar>(input, ring + stage * stage_bytes + lane.batch_row(group) * row_bytes +
                                   lane.unit(group) * unit_bytes);
  }

  __device__ __forceinline__ void next_step() {
    stage++;
    if (stage < STAGES) return;
    stage = 0;
    parity ^= 1;
  }

 private:
  __device__ __forceinline__ TransactionBarrier barrier(int index) const { return {barriers + index * 8}; }
};

}  // namespace kerneltune
