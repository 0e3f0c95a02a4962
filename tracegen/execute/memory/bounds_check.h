// Recorded addresses outside everything that is allocated, or behind a block's shared memory.
#ifndef HEDDLE_TRACEGEN_EXECUTE_MEMORY_BOUNDS_CHECK_H_
#define HEDDLE_TRACEGEN_EXECUTE_MEMORY_BOUNDS_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proto/trace.pb.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/format/chunk/segmented_block.h"

namespace heddle::tracegen {

// Memory has some slack behind every allocation, and stays accessible in pages: small accesses beyond the end do no
// harm here, as on a device, but they are mistakes of the program. One look-up per address in a table with the number
// of valid bytes of every 512 (allocations are aligned to that). Of shared memory a block has one range, of which
// arrays are not told apart.
class BoundsCheck {
 public:
  static constexpr size_t kNone = ~size_t{0};

  // Replaces what is allocated.
  void SetAllocations(const std::vector<trace::v1::Allocation>& allocations);
  // How much shared memory each block has; before that, all of the window.
  void SetShared(uint64_t bytes) { shared_end_ = kSharedBase + bytes; }
  // Position of the first global address that lies in no allocation, or shared one behind a block's memory, or kNone.
  size_t FindOutside(std::span<const uint64_t> addresses) const;
  // True if no address in these ranges lies outside. False says nothing, nor does an empty list.
  bool Holds(std::span<const trace::AddressBounds> ranges) const;
  static bool IsShared(uint64_t address) { return address - kSharedBase < kSharedBytes; }
  // Where an address lies: "16 bytes behind the end of 'a' (400 bytes)".
  std::string Describe(uint64_t address) const;

 private:
  struct Range {
    uint64_t base = 0;
    uint64_t bytes = 0;
    std::string name;
    bool operator==(const Range&) const = default;
  };

  bool IsBehindShared(uint64_t address) const {
    return address - shared_end_ < kSharedBase + kSharedBytes - shared_end_;
  }
  // The range in which an address lies or behind which it lies; null if it is in front of all.
  const Range* Before(uint64_t address) const;
  // False says nothing: it only looks at the range of the first address, of which there is one.
  bool AllInOneRange(std::span<const uint64_t> addresses) const;

  uint64_t shared_end_ = kSharedBase + kSharedBytes;
  std::vector<Range> ranges_;    // ascending
  std::vector<uint16_t> valid_;  // by 512 bytes from the start of the global window: bytes that are allocated
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_MEMORY_BOUNDS_CHECK_H_
