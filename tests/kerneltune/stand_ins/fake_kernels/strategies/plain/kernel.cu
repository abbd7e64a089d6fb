// A stand-in kernel for the tests of kerneltune: state s after step t is wx of gate s, with `held` values alive at once.
#include "../../common/arguments.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
struct SharedMemory {
  unsigned short h[2][Tiling::batch_tile][Tiling::head_dim + 8];
};

template <class Cell, class Tiling>
__device__ void plain_forward(const ForwardArguments& arguments) {
  using Scalar = typename Tiling::Scalar;
  static_assert(sizeof(SharedMemory<Cell, Tiling>) == Tiling::shared_memory, "shared memory as solved");
  extern __shared__ __align__(16) unsigned char raw[];
  auto& shared = *reinterpret_cast<SharedMemory<Cell, Tiling>*>(raw);
  constexpr int D = Tiling::head_dim;
  const auto* input = static_cast<const Scalar*>(arguments.input);
  const auto* recurrent = static_cast<const Scalar*>(arguments.recurrent);
  auto* states = static_cast<Scalar*>(arguments.states);
  const int head = blockIdx.x % arguments.heads;
  const int first = blockIdx.x / arguments.heads * Tiling::batch_tile;
  const size_t step = static_cast<size_t>(arguments.batch) * arguments.heads * D;
  const size_t plane = (arguments.steps + 1) * step;

  float held[Tiling::held];
  for (int i = 0; i < Tiling::held; ++i) held[i] = recurrent[threadIdx.x + i * 7].bits;
  for (int t = 0; t < arguments.steps; ++t) {
    for (int i = threadIdx.x; i < Tiling::batch_tile * D; i += blockDim.x) {
      const int row = first + i / D, unit = i % D;
      if (row >= arguments.batch) continue;
      const size_t place = t * step + (static_cast<size_t>(row) * arguments.heads + head) * D + unit;
      for (int s = 0; s < Cell::states; ++s) {
        const Scalar value = input[place * Tiling::gates + s];
        shared.h[s % 2][i / D][unit] = value.bits;
        states[s * plane + step + place] = value;
      }
    }
    float mixed = 0;
#pragma unroll
    for (int i = 0; i < Tiling::held; ++i) {
      held[i] = held[i] * held[(i + 1) % Tiling::held] + 1.0f;
      mixed += held[i];
    }
    // Keeps every held value alive over the whole loop, and is never true.
    if (mixed == 1.2345e-30f) states[0].bits = 1;
    __syncthreads();
  }
}

}  // namespace kerneltune
