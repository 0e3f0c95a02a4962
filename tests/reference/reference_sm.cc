#include "tests/reference/reference_sm.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "traces/format/program/program.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

Formation::Setup SetupOf(const ReferenceLaunch& launch) {
  Formation::Setup setup;
  setup.warp_size = static_cast<int>(launch.machine->core().warp_size());
  setup.max_threads = static_cast<int>(launch.machine->core().max_threads());
  setup.ports = static_cast<int>(launch.machine->core().schedulers());
  setup.any_lane = launch.policies->divergence.traits.lanes.any;
  setup.one_port_per_block = launch.machine->core().thesis().blocks_on_one_scheduler();
  setup.policy_name = launch.policies->divergence.name();
  return setup;
}

}  // namespace

ReferenceSm::ReferenceSm(const ReferenceLaunch& launch, uint32_t sm, int capacity)
    : launch_(launch),
      sm_(sm),
      issue_cycles_(static_cast<int>((launch.machine->core().warp_size() + launch.machine->core().simd_width() - 1) /
                                     launch.machine->core().simd_width())),
      formation_(SetupOf(launch)),
      places_(capacity),
      threads_(launch.machine->core().max_threads()) {
  const machine::v1::Core& core = launch.machine->core();
  const int threads = static_cast<int>(core.max_threads());
  const int ports = static_cast<int>(core.schedulers());
  policy_ = launch.policies->divergence.entry->make(
      DivergenceContext{program(), warp_size(), threads, static_cast<int>(core.max_blocks()), ports,
                        core.thesis().blocks_on_one_scheduler(), SmShared(*launch.shared, sm)},
      launch.policies->divergence.parameters);
  interests_ = policy_->interests();
  policy_->SetIssueView(*this);
  std::vector<WarpScheduler*> watchers;
  for (int port = 0; port < ports; ++port) {
    schedulers_.push_back(launch.policies->scheduler.entry->make(
        SchedulerContext{formation_.table(), program(), warp_size(), threads, static_cast<int>(core.max_blocks()), port,
                         ports, &formation_.clock(), SmShared(*launch.shared, sm), this},
        launch.policies->scheduler.parameters));
    watchers.push_back(schedulers_.back().get());
  }
  formation_.SetSchedulers(watchers);
}

void ReferenceSm::MakeMemoryPolicy(SmMemory& memory) {
  if (!HasDataCache(*launch_.machine)) return;
  const machine::v1::Cache& cache = launch_.machine->memory().hierarchy().l1_data();
  memory_policy_ = launch_.policies->memory.entry->make(
      MemoryContext{formation_.table(), warp_size(), static_cast<int>(launch_.machine->core().max_threads()),
                    static_cast<int>(places_.size()), cache.sets(), launch_.l1_ways, cache.line_bytes(), cache.mshrs(),
                    sm_, SmShared(*launch_.shared, sm_)},
      launch_.policies->memory.parameters);
  policy_memory_ = &memory;
  if (memory_policy_->interests() != 0) memory.SetPolicy(*memory_policy_, static_cast<uint32_t>(warp_size()));
}

int ReferenceSm::resident() const {
  return static_cast<int>(std::count_if(places_.begin(), places_.end(), [](const auto& p) { return p.has_value(); }));
}

absl::Status ReferenceSm::status() const { return status_.ok() ? formation_.status() : status_; }

Position ReferenceSm::PositionOf(const Thread& thread) const {
  const ScriptStep& step = (*thread.steps)[thread.next];
  return Position(step.pc, step.depth);
}

LaneMask ReferenceSm::Executing(const Lanes& lanes) const {
  LaneMask executing = 0;
  ForEachLaneOf(lanes.mask, [&](int lane) {
    const Thread& thread = threads_[lanes.thread[lane]];
    if (!(*thread.steps)[thread.next].passes) executing |= LaneMask{1} << lane;
  });
  return executing;
}

// --- blocks come
// and go

// Lane swizzle (Fung's thesis, section 4.1): odd static warps of a block swap neighbouring lanes.
ThreadId ReferenceSm::HardwareThread(ThreadId first_thread, uint32_t index) const {
  const uint32_t width = static_cast<uint32_t>(warp_size());
  const uint32_t hw_warp = index / width;
  uint32_t lane = index % width;
  if (width > 1 && hw_warp % 2 == 1 && launch_.policies->divergence.traits.lanes.swizzled) {
    const uint32_t neighbour = lane % 2 == 0 ? lane + 1 : lane - 1;
    if (neighbour < width) lane = neighbour;
  }
  return static_cast<ThreadId>(first_thread + hw_warp * width + lane);
}

