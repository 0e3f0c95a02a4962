// heddle-capture: records the kernels of a recipe.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "llvm/Support/ErrorHandling.h"
#include "tracegen/execute/block_runner.h"
#include "tracegen/execute/recipe_run.h"
#include "traces/format/writer.h"

namespace heddle::tracegen {
namespace {

constexpr int kFailure = 1;
constexpr int kWrongUsage = 2;
constexpr int kInterrupted = 130;

// Names that the trace may have while it is incomplete (traces/format/container_writer.cc), for ends without
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
  std::string line = absl::StrCat("heddle-capture: LLVM cannot generate code for this kernel: ", reason);
  if (size_t end = line.find('\n'); end != std::string::npos) line.resize(end);
  absl::FPrintF(stderr, "%s\n", line);
  RemoveTemporaryFile();
  _exit(kFailure);
}

void InstallHandlers(const std::string& output) {
  std::array<std::string, 100>& names = TemporaryNames();
  for (size_t i = 0; i < names.size(); ++i) {
    names[i] = absl::StrCat(output, ".tmp-", getpid());
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

void PrintSummary(const std::string& output, const CaptureSummary& summary) {
  auto instructions = static_cast<double>(summary.thread_instructions);
  absl::PrintF(
      "%s: %u launches, %u threads, %u thread-instructions, %u bytes (%.4f per thread-instruction), "
      "%.1f M thread-instructions/s\n",
      output, summary.launches, summary.threads, summary.thread_instructions, summary.bytes,
      instructions > 0 ? static_cast<double>(summary.bytes) / instructions : 0.0,
      summary.execute_seconds > 0 ? instructions / summary.execute_seconds * 1e-6 : 0.0);
}

int Main(int argc, char** argv) {
  CLI::App app{"Records what every thread of a kernel does, as a recipe describes it, into a trace file."};
  app.name("heddle-capture");
  CaptureOptions options;
  std::string recipe;
  bool no_check = false;
  bool quiet = false;
  app.add_option("-o,--output", options.output, "trace file to write (.htrace)")->required();
  app.add_option("recipe", recipe, "recipe (.textproto)")->required();
  app.add_option("--max-instructions", options.max_instructions, "thread-instructions after which a run is given up")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, ~uint64_t{0}));
  options.threads = trace::UsualThreads();
  CLI::Option* level =
      app.add_option("--level", options.zstd_level, "Zstandard level")->capture_default_str()->check(CLI::Range(1, 22));
  CLI::Option* fast =
      app.add_flag_callback("--fast", [&] { options.zstd_level = trace::kFastLevel; }, "quick to write: level 1");
  CLI::Option* small = app.add_flag_callback(
      "--small", [&] { options.zstd_level = trace::kSmallLevel; }, "to keep and to share: level 19, slow to write");
  level->excludes(fast)->excludes(small);
  fast->excludes(small);
  app.add_option("--threads", options.threads, "threads that compress (the trace is the same with any number)")
      ->capture_default_str()
      ->check(CLI::Range(1u, 64u));
  app.add_flag("--native", options.compare_with_native,
               "also run without recording, and fail if recording has changed a result");
  app.add_flag("--no-check", no_check, "do not run the recipe's checks");
  app.add_flag("--quiet", quiet, "print errors only");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    absl::FPrintF(stderr, "heddle-capture: %s (see heddle-capture --help)\n", error.what());
    return kWrongUsage;
  }
  options.check = !no_check;
  options.progress = !quiet && isatty(STDERR_FILENO) != 0;
  InstallHandlers(options.output);
  if (absl::Status status = CheckOutput(recipe, options.output); !status.ok()) {
    absl::FPrintF(stderr, "heddle-capture: %s\n", std::string(status.message()));
    return absl::IsInvalidArgument(status) ? kWrongUsage : kFailure;
  }
  absl::StatusOr<CaptureSummary> summary = CaptureRecipe(recipe, options);
  if (!summary.ok()) {
    if (options.progress) absl::FPrintF(stderr, "\r\033[K");
    if (absl::IsCancelled(summary.status())) {
      absl::FPrintF(stderr, "heddle-capture: interrupted, nothing was written\n");
      return kInterrupted;
    }
    absl::FPrintF(stderr, "heddle-capture: %s\n", std::string(summary.status().message()));
    return kFailure;
  }
  for (const std::string& warning : summary->warnings) absl::FPrintF(stderr, "heddle-capture: warning: %s\n", warning);
  if (!quiet) PrintSummary(options.output, *summary);
  return 0;
}

}  // namespace
}  // namespace heddle::tracegen

int main(int argc, char** argv) { return heddle::tracegen::Main(argc, argv); }
