#include "absl/strings/str_cat.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/heddle/trace_commands.h"
#include "tools/inputs/trace_file.h"
#include "traces/format/edit/compare.h"

namespace heddle::tools {
namespace {

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

}  // namespace

int TraceDiffCommand(const std::string& a, const std::string& b, bool json) {
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

}  // namespace heddle::tools
