// NREC: a warp that diverges becomes separate warps for good (Fung, section 3.1).
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/seams/divergence_policy.h"

namespace heddle::replay {
namespace {

class Nrec final : public DivergencePolicy {
 public:
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    if (resolution.exited != 0) ++counters_[SizeClass(std::popcount(resolution.exited))];
    const std::span<const PathGroup> groups = resolution.groups;
    if (groups.empty()) {
      editor.Dissolve(resolution.slot);
      return Verdict::kAccepted;
    }
    if (groups.size() == 1 && resolution.exited == 0) {
      editor.Continue(resolution.slot);
      return Verdict::kAccepted;
    }
    // The groups come in ascending order, so that the lower PC is enqueued first. Two warps are never put together
    // again, not even halves of one static warp that meet at the same PC.
    Lanes lanes = *resolution.lanes;
    lanes.mask = groups[0].lanes;
    editor.Place(resolution.slot, groups[0].at, lanes);
    for (const PathGroup& group : groups.subspan(1)) {
      lanes.mask = group.lanes;
      editor.Spawn(group.at, lanes);
      ++counters_[kSplits];
    }
    return Verdict::kAccepted;
  }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kSplits, kEnded1, kEnded4, kEnded8, kEnded16, kEnded32, kEnded64, kCounters };

  static Counter SizeClass(int threads) {
    if (threads == 1) return kEnded1;
    if (threads <= 4) return kEnded4;
    if (threads <= 8) return kEnded8;
    if (threads <= 16) return kEnded16;
    return threads <= 32 ? kEnded32 : kEnded64;
  }

  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "nrec",
        .summary = "Splits a warp at a divergent branch into independent warps and never joins them again",
        .source = "Fung, section 3.1",
        .traits = {.regrouping = Regrouping::kNever},
        .counters =
            {
                {"splits", "warps", "warps that came into being because a warp diverged"},
                {"warps_ended_with_1", "warps", "groups of exactly one thread that reached the kernel's end together"},
                {"warps_ended_with_2_to_4", "warps", "groups of 2 to 4 threads that reached the kernel's end together"},
                {"warps_ended_with_5_to_8", "warps", "groups of 5 to 8 threads that reached the kernel's end together"},
                {"warps_ended_with_9_to_16", "warps",
                 "groups of 9 to 16 threads that reached the kernel's end together"},
                {"warps_ended_with_17_to_32", "warps",
                 "groups of 17 to 32 threads that reached the kernel's end together"},
                {"warps_ended_with_33_to_64", "warps",
                 "groups of 33 to 64 threads that reached the kernel's end together"},
            },
    },
    [](const DivergenceContext&, const Parameters&) { return std::make_unique<Nrec>(); });

}  // namespace
}  // namespace heddle::replay
