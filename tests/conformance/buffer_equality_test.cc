// The front end with instruction buffers against its polling reference: the same result in every field, and the same
// issues in the same cycles, whatever the program, the policies and the machine.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"
#include "tests/random/random_machine.h"

namespace heddle::replay {
namespace {

TEST(BufferEquality, RandomProgramsOnRandomMachines) {
  for (const uint64_t seed : Seeds(1, 80)) {
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

// Pairs of policies, a few on each program. A thorough run takes every pair with its default parameters; the slices of
// a campaign go on to every pair with one parameter changed, and begin again.
TEST(BufferEquality, PairsInTurns) {
  constexpr size_t kPairsPerProgram = 12;
  std::vector<AcceptedConfiguration> pairs = Shuffled(DefaultConfigurations(Seams::kAll).accepted);
  const uint64_t programs = (pairs.size() + kPairsPerProgram - 1) / kPairsPerProgram;
  const std::vector<AcceptedConfiguration> varied = Shuffled(VariedConfigurations(Seams::kAll).accepted);
  pairs.insert(pairs.end(), varied.begin(), varied.end());
  ASSERT_FALSE(pairs.empty());
  uint64_t next = Slice() * Programs(programs) * kPairsPerProgram;
  for (const uint64_t seed : Seeds(10'001, programs)) {
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
