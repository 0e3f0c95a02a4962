// Clusters of several thread blocks: they come as a whole, to the SMs of one group, whichever dispatcher.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/seams/block_dispatcher.h"

namespace heddle::replay {
namespace {

std::unique_ptr<BlockDispatcher> Make(const std::string& name, const DispatchContext& context) {
  const auto entry = DispatchRegistry::Get().Find(name);
  EXPECT_TRUE(entry.ok()) << entry.status();
  return (*entry)->make(context, *Parameters::Parse((*entry)->info, ""));
}

DispatchContext Context(uint64_t blocks, uint32_t cluster, uint32_t sms, uint32_t group) {
  DispatchContext context;
  context.blocks = blocks;
  context.cluster_blocks = cluster;
  context.sms = sms;
  context.cluster_sms = group;
  context.instructions = [](uint32_t, uint32_t) { return uint64_t{0}; };
  return context;
}

// SMs of blocks that come in one round, by block: "0 1 | 2 3". `resident` is brought up to date.
std::string Round(BlockDispatcher& dispatcher, std::vector<SmOccupancy>& sms) {
  const auto accepted = std::make_unique<bool[]>(sms.size());
  std::fill_n(accepted.get(), sms.size(), false);
  std::vector<uint32_t> taken;
  while (const auto next = dispatcher.Next(sms, std::span<const bool>(accepted.get(), sms.size()))) {
    accepted[next->sm] = true;
    ++sms[next->sm].resident;
    taken.push_back(next->sm);
  }
  return absl::StrJoin(taken, " ");
}

TEST(ClusterDispatch, GroupsTakeTurnsAndTheirSms) {
  const auto dispatcher = Make("thread_blocks", Context(14, 2, 5, 2));  // groups 0 1, 2 3, 4
  std::vector<SmOccupancy> sms(5, {0, 2});
  EXPECT_EQ(Round(*dispatcher, sms), "0 1 2 3 4 4") << "SM 4, alone in its group, has to take both blocks";
  EXPECT_EQ(Round(*dispatcher, sms), "0 1 2 3");
  sms[1].resident = sms[3].resident = 1;
  EXPECT_EQ(Round(*dispatcher, sms), "") << "two groups have room for one block";
  sms[2].resident = 1;
  EXPECT_EQ(Round(*dispatcher, sms), "2 3");
  sms[4].resident = 0;
  EXPECT_EQ(Round(*dispatcher, sms), "4 4");
  EXPECT_TRUE(dispatcher->done());
}

TEST(ClusterDispatch, NoneOfThemComesWithoutRoomForAll) {
  const auto dispatcher = Make("thread_blocks", Context(8, 4, 4, 4));
  std::vector<SmOccupancy> sms(4, {0, 1});
  sms[2].resident = 1;
  EXPECT_EQ(Round(*dispatcher, sms), "");
  sms[2].resident = 0;
  EXPECT_EQ(Round(*dispatcher, sms), "0 1 2 3");
  EXPECT_EQ(Round(*dispatcher, sms), "");
}

TEST(ClusterDispatch, MoreBlocksThanSmsAreSpreadEvenly) {
  const auto dispatcher = Make("thread_blocks", Context(8, 8, 3, 3));
  std::vector<SmOccupancy> sms(3, {0, 4});
  EXPECT_EQ(Round(*dispatcher, sms), "0 1 2 0 1 2 0 1");
  EXPECT_TRUE(dispatcher->done());
}

// Warps that run side by side, each for a random time; whole grids of random shapes. A cluster's warps come all in one
// cycle, to hardware warps that are free; virtual clusters only at first.
TEST(ClusterDispatch, DispatchersOfWarpsBeginClustersAsAWhole) {
  std::mt19937_64 random(1);
  for (const std::string name : {"warps", "virtual_blocks"}) {
    for (int run = 0; run < 60; ++run) {
      const uint32_t cluster = 1u << random() % 4;
      const auto group = static_cast<uint32_t>(1 + random() % 4);
      const auto sms = static_cast<uint32_t>(group + random() % 6);
      DispatchContext context = Context(cluster * (1 + random() % 9), cluster, sms, group);
      context.warps_per_block = static_cast<uint32_t>(1 + random() % 3);
      const auto most = MostOnSm(cluster, group);
      context.blocks_per_sm = context.partial_blocks_per_sm = static_cast<uint32_t>(most + random() % 3);
      context.hw_warps_per_sm = context.blocks_per_sm * context.warps_per_block;
      const auto dispatcher = Make(name, context);
      SCOPED_TRACE(absl::StrCat(name, " run ", run));
      std::multimap<Cycle, WarpAssignment> running;  // by end
      std::set<std::pair<uint32_t, uint32_t>> taken;
      std::map<uint64_t, uint32_t> left;                     // warps, by block
      std::map<uint64_t, std::pair<Cycle, uint32_t>> begun;  // by cluster: when, and in which group
      std::map<uint64_t, uint32_t> warps_of;                 // begun in that cycle
      std::set<std::pair<uint64_t, uint32_t>> sent;          // warps, by block
      uint64_t assigned = 0;
      for (Cycle now = 0;;) {
        while (const auto warp = dispatcher->NextWarp(now)) {
          ASSERT_TRUE(taken.insert({warp->sm, warp->hw_warp}).second);
          ASSERT_LT(warp->block, context.blocks);
          ASSERT_TRUE(sent.insert({warp->block, warp->warp}).second) << "block " << warp->block;
          ++assigned;
          left.try_emplace(warp->block, context.warps_per_block);
          const uint64_t number = warp->block / cluster;
          const auto [begin, is_first] = begun.try_emplace(number, now, warp->sm / group);
          EXPECT_EQ(begin->second.second, warp->sm / group);
          if (!warp->virtual_block.has_value() || warp->virtual_block->iteration == 0) {
            EXPECT_EQ(begin->second.first, now);
            ++warps_of[number];
          }
          running.insert({now + 1 + random() % 50, *warp});
        }
        for (const auto& [number, warps] : warps_of) EXPECT_EQ(warps, cluster * context.warps_per_block);
        Cycle next = dispatcher->NextFirst();
        if (!running.empty()) next = std::min(next, running.begin()->first);
        if (next == kNever) break;
        now = next;
        while (!running.empty() && running.begin()->first == now) {
          const WarpAssignment warp = running.begin()->second;
          running.erase(running.begin());
          taken.erase({warp.sm, warp.hw_warp});
          if (--left[warp.block] == 0) dispatcher->Retired(warp.sm, warp.block);
          dispatcher->WarpEnded(warp.sm, warp.hw_warp, now);
        }
      }
      EXPECT_TRUE(dispatcher->done());
      EXPECT_EQ(assigned, context.blocks * context.warps_per_block);
    }
  }
}

}  // namespace
}  // namespace heddle::replay
