// A 13-point stencil of a volume, in 2.5 dimensions: a block marches along z with a queue of planes in
// registers, and reads the neighbours in x and y from shared memory (SHARED) or from the cache.
constexpr int R = 2;
constexpr int QUEUE = 2 * R + 1;
constexpr int WIDTH = BX * TX, HEIGHT = BY * TY;

__device__ __forceinline__ float weight(int distance) {
  return distance == 0 ? 0.5f : distance == 1 ? 0.0625f : 0.02083333f;
}

__device__ __forceinline__ float at(const float* in, int x, int y, int z, int nx, int ny, int nz) {
  const bool inside = x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz;
  return inside ? in[(static_cast<size_t>(z) * ny + y) * nx + x] : 0.0f;
}

extern "C" __global__ void __launch_bounds__(BX* BY)
    stencil(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz) {
  __shared__ float plane[SHARED ? HEIGHT + 2 * R : 1][SHARED ? WIDTH + 2 * R : 1];
  const int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
  const int first = blockIdx.z * DEPTH, last = min(first + DEPTH, nz);
  float queue[TY][TX][QUEUE];
#pragma unroll
  for (int j = 0; j < TY; ++j)
#pragma unroll
    for (int i = 0; i < TX; ++i)
#pragma unroll
      for (int q = 1; q < QUEUE; ++q)
        queue[j][i][q] = at(in, left + i * BX + threadIdx.x, top + j * BY + threadIdx.y, first + q - 1 - R,
                            nx, ny, nz);

  for (int z = first; z < last; ++z) {
#pragma unroll
    for (int j = 0; j < TY; ++j)
#pragma unroll
      for (int i = 0; i < TX; ++i) {
#pragma unroll
        for (int q = 0; q + 1 < QUEUE; ++q) queue[j][i][q] = queue[j][i][q + 1];
        queue[j][i][QUEUE - 1] =
            at(in, left + i * BX + threadIdx.x, top + j * BY + threadIdx.y, z + R, nx, ny, nz);
      }
    if (SHARED) {
      __syncthreads();
      for (int k = threadIdx.y * BX + threadIdx.x; k < (HEIGHT + 2 * R) * (WIDTH + 2 * R); k += BX * BY) {
        const int row = k / (WIDTH + 2 * R), column = k % (WIDTH + 2 * R);
        plane[row][column] = at(in, left + column - R, top + row - R, z, nx, ny, nz);
      }
      __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < TY; ++j)
#pragma unroll
      for (int i = 0; i < TX; ++i) {
        const int dx = i * BX + threadIdx.x, dy = j * BY + threadIdx.y;
        const int x = left + dx, y = top + dy;
        float sum = weight(0) * queue[j][i][R];
#pragma unroll
        for (int r = 1; r <= R; ++r) {
          float around = queue[j][i][R - r] + queue[j][i][R + r];
          if (SHARED)
            around += plane[dy + R][dx + R - r] + plane[dy + R][dx + R + r] + plane[dy + R - r][dx + R] +
                      plane[dy + R + r][dx + R];
          else
            around += at(in, x - r, y, z, nx, ny, nz) + at(in, x + r, y, z, nx, ny, nz) +
                      at(in, x, y - r, z, nx, ny, nz) + at(in, x, y + r, z, nx, ny, nz);
          sum += weight(r) * around;
        }
        if (x < nx && y < ny) out[(static_cast<size_t>(z) * ny + y) * nx + x] = sum;
      }
  }
}
