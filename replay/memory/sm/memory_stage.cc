#include "replay/memory/sm/memory_stage.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace heddle::replay {

using trace::v1::OP_STORE;

StageTiming::StageTiming(const machine::v1::Machine& machine) {
  const machine::v1::Core& core = machine.core();
  lane_groups = (core.warp_size() + core.simd_width() - 1) / core.simd_width();
  hold = lane_groups;
  if (core.front_end() == machine::v1::Core::IBUFFER) {
    issue = std::max(1u, core.units().memory_issue_latency());
    hold *= std::max(1u, core.units().memory_initiation_interval());
  }
  const machine::v1::SharedMemory& shared = machine.memory().hierarchy().shared();
  shared_latency = std::max(1u, shared.latency());
  shared_atomic_latency = shared_latency + shared.atomic_cycles();
}

MemoryStage::MemoryStage(const machine::v1::Machine& machine, FirstLevelCaches& caches, NetworkInterface& network,
                         HitPipes& pipes, AccessTable& accesses, DirectRequests& directs, MemoryClient& client)
    : caches_(caches),
      network_(network),
      pipes_(pipes),
      accesses_(accesses),
      timing_(machine),
      data_(machine.memory().hierarchy(), timing_.lane_groups, caches[FirstLevel::kData], network, pipes, accesses,
            directs, client),
      queue_((timing_.issue - 1 + timing_.hold - 1) / timing_.hold) {}

void MemoryStage::CreditBlocked(Cycle cycles) {
  if (failure_.returns_full()) {
    pipes_.CountStall(cycles);
  } else {
    caches_[failure_.level()].CountFail(failure_.cause(), cycles);
  }
}

// Makes the next step, or several of the data cache.
inline StepResult MemoryStage::MakeStep(Cycle now) {
  const AccessStep& step = access_.step();
  access_.ready = now + 1;
  access_.done = now + 1;
  switch (step.unit) {
    case MemoryUnit::kShared:
      return MakeSharedStep(step, now);
    case MemoryUnit::kRemote:
      return MakeRemoteStep(step, now);
    case MemoryUnit::kConstant:
      return MakeReadOnlyStep(FirstLevel::kConstant, RegisterSource::kConstant, step, now);
    case MemoryUnit::kTexture:
      return MakeReadOnlyStep(FirstLevel::kTexture, RegisterSource::kTexture, step, now);
    case MemoryUnit::kUnknown:
      return MakeUnknownStep(step, now);
    case MemoryUnit::kData:
      break;
  }
  return data_.Make(access_, now);
}

void MemoryStage::Run(Cycle now) {
  if (leaving_) {
    Leave(now);
    return;
  }
  if (blocked_ && !freed_) {
    CreditBlocked(1);
    return;
  }
  freed_ = false;
  const StepResult result = MakeStep(now);
  blocked_ = !result.made();
  if (blocked_) {
    failure_ = result;
  } else if (access_.all_made()) {
    StepsMade(now);
  }
}

void MemoryStage::StepsMade(Cycle now) {
  if (access_.op == OP_STORE) accesses_.LeaveStage(access_.record, access_.lanes, access_.done);
  const Cycle last = std::max(access_.ready - 1, access_.hold_until);
  if (last == now) return Leave(now);
  leaving_ = true;
  access_.ready = last;
}

void MemoryStage::Enter(const PlannedAccess& next, Cycle earliest) {
  busy_ = true;
  leaving_ = false;
  blocked_ = false;
  static_cast<PlannedAccess&>(access_) = next;
  access_.ready = std::max(next.ready, earliest);
  access_.next = 0;
  access_.data_begun = false;
  access_.hold_until = access_.ready + timing_.hold - 1;
}

// Whoever has closed up behind follows in the next cycle.
void MemoryStage::Leave(Cycle now) {
  queue_.FreePlan(access_.plan);
  busy_ = leaving_ = false;
  if (queue_.empty()) return;
  Enter(queue_.front(), now + 1);
  queue_.Pop();
}

