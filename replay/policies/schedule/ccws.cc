// CCWS: cache-conscious wavefront scheduling (Rogers, O'Connor and Aamodt, MICRO 2012). docs/policies/ccws.md.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/policies/schedule/shared/history_scheduler.h"
#include "replay/seams/slot_queue.h"

namespace heddle::replay {
namespace {

// Line addresses that a warp has lost from the data cache: sets of a few ways, the most recent first.
class VictimTags {
 public:
  void Reset(size_t sets, size_t ways) {
    ways_ = ways;
    tags_.assign(sets * ways, kNone);
  }
  void Insert(uint64_t line) {
    Take(line);
    uint64_t* const first = SetOf(line);
    std::move_backward(first, first + ways_ - 1, first + ways_);
    *first = line;
  }
  // Whether the line was there; it is taken out.
  bool Take(uint64_t line) {
    uint64_t* const first = SetOf(line);
    uint64_t* const last = first + ways_;
    uint64_t* const found = std::find(first, last, line);
    if (found == last) return false;
    std::move(found + 1, last, found);
    last[-1] = kNone;
    return true;
  }

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};
  // Lines are of different lengths on different machines; an address in units of the shortest one spreads well enough.
  static constexpr uint64_t kShortestLine = 32;
  uint64_t* SetOf(uint64_t line) { return &tags_[line / kShortestLine % (tags_.size() / ways_) * ways_]; }

  size_t ways_ = 1;
  std::vector<uint64_t> tags_;  // none before Reset: most slots never hold a warp
};

class CacheConscious final : public HistoryScheduler {
 public:
  CacheConscious(const SchedulerContext& context, const Parameters& parameters)
      : HistoryScheduler(kCounters),
        table_(context.table),
        clock_(context.clock),
        port_(static_cast<uint8_t>(context.port)),
        base_score_(static_cast<uint64_t>(parameters.Integer("base_score"))),
        throttle_(static_cast<uint64_t>(parameters.Integer("throttle"))),
        ways_(static_cast<size_t>(parameters.Integer("victim_ways"))),
        sets_(static_cast<size_t>(parameters.Integer("victim_tags")) / ways_),
        greedy_(context.table),
        is_load_(context.program.instruction_count(), 0),
        warps_(context.table.state.size()),
        known_(context.table.state.size(), 0) {
    for (trace::Pc pc = 0; pc < is_load_.size(); ++pc) {
      const trace::v1::Instruction& instruction = context.program.instruction(pc);
      const bool reads = instruction.op() == trace::v1::OP_LOAD || instruction.op() == trace::v1::OP_ATOMIC;
      const bool cached = instruction.space() == trace::v1::SPACE_GLOBAL ||
                          instruction.space() == trace::v1::SPACE_LOCAL ||
                          instruction.space() == trace::v1::SPACE_GENERIC;
      is_load_[pc] = reads && cached;
    }
  }

  SlotId Pick(const SlotSet& eligible) const override {
    const SlotId greedy = greedy_.In(eligible);
    const Cycle now = Now();
    if (now >= raised_until_) return greedy != kNoSlot ? greedy : OldestOf(eligible, table_);
    Stack(now);
    SlotId oldest = kNoSlot;
    for (SlotId slot = by_age_.front(); slot != kNoSlot; slot = by_age_.After(slot)) {
      if (!eligible.Contains(slot) || !IsHere(slot)) continue;
      if (is_load_[table_.position[slot].pc()] != 0 && !warps_[slot].may_load) continue;
      if (slot == greedy) return slot;
      if (oldest == kNoSlot) oldest = slot;
    }
    return oldest;
  }

  void Offered(SlotId slot) override {
    HistoryScheduler::Offered(slot);
    if (by_age_.Contains(slot) && known_[slot] == table_.formed[slot]) return;
    WarpLocality& warp = warps_[slot];
    warp.score = base_score_;
    warp.raised_at = 0;
    warp.tags.Reset(sets_, ways_);
    known_[slot] = table_.formed[slot];
    by_age_.InsertByKey(slot, known_);
  }
  void Issued(SlotId slot) override {
    HistoryScheduler::Issued(slot);
    greedy_.Issued(slot);
    ++issues_;
    if (Now() < raised_until_) ++own_counter(kThrottledIssues);
  }
  bool watches_caches() const override { return true; }
  void CacheEvent(const CacheNotice& notice) override {
    const SlotId slot = notice.slot;
    if (slot >= warps_.size() || !by_age_.Contains(slot) || !IsHere(slot)) return;
    WarpLocality& warp = warps_[slot];
    if (notice.kind == CacheNotice::Kind::kEviction) {
      warp.tags.Insert(notice.line_address);
      return;
    }
    if (!warp.tags.Take(notice.line_address)) return;
    const uint64_t lost = ++own_counter(kLostLocality);
    const Cycle now = Now();
    const uint64_t score = throttle_ * CutOff() * lost / std::max<uint64_t>(issues_, 1);
    if (score <= ScoreOf(warp, now)) return;
    warp.score = score;
    warp.raised_at = now;
    if (score > base_score_) raised_until_ = std::max(raised_until_, now + (score - base_score_));
  }
  void BlockRetired(BlockId /*block*/) override {
    for (SlotId slot = by_age_.front(); slot != kNoSlot;) {
      const SlotId next = by_age_.After(slot);
      if (!IsHere(slot)) by_age_.Erase(slot);
      slot = next;
    }
  }

