// Loads of one warp whose lanes are a stride apart, for the profiler: how many sectors of 32 bytes such a load has is
// known, so this checks the counter.
#include <cuda_profiler_api.h>

#include "tools/hardware/benchmarks/benchmark.h"

namespace heddle::hardware {

// Has C linkage, so that its name is known.
extern "C" __global__ void StridedLoad(const unsigned* data, int apart, unsigned* sink) {
  sink[threadIdx.x] = data[threadIdx.x * apart];
}

}  // namespace heddle::hardware

int main() {
  using namespace heddle::hardware;
  constexpr int kLanes = 32;
  constexpr int kMostBytes = 256;
  DeviceArray<unsigned> data(kLanes * kMostBytes / sizeof(unsigned));
  DeviceArray<unsigned> sink(kLanes);
  HEDDLE_CALL(cudaMemset(data.data(), 1, data.count() * sizeof(unsigned)));
  int number = 0;
  for (int stride = 4; stride <= kMostBytes; stride *= 2) {
    // Whether somebody listens is seen by what the profiler prints.
    cudaProfilerStart();
    StridedLoad<<<1, kLanes>>>(data.data(), stride / static_cast<int>(sizeof(unsigned)), sink.data());
    Finish();
    cudaProfilerStop();
    JsonLine()
        .Whole("profiled", number++)
        .Text("function", "StridedLoad")
        .Text("grid", "1, 1, 1")
        .Text("block", "32, 1, 1")
        .Text("p.stride_bytes", std::to_string(stride))
        .Print();
  }
  return 0;
}
