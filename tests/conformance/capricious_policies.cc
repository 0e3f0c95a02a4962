// Policies of the tests only: they use every freedom that the seams give, at random, so that the engine's sleeping,
// waking and statistics are tried in ways that no real policy may need yet. Deterministic in their calls: an engine
// that calls them once too often, too early or in another order gives another result.
#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <vector>

#include "replay/seams/divergence_policy.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/warp_scheduler.h"
#include "tests/random/random.h"
#include "tests/replay/memory/sm/random_memory_policy.h"
#include "tests/replay/sum_of_lacks.h"

namespace heddle::replay {
namespace {

class Capricious final : public DivergencePolicy {
 public:
  Capricious(const DivergenceContext& context, const Parameters& parameters, int issue_slots)
      : random_(static_cast<uint64_t>(parameters.Integer("seed"))),
        warp_size_(context.warp_size),
        ports_(context.ports),
        bound_(context.one_port_per_block),
        issue_slots_(issue_slots),
        mixes_blocks_(parameters.Choice("scope") == "core") {
    constexpr uint32_t kAll[] = {kEveryInstruction, kEveryBlockEnd, kEveryCycle, kIssue,
                                 kLaneReturns,      kBarriers,      kLongLatency};
    for (uint32_t interest : kAll) {
      if (random_.Chance(interest == kEveryCycle ? 25 : 50)) interests_ |= interest;
    }
    refuses_ = random_.Chance(50);
    merges_ = random_.Chance(70);
    penalises_ = random_.Chance(40);
    inserts_ = issue_slots == 1 && random_.Chance(40);
    prioritises_ = issue_slots == 1 && random_.Chance(50);
    looks_ = random_.Chance(60);
  }

  uint32_t interests() const override { return interests_; }
  void SetIssueView(const IssueView& view) override { view_ = &view; }
  int issue_slots() const override { return issue_slots_; }
  bool MayIssueWith(std::span<const SlotId> chosen, SlotId candidate, const WarpTable& table) const override {
    return (table.position[candidate].pc() + chosen.size()) % 5 != 0;
  }
  int IssuePenalty(SlotId slot, const WarpTable& table) const override {
    return penalises_ ? static_cast<int>(Mix(table.position[slot].pc()) % 4) : 0;
  }

  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    if (refuses_ && refusals_ < 3 && random_.Chance(20)) {
      ++refusals_;
      ++counters_[kRefusals];
      return Verdict::kRefused;
    }
    refusals_ = 0;
    Look(10, editor);
    const bool taken_out = resolution.reason == ResolveReason::kLanes;
    if (resolution.groups.size() == 1 && resolution.exited == 0 && !taken_out && random_.Chance(50)) {
      editor.Continue(resolution.slot);
      Meddle(resolution.slot, editor);
      return Verdict::kAccepted;
    }
    bool placed = taken_out;
    for (const PathGroup& group : resolution.groups) {
      Lanes lanes = *resolution.lanes;
      lanes.mask = group.lanes;
      if (!placed && random_.Chance(70)) {
        placed = true;
        editor.Place(resolution.slot, group.at, lanes);
        Meddle(resolution.slot, editor);
      } else {
        Settle(group.at, lanes, editor);
      }
    }
    if (!placed) editor.Dissolve(resolution.slot);
    Look(10, editor);
    if (merges_ && random_.Chance(40)) MergeSome(editor);
    return Verdict::kAccepted;
  }

  Verdict AcceptIssue(SlotId slot, WarpEditor& editor) override {
    Look(5, editor);
    if (nullified_ >= 3 || !random_.Chance(15)) {
      nullified_ = 0;
      return Verdict::kAccepted;
    }
    ++nullified_;
    ++counters_[kNullified];
    if (issue_slots_ == 1 && random_.Chance(30)) Rest(slot, editor);
    return Verdict::kRefused;
  }

