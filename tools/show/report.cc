#include "tools/show/report.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/table.h"
#include "tools/show/counters/streams_report.h"
#include "tools/show/instruction_report.h"
#include "tools/show/memory_report.h"
#include "tools/show/run_labels.h"
#include "tools/show/series_report.h"
#include "traces/base/printable.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

using result::v1::LaunchResult;
using result::v1::Result;

// The numbers of a row, of one launch or of all; means, if the row has several runs.
struct Numbers {
  uint64_t cycles = 0;
  uint64_t least = 0;  // cycles of the runs
  uint64_t most = 0;
  std::optional<double> ipc;
  std::optional<double> lane_activity;
  std::optional<double> depth_utilisation;
  std::optional<double> mixed_issues;  // of all issues, those of threads whose uniform registers differ
};

std::optional<double> ShareOfMixed(const result::v1::UniformValues& values, uint64_t issues) {
  if (issues == 0) return std::nullopt;
  return 100 * static_cast<double>(values.mixed_issues()) / static_cast<double>(issues);
}

Numbers OfLaunch(const LaunchResult& launch) {
  Numbers numbers;
  numbers.cycles = numbers.least = numbers.most = launch.cycles();
  if (launch.has_ipc()) numbers.ipc = launch.ipc();
  if (launch.has_lane_activity()) numbers.lane_activity = launch.lane_activity();
  if (launch.has_depth_utilisation()) numbers.depth_utilisation = launch.depth_utilisation();
  numbers.mixed_issues = ShareOfMixed(launch.uniform_values(), launch.warp_instructions());
  return numbers;
}

Numbers OfAllLaunches(const Result& result) {
  Numbers numbers;
  numbers.cycles = numbers.least = numbers.most = result.total().cycles();
  if (result.total().has_ipc()) numbers.ipc = result.total().ipc();
  if (result.total().has_lane_activity()) numbers.lane_activity = result.total().lane_activity();
  // Launches weigh by the scheduler cycles in which they had a block resident, which is what the share refers to.
  double sum = 0;
  double weight = 0;
  result::v1::UniformValues values;
  for (const LaunchResult& launch : result.launch()) {
    values.set_mixed_issues(values.mixed_issues() + launch.uniform_values().mixed_issues());
    if (!launch.has_depth_utilisation()) continue;
    const double cycles = static_cast<double>(launch.scheduler_cycles().total());
    sum += launch.depth_utilisation() * cycles;
    weight += cycles;
  }
  if (weight > 0) numbers.depth_utilisation = sum / weight;
  numbers.mixed_issues = ShareOfMixed(values, result.total().warp_instructions());
  return numbers;
}

std::string Percent(const std::optional<double>& number) {
  return number.has_value() ? absl::StrCat(Decimal(*number, 1), " %") : "-";
}

// The means of runs, of which a number is defined if it is for all.
Numbers Mean(const std::vector<Numbers>& runs) {
  Numbers mean = runs[0];
  const double count = static_cast<double>(runs.size());
  uint64_t cycles = 0;
  for (const Numbers& run : runs) {
    cycles += run.cycles;
    mean.least = std::min(mean.least, run.cycles);
    mean.most = std::max(mean.most, run.cycles);
  }
  mean.cycles = (cycles + runs.size() / 2) / runs.size();
  for (const auto number :
       {&Numbers::ipc, &Numbers::lane_activity, &Numbers::depth_utilisation, &Numbers::mixed_issues}) {
    double sum = 0;
    bool defined = true;
    for (const Numbers& run : runs) {
      defined &= (run.*number).has_value();
      sum += (run.*number).value_or(0);
    }
    mean.*number = defined ? std::optional<double>(sum / count) : std::nullopt;
  }
  return mean;
}

// One per row.
template <typename OfResult>
std::vector<Numbers> RowNumbers(const std::vector<Result>& results, const std::vector<Row>& rows, OfResult of_result) {
  std::vector<Numbers> numbers;
  for (const Row& row : rows) {
    std::vector<Numbers> runs;
    for (size_t i = row.first; i < row.first + row.size; ++i) runs.push_back(of_result(results[i]));
    numbers.push_back(Mean(runs));
  }
  return numbers;
}

// Half the range of the cycles in per cent of their mean.
std::string Spread(const Numbers& run) {
  if (run.cycles == 0) return "-";
  const double half = static_cast<double>(run.most - run.least) / 2;
  return absl::StrCat("+-", Decimal(100 * half / static_cast<double>(run.cycles), 1), " %");
}

