#include "replay/core/sm_core.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {
namespace {

Formation::Setup SetupOf(const LaunchContext& context, bool* alarm) {
  Formation::Setup setup;
  setup.warp_size = context.warp_size;
  setup.max_threads = context.max_threads;
  setup.ports = context.ports;
  setup.any_lane = context.any_lane;
  setup.policy_name = context.policy_name;
  setup.alarm = alarm;
  return setup;
}

}  // namespace

SmCore::SmCore(const LaunchContext& context, uint32_t sm, std::unique_ptr<DivergencePolicy> policy, ChunkCache& cache,
               MemorySystem& memory, uint32_t horizon)
    : context_(context),
      steps_(context.steps.data()),
      memory_(memory.MakeSm(sm, *this)),
      policy_(std::move(policy)),
      sm_(sm),
      interests_(policy_->interests()),
      issue_slots_(policy_->issue_slots()),
      write_back_(std::max(memory_->usual_latency(), horizon)),
      formation_(SetupOf(context, &failed_)),
      cursors_(context.launch, cache, context.max_threads, failed_),
      control_flow_(context, cursors_, failed_),
      blocks_(context.capacity),
      live_in_row_(context.max_threads / context.warp_size),
      block_of_row_(live_in_row_.size(), kNoBlock),
      row_is_free_(live_in_row_.size(), 1),
      warp_progress_(sm, context.warp_size, context.max_threads, context.capacity, context.static_warps,
                     *context.warp_progress),
      first_warp_(live_in_row_.size()),
      issues_unwatched_(context.profile == nullptr && context.observer == nullptr),
      barriers_ahead_(formation_.table().state.size()) {
  for (ResidentBlock& block : blocks_) block.barriers.resize(context.barrier_ids.size());
  if (context.memory_profile != nullptr) memory_->SetProfile(context.memory_profile);
}

void SmCore::SetSchedulers(std::vector<std::unique_ptr<WarpScheduler>> schedulers) {
  schedulers_ = std::move(schedulers);
  std::vector<WarpScheduler*> watchers;
  for (const auto& scheduler : schedulers_) {
    watchers.push_back(scheduler.get());
    if (scheduler->watches_sm()) issue_watchers_.push_back(scheduler.get());
    if (scheduler->watches_caches()) cache_watchers_.push_back(scheduler.get());
  }
  formation_.SetSchedulers(std::move(watchers));
}

void SmCore::Fail(const absl::Status& status) {
  if (!status_.ok()) return;
  failed_ = true;
  status_ = status;
}

absl::Status SmCore::status() const {
  if (formation_.failed()) return formation_.status();
  if (!cursors_.ok()) return cursors_.status();
  if (!control_flow_.status().ok()) return control_flow_.status();
  return status_;
}

// --- blocks

BlockId SmCore::OpenBlock(const BlockArrival& arrival) {
  BlockId id = 0;
  while (blocks_[id].resident) ++id;
  ResidentBlock& block = blocks_[id];
  block.resident = true;
  block.exited = false;
  block.position = arrival.position;
  block.linear_index = arrival.linear_index;
  block.live = context_.threads_per_block;
  block.former = kNoBlock;
  ++resident_;
  return id;
}

LaneMask SmCore::AddWarp(BlockId id, const RecordedBlock& recorded, uint32_t warp, uint32_t row) {
  const uint32_t warp_size = static_cast<uint32_t>(context_.warp_size);
  const uint32_t end = std::min((warp + 1) * warp_size, context_.threads_per_block);
  const uint32_t first = warp * warp_size;
  const auto first_thread = static_cast<ThreadId>(row * warp_size);
  LaneMask lanes = 0;
  if (context_.swizzle && (warp & 1) != 0) {
    // Fung's thesis, section 4.1: odd-numbered static warps swap neighbouring lanes.
    for (uint32_t index = first; index < end; ++index) {
      uint32_t lane = index - first;
      if ((lane ^ 1) < warp_size) lane ^= 1;
      const auto thread = static_cast<ThreadId>(first_thread + lane);
      lanes |= LaneMask{1} << lane;
      formation_.AddThread(thread, id, index, context_.entry);
      cursors_.Start(thread, 1, recorded, index);
    }
  } else {
    lanes = ~LaneMask{0} >> (kMaxLanes - (end - first));
    formation_.AddThreads(first_thread, end - first, id, first, context_.entry);
    cursors_.Start(first_thread, end - first, recorded, first);
  }
  live_in_row_[row] = static_cast<uint16_t>(std::popcount(lanes));
  block_of_row_[row] = id;
  row_is_free_[row] = 0;
  return lanes;
}

