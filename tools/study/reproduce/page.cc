// The page of a paper in Markdown.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/console/table.h"
#include "tools/study/reproduce/page_parts.h"
#include "tools/study/reproduce/reproduction.h"

namespace heddle::tools::reproduce {
namespace {

namespace v1 = claims::v1;

std::string PaperCell(const v1::Claim& claim) {
  if (claim.row_size() != 0) return "table below";
  if (claim.order_size() != 0) {
    std::vector<std::string> labels;
    for (const v1::Term& term : claim.order()) labels.push_back(term.label());
    return absl::StrJoin(labels, " > ");
  }
  if (claim.has_paper()) return ClaimNumber(claim, claim.paper());
  if (claim.has_neutral()) return absl::StrCat("above ", ClaimNumber(claim, claim.neutral()));
  return "-";
}

std::string DirectionCell(const ClaimResult& result) {
  switch (result.direction) {
    case Direction::kAgrees:
      return "yes";
    case Direction::kOpposite:
      return result.compared != 0 && result.claim->order_size() != 0
                 ? absl::StrCat("**no** (", result.agreeing, " of ", result.compared, " steps)")
                 : "**no**";
    case Direction::kWithinNoise:
      return "**no effect**";
    case Direction::kNone:
      break;
  }
  return "-";
}

std::string SizeCell(const ClaimResult& result) {
  return result.size == Size::kAgrees ? "yes" : result.size == Size::kDiffers ? "**no**" : "-";
}

std::string NoteCell(const ClaimResult& result) {
  std::string note = result.claim->remark();
  if (!result.left_out.empty() && result.claim->row_size() == 0) {
    std::vector<std::string> names;
    for (const auto& [kernel, why] : result.left_out) names.push_back(kernel);
    absl::StrAppend(&note, note.empty() ? "" : " ", "Without ", absl::StrJoin(names, ", "), ".");
  }
  return note;
}

// Ours with the inputs of --tests; the verdict only where it is another.
std::string TestsCell(const ClaimResult& result, const ClaimResult& tests) {
  std::string text = OursCell(tests);
  if (!tests.computed() || (tests.direction == result.direction && tests.size == result.size)) return text;
  std::vector<std::string> verdicts;
  if (tests.direction != Direction::kNone) verdicts.push_back(absl::StrCat("direction ", DirectionCell(tests)));
  if (tests.size != Size::kNone) verdicts.push_back(absl::StrCat("size ", SizeCell(tests)));
  return absl::StrCat(text, " (", absl::StrJoin(verdicts, ", "), ")");
}

// How far ours is from what the paper has, in numbers that can be compared between runs of one claim.
double Distance(const ClaimResult& result) {
  const v1::Claim& claim = *result.claim;
  if (claim.row_size() != 0) return 1 - result.rank_correlation;
  if (claim.order_size() != 0) return static_cast<double>(result.compared - result.agreeing);
  const double ours = result.terms[0].ours.mean();
  if (claim.has_paper()) return std::abs(ours - claim.paper());
  return claim.neutral() - ours;  // it goes up
}

std::string VerdictCell(const Judgement& judgement) {
  const std::string name = absl::StrReplaceAll(VerdictName(judgement.verdict), {{"_", " "}});
  return judgement.reason.empty() ? name : absl::StrCat(name, ": ", judgement.reason);
}

// "3.1 % (MU); from 2.9 % to 5.0 %": what the number is without that program, and without any one.
std::string InfluenceCell(const ClaimResult& result, const Influence& influence) {
  const std::optional<Interval> interval = influence.LeaveOneOut();
  const std::optional<double> number = NumberOf(result);
  if (!interval.has_value() || !number.has_value()) return "-";
  const ProgramInfluence& most = *influence.Most(*number);
  const auto text = [&](double value) {
    return result.claim->row_size() != 0 ? Decimal(value, 2) : ClaimNumber(*result.claim, value);
  };
  return absl::StrCat(text(*most.without), " (", most.program, "); ", text(interval->low), " to ",
                      text(interval->high));
}

class Page {
 public:
  explicit Page(const Reproduction& all) : all_(all), paper_(all.claims->paper) {}

