// Random choice, from a seed.
#include "traces/base/random.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <memory>

#include "replay/policies/schedule/shared/history_scheduler.h"

namespace heddle::replay {
namespace {

// Each warp that can issue is equally likely. The choice depends on seed, port, number of issues so far and the set
// alone, so that asking twice gives the same answer.
class RandomChoice final : public HistoryScheduler {
 public:
  RandomChoice(const SchedulerContext& context, const Parameters& parameters)
      : key_(SplitMixHash(static_cast<uint64_t>(parameters.Integer("seed")) * static_cast<uint64_t>(context.ports) +
                          static_cast<uint64_t>(context.port))) {}

  SlotId Pick(const SlotSet& eligible) const override {
    const SlotId first = eligible.First();
    uint32_t count = 0;
    ForEachWord(eligible, first, [&](uint32_t, uint64_t bits) {
      count += static_cast<uint32_t>(std::popcount(bits));
      return true;
    });
    // The remainder's bias is below 2^-50 for any number of slots.
    uint64_t place = SplitMixHash(key_ + issues_) % count;
    SlotId chosen = kNoSlot;
    ForEachWord(eligible, first, [&](uint32_t word, uint64_t bits) {
      const uint32_t here = static_cast<uint32_t>(std::popcount(bits));
      if (place >= here) {
        place -= here;
        return true;
      }
      for (; place != 0; --place) bits &= bits - 1;
      chosen = static_cast<SlotId>(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
      return false;
    });
    return chosen;
  }
  void Issued(SlotId slot) override {
    HistoryScheduler::Issued(slot);
    ++issues_;
  }

 private:
  // Calls function(index, bits) for the words of the set that hold a slot, ascending, until it returns false.
  template <typename Function>
  static void ForEachWord(const SlotSet& set, SlotId first, Function function) {
    for (uint32_t slot = first;;) {
      if (!function(slot >> 6, set.word(slot >> 6))) return;
      const uint32_t next = set.FirstCyclic((slot | 63) + 1);
      if (next <= slot) return;  // round again
      slot = next;
    }
  }

  uint64_t key_;
  uint64_t issues_ = 0;
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "random",
        .summary = "Any warp that can issue, each equally likely",
        .source = "a yardstick for the others",
        .parameters = {{.name = "seed",
                        .default_value = "1",
                        .minimum = 0,
                        .maximum = std::numeric_limits<int32_t>::max(),
                        .description = "the same seed gives the same run",
                        .source = "our choice"}},
        .counters = HistoryCounterSpecs(),
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<RandomChoice>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