  static std::vector<CounterSpec> Counters() {
    return HistoryCounterSpecsAnd({{"lost_locality", "accesses", "misses of a warp on a line that it has had and lost"},
                                   {"throttled_issues", "issues", "while some warp's score was above the base"}});
  }

 private:
  enum Counter { kLostLocality, kThrottledIssues, kCounters };
  struct WarpLocality {
    uint64_t score = 0;  // in cycle raised_at
    Cycle raised_at = 0;
    bool may_load = true;
    VictimTags tags;
  };

  Cycle Now() const { return clock_ == nullptr ? 0 : *clock_; }
  // Whether the warp that was offered in the slot is still in it, on this port.
  bool IsHere(SlotId slot) const {
    return table_.state[slot] != SlotState::kFree && known_[slot] == table_.formed[slot] && table_.port[slot] == port_;
  }
  uint64_t ScoreOf(const WarpLocality& warp, Cycle now) const {
    const uint64_t fallen = now - warp.raised_at;
    return warp.score > base_score_ + fallen ? warp.score - fallen : base_score_;
  }
  uint64_t CutOff() const {
    uint64_t warps = 0;
    for (SlotId slot = by_age_.front(); slot != kNoSlot; slot = by_age_.After(slot)) warps += IsHere(slot);
    return warps * base_score_;
  }
  // Which warps may issue loads in cycle `now`.
  void Stack(Cycle now) const {
    raised_.clear();
    for (SlotId slot = by_age_.front(); slot != kNoSlot; slot = by_age_.After(slot)) {
      if (IsHere(slot) && ScoreOf(warps_[slot], now) > base_score_) raised_.push_back(slot);
    }
    std::stable_sort(raised_.begin(), raised_.end(),
                     [&](SlotId a, SlotId b) { return ScoreOf(warps_[a], now) > ScoreOf(warps_[b], now); });
    const uint64_t cut_off = CutOff();
    uint64_t height = 0;
    for (const SlotId slot : raised_) {
      const bool top = height == 0;
      height += ScoreOf(warps_[slot], now);
      warps_[slot].may_load = top || height <= cut_off;
    }
    for (SlotId slot = by_age_.front(); slot != kNoSlot; slot = by_age_.After(slot)) {
      if (!IsHere(slot) || ScoreOf(warps_[slot], now) > base_score_) continue;
      height += base_score_;
      warps_[slot].may_load = height <= cut_off;
    }
  }

  const WarpTable& table_;
  const Cycle* const clock_;
  const uint8_t port_;
  const uint64_t base_score_;
  const uint64_t throttle_;
  const size_t ways_;
  const size_t sets_;
  GreedyWarp greedy_;
  std::vector<uint8_t> is_load_;             // by PC: reads through the data cache
  mutable std::vector<WarpLocality> warps_;  // by slot; may_load is worked out when it is asked for
  std::vector<uint64_t> known_;              // by slot: age of the warp that was offered in it
  mutable std::vector<SlotId> raised_;       // scratch: warps above the base score
  SlotQueue by_age_;                         // slots that have been offered; those that have ended are skipped
  Cycle raised_until_ = 0;                   // from then on all scores are at the base
  uint64_t issues_ = 0;
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "ccws",
        .summary = "Cache-conscious: where warps lose their own lines from the data cache, fewer may issue loads",
        .source = "Rogers, O'Connor and Aamodt (CCWS), MICRO 2012",
        .traits = {.holds_back = true},
        .parameters = {{.name = "base_score",
                        .default_value = "100",
                        .minimum = 1,
                        .maximum = 1'000'000,
                        .description = "locality score of a warp that has lost nothing; the cut-off is this per warp",
                        .source = "the paper's configuration"},
                       {.name = "throttle",
                        .default_value = "8",
                        .minimum = 0,
                        .maximum = 1'000'000,
                        .description = "how strongly lost locality raises a score",
                        .source = "the paper's configuration"},
                       {.name = "victim_tags",
                        .default_value = "16",
                        .unit = "lines per warp",
                        .minimum = 1,
                        .maximum = 4096,
                        .description = "lost lines that a warp remembers",
                        .source = "the paper's configuration"},
                       {.name = "victim_ways",
                        .default_value = "8",
                        .unit = "lines",
                        .minimum = 1,
                        .maximum = 64,
                        .ways_of = "victim_tags",
                        .description = "of a set of victim tags",
                        .source = "the paper's configuration"}},
        .counters = CacheConscious::Counters(),
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<CacheConscious>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