  std::string Text() {
    Head();
    Claims();
    Rows();
    NotComputed();
    Deviations();
    Variations();
    Add(RulesSection(all_));
    Kernels();
    return std::move(text_);
  }

 private:
  template <typename... Parts>
  void Add(const Parts&... parts) {
    absl::StrAppend(&text_, parts...);
  }

  void Head() {
    Add("## ", paper_.name(), "\n\n", paper_.title(), ". ", paper_.comparison(), "\n\n");
    Add(WithThousands(all_.replays), " replays of inputs of size `", all_.size, "`, model ", all_.model_version, ", ");
    if (all_.jitter == 0 && all_.tests != nullptr && all_.tests->jitter != 0) {
      Add("and ", WithThousands(all_.tests->replays), " of size `", all_.tests->size, "`, these with ",
          all_.tests->jitter,
          " seeds of noise on the memory's latencies: an effect of either size counts if it is above ",
          "half the range over these seeds (±).\n\n");
    } else if (all_.jitter == 0) {
      Add("without noise: every difference counts.\n\n");
    } else {
      Add("each with ", all_.jitter,
          " seeds of noise on the memory's latencies: an effect counts if it is above half the ",
          "range over the seeds (±).\n\n");
    }
    Add("| structural claims | directions | sizes | reproduced by the rules | not computed |\n|--:|--:|--:|--:|--:|\n",
        Row({Share(all_.structural()), Share(all_.directions()), Share(all_.sizes()), Share(all_.reproduced()),
             absl::StrCat(all_.not_computed(), " of ", all_.results.size())}),
        "\n");
  }

  void Claims() {
    for (const bool structural : {true, false}) {
      bool any = false;
      for (size_t i = 0; i < all_.results.size(); ++i) {
        const ClaimResult& result = all_.results[i];
        if (!result.computed() || (result.claim->kind() == v1::STRUCTURAL) != structural) continue;
        if (!any) {
          Add("### ", structural ? "What follows from the rules" : "What was measured", "\n\n");
          std::vector<std::string> head = {"claim", "where", "what", "paper", "ours"};
          if (structural) {
            head.push_back("agrees");
          } else {
            head.insert(head.end(), {"direction", "size", "by the rules", "without its most influential program"});
            if (all_.tests != nullptr) head.push_back(absl::StrCat("with `", all_.tests->size, "`"));
          }
          head.push_back("note");
          Add(Row(head), "|", absl::StrJoin(std::vector<std::string>(head.size(), "---"), "|"), "|\n");
          any = true;
        }
        const v1::Claim& claim = *result.claim;
        std::vector<std::string> cells = {claim.id(), claim.where(), claim.statement(), PaperCell(claim),
                                          OursCell(result)};
        if (structural) {
          cells.push_back(result.size == Size::kNone ? DirectionCell(result) : SizeCell(result));
        } else {
          cells.push_back(DirectionCell(result));
          cells.push_back(SizeCell(result));
          cells.push_back(VerdictCell(all_.judged[i].judgement));
          cells.push_back(InfluenceCell(result, all_.judged[i].influence));
          if (all_.tests != nullptr) cells.push_back(TestsCell(result, all_.tests->results[i]));
        }
        cells.push_back(NoteCell(result));
        Add(Row(cells));
      }
      if (any) Add("\n");
    }
  }

  void Rows() {
    for (const ClaimResult& result : all_.results) {
      const v1::Claim& claim = *result.claim;
      if (!result.computed() || claim.row_size() == 0) continue;
      Add("**", claim.id(), "**, ", claim.where(), ": ", claim.statement(),
          "\n\n| kernel | paper | ours |\n|---|--:|--:|\n");
      for (const MeasuredTerm& term : result.terms) {
        Add(Row({term.label, ClaimNumber(claim, term.paper),
                 term.problem.empty() ? Ours(claim, term) : absl::StrCat("- (", term.problem, ")")}));
      }
      Add("\n");
    }
  }

  void NotComputed() {
    if (all_.not_computed() == 0) return;
    Add("### Not computed\n\n| claim | where | what | paper | why not |\n|---|---|---|---|---|\n");
    for (const ClaimResult& result : all_.results) {
      if (result.computed()) continue;
      const v1::Claim& claim = *result.claim;
      const std::string reason = claim.not_computed().empty() ? result.problem : claim.not_computed();
      Add(Row({claim.id(), claim.where(), claim.statement(), PaperCell(claim), reason}));
    }
    Add("\n");
  }

