#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "llvm/Support/ErrorHandling.h"
#include "tools/capture/commands.h"
#include "tools/capture/execution_options.h"
#include "tools/capture/not_a_recipe.h"
#include "tools/console/option_checks.h"
#include "tools/console/usage_errors.h"
#include "tracegen/execute/block/fault_handler.h"
#include "tracegen/recipe/recipe_run.h"
#include "traces/base/link_target.h"

namespace heddle::tracegen {
namespace {

// Names that the trace may have while it is incomplete (traces/format/container/container_writer.cc), for ends without
// destructors: made before handlers that need them are installed, as a signal handler must not allocate.
std::array<std::string, 100>& TemporaryNames() {
  static auto& names = *new std::array<std::string, 100>;
  return names;
}

void RemoveTemporaryFile() {
  for (const std::string& name : TemporaryNames()) unlink(name.c_str());
}

void HandleInterrupt(int) {
  if (InterruptRequested()) {
    // A second signal does not wait for the capture to notice the first.
    RemoveTemporaryFile();
    _exit(kInterrupted);
  }
  RequestInterrupt();
}

// LLVM would abort.
void HandleFatalError(void*, const char* reason, bool) {
  std::string line = absl::StrCat("LLVM cannot generate code for this kernel: ", reason);
  if (size_t end = line.find('\n'); end != std::string::npos) line.resize(end);
  PrintMessage(line);
  RemoveTemporaryFile();
  _exit(kFailure);
}

void InstallHandlers(const std::string& output) {
  const std::string target = LinkTarget(output);
  std::array<std::string, 100>& names = TemporaryNames();
  for (size_t i = 0; i < names.size(); ++i) {
    names[i] = absl::StrCat(target, ".tmp-", getpid());
    if (i > 0) absl::StrAppend(&names[i], "-", i);
  }
  struct sigaction action = {};
  action.sa_handler = HandleInterrupt;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before;  // nohup ignores some of these
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
  // A write beyond the limit on file sizes then fails with an error that says so.
  signal(SIGXFSZ, SIG_IGN);
  llvm::install_fatal_error_handler(HandleFatalError);
}

// Whoever gives several words, or a program, has forgotten what separates a program from our options.
std::string HintAtDashes(const CLI::App& app, const std::string& recipe) {
  const std::vector<std::string> words = app.remaining();
  if (words.empty()) return "";
  const bool all_positional =
      std::ranges::none_of(words, [](const std::string& word) { return word.starts_with('-'); });
  if (!all_positional && !IsProgram(recipe)) return "";
  return "; put -- before a program and its arguments: heddle capture -o TRACE -- PROGRAM ARGUMENTS...";
}

constexpr char kPtxFrom[] = "--ptx-from";

void AddPtxFrom(CLI::App& app, MachineLevel& level, const char* group) {
  app.add_option(kPtxFrom, level.ptx_from,
                 "with --level machine: who makes PTX of CUDA source: nvcc (of an installed toolkit, or its path), or "
                 "clang")
      ->capture_default_str()
      ->check(tools::NotEmpty())
      ->group(group);
}

// Of both ways to capture: whoever asks need not know yet that there are two.
std::string CaptureHelp(const CLI::App& app) {
  return absl::StrCat(
      "Records what every thread of CUDA or OpenCL kernels does into a trace file.\n"
      "Usage: heddle capture -o TRACE [OPTIONS] -- PROGRAM ARGUMENTS...   the kernels that a program launches\n"
      "       heddle capture -o TRACE [OPTIONS] RECIPE.textproto          kernels as a recipe launches them\n"
      "       heddle capture --level machine -o TRACE ...                 the same, as machine code of a card\n"
      "       heddle capture --emit-ptx RECIPE.textproto                  the PTX of its kernels, to be used as a "
      "source\n"
      "       heddle capture --virtual-blocks FILES                       what VTW's loop over virtual thread blocks "
      "costs them\n",
      CLI::Formatter().make_groups(&app, CLI::AppFormatMode::Normal), ProgramOptionsHelp());
}

}  // namespace

int CaptureRecipeCommand(int argc, char** argv) {
  CLI::App app;
  app.name("heddle capture");
  CaptureOptions options;
  OutputOptions output;
  std::string recipe;
  bool no_check = false;
  AddOutputOptions(app, output);
  app.add_option("recipe", recipe, "recipe (.textproto)")->required();
  app.add_option("--max-instructions", options.max_instructions, "thread-instructions after which a run is given up")
      ->capture_default_str()
      ->check(tools::PositiveWholeNumber());
  AddExecutionOptions(app, options);
  constexpr char kWithARecipe[] = "Options with a recipe";
  AddPtxFrom(app, options.machine_level, kWithARecipe);
  app.add_flag("--native", options.compare_with_native,
               "also run without recording, and fail if recording has changed a result")
      ->group(kWithARecipe);
  app.add_option("--plan", options.plan,
                 "a folder for what a machine with a card needs to run the same (tools/hardware)")
      ->group(kWithARecipe);
  app.add_flag("--no-check", no_check, "do not run the recipe's checks")->group(kWithARecipe);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    absl::PrintF("%s", CaptureHelp(app));
    return 0;
  } catch (const CLI::ParseError& error) {
    PrintMessage(
        absl::StrCat(tools::UsageMessage(app, error), HintAtDashes(app, recipe), " (see heddle capture --help)"));
    return kWrongUsage;
  }
  if (const std::string reason = WhyNoRecipe(recipe); !reason.empty()) {
    PrintMessage(reason);
    return kWrongUsage;
  }
  if (const std::string reason = WhyNoMachineOptions(app, output, {kPtxFrom}); !reason.empty()) {
    PrintMessage(reason);
    return kWrongUsage;
  }
  options.machine_code = output.machine_code;
  options.machine_level.architecture = output.architecture;
  options.output = output.output;
  options.zstd_level = output.zstd_level;
  options.threads = output.threads;
  options.jobs = output.jobs;
  options.check = !no_check;
  options.progress = !output.quiet && isatty(STDERR_FILENO) != 0;
  InstallHandlers(options.output);
  if (absl::Status status = CheckOutput(recipe, options.output); !status.ok()) {
    PrintMessage(std::string(status.message()));
    return absl::IsInvalidArgument(status) ? kWrongUsage : kFailure;
  }
  absl::StatusOr<CaptureSummary> summary = CaptureRecipe(recipe, options);
  if (!summary.ok()) {
    if (options.progress) absl::FPrintF(stderr, "\r\033[K");
    if (absl::IsCancelled(summary.status())) {
      PrintMessage("interrupted, nothing was written");
      return kInterrupted;
    }
    PrintMessage(std::string(summary.status().message()));
    return kFailure;
  }
  if (absl::Status status = RecordWriters(options.output, output); !status.ok()) {
    PrintMessage(std::string(status.message()));
    return kFailure;
  }
  if (!output.quiet) {
    for (const std::string& note : summary->notes) PrintMessage(absl::StrCat("note: ", note));
  }
  for (const std::string& warning : summary->warnings) PrintMessage(absl::StrCat("warning: ", warning));
  if (!output.quiet) {
    absl::PrintF("%s\n", DescribeTrace(options.output,
                                       {summary->launches, summary->launches, summary->threads,
                                        summary->thread_instructions, summary->bytes, summary->execute_seconds}));
  }
  return 0;
}

}  // namespace heddle::tracegen
