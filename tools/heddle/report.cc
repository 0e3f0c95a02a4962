#include "tools/heddle/report.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/heddle/memory_report.h"
#include "tools/heddle/table.h"

namespace heddle::tools {
namespace {

using result::v1::LaunchResult;
using result::v1::PolicyChoice;
using result::v1::Result;

// The numbers of a row, of one launch or of all.
struct Numbers {
  uint64_t cycles = 0;
  std::optional<double> ipc;
  std::optional<double> lane_activity;
  std::optional<double> depth_utilisation;
};

Numbers OfLaunch(const LaunchResult& launch) {
  Numbers numbers;
  numbers.cycles = launch.cycles();
  if (launch.has_ipc()) numbers.ipc = launch.ipc();
  if (launch.has_lane_activity()) numbers.lane_activity = launch.lane_activity();
  if (launch.has_depth_utilisation()) numbers.depth_utilisation = launch.depth_utilisation();
  return numbers;
}

Numbers OfAllLaunches(const Result& result) {
  Numbers numbers;
  numbers.cycles = result.total().cycles();
  if (result.total().has_ipc()) numbers.ipc = result.total().ipc();
  if (result.total().has_lane_activity()) numbers.lane_activity = result.total().lane_activity();
  // Launches weigh by the scheduler cycles in which they had a block resident, which is what the share refers to.
  double sum = 0;
  double weight = 0;
  for (const LaunchResult& launch : result.launch()) {
    if (!launch.has_depth_utilisation()) continue;
    const double cycles = static_cast<double>(launch.scheduler_cycles().total());
    sum += launch.depth_utilisation() * cycles;
    weight += cycles;
  }
  if (weight > 0) numbers.depth_utilisation = sum / weight;
  return numbers;
}

// Only parameters that are not the policy's defaults tell runs apart, but a result has no defaults: those in which the
// runs of this report differ are shown.
std::string Label(const PolicyChoice& choice, const std::vector<const PolicyChoice*>& all) {
  std::vector<std::string> shown;
  for (const auto& [name, value] :
       std::map<std::string, std::string>(choice.parameter().begin(), choice.parameter().end())) {
    const bool differs = std::any_of(all.begin(), all.end(), [&](const PolicyChoice* other) {
      const auto it = other->parameter().find(name);
      return other->name() == choice.name() && it != other->parameter().end() && it->second != value;
    });
    if (differs) shown.push_back(absl::StrCat(name, "=", value));
  }
  return shown.empty() ? choice.name() : absl::StrCat(choice.name(), ":", absl::StrJoin(shown, ","));
}

std::string Percent(const std::optional<double>& number) {
  return number.has_value() ? absl::StrCat(Decimal(*number, 1), " %") : "-";
}

struct Labels {
  std::vector<std::string> divergence, scheduler, dispatch;
  bool show_dispatch = false;
};

Labels LabelRuns(const std::vector<Result>& results) {
  std::vector<const PolicyChoice*> divergence, scheduler, dispatch;
  for (const Result& result : results) {
    divergence.push_back(&result.divergence());
    scheduler.push_back(&result.scheduler());
    dispatch.push_back(&result.dispatch());
  }
  Labels labels;
  for (const Result& result : results) {
    labels.divergence.push_back(Label(result.divergence(), divergence));
    labels.scheduler.push_back(Label(result.scheduler(), scheduler));
    labels.dispatch.push_back(Label(result.dispatch(), dispatch));
    labels.show_dispatch |= labels.dispatch.back() != labels.dispatch.front();
  }
  return labels;
}

size_t Baseline(const std::vector<Result>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].divergence().name() == "pdom") return i;
  }
  return 0;
}

