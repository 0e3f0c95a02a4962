#include "replay/core/sm_core.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::replay {
namespace {

// An SM whose policy runs every cycle never falls silent; this many cycles without an issue or a completion mean that
// nothing will come any more.
constexpr Cycle kNoProgressLimit = Cycle{1} << 20;

Formation::Setup SetupOf(const LaunchContext& context) {
  Formation::Setup setup;
  setup.warp_size = context.warp_size;
  setup.max_threads = context.max_threads;
  setup.ports = context.ports;
  setup.any_lane = context.any_lane;
  setup.policy_name = context.policy_name;
  return setup;
}

}  // namespace

SmCore::SmCore(const LaunchContext& context, uint32_t sm, std::unique_ptr<DivergencePolicy> policy, ChunkCache& cache,
               MemorySystem& memory)
    : context_(context),
      steps_(context.steps.data()),
      sm_(sm),
      policy_(std::move(policy)),
      interests_(policy_->interests()),
      issue_slots_(policy_->issue_slots()),
      formation_(SetupOf(context)),
      cursors_(context.launch, cache, context.max_threads),
      memory_(memory.MakeSm(sm, *this)),
      wheel_(std::max({memory_->usual_latency(), context.pipeline_depth, context.longest_scripted})),
      in_flight_(formation_.table().state.size()),
      blocks_(context.capacity),
      port_free_(context.ports, 0) {
  for (ResidentBlock& block : blocks_) block.barriers.resize(context.barrier_ids.size());
}

void SmCore::SetSchedulers(std::vector<std::unique_ptr<WarpScheduler>> schedulers) {
  schedulers_ = std::move(schedulers);
  std::vector<WarpScheduler*> watchers;
  for (const auto& scheduler : schedulers_) watchers.push_back(scheduler.get());
  formation_.SetSchedulers(std::move(watchers));
}

void SmCore::Fail(const absl::Status& status) {
  if (!ok_) return;
  ok_ = false;
  status_ = status;
}

absl::Status SmCore::status() const {
  if (formation_.failed()) return formation_.status();
  if (!cursors_.ok()) return cursors_.status();
  return status_;
}

// --- blocks

void SmCore::Admit(const BlockArrival& arrival, Cycle first) {
  Credit(first);
  formation_.SetNow(first == 0 ? 0 : first - 1);
  last_progress_ = first;
  BlockId id = 0;
  while (blocks_[id].resident) ++id;
  ResidentBlock& block = blocks_[id];
  block.resident = true;
  block.position = arrival.position;
  block.linear_index = arrival.linear_index;
  block.live = context_.threads_per_block;
  ++resident_;

  const uint32_t warp_size = static_cast<uint32_t>(context_.warp_size);
  const uint32_t first_thread = id * context_.rows_per_block * warp_size;
  std::vector<LaneMask> rows(context_.rows_per_block, 0);
  for (uint32_t index = 0; index < context_.threads_per_block; ++index) {
    const uint32_t row = index / warp_size;
    uint32_t lane = index % warp_size;
    // Fung's thesis, section 4.1: odd-numbered static warps swap neighbouring lanes.
    if (context_.swizzle && (row & 1) != 0 && (lane ^ 1) < warp_size) lane ^= 1;
    const ThreadId thread = static_cast<ThreadId>(first_thread + row * warp_size + lane);
    rows[row] |= LaneMask{1} << lane;
    formation_.AddThread(thread, id, index, context_.entry);
    cursors_.Start(thread, arrival.recorded, index);
  }
  for (const auto& scheduler : schedulers_) scheduler->BlockAdmitted(id, admitted_);
  ++admitted_;
  BlockAdmission admission;
  admission.block = id;
  admission.entry = context_.entry;
  admission.first_thread = static_cast<ThreadId>(first_thread);
  admission.rows = rows;
  policy_->Admit(admission, formation_.editor());
}

void SmCore::RetireBlock(BlockId id) {
  ResidentBlock& block = blocks_[id];
  policy_->Retire(id, formation_.editor());
  for (const auto& scheduler : schedulers_) scheduler->BlockRetired(id);
  const uint32_t threads = context_.rows_per_block * static_cast<uint32_t>(context_.warp_size);
  formation_.RemoveBlock(id, static_cast<ThreadId>(id * threads), threads);
  block.resident = false;
  --resident_;
  retired_.push_back(block.position);
}

// --- time

Cycle SmCore::NextDecision(Cycle at) const {
  const Cycle period = static_cast<Cycle>(context_.issue_cycles);
  return period == 1 ? at : (at + period - 1) / period * period;
}

bool SmCore::AllWaitForMemory() const {
  const auto& states = formation_.thread_states();
  uint64_t live = 0;
  for (int state = 0; state < kThreadStates; ++state) {
    if (state != static_cast<int>(ThreadState::kFinished)) live += states[state];
  }
  return memory_threads_ != 0 && memory_threads_ == live;
}

