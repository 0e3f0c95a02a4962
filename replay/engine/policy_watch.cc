#include "replay/engine/policy_watch.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heddle::replay {
namespace {

// Of this thread. A signal handler reads them, so that they are plain and initialised without code.
constinit thread_local const WatchedPolicy* present_policy = nullptr;
constinit thread_local const char* present_call = nullptr;
constinit thread_local RunMark* present_run = nullptr;

// Appends to a buffer as far as there is room.
class Line {
 public:
  Line(char* out, size_t size) : out_(out), size_(size) {}
  void Add(std::string_view text) {
    const size_t count = std::min(text.size(), size_ - used_);
    std::memcpy(out_ + used_, text.data(), count);
    used_ += count;
  }
  void Add(uint64_t number) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    Add(std::string_view(digits.data(), static_cast<size_t>(end - digits.data())));
  }
  size_t used() const { return used_; }

 private:
  char* const out_;
  const size_t size_;
  size_t used_ = 0;
};

// Hands calls of one seam on.
template <typename Policy>
class Watch : public Policy {
 public:
  Watch(std::unique_ptr<Policy> policy, const WatchedPolicy& what) : policy_(std::move(policy)), what_(what) {}

 protected:
  template <typename Function, typename... Arguments>
  auto Call(const char* name, Function function, Arguments&&... arguments) const {
    const PolicyCall call(what_, name);
    if constexpr (std::is_void_v<std::invoke_result_t<Function, Policy&, Arguments...>>) {
      std::invoke(function, *policy_, std::forward<Arguments>(arguments)...);
      call.End();
    } else {
      auto result = std::invoke(function, *policy_, std::forward<Arguments>(arguments)...);
      call.End();
      return result;
    }
  }

 private:
  const std::unique_ptr<Policy> policy_;
  const WatchedPolicy& what_;
};

// A function of the interface Seam (a name within the class), called as it stands.
#define HEDDLE_WATCH(function, ...) this->Call(#function, &Seam::function __VA_OPT__(, ) __VA_ARGS__)

class WatchedDivergence final : public Watch<DivergencePolicy> {
 public:
  using Seam = DivergencePolicy;
  using Watch::Watch;

  uint32_t interests() const override { return HEDDLE_WATCH(interests); }
  void SetIssueView(const IssueView& view) override { HEDDLE_WATCH(SetIssueView, view); }
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override { HEDDLE_WATCH(Admit, admission, editor); }
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    return HEDDLE_WATCH(Resolve, resolution, editor);
  }
  int issue_slots() const override { return HEDDLE_WATCH(issue_slots); }
  bool MayIssueWith(std::span<const SlotId> chosen, SlotId candidate, const WarpTable& table) const override {
    return HEDDLE_WATCH(MayIssueWith, chosen, candidate, table);
  }
  int IssuePenalty(SlotId slot, const WarpTable& table) const override {
    return HEDDLE_WATCH(IssuePenalty, slot, table);
  }
  Verdict AcceptIssue(SlotId slot, WarpEditor& editor) override { return HEDDLE_WATCH(AcceptIssue, slot, editor); }
  bool LanesReturned(SlotId slot, LaneMask lanes, WarpEditor& editor) override {
    return HEDDLE_WATCH(LanesReturned, slot, lanes, editor);
  }
  void Tick(WarpEditor& editor) override { HEDDLE_WATCH(Tick, editor); }
  void Timer(uint64_t tag, WarpEditor& editor) override { HEDDLE_WATCH(Timer, tag, editor); }
  void BarrierArrived(SlotId slot, uint32_t barrier, WarpEditor& editor) override {
    HEDDLE_WATCH(BarrierArrived, slot, barrier, editor);
  }
  bool BarrierReleased(SlotId slot, uint32_t barrier, WarpEditor& editor) override {
    return HEDDLE_WATCH(BarrierReleased, slot, barrier, editor);
  }
  void LongLatency(SlotId slot, WarpEditor& editor) override { HEDDLE_WATCH(LongLatency, slot, editor); }
  void LongLatencyEnded(SlotId slot, WarpEditor& editor) override { HEDDLE_WATCH(LongLatencyEnded, slot, editor); }
  void Retire(BlockId block, WarpEditor& editor) override { HEDDLE_WATCH(Retire, block, editor); }
  std::span<const uint64_t> counters() const override { return HEDDLE_WATCH(counters); }
  std::string Explain(const WarpTable& table) const override { return HEDDLE_WATCH(Explain, table); }
  bool restricts_issues() const override { return HEDDLE_WATCH(restricts_issues); }
  void IssuedTogether(std::span<const SlotId> slots, const WarpTable& table) override {
    HEDDLE_WATCH(IssuedTogether, slots, table);
  }
};

