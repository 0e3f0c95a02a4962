// `heddle trace diff`.
#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/inputs/trace_file.h"
#include "traces/format/edit/compare.h"

namespace heddle::tools {
namespace {

constexpr char kDiffFooter[] =
    "\nCompares launches, programs, and the decisions and addresses of every thread, however they are stored; prints "
    "the\n"
    "first difference by launch, block, thread and instruction. Exit status 0 if there is none, else 1.";

nlohmann::ordered_json DiffJson(const std::string& a, const std::string& b,
                                const std::optional<trace::TraceDifference>& difference) {
  nlohmann::ordered_json json = {{"schema", 1}, {"files", {a, b}}, {"equal", !difference.has_value()}};
  if (!difference.has_value()) return json;
  nlohmann::ordered_json& first = json["difference"];
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
  const auto difference = trace::CompareTraces(
      **one, **other, [&progress](uint64_t done, uint64_t total) { progress.Update(done, total); });
  progress.Clear();
  if (!difference.ok()) return ReportError(kFailed, difference.status());
  std::string text;
  if (json) {
    text = JsonLine(DiffJson(a, b, *difference)) + "\n";
  } else if (difference->has_value()) {
    text = absl::StrCat((*difference)->Place(), ": ", (*difference)->what, "\n");
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
