#include "tracegen/runtime/cuda/loading/jit_options.h"

#include <algorithm>
#include <cstring>

namespace heddle::cuda {

void JitOptions::Log::Begin() {
  if (start == nullptr || bytes == 0) start = nullptr;
  if (start != nullptr) start[0] = '\0';
  if (filled != nullptr) *filled = nullptr;
}

void JitOptions::Log::Add(std::string_view line) {
  if (start == nullptr) return;
  for (const std::string_view part : {line, std::string_view("\n")}) {
    const size_t count = std::min(part.size(), bytes - 1 - used);
    std::memcpy(start + used, part.data(), count);
    used += count;
  }
  start[used] = '\0';
  if (filled != nullptr) *filled = reinterpret_cast<void*>(used);
}

JitOptions::JitOptions(unsigned int count, const CUjit_option* options, void** values)
    : begin_(std::chrono::steady_clock::now()) {
  if (options == nullptr || values == nullptr) return;
  for (unsigned int i = 0; i < count; ++i) {
    const auto number = reinterpret_cast<uintptr_t>(values[i]);
    switch (options[i]) {
      case CU_JIT_MAX_REGISTERS:
        max_registers_ = static_cast<uint32_t>(number);
        break;
      case CU_JIT_TARGET:
        capability_ = static_cast<uint32_t>(number);
        break;
      case CU_JIT_WALL_TIME:
        wall_time_ = &values[i];
        break;
      case CU_JIT_INFO_LOG_BUFFER:
        info_.start = static_cast<char*>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.bytes = number;
        info_.filled = &values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER:
        errors_.start = static_cast<char*>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        errors_.bytes = number;
        errors_.filled = &values[i];
        break;
      default:
        break;
    }
  }
  info_.Begin();
  errors_.Begin();
}

void JitOptions::Finish() {
  if (wall_time_ == nullptr) return;
  const std::chrono::duration<float, std::milli> time = std::chrono::steady_clock::now() - begin_;
  const float milliseconds = time.count();
  std::memcpy(wall_time_, &milliseconds, sizeof(milliseconds));
}

}  // namespace heddle::cuda
