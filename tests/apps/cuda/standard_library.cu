// A .cu file that uses the C++ library on the host, and CUDA's words in host code.
// nvcc: -std=c++17 -Xcompiler -fopenmp
#include <omp.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <complex>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

template <typename T>
__host__ __device__ T Square(T x) {
  return x * x;
}
struct Point {
  float x, y;
  __host__ __device__ float Length() const { return sqrtf(Square(x) + Square(y)); }
};
__host__ __device__ inline int Side() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__ / 10;
#else
  return 0;
#endif
}

__global__ void Lengths(const Point* points, float* out, int* side, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(n > 0);
  if (i < n) out[i] = points[i].Length() + std::abs(-1.0f) + fabs(-2.0) + isnan(0.0f);
  if (i == 0) *side = Side();
}

int main() {
  const int n = 100;
  std::vector<Point> points(n);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> values(-1, 1);
  for (Point& point : points) point = {values(random), values(random)};
  std::unique_ptr<float[]> out(new float[n]);
  Point* device_points;
  float* device_out;
  int *device_side, side;
  CALL(cudaMalloc(&device_points, n * sizeof(Point)));
  CALL(cudaMalloc(&device_out, n * sizeof(float)));
  CALL(cudaMalloc(&device_side, sizeof(int)));
  CALL(cudaMemcpy(device_points, points.data(), n * sizeof(Point), cudaMemcpyHostToDevice));
  // From another thread: the device is the process's.
  std::thread([&] { Lengths<<<(n + 31) / 32, 32>>>(device_points, device_out, device_side, n); }).join();
  CALL(cudaMemcpy(out.get(), device_out, n * sizeof(float), cudaMemcpyDeviceToHost));
  CALL(cudaMemcpy(&side, device_side, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(side == 70 && Side() == 0);
  for (int i = 0; i < n; ++i) EXPECT_NEAR(out[i], points[i].Length() + 3, 1e-6);
  std::complex<double> z(3, 4);
  EXPECT(std::abs(z) == 5 && std::max(2, 3) == 3 && max(2, 3) == 3 && min(2.0f, 3.0f) == 2);
  std::map<std::string, int> names = {{"one", 1}};
  std::ostringstream text;
  text << names["one"] << ' ' << std::accumulate(out.get(), out.get() + n, 0.0f) / n << std::isnan(NAN);
  std::cout << text.str().substr(0, 3) << std::endl;
  assert(n == 100);
  int squares = 0;
#pragma omp parallel for reduction(+ : squares)
  for (int i = 0; i < n; ++i) squares += i * i;
  EXPECT(squares == 328350 && omp_get_max_threads() > 0);
  return Finish();
}
