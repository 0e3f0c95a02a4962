// Checks where the threads of a launch access memory.
#ifndef HEDDLE_TRACES_FORMAT_READ_ADDRESS_CHECK_H_
#define HEDDLE_TRACES_FORMAT_READ_ADDRESS_CHECK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "traces/format/program/clusters.h"
#include "traces/format/read/findings.h"
#include "traces/format/read/reader.h"
#include "traces/format/read/thread_place.h"

namespace heddle::trace {

// Address ranges, merged and sorted.
class AddressRanges {
 public:
  void Add(uint64_t base, uint64_t bytes);
  // Call once, after the last Add.
  void Sort();
  bool empty() const { return ranges_.empty(); }
  bool Holds(uint64_t address, uint64_t bytes) const;

 private:
  std::vector<std::pair<uint64_t, uint64_t>> ranges_;  // first and last byte
};

// Addresses are aligned to the size of the access, and lie in the window of their memory space and in an allocation of
// the launch, as far as the trace has any.
class AddressCheck {
 public:
  AddressCheck(const TraceReader& reader, const LaunchView& launch, Findings& findings);

  // A thread of the chunk at `place`, whose accesses are of these columns (positions in Program::accesses()).
  void Check(std::span<const uint32_t> columns, const ThreadPlace& place, size_t thread);

 private:
  // What a column holds.
  struct Access {
    uint32_t bytes = 0;
    uint8_t alignment = 1;  // of its size
    v1::MemorySpace space = v1::MemorySpace();
    bool is_address = false;
    // Of a copy's source: how many columns behind it its number of bytes is; 0: it reads all of them.
    uint32_t size_ahead = 0;
    Pc instruction = 0;
    Pc slot = 0;
  };

  void CheckAccess(const Access& access, uint64_t address, const ThreadPlace& thread_place, size_t thread);

  const TraceReader& reader_;
  const Program& program_;
  Findings& findings_;
  const SharedWindows shared_;
  const uint32_t cluster_blocks_;
  std::array<AddressRanges, 16> windows_;  // by memory space
  AddressRanges all_windows_;
  AddressRanges allocations_;
  std::vector<Access> accesses_;  // by column
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_ADDRESS_CHECK_H_
