#include "tests/replay/reference/reference_core.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "traces/format/program.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

template <typename Function>
void ForEachLane(LaneMask mask, Function function) {
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    if ((mask >> lane & 1) != 0) function(lane);
  }
}

Formation::Setup SetupOf(const ReferenceLaunch& launch) {
  Formation::Setup setup;
  setup.warp_size = static_cast<int>(launch.machine->core().warp_size());
  setup.max_threads = static_cast<int>(launch.machine->core().max_threads());
  setup.ports = static_cast<int>(launch.machine->core().schedulers());
  setup.any_lane = MaySitInAnyLane(launch.divergence->info, *launch.divergence_parameters);
  setup.policy_name = launch.divergence->info.name;
  return setup;
}

}  // namespace

ReferenceCore::ReferenceCore(const ReferenceLaunch& launch, uint32_t sm, int capacity)
    : launch_(launch),
      sm_(sm),
      issue_cycles_(static_cast<int>((launch.machine->core().warp_size() + launch.machine->core().simd_width() - 1) /
                                     launch.machine->core().simd_width())),
      formation_(SetupOf(launch)),
      places_(capacity),
      threads_(launch.machine->core().max_threads()),
      ports_(launch.machine->core().schedulers()) {
  const machine::v1::Core& core = launch.machine->core();
  const int threads = static_cast<int>(core.max_threads());
  const int ports = static_cast<int>(core.schedulers());
  policy_ = launch.divergence->make(
      DivergenceContext{program(), warp_size(), threads, static_cast<int>(core.max_blocks()), ports},
      *launch.divergence_parameters);
  interests_ = policy_->interests();
  std::vector<WarpScheduler*> watchers;
  for (int port = 0; port < ports; ++port) {
    schedulers_.push_back(launch.scheduler->make(SchedulerContext{formation_.table(), program(), warp_size(), threads,
                                                                  static_cast<int>(core.max_blocks()), port, ports},
                                                 *launch.scheduler_parameters));
    watchers.push_back(schedulers_.back().get());
  }
  formation_.SetSchedulers(watchers);
}

int ReferenceCore::resident() const {
  return static_cast<int>(std::count_if(places_.begin(), places_.end(), [](const auto& p) { return p.has_value(); }));
}

absl::Status ReferenceCore::status() const { return status_.ok() ? formation_.status() : status_; }

Position ReferenceCore::PositionOf(const Thread& thread) const {
  const Step& step = (*thread.steps)[thread.next];
  return Position(step.pc, step.depth);
}

// Lane swizzle (divergence-common: home lanes): odd rows of a block swap neighbouring lanes.
ThreadId ReferenceCore::HardwareThread(ThreadId first_thread, uint32_t index) const {
  const uint32_t width = static_cast<uint32_t>(warp_size());
  const uint32_t row = index / width;
  uint32_t lane = index % width;
  const std::string& parameter = launch_.divergence->info.traits.swizzle_parameter;
  if (width > 1 && row % 2 == 1 && !parameter.empty() &&
      launch_.divergence_parameters->Choice(parameter) == "even_odd") {
    const uint32_t neighbour = lane % 2 == 0 ? lane + 1 : lane - 1;
    if (neighbour < width) lane = neighbour;
  }
  return static_cast<ThreadId>(first_thread + row * width + lane);
}

void ReferenceCore::Admit(Cycle now, uint64_t recorded_block) {
  formation_.SetNow(now);
  size_t place = 0;
  while (places_[place].has_value()) ++place;
  const ExpandedBlock& block = (*launch_.blocks)[recorded_block];
  const size_t rows = (block.threads.size() + warp_size() - 1) / warp_size();
  const ThreadId first_thread = static_cast<ThreadId>(place * rows * warp_size());
  places_[place] = Resident{recorded_block, first_thread};
  const Position entry(program().block(program().entry_block()).first, 0);
  std::vector<LaneMask> masks(rows, 0);
  for (uint32_t index = 0; index < block.threads.size(); ++index) {
    const ThreadId hardware = HardwareThread(first_thread, index);
    Thread& thread = threads_[hardware];
    thread = Thread{};
    thread.place = static_cast<int>(place);
    thread.index = index;
    thread.steps = &block.threads[index];
    masks[(hardware - first_thread) / warp_size()] |= LaneMask{1} << (hardware % warp_size());
    formation_.AddThread(hardware, static_cast<BlockId>(place), index, entry);
  }
  for (const auto& scheduler : schedulers_) scheduler->BlockAdmitted(static_cast<BlockId>(place), admissions_);
  ++admissions_;
  BlockAdmission admission;
  admission.block = static_cast<BlockId>(place);
  admission.entry = entry;
  admission.first_thread = first_thread;
  admission.rows = masks;
  policy_->Admit(admission, formation_.editor());
}

