#include "tests/reference/reference_pipeline_core.h"

#include <algorithm>
#include <bit>

namespace heddle::replay {

namespace v1 = trace::v1;

ReferencePipelineCore::ReferencePipelineCore(const ReferenceLaunch& launch, uint32_t sm, int capacity)
    : ReferenceCore(launch, sm, capacity),
      memory_(launch.memory->MakeSm(sm, *this)),
      pipelines_(launch.machine->core().schedulers()) {
  MakeMemoryPolicy(*memory_);
}

bool ReferencePipelineCore::Stuck() const {
  const bool moving = std::any_of(pipelines_.begin(), pipelines_.end(), [](const Pipeline& pipeline) {
    return !pipeline.on_way.empty() || pipeline.stage.has_value() || pipeline.output.has_value() ||
           !pipeline.returned.empty();
  });
  return !moving && accesses_.empty() && unacknowledged_.empty() && ReferenceCore::Stuck();
}

bool ReferencePipelineCore::IsAccess(SlotId slot) const {
  if (in_flight_.at(slot).inserted) return false;
  const v1::OpClass op = program().instruction(in_flight_.at(slot).pc).op();
  const bool memory = op == v1::OP_LOAD || op == v1::OP_STORE || op == v1::OP_ATOMIC || op == v1::OP_TEXTURE;
  return memory && Executing(formation_.table().lanes[slot]) != 0;
}

std::pair<uint64_t, ThreadId> ReferencePipelineCore::Named(ThreadId thread) const {
  return {places_[threads_[thread].place]->recorded, thread};
}

// --- issue

void ReferencePipelineCore::Start(Cycle now, SlotId slot, InFlight& in_flight) {
  if (in_flight.inserted) return;
  InFlight latencies = in_flight;
  Latencies(now, slot, latencies);
  in_flight.memory = latencies.memory;
  in_flight.outstanding = latencies.outstanding;
}

void ReferencePipelineCore::Entered(Cycle now, int port, const std::vector<SlotId>& slots, int penalty) {
  const Cycle depth = launch_.PipelineDepth();
  pipelines_[port].on_way.push_back({now + depth - 1 + static_cast<Cycle>(penalty), slots});
}

bool ReferencePipelineCore::HasRoom(int port) const {
  const size_t stages = launch_.PipelineDepth() - 1;
  const size_t period = static_cast<size_t>(issue_cycles_);
  return pipelines_[port].on_way.size() < (stages + period - 1) / period;
}

// --- a cycle

void ReferencePipelineCore::RunPipeline(Cycle now, const std::function<void(uint64_t)>& retired) {
  now_ = now;
  memory_->RunCycle(now);
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.at < b.at; });
  while (!events_.empty() && events_.front().at <= now) {
    const Event event = events_.front();
    events_.erase(events_.begin());
    TakeEvent(event, retired);
  }
  WriteBackPorts(now, retired);
  if (in_memory_.has_value() && memory_->StageFree()) LeaveMemory();
  const size_t first = turn_;
  for (size_t i = 0; i < pipelines_.size(); ++i) {
    const size_t port = (first + i) % pipelines_.size();
    AdvanceStage(pipelines_[port], port, now);
  }
}

void ReferencePipelineCore::TakeEvent(const Event& event, const std::function<void(uint64_t)>& retired) {
  if (event.lanes == 0) {
    unacknowledged_.erase(event.id);
    ForgetIfDone(event.id);
    const std::set<SlotId> waiting = fences_;
    for (const SlotId slot : waiting) {
      if (FenceWaits(slot, in_flight_.at(slot))) continue;
      fences_.erase(slot);
      Deliver(now_, {{slot, 0}}, retired);
    }
    return;
  }
  Access& access = accesses_.at(event.id);
  std::set<int> lanes;
  ForEachLaneOf(event.lanes, [&](int lane) { lanes.insert(lane); });
  access.arrived.insert(lanes.begin(), lanes.end());
  if (lane_wise()) {
    pipelines_[access.port].returned.push_back(PartsOf(access, lanes));
    access.delivered.insert(lanes.begin(), lanes.end());
  } else if (!access.in_stage && access.arrived.size() + access.in_time.size() == access.lanes.size()) {
    std::set<int> all;
    for (const auto& [lane, place] : access.lanes) all.insert(lane);
    pipelines_[access.port].returned.push_back(PartsOf(access, all));
    access.delivered = std::move(all);
  }
  ForgetIfDone(event.id);
}

