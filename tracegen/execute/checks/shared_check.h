// Finds, in what the threads of a block have recorded, shared memory that is used without the synchronization it needs.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_CHECK_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_CHECK_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/execute/block/block_observer.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/program.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// Barriers and warp operations divide what a thread does into intervals: number of barriers passed, and of warp
// operations since the last one. Between two accesses by different threads of a warp in intervals of the same number
// there is nothing that orders them. Such accesses are gone through in the order that a warp in lockstep has (lowest
// instruction first, as BlockRunner's lockstep), whatever the order in which the threads happened to run; threads that
// are at the same instruction run it together. A hand-off is
// * a load of what another thread has stored last, unless the thread itself has taken part in that store;
// * a store to what another thread has loaded;
// * a store over that of another thread, unless that thread takes part in it: whoever runs last would leave its value.
// Stores of the same constant count as one, as it does not matter whose comes last. Atomics are loads and stores, but
// not among themselves. Warp operations count whatever their mask, so that a hand-off behind one for other threads is
// missed; so is one between parts of a block that is cut in time.
//
// Most kernels pass quickly: an interval in which a warp only loads, or stores once, needs no look at addresses, nor do
// loads behind a barrier by which all of shared memory has been stored to. Intervals in which a warp only stores,
// several times, as when it fills arrays, are looked at in one of kStoresSampled blocks.
//
// A load of a place that no thread has stored to before the same barrier reads what is not initialized.
class SharedMemoryCheck final : public BlockObserver {
 public:
  // Instruction that stores, and the one that loads, or that stores what the first one overwrites.
  using HandOff = std::pair<trace::Pc, trace::Pc>;

  // Of one launch of `program`, which must outlive the check, with so many threads and so much shared memory per block.
  // `constants`: by instruction a number that stands for the constant that it stores, 0 = none is known; may be empty.
  SharedMemoryCheck(const trace::Program& program, uint32_t threads, uint32_t shared_bytes,
                    std::vector<uint32_t> constants = {});