// ---------------------------------------------------------------------------------------------------------- completion

void ReferenceCore::Complete(Cycle now, const std::function<void(uint64_t)>& retired) {
  formation_.SetNow(now);
  WriteBackAll(now, retired);
  ReleaseBarriers(now);
  RetireBlocks(retired);
  for (uint64_t tag; formation_.PopTimer(tag);) policy_->Timer(tag, formation_.editor());
  if (resident() > 0 && (interests_ & kEveryCycle) != 0) policy_->Tick(formation_.editor());
}

// In order of time, then of issue. If the policy has no room, everything behind waits for the next cycle.
void ReferenceCore::WriteBackAll(Cycle now, const std::function<void(uint64_t)>& retired) {
  std::sort(pending_.begin(), pending_.end(), [](const WriteBack& a, const WriteBack& b) {
    return std::pair(a.due, a.order) < std::pair(b.due, b.order);
  });
  while (!pending_.empty() && pending_.front().due <= now) {
    queue_.push_back(pending_.front());
    pending_.erase(pending_.begin());
  }
  if (asked_.has_value() && !Ask()) return;
  RetireBlocks(retired);
  while (!queue_.empty()) {
    const WriteBack item = queue_.front();
    queue_.pop_front();
    const bool room = Process(now, item);
    RetireBlocks(retired);
    if (!room) return;
  }
}

bool ReferenceCore::Process(Cycle now, const WriteBack& item) {
  const SlotId slot = item.slot;
  if (item.resume) return ResumeFromBarrier(slot);
  Flight& flight = flights_.at(slot);
  flight.outstanding &= ~item.lanes;
  if (flight.outstanding != 0) {
    if ((interests_ & kLaneReturns) == 0 || !policy_->LanesReturned(slot, item.lanes, formation_.editor())) return true;
    Lanes lanes = formation_.table().lanes[slot];
    lanes.mask &= item.lanes;
    return Finish(slot, lanes, /*barrier_resolve=*/false, /*take=*/true);
  }
  if (flight.off_core) schedulers_[formation_.table().port[slot]]->LongLatencyEnded(slot);
  if (flight.inserted) {
    formation_.TookInserted(slot);
    formation_.Advance(slot, formation_.table().position[slot]);
    flights_.erase(slot);
    return true;
  }
  if (!flight.barrier) return Finish(slot, formation_.table().lanes[slot], /*barrier_resolve=*/false, /*take=*/false);
  const bool released =
      std::all_of(flight.release.begin(), flight.release.end(), [&](const auto& block) { return block.second < now; });
  if (released) return ResumeFromBarrier(slot);
  flight.waiting = true;
  formation_.WaitAtBarrier(slot);
  return true;
}

bool ReferenceCore::ResumeFromBarrier(SlotId slot) {
  const uint32_t barrier = program().instruction(flights_.at(slot).pc).barrier_id();
  const bool resolve = (interests_ & kBarriers) != 0 && policy_->BarrierReleased(slot, barrier, formation_.editor());
  return Finish(slot, formation_.table().lanes[slot], resolve, /*take=*/false);
}

