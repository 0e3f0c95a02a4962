// An SM's memory under memory policies: against the reference, and against itself without one.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "replay/memory/sm/hierarchy_sm.h"
#include "tests/replay/memory/memory_driver.h"
#include "tests/replay/memory/random_memory_case.h"
#include "tests/replay/memory/reference_sm_memory.h"
#include "tests/replay/memory/sm/random_memory_policy.h"

namespace heddle::replay {
namespace {

struct Outcome {
  MemoryLog log;
  std::vector<std::string> calls;  // of the policy
  std::vector<ScriptedPort::Sent> sent;
  SmMemoryCounters counters;
  Cycle end = 0;
  uint64_t cycles_run = 0;
};

// `Memory` under the policy; null: without one.
template <typename Memory>
Outcome RunMemory(const RandomMemoryCase& random, const AddressWindows& windows, MemoryPolicy* policy, bool asleep) {
  ScriptedPort port(random.script);
  MemoryDriver driver(port);
  Memory memory(random.machine, windows, 1, port, driver);
  if (policy != nullptr) {
    memory.SetPolicy(*policy, random.machine.core().warp_size());
    memory.WarpsAdmitted(3, 0, 4);
    memory.WarpsAdmitted(5, 6, 2);
  }
  MemoryDriver::Options options;
  options.asleep = asleep;
  if constexpr (std::is_same_v<Memory, HierarchySm>) {
    options.check = [&] { ASSERT_TRUE(memory.Consistent()); };
  }
  const Cycle end = driver.Run(memory, random.accesses, random.fetches, options);
  EXPECT_NE(end, 0) << "hangs: " << memory.Explain();
  // No request is lost, no reply comes twice (the driver notes a lane that does).
  for (size_t access = 0; access < random.accesses.size(); ++access) {
    EXPECT_EQ(driver.lanes_done[access], random.accesses[access].access.lanes);
    EXPECT_EQ(driver.acknowledged[access] != kNever, random.accesses[access].access.op == trace::v1::OP_STORE);
  }
  Outcome outcome{driver.log, {}, port.sent, {}, end, driver.cycles_run};
  if constexpr (std::is_same_v<Memory, HierarchySm>) {
    outcome.counters = memory.Counters(end);
  } else {
    outcome.counters = memory.Counters();
  }
  return outcome;
}

template <typename Memory>
Outcome RunAtRandom(const RandomMemoryCase& random, const AddressWindows& windows, uint64_t seed, bool asleep) {
  RandomMemoryPolicy policy(seed, std::max(1u, random.machine.memory().hierarchy().l1_data().line_bytes()));
  std::vector<std::string> calls;
  policy.log = &calls;
  Outcome outcome = RunMemory<Memory>(random, windows, &policy, asleep);
  outcome.calls = std::move(calls);
  return outcome;
}

void ExpectEqual(const Outcome& fast, const Outcome& slow) {
  for (size_t call = 0; call < std::min(fast.calls.size(), slow.calls.size()); ++call) {
    ASSERT_EQ(fast.calls[call], slow.calls[call]) << "call " << call;
  }
  EXPECT_EQ(fast.calls.size(), slow.calls.size());
  for (size_t line = 0; line < std::min(fast.log.size(), slow.log.size()); ++line) {
    ASSERT_EQ(fast.log[line], slow.log[line]);
  }
  EXPECT_EQ(fast.log.size(), slow.log.size());
  EXPECT_EQ(fast.end, slow.end);
  ExpectSameRequests(fast.sent, slow.sent);
  for (int level = 0; level < kFirstLevels; ++level) {
    EXPECT_EQ(fast.counters.level[level].cache.reservation_fails, slow.counters.level[level].cache.reservation_fails);
    EXPECT_TRUE(fast.counters.level[level] == slow.counters.level[level]) << "first-level cache " << level;
  }
  EXPECT_TRUE(fast.counters == slow.counters);
}

class MemoryPolicyOnSeeds : public testing::TestWithParam<int> {};

TEST_P(MemoryPolicyOnSeeds, EqualsTheReferenceWhateverAPolicyDoes) {
  const trace::v1::FileHeader header = WindowsForTests();
  const AddressWindows windows(header);
  constexpr int kCases = 400;
  uint64_t run = 0;
  uint64_t all = 0;
  SmMemoryCounters total;
  for (int index = 0; index < kCases; ++index) {
    const uint64_t seed = 1'000'000 + static_cast<uint64_t>(GetParam()) * kCases + static_cast<uint64_t>(index);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomMemoryCase random(seed);
    const Outcome slow = RunAtRandom<ReferenceSmMemory>(random, windows, seed, /*asleep=*/false);
    const Outcome fast = RunAtRandom<HierarchySm>(random, windows, seed, /*asleep=*/true);
    ExpectEqual(fast, slow);
    ExpectEqual(RunAtRandom<HierarchySm>(random, windows, seed, /*asleep=*/false), slow);
    if (HasFailure()) FAIL() << random.machine.DebugString();
    run += fast.cycles_run;
    all += slow.end;
    total.Add(slow.counters);
  }
  EXPECT_LT(run, all * 3 / 4) << "it hardly sleeps";
  // The cases reach everything.
  EXPECT_GT(total.policy.past_misses, 1000);
  EXPECT_GT(total.policy.prefetches, 500);
  EXPECT_GT(total.policy.prefetches_not_needed, 100);
  for (const uint64_t fails : total.level[0].cache.reservation_fails) EXPECT_GT(fails, 0);
  EXPECT_GT(total.level[0].cache.write_backs, 0);
}

INSTANTIATE_TEST_SUITE_P(Random, MemoryPolicyOnSeeds, testing::Range(0, 4));

// Says of everything what the machine does anyway.
class LeastRecentUseInWords : public MemoryPolicy {
 public:
  uint32_t interests() const override { return kPlaces | kChoosesVictims | kLineAccesses | kLines | kWarps; }
};

// Where a policy chooses victims, an access needs room for a dirty line if any of the set is, whichever is chosen: that
// alone may differ. So no line is dirty here.
TEST(MemoryPolicy, APolicyThatSaysWhatTheMachineDoesChangesNothing) {
  const trace::v1::FileHeader header = WindowsForTests();
  const AddressWindows windows(header);
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomMemoryCase random(seed);
    machine::v1::Cache& data = *random.machine.mutable_memory()->mutable_hierarchy()->mutable_l1_data();
    data.set_global_write(machine::v1::Cache::WRITE_UPDATE);
    data.set_local_write(machine::v1::Cache::WRITE_EVICT);
    LeastRecentUseInWords policy;
    Outcome with = RunMemory<HierarchySm>(random, windows, &policy, /*asleep=*/true);
    with.counters.policy = {};
    ExpectEqual(with, RunMemory<HierarchySm>(random, windows, nullptr, /*asleep=*/true));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
