// Shapes of random kernels.
#include "tests/random/random.h"
#include "tests/random/random_kernel.h"

namespace heddle::replay {

KernelShape RandomShape(uint64_t seed, uint32_t warp_size) {
  Random random(MixAll({seed, 11}));
  KernelShape shape;
  shape.seed = seed;
  shape.blocks = static_cast<uint32_t>(random.Chance(70) ? random.In(1, 4) : random.In(5, 9));
  const uint64_t most_warps = warp_size >= 32 ? 3 : 6;
  shape.threads_per_block = static_cast<uint32_t>(random.Chance(50) ? warp_size * random.In(1, most_warps)
                                                                    : random.In(1, warp_size * most_warps));
  shape.nesting = static_cast<uint32_t>(random.OneOf({1, 2, 3, 3}));
  shape.least_steps = static_cast<uint32_t>(random.OneOf({1, 30, 60}));
  shape.divergent = random.Chance(88);
  shape.barriers = random.Chance(60);
  shape.counted_barriers = random.Chance(40);
  shape.early_exits = random.Chance(50);
  shape.calls = random.Chance(50);
  shape.memory = random.Chance(80);
  shape.guards = random.Chance(30);
  shape.uniform_values = random.Chance(30);
  return shape;
}

}  // namespace heddle::replay
