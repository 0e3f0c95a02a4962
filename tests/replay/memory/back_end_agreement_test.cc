// The event-driven back end against one that runs everything at every edge: equal in every reply and counter, over
// random machines and random traffic.
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/memory/partitioned_back_end.h"
#include "tests/replay/memory/back_end_driver.h"
#include "tests/replay/memory/reference_back_end.h"

namespace heddle::replay {
namespace {

class Dice {
 public:
  explicit Dice(uint64_t seed) : numbers_(seed) {}
  uint32_t In(uint32_t low, uint32_t high) { return low + static_cast<uint32_t>(numbers_() % (high - low + 1)); }
  uint32_t OneOf(std::initializer_list<uint32_t> choices) {
    return *(choices.begin() + In(0, static_cast<uint32_t>(choices.size()) - 1));
  }
  bool Chance(uint32_t percent) { return In(1, 100) <= percent; }

 private:
  std::mt19937_64 numbers_;
};

machine::v1::Machine RandomMachine(Dice& dice) {
  machine::v1::Machine machine = BackEndMachine();
  machine.set_sms(dice.In(1, 6));
  if (dice.Chance(70)) {
    machine.mutable_clocks()->set_core_mhz(100 * dice.In(1, 8));
    machine.mutable_clocks()->set_network_mhz(100 * dice.In(1, 8));
    machine.mutable_clocks()->set_l2_mhz(100 * dice.In(1, 8));
    machine.mutable_clocks()->set_dram_mhz(100 * dice.In(1, 8));
  }
  machine::v1::Hierarchy& hierarchy = *machine.mutable_memory()->mutable_hierarchy();
  machine::v1::Network& network = *hierarchy.mutable_network();
  network.set_sms_per_port(dice.In(1, machine.sms()));
  network.set_flit_bytes(dice.OneOf({16, 32, 40, 256}));
  network.set_input_buffer_flits(dice.In(9, 14));
  network.set_output_buffer_flits(dice.In(9, 14));
  network.set_input_speedup(dice.In(1, 3));
  network.set_allocator(dice.Chance(50) ? machine::v1::Network::PIM : machine::v1::Network::ISLIP);
  network.set_iterations(dice.In(1, 2));
  network.set_fifo_inputs(dice.Chance(20));
  network.set_seed(dice.In(0, 1000));

  machine::v1::L2& l2 = *hierarchy.mutable_l2();
  l2.set_slices_per_controller(dice.OneOf({0, 1, 1, 2, 3}));
  machine::v1::Cache& cache = *l2.mutable_cache();
  cache.set_sets(dice.OneOf({1, 2, 8}));
  cache.set_ways(dice.In(1, 4));
  cache.set_mshrs(dice.OneOf({1, 2, 4, 8}));
  cache.set_mshr_merges(dice.In(1, 4));
  cache.set_hit_cycles(dice.OneOf({1, 1, 2, 5}));
  cache.set_allocate(dice.Chance(50) ? machine::v1::Cache::ON_MISS : machine::v1::Cache::ON_FILL);
  l2.set_rop_cycles(dice.OneOf({0, 1, 5, 30, 100}));
  l2.set_dram_pipe_cycles(dice.OneOf({0, 1, 5, 30, 100}));
  l2.set_input_queue(dice.In(1, 4));
  l2.set_output_queue(dice.In(1, 4));
  l2.set_dram_queue(dice.In(2, 4));

  machine::v1::Dram& dram = *hierarchy.mutable_dram();
  dram.set_controllers(dice.In(1, 3));
  dram.set_scheduler(dice.Chance(70) ? machine::v1::Dram::FR_FCFS : machine::v1::Dram::FIFO);
  dram.set_queue(dice.OneOf({0, 1, 2, 8}));
  dram.set_starvation_cap(dice.OneOf({0, 0, 2}));
  dram.set_bank_groups(dice.OneOf({1, 4}));
  return machine;
}

std::vector<ScriptedRequest> RandomTraffic(Dice& dice, uint32_t sms) {
  std::vector<ScriptedRequest> script;
  const uint32_t requests = dice.In(1, 150);
  const uint32_t lines = dice.OneOf({2, 16, 200});
  const uint32_t pause = dice.OneOf({0, 1, 10, 300});
  Cycle from = 0;
  for (uint32_t i = 0; i < requests; ++i) {
    from += dice.In(0, pause);
    // Some lines share a bank with different rows.
    const uint64_t line = (dice.In(0, lines - 1) + (dice.Chance(20) ? uint64_t{dice.In(0, 3)} << 15 : 0)) * 128;
    const uint32_t part = 32 * dice.In(0, 3);
    MemoryRequest request;
    switch (dice.In(0, 9)) {
      case 0:
      case 1:
        request = Write(line);
        break;
      case 2:
        request = Write(line + part, 32);
        break;
      case 3:
        request = Atomic(line + part, static_cast<uint8_t>(dice.In(1, 6)), 32);
        break;
      case 4:
        request = Read(line + part, 32);
        break;
      default:
        request = Read(line);
        break;
    }
    script.push_back({dice.In(0, sms - 1), from, request});
  }
  return script;
}

TEST(BackEndAgreementTest, EqualsABackEndThatRunsEverythingAtEveryEdge) {
  constexpr uint64_t kCases = 600;
  // Every way to wait has to occur, or the test says less than it seems to.
  std::map<std::string, uint64_t> seen;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    Dice dice(seed);
    const machine::v1::Machine machine = RandomMachine(dice);
    const std::vector<ScriptedRequest> script = RandomTraffic(dice, machine.sms());
    ReferenceBackEnd reference(machine);
    const DrivenLaunch expected = Drive(reference, machine.sms(), script, /*run_all=*/true);
    ASSERT_TRUE(expected.status.ok()) << "seed " << seed << ": " << expected.status;
    for (const bool force_tick : {false, true}) {
      auto memory = PartitionedBackEnd::Make(machine, 0, force_tick);
      ASSERT_TRUE(memory.ok()) << memory.status();
      const DrivenLaunch launch = Drive(**memory, machine.sms(), script, /*run_all=*/seed % 2 == 1);
      ASSERT_TRUE(launch.status.ok()) << "seed " << seed << ": " << launch.status;
      ASSERT_EQ(launch.replies, expected.replies) << "seed " << seed << "\n" << machine.DebugString();
      ASSERT_EQ(launch.end, expected.end) << "seed " << seed;
      ASSERT_EQ(launch.result.DebugString(), expected.result.DebugString()) << "seed " << seed << "\n"
                                                                            << machine.DebugString();
    }
    const result::v1::L2Counters& l2 = expected.result.l2();
    seen["way"] += l2.cache().wait_way();
    seen["mshr"] += l2.cache().wait_mshr();
    seen["merge"] += l2.cache().wait_merge();
    seen["dram queue"] += l2.cache().wait_queue();
    seen["dram queue without a cache"] += l2.dram_queue_wait();
    seen["atomic"] += l2.atomic_wait();
    seen["output"] += l2.output_wait();
    seen["network"] += l2.network_wait();
    seen["write-back"] += l2.cache().write_backs();
    seen["pending hit"] += l2.cache().pending_hits();
    seen["blocked output"] += expected.result.network_to_memory().blocked_outputs();
    seen["cap"] += expected.result.dram().starvation_caps();
  }
  for (const auto& [what, count] : seen) EXPECT_GT(count, 0) << what;
}

}  // namespace
}  // namespace heddle::replay
