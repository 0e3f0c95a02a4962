#include "tools/show/instruction_report.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/table.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

using result::v1::InstructionCounters;
using result::v1::LaunchResult;

// What a port can lose a cycle to, under either front end.
constexpr std::array kLosses = {"unit",   "memory",  "arithmetic", "control", "fetch",
                                "policy", "barrier", "stall",      "memory",  "idle"};
using Losses = std::array<uint64_t, kLosses.size()>;

Losses LossesOf(const InstructionCounters& one) {
  const result::v1::StallCycles& stalls = one.stalls();
  const result::v1::SchedulerCycles& single_pipeline = one.scheduler_cycles();
  return {stalls.structural(),      stalls.data_memory(),  stalls.data_arithmetic(), stalls.control(),
          stalls.fetch(),           stalls.policy(),       stalls.barrier(),         single_pipeline.stall(),
          single_pipeline.memory(), single_pipeline.idle()};
}

// An instruction over the launches of its kernel.
struct Row {
  const InstructionCounters* first = nullptr;  // of them: what it is
  uint64_t issues = 0;
  uint64_t lanes = 0;  // active, of all issues
  uint64_t splits = 0;
  uint64_t issued = 0;  // port cycles
  uint64_t lost = 0;
  Losses losses{};
  uint64_t accesses = 0;
  uint64_t transactions = 0;
  uint64_t returns = 0;
  uint64_t load_to_use = 0;
};

struct Kernel {
  std::map<uint64_t, Row> rows;  // by PC
  uint64_t cycles = 0;           // of all ports
};

void Add(const LaunchResult& launch, Kernel& kernel) {
  kernel.cycles += launch.has_stalls() ? launch.stalls().total() : launch.scheduler_cycles().total();
  for (const InstructionCounters& one : launch.instruction_profile().instruction()) {
    Row& row = kernel.rows[one.pc()];
    if (row.first == nullptr) row.first = &one;
    row.issues += one.issues();
    row.lanes += one.thread_instructions();
    row.splits += one.splits();
    row.issued += one.stalls().issued() + one.scheduler_cycles().issued();
    const Losses losses = LossesOf(one);
    for (size_t i = 0; i < losses.size(); ++i) {
      row.losses[i] += losses[i];
      row.lost += losses[i];
    }
    row.accesses += one.memory().data_accesses();
    row.transactions += one.memory().transactions();
    row.returns += one.memory().returns();
    row.load_to_use += one.memory().load_to_use_sum();
  }
}

std::string SharePerCent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return absl::StrCat(Decimal(100 * static_cast<double>(part) / static_cast<double>(whole), 1), " %");
}

std::string Mean(uint64_t sum, uint64_t count) {
  return count == 0 ? "-" : Decimal(static_cast<double>(sum) / static_cast<double>(count), 1);
}

std::string Source(const InstructionCounters& one) {
  if (one.source_file().empty() || one.source_line() == 0) return "-";
  return absl::StrCat(one.source_file(), ":", one.source_line());
}

std::string KernelTable(const Kernel& kernel, size_t most) {
  std::vector<const Row*> rows;
  bool memory = false;
  for (const auto& [pc, row] : kernel.rows) {
    rows.push_back(&row);
    memory |= row.accesses != 0;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row* a, const Row* b) { return a->issued + a->lost > b->issued + b->lost; });
  rows.resize(std::min(rows.size(), most));
  std::vector<Table::Column> columns = {{"pc"},
                                        {"instruction", Table::Align::kLeft},
                                        {"source", Table::Align::kLeft},
                                        {"issues"},
                                        {"lanes"},
                                        {"splits"},
                                        {"issuing"},
                                        {"lost"},
                                        {"mostly to", Table::Align::kLeft}};
  if (memory) {
    columns.push_back({"lines"});
    columns.push_back({"load to use, cycles"});
  }
  Table table(columns);
  for (const Row* row : rows) {
    const auto worst =
        static_cast<size_t>(std::max_element(row->losses.begin(), row->losses.end()) - row->losses.begin());
    std::vector<std::string> cells = {absl::StrCat(row->first->pc()),
                                      row->first->text(),
                                      Source(*row->first),
                                      WithThousands(row->issues),
                                      Mean(row->lanes, row->issues),
                                      WithThousands(row->splits),
                                      SharePerCent(row->issued, kernel.cycles),
                                      SharePerCent(row->lost, kernel.cycles),
                                      row->lost == 0 ? "-" : kLosses[worst]};
    if (memory) {
      cells.push_back(Mean(row->transactions, row->accesses));
      cells.push_back(Mean(row->load_to_use, row->returns));
    }
    table.AddRow(std::move(cells));
  }
  return table.Text();
}

}  // namespace

std::string InstructionReport(const result::v1::Result& result, const std::string& run, size_t most) {
  std::vector<std::string> names;  // in the order of their first launch
  std::map<std::string, Kernel> kernels;
  for (const LaunchResult& launch : result.launch()) {
    if (!launch.has_instruction_profile()) continue;
    if (!kernels.contains(launch.kernel())) names.push_back(launch.kernel());
    Add(launch, kernels[launch.kernel()]);
  }
  std::string text;
  for (const std::string& name : names) {
    const Kernel& kernel = kernels.at(name);
    const size_t shown = std::min(kernel.rows.size(), most);
    absl::StrAppend(&text, "\nInstructions of ", trace::ShortKernelName(name), " under ", run, ": the ", shown, " of ",
                    kernel.rows.size(), " that took most of the issue ports' cycles\n", KernelTable(kernel, most));
  }
  return text;
}

}  // namespace heddle::tools