void SmCore::Admit(const BlockArrival& arrival, Cycle first) {
  Credit(first);
  formation_.SetNow(first == 0 ? 0 : first - 1);
  last_progress_ = first;
  const BlockId id = OpenBlock(arrival);
  const uint32_t first_row = id * context_.rows_per_block;
  std::vector<LaneMask> rows(context_.rows_per_block);
  for (uint32_t warp = 0; warp < context_.rows_per_block; ++warp) {
    rows[warp] = AddWarp(id, arrival.recorded, warp, first_row + warp);
  }
  for (const auto& scheduler : schedulers_) {
    scheduler->BlockAdmitted(id, admitted_);
    scheduler->WarpsAdmitted(id, first_row, context_.rows_per_block);
  }
  ++admitted_;
  BlockAdmission admission;
  admission.block = id;
  admission.entry = context_.entry;
  admission.first_thread = static_cast<ThreadId>(first_row * static_cast<uint32_t>(context_.warp_size));
  admission.rows = rows;
  warp_progress_.Admit(id, admission.first_thread, rows, first, Stalls());
  if (context_.timelines != nullptr && context_.timelines->Records(arrival.position)) {
    warp_progress_.Record(id, arrival.linear_index, *context_.timelines);
  }
  policy_->Admit(admission, formation_.editor());
  WarpsAdmitted(first_row, context_.rows_per_block);
}

void SmCore::AdmitWarp(const WarpArrival& arrival, Cycle first) {
  Credit(first);
  formation_.SetNow(first == 0 ? 0 : first - 1);
  last_progress_ = first;
  const uint32_t row = arrival.row;
  const uint32_t warp_size = static_cast<uint32_t>(context_.warp_size);
  const ThreadId first_thread = static_cast<ThreadId>(row * warp_size);
  formation_.RemoveBlock(block_of_row_[row], first_thread, warp_size);

  const auto position_of = [this](BlockId id) { return blocks_[id].resident ? blocks_[id].position : ~uint64_t{0}; };
  BlockId id = 0;
  while (id < blocks_.size() && position_of(id) != arrival.block.position) ++id;
  if (id == blocks_.size()) {
    id = OpenBlock(arrival.block);
    for (const auto& scheduler : schedulers_) scheduler->BlockAdmitted(id, admitted_);
    if (arrival.virtual_block.has_value()) BindToVirtualBlock(id, *arrival.virtual_block);
  }
  ++admitted_;
  const LaneMask lanes = AddWarp(id, arrival.block.recorded, arrival.warp, row);
  for (const auto& scheduler : schedulers_) scheduler->WarpsAdmitted(id, row, 1);
  BlockAdmission admission;
  admission.block = id;
  admission.entry = context_.entry;
  admission.first_thread = first_thread;
  admission.rows = std::span(&lanes, 1);
  warp_progress_.Admit(id, first_thread, admission.rows, first, Stalls());
  const bool continues = arrival.virtual_block.has_value() && arrival.virtual_block->iteration != 0;
  if (continues) formation_.ContinueWarp(first_warp_[row].age, first_warp_[row].port);
  policy_->Admit(admission, formation_.editor());
  const SlotId slot = formation_.slot_of(static_cast<ThreadId>(first_thread + std::countr_zero(lanes)));
  if (slot != kNoSlot) {
    if (!continues) first_warp_[row] = {table().formed[slot], table().port[slot]};
    if (arrival.instructions != 0) formation_.editor().InsertInstructions(slot, arrival.instructions);
  }
  WarpsAdmitted(row, 1);
}

void SmCore::BindToVirtualBlock(BlockId id, const WarpArrival::Virtual& virtual_block) {
  blocks_[id].place = virtual_block.place;
  for (BlockId other = 0; other < blocks_.size() && virtual_block.iteration != 0; ++other) {
    const ResidentBlock& former = blocks_[other];
    if (other != id && former.resident && !former.exited && former.place == virtual_block.place) {
      blocks_[id].former = other;
    }
  }
  for (const auto& scheduler : schedulers_) {
    scheduler->VirtualBlock(id, virtual_block.place, virtual_block.iteration);
  }
}

void SmCore::GridAssigned() {
  for (const auto& scheduler : schedulers_) scheduler->GridAssigned();
}

void SmCore::FreeRow(uint32_t row) {
  row_is_free_[row] = 1;
  freed_rows_.push_back(row);
}

void SmCore::ReleaseShared(BlockId id) {
  bool released = false;
  for (ResidentBlock& block : blocks_) {
    if (block.former != id) continue;
    block.former = kNoBlock;
    released = true;
  }
  if (released) SharedReleased();
}

void SmCore::RetireBlock(BlockId id) {
  ResidentBlock& block = blocks_[id];
  // Statistics of whole blocks are for blocks whose warps are on the SM together.
  if (!context_.by_warp) warp_progress_.Retired(id, EndOfRetired(now_), Stalls());
  policy_->Retire(id, formation_.editor());
  for (const auto& scheduler : schedulers_) scheduler->BlockRetired(id);
  const uint32_t warp_size = static_cast<uint32_t>(context_.warp_size);
  for (uint32_t row = 0; row < block_of_row_.size(); ++row) {
    if (block_of_row_[row] == id) formation_.RemoveBlock(id, static_cast<ThreadId>(row * warp_size), warp_size);
  }
  block.resident = false;
  --resident_;
  retired_.push_back(block.position);
}

// --- parts of a cycle

