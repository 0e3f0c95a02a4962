#include "tests/reference/reference_ibuffer_core.h"

#include <algorithm>
#include <utility>

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

std::unique_ptr<FetchPolicy> MakeFetch(const ReferenceLaunch& launch, uint32_t sm, const WarpTable& table,
                                       const std::vector<std::unique_ptr<WarpScheduler>>& schedulers) {
  const machine::v1::Core& core = launch.machine->core();
  return launch.policies->fetch.entry->make(
      FetchContext{table, schedulers, static_cast<int>(core.ibuffer().entries()),
                   core.ibuffer().fetch_when() == machine::v1::InstructionBuffer::FREE_SLOT,
                   static_cast<int>(core.warp_size()), static_cast<int>(core.schedulers()),
                   SmShared(*launch.shared, sm)},
      launch.policies->fetch.parameters);
}

}  // namespace

ReferenceBufferCore::ReferenceBufferCore(const ReferenceLaunch& launch, uint32_t sm, int capacity)
    : ReferenceSm(launch, sm, capacity),
      fetch_(MakeFetch(launch, sm, formation_.table(), schedulers_)),
      units_(launch.machine->core()),
      register_file_(program(), launch.machine->core().register_file()),
      memory_(launch.memory->MakeSm(sm, *this)),
      buffers_(formation_.table().state.size()),
      port_free_(launch.machine->core().schedulers()),
      issued_(launch.machine->core().schedulers(), kNoSlot),
      last_issued_(launch.machine->core().schedulers(), kNoSlot),
      issued_formed_(launch.machine->core().schedulers()) {
  MakeMemoryPolicy(*memory_);
}

// The table of section 2, line by line.
void ReferenceBufferCore::RunCycle(Cycle now, const std::function<void(uint64_t)>& retired) {
  now_ = now;
  formation_.SetNow(now);
  TakeResults(now);                          // 1
  memory_->RunCycle(now);                    // 2
  ProcessQueue();                            // what it reports for this cycle
  DeliverEnds();                             // 2a
  for (const SlotId slot : Released(now)) {  // 3
    queue_.push_back({.kind = Due::Kind::kResume, .slot = slot});
    ProcessQueue();
  }
  for (uint64_t tag; formation_.PopTimer(tag);) policy_->Timer(tag, formation_.editor());  // 4
  LookAgain();
  if (resident() > 0) {
    if ((interests_ & kEveryCycle) != 0) policy_->Tick(formation_.editor());
    LookAgain();
    const size_t ports = port_free_.size();
    const size_t first = launch_.machine->core().ports_in_turn() ? now % ports : 0;
    for (size_t i = 0; i < ports; ++i) SelectPort(static_cast<int>((first + i) % ports));  // 5
    SyncBuffers();
    CountCycle();
    DeliverDeferred();  // 6
    OpenBarriers(now);
  }
  SyncBuffers();
  for (uint32_t i = 0; i < std::max(1u, launch_.machine->core().ibuffer().fetches_per_cycle()); ++i) {
    Decode();                     // 7
    if (resident() > 0) Fetch();  // 8
  }
  RetireBlocks(retired);  // 9
  SyncBuffers();
  issued_.assign(issued_.size(), kNoSlot);
}

bool ReferenceBufferCore::IsControl(Pc pc) const {
  const trace::Block& block = program().block(program().block_of(pc));
  if (pc + 1 == block.first + block.count && block.terminator != v1::FALL_THROUGH) return true;
  const v1::OpClass op = program().instruction(pc).op();
  return op == v1::OP_BRANCH || op == v1::OP_CALL || op == v1::OP_RETURN || op == v1::OP_EXIT;
}

// Of control instructions those that hold their warp until their result: all, but for branches that are known at issue.
bool ReferenceBufferCore::HoldsForControl(Pc pc) const {
  if (!IsControl(pc) || launch_.machine->core().branches() != machine::v1::Core::AT_ISSUE) return IsControl(pc);
  const trace::Block& block = program().block(program().block_of(pc));
  const v1::OpClass op = program().instruction(pc).op();
  if (block.terminator == v1::EXIT || block.terminator == v1::RETURN) return true;
  if (op == v1::OP_EXIT || op == v1::OP_RETURN) return true;
  return op == v1::OP_ATOMIC && launch_.machine->core().atomics_hold();
}

const ReferenceBufferCore::Work* ReferenceBufferCore::Holding(SlotId slot) const {
  for (const auto& [number, work] : works_) {
    if (work.slot == slot && work.holds) return &work;
  }
  return nullptr;
}

