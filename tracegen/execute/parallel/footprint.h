// Which bytes of global memory a worker's blocks read as others left them, and which they write.
#ifndef HEDDLE_TRACEGEN_EXECUTE_PARALLEL_FOOTPRINT_H_
#define HEDDLE_TRACEGEN_EXECUTE_PARALLEL_FOOTPRINT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace heddle::tracegen {

// Two bits per byte of memory, in pages that processes which are forked later share. Reads and writes are exact to the
// byte, so that neighbours in memory are no conflict.
//
// Memory: a quarter of the granules (32 KiB) that are touched, until Clear.
class Footprint {
 public:
  // Of memory [base, base + bytes). Errors: no address space.
  static absl::StatusOr<std::unique_ptr<Footprint>> Create(uint64_t base, uint64_t bytes);
  ~Footprint();
  Footprint(const Footprint&) = delete;
  Footprint& operator=(const Footprint&) = delete;

  // Nothing is read or written.
  void Clear();

  bool Holds(uint64_t address) const { return address - base_ < bytes_; }

  // Bytes that have been written before count as the reader's own. `address` must be held.
  void Read(uint64_t address, uint32_t bytes) {
    ForEachGroup(address - base_, bytes, [this](uint64_t group, uint8_t mask) {
      const uint8_t foreign = mask & static_cast<uint8_t>(~written_[group]);
      if ((read_[group] & foreign) == foreign) return;
      read_[group] |= foreign;
      touched_[group >> kGranuleGroupBits] |= kReads;
    });
  }
  void Write(uint64_t address, uint32_t bytes) {
    ForEachGroup(address - base_, bytes, [this](uint64_t group, uint8_t mask) {
      if ((written_[group] & mask) == mask) return;
      written_[group] |= mask;
      touched_[group >> kGranuleGroupBits] |= kWrites;
    });
  }

  // Whether something is read here that `earlier`, of the same memory, writes.
  bool ReadsWhat(const Footprint& earlier) const;

  // Copies every byte that is written from `from` to `to`, which are views of the memory's first byte.
  void CopyWritten(const char* from, char* to) const;

 private:
  // A group of 8 bytes has one byte in either set.
  static constexpr unsigned kGranuleGroupBits = 12;
  static constexpr uint64_t kGroups = uint64_t{1} << kGranuleGroupBits;  // of a granule
  enum Touch : uint8_t { kReads = 1, kWrites = 2 };

  Footprint(uint64_t base, uint64_t bytes, uint8_t* memory, uint64_t groups);

  template <typename Function>
  static void ForEachGroup(uint64_t offset, uint32_t bytes, Function&& function) {
    const uint64_t group = offset >> 3;
    const uint32_t first = offset & 7;
    if (first + bytes <= 8) [[likely]] {
      function(group, static_cast<uint8_t>(((1u << bytes) - 1) << first));
      return;
    }
    for (uint64_t at = offset; at < offset + bytes;) {
      const uint64_t end = std::min((at | 7) + 1, offset + bytes);
      function(at >> 3, static_cast<uint8_t>(((1u << (end - at)) - 1) << (at & 7)));
      at = end;
    }
  }

  const uint64_t base_;
  const uint64_t bytes_;
  const uint64_t groups_;  // rounded up to whole granules
  const uint64_t granules_;
  uint8_t* const memory_;  // all three
  uint8_t* const read_;
  uint8_t* const written_;
  uint8_t* const touched_;  // by granule
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_PARALLEL_FOOTPRINT_H_
