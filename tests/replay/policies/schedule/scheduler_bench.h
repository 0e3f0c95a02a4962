// A scheduler by itself over a table of warps that a test fills by hand.
#ifndef HEDDLE_TESTS_REPLAY_POLICIES_SCHEDULE_SCHEDULER_BENCH_H_
#define HEDDLE_TESTS_REPLAY_POLICIES_SCHEDULE_SCHEDULER_BENCH_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "replay/seams/warp_scheduler.h"
#include "tests/replay/scenario.h"

namespace heddle::replay {

// One port; every warp holds four threads, warp w of slot w those from 4 * w on. Plays the core: keeps the table as the
// core would, and tells the scheduler what it has to be told.
class SchedulerBench {
 public:
  explicit SchedulerBench(const std::string& text, int slots = 64)
      : shared_({.warp_size = 4, .max_threads = 4 * slots, .ports = 1, .sms = 1}, /*in_order=*/true), table_(slots) {
    shared_.BeginLaunch();
    scenario_.Block('A', 1, "BC", 'D').Block('B', 4, "D").Block('C', 4, "D").Block('D', 4, "").ThreadBlock({"ABD"});
    scenario_.Memory('D', 0, trace::v1::SPACE_GLOBAL).Memory('D', 1, trace::v1::SPACE_LOCAL);
    scenario_.Memory('D', 2, trace::v1::SPACE_SHARED).Memory('D', 3, trace::v1::SPACE_GLOBAL, trace::v1::OP_STORE);
    table_.lanes.resize(slots);
    const size_t colon = text.find(':');
    const auto entry = SchedulerRegistry::Get().Find(text.substr(0, colon));
    if (!entry.ok()) Stop(entry.status());
    info_ = (*entry)->info;
    const auto parameters = Parameters::Parse(info_, colon == std::string::npos ? "" : text.substr(colon + 1));
    if (!parameters.ok()) Stop(parameters.status());
    scheduler_ = (*entry)->make({table_, scenario_.program(), 4, 4 * slots, 8, 0, 1, &clock_, shared()}, *parameters);
    AdmitBlock();
  }

  void SetClock(Cycle now) { clock_ = now; }
  // The next thread block takes the place of the one before.
  void AdmitBlock() { scheduler_->BlockAdmitted(0, admitted_++); }

  // What the scheduler shares with other policies of its SM.
  SmShared shared() { return SmShared(shared_, 0); }
  const Scenario& scenario() const { return scenario_; }
  const PolicyTraits& traits() const { return info_.traits; }
  const WarpTable& table() const { return table_; }
  // The one port's.
  std::span<const std::unique_ptr<WarpScheduler>> schedulers() const { return std::span(&scheduler_, 1); }

  void AdmitBlock(BlockId block) { scheduler_->BlockAdmitted(block, admitted_++); }
  void RetireBlock(BlockId block) { scheduler_->BlockRetired(block); }

  // A new warp of `threads` threads in a free slot.
  void Form(SlotId slot, Position at = Position(0, 0), int threads = 4, uint8_t priority = 0) {
    FormIn(0, slot, at, threads, priority);
  }
  // Form for a warp of a thread block.
  void FormIn(BlockId block, SlotId slot, Position at = Position(0, 0), int threads = 4, uint8_t priority = 0) {
    table_.block[slot] = block;
    table_.formed[slot] = ++formed_;
    table_.position[slot] = at;
    table_.priority[slot] = priority;
    table_.lanes[slot].mask = (LaneMask{1} << threads) - 1;
    for (int lane = 0; lane < 4; ++lane) table_.lanes[slot].thread[lane] = static_cast<ThreadId>(4 * slot + lane);
    Offer(slot);
  }
  void Offer(SlotId slot) {
    table_.state[slot] = SlotState::kOffered;
    table_.offered.Insert(slot);
    table_.offered_at[slot] = ++offered_;
    scheduler_->Offered(slot);
  }
  // A slot that is not offered goes on elsewhere.
  void MoveTo(SlotId slot, Position at) { table_.position[slot] = at; }
  // Of a slot that is not offered.
  void SetPriority(SlotId slot, uint8_t priority) { table_.priority[slot] = priority; }
  void Withdraw(SlotId slot) {
    table_.state[slot] = SlotState::kParked;
    table_.offered.Erase(slot);
    scheduler_->Withdrawn(slot);
  }
  // The warp in the slot ends while it is in flight.
  void Retire(SlotId slot) {
    table_.state[slot] = SlotState::kFree;
    table_.lanes[slot].mask = 0;
  }
  // An offered warp issues a barrier, and waits.
  void ArriveAtBarrier(SlotId slot) {
    if (table_.state[slot] == SlotState::kOffered) Issue(slot);
    table_.state[slot] = SlotState::kBarrier;
    scheduler_->BarrierArrived(slot);
  }
  // The block's barrier opens; its warps can issue.
  void ReleaseBarrier(BlockId block) {
    scheduler_->BarrierReleased(block);
    for (size_t slot = 0; slot < table_.state.size(); ++slot) {
      if (table_.state[slot] == SlotState::kBarrier && table_.block[slot] == block) Offer(slot);
    }
  }
  void ExitWarp(SlotId slot) {
    Issue(slot);
    Retire(slot);
    scheduler_->WarpExited(table_.block[slot]);
  }
  // A warp in flight waits for memory beyond the core / no longer.
  void StartLongWait(SlotId slot) { scheduler_->LongLatencyStarted(slot); }
  void EndLongWait(SlotId slot) {
    scheduler_->LongLatencyEnded(slot);
    Offer(slot);
  }

