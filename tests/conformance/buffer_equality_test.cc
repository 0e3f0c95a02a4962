// The front end with instruction buffers against its polling reference: the same result in every field, and the same
// issues in the same cycles, whatever the program, the policies and the machine.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/random_case.h"
#include "tests/reference/random.h"
#include "tests/reference/random_machine.h"

namespace heddle::replay {
namespace {

TEST(BufferEquality, RandomProgramsOnRandomMachines) {
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Programs(80); ++seed) {
    const RandomCase random_case = MakeBufferCase(seed);
    SCOPED_TRACE(random_case.Text());
    Random random(MixAll({seed, 71}));
    const std::vector<AcceptedConfiguration> drawn = DrawConfigurations(random, random_case.machine, 3);
    ComparisonOptions options;
    options.cache_bytes = random.OneOf<uint64_t>({1, 10'000, 256u << 20});
    options.force_tick = random.Chance(30);
    ExpectEqual(*random_case.reader, random_case.machine, drawn, options);
    if (HasFailure()) return;
  }
}

// Every pair of policies with its default parameters, a few on each program; then, with more programs than usual, every
// pair with one parameter changed, and so on in turns.
TEST(BufferEquality, EveryPair) {
  constexpr size_t kPairsPerProgram = 12;
  std::vector<AcceptedConfiguration> pairs = DefaultConfigurations(Seams::kAll).accepted;
  const uint64_t runs = Programs(pairs.size());
  const std::vector<AcceptedConfiguration> varied = VariedConfigurations(Seams::kAll).accepted;
  pairs.insert(pairs.end(), varied.begin(), varied.end());
  ASSERT_FALSE(pairs.empty());
  uint64_t seed = 10'000 + FirstSeed();
  for (uint64_t next = 0; next < runs; ++seed) {
    const RandomCase random_case = MakeBufferCase(seed);
    SCOPED_TRACE(random_case.Text());
    std::vector<AcceptedConfiguration> some;
    for (size_t i = 0; i < kPairsPerProgram; ++i) some.push_back(pairs[next++ % pairs.size()]);
    some = ForMachine(some, random_case.machine);
    if (some.empty()) continue;  // all of them MIMD's
    ExpectEqual(*random_case.reader, random_case.machine, some);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