bool ReferenceBufferCore::Live(SlotId slot) const {
  return formation_.table().state[slot] != SlotState::kFree && formation_.table().lanes[slot].mask != 0;
}

// --- results (step
// 1)

void ReferenceBufferCore::AddDue(Due due) { due_.push_back(due); }

void ReferenceBufferCore::TakeResults(Cycle now) {
  for (const uint64_t number : units_.CollectOperands(now)) {
    const auto work = works_.find(number);
    if (work == works_.end()) continue;
    AddDue({.kind = Due::Kind::kResult,
            .at = now + work->second.after_start,
            .sequence = work->second.sequence,
            .number = number});
  }
  std::stable_sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) {
    return std::pair(a.at, a.sequence) < std::pair(b.at, b.sequence);
  });
  while (!due_.empty() && due_.front().at <= now) {
    queue_.push_back(due_.front());
    due_.erase(due_.begin());
  }
  if (asked_.has_value() && !Ask()) return;
  ProcessQueue();
}

// If the policy has no room for a question, everything behind it waits for the next cycle.
void ReferenceBufferCore::ProcessQueue() {
  while (!asked_.has_value() && !queue_.empty()) {
    const Due due = queue_.front();
    queue_.pop_front();
    Process(due);
    LookAgain();
  }
}

bool ReferenceBufferCore::Process(const Due& due) {
  switch (due.kind) {
    case Due::Kind::kResult:
      return ProcessResult(due.number);
    case Due::Kind::kLanes:
      return ProcessLanes(due.id, due.lanes);
    case Due::Kind::kAcknowledged:
      Acknowledge(due.id);
      return true;
    case Due::Kind::kResume:
      return Resume(due.slot);
    case Due::Kind::kResolve:
      return Finish(due.slot, Lanes(formation_.table().lanes[due.slot]), formation_.table().position[due.slot].pc(),
                    /*barrier_resolve=*/false, /*take=*/false);
    case Due::Kind::kOperands:
      LowerBarrier(due.number, /*operands=*/true);
      return true;
  }
  return true;
}

bool ReferenceBufferCore::ProcessResult(uint64_t number) {
  const auto found = works_.find(number);
  if (found == works_.end()) return true;  // a fence that did not wait for it
  Work& work = found->second;
  if (work.fence) {  // in the one-in-flight mode
    work.result_there = true;
    FencesGoOn();
    return true;
  }
  return Complete(work);
}

bool ReferenceBufferCore::ProcessLanes(AccessId id, LaneMask lanes) {
  for (auto& [number, work] : works_) {
    if (!work.access || work.id != id) continue;
    work.outstanding &= ~lanes;
    if (work.outstanding == 0) return Complete(work);
    if (Scope() == ScoreboardScope::kThread) {  // these threads have their data
      ForEachLaneOf(lanes, [&](int lane) { work.pending.erase(work.lanes.thread[lane]); });
      for (Raise& raise : raises_) {
        if (raise.number == work.number && !raise.operands) raise.threads = work.pending;
      }
    }
    if (!work.holds || (interests_ & kLaneReturns) == 0) return true;
    if (!policy_->LanesReturned(work.slot, lanes, formation_.editor())) return true;
    Lanes taken = formation_.table().lanes[work.slot];
    taken.mask &= lanes;
    return Finish(work.slot, taken, work.at.pc(), /*barrier_resolve=*/false, /*take=*/true);
  }
  status_ = absl::InternalError("the memory reports lanes of an access that is not under way");
  return true;
}

// All results are there: registers are free, and the warp goes on if it waited.
bool ReferenceBufferCore::Complete(const Work& completed) {
  LowerBarrier(completed.number, /*operands=*/false);
  const auto ended = works_.extract(completed.number);
  const Work& work = ended.mapped();
  if (!work.holds) return true;
  const SlotId slot = work.slot;
  // Those that wait for its registers are told before the slot that it holds, and this before the policy.
  const auto own = long_waits_.extract(slot);
  EndLongWaits();
  if (!own.empty()) schedulers_[formation_.table().port[slot]]->LongLatencyEnded(slot);
  if (work.inserted) {
    formation_.TookInserted(slot);
    formation_.Advance(slot, formation_.table().position[slot]);
    return true;
  }
  return Finish(slot, Lanes(formation_.table().lanes[slot]), work.at.pc(), /*barrier_resolve=*/false, /*take=*/false);
}