std::vector<ReferencePipelineCore::Part> ReferencePipelineCore::PartsOf(const Access& access,
                                                                        const std::set<int>& lanes) const {
  std::vector<Part> parts;
  for (const int lane : lanes) {
    const auto& [slot, own] = access.lanes.at(lane);
    if (parts.empty() || parts.back().first != slot) parts.push_back({slot, 0});
    parts.back().second |= LaneMask{1} << own;
  }
  return parts;
}

void ReferencePipelineCore::ForgetIfDone(AccessId id) {
  const auto access = accesses_.find(id);
  if (access == accesses_.end() || access->second.in_stage || unacknowledged_.contains(id)) return;
  if (access->second.delivered.size() == access->second.lanes.size()) accesses_.erase(access);
}

// Results reach the registers; if the policy has no room for one of them, the rest wait behind it.
void ReferencePipelineCore::Deliver(Cycle now, const std::vector<Part>& parts,
                                    const std::function<void(uint64_t)>& retired) {
  for (const auto& [slot, lanes] : parts) {
    const WriteBack item{now, 0, slot, lanes, false};
    if (asked_.has_value()) {
      queue_.push_back(item);
      continue;
    }
    Process(now, item);
    RetireBlocks(retired);
  }
}

void ReferencePipelineCore::WriteBackPorts(Cycle now, const std::function<void(uint64_t)>& retired) {
  for (Pipeline& pipeline : pipelines_) {
    if (asked_.has_value()) return;
    if (pipeline.write_free > now) continue;
    if (!pipeline.returned.empty()) {
      const std::vector<Part> parts = pipeline.returned.front();
      pipeline.returned.pop_front();
      pipeline.write_free = now + issue_cycles_;
      Deliver(now, parts, retired);
    } else if (pipeline.output.has_value() && pipeline.output->available <= now) {
      const Register output = *pipeline.output;
      pipeline.output.reset();
      pipeline.write_free = now + output.takes;
      Deliver(now, output.results, retired);
    }
  }
}

// --- the memory stage

void ReferencePipelineCore::AdvanceStage(Pipeline& pipeline, size_t port, Cycle now) {
  if (pipeline.stage.has_value()) {
    Stage& stage = *pipeline.stage;
    const bool memory = std::any_of(stage.issue.slots.begin(), stage.issue.slots.end(),
                                    [&](SlotId slot) { return stage.memory.contains(slot); });
    if (!memory) {
      if (!stage.handed_over && now >= stage.entered && !pipeline.output.has_value()) {
        pipeline.output = Register{now + 1, static_cast<Cycle>(issue_cycles_), stage.results};
        stage.handed_over = true;
        stage.handed_over_in = now;
      }
      if (stage.handed_over && now + 1 >= stage.handed_over_in + issue_cycles_) pipeline.stage.reset();
    } else if (stage.accessing) {
      return;
    } else if (!stage.to_submit.empty()) {
      SubmitNext(pipeline, port, now);
      return;
    } else if (stage.results.empty()) {
      pipeline.stage.reset();
    } else if (!pipeline.output.has_value()) {
      pipeline.output = Register{now + 1, 1, stage.results};
      pipeline.stage.reset();
    }
  }
  if (pipeline.stage.has_value() || pipeline.on_way.empty() || pipeline.on_way.front().ready > now + 1) return;
  Stage next;
  next.issue = pipeline.on_way.front();
  next.entered = now + 1;
  int place = 0;
  for (const SlotId slot : next.issue.slots) {
    const Lanes& lanes = formation_.table().lanes[slot];
    next.place[slot] = place;
    place += std::popcount(IsAccess(slot) ? Executing(lanes) : lanes.mask);
    if (IsAccess(slot)) {
      next.memory.insert(slot);
    } else {
      next.results.push_back({slot, formation_.table().lanes[slot].mask});
    }
  }
  next.to_submit = next.memory;
  if (!next.memory.empty() && !memory_->StageFree()) return;
  pipeline.on_way.pop_front();
  pipeline.stage = next;
  if (!next.memory.empty()) SubmitNext(pipeline, port, now);
}

