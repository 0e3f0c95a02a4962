#include "replay/memory/sm/memory_profile.h"

#include <bit>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {
namespace {

// Steps of a plan that go to global, local or texture memory.
uint64_t Transactions(const AccessPlan& plan) {
  uint64_t transactions = 0;
  for (uint32_t index = 0; index < plan.size(); ++index) {
    transactions += plan[index].unit == MemoryUnit::kData || plan[index].unit == MemoryUnit::kTexture;
  }
  return transactions;
}

}  // namespace

void InstructionMemoryCounters::Add(const InstructionMemoryCounters& other) {
  accesses += other.accesses;
  data_accesses += other.data_accesses;
  transactions += other.transactions;
  static_accesses += other.static_accesses;
  static_transactions += other.static_transactions;
  shared_parts += other.shared_parts;
  shared_passes += other.shared_passes;
  hits += other.hits;
  pending_hits += other.pending_hits;
  misses += other.misses;
  returns += other.returns;
  load_to_use_sum += other.load_to_use_sum;
}

void InstructionMemoryCounters::Fill(result::v1::InstructionMemory& out) const {
  out.set_accesses(accesses);
  out.set_data_accesses(data_accesses);
  out.set_transactions(transactions);
  out.set_static_accesses(static_accesses);
  out.set_static_transactions(static_transactions);
  if (data_accesses != 0) {
    out.set_extra_transactions(static_cast<double>(transactions) / static_cast<double>(data_accesses) -
                               static_cast<double>(static_transactions) / static_cast<double>(static_accesses));
  }
  out.set_shared_parts(shared_parts);
  out.set_shared_passes(shared_passes);
  out.set_l1_hits(hits);
  out.set_l1_pending_hits(pending_hits);
  out.set_l1_misses(misses);
  out.set_returns(returns);
  out.set_load_to_use_sum(load_to_use_sum);
}

void MemoryProfile::Entered(const WarpAccess& access, const AccessPlan& plan, AccessPlanner& planner) {
  InstructionMemoryCounters& counters = counters_[access.pc];
  ++counters.accesses;
  for (uint32_t index = 0; index < plan.size(); ++index) {
    if (plan[index].unit != MemoryUnit::kShared) continue;
    counters.shared_passes += plan[index].passes;
    ignored_ = SmMemoryCounters();
    planner.Plan(access, plan_, ignored_);
    counters.shared_parts += ignored_.shared_parts;
  }
  const uint64_t transactions = Transactions(plan);
  if (transactions == 0) return;
  ++counters.data_accesses;
  counters.transactions += transactions;
  bool is_static = true;
  if (access.threads != nullptr) {
    const uint32_t row = (*access.threads)[std::countr_zero(access.lanes)] / warp_size_;
    ForEachLane(access.lanes, [&](int lane) {
      is_static &= (*access.threads)[lane] == row * warp_size_ + static_cast<uint32_t>(lane);
    });
  }
  if (is_static) {
    ++counters.static_accesses;
    counters.static_transactions += transactions;
  } else {
    PlanStaticWarps(access, planner, counters);
  }
}

void MemoryProfile::PlanStaticWarps(const WarpAccess& access, AccessPlanner& planner,
                                    InstructionMemoryCounters& counters) {
  const std::array<ThreadId, kMaxLanes>& threads = *access.threads;
  WarpAccess part = access;
  part.addresses = &addresses_;
  part.threads = &threads_;
  part.remote = 0;
  for (LaneMask left = access.lanes & ~access.remote; left != 0;) {
    const uint32_t row = threads[std::countr_zero(left)] / warp_size_;
    part.lanes = 0;
    LaneMask taken = 0;
    ForEachLane(left, [&](int lane) {
      const ThreadId thread = threads[lane];
      if (thread / warp_size_ != row) return;
      const uint32_t home = thread % warp_size_;
      taken |= LaneMask{1} << lane;
      part.lanes |= LaneMask{1} << home;
      addresses_[home] = (*access.addresses)[lane];
      threads_[home] = thread;
    });
    left &= ~taken;
    planner.Plan(part, plan_, ignored_);
    const uint64_t transactions = Transactions(plan_);
    counters.static_accesses += transactions != 0;
    counters.static_transactions += transactions;
  }
}

}  // namespace heddle::replay
