// Which memory space a recorded address belongs to.
#ifndef HEDDLE_REPLAY_MEMORY_PORTS_ADDRESS_WINDOWS_H_
#define HEDDLE_REPLAY_MEMORY_PORTS_ADDRESS_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "proto/trace.pb.h"

namespace heddle::replay {

// The windows of a trace: an address outside all of them is global (trace format, AddressWindow).
class AddressWindows {
 public:
  AddressWindows() = default;
  explicit AddressWindows(const trace::v1::FileHeader& header) {
    for (const trace::v1::AddressWindow& window : header.window()) {
      windows_.push_back({window.base(), window.bytes(), window.space()});
    }
  }

  trace::v1::MemorySpace SpaceOf(uint64_t address) const {
    for (const Window& window : windows_) {
      if (address - window.base < window.bytes) return window.space;
    }
    return trace::v1::SPACE_GLOBAL;
  }

  // The first address of a space's window; 0 if it has none.
  uint64_t BaseOf(trace::v1::MemorySpace space) const {
    for (const Window& window : windows_) {
      if (window.space == space) return window.base;
    }
    return 0;
  }

 private:
  struct Window {
    uint64_t base;
    uint64_t bytes;
    trace::v1::MemorySpace space;
  };
  std::vector<Window> windows_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PORTS_ADDRESS_WINDOWS_H_
