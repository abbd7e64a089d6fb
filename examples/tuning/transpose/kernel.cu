// The transpose of a matrix through shared memory: a block moves PER_BLOCK tiles of TILE by TILE, ROWS rows at
// a time; PAD columns more keep the columns of a tile in different banks.
extern "C" __global__ void __launch_bounds__(TILE* ROWS)
    transpose(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float tile[TILE][TILE + PAD];
  const int row = (DOWN ? blockIdx.x : blockIdx.y) * TILE;
  for (int i = 0; i < PER_BLOCK; ++i) {
    const int column = ((DOWN ? blockIdx.y : blockIdx.x) * PER_BLOCK + i) * TILE;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
      tile[threadIdx.y + j][threadIdx.x] =
          in[static_cast<size_t>(row + threadIdx.y + j) * width + column + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
      out[static_cast<size_t>(column + threadIdx.y + j) * height + row + threadIdx.x] =
          tile[threadIdx.x][threadIdx.y + j];
    __syncthreads();
  }
}
