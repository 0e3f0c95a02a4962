// HARP: both sides of every divergence run at once, diverged threads are regrouped in small tables, and barriers of
// threads instead of stacks bring warps together again (Lashgar, Khonsari, Baniasadi, section 4).
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_H_

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "replay/policies/divergence/harp/harp_counters.h"
#include "replay/policies/divergence/harp/harp_options.h"
#include "replay/policies/divergence/harp/harp_scheduler.h"
#include "replay/seams/divergence_policy.h"

namespace heddle::replay {

// The policy of an SM: hands every event to the scheduler that it belongs to.
class HarpPolicy final : public DivergencePolicy {
 public:
  HarpPolicy(const DivergenceContext& context, const Parameters& parameters);

  uint32_t interests() const override { return kEveryInstruction | kIssue; }
  // A block belongs to one scheduler (Table 5 counts threads per scheduler).
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override;
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override;
  Verdict AcceptIssue(SlotId slot, WarpEditor& editor) override;
  void Timer(uint64_t tag, WarpEditor& editor) override;
  void Retire(BlockId block, WarpEditor& editor) override;
  std::span<const uint64_t> counters() const override { return counters_.values(); }
  std::string Explain(const WarpTable& /*table*/) const override;

 private:
  const HarpOptions options_;
  HarpCounters counters_;
  std::deque<HarpScheduler> schedulers_;   // by port
  std::vector<uint8_t> accepted_;          // by slot: has left the First-Level
  std::vector<uint8_t> waits_for_memory_;  // by PC: goes to the Waiting-Lookup
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_H_
