// How fast and how small replays are, against the goals, as tables.
//
//   heddle-benchmark-engine [--long] [--jobs=N] [SECTION...]
//
// Sections: speed, sms, memory, jobs, policies, schedulers; all if none is named. --long runs kernels ten times as
// long. Rates are per second of user CPU time, one core. What is compared is measured in turns, the best of three,
// since machines are shared and noisy.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/warp_scheduler.h"
#include "tools/benchmark/synthetic_kernels.h"
#include "tools/benchmark/user_time.h"
#include "tools/console/table.h"

namespace heddle {
namespace {

using tools::Decimal;
using tools::Table;
using tools::WithThousands;

constexpr int kRounds = 3;
constexpr const char* kMachine = "baws_gtx480";
constexpr const char* kFixedMachine = "fermi_fixed";

[[noreturn]] void Stop(const std::string& what) {
  std::fprintf(stderr, "heddle-benchmark-engine: %s\n", what.c_str());
  std::exit(1);
}

machine::v1::Machine Load(const std::string& name, uint32_t sms = 0) {
  auto machine = replay::LoadMachine(name);
  if (!machine.ok()) Stop(machine.status().ToString());
  if (sms != 0) machine->set_sms(sms);
  return *std::move(machine);
}

replay::Configuration Policies(const std::string& divergence, const std::string& scheduler) {
  replay::Configuration configuration;
  configuration.divergence = replay::PolicySpec::FromText(divergence);
  configuration.scheduler = replay::PolicySpec::FromText(scheduler);
  return configuration;
}

// Traces in a directory of their own, which goes with the object. Each is written by a child process, so that what that
// takes does not count as memory of a replay.
class Traces {
 public:
  Traces() {
    std::string name = std::filesystem::temp_directory_path() / "heddle-benchmark-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) Stop("cannot make a temporary directory");
    directory_ = name;
  }
  ~Traces() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  std::unique_ptr<trace::TraceReader> Make(const SyntheticKernel& kernel, uint32_t blocks) {
    const std::string path = absl::StrCat(directory_.string(), "/", number_++, ".htrace");
    const pid_t child = fork();
    if (child == 0) {
      WriteTrace(kernel, blocks, path);
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) Stop("cannot write a trace");
    auto reader = trace::TraceReader::Open(path);
    if (!reader.ok()) Stop(reader.status().ToString());
    return *std::move(reader);
  }

 private:
  std::filesystem::path directory_;
  int number_ = 0;
};

struct Run {
  double seconds = 0;  // user time
  result::v1::Result result;
  double WarpRate() const { return static_cast<double>(result.total().warp_instructions()) / seconds; }
  double ThreadRate() const { return static_cast<double>(result.total().thread_instructions()) / seconds; }
  double LineRate() const {
    uint64_t lines = 0;
    for (const result::v1::LaunchResult& launch : result.launch()) {
      lines += launch.dram().read_requests() + launch.dram().write_requests();
    }
    return static_cast<double>(lines) / seconds;
  }
};

Run Replay(const trace::TraceReader& trace, const machine::v1::Machine& machine,
           const replay::Configuration& configuration) {
  replay::ReplayOptions options;
  options.machine = machine;
  Run run;
  const double start = UserSeconds();
  auto results = replay::Replay(trace, {configuration}, options);
  run.seconds = UserSeconds() - start;
  if (!results.ok()) Stop(results.status().ToString());
  run.result = std::move(results->front());
  return run;
}

// Runs all of them `kRounds` times in turns; the quickest of each.
std::vector<Run> BestOf(const std::vector<std::function<Run()>>& measures) {
  std::vector<Run> best(measures.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < measures.size(); ++i) {
      Run run = measures[i]();
      if (round == 0 || run.seconds < best[i].seconds) best[i] = std::move(run);
    }
  }
  return best;
}

std::string Thousands(double number) { return WithThousands(static_cast<uint64_t>(std::llround(number))); }

struct Options {
  uint32_t scale = 1;  // length of the kernels
  uint32_t jobs = std::max(1u, std::thread::hardware_concurrency());
};

// --- sections

void Speed(Traces& traces, const Options& options) {
  const machine::v1::Machine machine = Load(kMachine);
  struct Case {
    const char* name;
    std::unique_ptr<trace::TraceReader> trace;
    double goal;       // warp-instructions per second
    double line_goal;  // DRAM lines per second; 0: none
  };
  std::vector<Case> cases;
  cases.push_back({"ALU loop", traces.Make(AluLoop(200 * options.scale), 240), 10e6, 0});
  cases.push_back({"streaming", traces.Make(Stream(), 1000 * options.scale), 2e6, 0});
  cases.push_back({"divergent random gather", traces.Make(Gather(), 60 * options.scale), 0.5e6, 0.7e6});
  std::vector<std::function<Run()>> measures;
  for (const Case& one : cases) {
    measures.push_back([&] { return Replay(*one.trace, machine, Policies("pdom", "gto")); });
  }
  const std::vector<Run> runs = BestOf(measures);
  Table table({{"kernel", Table::Align::kLeft},
               {"warp-instr."},
               {"cycles"},
               {"seconds"},
               {"k warp-instr./s"},
               {"goal"},
               {"k DRAM lines/s"},
               {"goal"}});
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    table.AddRow({one.name, WithThousands(runs[i].result.total().warp_instructions()),
                  WithThousands(runs[i].result.total().cycles()), Decimal(runs[i].seconds, 2),
                  Thousands(runs[i].WarpRate() / 1e3), Thousands(one.goal / 1e3), Thousands(runs[i].LineRate() / 1e3),
                  one.line_goal == 0 ? "" : Thousands(one.line_goal / 1e3)});
  }
  std::printf("Speed: %s, pdom with gto\n\n%s\n", kMachine, table.Text(2).c_str());
}

