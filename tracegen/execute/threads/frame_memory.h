// Memory for the frames of threads that wait at barriers without a stack.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_FRAME_MEMORY_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_FRAME_MEMORY_H_

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace heddle::tracegen {

// One frame per thread, kept and reused from launch to launch.
class FrameMemory {
 public:
  static constexpr uint64_t kAlignment = 64;  // a cache line, and more than any value of device code needs

  // Makes room for frames of so many bytes, which may be none. False: there is no memory.
  bool Place(uint64_t frame_bytes, uint32_t threads) {
    stride_ = (frame_bytes + kAlignment - 1) / kAlignment * kAlignment;
    const uint64_t bytes = stride_ * threads;
    if (bytes > capacity_) {
      memory_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, bytes)));
      capacity_ = memory_ != nullptr ? bytes : 0;
    }
    return bytes <= capacity_;
  }
  void* Of(uint32_t thread) const { return memory_.get() + thread * stride_; }

 private:
  std::unique_ptr<char, decltype(&std::free)> memory_{nullptr, &std::free};
  uint64_t stride_ = 0;
  uint64_t capacity_ = 0;  // bytes
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_FRAME_MEMORY_H_
