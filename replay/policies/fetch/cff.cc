// CFF: critical fetch first, the fetch half of barrier-aware warp scheduling (BAWS).
#include <cstdint>
#include <memory>

#include "replay/seams/fetch_policy.h"

namespace heddle::replay {
namespace {

// Fetches for the warp that the scheduler would issue if every instruction buffer were full (Liu et al., section 4.2):
// the first in its order among those that can be fetched for. Never for a warp at a barrier.
//
// With GTO the paper fetches for the warp that issues, and for the oldest if that is stalled: a greedy warp that did
// not issue in this cycle is passed over (`skip_stalled`). Two ports share one fetch; the paper does not say whose warp
// goes first. Here: the one whose block is more urgent to its scheduler (MWF: has more warps waiting), then the older
// warp's block. Within a block the ports take turns.
class CriticalFetchFirst final : public FetchPolicy {
 public:
  CriticalFetchFirst(const FetchContext& context, const Parameters& parameters)
      : table_(context.table),
        schedulers_(context.schedulers),
        falls_through_(parameters.Bool("fallthrough")),
        skip_stalled_(parameters.Bool("skip_stalled")) {}

  SlotId Pick(const FetchView& view) const override {
    SlotId best = kNoSlot;
    const int ports = static_cast<int>(schedulers_.size());
    for (int i = 1; i <= ports; ++i) {
      const int port = (served_ + i) % ports;
      const SlotId slot = Candidate(port, view);
      if (slot != kNoSlot && (best == kNoSlot || Before(slot, best))) best = slot;
    }
    return best;
  }
  void Fetched(SlotId slot) override { served_ = table_.port[slot]; }

 private:
  // The port's choice, kNoSlot if it has none.
  SlotId Candidate(int port, const FetchView& view) const {
    SlotSet eligible;
    SlotSet all;
    view.eligible.ForEach([&](SlotId slot) {
      if (table_.port[slot] == port) eligible.Insert(slot);
    });
    if (eligible.empty()) return kNoSlot;
    const SlotId last = view.last_issued[static_cast<size_t>(port)];
    const bool stalled = last != kNoSlot && view.issued[static_cast<size_t>(port)] != last;
    const bool passes_over = skip_stalled_ && stalled && eligible.Contains(last);
    if (passes_over) {
      eligible.Erase(last);
      if (eligible.empty()) return last;
    }
    if (falls_through_) return Ask(port, eligible);
    // Only the first of the whole order, whatever its buffer holds. A warp that is passed over is not in it: it needs
    // instructions to issue, so that a greedy scheduler would put it first for ever.
    table_.offered.ForEach([&](SlotId slot) {
      if (table_.port[slot] == port && !(passes_over && slot == last)) all.Insert(slot);
    });
    if (all.empty()) return kNoSlot;
    const SlotId first = Ask(port, all);
    return first != kNoSlot && eligible.Contains(first) ? first : kNoSlot;
  }
  SlotId Ask(int port, const SlotSet& slots) const { return schedulers_[static_cast<size_t>(port)]->Pick(slots); }
  bool Before(SlotId a, SlotId b) const {
    const BlockId block_a = table_.block[a];
    const BlockId block_b = table_.block[b];
    if (block_a == block_b) return false;
    const uint64_t urgency_a = schedulers_[table_.port[a]]->Urgency(block_a);
    const uint64_t urgency_b = schedulers_[table_.port[b]]->Urgency(block_b);
    return urgency_a != urgency_b ? urgency_a > urgency_b : table_.formed[a] < table_.formed[b];
  }

  const WarpTable& table_;
  const std::span<const std::unique_ptr<WarpScheduler>> schedulers_;
  const bool falls_through_;
  const bool skip_stalled_;
  int served_ = 0;  // port
};

HEDDLE_FETCH_POLICY(
    PolicyInfo{
        .name = "cff",
        .summary = "Critical fetch first: for the warp that the scheduler puts first",
        .source = "Liu et al. (BAWS), section 4.2",
        .parameters = {{.name = "fallthrough",
                        .type = ParameterType::kBool,
                        .default_value = "true",
                        .description = "if the first of the order needs nothing, the next that does is fetched for",
                        .source = "our choice: section 4.2 names only the first"},
                       {.name = "skip_stalled",
                        .type = ParameterType::kBool,
                        .default_value = "false",
                        .description = "the warp that issued last is passed over if it did not issue in this cycle",
                        .source = "section 4.2, its rule for GTO"}},
    },
    [](const FetchContext& context, const Parameters& parameters) {
      return std::make_unique<CriticalFetchFirst>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
