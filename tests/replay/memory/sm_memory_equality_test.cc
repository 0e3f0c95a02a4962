// HierarchySm against a memory that is written the slow way and runs in every cycle: the same calls at the same times,
// the same requests, and every counter, on random traffic, machines and networks.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "replay/memory/sm/hierarchy_sm.h"
#include "tests/replay/memory/memory_driver.h"
#include "tests/replay/memory/random_memory_case.h"
#include "tests/replay/memory/reference_sm_memory.h"

namespace heddle::replay {
namespace {

void ExpectEqual(const CacheCounters& fast, const CacheCounters& slow) {
  EXPECT_EQ(fast.accesses, slow.accesses);
  EXPECT_EQ(fast.hits, slow.hits);
  EXPECT_EQ(fast.pending_hits, slow.pending_hits);
  EXPECT_EQ(fast.misses, slow.misses);
  EXPECT_EQ(fast.evictions, slow.evictions);
  EXPECT_EQ(fast.write_backs, slow.write_backs);
  EXPECT_EQ(fast.reservation_fails, slow.reservation_fails);
}

void ExpectEqual(const SmMemoryCounters& fast, const SmMemoryCounters& slow) {
  for (int level = 0; level < kFirstLevels; ++level) {
    SCOPED_TRACE(testing::Message() << "first-level cache " << level);
    ExpectEqual(fast.level[level].cache, slow.level[level].cache);
    EXPECT_EQ(fast.level[level].mshr_occupancy, slow.level[level].mshr_occupancy);
    EXPECT_EQ(fast.level[level].requests, slow.level[level].requests);
    EXPECT_EQ(fast.level[level].request_bytes, slow.level[level].request_bytes);
  }
  EXPECT_EQ(fast.transactions, slow.transactions);
  EXPECT_EQ(fast.data_conflict_cycles, slow.data_conflict_cycles);
  EXPECT_EQ(fast.shared_passes, slow.shared_passes);
  EXPECT_EQ(fast.return_stall_cycles, slow.return_stall_cycles);
  EXPECT_EQ(fast.load_to_use.counts(), slow.load_to_use.counts());
  EXPECT_TRUE(fast == slow) << "a counter that is not listed here";
}

struct Outcome {
  MemoryLog log;
  std::vector<ScriptedPort::Sent> sent;
  SmMemoryCounters counters;
  Cycle end = 0;
  uint64_t cycles_run = 0;
};

Outcome RunFast(const RandomMemoryCase& random, const AddressWindows& windows, const MemoryDriver::Options& options) {
  ScriptedPort port(random.script);
  MemoryDriver driver(port);
  HierarchySm memory(random.machine, windows, 1, port, driver);
  MemoryDriver::Options checked = options;
  checked.check = [&] { ASSERT_TRUE(memory.Consistent()); };
  const Cycle end = driver.Run(memory, random.accesses, random.fetches, checked);
  EXPECT_NE(end, 0) << "hangs: " << memory.Explain();
  for (size_t access = 0; access < random.accesses.size(); ++access) {
    EXPECT_EQ(driver.lanes_done[access], random.accesses[access].access.lanes);
    EXPECT_EQ(driver.acknowledged[access] != kNever, random.accesses[access].access.op == trace::v1::OP_STORE);
  }
  return {driver.log, port.sent, memory.Counters(end), end, driver.cycles_run};
}

Outcome RunReference(const RandomMemoryCase& random, const AddressWindows& windows) {
  ScriptedPort port(random.script);
  MemoryDriver driver(port);
  ReferenceSmMemory memory(random.machine, windows, 1, port, driver);
  const Cycle end = driver.Run(memory, random.accesses, random.fetches, {.asleep = false});
  return {driver.log, port.sent, memory.Counters(), end, driver.cycles_run};
}

void ExpectEqual(const Outcome& fast, const Outcome& slow) {
  ASSERT_EQ(fast.log.size(), slow.log.size());
  for (size_t line = 0; line < fast.log.size(); ++line) ASSERT_EQ(fast.log[line], slow.log[line]);
  EXPECT_EQ(fast.end, slow.end);
  ExpectSameRequests(fast.sent, slow.sent);
  ExpectEqual(fast.counters, slow.counters);
}

class SmMemoryOnSeeds : public testing::TestWithParam<int> {};

TEST_P(SmMemoryOnSeeds, EqualsTheReference) {
  const trace::v1::FileHeader header = WindowsForTests();
  const AddressWindows windows(header);
  constexpr int kCases = 500;
  uint64_t run = 0;
  uint64_t all = 0;
  SmMemoryCounters total;
  for (int index = 0; index < kCases; ++index) {
    const uint64_t seed = static_cast<uint64_t>(GetParam()) * kCases + static_cast<uint64_t>(index);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomMemoryCase random(seed);
    const Outcome slow = RunReference(random, windows);
    ASSERT_NE(slow.end, 0) << "the reference hangs: " << random.machine.DebugString();
    const Outcome asleep = RunFast(random, windows, {});
    ExpectEqual(asleep, slow);
    // Running it more often than it asks for changes nothing.
    ExpectEqual(RunFast(random, windows, {.extra = [&](Cycle now) { return (now * 0x9e3779b9 + seed) % 7 < 2; }}),
                slow);
    if (HasFailure()) FAIL() << random.machine.DebugString();
    run += asleep.cycles_run;
    all += slow.end;
    total.Add(slow.counters);
  }
  EXPECT_LT(run, all * 3 / 4) << "it hardly sleeps";
  // The cases reach everything.
  for (const FirstLevelCounters& level : total.level) {
    EXPECT_GT(level.cache.hits, 0);
    EXPECT_GT(level.cache.pending_hits, 0);
    EXPECT_GT(level.cache.evictions, 0);
    for (const uint64_t fails : level.cache.reservation_fails) EXPECT_GT(fails, 0);
  }
  EXPECT_GT(total.level[0].cache.write_backs, 0);
  EXPECT_GT(total.data_conflict_cycles, 0);
  EXPECT_GT(total.shared_passes, total.shared_parts);
  EXPECT_GT(total.return_stall_cycles, 0);
}

// The machines that come with the program.
TEST(SmMemoryEquality, OnRealMachines) {
  const trace::v1::FileHeader header = WindowsForTests();
  const AddressWindows windows(header);
  int machines = 0;
  for (const auto& file : std::filesystem::directory_iterator(HEDDLE_MACHINES_DIR)) {
    if (file.path().extension() != ".textproto") continue;
    std::ifstream in(file.path());
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    machine::v1::Machine machine;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &machine)) << file.path();
    if (!machine.memory().has_hierarchy()) continue;
    ++machines;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(testing::Message() << machine.name() << ", seed " << seed);
      const RandomMemoryCase random(seed, &machine);
      const Outcome slow = RunReference(random, windows);
      ASSERT_NE(slow.end, 0) << "the reference hangs";
      ExpectEqual(RunFast(random, windows, {}), slow);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(machines, 5);
}

INSTANTIATE_TEST_SUITE_P(Random, SmMemoryOnSeeds, testing::Range(0, 4));

}  // namespace
}  // namespace heddle::replay