void Sms(Traces& traces, const Options& options) {
  const auto full = traces.Make(AluLoop(100 * options.scale), 480);
  // One block per SM for 15 SMs: the other 65 of 80 have nothing to do.
  const auto small = traces.Make(AluLoop(400 * options.scale), 15);
  std::vector<std::function<Run()>> measures;
  for (const auto* trace : {&full, &small}) {
    for (const uint32_t sms : {1u, 15u, 80u}) {
      if (trace == &small && sms == 1) continue;
      measures.push_back([trace, sms] { return Replay(**trace, Load(kMachine, sms), Policies("pdom", "gto")); });
    }
  }
  const std::vector<Run> runs = BestOf(measures);
  Table table({{"kernel", Table::Align::kLeft}, {"SMs"}, {"k warp-instr./s"}, {"relative"}, {"goal"}});
  const auto row = [&](const char* kernel, const char* sms, size_t index, size_t reference, const char* goal) {
    table.AddRow({kernel, sms, Thousands(runs[index].WarpRate() / 1e3),
                  Decimal(runs[index].WarpRate() / runs[reference].WarpRate(), 2), goal});
  };
  row("ALU loop, 480 blocks", "1", 0, 0, "");
  row("ALU loop, 480 blocks", "15", 1, 0, "nearly flat");
  row("ALU loop, 480 blocks", "80", 2, 0, "nearly flat");
  row("ALU loop, 15 blocks", "15", 3, 3, "");
  row("ALU loop, 15 blocks", "80", 4, 3, "1: idle SMs cost nothing");
  std::printf("Cost of SMs: %s with more or fewer of them, pdom with gto\n\n%s\n", kMachine, table.Text(2).c_str());
}

