// The starting files of `heddle new-policy`. `@NAME@` and `@CLASS@` stand for the policy, `@SEAM@` for its seam.
#include "tools/heddle/policy_templates.h"

#include <string>

namespace heddle::tools {
namespace {

constexpr char kDivergence[] = R"policy(// @NAME@: TODO what it does, and which section of which paper says so.
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/seams/divergence_policy.h"

namespace heddle::replay {
namespace {

// A start that works: static warps that part where their threads' ways part and never rejoin.
class @CLASS@ final : public DivergencePolicy {
 public:
  explicit @CLASS@(const Parameters& parameters) : low_stays_(parameters.Bool("low_stays")) {}

  // Resolve comes at branches. Ask here for more: every block's end, every instruction, barriers, cycles.
  uint32_t interests() const override { return kControlOnly; }

  // An instruction is done. The slot's threads are grouped by where they go next, the lowest PC first; each group is
  // placed in a slot. A slot that no group goes on in is dissolved.
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    Lanes lanes = *resolution.lanes;
    const size_t stays = low_stays_ || resolution.groups.empty() ? 0 : resolution.groups.size() - 1;
    if (resolution.groups.size() > 1) ++counters_[kSplits];
    if (resolution.groups.empty()) editor.Dissolve(resolution.slot);  // all threads have ended
    for (size_t i = 0; i < resolution.groups.size(); ++i) {
      lanes.mask = resolution.groups[i].lanes;
      if (i == stays) {
        editor.Place(resolution.slot, resolution.groups[i].at, lanes);
      } else {
        editor.Spawn(resolution.groups[i].at, lanes);
      }
    }
    return Verdict::kAccepted;
  }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kSplits, kCounters };

  const bool low_stays_;
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "@NAME@",
        .summary = "TODO one sentence",
        .source = "TODO paper and section",
        .traits = {.regrouping = Regrouping::kNever},  // all threads of a slot are of one static warp
        .parameters = {{.name = "low_stays",
                        .type = ParameterType::kBool,
                        .default_value = "true",
                        .description = "the lowest PC's threads keep the warp's slot and age, else the highest's",
                        .source = "TODO"}},
        .counters = {{"splits", "branches", "executed branches at which a warp parted"}},
    },
    [](const DivergenceContext&, const Parameters& parameters) { return std::make_unique<@CLASS@>(parameters); });

}  // namespace
}  // namespace heddle::replay
)policy";

