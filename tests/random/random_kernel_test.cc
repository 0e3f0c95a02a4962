// The random kernels are what the tests that use them rely on: reproducible, valid, and rich enough.
#include "tests/random/random_kernel.h"

#include <set>

#include "gtest/gtest.h"
#include "tests/random/random_trace.h"
#include "traces/format/program/program.h"
#include "traces/format/read/check.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

TEST(RandomKernel, TheSameSeedGivesTheSameKernel) {
  const RandomKernel first = MakeRandomKernel(RandomShape(7, 8));
  const RandomKernel second = MakeRandomKernel(RandomShape(7, 8));
  EXPECT_EQ(first.program.SerializeAsString(), second.program.SerializeAsString());
  ASSERT_EQ(first.threads.size(), second.threads.size());
  for (size_t t = 0; t < first.threads.size(); ++t) EXPECT_EQ(first.threads[t].steps, second.threads[t].steps);
}

TEST(RandomKernel, PassesTheTraceCheck) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const RandomKernel kernel = MakeRandomKernel(RandomShape(seed, 8));
    const auto reader = WriteAndOpen({&kernel});
    const auto report = trace::CheckTrace(*reader);
    ASSERT_TRUE(report.ok()) << report.status();
    for (const trace::Finding& finding : report->findings) {
      EXPECT_NE(finding.severity, trace::Finding::Severity::kError)
          << "seed " << seed << ": " << finding.rule << ": " << finding.place << ": " << finding.message;
    }
    if (HasFailure()) return;
  }
}

TEST(RandomKernel, HundredSeedsHaveEveryTerminatorAndEveryKindOfInstruction) {
  std::set<int> terminators;
  std::set<int> operations;
  std::set<int> spaces;
  uint32_t deepest = 0;
  bool counted = false;
  bool uniform = false;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const RandomKernel kernel = MakeRandomKernel(RandomShape(seed, 8));
    for (const v1::BasicBlock& block : kernel.program.block()) terminators.insert(block.terminator());
    for (const v1::Instruction& instruction : kernel.program.instruction()) {
      operations.insert(instruction.op());
      spaces.insert(instruction.space());
      counted |= instruction.barrier_threads() != 0;
      uniform |= (instruction.flags() & v1::FLAG_UNIFORM) != 0;
    }
    for (const ThreadScript& thread : kernel.threads) {
      for (const ScriptStep& step : thread.steps) deepest = std::max(deepest, step.depth);
    }
  }
  for (int terminator :
       {v1::FALL_THROUGH, v1::BRANCH_CONDITIONAL, v1::BRANCH_WIDE, v1::CALL, v1::CALL_INDIRECT, v1::RETURN, v1::EXIT}) {
    EXPECT_TRUE(terminators.contains(terminator)) << v1::Terminator_Name(terminator);
  }
  for (int operation : {v1::OP_LOAD, v1::OP_STORE, v1::OP_ATOMIC, v1::OP_TEXTURE, v1::OP_BARRIER, v1::OP_EXIT}) {
    EXPECT_TRUE(operations.contains(operation)) << v1::OpClass_Name(operation);
  }
  for (int space : {v1::SPACE_GLOBAL, v1::SPACE_SHARED, v1::SPACE_LOCAL, v1::SPACE_CONSTANT, v1::SPACE_PARAM,
                    v1::SPACE_TEXTURE, v1::SPACE_GENERIC}) {
    EXPECT_TRUE(spaces.contains(space)) << v1::MemorySpace_Name(space);
  }
  EXPECT_GE(deepest, 3) << "recursion";
  EXPECT_TRUE(counted) << "barriers of a counted number of threads";
  EXPECT_TRUE(uniform);
}

}  // namespace
}  // namespace heddle::replay
