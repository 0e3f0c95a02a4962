// Random programs with random control bits, on which both engines must agree, and all rules must hold.
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "tests/conformance/checked_replay.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"
#include "tests/random/random_machine.h"
#include "tests/random/random_trace.h"
#include "tests/traces/machine_programs.h"
#include "traces/format/program/control_bits.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;
using machine::v1::Core;
using trace::ControlBits;

// Any bits that are right. They say nothing of the program's registers: both engines must do what they say.
ControlBits RandomBits(Random& random, bool memory) {
  ControlBits bits;
  bits.stall = random.OneOf<uint8_t>({0, 1, 1, 1, 2, 4, 5, 15});
  bits.yield = random.Chance(20);
  const auto barrier = [&random] { return static_cast<uint8_t>(random.Below(ControlBits::kBarriers)); };
  if (random.Chance(memory ? 70 : 20)) bits.write_barrier = barrier();
  if (random.Chance(memory ? 40 : 10)) bits.read_barrier = barrier();
  if (random.Chance(30)) {
    for (int i = 0; i < 2; ++i) bits.wait_mask = static_cast<uint8_t>(bits.wait_mask | 1u << barrier());
  }
  bits.reuse = static_cast<uint8_t>(random.Chance(40) ? random.Below(16) : 0);
  return bits;
}

v1::KernelProgram RandomMachineCode(v1::KernelProgram program, Random& random) {
  program = trace::testing::WithMachineCode(std::move(program));
  for (v1::Instruction& instruction : *program.mutable_instruction()) {
    const bool memory = instruction.op() == v1::OP_LOAD || instruction.op() == v1::OP_STORE ||
                        instruction.op() == v1::OP_ATOMIC || instruction.op() == v1::OP_TEXTURE;
    instruction.set_control(trace::PackControl(RandomBits(random, memory)));
  }
  return program;
}

// A random kernel of machine code on a random machine with instruction buffers, whose warps issue by `dependences`.
RandomCase MakeMachineCase(uint64_t seed, Core::Dependences dependences) {
  RandomCase random_case = MakeBufferCase(seed);
  Random random(MixAll({seed, 83}));
  std::vector<const RandomKernel*> kernels;
  for (RandomKernel& kernel : random_case.kernels) {
    kernel.program = RandomMachineCode(std::move(kernel.program), random);
    kernels.push_back(&kernel);
  }
  random_case.reader = WriteAndOpen(kernels);
  Core& core = *random_case.machine.mutable_core();
  core.set_dependences(dependences);
  if (random.Chance(50)) core.mutable_units()->set_memory_operand_read_cycles(random.OneOf({1u, 3u, 9u, 30u}));
  if (random.Chance(50)) {
    core.mutable_register_file()->set_banks(random.OneOf({1u, 2u, 2u, 4u}));
    core.mutable_register_file()->set_read_cycles(static_cast<uint32_t>(random.In(1, 4)));
    core.mutable_register_file()->set_cache(random.Chance(60));
  }
  return random_case;
}

void ExpectEqualEngines(Core::Dependences dependences, uint64_t first_seed, uint64_t full) {
  for (const uint64_t seed : Seeds(first_seed, full)) {
    const RandomCase random_case = MakeMachineCase(seed, dependences);
    SCOPED_TRACE(random_case.Text());
    Random random(MixAll({seed, 89}));
    ComparisonOptions options;
    options.force_tick = random.Chance(30);
    ExpectEqual(*random_case.reader, random_case.machine, DrawConfigurations(random, random_case.machine, 5), options);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ControlBitsEquality, BothEnginesAgreeByControlBits) { ExpectEqualEngines(Core::CONTROL_BITS, 910'001, 60); }
TEST(ControlBitsEquality, BothEnginesAgreeByStallCountsAndScoreboard) {
  ExpectEqualEngines(Core::SCOREBOARD, 920'001, 30);
}

TEST(ControlBitsEquality, BothEnginesAgreeUnderEveryDivergencePolicy) {
  std::vector<AcceptedConfiguration> policies = DefaultConfigurations().accepted;
  std::erase_if(policies, [](const AcceptedConfiguration& one) { return one.configuration.scheduler.name != "gto"; });
  for (const uint64_t seed : Seeds(930'001, 12)) {
    const RandomCase random_case = MakeMachineCase(seed, Core::CONTROL_BITS);
    SCOPED_TRACE(random_case.Text());
    ExpectEqual(*random_case.reader, random_case.machine, ForMachine(policies, random_case.machine));
    if (HasFailure()) return;
  }
}

// Data that come from beyond the core at any time: schedulers and policies hear of long waits at barriers.
TEST(ControlBitsEquality, BothEnginesAgreeBeforeAnyMemory) {
  for (const uint64_t seed : Seeds(940'001, 40)) {
    const RandomCase random_case = MakeMachineCase(seed, seed % 3 == 0 ? Core::SCOREBOARD : Core::CONTROL_BITS);
    SCOPED_TRACE(random_case.Text());
    Random random(MixAll({seed, 97}));
    for (const AcceptedConfiguration& drawn : DrawConfigurations(random, random_case.machine, 3)) {
      ExpectEqualBeforeScriptedMemory(*random_case.reader, random_case.machine, drawn, seed, random.Chance(30));
    }
    if (HasFailure()) return;
  }
}

// Dispatchers of single warps, too, which the reference engine does not have.
TEST(ControlBitsEquality, RulesHoldForEveryPairOfPolicies) {
  for (const uint64_t seed : Seeds(950'001, 3)) {
    const RandomCase random_case = MakeMachineCase(seed, Core::CONTROL_BITS);
    SCOPED_TRACE(random_case.Text());
    ExpectRulesKept(*random_case.reader, random_case.machine,
                    ForMachine(DefaultConfigurations(Seams::kAll).accepted, random_case.machine));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