  // The order in which the ready warps would issue if each could do so once: their slots.
  std::string Order() {
    std::string order;
    SlotSet left = table_.offered;
    while (!left.empty()) {
      const SlotId slot = Pick(left);
      if (slot == kNoSlot) break;
      absl::StrAppend(&order, order.empty() ? "" : " ", slot);
      left.Erase(slot);
    }
    return order;
  }

  // The warp takes another thread into its lowest free lane.
  void Grow(SlotId slot, ThreadId thread) {
    Lanes joined;
    const int lane = table_.thread_count(slot);
    joined.mask = LaneMask{1} << lane;
    joined.thread[lane] = thread;
    table_.lanes[slot].mask |= joined.mask;
    table_.lanes[slot].thread[lane] = thread;
    scheduler_->Grown(slot, joined);
  }

  SlotId Pick() const { return Pick(table_.offered); }
  SlotId Pick(const SlotSet& eligible) const { return scheduler_->Pick(eligible); }
  // Issues a slot; it is in flight then. The run ends if the scheduler has picked none.
  void Issue(SlotId slot) {
    if (slot == kNoSlot) Stop(absl::FailedPreconditionError("no warp was picked, so none can issue"));
    table_.state[slot] = SlotState::kInFlight;
    table_.offered.Erase(slot);
    scheduler_->Issued(slot);
  }
  SlotId PickAndIssue() {
    const SlotId slot = Pick();
    Issue(slot);
    return slot;
  }

  uint64_t counter(const std::string& name) const {
    for (size_t i = 0; i < info_.counters.size(); ++i) {
      if (info_.counters[i].name == name) return scheduler_->counters()[i];
    }
    Stop(absl::NotFoundError(absl::StrCat("no counter ", name)));
  }

  // The rule of the worked examples: warps 0 to `warps` - 1 are always ready, save that each is not until `pause`
  // cycles after every second issue of its own (0 = never), which is a wait for memory beyond the core. Warps 0 to
  // `per_block` - 1 are of thread block 0, the next ones of block 1, and so on. One word per cycle, `-` = no issue.
  std::string Run(int warps, int cycles, int pause, int per_block = 64) {
    std::vector<int> ready_at(warps, 0);
    std::vector<int> issues(warps, 0);
    std::vector<bool> waits(warps, false);
    std::string log;
    for (int block = 1; block * per_block < warps; ++block) AdmitBlock(static_cast<BlockId>(block));
    for (int warp = 0; warp < warps; ++warp) {
      FormIn(static_cast<BlockId>(warp / per_block), static_cast<SlotId>(warp));
    }
    for (int cycle = 0; cycle < cycles; ++cycle) {
      for (int warp = 0; warp < warps; ++warp) {
        if (table_.state[warp] == SlotState::kOffered || ready_at[warp] > cycle) continue;
        if (waits[warp]) scheduler_->LongLatencyEnded(warp);
        waits[warp] = false;
        Offer(warp);
      }
      if (!log.empty()) log += ' ';
      const SlotId warp = table_.offered.empty() ? kNoSlot : Pick();
      if (warp == kNoSlot) {
        log += '-';
        continue;
      }
      Issue(warp);
      waits[warp] = ++issues[warp] % 2 == 0 && pause > 0;
      ready_at[warp] = waits[warp] ? cycle + pause : cycle + 1;
      if (waits[warp]) scheduler_->LongLatencyStarted(warp);
      absl::StrAppend(&log, warp);
    }
    return log;
  }

 private:
  [[noreturn]] static void Stop(const absl::Status& status) {
    std::fprintf(stderr, "scheduler bench: %s\n", status.ToString().c_str());
    std::abort();
  }

  Scenario scenario_;
  Cycle clock_ = 0;
  SharedState shared_;
  WarpTable table_;
  PolicyInfo info_;
  std::unique_ptr<WarpScheduler> scheduler_;
  uint64_t admitted_ = 0;
  uint64_t formed_ = 0;
  uint64_t offered_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_POLICIES_SCHEDULE_SCHEDULER_BENCH_H_
