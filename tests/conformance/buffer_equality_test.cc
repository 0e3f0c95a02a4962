// The front end with instruction buffers against its polling reference: the same result in every field, and the same
// issues in the same cycles, whatever the program, the policies and the machine.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/random_case.h"
#include "tests/replay/reference/random.h"
#include "tests/replay/reference/random_machine.h"

namespace heddle::replay {
namespace {

std::vector<AcceptedConfiguration> Those(const std::vector<AcceptedConfiguration>& all,
                                         const machine::v1::Machine& machine) {
  std::vector<AcceptedConfiguration> kept;
  for (const AcceptedConfiguration& one : all) {
    if (Validate(one.configuration, &machine).ok()) kept.push_back(one);
  }
  return kept;
}

// A random case on a machine with instruction buffers.
RandomCase MakeBufferCase(uint64_t seed) {
  RandomCase random_case = MakeRandomCase(seed);
  MachineNeeds needs;
  needs.warp_size = random_case.machine.core().warp_size();
  needs.threads_per_block = 1;
  needs.instructions = UINT32_MAX;
  for (const RandomKernel& kernel : random_case.kernels) {
    needs.threads_per_block = std::max(needs.threads_per_block, kernel.shape.threads_per_block);
    needs.instructions = std::min(needs.instructions, static_cast<uint32_t>(kernel.program.instruction_size()));
  }
  random_case.machine = RandomBufferMachine(seed, needs);
  return random_case;
}

TEST(BufferEquality, RandomProgramsOnRandomMachines) {
  for (uint64_t seed = 1; seed <= Programs(150); ++seed) {
    const RandomCase random_case = MakeBufferCase(seed);
    SCOPED_TRACE(random_case.Text());
    Random random(MixAll({seed, 71}));
    const std::vector<AcceptedConfiguration> all = Those(
        random.Chance(60) ? DefaultConfigurations().accepted : VariedConfigurations().accepted, random_case.machine);
    std::vector<AcceptedConfiguration> drawn;
    for (int i = 0; i < 3; ++i) drawn.push_back(all[random.Below(all.size())]);
    ComparisonOptions options;
    options.cache_bytes = random.OneOf<uint64_t>({1, 10'000, 256u << 20});
    options.force_tick = random.Chance(30);
    ExpectEqual(*random_case.reader, random_case.machine, drawn, options);
    if (HasFailure()) return;
  }
}

TEST(BufferEquality, EveryPairOnTheSamePrograms) {
  for (uint64_t seed = 10'001; seed <= 10'000 + Programs(4); ++seed) {
    const RandomCase random_case = MakeBufferCase(seed);
    SCOPED_TRACE(random_case.Text());
    ExpectEqual(*random_case.reader, random_case.machine, Those(DefaultConfigurations().accepted, random_case.machine));
    if (HasFailure()) return;
    ExpectEqual(*random_case.reader, random_case.machine, Those(VariedConfigurations().accepted, random_case.machine));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
