// MIMD: every thread runs on its own; what is lost to control divergence is lost against this (Fung, section 2.1.4).
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/divergence/divergence_policy.h"

namespace heddle::replay {
namespace {

enum Counter { kDistinctPcs, kMostDistinctPcs, kCounters };

class Mimd final : public DivergencePolicy {
 public:
  explicit Mimd(const DivergenceContext& context) : warp_size_(context.warp_size), issues_(context.ports) {}

  uint32_t interests() const override { return kIssue; }

  void Admit(const BlockAdmission& admission, WarpEditor& editor) override {
    ThreadId first = admission.first_thread;
    for (const LaneMask row : admission.rows) {
      Lanes lanes;
      for (int lane = 0; lane < warp_size_; ++lane) {
        lanes.thread[lane] = static_cast<ThreadId>(first + lane);
        lanes.mask = LaneMask{1} << lane;
        if ((row & lanes.mask) != 0) editor.Spawn(admission.entry, lanes);
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
  bool MayIssueWith(std::span<const SlotId>, SlotId, const WarpTable&) const override { return true; }

  // Counts the PCs that the threads of one issue fetch: what MIMD pays in instruction bandwidth.
  Verdict AcceptIssue(SlotId slot, WarpEditor& editor) override {
    const WarpTable& table = editor.table();
    Issue& issue = issues_[table.port[slot]];
    if (issue.cycle != editor.now()) {
      issue.cycle = editor.now();
      issue.pcs = 0;
    }
    const Pc pc = table.position[slot].pc();
    for (uint32_t i = 0; i < issue.pcs; ++i) {
      if (issue.pc[i] == pc) return Verdict::kAccepted;
    }
    if (issue.pcs == issue.pc.size()) return Verdict::kAccepted;
    issue.pc[issue.pcs++] = pc;
    ++counters_[kDistinctPcs];
    if (issue.pcs > counters_[kMostDistinctPcs]) counters_[kMostDistinctPcs] = issue.pcs;
    return Verdict::kAccepted;
  }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  struct Issue {
    Cycle cycle = kNever;
    uint32_t pcs = 0;
    std::array<Pc, kMaxLanes> pc{};
  };

  int warp_size_;
  std::vector<Issue> issues_;  // the latest of each port
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "mimd",
        .summary = "Runs every thread on its own, any mix of instructions in one issue: the ideal upper reference",
        .source = "Fung, sections 2.1.4, 5.1.1 and 6.6",
        .traits = {.any_lane = true, .mixed_pcs = true},
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