void SmCore::RunBarriersAndTimers(Cycle now) {
  if (!releasing_.empty()) ReleaseBarriers(now);
  if (formation_.next_timer() <= now) {
    uint64_t tag = 0;
    while (formation_.PopTimer(tag)) policy_->Timer(tag, formation_.editor());
  }
  if (resident_ > 0 && (interests_ & kEveryCycle) != 0) policy_->Tick(formation_.editor());
}

void SmCore::TellDeferred() {
  // A call may set off an issue's consequences only once; nothing is added here.
  for (const Deferred& event : deferred_) {
    if (!event.is_barrier) {
      TellLongWait(event.slot);
      continue;
    }
    if ((interests_ & kBarriers) != 0) {
      policy_->BarrierArrived(event.slot, context_.barrier_ids[event.barrier], formation_.editor());
    }
    for (const auto& scheduler : schedulers_) scheduler->BarrierArrived(event.slot);
  }
  deferred_.clear();
}

void SmCore::TellLongWait(SlotId slot) {
  if ((interests_ & kLongLatency) != 0) policy_->LongLatency(slot, formation_.editor());
  schedulers_[table().port[slot]]->LongLatencyStarted(slot);
}

void SmCore::CacheEvent(const CacheNotice& notice) {
  for (WarpScheduler* watcher : cache_watchers_) watcher->CacheEvent(notice);
}

// --- issues

void SmCore::CountIssue(int port, Cycle now, std::span<const SlotId> slots, bool inserted) {
  uint32_t threads = 0;
  for (const SlotId slot : slots) threads += static_cast<uint32_t>(formation_.table().thread_count(slot));
  CountIssue(port, now, slots, threads, inserted);
}

void SmCore::CountIssue(int port, Cycle now, std::span<const SlotId> slots, uint32_t threads, bool inserted) {
  last_progress_ = now;
  if (context_.profile != nullptr) ProfileIssue(slots, inserted);
  if (inserted) {
    ++counters_.inserted_instructions;
    return;
  }
  if (context_.static_warps) {
    for (const SlotId slot : slots) warp_progress_.Issued(formation_.table().lanes[slot]);
  }
  for (WarpScheduler* watcher : issue_watchers_) {
    for (const SlotId slot : slots) watcher->IssuedOnSm(slot);
  }
  ++counters_.warp_instructions;
  counters_.thread_instructions += threads;
  ++counters_.issues_by_size[threads - 1];
  if (context_.observer != nullptr) Observe(port, now, slots);
}

void SmCore::Observe(int port, Cycle now, std::span<const SlotId> slots) {
  std::array<IssueEvent::Lane, kMaxLanes> lanes;
  size_t count = 0;
  for (const SlotId slot : slots) {
    const Lanes& inside = formation_.table().lanes[slot];
    ForEachLane(inside.mask, [&](int lane) {
      const ThreadId thread = inside.thread[lane];
      IssueEvent::Lane& out = lanes[count];
      // Threads of several slots may share a home lane; they take the lanes in the order in which they were chosen.
      // Slots of static warps issue together only if their lanes are disjoint.
      const bool own_lane = issue_slots_ == 1 || context_.static_warps;
      out.lane = own_lane ? static_cast<uint32_t>(lane) : static_cast<uint32_t>(count);
      out.pc = formation_.table().position[slot].pc();
      out.block = blocks_[formation_.block_of(thread)].linear_index;
      out.thread = formation_.index_in_block(thread);
      ++count;
    });
  }
  IssueEvent event;
  event.configuration = context_.configuration_index;
  event.launch = context_.launch.launch.id();
  event.sm = sm_;
  event.port = static_cast<uint32_t>(port);
  event.slot = slots[0];
  event.cycle = now;
  event.lanes = std::span(lanes).first(count);
  context_.observer->Issued(event);
}

bool SmCore::ReachesBeyondShared(const Step& step, LaneMask lanes, bool has_addresses) const {
  if (step.space != trace::v1::SPACE_GENERIC || !has_addresses) return step.space != trace::v1::SPACE_SHARED;
  for (; lanes != 0; lanes &= lanes - 1) {
    if (context_.windows.SpaceOf(addresses_[std::countr_zero(lanes)]) != trace::v1::SPACE_SHARED) return true;
  }
  return false;
}

void SmCore::SubmitToMemory(AccessId id, SlotId slot, LaneMask lanes, const std::array<ThreadId, kMaxLanes>& threads,
                            bool has_addresses, Cycle now) {
  const Pc pc = table().position[slot].pc();
  const Step& step = steps_[pc];
  WarpAccess access;
  access.id = id;
  access.slot = slot;
  access.op = step.op;
  access.space = step.space;
  access.bytes = step.bytes;
  access.lanes = lanes;
  access.addresses = has_addresses ? &addresses_ : nullptr;
  access.threads = &threads;
  access.pc = pc;
  memory_->Submit(access, now);
}

uint64_t SmCore::LiveThreads() const {
  const auto& states = formation_.thread_states();
  uint64_t live = 0;
  for (int state = 0; state < kThreadStates; ++state) {
    if (state != static_cast<int>(ThreadState::kFinished)) live += states[state];
  }
  return live;
}

}  // namespace heddle::replay
