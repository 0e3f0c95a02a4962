// `heddle trace diff`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/inputs/trace_file.h"
#include "traces/base/printable.h"
#include "traces/format/edit/compare.h"
#include "traces/format/edit/compare_levels.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

constexpr char kDiffFooter[] =
    "\nCompares launches, programs, and the decisions and addresses of every thread, however they are stored; prints "
    "the\n"
    "first difference by launch, block, thread and instruction. Traces of different levels of code, such as PTX and\n"
    "machine code, are compared by kernels' names, source lines and counts. Exit status 0 if there is no difference,\n"
    "else 1.";

using trace::KernelCounts;
using trace::LineCounts;
using Json = nlohmann::ordered_json;
using enum Table::Align;

// A number of a kernel, both sides of it.
struct SideCount {
  const char* key;
  const char* title;
  const uint64_t (KernelCounts::*get)[2];
};
constexpr SideCount kSideCounts[] = {
    {"launches", "launches", &KernelCounts::launches},
    {"blocks", "blocks recorded", &KernelCounts::blocks},
    {"threads", "threads", &KernelCounts::threads},
    {"instructions", "static instructions", &KernelCounts::instructions},
    {"registers", "registers per thread", &KernelCounts::registers},
    {"thread_instructions", "thread-instructions", &KernelCounts::thread_instructions},
    {"accesses", "accesses", &KernelCounts::accesses},
};

// What traces of different levels have in common and what not, kernel by kernel.
std::string LevelsText(const std::string& a, const std::string& b, const std::vector<KernelCounts>& kernels) {
  std::string text = absl::StrCat("A: ", a, "\nB: ", b, "\n");
  for (const KernelCounts& kernel : kernels) {
    absl::StrAppend(&text, "\nKernel ", trace::ShortKernelName(kernel.kernel), "\n");
    const bool in_a = kernel.launches[0] != 0;
    if (!in_a || kernel.launches[1] == 0) {
      absl::StrAppend(&text, "  is in ", in_a ? "A" : "B", " only\n");
      continue;
    }
    absl::StrAppend(&text, "  A: ", kernel.code[0], "\n  B: ", kernel.code[1], "\n\n");
    Table counts({{"number", kLeft}, {"A"}, {"B"}});
    for (const SideCount& count : kSideCounts) {
      const auto& sides = kernel.*count.get;
      counts.AddRow({count.title, WithThousands(sides[0]), WithThousands(sides[1])});
    }
    Table lines({{"source", kLeft}, {"static instructions A"}, {"B"}, {"thread-instructions A"}, {"B"}});
    for (const LineCounts& line : kernel.lines) {
      lines.AddRow({line.place, WithThousands(line.instructions[0]), WithThousands(line.instructions[1]),
                    WithThousands(line.thread_instructions[0]), WithThousands(line.thread_instructions[1])});
    }
    absl::StrAppend(&text, counts.Text(2), "\n", lines.Text(2));
  }
  return PrintableText(text);
}

Json LevelsJson(const std::vector<KernelCounts>& kernels) {
  Json list = Json::array();
  for (const KernelCounts& kernel : kernels) {
    Json one = {{"kernel", kernel.kernel}, {"code", kernel.code}};
    for (const SideCount& count : kSideCounts) one[count.key] = kernel.*count.get;
    one["lines"] = Json::array();
    for (const LineCounts& line : kernel.lines) {
      one["lines"].push_back({{"source", line.place},
                              {"instructions", line.instructions},
                              {"thread_instructions", line.thread_instructions}});
    }
    list.push_back(std::move(one));
  }
  return list;
}

Json DiffJson(const std::string& a, const std::string& b, const std::optional<trace::TraceDifference>& difference) {
  Json json = {{"schema", 1}, {"files", {a, b}}, {"equal", !difference.has_value()}};
  if (!difference.has_value()) return json;
  Json& first = json["difference"];
  if (difference->launch.has_value()) first["launch"] = *difference->launch;
  if (difference->block.has_value()) first["block"] = *difference->block;
  if (difference->thread.has_value()) first["thread"] = *difference->thread;
  if (difference->instruction.has_value()) first["instruction"] = *difference->instruction;
  if (difference->pc.has_value()) first["pc"] = uint64_t{*difference->pc} * 8;
  first["what"] = difference->what;
  return json;
}

// Exit status 1 if the traces differ.
int Compare(const std::string& a, const std::string& b, bool json) {
  const auto one = OpenTrace(a);
  if (!one.ok()) return ReportError(TraceErrorStatus(one.status()), one.status());
  const auto other = OpenTrace(b);
  if (!other.ok()) return ReportError(TraceErrorStatus(other.status()), other.status());
  Progress progress("Comparing", true);
  const auto update = [&progress](uint64_t done, uint64_t total) { progress.Update(done, total); };
  const auto difference = trace::CompareTraces(**one, **other, update);
  progress.Clear();
  if (!difference.ok()) return ReportError(kFailed, difference.status());
  std::vector<KernelCounts> kernels;
  const bool levels_differ = difference->has_value() && (*difference)->levels_differ;
  if (levels_differ) {
    auto counted = trace::CompareByLine(**one, **other, update);
    progress.Clear();
    if (!counted.ok()) return ReportError(kFailed, counted.status());
    kernels = *std::move(counted);
  }
  std::string text;
  if (json) {
    Json found = DiffJson(a, b, *difference);
    if (levels_differ) found["kernel"] = LevelsJson(kernels);
    text = JsonLine(found) + "\n";
  } else if (difference->has_value()) {
    text = absl::StrCat((*difference)->Place(), ": ", (*difference)->what, "\n");
    if (levels_differ) text += LevelsText((*one)->name(), (*other)->name(), kernels);
  } else {
    text = absl::StrCat("equal: ", (*one)->launches().size(), " launches, ",
                        WithThousands((*one)->index().thread_instructions()), " thread-instructions, ",
                        WithThousands((*one)->index().accesses()), " accesses\n");
  }
  if (const absl::Status written = WriteStandardOutput(text); !written.ok()) return ReportError(kFailed, written);
  return difference->has_value() ? kFailed : kSuccess;
}

class TraceDiff final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("A", trace_, "Trace file")->required();
    command.add_option("B", other_, "Trace file")->required();
    command.add_flag("--json", json_, "Print JSON");
  }

  int Run() override { return Compare(trace_, other_, json_); }

 private:
  std::string trace_;
  std::string other_;
  bool json_ = false;
};

HEDDLE_COMMAND(TraceDiff, .name = "trace diff", .place = 5, .summary = "Compare two traces", .footer = kDiffFooter);

}  // namespace
}  // namespace heddle::tools
