#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/capture/commands.h"
#include "tools/console/option_checks.h"
#include "tools/console/with_thousands.h"
#include "tracegen/machine/encoding/architecture.h"
#include "traces/base/printable.h"
#include "traces/format/edit/add_last_writers.h"
#include "traces/format/edit/last_writer_tracker.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

using tools::WithThousands;

void PrintMessage(const std::string& line) { absl::FPrintF(stderr, "heddle-capture: %s\n", PrintableText(line)); }

namespace {

constexpr int kMostZstdLevel = 22;
constexpr char kMachine[] = "machine", kPtx[] = "ptx";

void AddLevel(CLI::App& app, OutputOptions& options) {
  const CLI::Validator number = tools::WholeNumberFromTo(1, kMostZstdLevel);
  const CLI::Validator level(
      [number](std::string& text) -> std::string {
        if (text == kPtx || text == kMachine || number(text).empty()) return "";
        return absl::StrCat("\"", text, "\" is no level of code, ptx or machine, nor a whole number from 1 to ",
                            kMostZstdLevel, ", for Zstandard's");
      },
      "{ptx,machine}");
  CLI::Option* option = app.add_option_function<std::string>(
      "--level",
      [&options](const std::string& text) {
        options.machine_code = text == kMachine;
        if (text != kPtx && text != kMachine) options.zstd_level = std::stoi(text);
      },
      "level of the code that is recorded: PTX, or the machine code that NVIDIA's assembler makes of it (--arch); a "
      "number is a Zstandard level");
  option->check(level)->default_str(kPtx);
  // Of the levels of Zstandard there can be one.
  app.final_callback([&app, option] {
    if (option->count() == 0 || option->as<std::string>() == kPtx || option->as<std::string>() == kMachine) return;
    for (const char* other : {"--zstd-level", "--fast", "--small"}) {
      if (app.get_option(other)->count() != 0) throw CLI::ExcludesError("--level", other);
    }
  });
}

constexpr char kArch[] = "--arch";

void AddArchitecture(CLI::App& app, OutputOptions& options) {
  std::vector<std::string> names;
  for (const machine::Architecture architecture : machine::kArchitectures) {
    names.push_back(machine::ArchitectureName(architecture));
  }
  app.add_option(kArch, options.architecture, "with --level machine: the card whose machine code is recorded")
      ->capture_default_str()
      ->check(CLI::IsMember(names));
}

}  // namespace

std::string WhyNoMachineOptions(const CLI::App& app, const OutputOptions& options,
                                const std::vector<std::string>& names) {
  if (options.machine_code) return "";
  std::vector<std::string> all = {kArch};
  all.insert(all.end(), names.begin(), names.end());
  for (const std::string& name : all) {
    if (app.get_option(name)->count() != 0) {
      return absl::StrCat(name, " is for machine code: give --level machine, too (see heddle capture --help)");
    }
  }
  return "";
}

void AddOutputOptions(CLI::App& app, OutputOptions& options) {
  options.threads = trace::UsualThreads();
  app.add_option("-o,--output", options.output, "trace file to write (.htrace)")->required();
  AddLevel(app, options);
  AddArchitecture(app, options);
  CLI::Option* level = app.add_option("--zstd-level", options.zstd_level, "Zstandard level, how hard to compress")
                           ->capture_default_str()
                           ->check(tools::WholeNumberFromTo(1, kMostZstdLevel));
  CLI::Option* fast =
      app.add_flag_callback("--fast", [&] { options.zstd_level = trace::kFastLevel; }, "quick to write: level 1");
  CLI::Option* small = app.add_flag_callback(
      "--small", [&] { options.zstd_level = trace::kSmallLevel; }, "to keep and to share: level 19, slow to write");
  level->excludes(fast)->excludes(small);
  fast->excludes(small);
  CLI::Option* threads =
      app.add_option("--threads", options.threads, "threads that compress (the trace is the same with any number)")
          ->capture_default_str()
          ->check(tools::WholeNumberFromTo(1, 64));
  app.add_option_function<unsigned>(
         "-j,--jobs", [&options](const unsigned& jobs) { options.jobs = options.threads = jobs; },
         "processes that the blocks of long launches are spread over, and threads that compress (the trace is the same "
         "with any number); 1 process otherwise")
      ->check(tools::WholeNumberFromTo(1, 64))
      ->excludes(threads);
  app.add_flag("--quiet", options.quiet, "print errors only");
  app.add_flag("--record-writers", options.record_writers,
               "list who wrote what threads read of other thread blocks' data, for `heddle replay --check-order`");
}

absl::Status RecordWriters(const std::string& trace, const OutputOptions& options) {
  if (!options.record_writers) return absl::OkStatus();
  const absl::StatusOr<trace::LastWriterSummary> added =
      trace::AddLastWriters(trace, options.zstd_level, options.threads);
  if (!added.ok()) {
    return absl::Status(added.status().code(),
                        absl::StrCat("the trace is complete, but --record-writers: ", added.status().message()));
  }
  if (added->overflowed_launches != 0) {
    PrintMessage(
        absl::StrCat("warning: ", WithThousands(added->overflowed_launches), " launches write to more than ",
                     WithThousands(trace::LastWriterTracker::kMostPages),
                     " pages of 4 KiB, which is all that writers are kept of: the trace does not say who wrote what "
                     "is read of the rest"));
  }
  return absl::OkStatus();
}

std::string DescribeTrace(const std::string& path, const TraceSummary& summary) {
  const auto instructions = static_cast<double>(summary.thread_instructions);
  const std::string recorded =
      summary.recorded == summary.launches ? "" : absl::StrCat(" (", WithThousands(summary.recorded), " recorded)");
  return absl::StrFormat(
      "%s: %s %s%s, %s threads, %s thread-instructions, %s bytes (%.4f per thread-instruction), "
      "%.1f M thread-instructions/s",
      Printable(path), WithThousands(summary.launches), summary.launches == 1 ? "launch" : "launches", recorded,
      WithThousands(summary.threads), WithThousands(summary.thread_instructions), WithThousands(summary.bytes),
      instructions > 0 ? static_cast<double>(summary.bytes) / instructions : 0.0,
      summary.seconds > 0 ? instructions / summary.seconds * 1e-6 : 0.0);
}

}  // namespace heddle::tracegen
