// A clustering program in C++ with the bindings of CL/opencl.hpp: exceptions, functors of kernels, several launches per
// step until nothing changes.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr int kPoints = 1024, kClusters = 5;

const std::string kSource = R"(
__kernel void assign(__global const float2 *points, __global const float2 *centers, __global int *owner, int clusters,
                     __global int *changes) {
  const int i = get_global_id(0);
  int best = 0;
  float nearest = MAXFLOAT;
  for (int c = 0; c < clusters; ++c) {
    const float2 apart = points[i] - centers[c];
    const float d = dot(apart, apart);
    if (d < nearest) { nearest = d; best = c; }
  }
  if (owner[i] != best) { owner[i] = best; atomic_inc(changes); }
}
__kernel void move(__global const float2 *points, __global float2 *centers, __global const int *owner, int n) {
  const int c = get_global_id(0);
  float2 sum = 0;
  int count = 0;
  for (int i = 0; i < n; ++i) if (owner[i] == c) { sum += points[i]; ++count; }
  if (count > 0) centers[c] = sum / (float)count;
}
)";

int Run() {
  std::vector<cl_float2> points(kPoints), centers(kClusters);
  uint32_t state = 12345;
  auto random = [&] { return static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24); };
  for (int i = 0; i < kPoints; ++i) {
    points[i].s[0] = static_cast<float>(i % kClusters) * 10 + random();
    points[i].s[1] = static_cast<float>(i % kClusters) * -5 + random();
  }
  for (int c = 0; c < kClusters; ++c) centers[c] = points[static_cast<size_t>(c)];

  const cl::Context context(CL_DEVICE_TYPE_GPU);
  const cl::Device device = context.getInfo<CL_CONTEXT_DEVICES>().front();
  cl::CommandQueue queue(context, device);
  cl::Program program(context, kSource);
  program.build("-cl-std=CL1.2");
  cl::Buffer d_points(context, points.begin(), points.end(), true);
  cl::Buffer d_centers(context, centers.begin(), centers.end(), false);
  cl::Buffer d_owner(context, CL_MEM_READ_WRITE, kPoints * sizeof(int)),
      d_changes(context, CL_MEM_READ_WRITE, sizeof(int));
  queue.enqueueFillBuffer(d_owner, -1, 0, kPoints * sizeof(int));
  cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer, int, cl::Buffer> assign(program, "assign");
  cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer, int> move(program, "move");
  int steps = 0, changes = 1;
  while (changes != 0 && steps < 50) {
    queue.enqueueFillBuffer(d_changes, 0, 0, sizeof(int));
    assign(cl::EnqueueArgs(queue, cl::NDRange(kPoints), cl::NDRange(128)), d_points, d_centers, d_owner, kClusters,
           d_changes);
    move(cl::EnqueueArgs(queue, cl::NDRange(kClusters)), d_points, d_centers, d_owner, kPoints);
    queue.enqueueReadBuffer(d_changes, CL_TRUE, 0, sizeof(int), &changes);
    ++steps;
  }
  std::vector<int> owner(kPoints);
  queue.enqueueReadBuffer(d_owner, CL_TRUE, 0, kPoints * sizeof(int), owner.data());
  for (int i = 0; i < kPoints; ++i) {
    if (owner[static_cast<size_t>(i)] != i % kClusters) {
      std::cerr << "point " << i << " is in cluster " << owner[static_cast<size_t>(i)] << "\n";
      return 1;
    }
  }
  try {
    cl::Kernel missing(program, "missing");
    return 1;
  } catch (const cl::Error& error) {
    if (error.err() != CL_INVALID_KERNEL_NAME) return 1;
  }
  std::cout << "kmeans: " << steps << " steps on " << device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>() << " units\n";
  std::cout << "kmeans: passed\n";
  return 0;
}

}  // namespace

int main() {
  try {
    return Run();
  } catch (const cl::Error& error) {
    std::cerr << error.what() << ": " << error.err() << "\n";
    return 1;
  }
}
