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
  CompleteFlights(now, retired);
  ReleaseBarriers(now);
  RetireBlocks(retired);
  if (resident() == 0) return;
  for (uint64_t tag; formation_.PopTimer(tag);) policy_->Timer(tag, formation_.editor());
  if ((interests_ & kEveryCycle) != 0) policy_->Tick(formation_.editor());
}

void ReferenceCore::CompleteFlights(Cycle now, const std::function<void(uint64_t)>& retired) {
  while (true) {
    Flight* next = nullptr;
    for (Flight& flight : flights_) {
      if (flight.due > now || flight.waiting) continue;
      if (next == nullptr || std::pair(flight.due, flight.order) < std::pair(next->due, next->order)) next = &flight;
    }
    if (next == nullptr) return;
    if (next->barrier && next->release >= now) {
      next->waiting = true;
      formation_.WaitAtBarrier(next->slot);
      continue;
    }
    if (next->inserted) {
      formation_.Advance(next->slot, formation_.table().position[next->slot]);
    } else if (!TryFinish(*next, next->barrier && AsksBarrierResolve(*next))) {
      return;  // write-back stalls, and everything behind it
    }
    flights_.erase(flights_.begin() + (next - flights_.data()));
    RetireBlocks(retired);
  }
}

bool ReferenceCore::AsksBarrierResolve(const Flight& flight) {
  return (interests_ & kBarriers) != 0 &&
         policy_->BarrierReleased(flight.slot, program().instruction(flight.pc).barrier_id(), formation_.editor());
}

// The rules for when a policy is asked are those above Interest and ResolveReason in divergence_policy.h.
bool ReferenceCore::TryFinish(Flight& flight, bool barrier_resolve) {
  if (flight.refused) return AskPolicy(flight);
  const WarpTable& table = formation_.table();
  const SlotId slot = flight.slot;
  const trace::Block& block = program().block(program().block_of(flight.pc));
  const bool block_end = flight.pc + 1 == block.first + block.count;
  flight.lanes = table.lanes[slot];
  std::map<Position, PathGroup> groups;
  LaneMask exited = 0;
  ForEachLane(flight.lanes.mask, [&](int lane) {
    const Thread& thread = threads_[flight.lanes.thread[lane]];
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
  const bool asked = (interests_ & kEveryInstruction) != 0 || (block_end && (interests_ & kEveryBlockEnd) != 0);
  if (!barrier_resolve && !at_stop && !several && !asked) {
    formation_.Advance(slot, groups.begin()->first);
    StepOver(flight);
    return true;
  }
  for (const auto& [at, group] : groups) flight.groups.push_back(group);
  Resolution& resolution = flight.resolution;
  resolution.slot = slot;
  resolution.from = table.position[slot];
  resolution.reason = barrier_resolve      ? ResolveReason::kBarrier
                      : at_stop            ? ResolveReason::kStop
                      : several || decides ? ResolveReason::kControl
                      : block_end          ? ResolveReason::kBlockEnd
                                           : ResolveReason::kInstruction;
  resolution.exited = exited;
  const Thread& first = threads_[flight.lanes.thread[std::countr_zero(flight.lanes.mask)]];
  if (decides) resolution.reconvergence = Reconvergence(flight.pc, first);
  resolution.conditional = decides;
  resolution.uniform = (program().instruction(flight.pc).flags() & v1::FLAG_UNIFORM) != 0;
  formation_.BeginResolve(slot, flight.groups, exited);
  return AskPolicy(flight);
}

bool ReferenceCore::AskPolicy(Flight& flight) {
  flight.resolution.groups = flight.groups;  // the flight may have moved since
  flight.resolution.lanes = &flight.lanes;
  flight.refused = policy_->Resolve(flight.resolution, formation_.editor()) == Verdict::kRefused;
  if (flight.refused) return false;
  formation_.EndResolve(flight.slot, flight.lanes);
  StepOver(flight);
  return true;
}

void ReferenceCore::StepOver(const Flight& flight) {
  const uint32_t block_index = program().block_of(flight.pc);
  const trace::Block& block = program().block(block_index);
  const bool block_end = flight.pc + 1 == block.first + block.count;
  ForEachLane(flight.lanes.mask, [&](int lane) {
    Thread& thread = threads_[flight.lanes.thread[lane]];
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

void ReferenceCore::RetireBlocks(const std::function<void(uint64_t)>& retired) {
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

// A barrier opens when the threads that arrived and those that exited are all threads of the block, or, for a counted
// one, when as many arrived as it counts. Its slots may go on from the next cycle.
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
    std::map<uint32_t, std::vector<Flight*>> arrived;  // by barrier
    for (Flight& flight : flights_) {
      if (!flight.barrier || flight.release != kNever) continue;
      if (formation_.table().block[flight.slot] != place) continue;
      arrived[program().instruction(flight.pc).barrier_id()].push_back(&flight);
    }
    for (const auto& [barrier, waiting] : arrived) {
      uint64_t count = 0;
      for (const Flight* flight : waiting) count += formation_.table().thread_count(flight->slot);
      const uint32_t counted = program().instruction(waiting.front()->pc).barrier_threads();
      if (counted == 0 ? count + exited < threads : count < counted) continue;
      for (Flight* flight : waiting) flight->release = now + 1;
    }
  }
}

void ReferenceCore::ReleaseBarriers(Cycle now) {
  std::set<BlockId> opened;
  std::set<SlotId> slots;
  for (const Flight& flight : flights_) {
    if (!flight.barrier || flight.release != now) continue;
    opened.insert(formation_.table().block[flight.slot]);
    if (flight.waiting) slots.insert(flight.slot);
  }
  for (BlockId block : opened) {
    for (const auto& scheduler : schedulers_) scheduler->BarrierReleased(block);
  }
  for (SlotId slot : slots) {
    Flight& flight = *FlightOf(slot);
    flight.waiting = false;
    if (TryFinish(flight, AsksBarrierResolve(flight))) flights_.erase(flights_.begin() + (&flight - flights_.data()));
  }
}

ReferenceCore::Flight* ReferenceCore::FlightOf(SlotId slot) {
  for (Flight& flight : flights_) {
    if (flight.slot == slot) return &flight;
  }
  return nullptr;
}

bool ReferenceCore::Stuck() const {
  if (resident() == 0 || formation_.next_timer() != kNever || !formation_.table().offered.empty()) return false;
  return std::all_of(flights_.begin(), flights_.end(),
                     [](const Flight& flight) { return flight.waiting && flight.release == kNever; });
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
