// How fast kernels are captured, and how large their traces are. Leaves the traces behind for the replay benchmark.
//
//   heddle-benchmark-capture --kernels=DIR --barriers=DIR --traces=DIR [Google Benchmark options]
//
// Barriers/NAME: kernels that only wait at barriers, whose threads leave frames there (frames) or wait on stacks of
// their own (stacks); in nanoseconds per thread and barrier, without (native) and with recording, encoding and writing.
//
// One benchmark per recipe: NAME.large.textproto where a kernel has one, else NAME.textproto. Time is user CPU seconds
// of running and encoding; compiling is reported beside it.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "tools/benchmark/user_time.h"
#include "tracegen/recipe/recipe_run.h"

namespace heddle {
namespace {

struct Totals {
  double bytes = 0;
  double thread_instructions = 0;
};

void Capture(benchmark::State& state, const std::string& recipe, const std::string& output, Totals& totals) {
  tracegen::CaptureSummary summary;
  for ([[maybe_unused]] auto _ : state) {
    tracegen::CaptureOptions options;
    options.output = output;
    options.check = false;
    auto result = tracegen::CaptureRecipe(recipe, options);
    if (!result.ok()) {
      state.SkipWithError(std::string(result.status().message()).c_str());
      return;
    }
    summary = *result;
    state.SetIterationTime(summary.execute_seconds);
  }
  const double instructions = static_cast<double>(summary.thread_instructions);
  state.counters["M_thread_instr"] = instructions * 1e-6;
  state.counters["M_thread_instr_per_s"] = instructions * 1e-6 / summary.execute_seconds;
  state.counters["bytes_per_thread_instr"] = static_cast<double>(summary.bytes) / instructions;
  state.counters["compile_s"] = summary.compile_seconds;
  state.counters["peak_MB"] = PeakMegabytes();
  totals.bytes += static_cast<double>(summary.bytes);
  totals.thread_instructions += instructions;
}

// The recipes of --barriers all have so many threads in all, which come to so many barriers.
constexpr double kThreadBarriers = 8.0 * 256 * 2000;

void Barriers(benchmark::State& state, const std::string& recipe, const std::string& output) {
  double native[2] = {};
  double captured[2] = {};
  for ([[maybe_unused]] auto _ : state) {
    for (const bool own_stacks : {false, true}) {
      tracegen::CaptureOptions options;
      options.output = output;
      options.compare_with_native = true;
      options.own_stacks = own_stacks;
      const auto result = tracegen::CaptureRecipe(recipe, options);
      if (!result.ok()) {
        state.SkipWithError(std::string(result.status().message()).c_str());
        return;
      }
      native[own_stacks] = result->native_seconds * 1e9 / kThreadBarriers;
      captured[own_stacks] = result->execute_seconds * 1e9 / kThreadBarriers;
    }
    state.SetIterationTime(native[0] * 1e-9 * kThreadBarriers);
  }
  state.counters["ns_native_frames"] = native[0];
  state.counters["ns_native_stacks"] = native[1];
  state.counters["native_ratio"] = native[1] / native[0];
  state.counters["ns_captured_frames"] = captured[0];
  state.counters["ns_captured_stacks"] = captured[1];
  state.counters["captured_ratio"] = captured[1] / captured[0];
}

// Recipe to use per kernel: the large one where there is one, never a tiny one.
std::map<std::string, std::string> Recipes(const std::string& kernels) {
  std::map<std::string, std::string> chosen;
  for (const std::string& file : FilesEndingIn(kernels, ".textproto")) {
    const std::filesystem::path path(file);
    const std::string stem = path.stem().string();  // NAME, NAME.tiny, NAME.large
    const std::string name = path.parent_path().filename().string();
    if (stem == name && !chosen.contains(name)) chosen[name] = file;
    if (stem == name + ".large") chosen[name] = file;
  }
  return chosen;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  std::string kernels = "traces/kernels";
  std::string barriers = "tools/benchmark/barriers";
  std::string traces = "build/bench-traces";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--kernels=")) {
      kernels = argument.substr(10);
    } else if (argument.starts_with("--barriers=")) {
      barriers = argument.substr(11);
    } else if (argument.starts_with("--traces=")) {
      traces = argument.substr(9);
    } else {
      argv[kept++] = argv[i];
    }
  }
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) return 2;
  std::filesystem::create_directories(traces);
  benchmark::AddCustomContext("machine", heddle::MachineName());
  benchmark::AddCustomContext(
      "goals",
      "100 M thread-instr/s regular, 30 M irregular; 0.03 bytes per thread-instr in all; barriers 3 times as "
      "fast as on stacks");
  for (const std::string& recipe : heddle::FilesEndingIn(barriers, ".textproto")) {
    const std::string name = std::filesystem::path(recipe).stem().string();
    const std::string output = std::filesystem::temp_directory_path() / ("heddle-barriers-" + name + ".htrace");
    benchmark::RegisterBenchmark(("Barriers/" + name).c_str(),
                                 [recipe, output](benchmark::State& state) {
                                   heddle::Barriers(state, recipe, output);
                                   std::filesystem::remove(output);
                                 })
        ->UseManualTime()
        ->Iterations(3)
        ->Unit(benchmark::kMillisecond);
  }
  heddle::Totals totals;
  for (const auto& [name, recipe] : heddle::Recipes(kernels)) {
    const std::string output = absl::StrCat(traces, "/", name, ".htrace");
    benchmark::RegisterBenchmark(
        ("Capture/" + name).c_str(),
        [recipe, output, &totals](benchmark::State& state) { heddle::Capture(state, recipe, output, totals); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  if (totals.thread_instructions > 0) {
    std::printf("all kernels: %.0f M thread-instructions, %.1f MB, %.4f bytes per thread-instruction (goal 0.03)\n",
                totals.thread_instructions * 1e-6, totals.bytes * 1e-6, totals.bytes / totals.thread_instructions);
  }
  return 0;
}
