// Dynamic warp subdivision at loads: threads whose data have come run ahead of the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

constexpr uint64_t kShared = 0x1000'0000;
constexpr uint64_t kLocal = 0x2000'0000;
constexpr uint64_t kGlobal = 0x7000'0000;

// One warp: a load, an arithmetic instruction, the end. The data of lanes 0 and 3 take 10 cycles (shared), those of
// lane 2 take 20 (local), those of lane 1 take 40 (global).
std::string RunLoad(const std::string& divergence) {
  trace::v1::FileHeader header = trace::testing::MakeHeader();
  header.clear_window();
  for (const auto& [space, base] : {std::pair(trace::v1::SPACE_SHARED, kShared), {trace::v1::SPACE_LOCAL, kLocal}}) {
    auto& window = *header.add_window();
    window.set_space(space);
    window.set_base(base);
    window.set_bytes(1 << 16);
  }
  RunOptions options;
  options.divergence = divergence;
  machine::v1::FixedLatency& fixed = *options.machine.mutable_memory()->mutable_fixed();
  fixed.set_global_cycles(40);
  fixed.set_shared_cycles(10);
  fixed.set_local_cycles(20);
  const auto program = ProgramBuilder("load").Load(trace::v1::SPACE_GENERIC).Alu(1).Exit().Build();
  std::vector<ThreadTrace> threads;
  for (const uint64_t address : {kShared, kGlobal, kLocal, kShared + 4}) threads.push_back(Thread({}, {address}));
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads, header), options);
  return outcome.status.ok() ? outcome.log.text() : outcome.status.ToString();
}

TEST(DwsAtMemory, WithoutSubdivisionWaitsForTheSlowestThread) {
  EXPECT_EQ(RunLoad("dws:memory=none"), "0:0[0 1 2 3] 40:1[0 1 2 3] 41:2[0 1 2 3]");
}

TEST(DwsAtMemory, ThreadsGoOnWhenTheirDataHaveCome) {
  for (const char* memory : {"aggressive", "revive"}) {
    EXPECT_EQ(RunLoad(std::string("dws:memory=") + memory),
              "0:0[0 1 2 3] 10:1[0 - - 3] 11:2[0 - - 3] 20:1[- - 2] 21:2[- - 2] 40:1[- 1] 41:2[- 1]");
  }
}

TEST(DwsAtMemory, LazySubdivisionIsDecidedWhenTheFirstDataCome) {
  EXPECT_EQ(RunLoad("dws:memory=lazy"), "0:0[0 1 2 3] 10:1[0 - - 3] 11:2[0 - - 3] 40:1[- 1 2] 41:2[- 1 2]");
}

TEST(DwsAtMemory, BranchLimitedThreadsWaitAtTheEndOfTheBlock) {
  EXPECT_EQ(RunLoad("dws:memory=aggressive,run_ahead=branch_limited"),
            "0:0[0 1 2 3] 10:1[0 - - 3] 20:1[- - 2] 40:1[- 1] 41:2[0 1 2 3]");
}

}  // namespace
}  // namespace heddle::replay
