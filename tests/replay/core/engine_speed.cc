// Speed of the engine on synthetic kernels: warp-instructions per second of user time, one core.
//
//   engine_speed [divergence [scheduler [machine]]]
#include <sys/resource.h>

#include <cstdio>
#include <string>
#include <vector>

#include "replay/engine/machine.h"
#include "replay/engine/replay.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

double UserSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

void Measure(const char* name, const trace::TraceReader& trace, const std::string& divergence,
             const std::string& scheduler, const std::string& machine) {
  ReplayOptions options;
  options.machine = LoadMachine(machine).value();
  Configuration configuration;
  configuration.divergence = PolicySpec::FromText(divergence);
  configuration.scheduler = PolicySpec::FromText(scheduler);
  const double start = UserSeconds();
  const auto results = Replay(trace, {configuration}, options);
  const double seconds = UserSeconds() - start;
  if (!results.ok()) {
    std::printf("%s: %s\n", name, results.status().ToString().c_str());
    return;
  }
  const result::v1::Totals& total = results->at(0).total();
  std::printf("%-10s %9.3f M warp-instructions/s  %8.3f s  %llu cycles  %llu warp-instructions  lane activity %.1f\n",
              name, 1e-6 * static_cast<double>(total.warp_instructions()) / seconds, seconds,
              static_cast<unsigned long long>(total.cycles()),
              static_cast<unsigned long long>(total.warp_instructions()), total.lane_activity());
}

}  // namespace
}  // namespace heddle::replay

int main(int argc, char** argv) {
  using namespace heddle::replay;  // NOLINT
  using heddle::trace::testing::ProgramBuilder;
  const std::string divergence = argc > 1 ? argv[1] : "pdom";
  const std::string scheduler = argc > 2 ? argv[2] : "lrr";
  const std::string machine = argc > 3 ? argv[3] : "fermi_fixed";
  constexpr uint32_t kBlocks = 240;
  constexpr uint32_t kThreads = 256;
  {
    const auto program = ProgramBuilder("alu").Block("head").Alu(8).Branch("exit", "head").Block("exit").Exit().Build();
    std::vector<uint8_t> decisions(400, 1);
    decisions.back() = 0;
    const std::vector<heddle::trace::testing::ThreadTrace> threads(kBlocks * kThreads, Thread(decisions));
    Measure("alu", *MakeTrace(program, kBlocks, threads), divergence, scheduler, machine);
  }
  {
    const auto program = ProgramBuilder("alu_load")
                             .Block("head")
                             .Alu(8)
                             .Load(heddle::trace::v1::SPACE_SHARED)
                             .Branch("exit", "head")
                             .Block("exit")
                             .Exit()
                             .Build();
    std::vector<uint8_t> decisions(200, 1);
    decisions.back() = 0;
    std::vector<heddle::trace::testing::ThreadTrace> threads(kBlocks * kThreads, Thread(decisions));
    for (size_t t = 0; t < threads.size(); ++t) {
      for (int i = 0; i < 200; ++i) threads[t].addresses.push_back((t % kThreads * 4 + i * 64) % 16384);
    }
    Measure("alu_load", *MakeTrace(program, kBlocks, threads), divergence, scheduler, machine);
  }
  {
    const auto program = ProgramBuilder("divergent")
                             .Block("head")
                             .Alu(4)
                             .Branch("a", "b")
                             .Block("a")
                             .Alu(4)
                             .Jump("join")
                             .Block("b")
                             .Alu(4)
                             .Block("join")
                             .Alu(2)
                             .Branch("exit", "head")
                             .Block("exit")
                             .Exit()
                             .Build();
    std::vector<heddle::trace::testing::ThreadTrace> threads;
    for (uint32_t t = 0; t < kBlocks * kThreads; ++t) {
      std::vector<uint8_t> decisions;
      for (uint32_t i = 0; i < 200; ++i) {
        decisions.push_back(static_cast<uint8_t>((t * 7 + i * 13 + t * i) % 5 < 2));
        decisions.push_back(i != 199);
      }
      threads.push_back(Thread(decisions));
    }
    Measure("divergent", *MakeTrace(program, kBlocks, threads), divergence, scheduler, machine);
  }
  return 0;
}
