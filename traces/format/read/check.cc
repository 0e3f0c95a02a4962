#include "traces/format/read/check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/program/post_dominators.h"
#include "traces/format/read/findings.h"
#include "traces/format/read/launch_check.h"

namespace heddle::trace {
namespace {

std::string BlockName(uint32_t block) {
  return block == kNoBlock ? "the function's end" : absl::StrCat("block ", block);
}

void CheckProgram(const Program& program, Findings& findings) {
  const std::vector<uint32_t> computed = ComputePostDominators(program);
  for (uint32_t b = 0; b < program.blocks().size(); ++b) {
    const uint32_t stored = program.block(b).post_dominator;
    if (stored == computed[b]) continue;
    findings.Add(
        Finding::Severity::kError, "post-dominator",
        [&] { return absl::StrCat("program ", program.id(), " (", BriefKernelName(program.name()), "), block ", b); },
        [&] {
          return absl::StrCat("the file says ", BlockName(stored), ", the control flow says ", BlockName(computed[b]));
        });
  }
}

}  // namespace

bool CheckReport::ok() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.severity == Finding::Severity::kError; });
}

absl::StatusOr<CheckReport> CheckTrace(const TraceReader& reader) {
  CheckReport report;
  Findings findings(report.findings);
  const absl::Status digest = reader.VerifyDigest();
  if (absl::IsDataLoss(digest)) {
    findings.Add(
        Finding::Severity::kError, "digest", [] { return "file"; }, [&] { return std::string(digest.message()); });
  } else if (!digest.ok()) {
    return digest;
  }
  if (reader.unprintable_texts() != 0) {
    findings.Add(
        Finding::Severity::kError, "text", [] { return "file"; },
        [&] { return absl::StrCat(reader.first_unprintable_text(), ": texts have no control characters"); });
    report.findings.back().count = reader.unprintable_texts();
  }
  for (const Program& program : reader.programs()) {
    findings.StartProgram();
    CheckProgram(program, findings);
  }
  for (const LaunchView& launch : reader.launches()) {
    findings.StartLaunch();
    HEDDLE_RETURN_IF_ERROR(LaunchChecker(reader, launch, findings, report).Run());
  }
  // A frame that cannot be read has no digest; if it is a chunk's, its launch has told of it.
  const auto told_again = [&digest](const Finding& finding) {
    return finding.rule != "digest" && finding.message == digest.message();
  };
  if (!digest.ok() && std::any_of(report.findings.begin(), report.findings.end(), told_again)) {
    report.findings.erase(report.findings.begin());
  }
  return report;
}

}  // namespace heddle::trace