std::string Rows(const Labels& labels, const std::vector<Numbers>& numbers, size_t baseline, bool jitter, int indent) {
  std::vector<Table::Column> columns = labels.Columns();
  columns.push_back({"cycles"});
  if (jitter) columns.push_back({"jitter"});
  for (const char* title : {"IPC", "lane activity", "depth used"}) columns.push_back({title});
  // Only regrouped warps of machine code have them.
  const bool mixed = std::ranges::any_of(numbers, [](const Numbers& run) { return run.mixed_issues.value_or(0) > 0; });
  if (mixed) columns.push_back({"mixed issues"});
  const bool compares = numbers.size() > 1;  // a run is no faster than itself
  if (compares) columns.push_back({"speed-up"});
  if (jitter) columns.push_back({"", Table::Align::kLeft});
  Table table(columns);
  for (size_t i = 0; i < numbers.size(); ++i) {
    std::vector<std::string> row = labels.Cells(i);
    const Numbers& run = numbers[i];
    row.push_back(WithThousands(run.cycles));
    if (jitter) row.push_back(Spread(run));
    row.push_back(run.ipc.has_value() ? Decimal(*run.ipc, 2) : "-");
    row.push_back(Percent(run.lane_activity));
    row.push_back(Percent(run.depth_utilisation));
    if (mixed) row.push_back(Percent(run.mixed_issues));
    if (compares) {
      const uint64_t base = numbers[baseline].cycles;
      const bool defined = run.cycles != 0 && base != 0;
      row.push_back(defined ? Decimal(static_cast<double>(base) / static_cast<double>(run.cycles), 2) : "-");
    }
    if (jitter) {
      const bool overlap = run.least <= numbers[baseline].most && numbers[baseline].least <= run.most;
      row.push_back(i != baseline && overlap ? "within jitter" : "");
    }
    table.AddRow(std::move(row));
  }
  return table.Text(indent);
}

result::v1::StallCycles StallsOf(const Result& result) {
  result::v1::StallCycles sum;
  for (const LaunchResult& launch : result.launch()) {
    const result::v1::StallCycles& one = launch.stalls();
    sum.set_total(sum.total() + one.total());
    sum.set_issued(sum.issued() + one.issued());
    sum.set_structural(sum.structural() + one.structural());
    sum.set_data_memory(sum.data_memory() + one.data_memory());
    sum.set_data_arithmetic(sum.data_arithmetic() + one.data_arithmetic());
    sum.set_control(sum.control() + one.control());
    sum.set_fetch(sum.fetch() + one.fetch());
    sum.set_policy(sum.policy() + one.policy());
    sum.set_barrier(sum.barrier() + one.barrier());
    sum.set_exit(sum.exit() + one.exit());
    sum.set_empty(sum.empty() + one.empty());
  }
  return sum;
}

// Per cent of the issue ports' cycles; empty for front ends that do not tell.
// Of runs that differ in their seed alone, the first is shown.
std::string StallRows(const Labels& labels, const std::vector<Result>& results, const std::vector<Row>& rows) {
  std::vector<Table::Column> columns = labels.Columns();
  for (const char* title :
       {"issued", "unit", "memory", "arithmetic", "control", "fetch", "policy", "barrier", "exit", "empty"}) {
    columns.push_back({title});
  }
  Table table(columns);
  bool any = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    const result::v1::StallCycles stalls = StallsOf(results[rows[i].first]);
    if (stalls.total() == 0) continue;
    any = true;
    std::vector<std::string> row = labels.Cells(i);
    for (const uint64_t cycles :
         {stalls.issued(), stalls.structural(), stalls.data_memory(), stalls.data_arithmetic(), stalls.control(),
          stalls.fetch(), stalls.policy(), stalls.barrier(), stalls.exit(), stalls.empty()}) {
      row.push_back(Percent(100.0 * static_cast<double>(cycles) / static_cast<double>(stalls.total())));
    }
    table.AddRow(std::move(row));
  }
  if (!any) return "";
  return absl::StrCat(
      "\nWhere the cycles of the issue ports went: issued, or what the warp closest to issue waited for\n",
      table.Text(0));
}

std::string Count(uint64_t count, const char* singular, const char* plural) {
  return absl::StrCat(WithThousands(count), " ", count == 1 ? singular : plural);
}

