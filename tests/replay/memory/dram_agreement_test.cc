// The DRAM controller that skips cycles against the one that counts down in every cycle: random machines, random
// traffic. The commands of both are checked against the data sheet's distances.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <vector>

#include "replay/memory/dram/dram_controller.h"
#include "tests/random/random.h"
#include "tests/replay/memory/dram_log.h"
#include "tests/replay/memory/dram_machines.h"
#include "tests/replay/memory/reference_dram.h"

namespace heddle::replay {
namespace {

struct Served {
  uint32_t tag;  // ascending by arrival
  DramRequest request;
  uint64_t last_command;  // cycle of its last column access
};

// Requests that were served out of the order of their arrival, by the rules that no schedule may break.
void CheckOrder(const machine::v1::Dram& dram, const std::vector<Served>& served) {
  const bool fifo = dram.scheduler() == machine::v1::Dram::FIFO;
  for (const Served& old : served) {
    uint32_t passed = 0;
    for (const Served& young : served) {
      if (young.tag <= old.tag || young.request.bank != old.request.bank) continue;
      const bool before = young.last_command < old.last_command;
      passed += before;
      ASSERT_FALSE(before && fifo) << "FIFO: " << young.tag << " before " << old.tag;
      ASSERT_FALSE(before && young.request.row == old.request.row)
          << "same row: " << young.tag << " before " << old.tag;
    }
    if (dram.starvation_cap() != 0) {
      ASSERT_LE(passed, dram.starvation_cap()) << "request " << old.tag;
    }
  }
}

enum class Traffic {
  kDense,       // up to two requests per cycle
  kWithPauses,  // a few requests after pauses of hundreds of cycles
};

// `force`: the controller under test runs every cycle.
void Compare(const machine::v1::Dram& dram, Random& random, Traffic traffic, bool force) {
  const absl::StatusOr<DramParameters> parameters = DramParameters::Make(dram);
  ASSERT_TRUE(parameters.ok()) << parameters.status();
  DramController controller(*parameters);
  DramLog log;
  controller.set_observer(&log);
  ReferenceDram reference(dram);

  const bool dense = traffic == Traffic::kDense;
  const uint64_t traffic_cycles = dense ? random.In(20, 400) : random.In(5'000, 20'000);
  const uint32_t rows = random.In(1, 4);
  const uint64_t write_chance = random.OneOf({0, 20, 50, 100});
  uint64_t push_chance = 30;
  std::vector<DramRequest> requests;
  std::vector<Served> served;
  for (uint64_t cycle = 0; cycle < traffic_cycles || !reference.drained() || !controller.drained(); ++cycle) {
    ASSERT_LT(cycle, 2'000'000u) << "never drained";
    if (dense && cycle % 16 == 0) push_chance = random.OneOf({0, 3, 15, 50, 100});
    if (!dense) push_chance = cycle % 500 < 2 ? 50 : 0;
    for (int tries = 0; cycle < traffic_cycles && tries < 2 && random.Chance(push_chance); ++tries) {
      ASSERT_EQ(controller.HasRoom(), reference.HasRoom()) << "cycle " << cycle;
      if (!controller.HasRoom()) break;
      const DramRequest request{.request = {.tag = static_cast<uint32_t>(requests.size())},
                                .row = static_cast<uint32_t>(random.Below(rows)),
                                .bytes = static_cast<uint32_t>(random.OneOf({8, 32, 64, 128})),
                                .bank = static_cast<uint16_t>(random.Below(dram.banks())),
                                .write = random.Chance(write_chance)};
      requests.push_back(request);
      controller.Push(request, cycle);
      reference.Push(request, cycle);
    }
    if (force || controller.NextEvent() <= cycle) controller.Tick(cycle);
    reference.Tick(cycle);
    while (const DramReply* reply = controller.Reply(cycle)) {
      const std::optional<MemoryRequest> expected = reference.TakeReply(cycle);
      ASSERT_TRUE(expected.has_value()) << "cycle " << cycle;
      ASSERT_EQ(reply->request.tag, expected->tag) << "cycle " << cycle;
      const DramRequest& request = requests[reply->request.tag];
      ASSERT_EQ(reply->write, request.write);
      const uint64_t to_data = request.write ? dram.timing().wl() : dram.timing().cl();
      served.push_back({reply->request.tag, request, reply->due - parameters->timing.burst_cycles - to_data});
      controller.PopReply();
    }
    ASSERT_FALSE(reference.TakeReply(cycle).has_value()) << "cycle " << cycle;
    ASSERT_GT(controller.NextEvent(), cycle);
  }
  ASSERT_EQ(served.size(), requests.size());
  ASSERT_EQ(log.entries, reference.log());
  ASSERT_EQ(controller.counters(), reference.counters());
  ASSERT_EQ(CheckDramLog(dram, log.entries), "");
  ASSERT_NO_FATAL_FAILURE(CheckOrder(dram, served));
}

TEST(DramAgreement, SkippingCyclesChangesNothing) {
  for (uint64_t seed = 0; seed < 4'000; ++seed) {
    Random random(seed);
    ASSERT_NO_FATAL_FAILURE(Compare(RandomDram(random), random, Traffic::kDense, /*force=*/false)) << "seed " << seed;
  }
}

TEST(DramAgreement, RunningEveryCycleChangesNothing) {
  for (uint64_t seed = 0; seed < 1'000; ++seed) {
    Random random(seed);
    ASSERT_NO_FATAL_FAILURE(Compare(RandomDram(random), random, Traffic::kDense, /*force=*/true)) << "seed " << seed;
  }
}

// The search keeps times in few bits from a base that moves with time.
TEST(DramAgreement, LongTimesAndPausesChangeNothing) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    machine::v1::Dram dram = RandomDram(random);
    machine::v1::DramTiming& t = *dram.mutable_timing();
    const uint32_t longest = random.OneOf({1'000, 10'000});
    const auto maybe = [&](uint32_t cycles) { return random.Chance(40) ? random.In(1, longest) : cycles; };
    t.set_cl(maybe(t.cl()));
    t.set_wl(maybe(t.wl()));
    t.set_rcd(maybe(t.rcd()));
    t.set_ras(maybe(t.ras()));
    t.set_rp(maybe(t.rp()));
    t.set_rc(maybe(t.rc()));
    t.set_rrd(maybe(t.rrd()));
    t.set_ccd_group(maybe(t.ccd_group()));
    t.set_wtr(maybe(t.wtr()));
    t.set_wr(maybe(t.wr()));
    t.set_rtp(maybe(t.rtp()));
    ASSERT_NO_FATAL_FAILURE(Compare(dram, random, Traffic::kWithPauses, /*force=*/false)) << "seed " << seed;
  }
}

