// Steps of a heat equation on a chip (the stencil of Rodinia's hotspot): T steps in one launch, in shared memory,
// on tiles that overlap by T cells. Each thread has TILE_X by TILE_Y cells.
constexpr int WIDTH = BLOCK_X * TILE_X, HEIGHT = BLOCK_Y * TILE_Y;
constexpr int INNER_X = WIDTH - 2 * T, INNER_Y = HEIGHT - 2 * T;

extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y, BLOCKS_PER_SM)
hotspot(const float* __restrict__ power, const float* __restrict__ from, float* __restrict__ to, int width,
        int height, float cap, float rx, float ry, float rz) {
  __shared__ float cells[2][HEIGHT][WIDTH];
#if KEEP_POWER
  float own[TILE_Y][TILE_X];
#endif
  const int left = blockIdx.x * INNER_X - T, top = blockIdx.y * INNER_Y - T;
#pragma unroll
  for (int j = 0; j < TILE_Y; j++)
#pragma unroll
    for (int i = 0; i < TILE_X; i++) {
      const int x = threadIdx.x + i * BLOCK_X, y = threadIdx.y + j * BLOCK_Y;
      const int gx = min(max(left + x, 0), width - 1), gy = min(max(top + y, 0), height - 1);
      cells[0][y][x] = from[(size_t)gy * width + gx];
#if KEEP_POWER
      own[j][i] = power[(size_t)gy * width + gx];
#endif
    }
  __syncthreads();
#pragma unroll UNROLL
  for (int t = 0; t < T; t++) {
    const auto& now = cells[t % 2];
#pragma unroll
    for (int j = 0; j < TILE_Y; j++)
#pragma unroll
      for (int i = 0; i < TILE_X; i++) {
        const int x = threadIdx.x + i * BLOCK_X, y = threadIdx.y + j * BLOCK_Y;
        const int gx = left + x, gy = top + y;
        if (x <= t || x >= WIDTH - 1 - t || y <= t || y >= HEIGHT - 1 - t) continue;
        const int cx = min(max(gx, 0), width - 1), cy = min(max(gy, 0), height - 1);
        const float here = now[y][x];
        // At the chip's edge a cell is its own neighbour.
        const float west = gx <= 0 ? here : now[y][x - 1], east = gx >= width - 1 ? here : now[y][x + 1];
        const float north = gy <= 0 ? here : now[y - 1][x], south = gy >= height - 1 ? here : now[y + 1][x];
#if KEEP_POWER
        const float heat = own[j][i];
        (void)cx, (void)cy;
#else
        const float heat = power[(size_t)cy * width + cx];
#endif
        cells[(t + 1) % 2][y][x] = here + cap * (heat + (south + north - 2.0f * here) * ry +
                                                 (east + west - 2.0f * here) * rx + (80.0f - here) * rz);
      }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < TILE_Y; j++)
#pragma unroll
    for (int i = 0; i < TILE_X; i++) {
      const int x = threadIdx.x + i * BLOCK_X, y = threadIdx.y + j * BLOCK_Y;
      const int gx = left + x, gy = top + y;
      if (x >= T && x < WIDTH - T && y >= T && y < HEIGHT - T && gx < width && gy < height)
        to[(size_t)gy * width + gx] = cells[T % 2][y][x];
    }
}
