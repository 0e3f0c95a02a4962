// The rules of comparison on the page of a paper.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/table.h"
#include "tools/study/reproduce/page_parts.h"
#include "tools/study/reproduce/reproduction.h"

namespace heddle::tools::reproduce {
namespace {

namespace v1 = claims::v1;

class Rules {
 public:
  explicit Rules(const Reproduction& all) : all_(all), paper_(all.claims->paper) {}

  std::string Text() {
    Add("### By the rules of comparison\n\n");
    Verdicts();
    Ledger();
    Labels();
    Audit();
    Readings();
    Residency();
    Dependence();
    Fits();
    Deviations();
    return std::move(text_);
  }

 private:
  template <typename... Parts>
  void Add(const Parts&... parts) {
    absl::StrAppend(&text_, parts...);
  }

  void Verdicts() {
    Add("Of ", all_.reproduced().of, " claims with a direction, ", all_.reproduced().agree,
        " are reproduced: ", "they agree, also without any one program, and no program is beyond the paper's largest. ",
        all_.with_verdict(Verdict::kFragile).agree, " agree only with one program, or through one; ",
        all_.with_verdict(Verdict::kContradicted).agree, " are contradicted; ",
        all_.with_verdict(Verdict::kNotTested).agree,
        " are not tested (the runs are the same, or the effect is within ", "the noise or below half a per cent); ",
        all_.with_verdict(Verdict::kFitted).agree, " were fitted to; ", all_.with_verdict(Verdict::kNotComputed).agree,
        " were not computed.");
    const Reproduction& noisy = all_.tests != nullptr ? *all_.tests : all_;
    if (noisy.jitter != 0) {
      Add(" Headlines have ", noisy.headline_jitter, " seeds of noise, the others ", noisy.jitter, ".");
    }
    Add("\n\n");
  }

  void Ledger() {
    if (!all_.claims->ledger.has_value()) return;
    const v1::Ledger& ledger = *all_.claims->ledger;
    const LedgerScores scores = ScoresOf(all_, ledger);
    Add("The ledger of ", ledger.date(), " (`", ledger.command(), "`) has ", Share(scores.directions_then),
        " directions and ", Share(scores.sizes_then),
        " sizes. The same claims by the same rules now: ", Share(scores.directions_now), " and ",
        Share(scores.sizes_now), ".\n\n");
  }

  void Labels() {
    const LabelPermutation& labels = all_.labels;
    if (labels.claims == 0) return;
    Add("With the labels of the runs exchanged at random within each of ", labels.programs, " programs, ",
        Decimal(labels.mean_agree, 1), " of ", labels.claims, " directions agree in the mean of ",
        WithThousands(labels.permutations), " times; with the labels as they are, ", labels.agree,
        " (p = ", Decimal(labels.p, 3), ").\n\n");
  }

  void Audit() {
    if (all_.audited.empty()) return;
    size_t hold = 0;
    std::vector<std::string> lines;
    for (size_t i = 0; i < all_.results.size(); ++i) {
      const std::string& id = all_.results[i].claim->id();
      if (!all_.audited.contains(id)) continue;
      std::vector<std::string> lost;
      for (const VariedResult& varied : all_.varied[i]) {
        if (varied.result.computed() && !varied.result.comes_out()) {
          lost.push_back(paper_.variation(static_cast<int>(varied.variation)).id());
        }
      }
      const bool fragile = all_.judged[i].judgement.verdict != Verdict::kReproduced;
      hold += lost.empty() && !fragile;
      if (lost.empty() && !fragile) continue;
      std::string line = absl::StrCat("* ", id, ":");
      if (!lost.empty()) absl::StrAppend(&line, " does not come out under ", absl::StrJoin(lost, ", "));
      if (fragile) {
        absl::StrAppend(&line, lost.empty() ? " " : "; ", VerdictName(all_.judged[i].judgement.verdict), ", ",
                        all_.judged[i].judgement.reason);
      }
      lines.push_back(line);
    }
    Add("**Audit.** ", all_.audited.size(), " claims that agree, chosen by their digests, were run under all their ",
        "suspects, as those that do not agree. ", hold, " of them still come out.\n");
    if (!lines.empty()) Add("\n", absl::StrJoin(lines, "\n"), "\n");
    Add("\n");
  }

  // What claims are under every other reading of the paper, with the inputs that readings were tried with.
  void Readings() {
    const Reproduction& tried = all_.tests != nullptr ? *all_.tests : all_;
    if (!tried.sensitivity) return;
    std::string rows;
    for (size_t i = 0; i < tried.results.size(); ++i) {
      std::vector<std::string> others;
      for (const VariedResult& varied : tried.varied[i]) {
        const v1::Variation& reading = paper_.variation(static_cast<int>(varied.variation));
        if (!reading.cause()) others.push_back(absl::StrCat(reading.id(), ": ", OursCell(varied.result)));
      }
      if (others.empty()) continue;
      absl::StrAppend(&rows,
                      Row({tried.results[i].claim->id(), OursCell(tried.results[i]), absl::StrJoin(others, "; ")}));
    }
    if (rows.empty()) return;
    Add("**Other readings** of what the paper leaves open, with inputs of size `", tried.size,
        "`. The readings that count ",
        "were chosen by the text, not by these numbers.\n\n| claim | as read | otherwise |\n|---|---|---|\n", rows,
        "\n");
  }

