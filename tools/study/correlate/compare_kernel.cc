// One kernel on the ladder.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/study/correlate/card.h"
#include "tools/study/correlate/correlation.h"
#include "tools/study/correlate/ours.h"

namespace heddle::tools::correlate {
namespace {

namespace hw = hardware::v1;

constexpr char kCycles[] = "cycles";  // the comparison that intervals are made of

// A launch of the card with ours.
struct Pair {
  CardCounters card;
  OurLaunch ours;
  std::optional<double> microseconds;
};

std::string Extent(uint32_t x, uint32_t y, uint32_t z) {
  const auto at_least_one = [](uint32_t extent) { return std::max(1u, extent); };
  return absl::StrCat(at_least_one(x), "x", at_least_one(y), "x", at_least_one(z));
}

template <typename Launch>
std::string Geometry(const Launch& launch) {
  return absl::StrCat(Extent(launch.grid().x(), launch.grid().y(), launch.grid().z()), " blocks of ",
                      Extent(launch.block().x(), launch.block().y(), launch.block().z()), " threads");
}

// Why the two are not the same launch; empty if they are.
std::string Difference(const hw::Launch& card, const trace::LaunchView& view) {
  const std::string name = view.program->name();
  if (card.kernel() != name && name.substr(0, name.find('(')) != card.kernel().substr(0, card.kernel().find('('))) {
    return absl::StrCat("launch ", card.launch(), " is of ", card.kernel(), " on the card, of ", name, " in the trace");
  }
  if (Geometry(card) != Geometry(view.launch)) {
    return absl::StrCat("launch ", card.launch(), " has ", Geometry(card), " on the card, ", Geometry(view.launch),
                        " in the trace");
  }
  return "";
}

// Sums of a number over launches.
class Total {
 public:
  // `add`: quotients and sums are added; else the largest counts.
  explicit Total(bool add) : add_(add) {}
  void Add(const Term& term) {
    over_ = add_ || !any_ ? over_ + term.over : std::max(over_, term.over);
    by_ += term.by.value_or(0);
    is_quotient_ = is_quotient_ || term.by.has_value();
    any_ = true;
  }
  // Nothing where nothing was counted.
  std::optional<double> value() const {
    if (!any_ || (is_quotient_ && by_ == 0)) return std::nullopt;
    return is_quotient_ ? over_ / by_ : over_;
  }

