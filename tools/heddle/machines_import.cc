// `heddle machines import`: a machine from gpgpusim.config.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/exchange/gpgpusim/import_machine.h"
#include "traces/base/printable.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return absl::InvalidArgumentError(absl::StrCat(path, ": is a folder"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot read: ", std::strerror(errno)));
  return std::move(text).str();
}

struct ImportArguments {
  std::vector<std::string> files;
  std::string name;    // of the machine; empty = the first file's, without ending
  std::string output;  // -o: empty or "-" = standard output
};

// A machine file from the configuration of GPGPU-Sim or Accel-Sim. With an output file, what is not represented is also
// told on standard error.
int Import(const ImportArguments& arguments) {
  std::vector<ConfigText> configs;
  for (const std::string& path : arguments.files) {
    absl::StatusOr<std::string> text = ReadFile(path);
    if (!text.ok()) return ReportError(kWrongUsage, text.status());
    configs.push_back({arguments.files.size() == 1 ? "" : fs::path(path).filename().string(), *std::move(text)});
  }
  if (absl::Status status = CheckNotAnInput("-o", arguments.output, arguments.files, "the configuration itself");
      !status.ok()) {
    return ReportError(kWrongUsage, status);
  }
  const fs::path folder = fs::path(arguments.files.front()).parent_path();
  const auto read_network = [&folder](const std::string& file) -> std::optional<std::string> {
    absl::StatusOr<std::string> text = ReadFile((folder / file).string());
    if (!text.ok()) return std::nullopt;
    return *std::move(text);
  };
  const std::string name = arguments.name.empty() ? fs::path(arguments.files.front()).stem().string() : arguments.name;
  const absl::StatusOr<ImportedMachine> imported = ImportMachine(configs, name, read_network);
  if (!imported.ok()) {
    return ReportError(kFailed, absl::Status(imported.status().code(),
                                             absl::StrCat(arguments.files.front(), ": ", imported.status().message())));
  }
  // It quotes the configuration.
  const std::string text = PrintableText(ImportText(*imported, arguments.files));
  if (arguments.output.empty() || arguments.output == "-") {
    const absl::Status written = WriteStandardOutput(text);
    return written.ok() ? kSuccess : ReportError(kFailed, written);
  }
  absl::StatusOr<OutputFile> file = OutputFile::Create(arguments.output);
  if (!file.ok()) return ReportError(absl::IsInvalidArgument(file.status()) ? kWrongUsage : kFailed, file.status());
  absl::Status written = file->Write(text);
  if (written.ok()) written = file->Commit();
  if (!written.ok()) return ReportError(kFailed, written);
  for (const ImportOutcome outcome : {ImportOutcome::kUnknown, ImportOutcome::kNotRepresented,
                                      ImportOutcome::kDifferent, ImportOutcome::kCommandLine}) {
    for (const std::string& line : NotesText(*imported, outcome)) Note(line);
  }
  return kSuccess;
}

class MachinesImport final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("FILE", arguments_.files, "gpgpusim.config, and what comes with it (trace.config)")->required();
    command.add_option("--name", arguments_.name, "Name of the machine; else that of the first file")
        ->check(NotEmpty());
    command.add_option("-o,--output", arguments_.output, "File for the machine, such as mine.textproto")
        ->check(NotEmpty());
  }

  int Run() override { return Import(arguments_); }

 private:
  ImportArguments arguments_;
};

HEDDLE_COMMAND(MachinesImport, .name = "machines import", .place = 1,
               .summary = "Make a machine file of a configuration of GPGPU-Sim or Accel-Sim",
               .footer =
                   "\nValues carry the line that they come from. What is not represented, or in another way, is "
                   "listed on top of the\nfile with its line; docs/how-to/from-accel-sim.md has the map.");

}  // namespace
}  // namespace heddle::tools