  static std::string Cell(const ResidencyBySource& residency) {
    return absl::StrCat(residency.blocks_per_sm, " (", residency.registers, ")");
  }

  std::string Source() const {
    const std::string rest = all_.registers.empty()
                                 ? std::string("those that are counted in the trace")
                                 : absl::StrCat("`--registers ", absl::StrJoin(all_.registers, " "), "`");
    return all_.paper_residency ? absl::StrCat("the paper's blocks where it states them, else ", rest) : rest;
  }

  void Residency() {
    const bool any =
        std::ranges::any_of(all_.kernels, [](const auto& one) { return one.second.threads_per_block != 0; });
    if (!any) return;
    Add("**Blocks per SM**, and registers per thread in brackets, by who counts the registers. The replays took ",
        Source(), ".");
    const bool mixed =
        std::ranges::any_of(all_.registers, [](const std::string& word) { return absl::StrContains(word, '='); });
    if (mixed) Add(" **Sources are mixed**: some kernels have a number of their own.");
    Add("\n\n| kernel | threads of a block | counted | assembler, sm_75 | the paper |\n|---|--:|--:|--:|--:|\n");
    for (const v1::Kernel& kernel : paper_.kernel()) {
      const auto known = all_.kernels.find(kernel.name());
      if (known == all_.kernels.end() || known->second.threads_per_block == 0) continue;
      const KernelFacts& facts = known->second;
      Add(Row({kernel.name(), absl::StrCat(facts.threads_per_block), Cell(facts.counted),
               facts.assembled.has_value() ? Cell(*facts.assembled) : "-",
               kernel.paper_blocks_per_sm() == 0 ? "-" : absl::StrCat(kernel.paper_blocks_per_sm())}));
    }
    Add("\n");
  }

  void Dependence() {
    std::vector<std::string> unknown;
    for (const auto& [kernel, facts] : all_.kernels) {
      if (facts.problem.empty() && !facts.schedule_dependent.has_value()) unknown.push_back(kernel);
    }
    if (!all_.schedule_dependent.empty()) {
      std::vector<std::string> marked;
      for (const std::string& kernel : all_.schedule_dependent) {
        marked.push_back(absl::StrCat(kernel, " (", Decimal(*all_.kernels.at(kernel).schedule_dependent, 1), " %)"));
      }
      Add("**Paths that depend on the order of threads**: ", absl::StrJoin(marked, ", "), ", per cent of executed ",
          "branches. Without these kernels ", Share(all_.reproduced_without_dependent()),
          " claims are reproduced.\n\n");
    }
    if (unknown.empty()) return;
    const bool all_unknown = all_.schedule_dependent.empty() && unknown.size() == all_.kernels.size();
    Add("Not certified, so that nobody knows how far paths depend on the order of threads: ",
        all_unknown ? std::string("all kernels (`--certify`)") : absl::StrJoin(unknown, ", "), ".\n\n");
  }

  void Fits() {
    if (paper_.fit_size() == 0) return;
    Add("**Fitted to baselines**, and frozen since:\n\n");
    for (const v1::Fit& fit : paper_.fit()) {
      Add("* ", fit.date(), ": ", fit.what(), " (", absl::StrJoin(fit.claim(), ", "), ")\n");
    }
    Add("\n");
  }

  static const char* BiasText(v1::Deviation::Bias bias) {
    return bias == v1::Deviation::FOR_THE_PAPER       ? "for the paper"
           : bias == v1::Deviation::AGAINST_THE_PAPER ? "against the paper"
                                                      : "not known";
  }

  void Deviations() {
    if (paper_.deviation_size() == 0) return;
    Add("**Where we do something else than the paper**\n\n",
        "| | where | the paper | here | effect | bias | claims |\n|---|---|---|---|---|---|---|\n");
    for (const v1::Deviation& one : paper_.deviation()) {
      Add(Row({one.id(), one.where(), one.theirs(), one.ours(), one.effect(), BiasText(one.bias()),
               one.claim_size() == 0 ? "all" : absl::StrJoin(one.claim(), ", ")}));
    }
    Add("\n");
  }

  const Reproduction& all_;
  const v1::Paper& paper_;
  std::string text_;
};

}  // namespace

std::string RulesSection(const Reproduction& reproduction) { return Rules(reproduction).Text(); }

}  // namespace heddle::tools::reproduce