// The first slot of the issue that has not had its access, with all others that do the same.
void ReferencePipelineCore::SubmitNext(Pipeline& pipeline, size_t port, Cycle now) {
  if (!memory_->StageFree()) return;
  Stage& stage = *pipeline.stage;
  const auto kind = [&](SlotId slot) {
    const v1::Instruction& instruction = program().instruction(in_flight_.at(slot).pc);
    return std::tuple(instruction.op(), instruction.space(), instruction.access_bytes(),
                      trace::Program::HasAddress(instruction), (instruction.flags() & v1::FLAG_VOLATILE) != 0);
  };
  const SlotId first = *std::find_if(stage.issue.slots.begin(), stage.issue.slots.end(),
                                     [&](SlotId slot) { return stage.to_submit.contains(slot); });
  AccessId id = 0;
  while (accesses_.contains(id)) ++id;
  Access access;
  access.port = port;
  access.store = program().instruction(in_flight_.at(first).pc).op() == v1::OP_STORE;
  WarpAccess out;
  out.id = id;
  out.slot = first;
  out.op = std::get<0>(kind(first));
  out.space = std::get<1>(kind(first));
  out.bytes = std::get<2>(kind(first));
  out.threads = &lane_threads_;
  out.pc = in_flight_.at(first).pc;
  out.is_volatile = (program().instruction(in_flight_.at(first).pc).flags() & v1::FLAG_VOLATILE) != 0;
  for (const SlotId slot : stage.issue.slots) {
    const Lanes& lanes = formation_.table().lanes[slot];
    const bool takes_part = stage.to_submit.contains(slot) && kind(slot) == kind(first);
    if (!takes_part) continue;
    int next = stage.place.at(slot);
    ForEachLaneOf(Executing(lanes), [&](int lane) {
      const int at = policy_->issue_slots() > 1 ? next++ : lane;
      const Thread& thread = threads_[lanes.thread[lane]];
      const ScriptStep& step = (*thread.steps)[thread.next];
      access.lanes[at] = {slot, lane};
      out.lanes |= LaneMask{1} << at;
      addresses_[at] = step.address;
      lane_threads_[at] = lanes.thread[lane];
      if (step.has_address) out.addresses = &addresses_;
      if (access.store) access.threads.insert(Named(lanes.thread[lane]));
    });
    stage.to_submit.erase(slot);
  }
  if (access.store) unacknowledged_.insert(id);
  accesses_[id] = access;
  in_memory_ = id;
  stage.accessing = true;
  turn_ = (port + 1) % pipelines_.size();
  memory_->Submit(out, now);
}

// The memory's stage has made the access that it held.
void ReferencePipelineCore::LeaveMemory() {
  const AccessId id = *in_memory_;
  in_memory_.reset();
  Access& access = accesses_.at(id);
  access.in_stage = false;
  Pipeline& pipeline = pipelines_[access.port];
  pipeline.stage->accessing = false;
  if (access.in_time.size() == access.lanes.size() || (lane_wise() && !access.in_time.empty())) {
    for (const Part& part : PartsOf(access, access.in_time)) pipeline.stage->results.push_back(part);
    access.delivered.insert(access.in_time.begin(), access.in_time.end());
  } else if (!lane_wise() && access.arrived.size() + access.in_time.size() == access.lanes.size()) {
    std::set<int> all;
    for (const auto& [lane, own] : access.lanes) all.insert(lane);
    pipeline.returned.push_back(PartsOf(access, all));
    access.delivered = std::move(all);
  }
  ForgetIfDone(id);
}

// --- what the memory says

void ReferencePipelineCore::LanesDone(AccessId id, LaneMask lanes, Cycle at, bool returned) {
  Access& access = accesses_.at(id);
  if (access.in_stage && !returned && at <= now_ + 1) {
    ForEachLaneOf(lanes, [&](int lane) { access.in_time.insert(lane); });
  } else {
    events_.push_back({at, id, lanes});
  }
}

void ReferencePipelineCore::StoreAcknowledged(AccessId id, Cycle at) { events_.push_back({at, id, 0}); }

void ReferencePipelineCore::WaitsOffCore(AccessId id) {
  std::set<SlotId> told;
  for (const auto& [lane, own] : accesses_.at(id).lanes) {
    if (!told.insert(own.first).second || in_flight_.at(own.first).off_core) continue;
    in_flight_.at(own.first).off_core = true;
    issued_now_.push_back(own.first);
  }
}

void ReferencePipelineCore::CacheEvent(const CacheNotice& notice) {
  for (const auto& scheduler : schedulers_) scheduler->CacheEvent(notice);
}

// --- fences

bool ReferencePipelineCore::FenceWaits(SlotId slot, const InFlight& in_flight) const {
  if (in_flight.inserted || program().instruction(in_flight.pc).op() != v1::OP_FENCE) return false;
  bool waits = false;
  const Lanes& lanes = formation_.table().lanes[slot];
  for (const AccessId id : unacknowledged_) {
    ForEachLaneOf(lanes.mask, [&](int lane) { waits |= accesses_.at(id).threads.contains(Named(lanes.thread[lane])); });
  }
  return waits;
}

}  // namespace heddle::replay
