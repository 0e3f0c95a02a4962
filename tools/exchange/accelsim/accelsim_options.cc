#include "tools/exchange/accelsim/accelsim_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/exchange/accelsim/export_traces.h"
#include "tools/exchange/accelsim/import_traces.h"
#include "tools/inputs/trace_file.h"
#include "traces/format/container/replaceable.h"
#include "traces/format/write/writer.h"

namespace heddle::tools::accelsim {
namespace {

constexpr char kImportFooter[] =
    "\nThe folder holds kernelslist.g and the .traceg or .traceg.xz files that it names, as Accel-Sim's tracer and "
    "its\n"
    "post-traces-processing leave them (versions 3 to 5). Threads are taken apart from the warps' masks; the program "
    "is\n"
    "what was seen to run. docs/how-to/from-accel-sim.md says what such a trace cannot support.";

constexpr char kExportFooter[] =
    "\nWarps of 32 threads, formed as by --divergence pdom; opcodes of the Volta generation stand for our classes\n"
    "(docs/how-to/from-accel-sim.md). All blocks of the launches must be recorded.";

int ReportFailure(const absl::Status& status) {
  return ReportError(absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kWrongUsage : kFailed, status);
}

int Print(const std::string& text) {
  const absl::Status written = WriteStandardOutput(text);
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

std::string Count(uint64_t number, const char* one, const char* many) {
  return absl::StrCat(WithThousands(number), " ", number == 1 ? one : many);
}

int ImportCommand(const std::string& folder, const std::string& output, int level) {
  if (output == "-") return ReportError(kWrongUsage, "-o -: a trace needs a file, it cannot go to standard output");
  std::vector<std::string> inputs;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    inputs.push_back(it->path().string());
  }
  // A trace of ours may lie among Accel-Sim's, and be made anew.
  std::erase_if(inputs, [](const std::string& path) { return path.ends_with(".htrace"); });
  if (const absl::Status status = CheckNotAnInput("-o", output, inputs, "one of the traces to import"); !status.ok()) {
    return ReportFailure(status);
  }
  if (const absl::Status status = trace::CheckReplaceable(output); !status.ok()) return ReportFailure(status);
  Progress progress("Importing", true);
  const auto summary =
      ImportTraces(folder, output, level, [&](uint64_t done, uint64_t total) { progress.Update(done, total); });
  progress.Clear();
  if (!summary.ok()) return ReportFailure(summary.status());
  for (const std::string& note : summary->notes) Note(note);
  return Print(absl::StrCat(output, ": ", Count(summary->launches, "launch", "launches"), ", ",
                            WithThousands(summary->thread_instructions), " thread-instructions (",
                            WithThousands(summary->false_guards), " with a false guard) of ",
                            WithThousands(summary->warp_instructions), " warp instructions\n"));
}

int ExportCommand(const std::string& path, const std::string& folder, bool compress) {
  const auto reader = OpenTrace(path);
  if (!reader.ok()) return ReportError(TraceErrorStatus(reader.status()), reader.status());
  Progress progress("Exporting", true);
  const auto summary =
      ExportTraces(**reader, folder, compress, [&](uint64_t done, uint64_t total) { progress.Update(done, total); });
  progress.Clear();
  if (!summary.ok()) {
    return ReportFailure(absl::Status(summary.status().code(), absl::StrCat(path, ": ", summary.status().message())));
  }
  for (const std::string& note : summary->notes) Note(note);
  return Print(absl::StrCat(folder, "/kernelslist.g: ", Count(summary->launches, "launch", "launches"), ", ",
                            WithThousands(summary->warp_instructions), " warp instructions\n"));
}

}  // namespace

struct AccelSimOptions::Arguments {
  CLI::App* from = nullptr;
  CLI::App* to = nullptr;
  std::string folder;
  std::string trace;
  int level = trace::kDefaultLevel;
  bool compress = false;
};

AccelSimOptions::AccelSimOptions(CLI::App& app) : arguments_(std::make_unique<Arguments>()) {
  Arguments& a = *arguments_;
  CLI::App& trace = *app.get_subcommand("trace");
  a.from = trace.add_subcommand("import", "Make a trace of Accel-Sim's");
  a.from->add_option("--accelsim", a.folder, "Folder with kernelslist.g")->required();
  a.from->add_option("-o,--output", a.trace, "The new trace")->required()->check(NotEmpty());
  a.from->add_option("--level", a.level, "Zstandard level, 1 to 22")
      ->check(WholeNumberFromTo(1, 22))
      ->capture_default_str();
  a.from->footer(kImportFooter);
  a.to = trace.add_subcommand("export", "Make traces for Accel-Sim of one of ours");
  a.to->add_option("TRACE", a.trace, "Trace file")->required();
  a.to->add_option("--accelsim", a.folder, "Folder for kernelslist.g and the kernels; new or empty")->required();
  a.to->add_flag("--xz", a.compress, "Compress the kernels");
  a.to->footer(kExportFooter);
}

AccelSimOptions::~AccelSimOptions() = default;

bool AccelSimOptions::Run(int& status) const {
  const Arguments& a = *arguments_;
  if (a.from->parsed()) {
    status = ImportCommand(a.folder, a.trace, a.level);
  } else if (a.to->parsed()) {
    status = ExportCommand(a.trace, a.folder, a.compress);
  } else {
    return false;
  }
  return true;
}

}  // namespace heddle::tools::accelsim
