// The parts of an SM's memory by themselves.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/machine.pb.h"
#include "replay/memory/sm/access_queue.h"
#include "replay/memory/sm/access_table.h"
#include "replay/memory/sm/data_banks.h"
#include "replay/memory/sm/direct_requests.h"
#include "replay/memory/sm/held_write_backs.h"
#include "replay/memory/sm/hit_pipes.h"
#include "replay/memory/sm/instruction_fetches.h"
#include "replay/memory/sm/lane_accounting.h"
#include "replay/memory/sm/network_interface.h"
#include "tests/replay/memory/scripted_port.h"

namespace heddle::replay {
namespace {

// Writes down what the core is told.
class Core final : public MemoryClient {
 public:
  void LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) override {
    log.push_back(absl::StrCat("lanes ", lanes, " of ", access, " at ", at, returned ? ", returned" : ""));
  }
  void StoreAcknowledged(AccessId access, Cycle at) override {
    log.push_back(absl::StrCat("acknowledged ", access, " at ", at));
  }
  void WaitsOffCore(AccessId access) override { log.push_back(absl::StrCat("off core ", access)); }
  void FetchArrived(uint32_t fetcher) override { log.push_back(absl::StrCat("fetch ", fetcher)); }
  void CacheEvent(const CacheNotice& /*notice*/) override {}

  std::vector<std::string> TakeLog() { return std::exchange(log, {}); }
  std::vector<std::string> log;
};
using Log = std::vector<std::string>;

WarpAccess AccessOf(AccessId id, LaneMask lanes) {
  WarpAccess access;
  access.id = id;
  access.lanes = lanes;
  return access;
}

TEST(AccessTable, TellsOfLanesAsTheyComeOrTogether) {
  Core core;
  AccessTable table(core);
  const RecordId apart = table.Begin(AccessOf(7, 0b11), /*joined=*/false, 2, 100);
  const RecordId joined = table.Begin(AccessOf(8, 0b11), /*joined=*/true, 2, 100);
  table.Deliver({apart, 0b10}, 110, /*returned=*/false);
  table.Deliver({joined, 0b10}, 112, /*returned=*/true);
  EXPECT_EQ(core.TakeLog(), (Log{"lanes 2 of 7 at 110"}));
  EXPECT_FALSE(table.empty());
  table.Deliver({joined, 0b01}, 108, /*returned=*/false);
  table.Deliver({apart, 0b01}, 120, /*returned=*/true);
  EXPECT_EQ(core.TakeLog(), (Log{"lanes 3 of 8 at 112, returned", "lanes 1 of 7 at 120, returned"}));
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.load_to_use().count(), 2u);
  EXPECT_EQ(table.load_to_use().sum(), 20u + 12u);
}

TEST(AccessTable, TellsOnceThatAnAccessWaitsOffCore) {
  Core core;
  AccessTable table(core);
  const RecordId record = table.Begin(AccessOf(5, 1), false, 2, 0);
  table.NotifyOffCore(record);
  table.NotifyOffCore(record);
  EXPECT_EQ(core.TakeLog(), (Log{"off core 5"}));
}

TEST(AccessTable, AcknowledgesAStoreNotBeforeItHasLeftTheStage) {
  Core core;
  AccessTable table(core);
  const RecordId early = table.Begin(AccessOf(1, 0b11), false, 0, 0);
  table.ExpectAcknowledgement(early);
  table.Acknowledge(early, 20);
  EXPECT_EQ(core.TakeLog(), Log{});
  table.LeaveStage(early, 0b11, 30);
  EXPECT_EQ(core.TakeLog(), (Log{"lanes 3 of 1 at 30", "acknowledged 1 at 30"}));
  const RecordId late = table.Begin(AccessOf(2, 0b11), false, 0, 0);
  table.ExpectAcknowledgement(late);
  table.LeaveStage(late, 0b11, 30);
  table.Acknowledge(late, 40);
  EXPECT_EQ(core.TakeLog(), (Log{"lanes 3 of 2 at 30", "acknowledged 2 at 40"}));
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.load_to_use().count(), 0u);
}

