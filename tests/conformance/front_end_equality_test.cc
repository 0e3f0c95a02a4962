// The front ends before memories that do whatever the interface allows, against the polling reference cores.
#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"

namespace heddle::replay {
namespace {

TEST(FrontEndEquality, TheSinglePipelineBeforeAnyMemory) {
  for (const uint64_t seed : Seeds(1, 120)) {
    RandomCase random_case = MakeRandomCase(MixAll({seed, 61}));
    Random random(MixAll({seed, 62}));
    machine::v1::Core& core = *random_case.machine.mutable_core();
    random_case.machine.mutable_memory()->mutable_hierarchy();
    core.clear_scripted_latency();
    const uint32_t issue_cycles = (core.warp_size() + core.simd_width() - 1) / core.simd_width();
    core.mutable_thesis()->set_register_read_bypass(random.Chance(30));
    core.set_pipeline_depth(std::max(issue_cycles + 1, 4u) + static_cast<uint32_t>(random.Below(16)));
    core.mutable_thesis()->set_register_bank_penalty(
        static_cast<machine::v1::ThesisPipeline::BankPenalty>(random.Below(3)));
    core.mutable_thesis()->set_bank_penalty_per_issue(random.Chance(50));
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + random_case.Text());
    for (const AcceptedConfiguration& drawn : DrawConfigurations(random, random_case.machine, 3)) {
      ExpectEqualBeforeScriptedMemory(*random_case.reader, random_case.machine, drawn, seed, random.Chance(30));
    }
    if (HasFailure()) return;
  }
}

TEST(FrontEndEquality, InstructionBuffersBeforeAnyMemory) {
  for (const uint64_t seed : Seeds(1, 60)) {
    RandomCase random_case = MakeBufferCase(MixAll({seed, 63}));
    Random random(MixAll({seed, 64}));
    if (random.Chance(50)) {  // fetches end at lines
      machine::v1::Cache& cache = *random_case.machine.mutable_memory()->mutable_hierarchy()->mutable_l1_instruction();
      cache.set_sets(1);
      cache.set_line_bytes(32);
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + random_case.Text());
    for (const AcceptedConfiguration& drawn : DrawConfigurations(random, random_case.machine, 3)) {
      ExpectEqualBeforeScriptedMemory(*random_case.reader, random_case.machine, drawn, seed, random.Chance(30));
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
