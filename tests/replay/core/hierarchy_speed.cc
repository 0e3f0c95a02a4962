// Speed of the engine on kernels that are bound by memory: warp-instructions and DRAM lines per second of user time.
//
//   hierarchy_speed [machine [sms [scheduler [percent of the thread blocks [kernel]]]]]
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "replay/engine/machine.h"
#include "replay/engine/replay.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

double UserSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

void Measure(const char* name, const trace::TraceReader& trace, const machine::v1::Machine& machine,
             const std::string& scheduler) {
  ReplayOptions options;
  options.machine = machine;
  Configuration configuration;
  configuration.scheduler = PolicySpec::FromText(scheduler);
  const double start = UserSeconds();
  const auto results = Replay(trace, {configuration}, options);
  const double seconds = UserSeconds() - start;
  if (!results.ok()) {
    std::printf("%s: %s\n", name, results.status().ToString().c_str());
    return;
  }
  const result::v1::Totals& total = results->at(0).total();
  const result::v1::LaunchResult& launch = results->at(0).launch(0);
  const uint64_t lines = launch.dram().read_requests() + launch.dram().write_requests();
  std::printf(
      "%-7s %8.0f k warp-instructions/s %6.3f M DRAM lines/s  %6.3f s  %llu cycles  %llu warp-instructions  "
      "%llu L2 requests  DRAM %.1f %% busy\n",
      name, 1e-3 * static_cast<double>(total.warp_instructions()) / seconds,
      1e-6 * static_cast<double>(lines) / seconds, seconds, static_cast<unsigned long long>(total.cycles()),
      static_cast<unsigned long long>(total.warp_instructions()),
      static_cast<unsigned long long>(launch.l2().reads() + launch.l2().writes()),
      launch.dram().bandwidth_utilisation());
}

}  // namespace
}  // namespace heddle::replay

int main(int argc, char** argv) {
  using namespace heddle::replay;  // NOLINT
  auto machine = LoadMachine(argc > 1 ? argv[1] : "baws_gtx480");
  if (!machine.ok()) {
    std::printf("%s\n", machine.status().ToString().c_str());
    return 1;
  }
  if (argc > 2) machine->set_sms(static_cast<uint32_t>(std::atoi(argv[2])));
  const std::string scheduler = argc > 3 ? argv[3] : "gto";
  const auto percent = static_cast<uint32_t>(argc > 4 ? std::atoi(argv[4]) : 100);
  const std::string only = argc > 5 ? argv[5] : "";
  constexpr uint32_t kThreads = 256;
  if (only.empty() || only == "stream") {
    // c[i] = a[i] + b[i]
    const uint32_t blocks = 40 * percent;
    const auto program = ProgramBuilder("stream").Alu(7).Load().Alu().Load().Alu(2).Store().Exit().Build();
    std::vector<ThreadTrace> threads;
    for (uint64_t t = 0; t < uint64_t{blocks} * kThreads; ++t) {
      threads.push_back(Thread({}, {0x7000'0000 + t * 4, 0x7800'0000 + t * 4, 0x8000'0000 + t * 4}));
    }
    Measure("stream", *MakeTrace(program, blocks, threads), *machine, scheduler);
  }
  if (only.empty() || only == "gather") {
    // Sums of words all over 4 MB, of as many as each thread wants (1 to 16).
    const uint32_t blocks = 120 * percent / 100;
    const auto program = ProgramBuilder("gather")
                             .Alu(3)
                             .Block("head")
                             .Alu()
                             .Load()
                             .Alu()
                             .Branch("even", "odd")
                             .Block("odd")
                             .Alu(2)
                             .Jump("join")
                             .Block("even")
                             .Alu(2)
                             .Block("join")
                             .Alu(2)
                             .Branch("exit", "head")
                             .Block("exit")
                             .Store()
                             .Exit()
                             .Build();
    uint64_t state = 12345;
    const auto next = [&] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; };
    std::vector<ThreadTrace> threads;
    for (uint64_t t = 0; t < uint64_t{blocks} * kThreads; ++t) {
      ThreadTrace thread;
      const uint64_t rounds = 1 + next() % 16;
      for (uint64_t round = 0; round < rounds; ++round) {
        thread.addresses.push_back(0x7000'0000 + next() % (1 << 20) * 4);
        thread.decisions.push_back(static_cast<uint8_t>(next() & 1));
        thread.decisions.push_back(round + 1 < rounds);
      }
      thread.addresses.push_back(0x8000'0000 + t * 4);
      threads.push_back(thread);
    }
    Measure("gather", *MakeTrace(program, blocks, threads), *machine, scheduler);
  }
  return 0;
}