size_t ReferenceSm::PlaceOf(uint64_t recorded_block) const {
  size_t place = 0;
  while (!places_[place].has_value() || places_[place]->recorded != recorded_block) ++place;
  return place;
}

void ReferenceSm::SetPaused(Cycle first, uint64_t recorded_block, bool paused) {
  formation_.SetNow(first == 0 ? 0 : first - 1);
  if (paused) {
    paused_places_.insert(PlaceOf(recorded_block));
  } else {
    paused_places_.erase(PlaceOf(recorded_block));
  }
  PausesChanged();
}

void ReferenceSm::CountActivity(bool issued, bool ready, bool all_in_memory, bool some_wait, uint64_t cycles) {
  if (issued) {
    activity_.issue_cycles += cycles;
  } else if (ready) {
    activity_.stall_cycles += cycles;
  } else if (all_in_memory) {
    activity_.memory_cycles += cycles;
  } else if (some_wait) {
    activity_.data_cycles += cycles;
  } else {
    activity_.idle_cycles += cycles;
  }
}

void ReferenceSm::Admit(Cycle first, uint64_t recorded_block, std::optional<uint32_t> named) {
  formation_.SetNow(first == 0 ? 0 : first - 1);
  size_t place = named.value_or(0);
  while (places_[place].has_value()) ++place;
  const ExpandedBlock& block = (*launch_.blocks)[recorded_block];
  const size_t hw_warps = (block.threads.size() + warp_size() - 1) / warp_size();
  const ThreadId first_thread = static_cast<ThreadId>(place * hw_warps * warp_size());
  places_[place] = Resident{recorded_block, first_thread};
  const Position entry(program().block(program().entry_block()).first, 0);
  std::vector<LaneMask> masks(hw_warps, 0);
  std::vector<ThreadId> hardware_threads;
  for (uint32_t index = 0; index < block.threads.size(); ++index) {
    const ThreadId hardware = HardwareThread(first_thread, index);
    Thread& thread = threads_[hardware];
    hardware_threads.push_back(hardware);
    thread = Thread{};
    thread.place = static_cast<int>(place);
    thread.index = index;
    thread.steps = &block.threads[index];
    masks[(hardware - first_thread) / warp_size()] |= LaneMask{1} << (hardware % warp_size());
    formation_.AddThread(hardware, static_cast<BlockId>(place), index, entry);
  }
  launch_.warp_progress->Admitted({sm_, place}, hardware_threads, first, Stalls());
  for (const auto& scheduler : schedulers_) {
    scheduler->BlockAdmitted(static_cast<BlockId>(place), admissions_);
    scheduler->WarpsAdmitted(static_cast<BlockId>(place), first_thread / static_cast<uint32_t>(warp_size()),
                             static_cast<uint32_t>(hw_warps));
  }
  ++admissions_;
  if (policy_memory_ != nullptr) {
    policy_memory_->WarpsAdmitted(static_cast<BlockId>(place), first_thread / static_cast<uint32_t>(warp_size()),
                                  static_cast<uint32_t>(hw_warps));
  }
  BlockAdmission admission;
  admission.block = static_cast<BlockId>(place);
  admission.entry = entry;
  admission.first_thread = first_thread;
  admission.warps = masks;
  policy_->Admit(admission, formation_.editor());
}

bool ReferenceSm::AllThreadsDone(size_t place) const {
  return std::all_of(threads_.begin(), threads_.end(),
                     [&](const Thread& thread) { return thread.place != static_cast<int>(place) || thread.done(); });
}

void ReferenceSm::Note(ReferenceWarpProgress::Event event, const Lanes& lanes, LaneMask mask) {
  ForEachLaneOf(mask, [&](int lane) {
    const ThreadId thread = lanes.thread[lane];
    const size_t place = static_cast<size_t>(threads_[thread].place);
    launch_.warp_progress->Happened({sm_, place}, event, thread, formation_.now(), Stalls());
  });
}

