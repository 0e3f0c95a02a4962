// How fast traces encode, decode and replay.
//
//   heddle-benchmark-replay --traces=DIR [--machine=NAME] [Google Benchmark options]
//
// Time is user CPU seconds of one core.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tools/benchmark/user_time.h"
#include "traces/format/edit/block_slices.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle {
namespace {

// Decodes every chunk to addresses and paths, as a replay does.
void Decode(benchmark::State& state, const std::string& file) {
  auto reader = trace::TraceReader::Open(file);
  if (!reader.ok()) return state.SkipWithError(std::string(reader.status().message()).c_str());
  uint64_t thread_instructions = 0;
  trace::DecodedChunk chunk;
  for ([[maybe_unused]] auto _ : state) {
    const double start = UserSeconds();
    for (const trace::LaunchView& launch : (*reader)->launches()) {
      for (const trace::v1::ChunkReference& reference : launch.chunks) {
        if (const absl::Status status = (*reader)->ReadChunk(reference, chunk); !status.ok()) {
          return state.SkipWithError(std::string(status.message()).c_str());
        }
        thread_instructions += chunk.thread_instructions;
      }
    }
    state.SetIterationTime(UserSeconds() - start);
  }
  state.counters["M_thread_instr_per_s"] =
      benchmark::Counter(static_cast<double>(thread_instructions) * 1e-6, benchmark::Counter::kIsRate);
}

// Encodes every block anew, as capture does.
void Encode(benchmark::State& state, const std::string& file) {
  auto reader = trace::TraceReader::Open(file);
  if (!reader.ok()) return state.SkipWithError(std::string(reader.status().message()).c_str());
  const std::string output = (std::filesystem::temp_directory_path() / "heddle-benchmark-encode.htrace").string();
  uint64_t thread_instructions = 0;
  for ([[maybe_unused]] auto _ : state) {
    double seconds = 0;
    absl::Status status;
    const auto timed = [&](auto&& step) {
      const double start = UserSeconds();
      status.Update(step());
      seconds += UserSeconds() - start;
    };
    auto writer = trace::TraceWriter::Create(output, (*reader)->header());
    if (!writer.ok()) return state.SkipWithError(std::string(writer.status().message()).c_str());
    for (const trace::Program& program : (*reader)->programs()) {
      status.Update((*writer)->AddProgram(program.proto()).status());
    }
    for (const trace::LaunchView& launch : (*reader)->launches()) {
      status.Update((*writer)->BeginLaunch(launch.launch));
      if (!launch.launch.recorded()) continue;
      trace::BlockSlices slices(**reader, launch, launch.chunks);
      std::vector<uint64_t> consumed(launch.threads_per_block);
      for (;;) {
        const absl::StatusOr<bool> more = slices.Next();
        if (!more.ok()) return state.SkipWithError(std::string(more.status().message()).c_str());
        if (!*more) break;
        timed([&] {
          return slices.cut()
                     ? (*writer)->AddBlockPart(slices.block(), slices.threads(), slices.last_part(), consumed)
                     : (*writer)->AddBlock(slices.block(), slices.threads(), trace::TraceWriter::kNoExpectation);
        });
      }
      timed([&] { return (*writer)->EndLaunch(); });
    }
    timed([&] { return (*writer)->Finish(); });
    if (!status.ok()) return state.SkipWithError(std::string(status.message()).c_str());
    state.SetIterationTime(seconds);
    thread_instructions += (*writer)->totals().thread_instructions;
  }
  std::filesystem::remove(output);
  state.counters["M_thread_instr_per_s"] =
      benchmark::Counter(static_cast<double>(thread_instructions) * 1e-6, benchmark::Counter::kIsRate);
}

void Replay(benchmark::State& state, const std::string& file, const std::string& machine,
            const replay::Configuration& configuration) {
  auto reader = trace::TraceReader::Open(file);
  if (!reader.ok()) return state.SkipWithError(std::string(reader.status().message()).c_str());
  replay::ReplayOptions options;
  auto loaded = replay::LoadMachine(machine);
  if (!loaded.ok()) return state.SkipWithError(std::string(loaded.status().message()).c_str());
  options.machine = *loaded;
  uint64_t issues = 0;
  uint64_t thread_instructions = 0;
  for ([[maybe_unused]] auto _ : state) {
    const double start = UserSeconds();
    auto results = replay::Replay(**reader, {configuration}, options);
    state.SetIterationTime(UserSeconds() - start);
    if (!results.ok()) return state.SkipWithError(std::string(results.status().message()).c_str());
    issues += results->front().total().warp_instructions();
    thread_instructions += results->front().total().thread_instructions();
  }
  state.counters["M_warp_instr_per_s"] =
      benchmark::Counter(static_cast<double>(issues) * 1e-6, benchmark::Counter::kIsRate);
  state.counters["M_thread_instr_per_s"] =
      benchmark::Counter(static_cast<double>(thread_instructions) * 1e-6, benchmark::Counter::kIsRate);
  state.counters["peak_MB"] = PeakMegabytes();
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  std::string traces = "traces/samples";
  std::string machine = "fermi_fixed";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--traces=")) {
      traces = argument.substr(9);
    } else if (argument.starts_with("--machine=")) {
      machine = argument.substr(10);
    } else {
      argv[kept++] = argv[i];
    }
  }
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) return 2;
  benchmark::AddCustomContext("machine", heddle::MachineName());
  benchmark::AddCustomContext("replayed_on", machine);
  benchmark::AddCustomContext("goals",
                              "decode 500 M thread-instr/s, 1000 M on regular kernels; encode 60 M; pdom+lrr 10 M "
                              "warp-instr/s on black_scholes and mandelbrot");
  const std::vector<heddle::replay::Configuration> configurations = {
      {{"pdom", ""}, {"lrr", ""}}, {{"pdom", ""}, {"gto", ""}},  {{"nrec", ""}, {"lrr", ""}},
      {{"dwf", ""}, {"dmaj", ""}}, {{"mimd", ""}, {"fifo", ""}},
  };
  const std::vector<std::string> files = heddle::FilesEndingIn(traces, ".htrace");
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).stem().string();
    benchmark::RegisterBenchmark(("Decode/" + name).c_str(),
                                 [file](benchmark::State& state) { heddle::Decode(state, file); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("Encode/" + name).c_str(),
                                 [file](benchmark::State& state) { heddle::Encode(state, file); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  for (const heddle::replay::Configuration& configuration : configurations) {
    for (const std::string& file : files) {
      const std::string name = std::filesystem::path(file).stem().string();
      benchmark::RegisterBenchmark(
          ("Replay/" + configuration.divergence.name + "+" + configuration.scheduler.name + "/" + name).c_str(),
          [file, machine, configuration](benchmark::State& state) {
            heddle::Replay(state, file, machine, configuration);
          })
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
