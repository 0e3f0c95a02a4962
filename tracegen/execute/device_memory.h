// The device's memory: windows at fixed addresses, so that traces are reproducible.
#ifndef HEDDLE_TRACEGEN_EXECUTE_DEVICE_MEMORY_H_
#define HEDDLE_TRACEGEN_EXECUTE_DEVICE_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/trace.pb.h"

namespace heddle::tracegen {

// One per process at a time: the addresses are fixed.
class DeviceMemory {
 public:
  // Errors: the address range is taken, which happens when another instance lives.
  static absl::StatusOr<std::unique_ptr<DeviceMemory>> Create();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Zeroed global memory, aligned to 512 bytes, with some slack behind it: real programs read a little past the end.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes, const std::string& name);
  // Makes local memory usable for the first `threads` threads of a block.
  absl::Status MapLocal(uint32_t threads);

  const std::vector<trace::v1::Allocation>& allocations() const { return allocations_; }
  // The windows as a trace's header lists them.
  static std::vector<trace::v1::AddressWindow> Windows();

 private:
  DeviceMemory() = default;

  uint64_t next_ = 0;    // free address
  uint64_t mapped_ = 0;  // end of usable global memory
  uint32_t local_threads_ = 0;
  std::vector<trace::v1::Allocation> allocations_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_DEVICE_MEMORY_H_
