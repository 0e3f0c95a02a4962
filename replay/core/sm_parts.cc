#include "replay/core/sm_parts.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "replay/stats/instruction_profile.h"

namespace heddle::replay {
namespace {

Formation::Setup SetupOf(const LaunchContext& context, bool* error_flag) {
  Formation::Setup setup;
  setup.warp_size = context.warp_size;
  setup.max_threads = context.max_threads;
  setup.ports = context.ports;
  setup.any_lane = context.any_lane;
  setup.one_port_per_block = context.one_port_per_block;
  setup.policy_name = context.policy_name;
  setup.error_flag = error_flag;
  return setup;
}

}  // namespace

SmParts::SmParts(const LaunchContext& launch_context, uint32_t sm, std::unique_ptr<DivergencePolicy> divergence,
                 ChunkCache& cache, MemorySystem& system, MemoryClient& client, uint32_t horizon)
    : context(launch_context),
      steps(context.steps.data()),
      number(sm),
      policy(std::move(divergence)),
      interests(policy->interests()),
      issue_slots(policy->issue_slots()),
      has_collectives(context.has_collectives()),
      memory(context, system.MakeSm(sm, client)),
      blocks(context),
      write_back(std::max(memory.memory().usual_latency(), horizon)),
      formation(SetupOf(context, &run.failed)),
      barriers(context, formation, blocks, run),
      locator(context, formation, blocks, run),
      notifier(context, *policy, formation),
      cursors(context.launch, cache, context.max_threads, run.failed),
      async(context, formation, cursors, memory),
      rendezvous(context, formation, cursors, memory),
      control_flow(context, cursors, run.failed),
      issues(context, sm, issue_slots, formation, blocks, notifier, run) {}

LaneMask SmParts::IssueGuarded(SlotId slot, Pc pc) {
  const Lanes& lanes = table().lanes[slot];
  const Step& step = steps[pc];
  if (step.takes_guards) cursors.TakeGuards(lanes);
  const LaneMask executing = cursors.LanesUnderGuard(lanes);
  const int off = std::popcount(lanes.mask & ~executing);
  issues.counters().predicated_off += static_cast<uint64_t>(off);
  if (step.behind_join) issues.counters().joins += static_cast<uint64_t>(std::popcount(lanes.mask));
  if (context.profile != nullptr) context.profile->PredicatedOff(pc, off);
  return executing;
}

void SmParts::ArriveAtRendezvous(SlotId slot) {
  const Position elsewhere = rendezvous.Arrive(slot);
  notifier.DeferRendezvous(slot);
  if (elsewhere.is_exit()) return;
  run.Fail(absl::FailedPreconditionError(
      absl::StrCat("threads of one warp wait for one another at the matrix instructions at PC ",
                   uint64_t{elsewhere.pc()} * 8, " and at PC ", uint64_t{table().position[slot].pc()} * 8,
                   ", in cycle ", run.now, "; no device could go on. --force-regrouping replays it all the same")));
}

void SmParts::IssueAsync(SlotId slot) {
  async.Issue(slot, locator, run.now);
  if (!async.overfull()) return;
  run.Fail(absl::ResourceExhaustedError(
      absl::StrCat("more asynchronous copies or transaction barriers are under way on SM ", number,
                   " than can be replayed, in cycle ", run.now, " at PC ", uint64_t{table().position[slot].pc()} * 8,
                   "; the program has to wait for what it begins")));
}

void SmParts::CollectiveLanesDone(AccessId access, LaneMask lanes, Cycle at) {
  if (AsyncUnit::Owns(access)) {
    async.LanesDone(access, lanes, at);
  } else {
    rendezvous.LanesDone(access, lanes, at);
  }
}

bool SmParts::CollectiveAcknowledged(AccessId access, Cycle at) {
  if (AsyncUnit::Owns(access)) return false;
  rendezvous.StoreAcknowledged(access, at);
  return true;
}

uint32_t SmParts::TakeUniformValues(Pc pc, SlotId slot) {
  const Lanes& lanes = LanesThatRecord(steps[pc], slot);
  if (lanes.mask == 0) return 1;
  const uint32_t values = replay::TakeUniformValues(context.CollectiveOf(pc), lanes, cursors);
  SmCounters::Uniform& counters = issues.counters().uniform;
  ++counters.issues;
  if (values < 2) return 1;
  ++counters.mixed_issues;
  counters.mixed_thread_instructions += static_cast<uint64_t>(std::popcount(lanes.mask));
  counters.extra_issues += values - 1;
  return values;
}

Cycle SmParts::NextCollective(Cycle now) const {
  Cycle wake = barriers.NextRelease();
  if (async.used()) wake = std::min(wake, async.NextWake(now));
  if (rendezvous.used()) wake = std::min(wake, rendezvous.NextWake(now));
  return wake;
}

uint64_t SmParts::PausedThreads(bool offered) const {
  const WarpTable& warps = table();
  uint64_t threads = 0;
  for (size_t i = 0; i < warps.lanes.size(); ++i) {
    const auto slot = static_cast<SlotId>(i);
    const SlotState state = warps.state[slot];
    if (state == SlotState::kFree || (offered && state != SlotState::kOffered) || !IsPaused(slot)) continue;
    threads += static_cast<uint64_t>(warps.thread_count(slot));
  }
  return threads;
}

uint64_t SmParts::LiveThreads() const {
  const auto& states = formation.thread_states();
  uint64_t live = 0;
  for (int state = 0; state < kThreadStates; ++state) {
    if (state != static_cast<int>(ThreadState::kFinished)) live += states[state];
  }
  return live;
}

}  // namespace heddle::replay
