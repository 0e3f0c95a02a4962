// The DRAM controller command by command: the worked examples of the timing table, the schedulers, and the known
// limits.
#include "replay/memory/dram/dram_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/random/random.h"
#include "tests/replay/memory/dram_log.h"
#include "tests/replay/memory/dram_machines.h"

namespace heddle::replay {
namespace {

using machine::v1::Dram;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

struct Access {
  uint32_t bank = 0;
  uint32_t row = 0;
  bool write = false;
  uint32_t bytes = 16;  // one column access of this DRAM
  uint64_t arrival = 0;
};

DramController MustMake(const Dram& dram) {
  const absl::StatusOr<DramParameters> parameters = DramParameters::Make(dram);
  EXPECT_TRUE(parameters.ok()) << parameters.status();
  return DramController(*parameters);
}

struct Outcome {
  std::vector<std::string> commands;  // "ACT0 12"
  std::vector<uint64_t> last_data;    // last cycle of the data, by request
  std::vector<uint32_t> order;        // of replies
  DramCounters counters;
};

// Runs requests (by ascending arrival) to the end; numbers them from 0.
Outcome Serve(const Dram& dram, const std::vector<Access>& accesses) {
  DramController controller = MustMake(dram);
  DramLog log;
  controller.set_observer(&log);
  Outcome outcome;
  outcome.last_data.resize(accesses.size());
  size_t next = 0;
  uint64_t cycle = 0;
  for (; next < accesses.size() || !controller.drained(); ++cycle) {
    for (; next < accesses.size() && accesses[next].arrival <= cycle && controller.HasRoom(); ++next) {
      const Access& access = accesses[next];
      controller.Push({.request = {.tag = static_cast<uint32_t>(next)},
                       .row = access.row,
                       .bytes = access.bytes,
                       .bank = static_cast<uint16_t>(access.bank),
                       .write = access.write},
                      cycle);
    }
    controller.Tick(cycle);
    while (const DramReply* reply = controller.Reply(cycle)) {
      EXPECT_EQ(reply->due, cycle) << "a reply comes in the cycle after its last data";
      outcome.last_data[reply->request.tag] = cycle - 1;
      outcome.order.push_back(reply->request.tag);
      controller.PopReply();
    }
    if (cycle > 1'000'000) {
      ADD_FAILURE() << "never drained";
      break;
    }
  }
  outcome.commands = log.Described();
  outcome.counters = controller.counters();
  EXPECT_EQ(CheckDramLog(dram, log.entries), "");
  return outcome;
}

// Bank 0 idle, one burst.
TEST(DramTable, AIdleBank) {
  const Outcome outcome = Serve(Gddr3Dram(), {{.row = 5}});
  EXPECT_THAT(outcome.commands, ElementsAre("ACT0 0", "RD0 12"));
  EXPECT_THAT(outcome.last_data, ElementsAre(22));
}

TEST(DramTable, BRowHit) {
  const Outcome outcome = Serve(Gddr3Dram(), {{.row = 5}, {.row = 5}});
  EXPECT_THAT(outcome.commands, ElementsAre("ACT0 0", "RD0 12", "RD0 14"));
  EXPECT_THAT(outcome.last_data, ElementsAre(22, 24));
  EXPECT_EQ(outcome.counters.row_hits, 1u);
}

TEST(DramTable, CRowConflict) {
  const Outcome outcome = Serve(Gddr3Dram(), {{.row = 5}, {.row = 6}});
  EXPECT_THAT(outcome.commands, ElementsAre("ACT0 0", "RD0 12", "PRE0 21", "ACT0 34", "RD0 46"));
  EXPECT_THAT(outcome.last_data, ElementsAre(22, 56));
  EXPECT_EQ(outcome.counters.row_hits, 0u);
}

TEST(DramTable, DTwoBanks) {
  const Outcome outcome = Serve(Gddr3Dram(), {{.bank = 0, .row = 5}, {.bank = 1, .row = 5}});
  EXPECT_THAT(outcome.commands, ElementsAre("ACT0 0", "ACT1 8", "RD0 12", "RD1 20"));
  EXPECT_THAT(outcome.last_data, ElementsAre(22, 30));
}

TEST(DramTable, EReadWriteRead) {
  const Outcome outcome = Serve(Gddr3Dram(), {{.row = 5}, {.row = 5, .write = true}, {.row = 5}});
  EXPECT_THAT(outcome.commands, ElementsAre("ACT0 0", "RD0 12", "WR0 21", "RD0 26"));
  EXPECT_THAT(outcome.last_data, ElementsAre(22, 26, 36));
}

TEST(DramTable, FRowHitFirst) {
  const std::vector<Access> accesses = {{.row = 5, .arrival = 0}, {.row = 6, .arrival = 1}, {.row = 5, .arrival = 2}};
  const Outcome ready = Serve(Gddr3Dram(Dram::FR_FCFS), accesses);
  EXPECT_THAT(ready.commands, ElementsAre("ACT0 0", "RD0 12", "RD0 14", "PRE0 21", "ACT0 34", "RD0 46"));
  EXPECT_THAT(ready.last_data, ElementsAre(22, 56, 24));
  const Outcome fifo = Serve(Gddr3Dram(Dram::FIFO), accesses);
  EXPECT_THAT(fifo.commands,
              ElementsAre("ACT0 0", "RD0 12", "PRE0 21", "ACT0 34", "RD0 46", "PRE0 55", "ACT0 68", "RD0 80"));
  EXPECT_THAT(fifo.last_data, ElementsAre(22, 56, 90));
}

TEST(DramTable, GTheOldestBlocksAFifo) {
  const std::vector<Access> accesses = {
      {.bank = 0, .row = 5, .arrival = 0}, {.bank = 0, .row = 6, .arrival = 1}, {.bank = 1, .row = 7, .arrival = 2}};
  const Outcome fifo = Serve(Gddr3Dram(Dram::FIFO), accesses);
  EXPECT_THAT(fifo.commands, ElementsAre("ACT0 0", "RD0 12", "ACT1 13", "PRE0 21", "RD1 25", "ACT0 34", "RD0 46"));
  EXPECT_EQ(fifo.last_data[2], 35u);
  const Outcome ready = Serve(Gddr3Dram(Dram::FR_FCFS), accesses);
  EXPECT_THAT(ready.commands, ElementsAre("ACT0 0", "ACT1 8", "RD0 12", "RD1 20", "PRE0 21", "ACT0 34", "RD0 46"));
  EXPECT_EQ(ready.last_data[2], 30u);
}

// Lines of 64 bytes are four column accesses: two banks hide the activate completely (D as B).
TEST(DramTable, LinesOf64Bytes) {
  EXPECT_THAT(Serve(Gddr3Dram(), {{.row = 5, .bytes = 64}}).commands,
              ElementsAre("ACT0 0", "RD0 12", "RD0 14", "RD0 16", "RD0 18"));
  EXPECT_THAT(Serve(Gddr3Dram(), {{.row = 5, .bytes = 64}}).last_data, ElementsAre(28));
  EXPECT_THAT(Serve(Gddr3Dram(), {{.row = 5, .bytes = 64}, {.row = 5, .bytes = 64}}).last_data, ElementsAre(28, 36));
  EXPECT_THAT(Serve(Gddr3Dram(), {{.row = 5, .bytes = 64}, {.row = 6, .bytes = 64}}).last_data, ElementsAre(28, 62));
  EXPECT_THAT(Serve(Gddr3Dram(), {{.bank = 0, .bytes = 64}, {.bank = 1, .bytes = 64}}).last_data, ElementsAre(28, 36));
}

// GTX480's numbers, without its bank groups.
TEST(DramTable, Gtx480) {
  Dram dram = Gtx480Dram();
  dram.set_bank_groups(0);
  EXPECT_THAT(Serve(dram, {{.row = 5, .bytes = 64}}).last_data, ElementsAre(25));
  EXPECT_THAT(Serve(dram, {{.row = 5, .bytes = 64}, {.row = 5, .bytes = 64}}).last_data, ElementsAre(25, 27));
  const Outcome conflict = Serve(dram, {{.row = 5, .bytes = 64}, {.row = 6, .bytes = 64}});
  EXPECT_THAT(conflict.commands, ElementsAre("ACT0 0", "RD0 12", "PRE0 28", "ACT0 40", "RD0 52"));
  EXPECT_THAT(conflict.last_data, ElementsAre(25, 65));
  EXPECT_THAT(Serve(dram, {{.bank = 0, .bytes = 64}, {.bank = 1, .bytes = 64}}).last_data, ElementsAre(25, 31));
}

// Column accesses to one bank group are 3 cycles apart, to different ones 2. Banks 0 to 3 are a group, or if groups are
// interleaved 0, 4, 8 and 12.
TEST(DramTable, BankGroups) {
  Dram dram = Gtx480Dram();
  const auto reads = [&](uint32_t other_bank) {
    // The rows of both banks are open when the two last accesses come.
    return Serve(dram, {{.bank = 0, .row = 1, .bytes = 64},
                        {.bank = other_bank, .row = 1, .bytes = 64},
                        {.bank = 0, .row = 1, .bytes = 64, .arrival = 100},
                        {.bank = other_bank, .row = 1, .bytes = 64, .arrival = 100}})
        .last_data;
  };
  EXPECT_EQ(reads(1)[3] - reads(1)[2], 3u);
  EXPECT_EQ(reads(4)[3] - reads(4)[2], 2u);
  dram.set_bank_grouping(Dram::INTERLEAVED);
  EXPECT_EQ(reads(1)[3] - reads(1)[2], 2u);
  EXPECT_EQ(reads(4)[3] - reads(4)[2], 3u);
}

// Write recovery: the row of a written bank closes WL + burst + WR cycles after the write.
TEST(DramTable, WriteRecovery) {
  const Outcome outcome =
      Serve(Gtx480Dram(), {{.row = 1, .write = true, .bytes = 64}, {.row = 2, .bytes = 64, .arrival = 20}});
  // ACT 0, WR 7 (rcd_write), PRE not before 28 (RAS) and 7 + 4 + 2 + 12 = 25.
  EXPECT_THAT(outcome.commands, ElementsAre("ACT0 0", "WR0 7", "PRE0 28", "ACT0 40", "RD0 52"));
  const Outcome late = Serve(Gtx480Dram(), {{.row = 1, .write = true, .bytes = 64},
                                            {.row = 1, .write = true, .bytes = 64, .arrival = 30},
                                            {.row = 2, .bytes = 64, .arrival = 31}});
  EXPECT_THAT(late.commands, ElementsAre("ACT0 0", "WR0 7", "WR0 30", "PRE0 48", "ACT0 60", "RD0 72"));
}

// Banks take turns after the one that issued last, whatever they want to do.
TEST(DramSchedule, BanksTakeTurns) {
  const Outcome outcome = Serve(Gddr3Dram(), {{.bank = 0, .row = 1},
                                              {.bank = 1, .row = 1},
                                              {.bank = 0, .row = 1, .bytes = 48, .arrival = 100},
                                              {.bank = 1, .row = 1, .bytes = 48, .arrival = 100}});
  // Both rows are open; bank 1 issued last, so bank 0 is first; then they alternate.
  EXPECT_THAT(std::vector<std::string>(outcome.commands.begin() + 4, outcome.commands.end()),
              ElementsAre("RD0 100", "RD1 102", "RD0 104", "RD1 106", "RD0 108", "RD1 110"));
}

// A stream of row hits holds a row miss up for as long as it lasts; with a cap, for that many requests.
TEST(DramSchedule, TheCapEndsStarvation) {
  std::vector<Access> accesses = {{.row = 5}, {.row = 6}};
  for (int i = 0; i < 20; ++i) accesses.push_back({.row = 5});
  const Outcome forever = Serve(Gddr3Dram(), accesses);
  EXPECT_EQ(forever.order.back(), 1u);
  EXPECT_EQ(forever.counters.starvation_caps, 0u);
  Dram capped = Gddr3Dram();
  capped.set_starvation_cap(4);
  const Outcome outcome = Serve(capped, accesses);
  EXPECT_THAT(std::vector<uint32_t>(outcome.order.begin(), outcome.order.begin() + 6), ElementsAre(0, 2, 3, 4, 5, 1));
  EXPECT_EQ(outcome.counters.starvation_caps, 1u);
}

// A queue of two: the third request finds room when a bank has taken the first.
TEST(DramSchedule, TheQueueIsFinite) {
  Dram dram = Gddr3Dram();
  dram.set_queue(2);
  DramController controller = MustMake(dram);
  controller.Push({.row = 1, .bytes = 16}, 0);
  controller.Push({.row = 2, .bytes = 16}, 0);
  EXPECT_FALSE(controller.HasRoom());
  EXPECT_EQ(controller.NextEvent(), 0u);
  controller.Tick(0);
  EXPECT_TRUE(controller.HasRoom());
  controller.Push({.row = 3, .bytes = 16}, 1);
  EXPECT_FALSE(controller.HasRoom());
  EXPECT_THAT(controller.Explain("dram 3"), HasSubstr("dram 3: 2 requests wait for a bank"));
  EXPECT_THAT(controller.Explain("dram 3"), HasSubstr("bank 0, row 1: wants a read, allowed from cycle 12 (rcd)"));
}

TEST(DramSchedule, SleepsUntilTheNextCommandOrReply) {
  DramController controller = MustMake(Gddr3Dram());
  EXPECT_EQ(controller.NextEvent(), kNeverCycle);
  controller.Push({.row = 1, .bytes = 16}, 7);
  std::vector<uint64_t> events;
  while (!controller.drained()) {
    const uint64_t cycle = controller.NextEvent();
    events.push_back(cycle);
    controller.Tick(cycle);
    EXPECT_EQ(controller.Reply(cycle) != nullptr, cycle == 30);
    if (controller.Reply(cycle) != nullptr) controller.PopReply();
  }
  EXPECT_THAT(events, ElementsAre(7, 19, 30));  // activate, read, data complete
}

// What the counters say about case C.
TEST(DramStatistics, ARowConflict) {
  DramCounters c = Serve(Gddr3Dram(), {{.row = 5}, {.row = 6}}).counters;
  EXPECT_EQ(c.read_requests, 2u);
  EXPECT_EQ(c.reads, 2u);
  EXPECT_EQ(c.activates, 2u);
  EXPECT_EQ(c.precharges, 1u);
  EXPECT_EQ(c.bus_busy, 4u);
  EXPECT_EQ(c.queue_length, 13u);   // the second waits in cycles 0 to 12
  EXPECT_EQ(c.active_cycles, 47u);  // cycles 0 to 46
  EXPECT_EQ(c.active_banks, 47u);
  EXPECT_EQ(c.read_latency.sum(), 23u + 57u);
  EXPECT_EQ(c.read_latency.counts()[LatencyHistogram::BinOf(23)], 1u);
  EXPECT_EQ(c.read_latency.counts()[LatencyHistogram::BinOf(57)], 1u);
  std::array<uint64_t, kDramConstraints> blocked{};
  blocked[static_cast<int>(DramConstraint::kRcd)] = 22;  // 1 to 11, 35 to 45
  blocked[static_cast<int>(DramConstraint::kRas)] = 8;   // 13 to 20
  blocked[static_cast<int>(DramConstraint::kRp)] = 12;   // 22 to 33; RC ends in the same cycle, RP is first in the list
  EXPECT_EQ(c.blocked, blocked);
}

// Share of the cycles with data on the bus, over a long stream of 64-byte lines.
double BusUse(const Dram& dram, uint32_t lines, uint32_t lines_per_row) {
  std::vector<Access> accesses;
  for (uint32_t i = 0; i < lines; ++i) {
    const uint32_t row = i / lines_per_row;
    accesses.push_back({.bank = row % dram.banks(), .row = row / dram.banks(), .bytes = 64});
  }
  const Outcome outcome = Serve(dram, accesses);
  return static_cast<double>(outcome.counters.bus_busy) / (outcome.last_data.back() + 1);
}

TEST(DramLimits, StreamsOfRowHitsReachThePeakBandwidth) {
  EXPECT_GT(BusUse(Gddr3Dram(), 2'000, 2'000), 0.98);
  // Rows of 2 KB, one after another over all banks: activates and precharges hide behind the data.
  EXPECT_GT(BusUse(Gddr3Dram(), 4'000, 32), 0.98);
  EXPECT_GT(BusUse(Gddr3Dram(Dram::FIFO), 2'000, 2'000), 0.98);
  // GTX480: without bank groups every 2 cycles; in one group every 3; over groups every 2 again.
  Dram ungrouped = Gtx480Dram();
  ungrouped.set_bank_groups(0);
  EXPECT_GT(BusUse(ungrouped, 4'000, 4'000), 0.98);
  EXPECT_NEAR(BusUse(Gtx480Dram(), 4'000, 4'000), 2.0 / 3, 0.01);
}

// One bank, a new row every time: a line per row cycle (or per RAS + RP, if that is longer).
TEST(DramLimits, RowConflictsTakeARowCycleEach) {
  std::vector<Access> accesses;
  for (uint32_t i = 0; i < 101; ++i) accesses.push_back({.row = i});
  const Outcome outcome = Serve(Gddr3Dram(), accesses);
  EXPECT_EQ(outcome.last_data[100] - outcome.last_data[0], 100u * 34);
  EXPECT_EQ(outcome.counters.row_hits, 0u);
}

// Latencies of an idle controller, for any timing: idle bank, open row, other row.
TEST(DramLimits, LatenciesAreAnalytic) {
  Random random(9);
  for (int i = 0; i < 300; ++i) {
    const Dram dram = RandomDram(random);
    const machine::v1::DramTiming& t = dram.timing();
    const uint64_t burst = (dram.burst_length() + dram.data_rate() - 1) / dram.data_rate();
    constexpr uint64_t kLater = 1'000;
    const Outcome outcome = Serve(dram, {{.row = 1, .bytes = 1},
                                         {.row = 1, .bytes = 1, .arrival = kLater},
                                         {.row = 2, .bytes = 1, .arrival = 2 * kLater}});
    EXPECT_EQ(outcome.last_data[0], t.rcd() + t.cl() + burst - 1);
    EXPECT_EQ(outcome.last_data[1], kLater + t.cl() + burst - 1);
    EXPECT_EQ(outcome.last_data[2], 2 * kLater + t.rp() + t.rcd() + t.cl() + burst - 1);
  }
}

// A new launch starts at cycle 0 with the rows as they were.
TEST(DramSchedule, ALaunchBeginsAtCycleZeroWithOpenRows) {
  DramController controller = MustMake(Gddr3Dram());
  DramLog log;
  const auto drain = [&] {
    while (!controller.drained()) {
      const uint64_t cycle = controller.NextEvent();
      controller.Tick(cycle);
      if (controller.Reply(cycle) != nullptr) controller.PopReply();
    }
  };
  controller.Push({.row = 1, .bytes = 16}, 500);
  drain();
  controller.BeginLaunch();
  controller.set_observer(&log);
  controller.Push({.row = 1, .bytes = 16}, 3);
  drain();
  EXPECT_THAT(log.Described(), ElementsAre("RD0 3"));
}

std::string Refusal(const Dram& dram) { return std::string(DramParameters::Make(dram).status().message()); }

TEST(DramParametersTest, RefusesWhatCannotBeBuilt) {
  Dram dram = Gddr3Dram();
  dram.set_banks(0);
  EXPECT_THAT(Refusal(dram), HasSubstr("memory.hierarchy.dram.banks: is 0; must be 1 to 64"));
  dram.set_banks(65);
  EXPECT_THAT(Refusal(dram), HasSubstr("dram.banks: is 65"));
  dram = Gddr3Dram();
  dram.set_bank_groups(3);
  EXPECT_THAT(Refusal(dram), HasSubstr("dram.bank_groups: is 3, which does not divide the 4 banks"));
  dram = Gddr3Dram();
  dram.mutable_timing()->set_rcd(0);
  EXPECT_THAT(Refusal(dram), HasSubstr("dram.timing.rcd: must be at least 1"));
  dram = Gddr3Dram();
  dram.mutable_timing()->set_rc(2'000'000);
  EXPECT_THAT(Refusal(dram), HasSubstr("dram.timing.rc: is 2000000; at most"));
  for (const char* field : {"chips_per_controller", "bus_bytes", "burst_length", "data_rate"}) {
    dram = Gddr3Dram();
    dram.GetReflection()->SetUInt32(&dram, dram.GetDescriptor()->FindFieldByName(field), 0);
    EXPECT_THAT(Refusal(dram), HasSubstr(std::string("memory.hierarchy.dram.") + field));
  }
}

TEST(DramParametersTest, DefaultsAreDerived) {
  const absl::StatusOr<DramParameters> parameters = DramParameters::Make(Gddr3Dram());
  ASSERT_TRUE(parameters.ok());
  EXPECT_EQ(parameters->atom_bytes, 16u);
  EXPECT_EQ(parameters->AccessesFor(64), 4u);
  EXPECT_EQ(parameters->AccessesFor(65), 5u);
  EXPECT_EQ(parameters->AccessesFor(0), 1u);
  EXPECT_EQ(parameters->timing.burst_cycles, 2u);
  EXPECT_EQ(parameters->timing.column_to_column[0][1], Bound(9, DramConstraint::kRtw));  // CL + burst + 2 - WL
  EXPECT_EQ(parameters->timing.column_to_column[1][0], Bound(5, DramConstraint::kWtr));
  EXPECT_EQ(parameters->timing.write_to_precharge.cycle(), 0u);
  const absl::StatusOr<DramParameters> gtx480 = DramParameters::Make(Gtx480Dram());
  ASSERT_TRUE(gtx480.ok());
  EXPECT_EQ(gtx480->atom_bytes, 64u);
  EXPECT_EQ(gtx480->timing.column_to_column[1][0], Bound(11, DramConstraint::kWtr));  // WL + burst + WTR
  EXPECT_EQ(gtx480->timing.column_to_column[0][1], Bound(12, DramConstraint::kRtw));
  EXPECT_EQ(gtx480->timing.column_to_column_in_group[0][0], Bound(3, DramConstraint::kCcdGroup));
  EXPECT_EQ(gtx480->timing.write_to_precharge, Bound(18, DramConstraint::kWtp));
}

// Every constraint has a name of its own.
TEST(DramParametersTest, ConstraintsHaveNames) {
  std::vector<std::string> names;
  for (int i = 0; i < kDramConstraints; ++i) names.emplace_back(NameOf(static_cast<DramConstraint>(i)));
  EXPECT_THAT(names, ElementsAreArray({"rrd", "ccd", "wtr", "rtw", "rcd", "ras", "rp", "rc", "ccd_group", "wtp", "rtp",
                                       "rtp_group", "bus"}));
}

}  // namespace
}  // namespace heddle::replay