// `count` scheduler cycles of a port in which nothing was issued.
void SmCore::Classify(int port, uint64_t count) {
  counters_.scheduler_cycles += count;
  if (formation_.AnyOffered(port)) {
    counters_.stall += count;
  } else if (AllWaitForMemory()) {
    counters_.memory += count;
  } else {
    counters_.idle += count;
  }
}

// Cycles before `until` that have not been counted had the state that is there now: nothing changes between two cycles
// that are run. Must come before any change.
void SmCore::Credit(Cycle until) {
  if (until <= credited_) return;
  if (resident_ > 0) {
    counters_.resident_cycles += until - credited_;
    const Cycle idle_from = std::max(credited_, std::min(until, occupied_until_));
    if (const uint64_t idle = until - idle_from; idle != 0) {
      counters_.idle_cycles += idle;
      const auto& states = formation_.thread_states();
      for (int state = 0; state < kThreadStates; ++state) counters_.idle_threads[state] += idle * states[state];
    }
    if (until > decided_) {
      const uint64_t period = static_cast<uint64_t>(context_.issue_cycles);
      const uint64_t decisions =
          period == 1 ? until - decided_ : (until + period - 1) / period - (decided_ + period - 1) / period;
      if (decisions != 0) {
        for (int port = 0; port < context_.ports; ++port) Classify(port, decisions);
      }
    }
  }
  credited_ = until;
  decided_ = std::max(decided_, until);
}

void SmCore::RunCycle(Cycle now) {
  Credit(now);
  now_ = now;
  formation_.SetNow(now);
  if (!retired_.empty()) retired_.clear();
  if (!opened_.empty()) {  // what opens from here on releases in the next cycle
    releasing_.swap(opened_);
    resuming_.swap(opened_slots_);
  }
  Complete(now);
  memory_->RunCycle(now);
  TakeDue(now);
  if (!releasing_.empty()) Release(now);
  if (formation_.next_timer() <= now) {
    uint64_t tag = 0;
    while (formation_.PopTimer(tag)) policy_->Timer(tag, formation_.editor());
  }
  if (resident_ > 0) {
    if ((interests_ & kEveryCycle) != 0) policy_->Tick(formation_.editor());
    if (context_.issue_cycles == 1 || now % static_cast<Cycle>(context_.issue_cycles) == 0) Select(now);
    if (!deferred_.empty()) TellDeferred();
    if (now - last_progress_ > kNoProgressLimit) {
      Fail(absl::FailedPreconditionError(
          absl::StrCat("nothing was issued or completed in ", kNoProgressLimit, " cycles: ", ExplainDeadlock())));
    }
  }
  decided_ = now + 1;
}

void SmCore::TellDeferred() {
  // A call may set off an issue's consequences only once; nothing is added here.
  for (const Deferred& event : deferred_) {
    const uint8_t port = formation_.table().port[event.slot];
    if (event.is_barrier) {
      if ((interests_ & kBarriers) != 0) {
        policy_->BarrierArrived(event.slot, context_.barrier_ids[event.barrier], formation_.editor());
      }
      schedulers_[port]->BarrierArrived(event.slot);
    } else {
      if ((interests_ & kLongLatency) != 0) policy_->LongLatency(event.slot, formation_.editor());
      schedulers_[port]->LongLatencyStarted(event.slot);
    }
  }
  deferred_.clear();
}

Cycle SmCore::NextWake(Cycle now) const {
  const Cycle next = now + 1;
  const bool busy = resident_ > 0;
  if (busy && (context_.force_tick || (interests_ & kEveryCycle) != 0)) return next;
  if (pending_.active || waiting_first_ < waiting_.size() || !opened_.empty() || !deferred_.empty()) return next;
  Cycle wake = std::min({wheel_.Next(), std::max(next, formation_.next_timer()), memory_->NextWake(now)});
  for (int port = 0; port < context_.ports; ++port) {
    if (!formation_.AnyOffered(port)) continue;
    wake = std::min(wake, NextDecision(std::max(next, port_free_[port])));
  }
  return wake;
}

// --- memory

void SmCore::LanesDone(AccessId access, LaneMask lanes, Cycle at, bool /*returned*/) {
  wheel_.Add(at, {static_cast<SlotId>(access), lanes});
}

void SmCore::WaitsOffCore(AccessId access) {
  const SlotId slot = static_cast<SlotId>(access);
  InFlight& state = in_flight_[slot];
  if (state.off_core) return;
  state.off_core = true;
  deferred_.push_back({slot, 0, false});
}

void SmCore::CacheEvent(const CacheNotice& notice) {
  for (const auto& scheduler : schedulers_) scheduler->CacheEvent(notice);
}

}  // namespace heddle::replay