TEST(DirectRequests, NameTheirWaiterByTheTag) {
  DirectRequests directs;
  const uint32_t first = directs.NewTag({3, 0b1});
  const uint32_t second = directs.NewTag({4, 0b10});
  EXPECT_TRUE(DirectRequests::IsTag(first));
  EXPECT_FALSE(DirectRequests::IsTag(3));
  EXPECT_EQ(directs.Take(first).record, 3u);
  EXPECT_FALSE(directs.empty());
  EXPECT_EQ(directs.Take(second).lanes, LaneMask{0b10});
  EXPECT_TRUE(directs.empty());
}

TEST(NetworkInterface, SendsInTurnAndCountsUntilTheReply) {
  ScriptedPort port({.places = 2, .service = 0, .latency = 3});
  NetworkInterface network(port, 9, {4, 4, 4, 1});
  port.Begin(0);
  network.Queue(FirstLevel::kData, RequestKind::kWrite, 0x100, 32, NetworkInterface::kNobody);
  network.Queue(FirstLevel::kData, RequestKind::kRead, 0x200, 128, 1);
  network.Queue(FirstLevel::kInstruction, RequestKind::kRead, 0x300, 128, 2);
  EXPECT_TRUE(network.full(FirstLevel::kInstruction));
  EXPECT_EQ(network.room(FirstLevel::kData), 2u);
  EXPECT_EQ(network.outstanding(), 3u);
  // The level after the one that sent last comes first.
  EXPECT_TRUE(network.Send());
  EXPECT_TRUE(network.Send());
  EXPECT_FALSE(network.CanSend());
  EXPECT_FALSE(network.Send());
  port.Begin(1);
  EXPECT_TRUE(network.CanSend());
  EXPECT_TRUE(network.Send());
  EXPECT_FALSE(network.has_queued());
  ASSERT_EQ(port.sent.size(), 3u);
  EXPECT_EQ(port.sent[0].request.address, 0x300u);
  EXPECT_EQ(port.sent[1].request.address, 0x100u);
  EXPECT_EQ(port.sent[2].request.address, 0x200u);
  EXPECT_EQ(port.sent[2].request.sm, 9u);
  for (Cycle now = 2; network.outstanding() != 0; ++now) {
    ASSERT_LT(now, 20u);
    port.Begin(now);
    if (network.Reply() != nullptr) network.TakeReply();
  }
  SmMemoryCounters counters;
  network.AddTo(counters);
  EXPECT_EQ(counters.replies, 3u);
  const FirstLevelCounters& data = counters.level[static_cast<int>(FirstLevel::kData)];
  EXPECT_EQ(data.requests[static_cast<int>(RequestKind::kRead)], 1u);
  EXPECT_EQ(data.requests[static_cast<int>(RequestKind::kWrite)], 1u);
  EXPECT_EQ(data.request_bytes, 160u);
}

TEST(NetworkInterface, QueuesWithALineTheDirtyOneThatItDisplaced) {
  ScriptedPort port({});
  NetworkInterface network(port, 0, {4, 1, 1, 1});
  CacheOutcome outcome;
  outcome.entry = 5;
  outcome.eviction = {.happened = true, .dirty = true, .line = 3};
  network.QueueFetch(FirstLevel::kData, outcome, 2, 7, 0x1000);
  ASSERT_EQ(network.queue(FirstLevel::kData).size(), 2u);
  const MemoryRequest& read = network.queue(FirstLevel::kData)[0];
  EXPECT_EQ(read.address, 0x1000u + 2 * 128);
  EXPECT_EQ(read.tag, 5u);
  const MemoryRequest& write = network.queue(FirstLevel::kData)[1];
  EXPECT_EQ(write.kind, RequestKind::kWrite);
  EXPECT_EQ(write.address, 3u * 128);
  EXPECT_EQ(write.tag, NetworkInterface::kNobody);
}

TEST(HitPipes, DeliverAtOnceWithoutALimitOfReturns) {
  Core core;
  AccessTable table(core);
  HitPipes pipes(machine::v1::Hierarchy(), table);
  const RecordId record = table.Begin(AccessOf(1, 1), false, 1, 0);
  pipes.Hit(RegisterSource::kDataHits, {record, 1}, 12);
  EXPECT_EQ(core.TakeLog(), (Log{"lanes 1 of 1 at 12"}));
  EXPECT_TRUE(pipes.empty());
}

