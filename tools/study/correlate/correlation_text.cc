// A correlation for a terminal.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/table.h"
#include "tools/study/correlate/correlation_report.h"
#include "traces/base/printable.h"

namespace heddle::tools::correlate {
namespace {

using Align = Table::Align;

constexpr char kNone[] = "-";
constexpr size_t kMostOfADifference = 150;  // bytes

// Three digits that count, as few decimals as need be.
std::string Short(double value) {
  const double size = std::abs(value);
  return Decimal(value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

std::string Signed(double value) { return absl::StrCat(value > 0 ? "+" : "", Short(value)); }

std::string OrNone(const std::optional<double>& value, bool with_sign = false) {
  if (!value.has_value()) return kNone;
  return with_sign ? Signed(*value) : Short(*value);
}

std::string ErrorUnit(const Comparison& comparison) { return comparison.relative ? "%" : comparison.unit; }

std::string Summaries(const CorrelationReport& report) {
  Table table({{"rung", Align::kLeft},
               {"comparison", Align::kLeft},
               {"error in", Align::kLeft},
               {"kernels"},
               {"mean abs."},
               {"bias"},
               {"rank corr."},
               {"bar"},
               {"within"}});
  std::vector<std::string> without;
  for (size_t i = 0; i < report.ladder.comparisons.size(); ++i) {
    const Comparison& comparison = report.ladder.comparisons[i];
    const ComparisonSummary& summary = report.correlation.summary[i];
    if (summary.kernels == 0) {
      without.push_back(comparison.name);
      continue;
    }
    table.AddRow(
        {report.ladder.rungs[comparison.rung].name, comparison.name, ErrorUnit(comparison),
         absl::StrCat(summary.kernels), OrNone(summary.mean_absolute), OrNone(summary.bias, true),
         summary.rank_correlation.has_value() ? Decimal(*summary.rank_correlation, 3) : kNone,
         comparison.bar.has_value() ? absl::StrCat(Short(*comparison.bar), comparison.bar_is_goal ? "" : " *") : kNone,
         comparison.bar.has_value() ? absl::StrCat(summary.within, " of ", summary.judged) : kNone});
  }
  if (without.empty()) return table.Text();
  return absl::StrCat(table.Text(), "Without a number for any kernel: ", absl::StrJoin(without, ", "), ".\n");
}

// The kernels, that with the largest error in cycles first, whatever its sign; last those without one.
std::vector<const KernelCorrelation*> WorstFirst(const CorrelationReport& report) {
  const std::optional<size_t> time = report.ladder.Headline(report.ladder.rungs.size() - 1);
  std::vector<const KernelCorrelation*> kernels;
  for (const KernelCorrelation& kernel : report.correlation.kernels) kernels.push_back(&kernel);
  std::ranges::stable_sort(kernels, std::greater<>(), [&](const KernelCorrelation* kernel) {
    const bool has = time.has_value() && kernel->compared[*time].error.has_value();
    return has ? std::abs(*kernel->compared[*time].error) : -1;
  });
  return kernels;
}

// Kernels with the error of each rung's headline.
std::string Kernels(const CorrelationReport& report) {
  std::vector<Table::Column> columns = {{"kernel", Align::kLeft}, {"launches"}, {"us"}};
  std::vector<size_t> headlines;
  for (size_t rung = 0; rung < report.ladder.rungs.size(); ++rung) {
    const std::optional<size_t> headline = report.ladder.Headline(rung);
    if (!headline.has_value()) continue;
    headlines.push_back(*headline);
    columns.push_back({report.ladder.comparisons[*headline].name});
  }
  columns.push_back({"first beyond its bar", Align::kLeft});
  Table table(std::move(columns));
  for (const KernelCorrelation* one : WorstFirst(report)) {
    const KernelCorrelation& kernel = *one;
    std::vector<std::string> cells = {
        absl::StrCat(kernel.name(), kernel.problem.empty() && kernel.is_short ? " <" : ""),
        absl::StrCat(kernel.launches, "/", kernel.card_launches), OrNone(kernel.microseconds)};
    for (const size_t headline : headlines) cells.push_back(OrNone(kernel.compared[headline].error, true));
    cells.push_back(!kernel.problem.empty()           ? "not compared"
                    : kernel.first_beyond.has_value() ? report.ladder.rungs[*kernel.first_beyond].name
                                                      : kNone);
    table.AddRow(std::move(cells));
  }
  return table.Text();
}

std::string Explanations(const CorrelationReport& report) {
  Table table({{"rung", Align::kLeft}, {"explained best by", Align::kLeft}, {"rank corr. of errors"}, {"kernels"}});
  for (size_t rung = 1; rung < report.ladder.rungs.size(); ++rung) {
    const Explanation* best = BestExplanation(report.correlation, rung);
    if (best == nullptr) {
      table.AddRow({report.ladder.rungs[rung].name, "none beyond chance", kNone, kNone});
    } else {
      table.AddRow({report.ladder.rungs[rung].name, report.ladder.rungs[best->lower].name,
                    Decimal(*best->correlation, 2), absl::StrCat(best->kernels)});
    }
  }
  return table.Text();
}

// A few names; of many how many more.
std::string Some(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + static_cast<ptrdiff_t>(std::min(kMost, names.size())));
  return absl::StrCat(absl::StrJoin(first, ", "),
                      names.size() > kMost ? absl::StrCat(" and ", names.size() - kMost, " more") : "");
}

std::string Remarks(const CorrelationReport& report) {
  std::string text;
  for (const KernelCorrelation& kernel : report.correlation.kernels) {
    if (!kernel.problem.empty()) absl::StrAppend(&text, kernel.name(), ": not compared: ", kernel.problem, ".\n");
    for (const std::string& note : kernel.notes) absl::StrAppend(&text, kernel.name(), ": ", note, ".\n");
  }
  const Applications applications = ApplicationsOf(report.card);
  if (const size_t all = applications.equal + applications.different.size(); all != 0) {
    absl::StrAppend(&text, "Programs whose output is the same with and without the card: ", applications.equal, " of ",
                    all, ".\n");
    for (const std::string& different : applications.different) {
      absl::StrAppend(&text, "  ", CutText(different, kMostOfADifference), "\n");
    }
  }
  if (const int skipped = report.card.visits.front().visit.skipped_size(); skipped != 0) {
    const hardware::v1::Skipped& first = report.card.visits.front().visit.skipped(0);
    absl::StrAppend(&text, "The visit left out ", skipped,
                    skipped == 1 ? " thing: " : " things, first of all: ", first.what(), ": ",
                    CutText(first.why(), kMostOfADifference), ".\n");
  }
  const Correlation& correlation = report.correlation;
  if (!correlation.without_trace.empty()) {
    absl::StrAppend(&text, "Kernels of the card without a trace: ", Some(correlation.without_trace), ".\n");
  }
  if (!correlation.without_kernel.empty()) {
    absl::StrAppend(&text, "Traces that the card has not run: ", Some(correlation.without_kernel), ".\n");
  }
  return text;
}

}  // namespace

std::string MadeUpSentence(const CorrelationReport& report) {
  if (report.card.made_up.empty()) return "";
  return absl::StrCat("THE NUMBERS OF THE CARD ARE MADE UP: ", report.card.made_up);
}

std::string CardSentence(const CorrelationReport& report) {
  const hardware::v1::Visit& visit = report.card.visits.front().visit;
  const auto or_unknown = [](const std::string& text) { return text.empty() ? "unknown" : text; };
  std::string text = absl::StrCat(visit.card().name(), " (compute capability ", visit.card().compute_major(), ".",
                                  visit.card().compute_minor(), ", ", visit.card().sms(), " SMs), visit of ",
                                  or_unknown(visit.conditions().date()), ", driver ",
                                  or_unknown(visit.tools().driver()), ", Nsight Compute ",
                                  or_unknown(visit.tools().ncu()), ", code from ", CodeName(report.card.source), ".");
  if (report.card.visits.size() > 1) absl::StrAppend(&text, " ", report.card.visits.size(), " visits in all.");
  return text;
}

std::string MachineSentence(const CorrelationReport& report) {
  std::string text = absl::StrCat("Machine ", report.machine.name());
  if (!report.fit.has_value()) {
    absl::StrAppend(&text, ", which was not fitted to a card: all kernels are held out.");
  } else {
    const hardware::v1::Fit& fit = *report.fit;
    absl::StrAppend(&text, ", fitted to ", fit.benchmark_size(), " micro-benchmarks on ", fit.card(), " of ",
                    fit.date());
    if (fit.kernel_size() == 0) {
      absl::StrAppend(&text, " and to no kernel: all kernels are held out.");
    } else {
      absl::StrAppend(&text, " and to the kernels ", absl::StrJoin(fit.kernel(), ", "), ": the others are held out.");
    }
  }
  absl::StrAppend(&text, " Replayed with ", report.divergence, " and ", report.scheduler,
                  report.card.cold ? "; every launch begins with empty caches, as under the profiler." : ".");
  return text;
}

std::string CorrelationText(const CorrelationReport& report) {
  std::string text;
  const std::string made_up = MadeUpSentence(report);
  if (!made_up.empty()) absl::StrAppend(&text, made_up, "\n");
  absl::StrAppend(&text, "Card: ", CardSentence(report), "\n", MachineSentence(report), "\n\n", Summaries(report),
                  "\nErrors are signed: + is more than on the card. Bars with * are our choice, the others were set as "
                  "goals; all before anything\nwas measured. Kernels of less than ",
                  Short(report.ladder.least_microseconds), " us on the card (<) are left out of the rung time.\n\n",
                  Kernels(report), "\n", Explanations(report),
                  "\nA rung explains a higher one if kernels that are far off on it are far off there, too: Spearman's "
                  "correlation of the\nsigned errors of the headlines, if chance gives one as strong in less than one "
                  "of 20 samples.\n");
  const std::string remarks = Remarks(report);
  if (!remarks.empty()) absl::StrAppend(&text, "\n", remarks);
  return text;
}

}  // namespace heddle::tools::correlate
