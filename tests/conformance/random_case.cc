#include "tests/conformance/random_case.h"

#include <algorithm>
#include <string>

#include "tests/random/random.h"
#include "tests/random/random_machine.h"
#include "tests/random/random_trace.h"

namespace heddle::replay {

std::string RandomCase::Text() const {
  return "seed " + std::to_string(seed) + ", machine { " + machine.ShortDebugString() + " }";
}

RandomCase MakeRandomCase(uint64_t seed) {
  Random random(MixAll({seed, 41}));
  RandomCase out;
  out.seed = seed;
  const uint32_t warp_size = random.OneOf({1u, 2u, 4u, 4u, 4u, 4u, 8u, 8u, 32u, 64u});
  const uint64_t launches = random.Chance(20) ? 2 : 1;
  MachineNeeds needs;
  needs.warp_size = warp_size;
  needs.threads_per_block = 1;
  needs.instructions = UINT32_MAX;
  for (uint64_t launch = 0; launch < launches; ++launch) {
    KernelShape shape = RandomShape(MixAll({seed, launch}), warp_size);
    if (warp_size >= 32) {
      shape.blocks = std::min(shape.blocks, 2u);
      shape.max_steps = 150;
      shape.least_steps = std::min(shape.least_steps, 30u);
    }
    out.kernels.push_back(MakeRandomKernel(shape));
    needs.threads_per_block = std::max(needs.threads_per_block, shape.threads_per_block);
    needs.instructions =
        std::min(needs.instructions, static_cast<uint32_t>(out.kernels.back().program.instruction_size()));
  }
  out.machine = RandomMachine(seed, needs);
  LayDown lay_down;
  lay_down.seed = seed;
  lay_down.cut_in_time = random.Chance(20);
  if (random.Chance(40)) lay_down.chunk_thread_instructions = random.In(20, 400);
  std::vector<const RandomKernel*> kernels;
  for (const RandomKernel& kernel : out.kernels) kernels.push_back(&kernel);
  out.reader = WriteAndOpen(kernels, lay_down);
  return out;
}

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

}  // namespace heddle::replay