StepResult MemoryStage::MakeSharedStep(const AccessStep& step, Cycle now) {
  // The lane groups of a warp that is wider than the pipeline pass anyway; conflicts within that time cost nothing.
  const uint32_t extra = step.passes > timing_.lane_groups ? step.passes - timing_.lane_groups : 0;
  if (access_.op != OP_STORE) {
    if (!pipes_.HasRoom(RegisterSource::kShared)) return BlockedOnReturns();
    const uint32_t latency = access_.op == OP_ATOMIC ? timing_.shared_atomic_latency : timing_.shared_latency;
    pipes_.Hit(RegisterSource::kShared, access_.WaiterOf(step), now + extra + latency);
  }
  access_.ready = now + step.passes;
  access_.done = now + extra + 1;
  ++access_.next;
  return StepResult::Made();
}

StepResult MemoryStage::MakeRemoteStep(const AccessStep& step, Cycle now) {
  if (access_.op == OP_STORE) {
    accesses_.ExpectAcknowledgement(access_.record);
  } else {
    accesses_.NotifyOffCore(access_.record);
  }
  access_.ready = access_.done = now + remote_.Send(access_, step, now);
  ++access_.next;
  return StepResult::Made();
}

StepResult MemoryStage::MakeUnknownStep(const AccessStep& step, Cycle now) {
  if (access_.op != OP_STORE) {
    if (!pipes_.HasRoom(RegisterSource::kConstant)) return BlockedOnReturns();
    const uint32_t hit_cycles = caches_[FirstLevel::kConstant].hit_cycles();
    pipes_.Hit(RegisterSource::kConstant, access_.WaiterOf(step), now + hit_cycles);
  }
  ++access_.next;
  return StepResult::Made();
}

StepResult MemoryStage::MakeReadOnlyStep(FirstLevel level, RegisterSource source, const AccessStep& step, Cycle now) {
  FirstLevelCache& of = caches_[level];
  if (access_.op != OP_STORE) {
    if (!pipes_.HasRoom(source)) return BlockedOnReturns();
    const Waiter waiter = access_.WaiterOf(step);
    if (!of.exists()) {
      pipes_.Hit(source, waiter, now + of.hit_cycles());
    } else {
      Cache& cache = of.cache();
      const uint64_t line = cache.LineOf(step.address);
      const CacheOutcome outcome = cache.Access(line, cache.SetOf(line), CacheOperation::kRead,
                                                machine::v1::Cache::READ_ONLY, access_.slot, network_.room(level), now);
      if (outcome.result == CacheResult::kReservationFail) return StepResult::Lacks(level, outcome.cause);
      if (outcome.result == CacheResult::kHit) {
        pipes_.Hit(source, waiter, now + of.hit_cycles());
      } else {
        of.Wait(outcome.waiter, waiter);
        if (outcome.fetch) network_.QueueFetch(level, outcome, line, cache.line_bits(), /*base=*/0);
        accesses_.NotifyOffCore(access_.record);
      }
    }
  }
  ++access_.next;
  return StepResult::Made();
}

std::string MemoryStage::Explain() const {
  constexpr std::array<const char*, kReservationFails> kCauses = {"a way", "an MSHR", "a place in its MSHR",
                                                                  "a place in the miss queue"};
  if (!busy_) return {};
  std::string text = absl::StrCat("memory stage: ", trace::v1::OpClass_Name(access_.op), " of warp ", access_.slot,
                                  ", ", access_.plan->size() - access_.next, " accesses left");
  if (!queue_.empty()) absl::StrAppend(&text, ", ", queue_.size(), " instructions behind it");
  if (!blocked_) return text;
  if (failure_.returns_full()) return text + ", waits for the registers";
  absl::StrAppend(&text, ", waits for ", kCauses[static_cast<int>(failure_.cause())], " of the ",
                  NameOf(failure_.level()), " cache");
  return text;
}

}  // namespace heddle::replay
