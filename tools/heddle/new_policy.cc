// `heddle new-policy`: a starting file for a policy of one's own.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/warp_scheduler.h"
#include "tools/console/command.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/heddle/policy_templates.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

namespace heddle::tools {
namespace {

// "two_level" -> "TwoLevel".
std::string ClassName(std::string_view name) {
  std::string text;
  bool begins = true;
  for (const char c : name) {
    if (c != '_') text += begins ? absl::ascii_toupper(c) : c;
    begins = c == '_';
  }
  return text;
}

bool IsTaken(const std::string& name) {
  return replay::DivergenceRegistry::Get().entries().contains(name) ||
         replay::SchedulerRegistry::Get().entries().contains(name) ||
         replay::DispatchRegistry::Get().entries().contains(name) ||
         replay::FetchRegistry::Get().entries().contains(name) ||
         replay::MemoryRegistry::Get().entries().contains(name);
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  HEDDLE_RETURN_IF_ERROR(file.Write(text));
  return file.Commit();
}

// Writes FOLDER/NAME.cc, a policy of the seam ("divergence", "scheduler", "fetch", "dispatch", "memory") that works as
// it is, and FOLDER/NAME_test.cc. Files that exist are not overwritten, names that are taken are refused.
int WritePolicy(const std::string& seam, const std::string& name, const std::string& folder) {
  if (PolicyTemplate(seam) == nullptr) {
    return ReportError(kWrongUsage,
                       UnknownNameMessage("seam", seam, {"dispatch", "divergence", "fetch", "memory", "scheduler"}));
  }
  if (!replay::IsPolicyName(name)) {
    return ReportError(kWrongUsage,
                       absl::StrCat("new-policy: \"", name,
                                    "\" is no name for a policy: lower-case letters, digits and _, a letter "
                                    "first"));
  }
  if (IsTaken(name)) {
    return ReportError(kWrongUsage, absl::StrCat("new-policy: there is a policy ", name, " already (`heddle policies ",
                                                 name, "`): choose another name"));
  }
  const std::filesystem::path base = std::filesystem::path(folder.empty() ? "." : folder) / name;
  const std::vector<std::string> paths = {base.string() + ".cc", base.string() + "_test.cc"};
  for (const std::string& path : paths) {
    if (std::filesystem::exists(path)) {
      return ReportError(kWrongUsage, absl::StrCat("new-policy: ", path, " is there already, and is left as it is"));
    }
  }
  std::error_code error;
  std::filesystem::create_directories(base.parent_path(), error);
  if (error) {
    return ReportError(kFailed, absl::StrCat("new-policy: --folder ", folder, ": cannot be made: ", error.message()));
  }
  const auto text = [&](const char* form) {
    return absl::StrReplaceAll(form, {{"@NAME@", name},
                                      {"@CLASS@", ClassName(name)},
                                      {"@SEAM@", seam},
                                      {"@MACHINE@", seam == "memory" ? "baws_gtx480" : "fermi_buffer_fixed"}});
  };
  absl::Status status = WriteFile(paths[0], text(PolicyTemplate(seam)));
  if (status.ok()) status = WriteFile(paths[1], text(PolicyTestTemplate()));
  if (!status.ok()) return ReportError(kFailed, status);
  status = WriteStandardOutput(
      absl::StrCat("Wrote ", paths[0], " and ", paths[1],
                   ".\nBuild with -DHEDDLE_POLICY_DIRS=FOLDER, or put them into replay/policies/",
                   seam == "scheduler" ? "schedule" : seam,
                   " and tests/replay/policies/divergence; docs/how-to/new-policy.md has the rest.\n"));
  return status.ok() ? kSuccess : ReportError(kFailed, status);
}

class NewPolicy final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("SEAM", seam_, "divergence, scheduler, fetch, dispatch or memory")->required();
    command.add_option("NAME", name_, "Name of the policy: lower-case letters, digits and _")->required();
    command.add_option("--folder", folder_, "Where to write NAME.cc and NAME_test.cc")->capture_default_str();
  }

  int Run() override { return WritePolicy(seam_, name_, folder_); }

 private:
  std::string seam_;
  std::string name_;
  std::string folder_ = ".";
};

HEDDLE_COMMAND(NewPolicy, .name = "new-policy", .place = 12,
               .summary = "Write a starting file for a policy of your own, and its test");

}  // namespace
}  // namespace heddle::tools
