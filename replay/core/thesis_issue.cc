// Selection and issue of the thesis front end.
#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "replay/core/thesis_core.h"
#include "replay/stats/instruction_profile.h"

namespace heddle::replay {

void ThesisCore::Select(Cycle now) {
  // Behind a blocked write-back the front end goes on until the stages of the pipeline are full, so that a policy whose
  // tables drain by issuing can get out.
  const bool blocked = write_back_.held() + pending_.active > context_.pipeline_depth;
  counters_.scheduler_cycles += context_.ports;
  undecided_.clear();
  for (int port = 0; port < context_.ports; ++port) {
    if (!formation_.AnyOffered(port)) {
      undecided_.push_back(static_cast<uint8_t>(port));
      continue;
    }
    const bool held = (pipeline_ == nullptr ? blocked : !pipeline_->HasRoom(port)) || now < port_free_[port];
    if (!held && (issue_slots_ == 1 ? IssueOne(port, now) : IssueSeveral(port, now)) > 0) {
      ++counters_.issued;
      continue;
    }
    ++counters_.stall;
    if (context_.profile != nullptr) ProfilePort(port, PortLoss::kStall, 1);
  }
  if (undecided_.empty()) return;
  const bool memory = AllWaitForMemory();
  (memory ? counters_.memory : counters_.idle) += undecided_.size();
  if (context_.profile == nullptr) return;
  for (const uint8_t port : undecided_) ProfilePort(port, memory ? PortLoss::kMemory : PortLoss::kIdle, 1);
}

SlotId ThesisCore::Pick(int port, const SlotSet& eligible) {
  const SlotId slot = schedulers_[port]->Pick(eligible);
  if (slot == kNoSlot || (slot < table().state.size() && eligible.Contains(slot))) return slot;
  Fail(absl::InternalError(
      absl::StrCat("the scheduler of port ", port, " picked slot ", slot, ", which is not eligible, in cycle ", now_)));
  return kNoSlot;
}

const SlotSet& ThesisCore::Eligible(int port) {
  const SlotSet& offered = formation_.Eligible(port);
  if (!context_.by_warp) return offered;
  unheld_.Clear();
  offered.ForEach([&](SlotId slot) {
    if (formation_.inserted(slot) != 0 || !SharedHeld(slot, steps_[table().position[slot].pc()])) unheld_.Insert(slot);
  });
  return unheld_;
}

int ThesisCore::IssueOne(int port, Cycle now) {
  const SlotSet& eligible = Eligible(port);
  if (eligible.empty()) return 0;
  const SlotId slot = Pick(port, eligible);
  if (slot == kNoSlot) return 0;
  if ((interests_ & kIssue) != 0 && policy_->AcceptIssue(slot, formation_.editor()) == Verdict::kRefused) return 0;
  if (table().state[slot] != SlotState::kOffered) return 0;
  const int penalty = std::max(policy_->IssuePenalty(slot, table()), RegisterBankPenalty(slot));
  if (!Enter(port, slot, now)) return 0;
  chosen_.assign(1, slot);
  HoldPort(port, now, penalty);
  if (pipeline_ != nullptr) pipeline_->Issue(port, chosen_, now, static_cast<Cycle>(penalty));
  CountIssue(port, now, chosen_, in_flight_[slot].inserted);
  return 1;
}

// Slots of one issue under MIMD and its like: the scheduler is asked until the issue is full. All of them enter the
// pipeline together, each completes on its own.
int ThesisCore::IssueSeveral(int port, Cycle now) {
  candidates_ = Eligible(port);
  chosen_.clear();
  int threads = 0;
  int penalty = 0;
  while (static_cast<int>(chosen_.size()) < issue_slots_ && !candidates_.empty()) {
    const SlotId slot = Pick(port, candidates_);
    if (slot == kNoSlot) break;
    candidates_.Erase(slot);
    const int count = table().thread_count(slot);
    if (threads + count > context_.warp_size) continue;
    // Inserted instructions are not shared with traced ones: they are counted apart.
    if (!chosen_.empty() && (formation_.inserted(slot) != 0 || in_flight_[chosen_[0]].inserted)) continue;
    if (!chosen_.empty() && !policy_->MayIssueWith(chosen_, slot, table())) continue;
    if ((interests_ & kIssue) != 0 && policy_->AcceptIssue(slot, formation_.editor()) == Verdict::kRefused) continue;
    if (table().state[slot] != SlotState::kOffered) continue;
    const int own_penalty = policy_->IssuePenalty(slot, table());
    if (!Enter(port, slot, now)) continue;
    chosen_.push_back(slot);
    threads += count;
    penalty = std::max(penalty, own_penalty);
    if (threads == context_.warp_size) break;
  }
  if (chosen_.empty()) return 0;
  HoldPort(port, now, penalty);
  if (pipeline_ != nullptr) pipeline_->Issue(port, chosen_, now, static_cast<Cycle>(penalty));
  CountIssue(port, now, chosen_, in_flight_[chosen_[0]].inserted);
  return static_cast<int>(chosen_.size());
}

void ThesisCore::HoldPort(int port, Cycle now, int penalty) {
  const Cycle until = now + static_cast<Cycle>(context_.issue_cycles + penalty);
  port_free_[port] = until;
  occupied_until_ = std::max(occupied_until_, until);
}

bool ThesisCore::StartFixed(SlotId slot, const Step& step, Cycle now) {
  InFlight& state = in_flight_[slot];
  const Lanes& lanes = table().lanes[slot];
  const Pc pc = table().position[slot].pc();
  const Completion done{slot, Completion::kLanes, lanes.mask};
  const uint32_t scripted = !state.inserted && step.scripted ? ScriptedLatency(slot, pc) : 0;
  if (state.inserted || step.kind != Step::kMemory) {
    write_back_.Add(now + (scripted != 0 ? scripted : context_.pipeline_depth), done);
    return true;
  }
  const bool generic = step.space == trace::v1::SPACE_GENERIC;
  const bool addresses = step.has_address && (generic || memory_->needs_addresses());
  if (addresses) cursors_.PeekAddresses(lanes, pc, addresses_);
  if (scripted == 0) {
    if (!memory_->StageFree()) return false;
    SubmitToMemory(slot, slot, lanes.mask, lanes.thread, addresses, now);
  } else {
    write_back_.Add(now + scripted, done);
  }
  if (step.has_address) cursors_.SkipAddresses(lanes);
  state.memory = ReachesBeyondShared(step, lanes.mask, addresses);
  if (state.memory) memory_threads_ += static_cast<uint64_t>(std::popcount(lanes.mask));
  return true;
}

void ThesisCore::StartPipelined(SlotId slot, const Step& step) {
  InFlight& state = in_flight_[slot];
  if (state.inserted || step.kind != Step::kMemory) return;
  const Lanes& lanes = table().lanes[slot];
  const bool addresses = step.has_address && step.space == trace::v1::SPACE_GENERIC;
  if (addresses) cursors_.PeekAddresses(lanes, table().position[slot].pc(), addresses_);
  state.memory = ReachesBeyondShared(step, lanes.mask, addresses);
  if (state.memory) memory_threads_ += static_cast<uint64_t>(std::popcount(lanes.mask));
}

// One slot enters the pipeline. False if the memory stage has no room for its access.
bool ThesisCore::Enter(int port, SlotId slot, Cycle now) {
  InFlight& state = in_flight_[slot];
  const Lanes& lanes = table().lanes[slot];
  const Pc pc = table().position[slot].pc();
  const Step& step = steps_[pc];
  state = InFlight();
  state.outstanding = lanes.mask;
  state.inserted = formation_.inserted(slot) != 0;
  if (pipeline_ != nullptr) {
    StartPipelined(slot, step);
  } else if (!StartFixed(slot, step, now)) {
    return false;
  }
  formation_.Issue(slot);
  schedulers_[port]->Issued(slot);
  if (step.kind == Step::kBarrier && !state.inserted) {
    state.at_barrier = true;
    ArriveAtBarrier(slot, step);
  }
  return true;
}

uint32_t ThesisCore::ScriptedLatency(SlotId slot, Pc pc) const {
  const Lanes& lanes = table().lanes[slot];
  for (const machine::v1::ScriptedLatency& entry : context_.scripted) {
    if (!entry.any_instruction() && entry.instruction() != pc) continue;
    for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
      const uint32_t index = formation_.index_in_block(lanes.thread[std::countr_zero(mask)]);
      if (index >= entry.first_thread() && index <= entry.last_thread()) return entry.cycles();
    }
  }
  return 0;
}

}  // namespace heddle::replay