void ReferenceSm::NoteResumed(SlotId slot) {
  const Lanes& lanes = formation_.table().lanes[slot];
  Note(ReferenceWarpProgress::Event::kResumed, lanes, lanes.mask);
}

void ReferenceSm::Retire(size_t place, const std::function<void(uint64_t)>& retired) {
  launch_.warp_progress->Retired({sm_, place}, EndOf(formation_.now()), Stalls());
  const Resident resident = *places_[place];
  uint32_t hardware_threads = 0;
  for (size_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].place != static_cast<int>(place)) continue;
    hardware_threads = static_cast<uint32_t>(t) + 1 - resident.first_thread;
    threads_[t] = Thread{};
  }
  places_[place].reset();
  paused_places_.erase(place);
  policy_->Retire(static_cast<BlockId>(place), formation_.editor());
  for (const auto& scheduler : schedulers_) scheduler->BlockRetired(static_cast<BlockId>(place));
  if (policy_memory_ != nullptr) policy_memory_->BlockRetired(static_cast<BlockId>(place));
  formation_.RemoveBlock(static_cast<BlockId>(place), resident.first_thread, hardware_threads);
  retired(resident.recorded);
}

std::set<int> ReferenceSm::PlacesOf(SlotId slot) const {
  std::set<int> places;
  const Lanes& lanes = formation_.table().lanes[slot];
  ForEachLaneOf(lanes.mask, [&](int lane) { places.insert(threads_[lanes.thread[lane]].place); });
  return places;
}

// --- the end of an
// instruction

// The rules for when a policy is asked are those above Interest and ResolveReason in divergence_policy.h.
ReferenceSm::Outcome ReferenceSm::OutcomeOf(SlotId slot, const Lanes& lanes, Pc pc) const {
  const trace::Block& block = program().block(program().block_of(pc));
  Outcome outcome;
  outcome.block_end = pc + 1 == block.first + block.count;
  ForEachLaneOf(lanes.mask, [&](int lane) {
    const Thread& thread = threads_[lanes.thread[lane]];
    if (thread.next + 1 == thread.steps->size()) {
      outcome.exited |= LaneMask{1} << lane;
      return;
    }
    const ScriptStep& step = (*thread.steps)[thread.next + 1];
    const Position at(step.pc, step.depth);
    PathGroup& group = outcome.groups[at];
    group.at = at;
    group.lanes |= LaneMask{1} << lane;
    group.taken = outcome.block_end && block.terminator == v1::BRANCH_CONDITIONAL && block.taken != block.successor &&
                  step.pc == program().block(block.taken).first;
  });
  outcome.decides = outcome.block_end && (block.terminator == v1::BRANCH_CONDITIONAL ||
                                          block.terminator == v1::BRANCH_WIDE || block.terminator == v1::CALL_INDIRECT);
  const bool several = outcome.groups.size() != 1 || outcome.exited != 0;
  outcome.at_stop = outcome.groups.size() == 1 && outcome.groups.begin()->first == formation_.table().stop[slot];
  outcome.asks = several || outcome.at_stop || (interests_ & kEveryInstruction) != 0 ||
                 (outcome.block_end && (interests_ & kEveryBlockEnd) != 0);
  return outcome;
}

bool ReferenceSm::Finish(SlotId slot, const Lanes& lanes, Pc pc, bool barrier_resolve, bool take) {
  const WarpTable& table = formation_.table();
  const Outcome outcome = OutcomeOf(slot, lanes, pc);
  const bool several = outcome.groups.size() != 1 || outcome.exited != 0;
  if (!take && !barrier_resolve && !outcome.asks) {
    const Lanes all = lanes;  // Advance may change what `lanes` refers to
    formation_.Advance(slot, outcome.groups.begin()->first);
    StepOver(all, pc);
    return true;
  }
  Asked& asked = asked_.emplace();
  asked.take = take;
  asked.lanes = lanes;
  for (const auto& [at, group] : outcome.groups) asked.groups.push_back(group);
  asked.resolution.groups = asked.groups;
  asked.resolution.lanes = &asked.lanes;
  asked.resolution.executed = Executing(lanes);
  asked.resolution.slot = slot;
  asked.resolution.from = table.position[slot];
  asked.resolution.reason = take                         ? ResolveReason::kLanes
                            : barrier_resolve            ? ResolveReason::kBarrier
                            : outcome.at_stop            ? ResolveReason::kStop
                            : several || outcome.decides ? ResolveReason::kControl
                            : outcome.block_end          ? ResolveReason::kBlockEnd
                                                         : ResolveReason::kInstruction;
  asked.resolution.exited = outcome.exited;
  if (outcome.decides) {
    asked.resolution.reconvergence = Reconvergence(pc, threads_[lanes.thread[std::countr_zero(lanes.mask)]]);
  }
  asked.resolution.conditional = outcome.decides;
  asked.resolution.uniform = (program().instruction(pc).flags() & v1::FLAG_UNIFORM) != 0;
  if (take) {
    formation_.BeginTake(slot, asked.lanes.mask, asked.groups, outcome.exited);
  } else {
    formation_.BeginResolve(slot, asked.groups, outcome.exited);
  }
  StepOver(asked.lanes, pc);
  NotifyExitedHwWarps(slot, asked.lanes, outcome.exited);
  return Ask();
}

