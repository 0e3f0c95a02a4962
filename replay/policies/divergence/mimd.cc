// MIMD: every thread runs on its own; what is lost to control divergence is lost against this (Fung, section 2.1.4).
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/seams/divergence_policy.h"

namespace heddle::replay {
namespace {

class Mimd final : public DivergencePolicy {
 public:
  explicit Mimd(const DivergenceContext& context)
      : warp_size_(context.warp_size), latest_issue_(context.program.instruction_count()) {}

  void Admit(const BlockAdmission& admission, WarpEditor& editor) override {
    ThreadId first = admission.first_thread;
    for (const LaneMask hw_warp : admission.warps) {
      Lanes lanes;
      for (int lane = 0; lane < warp_size_; ++lane) {
        lanes.thread[lane] = static_cast<ThreadId>(first + lane);
        lanes.mask = LaneMask{1} << lane;
        if ((hw_warp & lanes.mask) != 0) editor.Spawn(admission.entry, lanes);
      }
      first = static_cast<ThreadId>(first + warp_size_);
    }
  }

  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    if (resolution.groups.empty()) {
      editor.Dissolve(resolution.slot);
    } else {
      editor.Continue(resolution.slot);
    }
    return Verdict::kAccepted;
  }

  // A warp's worth of threads issues together, at any PC and from any block of the SM.
  int issue_slots() const override { return warp_size_; }
  bool restricts_issues() const override { return false; }

  // Counts the PCs that the threads of one issue fetch: what MIMD pays in instruction bandwidth.
  void IssuedTogether(std::span<const SlotId> slots, const WarpTable& table) override {
    ++issue_;
    uint64_t pcs = 0;
    for (const SlotId slot : slots) {
      uint64_t& latest = latest_issue_[table.position[slot].pc()];
      pcs += latest != issue_;
      latest = issue_;
    }
    counters_[kDistinctPcs] += pcs;
    counters_[kMostDistinctPcs] = std::max(counters_[kMostDistinctPcs], pcs);
  }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kDistinctPcs, kMostDistinctPcs, kCounters };

  int warp_size_;
  uint64_t issue_ = 0;                  // number of the latest, of any port
  std::vector<uint64_t> latest_issue_;  // by PC: that has fetched it
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "mimd",
        .summary = "Runs every thread on its own, any mix of instructions in one issue: the ideal upper reference",
        .source = "Fung, sections 2.1.4, 5.1.1 and 6.6",
        .traits = {.lanes = {.any = true}, .mixed_pcs = true},
        .counters =
            {
                {"distinct_pcs", "instructions", "different instructions fetched, summed over the issues"},
                {"most_distinct_pcs", "instructions", "most different instructions in one issue",
                 CounterSpec::Combine::kMaximum},
            },
    },
    [](const DivergenceContext& context, const Parameters&) { return std::make_unique<Mimd>(context); });

}  // namespace
}  // namespace heddle::replay