  bool LanesReturned(SlotId /*slot*/, LaneMask /*lanes*/, WarpEditor& editor) override {
    Look(20, editor);
    ++counters_[kLanesReturned];
    return random_.Chance(50);
  }
  void Tick(WarpEditor& editor) override {
    Look(5, editor);
    if (random_.Chance(5)) MergeSome(editor);
    if (random_.Chance(5)) SplitSome(editor);
  }
  void Timer(uint64_t tag, WarpEditor& editor) override {
    ++counters_[kTimers];
    Look(10, editor);
    if (const auto it = held_.find(tag); it != held_.end()) {
      const Held held = it->second;
      held_.erase(it);
      editor.Spawn(held.at, held.lanes);
      return;
    }
    const SlotId slot = static_cast<SlotId>(tag & 0xffff);
    if (tag < kFirstHeld && editor.table().state[slot] == SlotState::kParked) editor.Offer(slot);
  }
  void BarrierArrived(SlotId /*slot*/, uint32_t /*barrier*/, WarpEditor& editor) override {
    if (random_.Chance(20)) SplitSome(editor);
  }
  bool BarrierReleased(SlotId /*slot*/, uint32_t /*barrier*/, WarpEditor& /*editor*/) override {
    return random_.Chance(40);
  }
  void LongLatency(SlotId /*slot*/, WarpEditor& editor) override {
    ++counters_[kLongLatencies];
    Look(20, editor);
    if (random_.Chance(20)) SplitSome(editor);
  }
  void LongLatencyEnded(SlotId slot, WarpEditor& editor) override {
    ++counters_[kLongLatencyEnds];
    Look(20, editor);
    if (random_.Chance(20)) SplitSome(editor);
    if (random_.Chance(20) && editor.table().state[slot] == SlotState::kOffered) Rest(slot, editor);
  }

  std::span<const uint64_t> counters() const override { return counters_; }

  static std::vector<CounterSpec> Counters() {
    return {{"refusals", "calls", "resolves refused"},
            {"nullified", "calls", "issues refused"},
            {"timers", "calls", "timers that fired"},
            {"lanes_returned", "calls", "parts of accesses"},
            {"long_latencies", "calls", "long waits"},
            {"long_latency_ends", "calls", "ends of long waits"},
            {"lacks", "sum", "a sum over what slots lacked"},
            {"merges", "warps", "merged"},
            {"splits", "warps", "split"},
            {"held", "groups", "threads held in no slot"}};
  }

 private:
  enum Counter {
    kRefusals,
    kNullified,
    kTimers,
    kLanesReturned,
    kLongLatencies,
    kLongLatencyEnds,
    kLacks,
    kMerges,
    kSplits,
    kHeld,
    kCounters
  };
  static constexpr uint64_t kFirstHeld = 1 << 20;
  struct Held {
    Position at;
    Lanes lanes;
  };

  // Unassigned threads: into a new slot, offered or resting, or kept out of all slots for a while.
  void Settle(Position at, const Lanes& lanes, WarpEditor& editor) {
    const uint64_t way = random_.Below(4);
    if (way == 0) {
      const uint64_t tag = kFirstHeld + ++held_count_;
      held_[tag] = {at, lanes};
      ++counters_[kHeld];
      for (LaneMask left = lanes.mask; left != 0; left &= left - 1) {
        if (random_.Chance(50)) editor.SetHeld(lanes.thread[std::countr_zero(left)], HeldReason::kReconverging);
      }
      editor.StartTimer(editor.now() + random_.In(1, 30), tag);
      return;
    }
    if (way == 1) {
      const SlotId slot = editor.SpawnParked(at, lanes);
      editor.StartTimer(editor.now() + random_.In(1, 30), slot);
      return;
    }
    Meddle(editor.Spawn(at, lanes), editor);
  }

  // Notes what all slots lack, now and then.
  void Look(uint32_t percent, const WarpEditor& editor) {
    if (!looks_ || !random_.Chance(percent)) return;
    counters_[kLacks] += SumOfLacks(*view_, editor);
  }

  void Rest(SlotId slot, WarpEditor& editor) {
    editor.Park(slot);
    editor.StartTimer(editor.now() + random_.In(1, 12), slot);
  }

  // Changes what may be changed of an offered slot.
  void Meddle(SlotId slot, WarpEditor& editor) {
    if (inserts_ && random_.Chance(8)) editor.InsertInstructions(slot, static_cast<uint32_t>(random_.In(1, 2)));
    if (prioritises_ && random_.Chance(20)) editor.SetPriority(slot, static_cast<uint8_t>(random_.Below(3)));
    if (!bound_ && random_.Chance(10)) editor.SetPort(slot, static_cast<uint8_t>(random_.Below(ports_)));
    if (random_.Chance(10)) editor.SetGroup(slot, static_cast<uint32_t>(random_.Below(7)));
    const Position at = editor.table().position[slot];
    if (random_.Chance(20)) editor.SetStop(slot, Position(at.pc() + 1 + random_.Below(3), at.depth()));
    if (random_.Chance(10)) Rest(slot, editor);
  }

