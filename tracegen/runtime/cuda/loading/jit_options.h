// Options of the driver's just-in-time compiler (CUjit_option), as far as they mean something here.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_LOADING_JIT_OPTIONS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_LOADING_JIT_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tracegen/runtime/cuda/api.h"

namespace heddle::cuda {

// Keeps the program's own buffers: they have to live as long as this does. Options that are not known change nothing.
class JitOptions {
 public:
  JitOptions() = default;
  // `values` holds numbers and pointers; what the compiler tells (bytes of a log, its time) goes there too.
  JitOptions(unsigned int count, const CUjit_option* options, void** values);

  uint32_t max_registers() const { return max_registers_; }  // 0 = any
  // CU_JIT_TARGET, such as 75; 0 = any.
  uint32_t capability() const { return capability_; }

  // Appends a line to a log of the program, cut to what its buffer holds. Nothing without one.
  void AddInfo(std::string_view line) { info_.Add(line); }
  void AddError(std::string_view line) { errors_.Add(line); }
  // The compiler has done its work.
  void Finish();

 private:
  struct Log {
    void Begin();
    void Add(std::string_view line);

    char* start = nullptr;
    size_t bytes = 0;         // of the buffer
    void** filled = nullptr;  // where their number goes
    size_t used = 0;
  };

  Log info_;
  Log errors_;
  uint32_t max_registers_ = 0;
  uint32_t capability_ = 0;
  void** wall_time_ = nullptr;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_LOADING_JIT_OPTIONS_H_
