// Finds, in what the threads of a block have recorded, shared memory that is used without the synchronization it needs.
#ifndef HEDDLE_TRACEGEN_EXECUTE_SHARED_CHECK_H_
#define HEDDLE_TRACEGEN_EXECUTE_SHARED_CHECK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/execute/block_runner.h"
#include "traces/format/program.h"
#include "traces/format/walk.h"
#include "traces/format/writer.h"

namespace heddle::tracegen {

// Barriers and warp operations divide what a thread does into intervals: number of barriers passed, and of warp
// operations since the last one. Between two accesses by different threads of a warp in intervals of the same number
// there is nothing that orders them. Such accesses are gone through in the order that a warp in lockstep has (lowest
// instruction first, as BlockRunner's lockstep), whatever the order in which the threads happened to run. A hand-off is
// a load of what another thread has stored last, unless the thread itself has stored there by the same instruction; or
// a store to what another thread has loaded. Atomics are both, but not among themselves. Warp operations count whatever
// their mask, so that a hand-off behind one for other threads is missed; so is one between parts of a block that is cut
// in time.
//
// A load of a place that no thread has stored to before the same barrier reads what is not initialized.
class SharedMemoryCheck final : public BlockObserver {
 public:
  using HandOff = std::pair<trace::Pc, trace::Pc>;  // instruction that stores, instruction that loads

  // Of one launch of `program`, which must outlive the check, with so many threads and so much shared memory per block.
  SharedMemoryCheck(const trace::Program& program, uint32_t threads, uint32_t shared_bytes);

  absl::Status AddBlock(uint64_t block, std::span<const trace::ThreadRecord> records,
                        std::span<const uint64_t> consumed, bool last) override;

  // Number of loads by pair of instructions.
  const std::map<HandOff, uint64_t>& hand_offs() const { return hand_offs_; }
  // The first load, and its block, of what was not initialized.
  struct Uninitialized {
    trace::Pc pc = 0;
    uint64_t block = 0;
    uint32_t thread = 0;
  };
  const std::optional<Uninitialized>& uninitialized() const { return uninitialized_; }

 private:
  enum class Kind : uint8_t { kLoad, kStore, kAtomic };
  // An access of a path that may be to shared memory.
  struct Step {
    uint32_t position = 0;  // among the path's accesses
    trace::Pc pc = 0;
    uint64_t interval = 0;  // barriers << 32 | warp operations since
    uint64_t order = 0;     // as in Access
    uint16_t bytes = 0;
    Kind kind = Kind::kLoad;
  };
  struct Path {
    size_t first = 0;  // of steps_
    size_t end = 0;
  };
  struct ThreadState {
    trace::WalkState walk;
    uint64_t interval = 0;
  };
  struct Access {
    uint64_t interval = 0;
    uint64_t order = 0;  // within an interval: the lowest goes first
    uint32_t unit = 0;
    uint32_t units = 0;
    trace::Pc pc = 0;
    Kind kind = Kind::kLoad;
  };
  // What the latest instruction of a kind that accessed a place was, and for which lanes of the warp.
  struct Latest {
    trace::Pc pc = 0;
    uint32_t lanes = 0;
    void Add(trace::Pc by, uint32_t lane) {
      if (by != pc) lanes = 0;
      pc = by;
      lanes |= lane;
    }
  };
  // Of one warp and interval.
  struct Place {
    uint64_t stamp = 0;
    Latest store;
    Latest load;
    Latest atomic;
  };
  // When a place was first stored to: 1 + number of barriers before, 0 = not yet.
  struct FirstStore {
    uint64_t block = ~uint64_t{0};
    uint32_t plain = 0;
    uint32_t any = 0;
  };

  Path StepsOf(const trace::ThreadRecord& record, bool last, ThreadState& state);
  void CollectWarp(uint32_t warp, std::span<const trace::ThreadRecord> records, std::span<const uint64_t> consumed);
  void NoteStores(uint64_t block);
  void FindUninitialized(uint64_t block, uint32_t warp);
  void FindHandOffs();
  void Touch(uint32_t lane, const Access& access, uint32_t unit);

  const trace::Program& program_;
  uint32_t threads_;
  uint32_t shared_bytes_;
  uint32_t unit_bytes_ = 4;
  bool in_block_ = false;  // parts of the block have been seen
  std::vector<ThreadState> states_;
  std::vector<Step> steps_;
  std::vector<Path> path_of_thread_;
  std::unordered_map<std::string_view, Path> known_paths_;
  std::vector<std::vector<Access>> lanes_;  // of one warp
  uint64_t stamp_ = 0;
  std::vector<Place> places_;
  std::vector<FirstStore> first_store_;
  std::map<HandOff, uint64_t> hand_offs_;
  std::optional<Uninitialized> uninitialized_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_SHARED_CHECK_H_
