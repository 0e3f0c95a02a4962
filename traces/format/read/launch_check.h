// Checks what the threads of one launch did.
#ifndef HEDDLE_TRACES_FORMAT_READ_LAUNCH_CHECK_H_
#define HEDDLE_TRACES_FORMAT_READ_LAUNCH_CHECK_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/read/check.h"
#include "traces/format/read/findings.h"

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

class LaunchChecker {
 public:
  LaunchChecker(const TraceReader& reader, const LaunchView& launch, Findings& findings, CheckReport& report);

  // Reads every chunk. Broken rules become findings; an error is returned only if the file cannot be read at all.
  absl::Status Run();

 private:
  static constexpr uint32_t kBarriers = 16;
  using BarrierCounts = std::array<uint32_t, kBarriers>;

  std::string Place(size_t thread) const;
  void CheckParts();
  // The column of last writers, if it is there.
  absl::Status CheckLastWriters(const v1::ChunkReference& reference);
  void CheckPath(size_t path);
  void CheckBarriers();
  void CheckThread(size_t thread);
  void CheckAddress(size_t thread, Pc pc, uint64_t address);
  void CheckTotals();

  const TraceReader& reader_;
  const LaunchView& launch_;
  const Program& program_;
  Findings& findings_;
  CheckReport& report_;
  DecodedChunk chunk_;
  bool complete_ = true;  // all chunks could be read
  uint64_t thread_instructions_ = 0;
  uint64_t accesses_ = 0;

  std::array<AddressRanges, 16> windows_;  // by memory space
  AddressRanges all_windows_;
  AddressRanges allocations_;
  std::vector<uint8_t> alignment_;  // by instruction

  std::vector<bool> reconverges_;  // block is some branch's reconvergence point
  bool has_calls_ = false;
  std::vector<std::pair<uint32_t, uint32_t>> barriers_of_block_;  // (block, barrier id), sorted
  std::vector<bool> has_barrier_;

  // The path at hand.
  std::vector<Pc> path_accesses_;
  std::vector<BarrierCounts> barriers_of_path_;
  absl::flat_hash_set<uint64_t> awaited_;              // frame and block of reconvergence points still to come
  std::vector<std::pair<uint64_t, uint32_t>> frames_;  // number, points awaited

  // The block that is cut in time.
  std::vector<WalkState> part_states_;
  std::vector<BarrierCounts> part_barriers_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_LAUNCH_CHECK_H_
