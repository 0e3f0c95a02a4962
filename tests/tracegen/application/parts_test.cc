// The parts of a device process by themselves: settings, choice of blocks, device memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "tracegen/application/block_choice.h"
#include "tracegen/application/settings.h"
#include "tracegen/execute/memory/device_memory.h"

namespace heddle::tracegen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using trace::v1::BlockSelection;

TEST(SettingsTest, AnyTextSurvivesTheEnvironment) {
  CaptureSettings settings;
  settings.folder = "/a b/%41&c=d\n\xff";
  settings.kernels = "k.*|^m$";
  settings.last_launch = 7;
  settings.block_rule = BlockSelection::RANDOM;
  settings.seed = ~uint64_t{0};
  settings.keep_partial = true;
  const std::string text = Encode(settings);
  const auto read = DecodeSettings(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Encode(*read), text);
  EXPECT_EQ(read->folder, settings.folder);
  EXPECT_EQ(read->seed, settings.seed);
  EXPECT_FALSE(DecodeSettings("").ok());
  EXPECT_FALSE(DecodeSettings(text.substr(0, text.size() / 2)).ok());
  EXPECT_FALSE(DecodeSettings("folder=%4").ok());
}

TEST(SettingsTest, LaunchesAreRangesThatMayBeOpen) {
  const auto read = [](const std::string& text) {
    CaptureSettings settings;
    return ReadLaunches(text, settings).ok() ? std::vector<uint64_t>{settings.first_launch, settings.last_launch}
                                             : std::vector<uint64_t>{};
  };
  EXPECT_THAT(read("3-5"), ElementsAre(3, 5));
  EXPECT_THAT(read("3-"), ElementsAre(3, ~uint64_t{0}));
  EXPECT_THAT(read("-5"), ElementsAre(0, 5));
  EXPECT_THAT(read("3"), ElementsAre(3, 3));
  for (const char* wrong : {"", "-", "5-3", "a", "3-b", "3-5-7"}) EXPECT_THAT(read(wrong), ElementsAre()) << wrong;
}

TEST(SettingsTest, TheTraceSaysWhatWasChosen) {
  CaptureSettings settings;
  EXPECT_EQ(DescribeChoice(settings), "");
  settings.kernels = "bfs";
  settings.first_launch = 2;
  settings.max_blocks = 4;
  settings.block_rule = BlockSelection::RANDOM;
  settings.seed = 9;
  EXPECT_EQ(
      DescribeChoice(settings),
      "only kernels that match 'bfs'; only launches 2-; at most 4 blocks of a launch, drawn at random with seed 9");
}

std::vector<uint64_t> Blocks(const std::vector<BlockRange>& ranges) {
  std::vector<uint64_t> blocks;
  for (const BlockRange& range : ranges) {
    EXPECT_LT(range.first, range.end);
    for (uint64_t block = range.first; block < range.end; ++block) blocks.push_back(block);
  }
  return blocks;
}

// Tesla V100: 80 multiprocessors with 2,048 threads, 32 blocks, 65,536 registers and 96 KiB of shared memory each.
TEST(BlockChoiceTest, AWaveIsWhatADeviceHoldsAtOnce) {
  EXPECT_EQ(WaveBlocks(256, 16, 0), 80 * 8) << "threads";
  EXPECT_EQ(WaveBlocks(32, 16, 0), 80 * 32) << "blocks";
  EXPECT_EQ(WaveBlocks(256, 64, 0), 80 * 4) << "registers: 64 of 2,048 per warp, 8 warps";
  EXPECT_EQ(WaveBlocks(256, 61, 0), 80 * 4) << "61 * 32 are rounded up to 2,048";
  EXPECT_EQ(WaveBlocks(64, 16, 40 << 10), 80 * 2) << "shared memory";
  EXPECT_EQ(WaveBlocks(1024, 255, 0), 80) << "at least one";
}

TEST(BlockChoiceTest, WholeWavesAreSpacedOverTheGrid) {
  EXPECT_THAT(ChooseWaves(0, 10, 95), ElementsAre(BlockRange{0, 95}));
  EXPECT_THAT(ChooseWaves(95, 10, 95), ElementsAre(BlockRange{0, 95}));
  EXPECT_THAT(ChooseWaves(10, 10, 95), ElementsAre(BlockRange{0, 10}));
  EXPECT_THAT(ChooseWaves(39, 10, 95), ElementsAre(BlockRange{0, 10}, BlockRange{30, 40}, BlockRange{60, 70}));
  EXPECT_THAT(ChooseWaves(94, 10, 95), ElementsAre(BlockRange{0, 90})) << "the last, partial wave is left out";
}