// Cycles that need more bits than a time has, after a pause of any length.
TEST(DramAgreement, TheLengthOfAPauseDoesNotMatter) {
  const absl::StatusOr<DramParameters> parameters = DramParameters::Make(Gtx480Dram());
  ASSERT_TRUE(parameters.ok()) << parameters.status();
  std::vector<DramLogEntry> expected;
  for (const uint64_t second : {2'000ul, 2'048ul, 33'000ul, 70'000ul, (1ul << 28) - 1, 1ul << 32, 1ul << 45}) {
    DramController controller(*parameters);
    DramLog log;
    controller.set_observer(&log);
    for (const uint64_t first : {uint64_t{0}, second}) {  // another row of the same banks
      log.entries.clear();
      for (uint32_t i = 0; i < 12; ++i) {
        controller.Push({.row = first != 0, .bytes = 128, .bank = static_cast<uint16_t>(i % 5)}, first);
      }
      for (uint64_t cycle = first; !controller.drained(); cycle = std::max(cycle + 1, controller.NextEvent())) {
        controller.Tick(cycle);
        while (controller.Reply(cycle) != nullptr) controller.PopReply();
      }
      for (DramLogEntry& entry : log.entries) entry.cycle -= first;
    }
    ASSERT_EQ(log.entries.size(), 5 + 5 + 12 * 2);  // precharges, activates, reads
    if (expected.empty()) expected = log.entries;
    ASSERT_EQ(log.entries, expected) << "second requests in cycle " << second;
  }
}

// The checker itself finds what is broken.
TEST(DramLog, TheCheckFindsViolations) {
  using enum DramCommand;
  const machine::v1::Dram dram = Gddr3Dram();
  EXPECT_EQ(
      CheckDramLog(dram, {{0, kActivate, 0, 5}, {12, kRead, 0, 5}, {21, kPrecharge, 0, 5}, {34, kActivate, 0, 6}}), "");
  EXPECT_EQ(CheckDramLog(dram, {{0, kActivate, 0, 5}, {11, kRead, 0, 5}}), "RD0 11: tRCD");
  EXPECT_EQ(CheckDramLog(dram, {{0, kActivate, 0, 5}, {20, kPrecharge, 0, 5}}), "PRE0 20: tRAS");
  EXPECT_EQ(CheckDramLog(dram, {{0, kActivate, 0, 5}, {21, kPrecharge, 0, 5}, {33, kActivate, 0, 6}}), "ACT0 33: tRC");
  EXPECT_EQ(CheckDramLog(dram, {{0, kActivate, 0, 5}, {30, kPrecharge, 0, 5}, {42, kActivate, 0, 6}}), "ACT0 42: tRP");
  EXPECT_EQ(CheckDramLog(dram, {{0, kActivate, 0, 5}, {7, kActivate, 1, 5}}), "ACT1 7: tRRD");
  EXPECT_EQ(CheckDramLog(dram, {{0, kActivate, 0, 5}, {12, kRead, 0, 5}, {13, kRead, 0, 5}}), "RD0 13: tCCD");
  EXPECT_EQ(CheckDramLog(dram, {{0, kActivate, 0, 5}, {12, kRead, 0, 5}, {20, kWrite, 0, 5}}), "WR0 20: tRTW");
  EXPECT_EQ(CheckDramLog(dram, {{0, kActivate, 0, 5}, {12, kWrite, 0, 5}, {16, kRead, 0, 5}}), "RD0 16: tWTR");
  EXPECT_EQ(CheckDramLog(dram, {{0, kActivate, 0, 5}, {12, kRead, 0, 6}}), "RD0 12: accesses a row that is not open");
  EXPECT_EQ(CheckDramLog(dram, {{0, kActivate, 0, 5}, {0, kActivate, 1, 5}}), "ACT1 0: two commands in a cycle");
  machine::v1::Dram early = dram;
  early.mutable_timing()->set_rtw(2);
  EXPECT_EQ(CheckDramLog(early, {{0, kActivate, 0, 5}, {12, kRead, 0, 5}, {18, kWrite, 0, 5}}),
            "WR0 18: data overlap on the bus");
}

}  // namespace
}  // namespace heddle::replay
