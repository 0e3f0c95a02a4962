// The random kernels, the trace format and the plain expansion agree on what every thread does.
#include "tests/reference/thread_expansion.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/random/random_kernel.h"
#include "tests/random/random_trace.h"
#include "traces/format/read/check.h"

namespace heddle::replay {
namespace {

void ExpectExpansionIsTheScript(const RandomKernel& kernel, const LayDown& lay_down) {
  const auto reader = WriteAndOpen({&kernel}, lay_down);
  ASSERT_EQ(reader->launches().size(), 1);
  const auto blocks = ExpandLaunch(*reader, reader->launches()[0]);
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_EQ(blocks->size(), kernel.shape.blocks);
  for (uint32_t block = 0; block < kernel.shape.blocks; ++block) {
    EXPECT_EQ((*blocks)[block].block, block);
    for (uint32_t thread = 0; thread < kernel.shape.threads_per_block; ++thread) {
      EXPECT_EQ((*blocks)[block].threads[thread], kernel.threads[block * kernel.shape.threads_per_block + thread].steps)
          << "block " << block << ", thread " << thread;
    }
  }
}

TEST(ThreadExpansion, EqualsWhatTheGeneratorMeant) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    ExpectExpansionIsTheScript(MakeRandomKernel(RandomShape(seed, 8)), {});
    if (HasFailure()) return;
  }
}

TEST(ThreadExpansion, EqualsWhatTheGeneratorMeantWhenBlocksAreCutInTime) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LayDown lay_down;
    lay_down.cut_in_time = true;
    lay_down.seed = seed;
    ExpectExpansionIsTheScript(MakeRandomKernel(RandomShape(seed, 8)), lay_down);
    if (HasFailure()) return;
  }
}

TEST(ThreadExpansion, EqualsWhatTheGeneratorMeantInManySmallChunks) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LayDown lay_down;
    lay_down.chunk_thread_instructions = 50;
    ExpectExpansionIsTheScript(MakeRandomKernel(RandomShape(seed, 4)), lay_down);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