  static bool Resting(const WarpTable& table, size_t slot) {
    return (table.state[slot] == SlotState::kOffered || table.state[slot] == SlotState::kParked) &&
           table.lanes[slot].mask != 0;
  }

  // The first two slots from a random place on that can merge, do.
  void MergeSome(WarpEditor& editor) {
    const WarpTable& table = editor.table();
    const size_t slots = table.state.size();
    const size_t start = random_.Below(slots);
    for (size_t i = 0; i < slots; ++i) {
      const size_t into = (start + i) % slots;
      if (!Resting(table, into)) continue;
      for (size_t from = 0; from < slots; ++from) {
        if (from == into || !Resting(table, from) || table.position[from] != table.position[into]) continue;
        if ((table.lanes[from].mask & table.lanes[into].mask) != 0) continue;
        if (!mixes_blocks_ && table.block[from] != table.block[into]) continue;
        if (bound_ && table.port[from] != table.port[into]) continue;
        if (inserts_) continue;  // inserted instructions would have to be equal
        editor.Merge(static_cast<SlotId>(from), static_cast<SlotId>(into));
        ++counters_[kMerges];
        return;
      }
    }
  }

  void SplitSome(WarpEditor& editor) {
    const WarpTable& table = editor.table();
    const size_t slots = table.state.size();
    const size_t start = random_.Below(slots);
    for (size_t i = 0; i < slots; ++i) {
      const SlotId slot = static_cast<SlotId>((start + i) % slots);
      if (inserts_ || !Resting(table, slot) || table.thread_count(slot) < 2) continue;
      const LaneMask lowest = table.lanes[slot].mask & (~table.lanes[slot].mask + 1);
      const SlotId part = editor.Split(slot, lowest);
      if (table.state[part] == SlotState::kParked) editor.StartTimer(editor.now() + random_.In(1, 9), part);
      ++counters_[kSplits];
      return;
    }
  }

  Random random_;
  int warp_size_;
  int ports_;
  bool bound_;  // blocks are, to ports
  int issue_slots_;
  bool mixes_blocks_;
  uint32_t interests_ = 0;
  bool refuses_ = false;
  bool merges_ = false;
  bool penalises_ = false;
  bool inserts_ = false;
  bool prioritises_ = false;
  bool looks_ = false;
  const IssueView* view_ = nullptr;
  int refusals_ = 0;
  int nullified_ = 0;
  uint64_t held_count_ = 0;
  std::map<uint64_t, Held> held_;  // by timer
  std::array<uint64_t, kCounters> counters_{};
};

void ScopeBySeed(const Parameters& parameters, PolicyTraits& traits) {
  constexpr ScoreboardScope kScopes[] = {ScoreboardScope::kWarp, ScoreboardScope::kSubWarp, ScoreboardScope::kThread};
  traits.scoreboard.scope = kScopes[parameters.Integer("seed") % 3];
}

PolicyInfo CapriciousInfo(const char* name, bool mixed) {
  return PolicyInfo{
      .name = name,
      .summary = "Does at random whatever the seams allow (tests only)",
      .source = "tests",
      .traits = {.mixed_pcs = mixed},
      .traits_by_parameters = ScopeBySeed,
      .parameters = {{.name = "seed",
                      .type = ParameterType::kInteger,
                      .default_value = "1",
                      .minimum = 0,
                      .maximum = 1 << 30,
                      .description = "of the random choices"},
                     {.name = "scope",
                      .type = ParameterType::kChoice,
                      .default_value = "block",
                      .choices = {"block", "core"},
                      .description = "whether warps may hold threads of several blocks"}},
      .counters = Capricious::Counters(),
  };
}

HEDDLE_DIVERGENCE_POLICY(CapriciousInfo("capricious", false),
                         [](const DivergenceContext& context, const Parameters& parameters) {
                           return std::make_unique<Capricious>(context, parameters, 1);
                         });
HEDDLE_DIVERGENCE_POLICY(CapriciousInfo("capricious_mixed", true),
                         [](const DivergenceContext& context, const Parameters& parameters) {
                           return std::make_unique<Capricious>(context, parameters, 3);
                         });

// Picks any eligible slot, and counts what the formation owes a scheduler: every slot that it is told of is issued or
// withdrawn before it is offered again.
class CapriciousScheduler final : public WarpScheduler {
 public:
  CapriciousScheduler(const SchedulerContext& context, bool looks)
      : table_(context.table), view_(looks ? context.view : nullptr), port_(context.port), offered_(kMaxSlots, false) {}