TEST(BlockChoiceTest, RulesChooseAscendingBlocksOfTheGrid) {
  EXPECT_THAT(Blocks(ChooseBlocks(BlockSelection::FIRST, 3, 0, 10)), ElementsAre(0, 1, 2));
  EXPECT_THAT(Blocks(ChooseBlocks(BlockSelection::EVENLY_SPACED, 4, 0, 10)), ElementsAre(0, 2, 5, 7));
  EXPECT_THAT(ChooseBlocks(BlockSelection::EVENLY_SPACED, 10, 0, 10), ElementsAre(BlockRange{0, 10}));
  EXPECT_THAT(ChooseBlocks(BlockSelection::RANDOM, 0, 0, 10), ElementsAre(BlockRange{0, 10}));
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<uint64_t> blocks = Blocks(ChooseBlocks(BlockSelection::RANDOM, 7, seed, 20));
    EXPECT_EQ(blocks.size(), 7u);
    EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.end()));
    EXPECT_EQ(std::set<uint64_t>(blocks.begin(), blocks.end()).size(), 7u);
    EXPECT_LT(blocks.back(), 20u);
    EXPECT_EQ(blocks, Blocks(ChooseBlocks(BlockSelection::RANDOM, 7, seed, 20)));
  }
}

TEST(BlockChoiceTest, ClustersAreChosenWhole) {
  using Ranges = std::vector<BlockRange>;
  const trace::Clusters none;
  EXPECT_EQ(WholeClusters({{3, 5}}, none), (Ranges{{3, 5}}));
  const trace::Clusters along_x({12, 1, 1}, {4, 1, 1});
  EXPECT_EQ(WholeClusters({{0, 1}, {5, 6}}, along_x), (Ranges{{0, 8}}));
  EXPECT_EQ(WholeClusters({{11, 12}}, along_x), (Ranges{{8, 12}}));
  const trace::Clusters squares({4, 4, 1}, {2, 2, 1});
  EXPECT_EQ(WholeClusters({{6, 7}}, squares), (Ranges{{2, 4}, {6, 8}}));
}

TEST(BlockChoiceTest, EveryBlockIsEquallyLikely) {
  std::vector<int> chosen(10, 0);
  for (uint64_t seed = 0; seed < 10'000; ++seed) {
    for (uint64_t block : Blocks(ChooseBlocks(BlockSelection::RANDOM, 3, seed, 10))) ++chosen[block];
  }
  for (int count : chosen) EXPECT_NEAR(count, 3000, 200);  // more than four standard deviations
}

class MemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = DeviceMemory::Create(DeviceMemory::Sharing::kApplication);
    ASSERT_TRUE(made.ok()) << made.status();
    memory_ = *std::move(made);
  }
  uint64_t Allocate(uint64_t bytes, const std::string& name = "x") {
    auto address = memory_->Allocate(bytes, name);
    EXPECT_TRUE(address.ok()) << address.status();
    return address.value_or(0);
  }
  std::unique_ptr<DeviceMemory> memory_;
};

TEST_F(MemoryTest, TheLowestFreePlaceIsTaken) {
  const uint64_t a = Allocate(1000);
  const uint64_t b = Allocate(1000);
  const uint64_t c = Allocate(1000);
  EXPECT_EQ(a % 512, 0u);
  EXPECT_GE(b, a + 1000 + 512) << "some slack lies between";
  ASSERT_TRUE(memory_->Free(a).ok());
  ASSERT_TRUE(memory_->Free(b).ok());
  EXPECT_EQ(Allocate(2000), a) << "neighbours that are free are one place";
  EXPECT_GT(Allocate(2000), c);
}

TEST_F(MemoryTest, FreedMemoryIsZeroWhenItIsUsedAgain) {
  const uint64_t a = Allocate(100'000);
  Allocate(10);
  std::memset(reinterpret_cast<void*>(a), 0xff, 100'000);
  ASSERT_TRUE(memory_->Free(a).ok());
  ASSERT_EQ(Allocate(100'000), a);
  const char* bytes = reinterpret_cast<const char*>(a);
  EXPECT_TRUE(std::all_of(bytes, bytes + 100'000, [](char byte) { return byte == 0; }));
}

TEST_F(MemoryTest, OnlyTheStartOfAnAllocationCanBeFreedAndOnlyOnce) {
  const uint64_t a = Allocate(100, "a");
  EXPECT_THAT(std::string(memory_->Free(a + 4).message()), HasSubstr("byte 4 of 'a' (100 bytes)"));
  ASSERT_TRUE(memory_->Free(a).ok());
  EXPECT_THAT(std::string(memory_->Free(a).message()), HasSubstr("byte 0 of 'a' (100 bytes), which has been freed"));
}

TEST_F(MemoryTest, ItEndsWhereADeviceWould) {
  const uint64_t before = memory_->free_bytes();
  EXPECT_FALSE(memory_->Allocate(before + 1, "large").ok());
  const uint64_t a = Allocate(before, "all");
  EXPECT_EQ(memory_->free_bytes(), 0u);
  EXPECT_FALSE(memory_->Allocate(1, "one").ok());
  ASSERT_TRUE(memory_->Free(a).ok());
  EXPECT_EQ(memory_->free_bytes(), before);
}

TEST_F(MemoryTest, AllocationsAreListedByAddress) {
  const uint64_t a = Allocate(10, "a");
  const uint64_t b = Allocate(20, "b");
  Allocate(0, "empty");
  ASSERT_TRUE(memory_->Free(a).ok());
  const std::vector<trace::v1::Allocation> list = memory_->allocations();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].base(), b);
  EXPECT_EQ(list[0].name(), "b");
  EXPECT_EQ(list[1].bytes(), 0u);
}

}  // namespace
}  // namespace heddle::tracegen
