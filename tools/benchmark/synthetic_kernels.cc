#include "tools/benchmark/synthetic_kernels.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "traces/base/random.h"
#include "traces/format/write/writer.h"

namespace heddle {
namespace {

using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

constexpr uint64_t kFirstArray = 0x7000'0000;
constexpr uint64_t kSecondArray = 0x7800'0000;
constexpr uint64_t kResults = 0x8000'0000;
constexpr uint64_t kGatherWords = 1 << 20;

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "synthetic kernel: %s\n", status.ToString().c_str());
  std::exit(1);
}

// Numbers of one thread: SplitMix64 from the thread's own start. That is itself such a
// number: with starts a step apart, every thread would have its neighbour's numbers, shifted by one.
class Numbers {
 public:
  explicit Numbers(uint64_t thread) : state_(thread) { state_ = Next(); }
  uint64_t Next() { return SplitMix(state_); }

 private:
  uint64_t state_;
};

}  // namespace

SyntheticKernel AluLoop(uint32_t trips) {
  SyntheticKernel kernel;
  kernel.program = ProgramBuilder("alu_loop").Block("head").Alu(8).Branch("exit", "head").Block("exit").Exit().Build();
  ThreadTrace thread;
  thread.decisions.assign(trips, 1);
  thread.decisions.back() = 0;
  kernel.thread = [thread](uint64_t) { return thread; };
  return kernel;
}

SyntheticKernel Stream() {
  SyntheticKernel kernel;
  kernel.program = ProgramBuilder("stream").Alu(7).Load().Alu().Load().Alu(2).Store().Exit().Build();
  kernel.thread = [](uint64_t thread) {
    ThreadTrace trace;
    trace.addresses = {kFirstArray + thread * 4, kSecondArray + thread * 4, kResults + thread * 4};
    return trace;
  };
  return kernel;
}

SyntheticKernel Gather() {
  SyntheticKernel kernel;
  kernel.program = ProgramBuilder("gather")
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
  kernel.thread = [](uint64_t thread) {
    Numbers numbers(thread);
    ThreadTrace trace;
    const uint64_t rounds = 1 + numbers.Next() % 16;
    for (uint64_t round = 0; round < rounds; ++round) {
      trace.addresses.push_back(kFirstArray + numbers.Next() % kGatherWords * 4);
      trace.decisions.push_back(static_cast<uint8_t>(numbers.Next() & 1));
      trace.decisions.push_back(round + 1 < rounds);
    }
    trace.addresses.push_back(kResults + thread * 4);
    return trace;
  };
  return kernel;
}

SyntheticKernel DivergentLoop(uint32_t trips) {
  SyntheticKernel kernel;
  kernel.program = ProgramBuilder("divergent_loop")
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
  kernel.thread = [trips](uint64_t thread) {
    Numbers numbers(thread);
    ThreadTrace trace;
    for (uint32_t trip = 0; trip < trips; ++trip) {
      trace.decisions.push_back(numbers.Next() % 5 < 2);
      trace.decisions.push_back(trip + 1 < trips);
    }
    return trace;
  };
  return kernel;
}

void WriteTrace(const SyntheticKernel& kernel, uint32_t blocks, const std::string& path) {
  auto writer = trace::TraceWriter::Create(path, trace::testing::MakeHeader());
  Require(writer.status());
  const auto program = (*writer)->AddProgram(kernel.program);
  Require(program.status());
  Require((*writer)->BeginLaunch(trace::testing::MakeLaunch(kernel.program.id(), blocks, kBenchmarkBlockThreads)));
  std::vector<ThreadTrace> threads(kBenchmarkBlockThreads);
  std::vector<trace::ThreadRecord> records(kBenchmarkBlockThreads);
  for (uint64_t block = 0; block < blocks; ++block) {
    for (uint32_t i = 0; i < kBenchmarkBlockThreads; ++i) {
      threads[i] = kernel.thread(block * kBenchmarkBlockThreads + i);
      records[i] = threads[i].record();
    }
    Require((*writer)->AddBlock(block, records, trace::TraceWriter::kNoExpectation));
  }
  Require((*writer)->EndLaunch());
  Require((*writer)->Finish());
}

}  // namespace heddle