  absl::Status AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed, bool last) override;
  bool CanBeCopied() const override { return true; }
  std::string TakeFindings() override;
  void AddFindings(std::string_view findings) override;

  // Number of loads, or of places stored over, by pair of instructions.
  const std::map<HandOff, uint64_t>& hand_offs() const { return hand_offs_; }
  // The first load, and its block, of what was not initialized.
  struct Uninitialized {
    trace::Pc pc = 0;
    uint64_t block = 0;
    uint32_t thread = 0;
  };
  const std::optional<Uninitialized>& uninitialized() const { return uninitialized_; }

 private:
  // Kinds of accesses, as sets; and what divides intervals.
  enum Kind : uint8_t { kLoad = 1, kStore = 2, kAtomic = 4, kBarrier = 8, kWarpOperation = 16 };
  // What a basic block does that matters here.
  struct Item {
    uint32_t position = 0;  // among the block's accesses
    trace::Pc pc = 0;
    uint64_t order = 0;  // within an interval: the lowest goes first
    uint16_t bytes = 0;
    Kind kind = kLoad;
  };
  // An access of a path that may be to shared memory.
  struct Step {
    uint32_t position = 0;  // among the path's accesses
    trace::Pc pc = 0;
    uint64_t order = 0;  // as in Item
    uint16_t bytes = 0;
    Kind kind = kLoad;
  };
  // Steps of a path that lie in one interval.
  struct Stretch {
    uint64_t interval = 0;  // barriers << 32 | warp operations since
    uint32_t kinds = 0;     // of the steps
    uint32_t first = 0;     // range of steps_
    uint32_t end = 0;
  };
  struct Path {
    uint32_t first = 0;  // range of stretches_
    uint32_t end = 0;
    bool mixed = false;   // some stretch may hold both ends of a hand-off
    bool stores = false;  // some stretch has several stores and nothing else
    bool operator==(const Path&) const = default;
  };
  struct ThreadState {
    trace::WalkState walk;
    uint64_t interval = 0;
    bool operator==(const ThreadState& other) const {
      return interval == other.interval && walk.block == other.walk.block && walk.ended == other.walk.ended &&
             walk.stack == other.walk.stack;
    }
  };
  // The recorded threads of a block, or of a part of it.
  struct Threads {
    BlockRecords& records;
    std::span<const uint64_t> consumed;
  };
  // Units of shared memory that an access concerns.
  struct Units {
    uint32_t first = 0;
    uint32_t end = 0;  // `first` if it is not an access to shared memory
  };
  struct Access {
    uint64_t order = 0;
    Units units;
    trace::Pc pc = 0;
    Kind kind = kLoad;
  };
  // The latest instruction of a kind that accessed a place, and the lanes of the warp that ran it together.
  struct Latest {
    uint32_t step = 0;
    trace::Pc pc = 0;
    uint32_t lanes = 0;
    void Add(uint32_t at, trace::Pc by, uint32_t lane) {
      if (at != step) lanes = 0;
      step = at;
      pc = by;
      lanes |= lane;
    }
    bool IsOfOthers(uint32_t lane) const { return lanes != 0 && (lanes & lane) == 0; }
  };
  // The latest access of a kind, and the latest one by another lane than that one's.
  struct LatestTwo {
    trace::Pc pc = 0;
    trace::Pc other_pc = 0;
    uint8_t lane = 0;  // 1 + number, as are all here; 0: there is none
    uint8_t other_lane = 0;
    void Add(trace::Pc by, uint8_t of) {
      if (of != lane) {
        other_pc = pc;
        other_lane = lane;
      }
      pc = by;
      lane = of;
    }
    // The latest one by another lane than `self`; null if there is none.
    const trace::Pc* ByOther(uint8_t self) const {
      if (lane != self) return lane != 0 ? &pc : nullptr;
      return other_lane != 0 ? &other_pc : nullptr;
    }
  };
  // Of one warp and interval. Atomics are apart, as few kernels have some.
  struct Place {
    uint32_t stamp = 0;
    Latest store;
    LatestTwo load;
  };
  struct AtomicPlace {
    uint32_t stamp = 0;
    Latest latest;
    LatestTwo of_lanes;
  };
  // What a place's latest store was before that of the present step.
  struct Overwritten {
    uint32_t unit = 0;
    trace::Pc pc = 0;
    uint32_t lanes = 0;
  };
  // When a place was first stored to: 1 + number of barriers before, kNever = not yet.
  struct FirstStore {
    uint64_t block = ~uint64_t{0};
    uint32_t plain = 0;
    uint32_t any = 0;
  };
  static constexpr uint32_t kNever = ~uint32_t{0};

  // Of accesses of these kinds, `several` or one by each thread.
  static bool MayHandOff(uint32_t kinds, bool several) {
    return (kinds & (kinds - 1)) != 0 || (kinds == kStore && several);
  }
  static constexpr uint64_t kStoresSampled = 16;  // the first one of so many
  // 1 + number of barriers in front of it.
  static uint32_t BarriersOf(const Stretch& stretch) { return static_cast<uint32_t>(1 + (stretch.interval >> 32)); }
  Path StepsOf(std::span<const uint8_t> taken, bool to_exit, ThreadState& state);
  Units UnitsOf(const Threads& threads, uint32_t thread, const Step& step) const;
  uint32_t unit_count() const { return (shared_bytes_ + (1u << unit_bits_) - 1) >> unit_bits_; }
  void NoteStores(uint64_t block, bool whole, const Threads& threads);
  void NoteStoresOf(const Stretch& stretch, uint32_t thread, uint64_t block, const Threads& threads);
  void FindUninitialized(uint64_t block, const Threads& threads);
  void FindHandOffs(uint32_t warp, bool looks_at_stores, const Threads& threads);
  // Of the stretches stretch_of_lane_ of one interval.
  void FindHandOffsIn(uint32_t warp, const Threads& threads);
  // If all threads take the same steps, all of them in shared memory. False: nothing was done.
  bool FindHandOffsInStep(uint32_t warp, const Threads& threads);
  // Whether units_ of one step after the other, `lanes` of each, lie apart, as far as their bounds tell.
  bool StepsLieApart(uint32_t lanes) const;
  // The accesses of one step: first all lanes, then its end.
  void Touch(uint32_t lane, trace::Pc pc, Kind kind, Units units);
  void EndStep();
  void BeginInterval();
  // The place, as new if it has not been touched in this interval.
  template <typename P>
  P& At(std::vector<P>& places, uint32_t unit) const {
    P& place = places[unit];
    if (place.stamp != stamp_) {
      place = P();
      place.stamp = stamp_;
    }
    return place;
  }
  bool StoreTheSame(trace::Pc a, trace::Pc b) const {
    return !constants_.empty() && constants_[a] != 0 && constants_[a] == constants_[b];
  }

  const trace::Program& program_;
  uint32_t threads_;
  uint32_t shared_bytes_;
  uint32_t unit_bits_ = 2;  // a unit has 2^unit_bits_ bytes
  const std::vector<uint32_t> constants_;
  std::vector<Item> items_;
  std::vector<uint32_t> first_item_;  // by basic block, and one more
  bool in_block_ = false;             // parts of the block have been seen
  std::vector<ThreadState> states_;
  std::vector<Step> steps_;
  std::vector<Stretch> stretches_;
  std::vector<Path> path_of_thread_;
  std::unordered_map<std::string_view, Path> known_paths_;
  // One warp: null, or the lane's steps in the interval that is looked at.
  std::array<const Stretch*, kWarpWidth> stretch_of_lane_ = {};
  std::vector<std::vector<Access>> lanes_;
  std::vector<Units> units_;
  uint32_t stamp_ = 0;
  uint32_t step_ = 0;  // of the interval
  std::vector<Place> places_;
  std::vector<AtomicPlace> atomic_places_;  // empty if the program has none
  std::vector<Overwritten> overwritten_;    // in the present step
  std::vector<FirstStore> first_store_;
  uint32_t settled_ = kNever;  // as FirstStore: by when every place of the block has had a plain store
  // For NoteStores.
  uint32_t stored_units_ = 0;           // of the block: places with a plain store
  std::vector<uint32_t> next_stretch_;  // by thread
  std::map<HandOff, uint64_t> hand_offs_;
  std::optional<Uninitialized> uninitialized_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_CHECK_H_
