// What a front end with instruction buffers may do otherwise, cycle by cycle, on the machine of ibuffer_test.cc:
// units of their own.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/replay/core/ibuffer_harness.h"

namespace heddle::replay {
namespace {

using machine::v1::OperationTiming;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

// Adds that do not depend on one another.
trace::v1::KernelProgram FreeAdds(int count) {
  trace::v1::KernelProgram program = ProgramBuilder("free").Alu(count).Exit().Build();
  for (int i = 0; i < count; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  return program;
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