  SlotId Pick(const SlotSet& eligible) const override {
    std::vector<SlotId> slots;
    eligible.ForEach([&](SlotId slot) { slots.push_back(slot); });
    return slots[MixAll({told_, static_cast<uint64_t>(port_), Lacks()}) % slots.size()];
  }
  bool asks_what_slots_lack() const override { return view_ != nullptr; }
  void Issued(SlotId slot) override { Leave(slot); }
  void Withdrawn(SlotId slot) override { Leave(slot); }
  void Offered(SlotId slot) override {
    counters_[0] += offered_[slot] || table_.state[slot] != SlotState::kOffered || table_.port[slot] != port_ ||
                    table_.offered_at[slot] <= last_offer_;
    last_offer_ = table_.offered_at[slot];
    offered_[slot] = true;
    ++told_;
  }
  void Grown(SlotId slot, const Lanes& /*joined*/) override { counters_[0] += !offered_[slot]; }
  void BlockAdmitted(BlockId /*block*/, uint64_t sequence) override {
    counters_[0] += sequence != blocks_;
    ++blocks_;
    ++told_;
  }
  void BlockRetired(BlockId /*block*/) override { ++told_; }
  void BarrierArrived(SlotId slot) override {
    counters_[0] += table_.state[slot] != SlotState::kInFlight;
    ++told_;
  }
  void BarrierReleased(BlockId /*block*/) override { ++told_; }
  void LongLatencyStarted(SlotId slot) override { waits_ += table_.state[slot] == SlotState::kInFlight; }
  void LongLatencyEnded(SlotId /*slot*/) override { ++counters_[1]; }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  // A sum over what all slots lack.
  uint64_t Lacks() const {
    uint64_t sum = 0;
    for (size_t i = 0; view_ != nullptr && i < table_.state.size(); ++i) {
      const SlotId slot = static_cast<SlotId>(i);
      if (table_.state[slot] != SlotState::kFree) sum += MixAll({i, static_cast<uint64_t>(view_->LackOf(slot))});
    }
    return sum;
  }
  void Leave(SlotId slot) {
    counters_[0] += !offered_[slot];
    offered_[slot] = false;
    ++told_;
  }

  const WarpTable& table_;
  const IssueView* view_;  // null: it does not look
  int port_;
  std::vector<bool> offered_;
  uint64_t told_ = 0;
  uint64_t last_offer_ = 0;
  uint64_t blocks_ = 0;
  uint64_t waits_ = 0;
  std::array<uint64_t, 2> counters_{};
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "capricious",
        .summary = "Picks at random, and counts broken promises of the formation (tests only)",
        .source = "tests",
        .parameters = {{.name = "looks",
                        .type = ParameterType::kBool,
                        .default_value = "false",
                        .description = "whether what slots lack changes its choice"}},
        .counters = {{"broken_promises", "calls", "calls that the contract rules out"},
                     {"long_waits", "calls", "long waits that ended"}},
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<CapriciousScheduler>(context, parameters.Bool("looks"));
    });

std::vector<CounterSpec> MemoryCounters() {
  std::vector<CounterSpec> counters;
  for (const char* name :
       {"placed", "not_kept", "victims", "accesses", "fills", "unused_lines", "evictions", "warps"}) {
    counters.push_back({name, "calls", "of this test"});
  }
  return counters;
}

HEDDLE_MEMORY_POLICY(PolicyInfo{.name = "capricious",
                                .summary = "for this test",
                                .source = "tests",
                                .parameters = {{.name = "seed",
                                                .type = ParameterType::kInteger,
                                                .default_value = "1",
                                                .minimum = 0,
                                                .maximum = INT64_MAX,
                                                .description = "of everything",
                                                .source = "tests"}},
                                .counters = MemoryCounters()},
                     [](const MemoryContext& context, const Parameters& parameters) {
                       const auto seed = static_cast<uint64_t>(parameters.Integer("seed"));
                       return std::make_unique<RandomMemoryPolicy>(MixAll({seed, context.sm}), context.line_bytes);
                     });

}  // namespace
}  // namespace heddle::replay