// The rules for when a policy is asked are those above Interest and ResolveReason in divergence_policy.h.
bool ReferenceCore::Finish(SlotId slot, const Lanes& lanes, bool barrier_resolve, bool take) {
  const WarpTable& table = formation_.table();
  const Pc pc = flights_.at(slot).pc;
  const trace::Block& block = program().block(program().block_of(pc));
  const bool block_end = pc + 1 == block.first + block.count;
  std::map<Position, PathGroup> groups;
  LaneMask exited = 0;
  ForEachLane(lanes.mask, [&](int lane) {
    const Thread& thread = threads_[lanes.thread[lane]];
    if (thread.next + 1 == thread.steps->size()) {
      exited |= LaneMask{1} << lane;
      return;
    }
    const Step& step = (*thread.steps)[thread.next + 1];
    const Position at(step.pc, step.depth);
    PathGroup& group = groups[at];
    group.at = at;
    group.lanes |= LaneMask{1} << lane;
    group.taken = block_end && block.terminator == v1::BRANCH_CONDITIONAL && block.taken != block.successor &&
                  step.pc == program().block(block.taken).first;
  });
  const bool decides = block_end && (block.terminator == v1::BRANCH_CONDITIONAL ||
                                     block.terminator == v1::BRANCH_WIDE || block.terminator == v1::CALL_INDIRECT);
  const bool at_stop = groups.size() == 1 && groups.begin()->first == table.stop[slot];
  const bool several = groups.size() != 1 || exited != 0;
  const bool asks = (interests_ & kEveryInstruction) != 0 || (block_end && (interests_ & kEveryBlockEnd) != 0);
  if (!take) flights_.erase(slot);
  if (!take && !barrier_resolve && !at_stop && !several && !asks) {
    const Lanes all = lanes;  // Advance may change what `lanes` refers to
    formation_.Advance(slot, groups.begin()->first);
    StepOver(all, pc);
    return true;
  }
  Asked& asked = asked_.emplace();
  asked.take = take;
  asked.lanes = lanes;
  for (const auto& [at, group] : groups) asked.groups.push_back(group);
  asked.resolution.groups = asked.groups;
  asked.resolution.lanes = &asked.lanes;
  asked.resolution.slot = slot;
  asked.resolution.from = table.position[slot];
  asked.resolution.reason = take                 ? ResolveReason::kLanes
                            : barrier_resolve    ? ResolveReason::kBarrier
                            : at_stop            ? ResolveReason::kStop
                            : several || decides ? ResolveReason::kControl
                            : block_end          ? ResolveReason::kBlockEnd
                                                 : ResolveReason::kInstruction;
  asked.resolution.exited = exited;
  if (decides) {
    asked.resolution.reconvergence = Reconvergence(pc, threads_[lanes.thread[std::countr_zero(lanes.mask)]]);
  }
  asked.resolution.conditional = decides;
  asked.resolution.uniform = (program().instruction(pc).flags() & v1::FLAG_UNIFORM) != 0;
  if (take) {
    formation_.BeginTake(slot, asked.lanes.mask, asked.groups, exited);
  } else {
    formation_.BeginResolve(slot, asked.groups, exited);
  }
  StepOver(asked.lanes, pc);
  return Ask();
}

bool ReferenceCore::Ask() {
  if (policy_->Resolve(asked_->resolution, formation_.editor()) == Verdict::kRefused) return false;
  if (asked_->take) {
    formation_.EndTake(asked_->lanes);
  } else {
    formation_.EndResolve(asked_->resolution.slot, asked_->lanes);
  }
  asked_.reset();
  return true;
}

void ReferenceCore::StepOver(const Lanes& lanes, Pc pc) {
  const uint32_t block_index = program().block_of(pc);
  const trace::Block& block = program().block(block_index);
  const bool block_end = pc + 1 == block.first + block.count;
  ForEachLane(lanes.mask, [&](int lane) {
    Thread& thread = threads_[lanes.thread[lane]];
    ++thread.next;
    if (!block_end) return;
    if (block.terminator == v1::CALL || block.terminator == v1::CALL_INDIRECT) thread.calls.push_back(block_index);
    if (block.terminator == v1::RETURN) thread.calls.pop_back();
  });
}

Position ReferenceCore::Reconvergence(Pc pc, const Thread& thread) const {
  const trace::Block& block = program().block(program().block_of(pc));
  const uint32_t depth = static_cast<uint32_t>(thread.calls.size());
  if (block.post_dominator != trace::kNoBlock) return Position(program().block(block.post_dominator).first, depth);
  if (thread.calls.empty()) return Position::Exit();
  const uint32_t continuation = program().block(thread.calls.back()).successor;
  return Position(program().block(continuation).first, depth - 1);
}

// A block leaves when all its threads have exited and the policy has taken note of all exits.
void ReferenceCore::RetireBlocks(const std::function<void(uint64_t)>& retired) {
  if (asked_.has_value()) return;
  for (size_t place = 0; place < places_.size(); ++place) {
    if (!places_[place].has_value()) continue;
    bool done = true;
    for (const Thread& thread : threads_) done &= thread.place != static_cast<int>(place) || thread.done();
    if (!done) continue;
    const Resident resident = *places_[place];
    uint32_t hardware_threads = 0;
    for (size_t t = 0; t < threads_.size(); ++t) {
      if (threads_[t].place != static_cast<int>(place)) continue;
      hardware_threads = static_cast<uint32_t>(t) + 1 - resident.first_thread;
      threads_[t] = Thread{};
    }
    places_[place].reset();
    policy_->Retire(static_cast<BlockId>(place), formation_.editor());
    for (const auto& scheduler : schedulers_) scheduler->BlockRetired(static_cast<BlockId>(place));
    formation_.RemoveBlock(static_cast<BlockId>(place), resident.first_thread, hardware_threads);
    retired(resident.recorded);
  }
}