// Highest resident memory of a child process that runs the function, in MB.
double PeakOfChild(const std::function<void()>& function) {
  int pipes[2];
  if (pipe(pipes) != 0) Stop("cannot make a pipe");
  const pid_t child = fork();
  if (child == 0) {
    function();
    const double peak = PeakMegabytes();
    _exit(write(pipes[1], &peak, sizeof(peak)) == static_cast<ssize_t>(sizeof(peak)) ? 0 : 1);
  }
  close(pipes[1]);
  double peak = 0;
  const bool got = read(pipes[0], &peak, sizeof(peak)) == static_cast<ssize_t>(sizeof(peak));
  close(pipes[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0 || !got) Stop("a child process failed");
  return peak;
}

void Memory(Traces& traces, const Options& options) {
  const machine::v1::Machine machine = Load(kMachine);
  struct Case {
    const char* name;
    std::unique_ptr<trace::TraceReader> trace;
  };
  std::vector<Case> cases;
  cases.push_back({"ALU loop", traces.Make(AluLoop(400 * options.scale), 220)});
  cases.push_back({"divergent loop", traces.Make(DivergentLoop(200 * options.scale), 300)});
  if (options.scale > 1) cases.push_back({"divergent random gather", traces.Make(Gather(), 7500)});
  Table table({{"kernel", Table::Align::kLeft}, {"M thread-instr."}, {"peak MB"}, {"goal"}});
  for (const Case& one : cases) {
    uint64_t instructions = 0;
    for (const trace::LaunchView& launch : one.trace->launches()) {
      for (const auto& chunk : launch.chunks) instructions += chunk.thread_instructions();
    }
    const double peak = PeakOfChild([&] { Replay(*one.trace, machine, Policies("pdom", "gto")); });
    table.AddRow({one.name, Thousands(static_cast<double>(instructions) / 1e6), Thousands(peak), "1,000"});
  }
  std::printf("Memory: %s, pdom with gto, a process of its own\n\n%s\n", kMachine, table.Text(2).c_str());
}

void Jobs(Traces& traces, const Options& options) {
  const auto trace = traces.Make(AluLoop(100 * options.scale), 240);
  const machine::v1::Machine machine = Load(kMachine);
  const auto wall = [&](uint32_t jobs) {
    replay::ReplayOptions replay;
    replay.machine = machine;
    replay.jobs = jobs;
    const std::vector<replay::Configuration> runs(options.jobs, Policies("pdom", "gto"));
    const auto start = std::chrono::steady_clock::now();
    if (const auto results = replay::Replay(*trace, runs, replay); !results.ok()) Stop(results.status().ToString());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double one = 0;
  double all = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double seconds[] = {wall(1), wall(options.jobs)};
    one = round == 0 ? seconds[0] : std::min(one, seconds[0]);
    all = round == 0 ? seconds[1] : std::min(all, seconds[1]);
  }
  Table table({{"runs"}, {"--jobs"}, {"wall seconds"}, {"speed-up"}, {"goal"}});
  const std::string runs = absl::StrCat(options.jobs);
  table.AddRow({runs, "1", Decimal(one, 2), "1.00", ""});
  table.AddRow({runs, runs, Decimal(all, 2), Decimal(one / all, 2), Decimal(0.9 * options.jobs, 1)});
  std::printf("Independent runs: %s, pdom with gto, ALU loop; needs a machine that does nothing else\n\n%s\n", kMachine,
              table.Text(2).c_str());
}

// Every policy of a registry on the divergent loop, relative to one of them.
void Compare(Traces& traces, const Options& options, const std::string& title, const std::string& reference,
             const std::vector<std::pair<std::string, replay::Configuration>>& candidates) {
  const machine::v1::Machine machine = Load(kFixedMachine);
  const auto trace = traces.Make(DivergentLoop(20 * options.scale), 120);
  std::vector<std::string> names;
  std::vector<std::function<Run()>> measures;
  size_t base = 0;
  for (const auto& [name, configuration] : candidates) {
    if (name == reference) base = names.size();
    names.push_back(name);
    measures.push_back([&, configuration = configuration] { return Replay(*trace, machine, configuration); });
  }
  const std::vector<Run> runs = BestOf(measures);
  Table table({{"policies", Table::Align::kLeft},
               {"warp-instr."},
               {"k warp-instr./s"},
               {"M thread-instr./s"},
               {absl::StrCat("time / ", reference)}});
  for (size_t i = 0; i < names.size(); ++i) {
    table.AddRow({names[i], WithThousands(runs[i].result.total().warp_instructions()),
                  Thousands(runs[i].WarpRate() / 1e3), Decimal(runs[i].ThreadRate() / 1e6, 1),
                  Decimal(runs[i].seconds / runs[base].seconds, 2)});
  }
  std::printf("%s: divergent loop on %s\n\n%s\n", title.c_str(), kFixedMachine, table.Text(2).c_str());
}

// The first of the schedulers that goes with the policy.
std::string SchedulerFor(const std::string& divergence, const machine::v1::Machine& machine) {
  for (const auto& [name, entry] : replay::SchedulerRegistry::Get().entries()) {
    if (replay::Validate(Policies(divergence, name), &machine).ok()) return name;
  }
  return "";
}

void DivergencePolicies(Traces& traces, const Options& options) {
  const machine::v1::Machine machine = Load(kFixedMachine);
  std::vector<std::pair<std::string, replay::Configuration>> candidates;
  for (const auto& [name, entry] : replay::DivergenceRegistry::Get().entries()) {
    const bool usual = replay::Validate(Policies(name, "gto"), &machine).ok();
    const std::string scheduler = usual ? "gto" : SchedulerFor(name, machine);
    if (scheduler.empty()) continue;
    candidates.emplace_back(usual ? name : absl::StrCat(name, " (", scheduler, ")"), Policies(name, scheduler));
  }
  Compare(traces, options, "Divergence policies, with gto", "pdom", candidates);
}

void Schedulers(Traces& traces, const Options& options) {
  const machine::v1::Machine machine = Load(kFixedMachine);
  std::vector<std::pair<std::string, replay::Configuration>> candidates;
  for (const auto& [name, entry] : replay::SchedulerRegistry::Get().entries()) {
    for (const std::string divergence : {"pdom", "dwf"}) {
      if (!replay::Validate(Policies(divergence, name), &machine).ok()) continue;
      candidates.emplace_back(divergence == "pdom" ? name : absl::StrCat(name, " (", divergence, ")"),
                              Policies(divergence, name));
      break;
    }
  }
  Compare(traces, options, "Schedulers, with pdom", "gto", candidates);
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  using namespace heddle;  // NOLINT
  const std::vector<std::pair<std::string, void (*)(Traces&, const Options&)>> sections = {
      {"speed", Speed},          {"sms", Sms}, {"memory", Memory}, {"jobs", Jobs}, {"policies", DivergencePolicies},
      {"schedulers", Schedulers}};
  Options options;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--long") {
      options.scale = 10;
    } else if (argument.starts_with("--jobs=") && absl::SimpleAtoi(argument.data() + 7, &options.jobs) &&
               options.jobs != 0) {
    } else if (std::any_of(sections.begin(), sections.end(), [&](const auto& one) { return one.first == argument; })) {
      wanted.emplace_back(argument);
    } else {
      std::fprintf(stderr,
                   "heddle-benchmark-engine: unknown argument '%s'; known are --long, --jobs=N, and the sections",
                   argv[i]);
      for (const auto& [name, run] : sections) std::fprintf(stderr, " %s", name.c_str());
      std::fprintf(stderr, "\n");
      return 2;
    }
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("%s; rates per second of user CPU time, one core, best of %d\n\n", MachineName().c_str(), kRounds);
  Traces traces;
  for (const auto& [name, run] : sections) {
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end()) run(traces, options);
  }
  return 0;
}
