// Distances of a kernel's output from its reference, computed where the output lies.
// sums[0]: squared differences, sums[1]: squared reference, sums[2]: elements that are NaN;
// largest[0], largest[1]: bits of the largest absolute difference and reference, as float.
#include <cuda_fp16.h>

__device__ void add(double* sums, unsigned* largest, double off, double norm, double missing, float far,
                    float most) {
  for (int step = 16; step; step /= 2) {
    off += __shfl_down_sync(0xffffffffu, off, step);
    norm += __shfl_down_sync(0xffffffffu, norm, step);
    missing += __shfl_down_sync(0xffffffffu, missing, step);
    far = fmaxf(far, __shfl_down_sync(0xffffffffu, far, step));
    most = fmaxf(most, __shfl_down_sync(0xffffffffu, most, step));
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(sums, off);
    atomicAdd(sums + 1, norm);
    atomicAdd(sums + 2, missing);
    atomicMax(largest, __float_as_uint(far));
    atomicMax(largest + 1, __float_as_uint(most));
  }
}

template <typename Got, typename Wanted>
__device__ void distance(const Got* got, const Wanted* wanted, unsigned long long count, double* sums,
                         unsigned* largest) {
  double off = 0, norm = 0, missing = 0;
  float far = 0, most = 0;
  const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const double value = (double)got[i], right = (double)wanted[i];
    const double difference = value - right;
    if (value != value) {
      missing += 1;
    } else {
      off += difference * difference;
      far = fmaxf(far, (float)fabs(difference));
    }
    norm += right * right;
    most = fmaxf(most, (float)fabs(right));
  }
  add(sums, largest, off, norm, missing, far, most);
}

struct Half {
  __half bits;
  __device__ explicit operator double() const { return (double)__half2float(bits); }
};

extern "C" __global__ void distance_float16(const Half* got, const float* wanted, unsigned long long count,
                                            double* sums, unsigned* largest) {
  distance(got, wanted, count, sums, largest);
}

extern "C" __global__ void distance_float32(const float* got, const float* wanted, unsigned long long count,
                                            double* sums, unsigned* largest) {
  distance(got, wanted, count, sums, largest);
}

extern "C" __global__ void distance_float64(const double* got, const double* wanted, unsigned long long count,
                                            double* sums, unsigned* largest) {
  distance(got, wanted, count, sums, largest);
}

// Bytes that differ between two arrays; sums[3].
extern "C" __global__ void different(const unsigned char* one, const unsigned char* other,
                                     unsigned long long count, double* sums) {
  double found = 0;
  const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    found += one[i] != other[i];
  for (int step = 16; step; step /= 2) found += __shfl_down_sync(0xffffffffu, found, step);
  if (threadIdx.x % 32 == 0 && found > 0) atomicAdd(sums + 3, found);
}

// Bytes that are not the given one; sums[4].
extern "C" __global__ void disturbed(const unsigned char* guard, unsigned char byte, unsigned long long count,
                                     double* sums) {
  double found = 0;
  for (unsigned long long i = threadIdx.x; i < count; i += blockDim.x) found += guard[i] != byte;
  for (int step = 16; step; step /= 2) found += __shfl_down_sync(0xffffffffu, found, step);
  if (threadIdx.x % 32 == 0 && found > 0) atomicAdd(sums + 4, found);
}