// ------------------------------------------------------------------------------------------------------------ barriers

// Blocks of a slot's threads: normally one.
std::set<int> ReferenceCore::PlacesOf(SlotId slot) const {
  std::set<int> places;
  const Lanes& lanes = formation_.table().lanes[slot];
  ForEachLane(lanes.mask, [&](int lane) { places.insert(threads_[lanes.thread[lane]].place); });
  return places;
}

// A barrier opens when the threads that arrived and those that exited are all threads of the block, or, for a counted
// one, when as many arrived as it counts. Its slots may go on from the next cycle; a slot with threads of several
// blocks waits for the barriers of all of them.
void ReferenceCore::OpenBarriers(Cycle now) {
  for (size_t place = 0; place < places_.size(); ++place) {
    if (!places_[place].has_value()) continue;
    uint64_t threads = 0;
    uint64_t exited = 0;
    for (const Thread& thread : threads_) {
      if (thread.place != static_cast<int>(place)) continue;
      ++threads;
      exited += thread.done();
    }
    struct Arrived {
      std::vector<Flight*> flights;
      uint64_t threads = 0;
      uint32_t counted = 0;
    };
    std::map<uint32_t, Arrived> barriers;  // by id
    for (auto& [slot, flight] : flights_) {
      const auto closed = flight.release.find(static_cast<int>(place));
      if (!flight.barrier || closed == flight.release.end() || closed->second != kNever) continue;
      Arrived& arrived = barriers[program().instruction(flight.pc).barrier_id()];
      arrived.flights.push_back(&flight);
      arrived.counted = program().instruction(flight.pc).barrier_threads();
      const Lanes& lanes = formation_.table().lanes[slot];
      ForEachLane(lanes.mask,
                  [&](int lane) { arrived.threads += threads_[lanes.thread[lane]].place == static_cast<int>(place); });
    }
    for (const auto& [barrier, arrived] : barriers) {
      if (arrived.counted == 0 ? arrived.threads + exited < threads : arrived.threads < arrived.counted) continue;
      for (Flight* flight : arrived.flights) flight->release[static_cast<int>(place)] = now + 1;
    }
  }
}

void ReferenceCore::ReleaseBarriers(Cycle now) {
  std::set<std::pair<int, uint32_t>> opened;
  std::vector<SlotId> slots;  // ascending
  for (const auto& [slot, flight] : flights_) {
    bool now_free = flight.barrier && flight.waiting;
    for (const auto& [place, release] : flight.release) {
      if (release == now) opened.insert({place, program().instruction(flight.pc).barrier_id()});
      now_free &= release <= now;
    }
    if (now_free) slots.push_back(slot);
  }
  for (const auto& [place, barrier] : opened) {
    for (const auto& scheduler : schedulers_) scheduler->BarrierReleased(static_cast<BlockId>(place));
  }
  for (SlotId slot : slots) {
    flights_.at(slot).waiting = false;
    if (asked_.has_value()) {
      queue_.push_back({now, 0, slot, 0, true});
    } else {
      ResumeFromBarrier(slot);
    }
  }
}

bool ReferenceCore::Stuck() const {
  if (resident() == 0 || formation_.next_timer() != kNever || !formation_.table().offered.empty()) return false;
  if ((interests_ & kEveryCycle) != 0 || asked_.has_value() || !queue_.empty() || !pending_.empty()) return false;
  return std::all_of(flights_.begin(), flights_.end(), [](const auto& entry) {
    return std::any_of(entry.second.release.begin(), entry.second.release.end(),
                       [](const auto& block) { return block.second == kNever; });
  });
}

std::string ReferenceCore::Describe() const {
  std::string text = "SM " + std::to_string(sm_) + ":";
  for (const Thread& thread : threads_) {
    if (thread.place < 0 || thread.done()) continue;
    text += " block " + std::to_string(places_[thread.place]->recorded) + " thread " + std::to_string(thread.index) +
            " at pc " + std::to_string(PositionOf(thread).pc() * 8) + ";";
  }
  return text + " " + policy_->Explain(formation_.table());
}

}  // namespace heddle::replay