TEST(HitPipes, HoldHitsUntilTheyAreReadyWhereReturnsAreLimited) {
  machine::v1::Hierarchy memory;
  memory.set_returns_per_cycle(1);
  memory.mutable_shared()->set_latency(2);
  memory.mutable_l1_data()->set_hit_cycles(3);
  memory.mutable_l1_data()->set_banks(2);
  Core core;
  AccessTable table(core);
  HitPipes pipes(memory, table);
  EXPECT_EQ(pipes.NextReady(), kNever);
  for (Cycle ready = 10; ready < 12; ++ready) pipes.Hit(RegisterSource::kShared, {1, 1}, ready);
  EXPECT_FALSE(pipes.HasRoom(RegisterSource::kShared));
  for (int hit = 0; hit < 3 * 2; ++hit) {
    EXPECT_TRUE(pipes.HasRoom(RegisterSource::kDataHits));
    pipes.Hit(RegisterSource::kDataHits, {2, 1}, 11);
  }
  EXPECT_FALSE(pipes.HasRoom(RegisterSource::kDataHits));
  EXPECT_EQ(pipes.size(), 8u);
  EXPECT_EQ(pipes.NextReady(), 10u);
  EXPECT_EQ(pipes.Ready(9), 0u);
  EXPECT_EQ(pipes.Ready(10), 1u << static_cast<int>(RegisterSource::kShared));
  EXPECT_EQ(pipes.Take(RegisterSource::kShared).record, 1u);
  EXPECT_TRUE(pipes.HasRoom(RegisterSource::kShared));
  EXPECT_EQ(pipes.Ready(11),
            1u << static_cast<int>(RegisterSource::kShared) | 1u << static_cast<int>(RegisterSource::kDataHits));
  pipes.CountStall(4);
  EXPECT_EQ(pipes.stall_cycles(), 4u);
  EXPECT_EQ(core.TakeLog(), Log{});
}

TEST(HeldWriteBacks, HoldAnMshrUntilItHasDrainedAndItsLineHasLeft) {
  HeldWriteBacks held(4);
  EXPECT_TRUE(held.empty());
  EXPECT_FALSE(held.HoldsDrained(2));
  held.Add(2, 20);
  held.Add(3, 30);
  EXPECT_TRUE(held.HoldsDrained(2));
  bool drained = false;
  EXPECT_EQ(held.Take(drained).line, 20u);
  EXPECT_TRUE(drained);
  EXPECT_EQ(held.Take(drained).entry, 3u);
  EXPECT_FALSE(drained);  // its waiters are still to leave
  EXPECT_FALSE(held.HoldsDrained(3));
  EXPECT_TRUE(held.empty());
}

TEST(InstructionFetches, GiveAFetcherItsLineOnceEvenIfTheCacheHasLostIt) {
  machine::v1::Cache config;
  config.set_sets(1);
  config.set_ways(1);
  config.set_line_bytes(128);
  config.set_mshrs(2);
  config.set_mshr_merges(2);
  ScriptedPort port({});
  NetworkInterface network(port, 0, {1, 1, 1, 2});
  FirstLevelCache cache(config);
  Core core;
  InstructionFetches fetches(cache, network, core);
  bool queued = false;
  EXPECT_EQ(fetches.Fetch(0x80, 4, 0, queued), FetchResult::kPending);
  EXPECT_TRUE(queued);
  const MemoryRequest request = network.queue(FirstLevel::kInstruction).front();
  EXPECT_EQ(request.address, InstructionFetches::kProgramBase + 0x80);
  const auto comes = [&](uint64_t address, uint16_t entry) {
    fetches.LineCame(InstructionFetches::kProgramBase + address);
    cache.StartDrain(entry);
    cache.cache().Fill(entry);
    fetches.Arrived(cache.TakeWaiter(1).record);
    cache.cache().mshrs().Release(entry, 1);
    cache.EndDrain();
  };
  comes(0x80, static_cast<uint16_t>(request.tag));
  // Another fetcher takes the only way before the first one comes back.
  queued = false;
  EXPECT_EQ(fetches.Fetch(0x100, 5, 2, queued), FetchResult::kPending);
  comes(0x100, static_cast<uint16_t>(network.queue(FirstLevel::kInstruction)[1].tag));
  EXPECT_EQ(core.TakeLog(), (Log{"fetch 4", "fetch 5"}));
  queued = false;
  EXPECT_EQ(fetches.Fetch(0x84, 4, 3, queued), FetchResult::kHit);
  EXPECT_EQ(fetches.Fetch(0x100, 5, 3, queued), FetchResult::kHit);
  EXPECT_FALSE(queued);
  EXPECT_EQ(cache.cache().counters().hits, 2u);
  // Once only; and the queue is full.
  EXPECT_EQ(fetches.Fetch(0x84, 4, 4, queued), FetchResult::kRefused);
}