  // What does not come out, and what the suspected causes are worth.
  void Deviations() {
    bool any = false;
    for (size_t i = 0; i < all_.results.size(); ++i) {
      if (!all_.results[i].computed() || all_.results[i].comes_out()) continue;
      if (!any) DeviationsHead();
      any = true;
      Deviation(i);
    }
    if (any) Add("\n");
  }

  void DeviationsHead() {
    Add("### What does not come out\n\n");
    for (const v1::Finding& finding : paper_.finding()) {
      Add("* ", finding.text(), " (", absl::StrJoin(finding.claim(), ", "), ")\n");
    }
    if (paper_.finding_size() != 0) Add("\n");
    const bool tested = all_.sensitivity || Causes();
    Add("Suspects are choices of the next table. ",
        tested ? "Each was replaced by the other choice, where that takes few enough replays."
               : "`--sensitivity` and `--causes` test them.");
    std::vector<std::string> head = {"claim", "paper", "ours", "suspect", "with the other choice", "so"};
    if (all_.tests != nullptr) {
      Add(" \"inputs\": what the smaller ones of size `", all_.tests->size, "` give.");
      head.push_back(absl::StrCat("with `", all_.tests->size, "`"));
    }
    Add("\n\n", Row(head), "|", absl::StrJoin(std::vector<std::string>(head.size(), "---"), "|"), "|\n");
  }

  void Deviation(size_t index) {
    const ClaimResult& result = all_.results[index];
    const v1::Claim& claim = *result.claim;
    std::vector<std::string> first = {claim.id(), claim.row_size() != 0 ? "by kernel" : PaperCell(claim),
                                      OursCell(result)};
    const auto add = [&](std::vector<std::string> cells) {
      cells.insert(cells.begin(), first.begin(), first.end());
      Add(Row(cells));
      first.assign(first.size(), "");
    };
    if (claim.suspect().empty() && all_.tests == nullptr) add({"none", "-", "-"});
    for (const std::string& suspect : claim.suspect()) {
      std::vector<std::string> cells = {suspect};
      for (std::string& cell : Tested(all_, suspect, index)) cells.push_back(std::move(cell));
      if (all_.tests != nullptr) {
        const std::vector<std::string> tests = Tested(*all_.tests, suspect, index);
        cells.push_back(tests[0] == "-" ? tests[1] : absl::StrCat(tests[0], ": ", tests[1]));
      }
      add(std::move(cells));
    }
    if (all_.tests != nullptr) {
      const ClaimResult& tests = all_.tests->results[index];
      add({"inputs", OursCell(tests), tests.computed() ? OfInputs(result, tests) : tests.problem, ""});
    }
  }

  static std::string OfInputs(const ClaimResult& result, const ClaimResult& tests) {
    if (tests.comes_out()) return "comes out with smaller inputs";
    const double less = Distance(tests) - Distance(result);
    const v1::Claim& claim = *result.claim;
    const bool one_number = claim.row_size() == 0 && claim.order_size() == 0;
    if (std::abs(less) <= (one_number ? result.terms[0].ours.noise() : 0)) return "no difference";
    return less > 0 ? "nearer with larger inputs" : "farther with larger inputs";
  }

  // What a suspect's run gave, and what that means.
  std::vector<std::string> Tested(const Reproduction& runs, const std::string& suspect, size_t index) const {
    const std::vector<VariedResult>& varied = runs.varied[index];
    const auto found = std::ranges::find_if(varied, [&](const VariedResult& one) {
      return paper_.variation(static_cast<int>(one.variation)).id() == suspect;
    });
    if (found == varied.end()) {
      const auto same = std::ranges::find(paper_.variation(), suspect, &v1::Variation::id);
      if (same->paper_size_size() != 0 && &runs != &all_) return {"-", ""};  // with --causes alone
      return {"-", runs.sensitivity ? "changes none of its replays" : "not run"};
    }
    if (!found->result.computed()) return {"not computed", found->result.problem};
    if (found->result.comes_out()) {
      return {OursCell(found->result), found->flips ? "**explains it**" : "comes out in either case"};
    }
    return {OursCell(found->result), found->flips ? "another verdict, but not the paper's" : "not by itself"};
  }