// Fences whose threads' earlier stores are all acknowledged, by slot.
void ReferenceBufferCore::FencesGoOn() {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const SlotId slot = static_cast<SlotId>(i);
    const Work* held = Holding(slot);
    if (held == nullptr || !held->fence || !held->result_there || StoresOutstanding(held->threads)) continue;
    works_.erase(held->number);
    const Due resolve{.kind = Due::Kind::kResolve, .slot = slot};
    if (asked_.has_value()) {
      queue_.push_back(resolve);
    } else {
      Process(resolve);
    }
  }
}

bool ReferenceBufferCore::StoresOutstanding(const std::set<ThreadId>& threads) const {
  return std::any_of(unacknowledged_.begin(), unacknowledged_.end(), [&](const Unacknowledged& store) {
    return std::any_of(threads.begin(), threads.end(), [&](ThreadId thread) { return store.threads.contains(thread); });
  });
}

void ReferenceBufferCore::Acknowledge(AccessId id) {
  std::erase_if(unacknowledged_, [&](const Unacknowledged& store) { return store.id == id; });
  FencesGoOn();
}

// --- going on, and what the
// policy says

bool ReferenceBufferCore::Resume(SlotId slot) {
  NoteResumed(slot);
  const Pc pc = arrivals_.at(slot).pc;
  arrivals_.erase(slot);
  const bool resolve = (interests_ & kBarriers) != 0 &&
                       policy_->BarrierReleased(slot, program().instruction(pc).barrier_id(), formation_.editor());
  return Finish(slot, Lanes(formation_.table().lanes[slot]), pc, resolve, /*take=*/false);
}

void ReferenceBufferCore::HwWarpExited(uint32_t hw_warp, SlotId slot) {
  exited_hw_warps_[hw_warp] = formation_.table().port[slot];
}

// --- retirement (step
// 9)

void ReferenceBufferCore::RetireBlocks(const std::function<void(uint64_t)>& retired) {
  if (asked_.has_value()) return;
  for (size_t place = 0; place < places_.size(); ++place) {
    if (!places_[place].has_value() || !AllThreadsDone(place)) continue;
    const auto of_block = [&](ThreadId thread) { return threads_[thread].place == static_cast<int>(place); };
    bool pending = std::any_of(works_.begin(), works_.end(), [&](const auto& entry) {
      return std::any_of(entry.second.threads.begin(), entry.second.threads.end(), of_block);
    });
    for (const Raise& raise : raises_) {
      pending |= std::any_of(raise.holders.begin(), raise.holders.end(), of_block);
    }
    if (pending) continue;
    std::erase_if(thread_pauses_, [&](const auto& pause) { return of_block(pause.first); });
    for (Unacknowledged& store : unacknowledged_) std::erase_if(store.threads, of_block);
    std::erase_if(exited_hw_warps_, [&](const auto& hw_warp) {
      const auto first = threads_.begin() + hw_warp.first * warp_size();
      return std::any_of(first, first + warp_size(),
                         [&](const Thread& thread) { return thread.place == static_cast<int>(place); });
    });
    Retire(place, retired);
  }
}

bool ReferenceBufferCore::Stuck() const {
  if (resident() == 0 || formation_.next_timer() != kNever || !formation_.table().offered.empty()) return false;
  if ((interests_ & kEveryCycle) != 0 || asked_.has_value() || !queue_.empty() || !works_.empty()) return false;
  if (!raises_.empty()) return false;
  return AllBarriersClosed();
}

// --- memory

void ReferenceBufferCore::LanesDone(AccessId access, LaneMask lanes, Cycle at, bool /*returned*/) {
  const Due due{.kind = Due::Kind::kLanes, .at = at, .sequence = sequence_++, .id = access, .lanes = lanes};
  if (at > now_) {
    AddDue(due);
  } else {
    queue_.push_back(due);
  }
}

void ReferenceBufferCore::StoreAcknowledged(AccessId access, Cycle at) {
  const Due due{.kind = Due::Kind::kAcknowledged, .at = at, .sequence = sequence_++, .id = access};
  if (at > now_) {
    AddDue(due);
  } else {
    queue_.push_back(due);
  }
}

void ReferenceBufferCore::WaitsOffCore(AccessId access) {
  for (auto& [number, work] : works_) {
    if (!work.access || work.id != access) continue;
    work.off_core = true;
  }
}

void ReferenceBufferCore::FetchArrived(uint32_t fetcher) { waits_for_line_.erase(static_cast<SlotId>(fetcher)); }

void ReferenceBufferCore::CacheEvent(const CacheNotice& notice) {
  for (const auto& scheduler : schedulers_) scheduler->CacheEvent(notice);
}

}  // namespace heddle::replay
