// CAPRI: thread block compaction in which only those warps wait at a branch for which compaction is predicted to pay
// (Rhu and Erez, ISCA 2012, section 3).
#include <array>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/policies/divergence/block_wide/adequacy_table.h"
#include "replay/policies/divergence/block_wide/block_stack.h"
#include "replay/seams/policy_storage.h"

namespace heddle::replay {
namespace {

constexpr std::array<const char*, 3> kHistories = {"1bL", "1bS", "2b"};
constexpr std::array<const char*, 3> kPredictions = {"history", "always_stall", "never_stall"};

class Capri final : public BlockStackPolicy {
 public:
  Capri(const DivergenceContext& context, const Parameters& parameters)
      : BlockStackPolicy(context, OptionsOf(parameters), kEnd),
        table_(static_cast<size_t>(parameters.Integer("capt_entries")), HistoryOf(parameters)),
        never_stall_(parameters.Choice("prediction") == "never_stall"),
        always_stall_(parameters.Choice("prediction") == "always_stall"),
        both_paths_(parameters.Choice("adequacy_scope") == "both"),
        train_uniform_(parameters.Bool("train_uniform")) {}

  // The stacks, then the table as PC=history, in the order in which its entries were filled.
  std::string Explain(const WarpTable& table) const override {
    std::string text = BlockStackPolicy::Explain(table);
    if (table_.entries().empty()) return text;
    absl::StrAppend(&text, text.empty() ? "CAPT" : "; CAPT");
    for (const AdequacyTable::Entry& entry : table_.entries()) {
      absl::StrAppend(&text, " ", entry.branch * 8, "=", static_cast<int>(entry.history));
    }
    return text;
  }

 private:
  enum OwnCounter {
    kBypassedUniform = kBlockStackCounters,
    kBypassedDiverged,
    kStalled,
    kTableHits,
    kTableMisses,
    kTableEvictions,
    kTableEntries,
    kTrainedAdequate,
    kTrainedInadequate,
    kEnd
  };

  static Options OptionsOf(const Parameters& parameters) {
    Options options = CommonOptions(parameters);
    options.run_ahead_blocks = parameters.Integer("run_ahead_blocks");
    options.limit_jumps = parameters.Bool("limit_jumps");
    options.run_ahead_into_rpc = parameters.Bool("run_ahead_into_rpc");
    options.keep_second_side = parameters.Choice("second_side") == "keep";
    return options;
  }
  static AdequacyHistory HistoryOf(const Parameters& parameters) {
    const std::string& name = parameters.Choice("history");
    if (name == "1bL") return AdequacyHistory::kLatest;
    return name == "1bS" ? AdequacyHistory::kSticky : AdequacyHistory::kTwoBit;
  }

  // The three outcomes of section 3.2. The compiler's knowledge is not used, and unconditional branches never wait.
  AtBranch Decide(const BlockEnd& end) override {
    if (!end.conditional && !end.diverged) return AtBranch::kGoOn;
    if (always_stall_) {
      Count(kStalled);
      return AtBranch::kStall;
    }
    if (!end.diverged) {
      Count(kBypassedUniform);
      return AtBranch::kBypass;
    }
    bool adequate = false;
    if (!never_stall_) {
      const AdequacyTable::Found found = table_.Touch(end.pc, adequate);
      Count(found == AdequacyTable::Found::kHit ? kTableHits : kTableMisses);
      if (found == AdequacyTable::Found::kMissEvicted) Count(kTableEvictions);
      Raise(kTableEntries, table_.entries().size());
    }
    Count(adequate ? kStalled : kBypassedDiverged);
    return adequate ? AtBranch::kStall : AtBranch::kBypass;
  }

  // The predictor beside the compaction unit: would it have needed fewer warps, had all of them waited (section 3.3)?
  void Executed(const BranchOutcome& outcome) override {
    if (!outcome.diverged && !train_uniform_) return;
    const bool adequate =
        both_paths_ ? outcome.all_needed < outcome.all_active : outcome.next_needed < outcome.next_active;
    if (table_.Train(outcome.pc, adequate)) Count(adequate ? kTrainedAdequate : kTrainedInadequate);
  }