constexpr char kScheduler[] = R"policy(// @NAME@: TODO what it does, and which section of which paper says so.
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {
namespace {

// A start that works: the warp that has issued least often, equal ones by age.
class @CLASS@ final : public WarpScheduler {
 public:
  @CLASS@(const SchedulerContext& context, const Parameters& parameters)
      : table_(context.table), oldest_(parameters.Bool("ties_to_oldest")) {}

  // Which of the warps that could issue does. No side effects: fetch policies may ask as well.
  SlotId Pick(const SlotSet& eligible) const override {
    SlotId best = kNoSlot;
    eligible.ForEach([&](SlotId slot) {
      if (best == kNoSlot || Before(slot, best)) best = slot;
    });
    return best;
  }

  void Issued(SlotId slot) override {
    ++issues_[slot];
    ++counters_[kIssues];
  }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kIssues, kCounters };

  bool Before(SlotId a, SlotId b) const {
    if (issues_[a] != issues_[b]) return issues_[a] < issues_[b];
    return oldest_ ? table_.formed[a] < table_.formed[b] : table_.formed[a] > table_.formed[b];
  }

  const WarpTable& table_;
  const bool oldest_;
  std::array<uint64_t, kMaxSlots> issues_{};  // by slot
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "@NAME@",
        .summary = "TODO one sentence",
        .source = "TODO paper and section",
        .parameters = {{.name = "ties_to_oldest",
                        .type = ParameterType::kBool,
                        .default_value = "true",
                        .description = "equal warps: the oldest first, else the youngest",
                        .source = "TODO"}},
        .counters = {{"issues", "issues", "issues that it decided"}},
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<@CLASS@>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
)policy";

constexpr char kFetch[] = R"policy(// @NAME@: TODO what it does, and which section of which paper says so.
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/seams/fetch_policy.h"

namespace heddle::replay {
namespace {

// A start that works: the warps take turns; those at a barrier only when no other needs instructions.
class @CLASS@ final : public FetchPolicy {
 public:
  explicit @CLASS@(const Parameters& parameters) : at_barrier_(parameters.Bool("fetch_at_barrier")) {}

  // The warp to fetch for. No side effects: a refused fetch is asked for again.
  SlotId Pick(const FetchView& view) const override {
    const SlotId slot = view.eligible.FirstCyclic(uint32_t{last_} + 1);
    if (slot != kNoSlot || !at_barrier_) return slot;
    return view.at_barrier.FirstCyclic(uint32_t{last_} + 1);
  }
  void Fetched(SlotId slot) override {
    last_ = slot;
    ++counters_[kFetches];
  }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kFetches, kCounters };

  const bool at_barrier_;
  SlotId last_ = kNoSlot;
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_FETCH_POLICY(
    PolicyInfo{
        .name = "@NAME@",
        .summary = "TODO one sentence",
        .source = "TODO paper and section",
        .parameters = {{.name = "fetch_at_barrier",
                        .type = ParameterType::kBool,
                        .default_value = "true",
                        .description = "whether warps at a barrier are fetched for when no other needs instructions",
                        .source = "TODO"}},
        .counters = {{"fetches", "fetches", "fetches that it decided"}},
    },
    [](const FetchContext&, const Parameters& parameters) { return std::make_unique<@CLASS@>(parameters); });

}  // namespace
}  // namespace heddle::replay
)policy";

constexpr char kDispatch[] = R"policy(// @NAME@: TODO what it does, and which section of which paper says so.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "replay/seams/block_dispatcher.h"

namespace heddle::replay {
namespace {

// A start that works: blocks in ascending order, each to the SM with the fewest blocks, the lowest of equal ones.
class @CLASS@ final : public BlockDispatcher {
 public:
  @CLASS@(const DispatchContext& context, const Parameters& parameters)
      : blocks_(context.blocks), lowest_(parameters.Bool("lowest_first")) {}

  // The next block and its SM; asked again in a cycle until there is nothing more. `accepted`: SMs that have taken one
  // in this cycle.
  std::optional<Assignment> Next(std::span<const SmOccupancy> sms, std::span<const bool> accepted) override {
    std::optional<uint32_t> best;
    for (uint32_t sm = 0; sm < sms.size(); ++sm) {
      if (accepted[sm] || sms[sm].resident >= sms[sm].capacity) continue;
      const bool better = !best.has_value() || sms[sm].resident < sms[*best].resident;
      if (better || (!lowest_ && sms[sm].resident == sms[*best].resident)) best = sm;
    }
    if (done() || !best.has_value()) return std::nullopt;
    ++counters_[kBlocks];
    return Assignment{*best, next_++};
  }
  bool done() const override { return next_ == blocks_; }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kBlocks, kCounters };