class WatchedScheduler final : public Watch<WarpScheduler> {
 public:
  using Seam = WarpScheduler;
  using Watch::Watch;

  SlotId Pick(const SlotSet& eligible) const override { return HEDDLE_WATCH(Pick, eligible); }
  uint64_t Urgency(BlockId block) const override { return HEDDLE_WATCH(Urgency, block); }
  void Issued(SlotId slot) override { HEDDLE_WATCH(Issued, slot); }
  bool watches_sm() const override { return HEDDLE_WATCH(watches_sm); }
  void IssuedOnSm(SlotId slot) override { HEDDLE_WATCH(IssuedOnSm, slot); }
  void Offered(SlotId slot) override { HEDDLE_WATCH(Offered, slot); }
  void Grown(SlotId slot, const Lanes& joined) override { HEDDLE_WATCH(Grown, slot, joined); }
  void Withdrawn(SlotId slot) override { HEDDLE_WATCH(Withdrawn, slot); }
  void BlockAdmitted(BlockId block, uint64_t sequence) override { HEDDLE_WATCH(BlockAdmitted, block, sequence); }
  void VirtualBlock(BlockId block, uint32_t place, uint64_t iteration) override {
    HEDDLE_WATCH(VirtualBlock, block, place, iteration);
  }
  void WarpsAdmitted(BlockId block, uint32_t first_hw_warp, uint32_t hw_warps) override {
    HEDDLE_WATCH(WarpsAdmitted, block, first_hw_warp, hw_warps);
  }
  void BlockRetired(BlockId block) override { HEDDLE_WATCH(BlockRetired, block); }
  bool watches_grid() const override { return HEDDLE_WATCH(watches_grid); }
  void GridAssigned() override { HEDDLE_WATCH(GridAssigned); }
  void BarrierArrived(SlotId slot) override { HEDDLE_WATCH(BarrierArrived, slot); }
  void BarrierReleased(BlockId block) override { HEDDLE_WATCH(BarrierReleased, block); }
  void WarpExited(BlockId block) override { HEDDLE_WATCH(WarpExited, block); }
  void LongLatencyStarted(SlotId slot) override { HEDDLE_WATCH(LongLatencyStarted, slot); }
  void LongLatencyEnded(SlotId slot) override { HEDDLE_WATCH(LongLatencyEnded, slot); }
  bool asks_what_slots_lack() const override { return HEDDLE_WATCH(asks_what_slots_lack); }
  bool watches_caches() const override { return HEDDLE_WATCH(watches_caches); }
  void CacheEvent(const CacheNotice& notice) override { HEDDLE_WATCH(CacheEvent, notice); }
  std::span<const uint64_t> counters() const override { return HEDDLE_WATCH(counters); }
  size_t PickInOrder(const SlotSet& eligible, std::span<SlotId> order) const override {
    return HEDDLE_WATCH(PickInOrder, eligible, order);
  }
  void IssuedInOrder(std::span<const SlotId> slots) override { HEDDLE_WATCH(IssuedInOrder, slots); }
  void OfferedInOrder(std::span<const SlotId> slots) override { HEDDLE_WATCH(OfferedInOrder, slots); }
};

class WatchedFetch final : public Watch<FetchPolicy> {
 public:
  using Seam = FetchPolicy;
  using Watch::Watch;

  SlotId Pick(const FetchView& view) const override { return HEDDLE_WATCH(Pick, view); }
  void Fetched(SlotId slot) override { HEDDLE_WATCH(Fetched, slot); }
  std::span<const uint64_t> counters() const override { return HEDDLE_WATCH(counters); }
};

class WatchedMemory final : public Watch<MemoryPolicy> {
 public:
  using Seam = MemoryPolicy;
  using Watch::Watch;

  uint32_t interests() const override { return HEDDLE_WATCH(interests); }
  LinePlacement Place(const LineAccess& access, const CacheState& state) override {
    return HEDDLE_WATCH(Place, access, state);
  }
  size_t Victim(const LineAccess& access, std::span<const CacheLine> lines) override {
    return HEDDLE_WATCH(Victim, access, lines);
  }
  void Accessed(const LineAccess& access, LineResult result, PrefetchList& prefetches) override {
    HEDDLE_WATCH(Accessed, access, result, prefetches);
  }
  PrefetchLimits prefetch_limits() const override { return HEDDLE_WATCH(prefetch_limits); }
  void Filled(const CacheLine& line) override { HEDDLE_WATCH(Filled, line); }
  void Evicted(const CacheLine& line) override { HEDDLE_WATCH(Evicted, line); }
  void WarpsAdmitted(BlockId block, uint32_t first_hw_warp, uint32_t hw_warps) override {
    HEDDLE_WATCH(WarpsAdmitted, block, first_hw_warp, hw_warps);
  }
  void WarpEnded(uint32_t hw_warp) override { HEDDLE_WATCH(WarpEnded, hw_warp); }
  void BlockRetired(BlockId block) override { HEDDLE_WATCH(BlockRetired, block); }
  std::span<const uint64_t> counters() const override { return HEDDLE_WATCH(counters); }
};

