// FEF: fewest entries first.
#include <cstdint>
#include <memory>

#include "replay/seams/fetch_policy.h"

namespace heddle::replay {
namespace {

// The warp with the fewest instructions in its buffer, ties in turn (Liu et al., BAWS, section 6.2). On a machine that
// fetches only for empty buffers all warps tie, and this is round-robin: it needs `core.ibuffer.fetch_when: FREE_SLOT`.
class FewestEntriesFirst final : public FetchPolicy {
 public:
  explicit FewestEntriesFirst(const Parameters& parameters) : at_barrier_(parameters.Bool("fetch_at_barrier")) {}

  SlotId Pick(const FetchView& view) const override {
    Choice choice;
    view.eligible.ForEach([&](SlotId slot) { Consider(slot, view.entries[slot], choice); });
    if (at_barrier_) view.at_barrier.ForEach([&](SlotId slot) { Consider(slot, view.entries[slot], choice); });
    return choice.slot;
  }
  void Fetched(SlotId slot) override { last_ = slot; }

 private:
  struct Choice {
    SlotId slot = kNoSlot;
    uint32_t entries = 0;
    uint32_t distance = 0;
  };
  void Consider(SlotId slot, uint32_t entries, Choice& choice) const {
    // Places behind the slot fetched last, wrapping round.
    const uint32_t distance = (slot + uint32_t{kMaxSlots} - last_ - 1) % kMaxSlots;
    if (choice.slot != kNoSlot &&
        (entries > choice.entries || (entries == choice.entries && distance > choice.distance))) {
      return;
    }
    choice = {slot, entries, distance};
  }

  const bool at_barrier_;
  uint32_t last_ = kMaxSlots - 1;
};

HEDDLE_FETCH_POLICY(
    PolicyInfo{
        .name = "fef",
        .summary = "Fewest entries first: for the warp with the emptiest instruction buffer",
        .source = "Liu et al. (BAWS), section 6.2",
        .parameters = {{.name = "fetch_at_barrier",
                        .type = ParameterType::kBool,
                        .default_value = "true",
                        .description = "warps that wait at a barrier are fetched for, too",
                        .source = "Liu et al. (BAWS), section 1"}},
        .same_as = {{.policy = "round_robin", .machine = "core.ibuffer.fetch_when=EMPTY"}},
    },
    [](const FetchContext&, const Parameters& parameters) { return std::make_unique<FewestEntriesFirst>(parameters); });

}  // namespace
}  // namespace heddle::replay