  const uint64_t blocks_;
  const bool lowest_;
  uint64_t next_ = 0;
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_BLOCK_DISPATCHER(
    PolicyInfo{
        .name = "@NAME@",
        .summary = "TODO one sentence",
        .source = "TODO paper and section",
        .parameters = {{.name = "lowest_first",
                        .type = ParameterType::kBool,
                        .default_value = "true",
                        .description = "of SMs with equally many blocks the lowest, else the highest",
                        .source = "TODO"}},
        .counters = {{"blocks", "blocks", "thread blocks that were given away"}},
    },
    [](const DispatchContext& context, const Parameters& parameters) {
      return std::make_unique<@CLASS@>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
)policy";

constexpr char kMemory[] = R"policy(// @NAME@: TODO what it does, and which section of which paper says so.
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/seams/memory_policy.h"

namespace heddle::replay {
namespace {

// A start that works: accesses of few lanes keep no line in the L1 data cache.
class @CLASS@ final : public MemoryPolicy {
 public:
  explicit @CLASS@(const Parameters& parameters) : least_(parameters.Integer("least_threads")) {}

  // What it wants to be asked and told; more of MemoryInterest as you need it.
  uint32_t interests() const override { return kPlaces; }
  // What the access does if it misses; once for each.
  LinePlacement Place(const LineAccess& access, const CacheState&) override {
    if (access.threads >= least_) return LinePlacement::kMostRecent;
    ++counters_[kNotKept];
    return LinePlacement::kNoLine;
  }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kNotKept, kCounters };

  const int64_t least_;
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_MEMORY_POLICY(
    PolicyInfo{
        .name = "@NAME@",
        .summary = "TODO one sentence",
        .source = "TODO paper and section",
        .parameters = {{.name = "least_threads",
                        .type = ParameterType::kInteger,
                        .default_value = "4",
                        .unit = "lanes",
                        .minimum = 1,
                        .maximum = 64,
                        .description = "accesses of fewer lanes keep no line",
                        .source = "TODO"}},
        .counters = {{"not_kept", "accesses", "accesses that were to keep no line"}},
    },
    [](const MemoryContext&, const Parameters& parameters) { return std::make_unique<@CLASS@>(parameters); });

}  // namespace
}  // namespace heddle::replay
)policy";

constexpr char kTest[] =
    R"policy(// @NAME@: what it must do. The conformance tests run it against every other policy too.
#include <string>

#include "gtest/gtest.h"
#include "replay/machine/machine.h"
#include "replay/engine/replay.h"
#include "tests/replay/scenario.h"

namespace heddle::replay {
namespace {

// Fung's Figure 4.1: A branches to B or F and reconverges at G, B branches to C or D and reconverges at E.
Scenario Example() {
  Scenario scenario;
  scenario.Block('A', 1, "BF", 'G')
      .Block('B', 1, "CD", 'E')
      .Block('C', 1, "E")
      .Block('D', 1, "E")
      .Block('E', 1, "G")
      .Block('F', 1, "G")
      .Block('G', 1, "");
  return scenario.ThreadBlock({"ABCEG", "ABDEG", "ABDEG", "AFG", "AFG", "AFG", "ABCEG", "ABDEG"});
}

result::v1::Result RunExample(const std::string& policy) {
  const auto trace = Example().Trace();
  ReplayOptions options;
  const auto machine = LoadMachine("@MACHINE@");
  EXPECT_TRUE(machine.ok()) << machine.status();
  options.machine = *machine;
  options.machine.mutable_core()->set_warp_size(4);
  options.machine.mutable_core()->set_simd_width(4);
  Configuration configuration;
  configuration.@SEAM@ = PolicySpec::FromText(policy);
  const auto results = Replay(*trace, {configuration}, options);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? results->at(0) : result::v1::Result();
}

TEST(@CLASS@, RunsEveryThreadToItsEnd) {
  EXPECT_EQ(RunExample("@NAME@").total().thread_instructions(), Example().thread_instructions());
}

TEST(@CLASS@, GivesTheSameResultAgain) {
  EXPECT_EQ(RunExample("@NAME@").total().cycles(), RunExample("@NAME@").total().cycles());
}

// TODO the paper's worked example, cycle by cycle: see tests/replay/policies/divergence/worked_examples_test.cc.

}  // namespace
}  // namespace heddle::replay
)policy";

}  // namespace

const char* PolicyTemplate(const std::string& seam) {
  if (seam == "divergence") return kDivergence;
  if (seam == "scheduler") return kScheduler;
  if (seam == "fetch") return kFetch;
  if (seam == "memory") return kMemory;
  return seam == "dispatch" ? kDispatch : nullptr;
}

const char* PolicyTestTemplate() { return kTest; }

}  // namespace heddle::tools
