// The heap of device code: malloc, free, new and delete.
#ifndef HEDDLE_TRACEGEN_EXECUTE_MEMORY_DEVICE_HEAP_H_
#define HEDDLE_TRACEGEN_EXECUTE_MEMORY_DEVICE_HEAP_H_

#include <cstdint>
#include <map>
#include <mutex>

namespace heddle::tracegen {

// What a device reserves for its heap unless the program asks for more (CUDA C programming guide, "Dynamic Global
// Memory Allocation").
inline constexpr uint64_t kDeviceHeapBytes = 8 << 20;

// First fit in one range of device memory: the same requests in the same order give the same addresses. It lives as
// long as the program, over all launches. Several threads may use it at once.
class DeviceHeap {
 public:
  static constexpr uint64_t kAlignment = 16;

  DeviceHeap(uint64_t base, uint64_t bytes) : base_(base), bytes_(bytes) { Reset(); }

  // The address of a free piece, 0 if there is none that large.
  uint64_t Allocate(uint64_t bytes);
  // False if the address is none that Allocate has returned and nobody has freed since. Null may be freed.
  bool Free(uint64_t address);
  // Everything is free again.
  void Reset();

  // What is free and what is in use, to be put back later.
  struct State {
    std::map<uint64_t, uint64_t> free;
    std::map<uint64_t, uint64_t> used;
  };
  State Save();
  void Restore(State state);

 private:
  uint64_t base_;
  uint64_t bytes_;
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> free_;  // address -> bytes; neighbours are merged
  std::map<uint64_t, uint64_t> used_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_MEMORY_DEVICE_HEAP_H_
