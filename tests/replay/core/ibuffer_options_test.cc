// What a front end with instruction buffers may do otherwise, cycle by cycle, on the machine of ibuffer_test.cc:
// units of their own,
// several fetches per cycle.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/replay/core/ibuffer_harness.h"

namespace heddle::replay {
namespace {

using machine::v1::OperationTiming;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

machine::v1::Core& CoreOf(RunOptions& options) { return *options.machine.mutable_core(); }

// Adds that do not depend on one another.
trace::v1::KernelProgram FreeAdds(int count) {
  trace::v1::KernelProgram program = ProgramBuilder("free").Alu(count).Exit().Build();
  for (int i = 0; i < count; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  return program;
}

// ------------------------------------------------------------------------------------------ fetch

TEST(FetchesPerCycle, AllButTheLastOneAreDecodedInTheirCycle) {
  RunOptions options = Small();
  EXPECT_EQ(Issues(RunBlock(FreeAdds(4), 4, options)), "2:0 3:1 5:2 6:3 8:4");
  Buffer(options).set_fetches_per_cycle(1);
  EXPECT_EQ(Issues(RunBlock(FreeAdds(4), 4, options)), "2:0 3:1 5:2 6:3 8:4");
  Buffer(options).set_fetches_per_cycle(2);
  EXPECT_EQ(Issues(RunBlock(FreeAdds(4), 4, options)), "1:0 2:1 3:2 4:3 5:4");
}

TEST(FetchesPerCycle, AsManyWarpsAreFetchedFor) {
  RunOptions options = Small();
  CoreOf(options).set_schedulers(4);
  Units(options).set_sp(4);
  const auto issues = [&](uint32_t fetches) {
    Buffer(options).set_fetches_per_cycle(fetches);
    return Issues(RunBlock(FreeAdds(1), 16, options), /*threads=*/true);
  };
  // Two instructions each, which go out one after the other.
  EXPECT_EQ(issues(1), "2:0@0 3:1@0 3:0@4 4:1@4 4:0@8 5:1@8 5:0@12 6:1@12");
  EXPECT_EQ(issues(2), "1:0@0 2:1@0 2:0@4 2:0@8 3:1@4 3:1@8 3:0@12 4:1@12");
  EXPECT_EQ(issues(8), "1:0@0 1:0@4 1:0@8 1:0@12 2:1@0 2:1@4 2:1@8 2:1@12");
}

// ------------------------------------------------------------------------------------------ units and operands

TEST(OwnUnits, ForIntegersAndDoubles) {
  RunOptions options = Small();
  Units(options).set_integer(1);
  Units(options).set_dp(1);
  Units(options).mutable_timing(0)->set_unit(OperationTiming::INT_UNIT);
  Units(options).mutable_timing(0)->set_initiation_interval(4);
  AddTiming(options, OperationTiming::FP32, 4, 4, OperationTiming::SP_UNIT);
  AddTiming(options, OperationTiming::FP64, 4, 4, OperationTiming::DP_UNIT);
  Buffer(options).set_entries(8);
  Buffer(options).set_fetch_instructions(8);
  trace::v1::KernelProgram program = ProgramBuilder("mix")
                                         .Alu(1)
                                         .Op(trace::v1::OP_FP32, 1)
                                         .Op(trace::v1::OP_FP64, 1)
                                         .Op(trace::v1::OP_FP32, 1)
                                         .Op(trace::v1::OP_FP64, 1)
                                         .Exit()
                                         .Build();
  for (int i = 0; i < 5; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  // Each kind takes its own unit for four cycles.
  EXPECT_EQ(Issues(RunBlock(program, 4, options)), "2:0 3:1 4:2 7:3 8:4 9:5");
}

}  // namespace
}  // namespace heddle::replay