  AdequacyTable table_;
  const bool never_stall_;
  const bool always_stall_;
  const bool both_paths_;
  const bool train_uniform_;
};

std::vector<ParameterSpec> CapriParameters() {
  std::vector<ParameterSpec> parameters = BlockStackParameters();
  const std::vector<ParameterSpec> own = {
      {.name = "prediction",
       .type = ParameterType::kChoice,
       .default_value = kPredictions[0],
       .choices = {kPredictions.begin(), kPredictions.end()},
       .description = "by the table, or forced: every warp waits at every conditional branch, or none ever does",
       .source = "ours, to compare with TBC+ and with no compaction"},
      {.name = "capt_entries",
       .type = ParameterType::kInteger,
       .default_value = "32",
       .unit = "entries",
       .minimum = 0,
       .maximum = 65'536,
       .only_if = "prediction=history",
       .description = "branches that the prediction table holds, the least recently used one out first; 0 = unlimited",
       .source = "Rhu and Erez, section 4; 2 to unlimited in Figure 12"},
      {.name = "history",
       .type = ParameterType::kChoice,
       .default_value = kHistories[0],
       .choices = {kHistories.begin(), kHistories.end()},
       .only_if = "prediction=history",
       .description = "latest result, sticky bit, or two-bit saturating counter (from 2, adequate at 2 and 3)",
       .source = "Rhu and Erez, sections 3.1, 3.3 and 4; the counter's start is ours"},
      {.name = "adequacy_scope",
       .type = ParameterType::kChoice,
       .default_value = "tos",
       .choices = {"tos", "both"},
       .only_if = "prediction=history",
       .description = "paths whose warps decide on adequacy: the one that runs next, or all",
       .source = "Rhu and Erez, section 3.3 and Figure 8: the mask at the top of the stack"},
      {.name = "train_uniform",
       .type = ParameterType::kBool,
       .default_value = "true",
       .only_if = "prediction=history",
       .description = "whether a branch in the table is trained when none of the warps diverged",
       .source = "Rhu and Erez, section 3.3: the mask always goes to the compaction unit"},
      {.name = "run_ahead_blocks",
       .type = ParameterType::kInteger,
       .default_value = "1",
       .unit = "basic blocks",
       .minimum = 0,
       .maximum = 65'536,
       .only_if = "prediction!=always_stall",
       .description = "how far a bypassed warp may run before all warps have executed the branch",
       .source = "Rhu and Erez, section 3.2"},
      {.name = "limit_jumps",
       .type = ParameterType::kBool,
       .default_value = "true",
       .only_if = "prediction!=always_stall",
       .description = "whether that limit counts basic blocks that end in a jump or fall through; else it ends at the "
                      "next conditional branch or reconvergence point",
       .source = "Rhu and Erez, section 3.2, read to the letter"},
      {.name = "run_ahead_into_rpc",
       .type = ParameterType::kBool,
       .default_value = "true",
       .only_if = "prediction!=always_stall",
       .description = "whether a warp all of whose threads branch to the reconvergence point may run ahead there",
       .source = "Rhu and Erez, section 3.2 (true), section 2.2 (false)"},
      {.name = "second_side",
       .type = ParameterType::kChoice,
       .default_value = "keep",
       .choices = {"keep", "recompact"},
       .only_if = "prediction!=always_stall",
       .description =
           "what becomes of a diverged bypassed warp's side that runs later: a warp of its own, or compacted",
       .source = "Rhu and Erez, section 3 (keep), Figure 7(d) (recompact)"},
  };
  parameters.insert(parameters.end(), own.begin(), own.end());
  return parameters;
}

std::vector<CounterSpec> CapriCounters() {
  std::vector<CounterSpec> counters = BlockStackCounters();
  const std::vector<CounterSpec> own = {
      {"bypassed_uniform", "warps", "warps that went on at a conditional branch because they did not diverge"},
      {"bypassed_diverged", "warps", "diverged warps that went on because compaction was predicted not to pay"},
      {"stalled", "warps", "warps that waited at a conditional branch for compaction"},
      {"table_hits", "look-ups", "look-ups of the prediction table that found the branch"},
      {"table_misses", "look-ups", "look-ups that did not; the branch entered the table"},
      {"table_evictions", "branches", "branches that left the table for another"},
      {"table_entries", "entries", "most branches in the table of an SM", CounterSpec::Combine::kMaximum},
      {"trained_adequate", "branches", "results that compaction was adequate"},
      {"trained_inadequate", "branches", "results that it was not"},
  };
  counters.insert(counters.end(), own.begin(), own.end());
  return counters;
}

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "capri",
        .summary = "Block-wide compaction in which only warps wait for which a predictor expects it to pay",
        .source = "Rhu and Erez, ISCA 2012, section 3",
        .traits = {.waits_at_post_dominators = true},
        .traits_by_parameters = BlockStackTraits,
        .parameters = CapriParameters(),
        .counters = CapriCounters(),
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      return std::make_unique<Capri>(context, parameters);
    });

HEDDLE_POLICY_STORAGE(
    "divergence", "capri",
    PolicyStorage{
        .source = "Rhu and Erez, section 5.5: 8 entries of 34 bits",
        .remark = "without the update mask of each block and the counters of the compaction unit, for which the paper "
                  "gives no sizes",
        .items = [](const StorageContext&, const Parameters& parameters) -> std::vector<StorageItem> {
          const uint64_t history = parameters.Choice("history") == "2b" ? 2 : 1;
          return {{"adequacy prediction table", static_cast<uint64_t>(parameters.Integer("capt_entries")),
                   1 + 32 + history, "valid, PC (32), history"}};
        }});

}  // namespace
}  // namespace heddle::replay
