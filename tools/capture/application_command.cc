#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/capture/capture_folder.h"
#include "tools/capture/commands.h"
#include "tools/capture/execution_options.h"
#include "tools/capture/run_program.h"
#include "tools/console/option_checks.h"
#include "tools/console/usage_errors.h"
#include "tracegen/application/machine_source.h"
#include "tracegen/application/settings.h"
#include "traces/format/container/replaceable.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/read/reader.h"

namespace heddle::tracegen {
namespace {

namespace fs = std::filesystem;

constexpr int kNoProgram = 127;  // as shells say it

std::string OwnProgram() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

// The file that a shell would run.
std::string FindProgram(const std::string& name) {
  if (absl::StrContains(name, '/')) return name;
  const char* folders = std::getenv("PATH");
  for (const absl::string_view folder : absl::StrSplit(folders == nullptr ? "" : folders, ':')) {
    const std::string file = (fs::path(std::string(folder)) / name).string();
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return name;
}

absl::Status CheckNotTheProgram(const std::string& output, const std::string& program) {
  std::error_code error;  // a file that does not exist is no other file
  if (!fs::equivalent(output, FindProgram(program), error)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the trace would replace ", output, ", which is the program: choose another name for -o"));
}

// The OpenCL driver: beside this program, or in the library folder of the installation. Empty if it was not built.
std::string FindOpenClDriver() {
  const fs::path here = fs::path(OwnProgram()).parent_path();
  std::error_code error;
  for (const char* place : {"../lib/heddle", "../lib", "../../lib/heddle", "../../lib", "."}) {
    const fs::path driver = (here / place / "libheddle_opencl.so").lexically_normal();
    if (fs::exists(driver, error)) return driver.string();
  }
  return "";
}

// What the program finds in its environment: the settings, this program as its device, and our OpenCL driver alone.
absl::StatusOr<std::map<std::string, std::string>> Environment(const CaptureSettings& settings) {
  std::map<std::string, std::string> environment;
  environment[kCaptureVariable] = Encode(settings);
  environment["HEDDLE_DEVICE_PROGRAM"] = OwnProgram();
  const std::string driver = FindOpenClDriver();
  if (driver.empty()) return environment;
  const std::string vendors = absl::StrCat(settings.folder, "/vendors");
  std::error_code error;
  fs::create_directory(vendors, error);
  std::ofstream out(absl::StrCat(vendors, "/heddle.icd"));
  out << driver << "\n";
  out.close();
  if (!out) return absl::UnavailableError(absl::StrCat("cannot write into ", vendors));
  environment["OCL_ICD_VENDORS"] = vendors + "/";
  return environment;
}

// Traces of the processes that launched something; tells about those that were lost.
std::vector<ProcessTrace> UsableTraces(const std::vector<ProcessTrace>& processes, bool* lost) {
  std::vector<ProcessTrace> usable;
  for (const ProcessTrace& process : processes) {
    const std::string& program = process.outcome.program;
    if (!process.finished) {
      *lost = true;
      PrintMessage("a device process has ended before it could complete its trace");
    } else if (!process.outcome.failure.empty()) {
      *lost = true;
      if (!process.outcome.told) PrintMessage(absl::StrCat(program, ": ", process.outcome.failure));
    }
    if (!process.trace.empty() && process.outcome.launches > 0) usable.push_back(process);
  }
  return usable;
}

void KeepPartial(const std::vector<ProcessTrace>& processes, const std::string& output) {
  int number = 0;
  for (const ProcessTrace& process : processes) {
    if (process.incomplete.empty()) continue;
    std::string name;
    do {
      name = ++number == 1 ? absl::StrCat(output, ".partial") : absl::StrCat(output, ".partial", number);
    } while (!trace::CheckReplaceable(name).ok());
    std::error_code error;
    fs::rename(process.incomplete, name, error);
    if (error) continue;
    PrintMessage(absl::StrCat("what was written is in ", name, ": read it with `heddle trace repack --recover ", name,
                              " -o ", output, "`"));
  }
}

// Why there may be no trace.
void ReportNothingRecorded(const std::vector<ProcessTrace>& processes, bool lost, const std::string& program) {
  if (processes.empty()) {
    PrintMessage(absl::StrCat(
        program,
        " has not used a device, so there is no trace. CUDA programs must be compiled with "
        "heddle-nvcc (make NVCC=heddle-nvcc) and OpenCL programs linked to the ICD loader (libOpenCL.so)"));
  } else if (lost) {
    PrintMessage(absl::StrCat("no complete trace of ", program, " is left"));
  } else {
    PrintMessage(absl::StrCat(program, " has used the device but completed no launch, so there is no trace"));
  }
}

// Why a trace has launches, but none that was recorded: what there was to choose from.
std::string DescribeEmptyTrace(const std::string& path) {
  std::string text = "warning: no launch was recorded: check --kernels and --launches";
  const auto reader = trace::TraceReader::Open(path);
  if (!reader.ok()) return text;
  std::vector<std::string> names;
  for (const trace::LaunchView& launch : (*reader)->launches()) {
    std::string name = trace::BriefKernelName(launch.program->name());
    if (absl::c_linear_search(names, name)) continue;
    names.push_back(std::move(name));
  }
  constexpr size_t kMostNames = 20;
  if (names.size() > kMostNames) {
    const size_t more = names.size() - kMostNames;
    names.resize(kMostNames);
    names.push_back(absl::StrCat(more, " more"));
  }
  const size_t launches = (*reader)->launches().size();
  absl::StrAppend(&text, "; there ", launches == 1 ? "was 1 launch" : absl::StrCat("were ", launches, " launches"),
                  ", of ", absl::StrJoin(names, ", "));
  return text;
}

// Exit status when there is no trace, or not all of it.
int Unless(int status) { return status != 0 ? status : kFailure; }

int Finish(const CaptureFolder& folder, const CaptureSettings& settings, const OutputOptions& options,
           const std::vector<std::string>& program, const ProgramEnd& end, double seconds) {
  const std::vector<ProcessTrace> processes = folder.Collect();
  bool lost = false;
  const std::vector<ProcessTrace> usable = UsableTraces(processes, &lost);
  if (settings.keep_partial) KeepPartial(processes, options.output);
  if (end.signal != 0) {
    PrintMessage(absl::StrCat(program[0], " was ended by signal ", end.signal, " (", strsignal(end.signal), ")"));
  } else if (end.status != 0) {
    PrintMessage(absl::StrCat(program[0], " has exited with status ", end.status));
  }
  if (usable.empty()) {
    ReportNothingRecorded(processes, lost, program[0]);
    return Unless(end.status);
  }
  std::vector<std::string> files;
  absl::Status status = PlaceTraces(usable, options.output, options.zstd_level, options.threads, &files);
  if (!status.ok()) {
    PrintMessage(std::string(status.message()));
    return Unless(end.status);
  }
  for (const std::string& file : files) {
    if (absl::Status added = RecordWriters(file, options); !added.ok()) {
      PrintMessage(std::string(added.message()));
      return Unless(end.status);
    }
  }
  if (usable.size() > 1 && files.size() == 1) {
    PrintMessage(absl::StrCat(usable.size(),
                              " processes have launched kernels: the trace holds their launches in order of the "
                              "processes' start"));
  } else if (usable.size() > 1) {
    PrintMessage(absl::StrCat(usable.size(),
                              " processes have launched kernels that were compiled differently: each has a trace "
                              "of its own"));
  }
  if (lost) PrintMessage("the trace holds the launches that were complete before the failure");
  for (size_t i = 0; i < files.size(); ++i) {
    TraceSummary summary;
    for (size_t t = 0; t < usable.size(); ++t) {
      if (files.size() > 1 && t != i) continue;
      const CaptureOutcome& outcome = usable[t].outcome;
      summary.launches += outcome.launches;
      summary.recorded += outcome.recorded;
      summary.threads += outcome.threads;
      summary.thread_instructions += outcome.thread_instructions;
    }
    std::error_code error;
    summary.bytes = fs::file_size(files[i], error);
    summary.seconds = seconds;
    if (!options.quiet) absl::FPrintF(stderr, "%s\n", DescribeTrace(files[i], summary));
    if (summary.recorded == 0) PrintMessage(DescribeEmptyTrace(files[i]));
  }
  return lost ? Unless(end.status) : end.status;
}

constexpr char kWithAProgram[] = "Options with a program";

// What the command line of a capture of a program says.
struct Arguments {
  OutputOptions options;
  CaptureSettings settings;
  std::string launches;
  std::string choice;
  bool record_command_line = false;
};

void AddOptions(CLI::App& app, Arguments& arguments) {
  CaptureSettings& settings = arguments.settings;
  AddOutputOptions(app, arguments.options);
  app.add_option("--kernels", settings.kernels,
                 "record only kernels whose name has a match of this regular expression (POSIX extended)")
      ->check(tools::NotEmpty())
      ->group(kWithAProgram);
  app.add_option("--launches", arguments.launches, "record only launches A-B of each process, counted from 0")
      ->check(tools::NotEmpty())
      ->group(kWithAProgram);
  CLI::Option* blocks = app.add_option("--max-blocks", settings.max_blocks,
                                       "record at most so many thread blocks of a launch; the others only run")
                            ->check(tools::PositiveWholeNumber())
                            ->group(kWithAProgram);
  app.add_option("--block-choice", arguments.choice,
                 "which blocks: waves (as many as fill a device), first, even or random:SEED")
      ->check(tools::NotEmpty())
      ->needs(blocks)
      ->group(kWithAProgram);
  AddExecutionOptions(app, settings);
  app.add_option("--max-instructions", settings.max_instructions,
                 "thread-instructions of a process after which it is given up")
      ->check(tools::PositiveWholeNumber());
  app.add_flag("--keep-partial", settings.keep_partial,
               "if there is no trace in the end, leave what `heddle trace repack --recover` can read")
      ->group(kWithAProgram);
  app.add_flag("--record-command-line", arguments.record_command_line, "put the command line into the trace")
      ->group(kWithAProgram);
}

}  // namespace

std::string ProgramOptionsHelp() {
  CLI::App app;
  Arguments arguments;
  AddOptions(app, arguments);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group() != kWithAProgram) option->group("");  // hidden
  }
  return CLI::Formatter().make_groups(&app, CLI::AppFormatMode::Normal);
}

int CaptureApplicationCommand(int argc, char** argv, std::vector<std::string> program) {
  CLI::App app;
  Arguments arguments;
  OutputOptions& options = arguments.options;
  CaptureSettings& settings = arguments.settings;
  const std::string& launches = arguments.launches;
  const std::string& choice = arguments.choice;
  AddOptions(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    char name[] = "heddle-capture";
    char help[] = "--help";
    char* words[] = {name, help, nullptr};
    return CaptureRecipeCommand(2, words);
  } catch (const CLI::ParseError& error) {
    PrintMessage(absl::StrCat(tools::UsageMessage(app, error), " (see heddle capture --help)"));
    return kWrongUsage;
  }
  absl::Status status = CheckKernels(settings.kernels);
  if (status.ok() && !launches.empty()) status = ReadLaunches(launches, settings);
  if (status.ok() && !choice.empty()) status = ReadBlockChoice(choice, settings);
  if (status.ok() && program.empty()) status = absl::InvalidArgumentError("name the program to run behind --");
  if (const std::string reason = WhyNoMachineOptions(app, options); status.ok() && !reason.empty()) {
    status = absl::InvalidArgumentError(reason);
  }
  if (status.ok()) status = CheckNotTheProgram(options.output, program[0]);
  if (!status.ok()) {
    PrintMessage(std::string(status.message()));
    return kWrongUsage;
  }
  if (options.machine_code) {
    settings.architecture = options.architecture;
    if (const absl::Status found = MachineTarget::Find(options.architecture).status(); !found.ok()) {
      PrintMessage(std::string(found.message()));
      return kFailure;
    }
  }
  for (const std::string& left : RemoveStaleFolders(options.output)) {
    if (!options.quiet) PrintMessage(absl::StrCat("note: ", left));
  }
  absl::StatusOr<std::unique_ptr<CaptureFolder>> folder = CaptureFolder::Create(options.output);
  if (!folder.ok()) {
    PrintMessage(std::string(folder.status().message()));
    return absl::IsInvalidArgument(folder.status()) ? kWrongUsage : kFailure;
  }
  settings.folder = (*folder)->path();
  settings.zstd_level = options.zstd_level;
  settings.threads = options.threads;
  settings.jobs = options.jobs;
  settings.progress = !options.quiet && isatty(STDERR_FILENO) != 0;
  settings.notes = !options.quiet;
  if (arguments.record_command_line) settings.command_line = absl::StrJoin(program, " ");
  absl::StatusOr<std::map<std::string, std::string>> environment = Environment(settings);
  if (!environment.ok()) {
    PrintMessage(std::string(environment.status().message()));
    return kFailure;
  }
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<ProgramEnd> end = RunProgram(program, *environment);
  if (!end.ok()) {
    PrintMessage(std::string(end.status().message()));
    return kNoProgram;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Finish(**folder, settings, options, program, *end, seconds);
}

}  // namespace heddle::tracegen
