// The sum of an array: each block adds a part, the last block to finish adds the parts. Bits repeat.
#if VECTOR == 4
using Vector = float4;
__device__ inline float sum_of(Vector v) { return (v.x + v.y) + (v.z + v.w); }
#elif VECTOR == 2
using Vector = float2;
__device__ inline float sum_of(Vector v) { return v.x + v.y; }
#else
using Vector = float;
__device__ inline float sum_of(Vector v) { return v; }
#endif

__device__ float parts[MOST_BLOCKS];
__device__ unsigned finished = 0;

__device__ float block_sum(float value) {
  __shared__ float warps[32];
#if SHUFFLE
  for (int step = 16; step; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < BLOCK / 32 ? warps[threadIdx.x] : 0.0f;
  if (threadIdx.x < 32)
    for (int step = 16; step; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  __syncthreads();
  return value;
#else
  __shared__ float all[BLOCK];
  all[threadIdx.x] = value;
  __syncthreads();
  for (int step = BLOCK / 2; step; step /= 2) {
    if (threadIdx.x < step) all[threadIdx.x] += all[threadIdx.x + step];
    __syncthreads();
  }
  (void)warps;
  return all[0];
#endif
}

extern "C" __global__ void __launch_bounds__(BLOCK) reduction(const float* __restrict__ values,
                                                              float* __restrict__ result, int count) {
  const Vector* vectors = reinterpret_cast<const Vector*>(values);
  const int whole = count / VECTOR, stride = gridDim.x * BLOCK;
  float sums[UNROLL] = {};
  int i = blockIdx.x * BLOCK + threadIdx.x;
  for (; i + (UNROLL - 1) * stride < whole; i += UNROLL * stride)
#pragma unroll
    for (int j = 0; j < UNROLL; j++) sums[j] += sum_of(vectors[i + j * stride]);
  for (; i < whole; i += stride) sums[0] += sum_of(vectors[i]);
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < UNROLL; j++) sum += sums[j];
  if (blockIdx.x == 0 && threadIdx.x == 0)
    for (int rest = whole * VECTOR; rest < count; rest++) sum += values[rest];
  sum = block_sum(sum);
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  float total = 0.0f;
  for (int part = threadIdx.x; part < gridDim.x; part += BLOCK) total += *(volatile float*)&parts[part];
  total = block_sum(total);
  if (threadIdx.x == 0) {
    *result = total;
    finished = 0;
  }
}