class WatchedDispatcher final : public Watch<BlockDispatcher> {
 public:
  using Seam = BlockDispatcher;
  using Watch::Watch;

  std::optional<Assignment> Next(std::span<const SmOccupancy> sms, std::span<const bool> accepted) override {
    return HEDDLE_WATCH(Next, sms, accepted);
  }
  std::optional<WarpAssignment> NextWarp(Cycle first) override { return HEDDLE_WATCH(NextWarp, first); }
  bool watches_sms() const override { return HEDDLE_WATCH(watches_sms); }
  void BeginRound(Cycle first) override { HEDDLE_WATCH(BeginRound, first); }
  Cycle NextFirst() const override { return HEDDLE_WATCH(NextFirst); }
  void WarpEnded(uint32_t sm, uint32_t hw_warp, Cycle first) override { HEDDLE_WATCH(WarpEnded, sm, hw_warp, first); }
  void Retired(uint32_t sm, uint64_t block) override { HEDDLE_WATCH(Retired, sm, block); }
  bool done() const override { return HEDDLE_WATCH(done); }
  std::span<const uint64_t> counters() const override { return HEDDLE_WATCH(counters); }
};

#undef HEDDLE_WATCH

}  // namespace

RunMark::RunMark(std::string place) : place_(std::move(place)), before_(std::exchange(present_run, this)) {
  ForgetPresentCall();
}
RunMark::~RunMark() {
  present_run = before_;
  ForgetPresentCall();
}

RunMark* PresentRun() { return present_run; }

PolicyCall::PolicyCall(const WatchedPolicy& policy, const char* call)
    : policy_before_(std::exchange(present_policy, &policy)), call_before_(std::exchange(present_call, call)) {}

void PolicyCall::End() const {
  present_policy = policy_before_;
  present_call = call_before_;
}

void ForgetPresentCall() {
  present_policy = nullptr;
  present_call = nullptr;
}

size_t DescribePresentCall(char* out, size_t size) {
  Line line(out, size);
  const Cycle* clock = present_run == nullptr ? nullptr : present_run->clock();
  if (const WatchedPolicy* const policy = present_policy; policy != nullptr) {
    line.Add(" in ");
    line.Add(present_call);
    line.Add(" of ");
    line.Add(policy->kind);
    line.Add(" '");
    line.Add(policy->name);
    line.Add("'");
    if (policy->sm >= 0) {
      line.Add(" on SM ");
      line.Add(static_cast<uint64_t>(policy->sm));
    }
    if (policy->clock != nullptr) clock = policy->clock;
  }
  if (clock != nullptr) {
    line.Add(" in cycle ");
    line.Add(*clock);
  }
  return line.used();
}

size_t DescribePresentRun(char* out, size_t size) {
  Line line(out, size);
  if (present_run == nullptr) return 0;
  line.Add(present_run->place());
  line.Add(": ");
  return line.used();
}

std::string PresentCall() {
  std::array<char, 512> text;
  return std::string(text.data(), DescribePresentCall(text.data(), text.size()));
}

std::unique_ptr<DivergencePolicy> Watched(std::unique_ptr<DivergencePolicy> policy, const WatchedPolicy& what) {
  return std::make_unique<WatchedDivergence>(std::move(policy), what);
}
std::unique_ptr<WarpScheduler> Watched(std::unique_ptr<WarpScheduler> policy, const WatchedPolicy& what) {
  return std::make_unique<WatchedScheduler>(std::move(policy), what);
}
std::unique_ptr<FetchPolicy> Watched(std::unique_ptr<FetchPolicy> policy, const WatchedPolicy& what) {
  return std::make_unique<WatchedFetch>(std::move(policy), what);
}
std::unique_ptr<MemoryPolicy> Watched(std::unique_ptr<MemoryPolicy> policy, const WatchedPolicy& what) {
  return std::make_unique<WatchedMemory>(std::move(policy), what);
}
std::unique_ptr<BlockDispatcher> Watched(std::unique_ptr<BlockDispatcher> policy, const WatchedPolicy& what) {
  return std::make_unique<WatchedDispatcher>(std::move(policy), what);
}

}  // namespace heddle::replay