  // Whether suspects were run with the inputs of --size.
  bool Causes() const {
    return std::ranges::any_of(all_.varied, [](const std::vector<VariedResult>& one) { return !one.empty(); });
  }

  void Variations() {
    if (paper_.variation().empty()) return;
    const Reproduction& swept = all_.tests != nullptr ? *all_.tests : all_;
    Add("### What the paper leaves open\n\n");
    if (swept.sensitivity) {
      Add("Each choice was replaced by the other one, and everything it concerns was run again",
          all_.tests != nullptr ? absl::StrCat(" with inputs of size `", swept.size, "`. ") : ". ");
    } else {
      Add("Not swept in this run (`--sensitivity`). ");
    }
    Add("The choices that all papers share are on the pages of the policies and in the file of the machine.\n\n",
        "| | open, and our choice | the other choice | claims whose verdict changes |\n|---|---|---|---|\n");
    for (int i = 0; i < paper_.variation_size(); ++i) {
      const v1::Variation& variation = paper_.variation(i);
      std::string flips = variation.not_swept();
      const bool causes = variation.paper_size_size() != 0 && Causes();
      if (flips.empty() && causes) flips = "of what does not come out: " + FlipsOf(all_, static_cast<size_t>(i));
      if (flips.empty()) flips = swept.sensitivity ? FlipsOf(swept, static_cast<size_t>(i)) : "not swept";
      Add(Row({variation.id(), variation.open(), variation.other(), flips}));
    }
    Add("\n");
  }

  static std::string FlipsOf(const Reproduction& runs, size_t variation) {
    std::vector<std::string> come_out, no_longer, otherwise;
    size_t concerned = 0;
    for (size_t i = 0; i < runs.results.size(); ++i) {
      for (const VariedResult& varied : runs.varied[i]) {
        if (varied.variation != variation) continue;
        ++concerned;
        if (!varied.flips) continue;
        (varied.result.comes_out()     ? come_out
         : runs.results[i].comes_out() ? no_longer
                                       : otherwise)
            .push_back(runs.results[i].claim->id());
      }
    }
    if (concerned == 0) return "it concerns none";
    std::vector<std::string> parts;
    for (const auto& [what, ids] :
         {std::pair{"come out: ", &come_out}, {"no longer: ", &no_longer}, {"wrong in another way: ", &otherwise}}) {
      if (!ids->empty()) parts.push_back(absl::StrCat(what, absl::StrJoin(*ids, ", ")));
    }
    return parts.empty() ? absl::StrCat("none of ", concerned) : absl::StrJoin(parts, "; ");
  }

  void Kernels() {
    Add("### Kernels\n\n| the paper's | computed from | trace | thread-instructions | note |\n|---|---|---|--:|---|\n");
    for (const v1::Kernel& kernel : paper_.kernel()) {
      const auto facts = all_.kernels.find(kernel.name());
      const bool there = facts != all_.kernels.end() && facts->second.problem.empty();
      if (!there && !kernel.missing().empty()) {
        Add(Row({kernel.name(), "-", "-", "-", absl::StrCat("missing: ", kernel.missing())}));
        continue;
      }
      const bool original = there && facts->second.original;
      const std::string trace =
          original ? absl::StrCat(kernel.original().suite(), " ", kernel.original().program()) : kernel.trace();
      const std::string& pattern = original ? kernel.original().kernels() : kernel.kernels();
      std::string name = absl::StrCat("`", trace, "`");
      if (!pattern.empty()) absl::StrAppend(&name, ", only `", pattern, "`");
      const std::string size = there ? WithThousands(facts->second.thread_instructions) : "-";
      const std::string note = original ? kernel.original().note() : kernel.worked() ? "worked example" : kernel.note();
      Add(Row({kernel.name(), original ? "the paper's program" : "ours", name, size, note}));
    }
    Add("\n");
  }

  const Reproduction& all_;
  const v1::Paper& paper_;
  std::string text_;
};

}  // namespace

std::string PageOf(const Reproduction& reproduction) { return Page(reproduction).Text(); }

}  // namespace heddle::tools::reproduce