TEST(DataBanks, ServeOneLinePerCycleEach) {
  machine::v1::Cache config;
  config.set_banks(4);
  DataBanks banks(config);
  EXPECT_TRUE(banks.several());
  EXPECT_FALSE(banks.Taken(6, 10));
  banks.Use(6, 10);
  EXPECT_TRUE(banks.Taken(2, 10));
  EXPECT_FALSE(banks.Taken(3, 10));
  EXPECT_FALSE(banks.Taken(2, 11));
  const std::vector<uint64_t> lines = {0, 4, 8, 1, 5, 12};
  const auto line = [&](uint32_t index) { return lines[index]; };
  EXPECT_EQ(banks.Worst(0, 6, line), 4u);
  EXPECT_EQ(banks.Worst(3, 6, line), 2u);
  config.set_ideal_ports(true);
  DataBanks ideal(config);
  EXPECT_TRUE(ideal.several());
  ideal.Use(1, 5);
  EXPECT_FALSE(ideal.Taken(1, 5));
  EXPECT_EQ(ideal.Worst(0, 6, line), 0u);
  EXPECT_FALSE(DataBanks(machine::v1::Cache()).several());
}

TEST(LaneAccounting, CountsEveryLaneWithoutCoalescing) {
  machine::v1::Hierarchy memory;
  memory.set_coalescing(machine::v1::Hierarchy::COALESCING_OFF);
  LaneAccounting lanes(memory);
  ASSERT_TRUE(lanes.needed());
  AccessStep step;
  step.lanes = 0b10111;
  CacheCounters counters = {.accesses = 1, .misses = 1};
  CacheOutcome outcome;
  outcome.result = CacheResult::kMiss;
  outcome.fetch = true;
  MemoryProfile profile(3, 32);
  lanes.SetProfile(&profile);
  lanes.Count(step, outcome, 2, counters);
  EXPECT_EQ(counters.accesses, 4u);
  EXPECT_EQ(counters.misses, 1u);
  EXPECT_EQ(counters.pending_hits, 3u);
  EXPECT_EQ(profile[2].misses, 1u);
  EXPECT_EQ(profile[2].pending_hits, 3u);
  memory.set_coalescing(machine::v1::Hierarchy::COMPUTE_20);
  EXPECT_FALSE(LaneAccounting(memory).needed());
}

TEST(AccessQueue, KeepsTheOrderAndUsesPlansAgain) {
  AccessQueue queue(2);
  AccessPlan* const first = &queue.NewPlan();
  AccessPlan* const second = &queue.NewPlan();
  EXPECT_NE(first, second);
  queue.Push({.slot = 1, .plan = first});
  EXPECT_FALSE(queue.full());
  queue.Push({.slot = 2, .plan = second});
  EXPECT_TRUE(queue.full());
  EXPECT_EQ(queue.front().slot, 1);
  queue.Pop();
  queue.FreePlan(first);
  EXPECT_EQ(&queue.NewPlan(), first);
  EXPECT_EQ(queue.front().plan, second);
  EXPECT_TRUE(AccessQueue(0).full());
}

}  // namespace
}  // namespace heddle::replay