void ReferenceSm::NotifyExitedHwWarps(SlotId slot, const Lanes& lanes, LaneMask exited) {
  Note(ReferenceWarpProgress::Event::kExited, lanes, exited);
  std::set<uint32_t> hw_warps;
  ForEachLaneOf(exited, [&](int lane) { hw_warps.insert(lanes.thread[lane] / warp_size()); });
  for (const uint32_t hw_warp : hw_warps) {
    const auto first = threads_.begin() + hw_warp * warp_size();
    if (std::all_of(first, first + warp_size(), [](const Thread& t) { return t.place < 0 || t.done(); })) {
      const auto used = std::find_if(first, first + warp_size(), [](const Thread& t) { return t.place >= 0; });
      const BlockId block = static_cast<BlockId>(used->place);
      for (const auto& scheduler : schedulers_) scheduler->WarpExited(block);
      if (policy_memory_ != nullptr) policy_memory_->WarpEnded(hw_warp);
      HwWarpExited(hw_warp, slot);
    }
  }
}

bool ReferenceSm::Ask() {
  if (policy_->Resolve(asked_->resolution, formation_.editor()) == Verdict::kRefused) return false;
  if (asked_->take) {
    formation_.EndTake(asked_->lanes);
  } else {
    formation_.EndResolve(asked_->resolution.slot, asked_->lanes);
  }
  asked_.reset();
  return true;
}

void ReferenceSm::StepOver(const Lanes& lanes, Pc pc) {
  const uint32_t block_index = program().block_of(pc);
  const trace::Block& block = program().block(block_index);
  const bool block_end = pc + 1 == block.first + block.count;
  ForEachLaneOf(lanes.mask, [&](int lane) {
    Thread& thread = threads_[lanes.thread[lane]];
    ++thread.next;
    if (!block_end) return;
    if (block.terminator == v1::CALL || block.terminator == v1::CALL_INDIRECT) thread.calls.push_back(block_index);
    if (block.terminator == v1::RETURN) thread.calls.pop_back();
  });
}

Position ReferenceSm::Reconvergence(Pc pc, const Thread& thread) const {
  const trace::Block& block = program().block(program().block_of(pc));
  const uint32_t depth = static_cast<uint32_t>(thread.calls.size());
  if (block.post_dominator != trace::kNoBlock) return Position(program().block(block.post_dominator).first, depth);
  if (thread.calls.empty()) return Position::Exit();
  const uint32_t continuation = program().block(thread.calls.back()).successor;
  return Position(program().block(continuation).first, depth - 1);
}

// --- issue

SlotSet ReferenceSm::Eligible(int port, const std::function<bool(SlotId)>& can_issue) const {
  const WarpTable& table = formation_.table();
  std::vector<SlotId> slots;
  int highest = -1;
  for (size_t i = 0; i < table.state.size(); ++i) {
    const SlotId slot = static_cast<SlotId>(i);
    if (table.state[slot] != SlotState::kOffered || table.port[slot] != port || !can_issue(slot)) continue;
    if (BlockPaused(slot)) continue;
    slots.push_back(slot);
    highest = std::max<int>(highest, table.priority[slot]);
  }
  SlotSet eligible;
  for (const SlotId slot : slots) {
    if (table.priority[slot] == highest) eligible.Insert(slot);
  }
  return eligible;
}

