// The accesses to shared memory on the paths that the threads of a block have taken.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_PATHS_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_PATHS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracegen/execute/block/block_records.h"
#include "tracegen/execute/checks/access_kind.h"
#include "tracegen/execute/checks/copies_on_their_way.h"
#include "tracegen/execute/checks/shared_step.h"
#include "tracegen/instrument/cluster_window.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// Steps of a path that lie in one interval: between two barriers or warp operations.
struct SharedSpan {
  uint64_t interval = 0;  // barriers << 32 | warp operations since
  uint32_t kinds = 0;     // of the steps
  uint32_t first = 0;     // range of steps
  uint32_t end = 0;

  // 1 + number of barriers in front of it.
  uint32_t Barriers() const { return static_cast<uint32_t>(1 + (interval >> 32)); }
};

struct SharedPath {
  uint32_t first = 0;  // range of spans
  uint32_t end = 0;
  bool mixed = false;   // some span has steps of several kinds
  bool stores = false;  // some span has several stores and nothing else
  bool operator==(const SharedPath&) const = default;
};

// Of one block after the other, or of one part of a block. Threads that decide alike share a path.
class SharedPaths {
 public:
  // `program` must outlive the object. `threads`: per block.
  SharedPaths(const trace::Program& program, uint32_t threads);

  // Goes along what the threads have recorded. `last`: the block ends with it.
  void Walk(const BlockRecords& records, bool last);
  // Forgets a block of which only parts have been seen.
  void StartOver() { in_block_ = false; }

  uint32_t threads() const { return static_cast<uint32_t>(path_of_thread_.size()); }
  // Whether what was walked last is a block that has no other parts; and whether it begins a block.
  bool is_whole() const { return is_whole_; }
  bool is_first() const { return is_first_; }
  // A unit has 2^unit_bits() bytes: no access is smaller.
  uint32_t unit_bits() const { return unit_bits_; }
  bool has_atomics() const;
  // The first instruction of a copy that some thread has not waited for when it ended. (Copies are not followed from
  // one part of a block to the next.) The first of all, whoever has found it: then it is the same however blocks are
  // spread.
  const std::optional<trace::Pc>& unwaited() const { return unwaited_; }
  void NoteUnwaited(trace::Pc copy) { unwaited_ = std::min(copy, unwaited_.value_or(copy)); }

  const SharedPath& path(uint32_t thread) const { return path_of_thread_[thread]; }
  const SharedSpan& span(uint32_t number) const { return spans_[number]; }
  const SharedStep& step(uint32_t number) const { return steps_[number]; }

 private:
  // What a basic block does that matters here.
  struct Item {
    uint32_t position = 0;  // among the block's accesses
    trace::Pc pc = 0;
    uint64_t order = 0;
    uint16_t bytes = 0;
    AccessKind::Value kind = AccessKind::kLoad;
    std::optional<CopyEvent> copy;  // of an asynchronous copy, or what waits for it: no access at once
  };
  struct ThreadState {
    trace::WalkState walk;
    uint64_t interval = 0;
    bool operator==(const ThreadState& other) const {
      return interval == other.interval && walk.block == other.walk.block && walk.ended == other.walk.ended &&
             walk.stack == other.walk.stack;
    }
  };

  // Walks the path of a thread, or of its part, and appends what may be accesses to shared memory to steps_.
  SharedPath StepsOf(std::span<const uint8_t> taken, bool to_exit, ThreadState& state);
  void Append(const SharedStep& step, uint64_t interval, SharedPath& path);

  const trace::Program& program_;
  uint32_t unit_bits_ = 2;
  std::vector<Item> items_;
  std::vector<uint32_t> first_item_;  // by basic block, and one more
  bool in_block_ = false;             // parts of the block have been seen
  bool is_whole_ = false;
  bool is_first_ = false;
  std::vector<ThreadState> states_;
  CopiesOnTheirWay on_their_way_;  // of the path that is walked
  std::optional<trace::Pc> unwaited_;
  std::vector<SharedStep> steps_;
  std::vector<SharedSpan> spans_;
  std::vector<SharedPath> path_of_thread_;
  std::unordered_map<std::string_view, SharedPath> known_paths_;
};

// Places of shared memory, counted in units.
struct SharedUnits {
  uint32_t first = 0;
  uint32_t end = 0;  // `first` if it is not an access to shared memory
};

// The paths with the addresses of what was walked last. In launches whose clusters have several blocks, places are
// those of the cluster: of all its blocks one behind the other.
struct SharedAccesses {
  const SharedPaths& paths;
  BlockRecords& records;
  std::span<const uint64_t> consumed;  // by thread: what lies behind the end of a part may not have been written
  uint32_t shared_bytes = 0;           // of a block
  uint32_t cluster_blocks = 1;
  uint32_t rank = 0;  // of the block in its cluster

  SharedUnits UnitsOf(uint32_t thread, const SharedStep& step) const {
    if (step.position >= consumed[thread]) return {};
    const uint64_t address = records.address(thread, step.position);
    uint64_t offset = address - kSharedBase;
    uint64_t base = 0;
    if (cluster_blocks > 1) {
      uint32_t owner = rank;
      if (IsInClusterWindow(address)) {
        const trace::SharedPlace place = PlaceInCluster(address);
        owner = place.rank;
        offset = place.offset;
        if (owner >= cluster_blocks) return {};
      }
      base = uint64_t{owner} * UnitCount(shared_bytes, paths.unit_bits());
    }
    if (offset >= shared_bytes || step.bytes > shared_bytes - offset) return {};
    return {static_cast<uint32_t>(base + (offset >> paths.unit_bits())),
            static_cast<uint32_t>(base + ((offset + step.bytes - 1) >> paths.unit_bits())) + 1};
  }

  // Places of so much shared memory, the last of which may be smaller.
  static uint32_t UnitCount(uint32_t bytes, uint32_t unit_bits) { return (bytes + (1u << unit_bits) - 1) >> unit_bits; }
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_PATHS_H_
