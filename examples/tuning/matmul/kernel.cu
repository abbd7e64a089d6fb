// c = a b: half in, float out, row-major, on tensor cores by WMMA; tiles come through shared memory by cp.async.
// m, n and k are multiples of the tiles.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int THREADS = 32 * WARPS_M * WARPS_N;
constexpr int WARP_M = BM / WARPS_M, WARP_N = BN / WARPS_N;
constexpr int TILES_M = WARP_M / 16, TILES_N = WARP_N / 16;
constexpr int ROW_A = BK + 8, ROW_B = BN + 8;  // padded against bank conflicts

__device__ inline void copy16(half* to, const half* from) {
  const unsigned place = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(place), "l"(from));
}

__device__ inline void load(half (&tile_a)[BM][ROW_A], half (&tile_b)[BK][ROW_B], const half* a, const half* b,
                            int n, int k) {
#pragma unroll
  for (int i = threadIdx.x; i < BM * BK / 8; i += THREADS) {
    const int row = i / (BK / 8), column = i % (BK / 8) * 8;
    copy16(&tile_a[row][column], a + (size_t)row * k + column);
  }
#pragma unroll
  for (int i = threadIdx.x; i < BK * BN / 8; i += THREADS) {
    const int row = i / (BN / 8), column = i % (BN / 8) * 8;
    copy16(&tile_b[row][column], b + (size_t)row * n + column);
  }
  asm volatile("cp.async.commit_group;\n");
}

extern "C" __global__ void __launch_bounds__(THREADS)
matmul(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(128) half tile_a[STAGES][BM][ROW_A];
  __shared__ __align__(128) half tile_b[STAGES][BK][ROW_B];
  // Blocks that run together share rows of a and columns of b: GROUP rows of tiles at a time.
  const int columns = n / BN, rows = m / BM;
  const int group = blockIdx.x / (GROUP * columns), first = group * GROUP;
  const int height = min(GROUP, rows - first);
  const int within = blockIdx.x % (GROUP * columns);
  const int row = (first + within % height) * BM, column = within / height * BN;
  a += (size_t)row * k;
  b += column;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[TILES_M][TILES_N];
#pragma unroll
  for (int i = 0; i < TILES_M; i++)
#pragma unroll
    for (int j = 0; j < TILES_N; j++) wmma::fill_fragment(sums[i][j], 0.0f);

  const int steps = k / BK;
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < steps) load(tile_a[s], tile_b[s], a + s * BK, b + (size_t)s * BK * n, n, k);
    else asm volatile("cp.async.commit_group;\n");
  }
  const int warp = threadIdx.x / 32, warp_row = warp / WARPS_N * WARP_M, warp_column = warp % WARPS_N * WARP_N;
  for (int step = 0; step < steps; step++) {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(STAGES - 2));
    __syncthreads();
    const int next = step + STAGES - 1;
    if (next < steps) {
      load(tile_a[next % STAGES], tile_b[next % STAGES], a + next * BK, b + (size_t)next * BK * n, n, k);
    } else {
      asm volatile("cp.async.commit_group;\n");
    }
    const int now = step % STAGES;
#pragma unroll
    for (int inner = 0; inner < BK; inner += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> part_a[TILES_M];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> part_b[TILES_N];
#pragma unroll
      for (int i = 0; i < TILES_M; i++)
        wmma::load_matrix_sync(part_a[i], &tile_a[now][warp_row + 16 * i][inner], ROW_A);
#pragma unroll
      for (int j = 0; j < TILES_N; j++)
        wmma::load_matrix_sync(part_b[j], &tile_b[now][inner][warp_column + 16 * j], ROW_B);
#pragma unroll
      for (int i = 0; i < TILES_M; i++)
#pragma unroll
        for (int j = 0; j < TILES_N; j++) wmma::mma_sync(sums[i][j], part_a[i], part_b[j], sums[i][j]);
    }
  }
  c += (size_t)(row + warp_row) * n + column + warp_column;
#pragma unroll
  for (int i = 0; i < TILES_M; i++)
#pragma unroll
    for (int j = 0; j < TILES_N; j++)
      wmma::store_matrix_sync(c + (size_t)16 * i * n + 16 * j, sums[i][j], n, wmma::mem_row_major);
}
