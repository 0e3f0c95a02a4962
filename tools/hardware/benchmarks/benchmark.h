// What the micro-benchmarks share: calls that end the program when they fail, and results as JSON lines.
// ../benchmarks.json says what each name means. `small` in the command line makes everything short, for tests.
#ifndef HEDDLE_TOOLS_HARDWARE_BENCHMARKS_BENCHMARK_H_
#define HEDDLE_TOOLS_HARDWARE_BENCHMARKS_BENCHMARK_H_

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tools/hardware/programs/json_line.h"

namespace heddle::hardware {

#define HEDDLE_CALL(call)                                                              \
  do {                                                                                 \
    const cudaError_t heddle_error = (call);                                           \
    if (heddle_error != cudaSuccess) {                                                 \
      heddle::hardware::JsonLine()                                                     \
          .Text("error", std::string(#call) + ": " + cudaGetErrorString(heddle_error)) \
          .Print();                                                                    \
      exit(3);                                                                         \
    }                                                                                  \
  } while (0)

constexpr int kRepetitions = 5;

// Waits for all kernels; also those that could not be launched end the program.
inline void Finish() {
  HEDDLE_CALL(cudaGetLastError());
  HEDDLE_CALL(cudaDeviceSynchronize());
}

using Parameters = std::vector<std::pair<std::string, std::string>>;

// Parameters have "p." in front of their names.
inline void Print(const std::string& name, const Parameters& parameters, const char* unit,
                  const std::vector<double>& values) {
  JsonLine line;
  line.Text("benchmark", name).Text("unit", unit).Reals("value", values);
  for (const auto& [key, value] : parameters) line.Text(("p." + key).c_str(), value);
  line.Print();
}

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Memory of the device that goes away with the object.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) { HEDDLE_CALL(cudaMalloc(&data_, count * sizeof(T))); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void Write(const std::vector<T>& values) {
    HEDDLE_CALL(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    HEDDLE_CALL(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  T* data() const { return data_; }
  size_t count() const { return count_; }

 private:
  T* data_ = nullptr;
  size_t count_;
};

// Milliseconds of what `work` starts, between two events.
template <typename Work>
double Milliseconds(Work work) {
  cudaEvent_t begin, end;
  HEDDLE_CALL(cudaEventCreate(&begin));
  HEDDLE_CALL(cudaEventCreate(&end));
  HEDDLE_CALL(cudaEventRecord(begin));
  work();
  HEDDLE_CALL(cudaGetLastError());
  HEDDLE_CALL(cudaEventRecord(end));
  HEDDLE_CALL(cudaEventSynchronize(end));
  float milliseconds = 0;
  HEDDLE_CALL(cudaEventElapsedTime(&milliseconds, begin, end));
  HEDDLE_CALL(cudaEventDestroy(begin));
  HEDDLE_CALL(cudaEventDestroy(end));
  return milliseconds;
}

inline bool IsSmall(int argc, char** argv) { return argc > 1 && strcmp(argv[1], "small") == 0; }

inline int Multiprocessors(bool small) {
  int count = 0;
  HEDDLE_CALL(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return small ? 2 : count;
}

// Compute capability: 90 is 9.0.
inline int Architecture() {
  int major = 0, minor = 0;
  HEDDLE_CALL(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  HEDDLE_CALL(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  return 10 * major + minor;
}

}  // namespace heddle::hardware

#endif  // HEDDLE_TOOLS_HARDWARE_BENCHMARKS_BENCHMARK_H_
