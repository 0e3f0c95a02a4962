// PCAL: who holds a token, the example of docs/policies/pcal.md, and the search for a number of tokens.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/seams/memory_policy.h"
#include "tests/replay/memory/sm_memory_timing.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;

// A policy of 8 hardware warps of 32 threads.
std::unique_ptr<MemoryPolicy> Make(const std::string& name, const std::string& parameters, const WarpTable& table) {
  const auto entry = MemoryRegistry::Get().Find(name);
  EXPECT_TRUE(entry.ok()) << entry.status();
  const auto parsed = Parameters::Parse((*entry)->info, parameters);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return (*entry)->make(MemoryContext{.table = table,
                                      .warp_size = 32,
                                      .max_threads = 256,
                                      .max_blocks = 4,
                                      .sets = 1,
                                      .ways = 2,
                                      .line_bytes = 128,
                                      .mshrs = 8,
                                      .sm = 0},
                        *parsed);
}

// Hardware warps whose misses take a line.
std::vector<int> Holders(MemoryPolicy& policy) {
  std::vector<int> holders;
  for (int hw_warp = 0; hw_warp < 8; ++hw_warp) {
    LineAccess access;
    access.hw_warp = static_cast<uint16_t>(hw_warp);
    if (policy.Place(access, {}) != LinePlacement::kNoLine) holders.push_back(hw_warp);
  }
  return holders;
}

TEST(Pcal, TheOldestWarpsHoldTheTokensUntilTheyEnd) {
  const WarpTable table(8);
  const auto policy = Make("pcal", "tokens=3", table);
  policy->WarpsAdmitted(2, 4, 2);  // the older block
  EXPECT_THAT(Holders(*policy), ElementsAre(4, 5));
  policy->WarpsAdmitted(0, 0, 2);
  EXPECT_THAT(Holders(*policy), ElementsAre(0, 4, 5));
  policy->WarpEnded(4);
  EXPECT_THAT(Holders(*policy), ElementsAre(0, 1, 5));
  policy->WarpsAdmitted(2, 4, 2);  // the warp that ended is new, and the youngest; 5 has begun anew
  EXPECT_THAT(Holders(*policy), ElementsAre(0, 1, 4));
  policy->WarpEnded(0);
  policy->WarpEnded(1);
  EXPECT_THAT(Holders(*policy), ElementsAre(4, 5));
}

TEST(Pcal, AccessesOfNoWarpAreAsWithAToken) {
  const WarpTable table(8);
  const auto policy = Make("pcal", "tokens=0", table);
  policy->WarpsAdmitted(0, 0, 8);
  EXPECT_EQ(policy->Place(LineAccess(), {}), LinePlacement::kMostRecent);
  EXPECT_THAT(Holders(*policy), ElementsAre());
}

// One set of two ways. Warp w loads line w, one after another: 0 1 2 0 1 2.
class PcalExample : public SmMemoryTiming {
 protected:
  // By access: hit, miss, or past the cache.
  std::vector<std::string> Results(MemoryPolicy& policy) {
    machine_.mutable_core()->set_max_threads(256);
    memory().mutable_l1_data()->set_sets(1);
    accesses_.clear();
    for (uint64_t access = 0; access < 6; ++access) {
      const uint64_t warp = access % 3;
      Add(200 * access, trace::v1::OP_LOAD, trace::v1::SPACE_GLOBAL, kGlobalMemory + 128 * warp);
      for (ThreadId& thread : accesses_.back().threads) thread = static_cast<ThreadId>(thread + 32 * warp);
    }
    port_ = std::make_unique<ScriptedPort>(script_);
    driver_ = std::make_unique<MemoryDriver>(*port_);
    HierarchySm memory(machine_, windows_, 1, *port_, *driver_);
    memory.SetPolicy(policy, 32);
    memory.WarpsAdmitted(0, 0, 3);
    const Cycle end = driver_->Run(memory, accesses_, fetches_, {});
    EXPECT_NE(end, 0);
    counters_ = memory.Counters(end);
    std::vector<std::string> results;
    for (size_t access = 0; access < 6; ++access) {
      results.push_back(driver_->done[access] - driver_->issued[access] == 21 ? "hit" : "miss");
    }
    return results;
  }
};

TEST_F(PcalExample, TwoTokensKeepTheLinesOfTwoWarps) {
  const WarpTable table(8);
  const auto pcal = Make("pcal", "tokens=2", table);
  EXPECT_THAT(Results(*pcal), ElementsAre("miss", "miss", "miss", "hit", "hit", "miss"));
  EXPECT_EQ(counters_.policy.past_misses, 2);
  EXPECT_EQ(Data().evictions, 0);
  EXPECT_THAT(pcal->counters(), ElementsAre(4, 2, 0, 0));
  const auto all = Make("pcal", "tokens=3", table);
  EXPECT_THAT(Results(*all), ElementsAre("miss", "miss", "miss", "miss", "miss", "miss"));
  const auto lru = Make("lru", "", table);
  EXPECT_THAT(Results(*lru), ElementsAre("miss", "miss", "miss", "miss", "miss", "miss"));
  EXPECT_EQ(Data().evictions, 4);
  EXPECT_EQ(counters_.policy.policies, 0) << "it wants nothing";
}

// Windows of 100 cycles; with n tokens there are as many accesses as the list says.
TEST(Pcal, TheSearchKeepsTheNumberWithMostAccesses) {
  const WarpTable table(8);
  const auto policy = Make("pcal", "tokens_by=search,window=100,hold_windows=2", table);
  policy->WarpsAdmitted(0, 0, 8);
  std::vector<size_t> tokens;  // by window
  PrefetchList none({});
  const auto window = [&](Cycle number, int accesses) {
    for (int access = 0; access < accesses; ++access) {
      LineAccess made;
      made.now = number * 100 + static_cast<Cycle>(access);
      policy->Accessed(made, LineResult::kHit, none);
      if (access == 0) tokens.push_back(Holders(*policy).size());
    }
  };
  // All 8, then 4, 2, 1; two windows of the best, which is 4; and anew.
  const std::vector<int> accesses = {10, 30, 20, 5, 30, 30, 10, 10, 10};
  for (size_t number = 0; number < accesses.size(); ++number) window(number, accesses[number]);
  EXPECT_THAT(tokens, ElementsAre(8, 4, 2, 1, 4, 4, 8, 4, 2));
}

TEST(Pcal, OfEquallyGoodNumbersTheSearchKeepsTheLargest) {
  const WarpTable table(8);
  const auto policy = Make("pcal", "tokens_by=search,window=100,hold_windows=1", table);
  policy->WarpsAdmitted(0, 0, 8);
  PrefetchList none({});
  size_t tokens = 0;
  for (Cycle window = 0; window < 5; ++window) {
    LineAccess made;
    made.now = window * 100;
    policy->Accessed(made, LineResult::kHit, none);
    tokens = Holders(*policy).size();
  }
  EXPECT_EQ(tokens, 8u) << "all of 8, 4, 2 and 1 had one access";
}

}  // namespace
}  // namespace heddle::replay
