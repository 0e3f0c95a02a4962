// A launch of the plain engine: its SMs, its dispatcher, and what is counted of it.
#ifndef HEDDLE_TESTS_REFERENCE_REFERENCE_LAUNCH_H_
#define HEDDLE_TESTS_REFERENCE_REFERENCE_LAUNCH_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "replay/engine/configuration.h"
#include "replay/engine/replay.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/shared_state.h"
#include "tests/reference/reference_sm.h"
#include "traces/format/program/predication.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// The SMs of a launch, each made when it gets its first block.
class Cores {
 public:
  Cores(uint32_t sms, std::function<std::unique_ptr<ReferenceSm>(uint32_t)> make)
      : make_(std::move(make)), by_number_(sms) {}

  size_t size() const { return by_number_.size(); }
  // Null if it has had no block.
  ReferenceSm* Find(size_t sm) const { return by_number_[sm].get(); }
  ReferenceSm& At(uint32_t sm) {
    if (by_number_[sm] == nullptr) by_number_[sm] = make_(sm);
    return *by_number_[sm];
  }
  // The SM goes.
  void Drop(size_t sm) { by_number_[sm].reset(); }
  // Calls `visit` with each that is there, by number.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& core : by_number_) {
      if (core != nullptr) visit(*core);
    }
  }

 private:
  const std::function<std::unique_ptr<ReferenceSm>(uint32_t)> make_;
  std::vector<std::unique_ptr<ReferenceSm>> by_number_;
};

// docs/reference/timing.md, section 2, "Rounds of dispatch", looked at in every cycle. Dispatchers of whole blocks
// only.
class ReferenceDispatch final : public SmControl {
 public:
  // An SM holds up to `capacity` blocks; the first round is that before cycle `begin`. `cores` must outlive the object.
  // With `beside` every SM is closed until SetOpen. `blocks_per_cycle` as dispatch says.
  ReferenceDispatch(const CheckedConfiguration& policies, DispatchContext context, int capacity, Cycle begin,
                    bool beside, Cores& cores, SharedState& shared, uint32_t blocks_per_cycle);

  // Whether the SM takes blocks. When it is opened there is a round.
  void SetOpen(size_t sm, bool open) {
    opened_now_ |= open && !open_[sm];
    open_[sm] = open;
  }
  void BeginCycle(Cycle now) { clock_ = now; }
  // All SMs have run every cycle before `first`, the one before it last. Nothing has been dispatched behind it.
  void EndCycle(Cycle first);
  void Retired(uint32_t sm, uint64_t block);
  BlockDispatcher& dispatcher() { return *dispatcher_; }
  uint64_t retired() const { return retired_; }
  uint64_t unsent() const { return blocks_ - sent_; }
  // For which cycle the first block was sent.
  Cycle first_block() const { return first_block_; }
  // Whether it wants a round later, whatever ends until then.
  bool Waits(Cycle first) const { return due_ != kNever && due_ > first; }

  // An SM that has not had a block yet has done nothing.
  SmActivity Activity(uint32_t sm) override {
    return cores_.Find(sm) == nullptr ? SmActivity() : cores_.At(sm).activity();
  }
  SmWarps Warps(uint32_t sm) override { return cores_.Find(sm) == nullptr ? SmWarps() : cores_.At(sm).CountWarps(); }
  SmMemoryLoad MemoryLoad(uint32_t sm) override {
    return cores_.Find(sm) == nullptr ? SmMemoryLoad() : cores_.At(sm).MemoryLoad();
  }
  uint32_t FirstHwWarp(uint32_t sm, uint64_t block) override { return cores_.At(sm).FirstHwWarpOf(block); }
  void Pause(uint32_t sm, uint64_t block) override { cores_.At(sm).SetPaused(first_, block, true); }
  void Resume(uint32_t sm, uint64_t block) override { cores_.At(sm).SetPaused(first_, block, false); }

 private:
  bool AnyRoom() const;
  void Round(Cycle first);

  const uint64_t blocks_;
  const int capacity_;
  const uint32_t blocks_per_cycle_;  // that may be sent; 0 = one to each SM
  Cores& cores_;
  Cycle clock_ = 0;
  Cycle first_ = 0;
  std::unique_ptr<BlockDispatcher> dispatcher_;
  Cycle due_;
  std::vector<bool> open_;  // by SM
  bool retired_now_ = false;
  bool opened_now_ = false;
  uint64_t sent_ = 0;
  Cycle first_block_ = kNever;
  bool assigned_ = false;
  uint64_t retired_ = 0;
};

// The reference looks at every cycle anyway.
struct NoWaker final : SmWaker {
  void WakeSm(uint32_t /*sm*/) override {}
};

// So many cycles are a deadlock.
inline constexpr Cycle kMostCycles = 50'000'000;

// What all launches of a replay share.
struct ReferenceSetup {
  const trace::TraceReader& reader;
  const CheckedConfiguration& policies;
  const machine::v1::Machine& machine;
  MemorySystem& memory;
  IssueObserver* observer = nullptr;
};

// How a launch stands to others: beside others it has no SM before it is given one.
struct ReferencePlace {
  bool beside = false;
  uint32_t number = 0;  // of the launch among those, for the memory
  Cycle start = 0;
};

// From the beginning of a launch, whose memory has begun, to its result.
class ReferenceLaunchRun {
 public:
  static absl::StatusOr<std::unique_ptr<ReferenceLaunchRun>> Make(const ReferenceSetup& setup,
                                                                  const trace::LaunchView& view, SharedState& shared,
                                                                  const ReferencePlace& place);

  const trace::LaunchView& view() const { return view_; }
  uint32_t l1_ways() const { return launch_.l1_ways; }
  Cores& cores() { return *cores_; }
  ReferenceDispatch& dispatch() { return *dispatch_; }
  ReferenceStatistics& statistics() { return statistics_; }
  bool AllRetired() const { return dispatch_->retired() == blocks_.size(); }
  // The SM goes; what it has counted stays.
  void Drop(size_t sm);
  // What is counted of the launch, which takes `cycles`; without what the memory counts.
  result::v1::LaunchResult Result(Cycle cycles);

 private:
  ReferenceLaunchRun(const ReferenceSetup& setup, const trace::LaunchView& view, std::vector<ExpandedBlock> blocks)
      : setup_(setup), view_(view), blocks_(std::move(blocks)), predicated_(trace::Predicate(*view.program)) {}

  const ReferenceSetup setup_;
  const trace::LaunchView& view_;
  const std::vector<ExpandedBlock> blocks_;
  const std::optional<trace::PredicatedProgram> predicated_;
  uint64_t registers_ = 0;
  uint64_t residency_ = 0;
  std::string limit_;
  ReferencePlace place_;
  ReferenceLaunch launch_;
  std::unique_ptr<ReferenceWarpProgress> warp_progress_;
  std::unique_ptr<Cores> cores_;
  std::unique_ptr<ReferenceDispatch> dispatch_;
  ReferenceStatistics statistics_;
};

// What policies share.
SharedState SharedOf(const ReferenceSetup& setup);

// Runs a launch that has the whole machine to itself. Returns its cycles.
absl::StatusOr<Cycle> RunAlone(const ReferenceSetup& setup, ReferenceLaunchRun& launch);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_REFERENCE_LAUNCH_H_
