// A product of few rows and columns over a long K: each block sums a part of K, and a second launch adds up the
// parts.
extern "C" __global__ void __launch_bounds__(TILE* TILE)
    product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ to, int rows, int columns,
            int depth) {
  __shared__ float left[TILE][TILE + 1], right[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  const int from = blockIdx.z * (depth / SPLIT), end = from + depth / SPLIT;
  float sum = 0.0f;
  for (int k = from; k < end; k += TILE) {
    left[threadIdx.y][threadIdx.x] = a[static_cast<size_t>(row) * depth + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[static_cast<size_t>(blockIdx.x * TILE + threadIdx.y) * depth + k + threadIdx.x];
    __syncthreads();
#pragma unroll UNROLL
    for (int i = 0; i < TILE; ++i) sum += left[threadIdx.y][i] * right[threadIdx.x][i];
    __syncthreads();
  }
  to[(static_cast<size_t>(blockIdx.z) * rows + row) * columns + column] = sum;
}

extern "C" __global__ void __launch_bounds__(ADDING)
    add_up(const float* __restrict__ parts, float* __restrict__ out, int count) {
  const int i = blockIdx.x * ADDING + threadIdx.x;
  if (i >= count) return;
  float sum = 0.0f;
  for (int split = 0; split < SPLIT; ++split) sum += parts[static_cast<size_t>(split) * count + i];
  out[i] = sum;
}