std::string Rows(const Labels& labels, const std::vector<Numbers>& numbers, size_t baseline, int indent) {
  std::vector<Table::Column> columns = {{"divergence", Table::Align::kLeft}, {"scheduler", Table::Align::kLeft}};
  if (labels.show_dispatch) columns.push_back({"dispatch", Table::Align::kLeft});
  for (const char* title : {"cycles", "IPC", "lane activity", "depth used", "speed-up"}) columns.push_back({title});
  Table table(columns);
  for (size_t i = 0; i < numbers.size(); ++i) {
    std::vector<std::string> row = {labels.divergence[i], labels.scheduler[i]};
    if (labels.show_dispatch) row.push_back(labels.dispatch[i]);
    const Numbers& run = numbers[i];
    row.push_back(WithThousands(run.cycles));
    row.push_back(run.ipc.has_value() ? Decimal(*run.ipc, 2) : "-");
    row.push_back(Percent(run.lane_activity));
    row.push_back(Percent(run.depth_utilisation));
    const uint64_t base = numbers[baseline].cycles;
    const bool defined = run.cycles != 0 && base != 0;
    row.push_back(defined ? Decimal(static_cast<double>(base) / static_cast<double>(run.cycles), 2) : "-");
    table.AddRow(std::move(row));
  }
  return table.Text(indent);
}

std::string Count(uint64_t count, const char* singular, const char* plural) {
  return absl::StrCat(WithThousands(count), " ", count == 1 ? singular : plural);
}

std::string Title(const Result& result) {
  std::vector<std::string> kernels;
  for (const LaunchResult& launch : result.launch()) {
    const std::string name = ShortKernelName(launch.kernel());
    if (std::find(kernels.begin(), kernels.end(), name) == kernels.end()) kernels.push_back(name);
  }
  constexpr size_t kMost = 3;  // names; then the title has to end
  std::string names = absl::StrJoin(kernels.begin(), kernels.begin() + std::min(kernels.size(), kMost), ", ");
  if (kernels.size() > kMost) absl::StrAppend(&names, " and ", kernels.size() - kMost, " more");
  return absl::StrCat(
      kernels.size() == 1 ? "Kernel " : "Kernels ", names, " (", Count(result.launch_size(), "launch", "launches"),
      ", ", Count(result.total().thread_instructions(), "thread-instruction", "thread-instructions"), "), machine ",
      result.provenance().machine().name(), ", trace ", result.provenance().trace_digest().substr(0, 12), "\n");
}

}  // namespace

std::string ResultReport(const std::vector<Result>& results, bool per_launch) {
  if (results.empty()) return "";
  const Labels labels = LabelRuns(results);
  const size_t baseline = Baseline(results);

  std::vector<Numbers> totals;
  for (const Result& result : results) totals.push_back(OfAllLaunches(result));
  std::string text = absl::StrCat(Title(results[0]), "\n", Rows(labels, totals, baseline, 0));
  if (results.size() > 1) {
    absl::StrAppend(&text, "\nSpeed-up: cycles of ", labels.divergence[baseline], " with ", labels.scheduler[baseline],
                    " divided by cycles of the run.\n");
  }

  std::vector<std::string> names;
  for (size_t i = 0; i < results.size(); ++i) {
    names.push_back(absl::StrCat(labels.divergence[i], " ", labels.scheduler[i]));
    if (labels.show_dispatch) absl::StrAppend(&names.back(), " ", labels.dispatch[i]);
  }
  if (const std::string memory = MemoryReport(results, names); !memory.empty()) absl::StrAppend(&text, "\n", memory);

  if (per_launch) {
    for (int i = 0; i < results[0].launch_size(); ++i) {
      const LaunchResult& launch = results[0].launch(i);
      const uint64_t threads_per_block = launch.blocks() == 0 ? 0 : launch.threads() / launch.blocks();
      absl::StrAppend(&text, "\nLaunch ", launch.launch(), ": ", ShortKernelName(launch.kernel()), ", ",
                      Count(launch.blocks(), "block", "blocks"), " of ", Count(threads_per_block, "thread", "threads"),
                      ", ", launch.blocks_per_sm(), " per SM (bounded by ", launch.residency_limit(), ")\n");
      std::vector<Numbers> numbers;
      for (const Result& result : results) numbers.push_back(OfLaunch(result.launch(i)));
      absl::StrAppend(&text, Rows(labels, numbers, baseline, 2));
    }
  }

  std::vector<std::string> notes;
  for (const Result& result : results) {
    for (const std::string& note : result.note()) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  if (!notes.empty()) text += "\n";
  for (const std::string& note : notes) absl::StrAppend(&text, "Note: ", note, "\n");
  return text;
}

}  // namespace heddle::tools
