// For the profiler: loads of one warp whose lanes are a stride apart, of which it is known how many sectors of 32 bytes
// they have, so that the counter is checked; and kernels that do nothing, for what the profiler counts of a launch
// alone.
#include <cuda_profiler_api.h>

#include "tools/hardware/benchmarks/benchmark.h"

namespace heddle::hardware {

// Has C linkage, so that its name is known.
extern "C" __global__ void StridedLoad(const unsigned* data, int apart, unsigned* sink) {
  sink[threadIdx.x] = data[threadIdx.x * apart];
}

extern "C" __global__ void Nothing() {}

// Waits for the kernel, and says what the profiler has seen.
void Tell(const char* function, int blocks, const char* parameter, int value) {
  static int number = 0;
  Finish();
  cudaProfilerStop();
  JsonLine()
      .Whole("profiled", number++)
      .Text("function", function)
      .Text("grid", std::to_string(blocks) + ", 1, 1")
      .Text("block", "32, 1, 1")
      .Text(parameter, std::to_string(value))
      .Print();
}

}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  constexpr int kLanes = 32;
  constexpr int kMostBytes = 256;
  DeviceArray<unsigned> data(kLanes * kMostBytes / sizeof(unsigned));
  DeviceArray<unsigned> sink(kLanes);
  HEDDLE_CALL(cudaMemset(data.data(), 1, data.count() * sizeof(unsigned)));
  for (int stride = 4; stride <= kMostBytes; stride *= 2) {
    // Whether somebody listens is seen by what the profiler prints.
    cudaProfilerStart();
    StridedLoad<<<1, kLanes>>>(data.data(), stride / static_cast<int>(sizeof(unsigned)), sink.data());
    Tell("StridedLoad", 1, "p.stride_bytes", stride);
  }
  const int sms = Multiprocessors(IsSmall(argc, argv));
  for (const int blocks : {1, 1, 1, sms, sms, sms, 16 * sms, 16 * sms, 16 * sms}) {
    cudaProfilerStart();
    Nothing<<<blocks, kLanes>>>();
    Tell("Nothing", blocks, "p.blocks", blocks);
  }
  return 0;
}
