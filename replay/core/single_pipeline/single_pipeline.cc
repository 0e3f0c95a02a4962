#include "replay/core/single_pipeline/single_pipeline.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

SinglePipeline::SinglePipeline(const LaunchContext& context, bool several, bool lane_wise, SmMemory& memory, Core& core)
    : depth_(context.pipeline_depth),
      issue_cycles_(static_cast<Cycle>(context.issue_cycles)),
      capacity_(std::max<size_t>(1, (context.pipeline_depth - 1 + issue_cycles_ - 1) / issue_cycles_)),
      several_(several),
      lane_wise_(several || lane_wise),
      memory_(memory),
      core_(core),
      ports_(static_cast<size_t>(context.ports)) {}

void SinglePipeline::Issue(int port, std::span<const SlotId> slots, Cycle now, Cycle extra) {
  Group group;
  group.ready = now + depth_ - 1 + extra;
  int place = 0;
  for (const SlotId slot : slots) {
    group.slot[group.count] = slot;
    group.place[group.count++] = static_cast<uint8_t>(place);
    place += std::popcount(core_.LanesOf(slot));
    group.memory |= core_.AccessOf(slot) != nullptr;
  }
  ports_[port].on_way.push(group);
}

// --- data

bool SinglePipeline::ArriveInStage(AccessId id, LaneMask lanes, Cycle at, bool returned, Cycle now) {
  Access& access = accesses_[id];
  if (!access.in_stage || returned || at > now + 1) return false;
  access.in_time |= lanes;
  return true;
}

void SinglePipeline::Arrive(AccessId id, LaneMask lanes) {
  Access& access = accesses_[id];
  access.arrived |= lanes;
  if (lane_wise_) {
    ports_[access.port].returned.push({id, lanes});
  } else if (!access.in_stage && IsComplete(access)) {
    ports_[access.port].returned.push({id, access.mask});
  }
}

void SinglePipeline::Acknowledge(AccessId id) {
  accesses_[id].unacknowledged = false;
  Delivered(id, 0);
}

AccessId SinglePipeline::NewAccess() {
  if (free_accesses_.empty()) {
    free_accesses_.push_back(static_cast<AccessId>(accesses_.size()));
    accesses_.emplace_back();
  }
  const AccessId id = free_accesses_.back();
  free_accesses_.pop_back();
  return id;
}

// The number of an access is free when its lanes have been written back and, if it is a store, it is acknowledged.
void SinglePipeline::Delivered(AccessId id, LaneMask lanes) {
  Access& access = accesses_[id];
  access.to_deliver &= ~lanes;
  if (access.to_deliver == 0 && !access.unacknowledged) free_accesses_.push_back(id);
}

void SinglePipeline::AddParts(const Access& access, LaneMask lanes, std::vector<Part>& parts) const {
  if (!several_) {
    parts.push_back({access.slot[std::countr_zero(access.mask)], lanes});
    return;
  }
  ForEachLane(lanes, [&](int lane) {
    const LaneMask own = LaneMask{1} << access.lane[lane];
    if (!parts.empty() && parts.back().slot == access.slot[lane]) {
      parts.back().lanes |= own;
    } else {
      parts.push_back({access.slot[lane], own});
    }
  });
}

// --- write-back

void SinglePipeline::WriteBack(Cycle now) {
  for (Port& port : ports_) {
    if (core_.write_back_blocked()) return;
    if (port.write_free > now) continue;
    if (!port.returned.empty()) {
      const Returned back = port.returned.front();
      port.returned.pop();
      port.write_free = now + issue_cycles_;
      writing_.clear();
      AddParts(accesses_[back.id], back.lanes, writing_);
      Delivered(back.id, back.lanes);
    } else if (port.full && port.output.available <= now) {
      port.full = false;
      port.write_free = now + port.output.hold;
      std::swap(writing_, port.output.parts);
    } else {
      continue;
    }
    for (const Part& part : writing_) core_.WriteBack(part.slot, part.lanes);
  }
}

// --- the memory stage

void SinglePipeline::Advance(Cycle now) {
  const int ports = static_cast<int>(ports_.size());
  const int first = turn_;
  if (in_memory_ != kNoPort && memory_.StageFree()) LeaveMemory();
  for (int i = 0; i < ports; ++i) {
    const int number = (first + i) % ports;
    Port& port = ports_[number];
    if (port.busy) AdvanceStage(port, number, now);
    if (!port.busy && !port.on_way.empty()) EnterStage(port, number, now);
  }
}

void SinglePipeline::MoveToRegister(Port& port, Cycle now, Cycle hold) {
  std::swap(port.output.parts, port.building.parts);
  port.output.available = now + 1;
  port.output.hold = hold;
  port.full = true;
}

