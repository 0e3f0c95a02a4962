// `heddle trace check`.
#include "traces/format/read/check.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/inputs/trace_file.h"

namespace heddle::tools {
namespace {

const char* SeverityName(const trace::Finding& finding) {
  return finding.severity == trace::Finding::Severity::kError ? "error" : "warning";
}

nlohmann::ordered_json ReportJson(const std::string& path, const trace::CheckReport& report) {
  nlohmann::ordered_json json = {{"schema", 1},
                                 {"file", path},
                                 {"ok", report.ok()},
                                 {"chunks", report.chunks},
                                 {"threads", report.threads},
                                 {"thread_instructions", report.thread_instructions},
                                 {"accesses", report.accesses},
                                 {"findings", nlohmann::ordered_json::array()}};
  for (const trace::Finding& finding : report.findings) {
    json["findings"].push_back({{"severity", SeverityName(finding)},
                                {"rule", finding.rule},
                                {"place", finding.place},
                                {"message", finding.message},
                                {"count", finding.count}});
    if (finding.launches != 0) json["findings"].back()["launches"] = finding.launches;
  }
  return json;
}

// " (and 11,999 more, in 2,000 launches)".
std::string More(const trace::Finding& finding) {
  if (finding.count < 2) return "";
  return absl::StrCat(" (and ", WithThousands(finding.count - 1), " more",
                      finding.launches > 1 ? absl::StrCat(", in ", WithThousands(finding.launches), " launches") : "",
                      ")");
}

std::string ReportText(const std::string& path, const trace::CheckReport& report) {
  std::string text;
  for (const trace::Finding& finding : report.findings) {
    absl::StrAppend(&text, SeverityName(finding), ": ", finding.rule, ": ", finding.place, ": ", finding.message,
                    More(finding), "\n");
  }
  absl::StrAppend(&text, path, ": ", report.ok() ? "ok" : "not ok", " (", WithThousands(report.chunks), " chunks, ",
                  WithThousands(report.threads), " threads, ", WithThousands(report.thread_instructions),
                  " thread-instructions, ", WithThousands(report.accesses), " accesses)\n");
  return text;
}

// Exit status 1 if the trace breaks a rule of the format, 2 if it is not there.
int CheckOne(const std::string& path, bool json) {
  const auto reader = OpenTrace(path);
  if (!reader.ok()) return ReportError(TraceErrorStatus(reader.status()), reader.status());
  const absl::StatusOr<trace::CheckReport> report = trace::CheckTrace(**reader);
  if (!report.ok()) return ReportError(kFailed, report.status());
  const absl::Status written =
      WriteStandardOutput(json ? JsonLine(ReportJson(path, *report)) + "\n" : ReportText((*reader)->name(), *report));
  if (!written.ok()) return ReportError(kFailed, written);
  return report->ok() ? kSuccess : kFailed;
}

class TraceCheck final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("TRACE", traces_, "Trace files")->required();
    command.add_flag("--json", json_, "Print JSON, one line per trace");
  }

  int Run() override {
    int status = kSuccess;
    // A damaged trace says nothing about the others.
    for (const std::string& path : traces_) status = std::max(status, CheckOne(path, json_));
    return status;
  }

 private:
  std::vector<std::string> traces_;
  bool json_ = false;
};

HEDDLE_COMMAND(TraceCheck, .name = "trace check", .place = 2,
               .summary = "Verify everything that can be verified without replaying");

}  // namespace
}  // namespace heddle::tools