std::string Title(const Result& result) {
  std::vector<std::string> kernels;
  for (const LaunchResult& launch : result.launch()) {
    const std::string name = trace::ShortKernelName(launch.kernel());
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

// Who counted a launch's registers, if somebody did: of PTX their number is an estimate.
std::string RegisterSource(const Result& result, const LaunchResult& launch) {
  const auto& overrides = result.provenance().override();
  const std::string count = absl::StrCat("=", launch.registers_per_thread());
  for (const std::string& name : {launch.kernel(), trace::ShortKernelName(launch.kernel())}) {
    if (std::find(overrides.begin(), overrides.end(), absl::StrCat("registers=", name, count)) != overrides.end()) {
      return "the command line";
    }
  }
  constexpr absl::string_view kAssembler = "registers=assembler:";
  if (absl::StartsWith(launch.code(), "machine code")) return "the assembler";
  for (const std::string& one : overrides) {
    if (absl::StartsWith(one, kAssembler)) return absl::StrCat("the assembler for ", one.substr(kAssembler.size()));
  }
  return "";
}

// "6 per SM (bounded by registers; 4 with 8 registers more per thread, 8 with 8 fewer)", or "6 per SM (bounded by
// registers; 32 registers per thread by the assembler)".
std::string Residency(const Result& result, const LaunchResult& launch) {
  std::string text = absl::StrCat(launch.blocks_per_sm(), " per SM (bounded by ", launch.residency_limit());
  if (const std::string source = RegisterSource(result, launch); !source.empty()) {
    return absl::StrCat(text, "; ", launch.registers_per_thread(), " registers per thread by ", source, ")");
  }
  const uint64_t more = launch.blocks_per_sm_more_registers();
  const uint64_t fewer = launch.blocks_per_sm_fewer_registers();
  if (more == launch.blocks_per_sm() && fewer == more) return text + "; also with 8 registers more or fewer)";
  return absl::StrCat(text, "; ", more == 0 ? "none" : absl::StrCat(more), " with 8 registers more per thread, ", fewer,
                      " with 8 fewer)");
}

// The residency of every kernel, once if its launches agree.
std::string Residencies(const Result& result) {
  std::vector<std::string> lines;
  for (const LaunchResult& launch : result.launch()) {
    std::string line =
        absl::StrCat("Blocks of ", trace::ShortKernelName(launch.kernel()), ": ", Residency(result, launch), ".\n");
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  }
  constexpr size_t kMost = 4;  // then --per-launch has them
  std::string text = "\n";
  for (size_t i = 0; i < std::min(lines.size(), kMost); ++i) text += lines[i];
  if (lines.size() > kMost) absl::StrAppend(&text, "And ", lines.size() - kMost, " more, see --per-launch.\n");
  return text;
}

}  // namespace

std::string ResultReport(const std::vector<Result>& results, bool per_launch, const CounterChoice& counters) {
  if (results.empty()) return "";
  const std::vector<Row> rows = GroupBySeeds(results);
  const bool jitter = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.size > 1; });
  const Labels labels = LabelRuns(results, rows);
  const size_t baseline = Baseline(results, rows);
  std::string text = absl::StrCat(Title(results[0]), "\n",
                                  Rows(labels, RowNumbers(results, rows, OfAllLaunches), baseline, jitter, 0));
  if (rows.size() > 1) {
    absl::StrAppend(&text, "\nSpeed-up: cycles of ", labels.divergence[baseline], " with ", labels.scheduler[baseline],
                    " divided by cycles of the run.\n");
  }
  text += StallRows(labels, results, rows);
  if (jitter) {
    absl::StrAppend(&text, "\nMeans of ", rows[0].size, " runs with up to ",
                    Count(results[0].provenance().machine().memory().hierarchy().jitter_cycles(), "cycle", "cycles"),
                    " of noise on each reply of the memory; the jitter is half the range of the cycles. Within jitter: "
                    "the ranges of the run and of that which it is compared with overlap.\n");
  }
  absl::StrAppend(&text, Residencies(results[0]));

  std::vector<Result> shown;  // of runs that differ in their seed alone, the first
  std::vector<std::vector<std::string>> cells;
  for (size_t i = 0; i < rows.size(); ++i) {
    shown.push_back(results[rows[i].first]);
    cells.push_back(labels.Cells(i));
  }
  text += PolicyCountersReport(shown, labels.Columns(), cells, counters);
  if (const std::string memory = MemoryReport(shown, labels.Columns(), cells); !memory.empty()) {
    absl::StrAppend(&text, "\n", memory);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string run = absl::StrJoin(cells[i], " ");
    absl::StrAppend(&text, StreamsReport(shown[i], run), InstructionReport(shown[i], run),
                    SeriesReport(shown[i], run, counters));
  }

  if (per_launch) {
    for (int i = 0; i < results[0].launch_size(); ++i) {
      const LaunchResult& launch = results[0].launch(i);
      const uint64_t threads_per_block = launch.blocks() == 0 ? 0 : launch.threads() / launch.blocks();
      absl::StrAppend(&text, "\nLaunch ", launch.launch(), ": ", trace::ShortKernelName(launch.kernel()), ", ",
                      Count(launch.blocks(), "block", "blocks"), " of ", Count(threads_per_block, "thread", "threads"),
                      ", ", Residency(results[0], launch), "\n");
      const auto of_launch = [i](const Result& result) { return OfLaunch(result.launch(i)); };
      absl::StrAppend(&text, Rows(labels, RowNumbers(results, rows, of_launch), baseline, jitter, 2));
    }
  }

  std::vector<std::string> notes;
  for (const Result& result : results) {
    for (const std::string& note : result.note()) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  if (!notes.empty()) text += '\n';
  constexpr size_t kMostOfNote = 2000;  // the JSON has the rest
  for (const std::string& note : notes) absl::StrAppend(&text, "Note: ", CutText(note, kMostOfNote), "\n");
  return text;
}

}  // namespace heddle::tools