void SinglePipeline::AdvanceStage(Port& port, int number, Cycle now) {
  if (!port.group.memory) {
    if (!port.passed && now >= port.entered && !port.full) {
      MoveToRegister(port, now, issue_cycles_);
      port.passed = true;
      port.leaves = now + issue_cycles_ - 1;
    }
    if (port.passed && now >= port.leaves) port.busy = false;
    return;
  }
  if (port.accessing || SubmitNext(port, number, now)) return;
  if (port.building.parts.empty()) {
    port.busy = false;
  } else if (!port.full) {
    // Its lane groups have passed while it was in the stage.
    MoveToRegister(port, now, 1);
    port.busy = false;
  }
}

void SinglePipeline::LeaveMemory() {
  Port& port = ports_[in_memory_];
  in_memory_ = kNoPort;
  port.accessing = false;
  const AccessId id = port.current;
  Access& access = accesses_[id];
  access.in_stage = false;
  if (access.in_time == access.mask || (lane_wise_ && access.in_time != 0)) {
    AddParts(access, access.in_time, port.building.parts);
    Delivered(id, access.in_time);
  } else if (!lane_wise_ && IsComplete(access)) {
    port.returned.push({id, access.mask});
  }
}

void SinglePipeline::EnterStage(Port& port, int number, Cycle now) {
  const Group& head = port.on_way.front();
  if (head.ready > now + 1 || (head.memory && !memory_.StageFree())) return;
  port.group = head;
  port.on_way.pop();
  port.busy = true;
  port.entered = now + 1;
  port.passed = false;
  port.submitted = 0;
  port.accessing = false;
  port.building.parts.clear();
  // What does not access memory goes on with the rest of its issue.
  for (int i = 0; i < port.group.count; ++i) {
    const SlotId slot = port.group.slot[i];
    if (!port.group.memory || core_.AccessOf(slot) == nullptr) {
      port.building.parts.push_back({slot, core_.LanesOf(slot)});
      port.submitted |= uint64_t{1} << i;
    }
  }
  if (port.group.memory) SubmitNext(port, number, now);
}

// Slots of the group with the same operation, space and width make one access (volatile ones apart). Returns whether an
// access is left, be it that the memory's stage is not free.
bool SinglePipeline::SubmitNext(Port& port, int number, Cycle now) {
  const Group& group = port.group;
  int first = 0;
  while (first < group.count && (port.submitted >> first & 1) != 0) ++first;
  if (first == group.count) return false;
  if (!memory_.StageFree()) return true;
  const AccessId id = NewAccess();
  Access& access = accesses_[id];
  access.mask = access.in_time = access.arrived = 0;
  access.port = number;
  access.in_stage = true;
  const Step& step = *core_.AccessOf(group.slot[first]);
  for (int i = first; i < group.count; ++i) {
    if ((port.submitted >> i & 1) != 0) continue;
    const SlotId slot = group.slot[i];
    const Step& other = *core_.AccessOf(slot);
    if (other.op != step.op || other.space != step.space || other.bytes != step.bytes ||
        other.has_address != step.has_address || other.is_volatile != step.is_volatile) {
      continue;
    }
    port.submitted |= uint64_t{1} << i;
    int place = group.place[i];
    ForEachLane(core_.LanesOf(slot), [&](int lane) {
      const int at = several_ ? place++ : lane;
      access.mask |= LaneMask{1} << at;
      access.slot[at] = slot;
      access.lane[at] = static_cast<uint8_t>(lane);
    });
  }
  access.to_deliver = access.mask;
  access.unacknowledged = step.op == trace::v1::OP_STORE;
  port.current = id;
  port.accessing = true;
  in_memory_ = number;
  turn_ = (number + 1) % static_cast<int>(ports_.size());
  core_.SubmitAccess(id, access, now);
  return true;
}

// --- time

Cycle SinglePipeline::NextWake(Cycle now) const {
  Cycle wake = kNever;
  for (const Port& port : ports_) {
    if (!port.returned.empty()) wake = std::min(wake, std::max(now + 1, port.write_free));
    if (port.full) wake = std::min(wake, std::max({now + 1, port.write_free, port.output.available}));
    if (port.busy) {
      if (!port.group.memory) {
        // What waits for the register goes on in the cycle in which write-back empties it.
        if (port.passed) {
          wake = std::min(wake, port.leaves);
        } else if (!port.full) {
          wake = std::min(wake, std::max(now + 1, port.entered));
        }
      } else if (!port.accessing && memory_.StageFree()) {
        wake = std::min(wake, now + 1);
      }
    } else if (!port.on_way.empty()) {
      const Group& head = port.on_way.front();
      if (!head.memory || memory_.StageFree()) wake = std::min(wake, std::max(now + 1, head.ready - 1));
    }
  }
  return wake;
}

}  // namespace heddle::replay
