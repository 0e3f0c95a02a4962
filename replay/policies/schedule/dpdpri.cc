// DPdPri: DWF's post-dominator priority (Fung, section 4.3): threads that have passed fewer post-dominators go first,
// so that those that have fallen behind catch up.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/policies/schedule/shared/issue_history.h"
#include "replay/policies/schedule/shared/pool_scheduler.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {
namespace {

using trace::Pc;

// The thesis does not say how the passed post-dominators of a warp are counted. Two readings:
//   dwfcc       each thread carries a count. A new warp takes the largest of its threads', plus one if its PC is the
//               reconvergence point of any branch; threads take their warp's count when it issues. Ties go to the
//               fuller warp. (What GPGPU-Sim 2.x does.)
//   per_thread  a thread counts one whenever it enters the reconvergence point of a branch that it has executed; a warp
//               has the largest count of its threads. Ties go to the older warp.
class PostDominatorPriority final : public WarpScheduler {
 public:
  PostDominatorPriority(const SchedulerContext& context, const Parameters& parameters)
      : table_(context.table),
        per_thread_(parameters.Choice("pd_rule") == "per_thread"),
        entry_(context.program.block(context.program.entry_block()).first, 0),
        passed_(static_cast<size_t>(context.max_threads), 0),
        seen_(static_cast<size_t>(context.max_threads), 0),
        block_sequence_(static_cast<size_t>(context.max_blocks), 0),
        pending_(per_thread_ ? static_cast<size_t>(context.max_threads) : 0),
        warps_(kMaxSlots),
        ranks_(kMaxSlots),
        reconvergence_of_(context.program.instruction_count(), trace::kNoPc),
        is_reconvergence_(context.program.instruction_count(), 0) {
    for (const trace::Block& block : context.program.blocks()) {
      const bool decides =
          block.terminator == trace::v1::BRANCH_CONDITIONAL || block.terminator == trace::v1::BRANCH_WIDE;
      if (!decides || block.post_dominator == trace::kNoBlock) continue;
      const Pc reconvergence = context.program.block(block.post_dominator).first;
      reconvergence_of_[block.first + block.count - 1] = reconvergence;
      is_reconvergence_[reconvergence] = 1;
    }
  }

  SlotId Pick(const SlotSet& eligible) const override {
    // Warps that a barrier released bypass the pool's order; all candidates are of one priority.
    const bool bypass = table_.priority[eligible.First()] != 0;
    SlotId best = kNoSlot;
    uint64_t best_rank = 0;
    uint64_t best_age = 0;
    eligible.ForEach([&](SlotId slot) {
      const uint64_t rank = bypass ? 0 : ranks_[slot];
      if (best != kNoSlot && rank > best_rank) return;
      const uint64_t age = bypass ? table_.formed[slot] : table_.offered_at[slot];
      if (best != kNoSlot && rank == best_rank && age >= best_age) return;
      best = slot;
      best_rank = rank;
      best_age = age;
    });
    return best;
  }

  void BlockAdmitted(BlockId block, uint64_t sequence) override { block_sequence_[block] = sequence + 1; }

  void Offered(SlotId slot) override {
    history_.Offered(slot);
    warps_[slot] = {};
    Gather(slot, table_.lanes[slot]);
    if (!per_thread_ && is_reconvergence_[table_.position[slot].pc()] != 0) ++warps_[slot].passed;
    Rank(slot);
  }

  void Grown(SlotId slot, const Lanes& joined) override {
    Gather(slot, joined);
    Rank(slot);
  }

  void Issued(SlotId slot) override {
    history_.Issued(slot);
    const Position at = table_.position[slot];
    const Pc reconvergence = reconvergence_of_[at.pc()];
    const Lanes& lanes = table_.lanes[slot];
    for (LaneMask left = lanes.mask; left != 0; left &= left - 1) {
      const ThreadId thread = lanes.thread[std::countr_zero(left)];
      if (!per_thread_) {
        passed_[thread] = warps_[slot].passed;
      } else if (reconvergence != trace::kNoPc) {
        std::vector<Position>& pending = pending_[thread];
        const Position point(reconvergence, at.depth());
        if (std::find(pending.begin(), pending.end(), point) == pending.end()) pending.push_back(point);
      }
    }
  }

  std::span<const uint64_t> counters() const override {
    HistoryCounters(history_, counters_.data());
    return counters_;
  }

 private:
  struct WarpPosition {
    uint32_t passed = 0;
    uint32_t threads = 0;
  };

  // Who has passed less goes first; of these, unless they are counted by thread, who has more threads.
  void Rank(SlotId slot) {
    const WarpPosition& warp = warps_[slot];
    ranks_[slot] = uint64_t{warp.passed} << 8 | (per_thread_ ? 0 : 255 - warp.threads);
  }

  // Counts threads in that come to the waiting warp.
  void Gather(SlotId slot, const Lanes& lanes) {
    WarpPosition& warp = warps_[slot];
    warp.threads = static_cast<uint32_t>(table_.thread_count(slot));
    const Position at = table_.position[slot];
    for (LaneMask left = lanes.mask; left != 0; left &= left - 1) {
      const ThreadId thread = lanes.thread[std::countr_zero(left)];
      if (at == entry_) Begin(thread, table_.block[slot]);
      if (per_thread_) Enter(thread, at);
      warp.passed = std::max(warp.passed, passed_[thread]);
    }
  }

  // The thread begins anew if its block has been admitted since it was last at the entry.
  void Begin(ThreadId thread, BlockId block) {
    if (seen_[thread] == block_sequence_[block]) return;
    seen_[thread] = block_sequence_[block];
    passed_[thread] = 0;
    if (per_thread_) pending_[thread].clear();
  }

  void Enter(ThreadId thread, Position at) {
    std::vector<Position>& pending = pending_[thread];
    const auto it = std::find(pending.begin(), pending.end(), at);
    if (it == pending.end()) return;
    pending.erase(it);
    ++passed_[thread];
  }

  const WarpTable& table_;
  bool per_thread_;
  Position entry_;
  std::vector<uint32_t> passed_;          // by hardware thread: post-dominators passed
  std::vector<uint64_t> seen_;            // by hardware thread: block_sequence_ of the block it began for
  std::vector<uint64_t> block_sequence_;  // by resident block: 1 + sequence number of its admission
  // per_thread, by hardware thread: reconvergence points of the branches it has executed and not yet come to.
  std::vector<std::vector<Position>> pending_;
  std::vector<WarpPosition> warps_;   // by slot
  std::vector<uint64_t> ranks_;       // by slot: the lowest goes first, of the same rank the oldest
  std::vector<Pc> reconvergence_of_;  // by PC of a branch
  std::vector<uint8_t> is_reconvergence_;
  IssueHistory history_;
  mutable std::array<uint64_t, kHistoryCounters> counters_{};
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "dpdpri",
        .summary = "DWF: the warp whose threads have passed the fewest post-dominators",
        .source = "Fung, section 4.3",
        .traits = {.needs_regrouping = kNeedsPoolReason},
        .parameters = {{.name = "pd_rule",
                        .type = ParameterType::kChoice,
                        .default_value = "dwfcc",
                        .choices = {"dwfcc", "per_thread"},
                        .description = "dwfcc: every warp begun at a reconvergence point counts, ties go to the fuller "
                                       "warp; per_thread: only points of branches that the thread executed count, ties "
                                       "go to the older warp",
                        .source = "GPGPU-Sim 2.x, dwf.cc (dwfcc); the thesis is silent"}},
        .counters = HistoryCounterSpecs(),
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<PostDominatorPriority>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
