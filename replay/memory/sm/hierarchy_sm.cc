#include "replay/memory/sm/hierarchy_sm.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/memory/sm/memory_profile.h"

namespace heddle::replay {
namespace {

using machine::v1::Machine;

constexpr std::array kLevels = {FirstLevel::kData, FirstLevel::kTexture, FirstLevel::kConstant,
                                FirstLevel::kInstruction};

std::array<uint32_t, kFirstLevels> MissQueues(const machine::v1::Hierarchy& memory) {
  std::array<uint32_t, kFirstLevels> lengths;
  for (const FirstLevel level : kLevels) {
    lengths[static_cast<int>(level)] = std::max(1u, ConfigOf(memory, level).miss_queue());
  }
  return lengths;
}

uint32_t UsualLatency(const machine::v1::Hierarchy& memory) {
  uint32_t latency = std::max(1u, memory.shared().latency()) + memory.shared().atomic_cycles() + kMaxLanes;
  latency = std::max(latency, memory.atomic_cycles());
  for (const FirstLevel level : kLevels) latency = std::max(latency, ConfigOf(memory, level).hit_cycles());
  return latency;
}

}  // namespace

HierarchySm::HierarchySm(const Machine& machine, const AddressWindows& windows, uint32_t sm, NetworkPort& port,
                         MemoryClient& client)
    : network_(port, sm, MissQueues(machine.memory().hierarchy())),
      accesses_(client),
      pipes_(machine.memory().hierarchy(), accesses_),
      caches_(machine.memory().hierarchy()),
      fetches_(caches_[FirstLevel::kInstruction], network_, client),
      replies_(machine.memory().hierarchy(), caches_, network_, pipes_, accesses_, directs_, fetches_, client),
      stage_(machine, caches_, network_, pipes_, accesses_, directs_, client),
      planner_(machine, windows, sm),
      all_or_none_(machine.memory().hierarchy().all_misses_or_none()),
      usual_latency_(UsualLatency(machine.memory().hierarchy())) {}

void HierarchySm::SetProfile(MemoryProfile* profile) {
  profile_ = profile;
  accesses_.SetProfile(profile);
  stage_.SetProfile(profile);
}

void HierarchySm::SetPolicy(MemoryPolicy& policy, uint32_t warp_size) {
  if (!caches_[FirstLevel::kData].exists() || policy.interests() == 0) return;
  stage_.SetPolicy(policy, warp_size);
  replies_.SetPolicy(stage_.policy());
}

inline Cycle HierarchySm::WakeAfter(Cycle now) {
  if (replies_.draining()) return now + 1;
  if (replies_.holds_write_back() && !network_.full(FirstLevel::kData)) return now + 1;
  if (network_.CanSend()) return now + 1;
  if (policy() != nullptr && policy()->PrefetchDue(stage_.busy() && stage_.blocked())) return now + 1;
  Cycle wake = pipes_.NextReady();
  // A blocked stage is unblocked by what has been looked at here, or from outside.
  if (stage_.busy() && !stage_.blocked()) wake = std::min(wake, stage_.ready());
  assert((wake != kNever || network_.outstanding() != 0 || !stage_.busy()) && "a step waits, and nothing is under way");
  return std::max(wake, now + 1);
}

void HierarchySm::RunCycle(Cycle now) {
  if (now == last_run_) return;
  // The core runs in many cycles in which the memory sleeps. What a blocked stage counts is made up for later.
  if (const bool news = network_.TakeWakeup(); now < wake_ && !news) return;
  RunDue(now);
}

void HierarchySm::RunDue(Cycle now) {
  if (idle()) {
    last_run_ = now;
    wake_ = kNever;
    return;
  }
  if (stage_.blocked()) stage_.CreditBlocked(now - last_run_ - 1);
  last_run_ = now;
  bool freed = false;
  if (network_.outstanding() != 0) {
    if (const MemoryRequest* reply = network_.Reply(); reply != nullptr) freed |= replies_.TakeReply(*reply, now);
  }
  if (stage_.remote().has_arrived()) [[unlikely]]
    stage_.remote().TakeReplies(accesses_, now);
  if (replies_.draining() || !pipes_.empty()) freed |= replies_.ReturnData(now);
  if (replies_.holds_write_back()) freed |= replies_.MoveHeldWriteBack(now);
  if (network_.has_queued()) freed |= network_.Send();
  if (freed) stage_.NoteFreed();
  if (stage_.busy() && now >= stage_.ready()) stage_.Run(now);
  if (policy() != nullptr) policy()->RunPrefetch(stage_.busy() && stage_.blocked(), now);
  wake_ = WakeAfter(now);
}

void HierarchySm::Submit(const WarpAccess& access, Cycle now) {
  AccessPlan& plan = stage_.NewPlan();
  planner_.Plan(access, plan, planned_);
  // With all misses or none, what comes back comes back as one.
  const bool joined = plan.joined || (all_or_none_ && !plan.uniform());
  const uint32_t steps = access.op == trace::v1::OP_STORE ? 0 : plan.size();
  const RecordId record = accesses_.Begin(access, joined, steps, now);
  if (profile_ != nullptr) profile_->Entered(access, plan, planner_);
  if (policy() != nullptr) policy()->Begin(record, access);
  const bool entered = stage_.Submit({.op = access.op,
                                      .slot = access.slot,
                                      .record = record,
                                      .lanes = access.lanes,
                                      .past_l1 = planner_.PassesL1(access),
                                      .plan = &plan},
                                     now);
  if (entered) wake_ = std::min(wake_, stage_.ready());
}

FetchResult HierarchySm::Fetch(uint64_t address, uint32_t fetcher, Cycle now) {
  bool queued = false;
  const FetchResult result = fetches_.Fetch(address, fetcher, now, queued);
  if (queued) wake_ = std::min(wake_, now + 1);
  return result;
}

SmMemoryCounters HierarchySm::Counters(Cycle end) const {
  SmMemoryCounters counters = planned_;
  caches_.AddTo(counters, end);
  network_.AddTo(counters);
  stage_.AddTo(counters);
  if (policy() != nullptr) policy()->AddTo(counters);
  counters.return_stall_cycles = pipes_.stall_cycles();
  counters.load_to_use = accesses_.load_to_use();
  return counters;
}

void HierarchySm::AddSample(Cycle end, MemorySample& out) const {
  const FirstLevelCache& data = caches_[FirstLevel::kData];
  if (!data.exists()) return;
  out.l1_accesses += data.cache().counters().accesses;
  out.l1_misses += data.cache().counters().misses;
  const std::vector<uint64_t> occupancy = data.cache().mshrs().Occupancy(end);
  for (size_t used = 0; used < occupancy.size(); ++used) out.outstanding_misses += used * occupancy[used];
}

SmMemoryLoad HierarchySm::load() const {
  SmMemoryLoad load;
  const FirstLevelCache& data = caches_[FirstLevel::kData];
  if (data.exists()) load.mshrs_used = data.cache().mshrs().used();
  load.requests = network_.outstanding();
  for (int level = 0; level < kFirstLevels; ++level) {
    load.queued_requests += network_.queue(static_cast<FirstLevel>(level)).size();
  }
  return load;
}

std::string HierarchySm::Explain() const {
  std::string text;
  const auto add = [&](const auto&... parts) { absl::StrAppend(&text, text.empty() ? "" : "; ", parts...); };
  if (stage_.busy()) add(stage_.Explain());
  for (const FirstLevel level : kLevels) {
    const uint32_t used = caches_[level].exists() ? caches_[level].cache().mshrs().used() : 0;
    const Ring<MemoryRequest>& queue = network_.queue(level);
    if (used == 0 && queue.empty()) continue;
    add(NameOf(level), " cache: ", used, " MSHRs in use, ", queue.size(), " of ", queue.capacity(),
        " places of the miss queue");
  }
  if (const uint32_t requests = stage_.remote().outstanding(); requests != 0) {
    add(requests, " requests to the shared memory of other blocks without a reply");
  }
  if (has_prefetch()) add("prefetches that are not sent yet");
  if (network_.outstanding() != 0) add(network_.outstanding(), " requests without a reply");
  if (!pipes_.empty()) add(pipes_.size(), " hits on their way to the registers");
  return text;
}

bool HierarchySm::Consistent() const {
  if (!caches_.Consistent()) return false;
  return !drained() || (caches_.used_mshrs() == 0 && !network_.has_queued() && directs_.empty());
}

}  // namespace heddle::replay