uint32_t ReferenceSm::IssuesPerValue(const Lanes& lanes) {
  std::set<std::vector<uint64_t>> values;
  uint64_t threads = 0;
  ForEachLaneOf(Executing(lanes), [&](int lane) {
    const Thread& thread = threads_[lanes.thread[lane]];
    values.insert((*thread.steps)[thread.next].uniform);
    ++threads;
  });
  if (values.empty() || values.begin()->empty()) return 1;
  ++statistics_.uniform_issues;
  if (values.size() > 1) {
    ++statistics_.mixed_issues;
    statistics_.mixed_thread_instructions += threads;
    statistics_.extra_issues += values.size() - 1;
  }
  return static_cast<uint32_t>(values.size());
}

void ReferenceSm::Announce(Cycle now, int port, const std::vector<SlotId>& chosen, bool inserted) {
  if (inserted) {
    statistics_.inserted_instructions += chosen.size();
    return;
  }
  for (const auto& scheduler : schedulers_) {
    for (SlotId slot : chosen) scheduler->IssuedOnSm(slot);
  }
  std::vector<IssueEvent::Lane> lanes;
  const WarpTable& table = formation_.table();
  for (SlotId slot : chosen) {
    const ThreadId lowest = table.lanes[slot].thread[std::countr_zero(table.lanes[slot].mask)];
    launch_.warp_progress->Issued({sm_, static_cast<size_t>(threads_[lowest].place)}, lowest);
    ForEachLaneOf(table.lanes[slot].mask, [&](int lane) {
      const Thread& thread = threads_[table.lanes[slot].thread[lane]];
      IssueEvent::Lane entry;
      const bool own_lane = policy_->issue_slots() == 1 || launch_.KeepsWarps();
      entry.lane = own_lane ? static_cast<uint32_t>(lane) : static_cast<uint32_t>(lanes.size());
      entry.pc = (*thread.steps)[thread.next].pc;
      entry.block = (*launch_.blocks)[places_[thread.place]->recorded].block;
      entry.thread = thread.index;
      lanes.push_back(entry);
      statistics_.predicated_off += (*thread.steps)[thread.next].passes;
      statistics_.barriers += program().instruction(entry.pc).op() == v1::OP_BARRIER;
    });
  }
  ++statistics_.warp_instructions;
  statistics_.thread_instructions += lanes.size();
  ++activity_.warp_instructions;
  activity_.thread_instructions += lanes.size();
  ++statistics_.issues_by_size[lanes.size()];
  if (launch_.observer == nullptr) return;
  IssueEvent event;
  event.launch = launch_.launch;
  event.sm = sm_;
  event.port = static_cast<uint32_t>(port);
  event.cycle = now;
  event.lanes = lanes;
  launch_.observer->Issued(event);
}

// --- at
// the end

std::string ReferenceSm::Describe() const {
  std::string text = "SM " + std::to_string(sm_) + ":";
  for (const Thread& thread : threads_) {
    if (thread.place < 0 || thread.done()) continue;
    text += " block " + std::to_string(places_[thread.place]->recorded) + " thread " + std::to_string(thread.index) +
            " at pc " + std::to_string(PositionOf(thread).pc() * 8) + ";";
  }
  return text + " " + policy_->Explain(formation_.table());
}

void ReferenceSm::AddCounters(std::span<const uint64_t> values, const std::vector<CounterSpec>& specs,
                              std::map<std::string, uint64_t>& sum) {
  for (size_t i = 0; i < specs.size(); ++i) {
    uint64_t& total = sum[specs[i].name];
    const uint64_t value = i < values.size() ? values[i] : 0;
    total = specs[i].combine == CounterSpec::Combine::kSum ? total + value : std::max(total, value);
  }
}

void ReferenceSm::AddStatistics(ReferenceStatistics& sum) const {
  Add(statistics_, sum);
  AddCounters(policy_->counters(), launch_.policies->divergence.info().counters, sum.divergence_counters);
  for (const auto& scheduler : schedulers_) {
    AddCounters(scheduler->counters(), launch_.policies->scheduler.info().counters, sum.scheduler_counters);
  }
  if (memory_policy_ == nullptr) return;
  AddCounters(memory_policy_->counters(), launch_.policies->memory.info().counters, sum.memory_counters);
}

}  // namespace heddle::replay
