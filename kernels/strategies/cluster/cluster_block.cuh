// A block of the strategy "cluster": its place in the launch and the layout of its shared memory.
#pragma once
#include "../../common/exchange/cluster_exchange.cuh"
#include "../../common/exchange/partial_sums.cuh"
#include "../../common/weights/recurrent_weights.cuh"

namespace kerneltune {

// What a block computes. Clusters: heads x batch tiles, heads fastest.
template <class Shape, int CLUSTER>
struct ClusterPlace {
  static_assert(Shape::block_units * CLUSTER == Shape::head_dim, "a cluster computes a whole head");

  unsigned rank;
  int head, first_row, first_unit;

  __device__ __forceinline__ explicit ClusterPlace(int heads) : rank(cluster_block_rank()) {
    const int cluster = blockIdx.x / CLUSTER;
    head = cluster % heads;
    first_row = cluster / heads * Shape::batch_tile;
    first_unit = rank * Shape::block_units;
  }
};

// Offsets in shared memory of R, the operands (HiddenTile, OperandTile), the ring of steps, the partial sums
// and the two transaction barriers.
template <class Shape, class Tiling, class Operands, class Ring>
struct ClusterMemory {
  using Weights = RecurrentWeights<Shape, NaturalOrder, Tiling::register_k_tiles>;
  using Partials = PartialSums<Shape>;
  static constexpr int operands = Weights::shared_bytes;
  static constexpr int ring = operands + Operands::shared_bytes;
  static constexpr int partials = ring + Ring::shared_bytes;
  static constexpr int barriers = partials + (Shape::k_splits > 1 ? Partials::shared_bytes : 0);
  static constexpr int barrier_bytes = 16;
  static_assert(barriers + barrier_bytes == Tiling::shared_memory, "shared memory as solved");
};

}  // namespace kerneltune