 private:
  bool add_;
  bool any_ = false;
  bool is_quotient_ = false;
  double over_ = 0;
  double by_ = 0;
};

void SetError(const Comparison& comparison, Compared& compared) {
  for (std::optional<double>* value : {&compared.ours, &compared.card}) {
    if (!value->has_value() || std::isfinite(**value)) continue;
    value->reset();
    compared.why = "a sum of counters is too large";
    return;
  }
  if (!compared.ours.has_value() || !compared.card.has_value()) {
    compared.why = compared.ours.has_value()   ? "the card has none"
                   : compared.card.has_value() ? "ours has none"
                                               : "there is none on either side";
    return;
  }
  const double difference = *compared.ours - *compared.card;
  if (!comparison.relative) {
    compared.error = difference;
  } else if (*compared.card == 0) {
    if (difference == 0) {
      compared.error = 0;
    } else {
      compared.why = "the card's is 0";
    }
  } else {
    compared.error = kPerCent * difference / *compared.card;
  }
  if (compared.error.has_value() && !std::isfinite(*compared.error)) {
    compared.error.reset();
    compared.why = "the card's is next to 0";
  }
}

Compared CompareOutputs(const hw::Kernel& card) {
  Compared compared;
  compared.ours = 0;
  if (card.output().empty()) {
    compared.why = "no output was compared on the card";
    return compared;
  }
  compared.card = static_cast<double>(
      std::ranges::count_if(card.output(), [](const hw::Output& output) { return !output.right(); }));
  return compared;
}

Compared CompareCounters(const Comparison& comparison, const std::vector<Pair>& pairs) {
  const bool add = comparison.card.kind == CardFormula::Kind::kQuotient;
  Total ours(add);
  Total card(add);
  std::string why;
  bool any = false;
  for (const Pair& pair : pairs) {
    const absl::StatusOr<Term> our_term = OurTerm(comparison.ours, pair.ours);
    const absl::StatusOr<Term> card_term = CardTerm(comparison.card, pair.card);
    if (!our_term.ok() || !card_term.ok()) {
      why = std::string(our_term.ok() ? card_term.status().message() : our_term.status().message());
      continue;
    }
    ours.Add(*our_term);
    card.Add(*card_term);
    any = true;
  }
  Compared compared;
  if (!any) {
    compared.why = why.empty() ? "no launch was compared" : why;
    return compared;
  }
  compared.ours = ours.value();
  compared.card = card.value();
  return compared;
}

// By number; with notes about launches that are left out.
std::vector<Pair> PairLaunches(const hw::Kernel& card, const trace::TraceReader& trace,
                               const result::v1::Result& result, const machine::v1::Machine& machine,
                               KernelCorrelation& kernel) {
  std::map<uint32_t, const result::v1::LaunchResult*> by_number;
  for (const result::v1::LaunchResult& launch : result.launch()) by_number.emplace(launch.launch(), &launch);
  std::vector<Pair> pairs;
  size_t missing = 0;
  size_t partial = 0;
  for (const hw::Launch& launch : card.launch()) {
    const auto found = by_number.find(launch.launch());
    if (found == by_number.end() || launch.launch() >= trace.launches().size()) {
      ++missing;
      continue;
    }
    const trace::LaunchView& view = trace.launches()[launch.launch()];
    kernel.problem = Difference(launch, view);
    if (!kernel.problem.empty()) return {};
    if (view.totals.blocks() != view.grid_blocks) {
      ++partial;
      continue;
    }
    pairs.push_back({CountersOf(launch), {*found->second, *view.program, machine}, Microseconds(launch)});
  }
  const auto launches = [](size_t count) { return absl::StrCat(count, count == 1 ? " launch" : " launches"); };
  if (missing != 0) kernel.notes.push_back(absl::StrCat("without recording in the trace: ", launches(missing)));
  if (partial != 0) kernel.notes.push_back(absl::StrCat("recorded only in part: ", launches(partial)));
  if (pairs.empty() && kernel.problem.empty()) kernel.problem = "no launch is on both sides";
  return pairs;
}

void SetTime(const Ladder& ladder, const std::vector<Pair>& pairs, KernelCorrelation& kernel) {
  double sum = 0;
  size_t timed = 0;
  for (const Pair& pair : pairs) {
    sum += pair.microseconds.value_or(0);
    timed += pair.microseconds.has_value() ? 1 : 0;
  }
  if (timed != 0 && timed == pairs.size() && std::isfinite(sum)) kernel.microseconds = sum / static_cast<double>(timed);
  kernel.is_short = kernel.microseconds.value_or(0) < ladder.least_microseconds;
}

KernelCorrelation Begin(const hw::Kernel& card, const trace::TraceReader& trace) {
  KernelCorrelation kernel;
  kernel.workload = card.workload();
  kernel.size = card.size();
  kernel.trace = std::filesystem::path(trace.name()).filename().string();
  kernel.trace_digest = trace.digest();
  kernel.card_launches = static_cast<size_t>(card.launch_size());
  return kernel;
}

}  // namespace

std::string KernelCorrelation::name() const { return size.empty() ? workload : absl::StrCat(workload, "-", size); }

KernelCorrelation NotReplayed(const Ladder& ladder, const hw::Kernel& card, const trace::TraceReader& trace,
                              const std::string& problem) {
  KernelCorrelation kernel = Begin(card, trace);
  kernel.problem = problem;
  kernel.is_short = true;
  Compared none;
  none.why = problem;
  kernel.compared.assign(ladder.comparisons.size(), none);
  return kernel;
}

KernelCorrelation Correlate(const Ladder& ladder, const hw::Kernel& card, const trace::TraceReader& trace,
                            const result::v1::Result& result, const machine::v1::Machine& machine) {
  KernelCorrelation kernel = Begin(card, trace);
  const std::vector<Pair> pairs = PairLaunches(card, trace, result, machine, kernel);
  if (!kernel.problem.empty()) return NotReplayed(ladder, card, trace, kernel.problem);
  kernel.launches = pairs.size();
  const bool machine_code = pairs.front().ours.program.proto().level() == trace::v1::LEVEL_MACHINE;
  SetTime(ladder, pairs, kernel);
  for (const Comparison& comparison : ladder.comparisons) {
    Compared compared = comparison.card.outputs ? CompareOutputs(card) : CompareCounters(comparison, pairs);
    if (compared.why.empty()) SetError(comparison, compared);
    const bool judged = comparison.bar.has_value() && compared.error.has_value() &&
                        (machine_code || !comparison.bar_of_machine_code) &&
                        !(kernel.is_short && ladder.rungs[comparison.rung].only_long);
    if (judged) compared.within = std::abs(*compared.error) <= *comparison.bar;
    if (compared.within == false && comparison.rung < kernel.first_beyond.value_or(ladder.rungs.size())) {
      kernel.first_beyond = comparison.rung;
    }
    const bool both = compared.ours.value_or(0) > 0 && compared.card.value_or(0) > 0;
    if (comparison.name == kCycles && both && !kernel.is_short) {
      kernel.log_ratio = std::log(*compared.ours / *compared.card);
    }
    kernel.compared.push_back(std::move(compared));
  }
  return kernel;
}

}  // namespace heddle::tools::correlate
