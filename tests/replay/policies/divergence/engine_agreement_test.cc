// The engine and the driver of the policy tests are two pieces of code that run the same policies: on scenarios with
// divergence, loops, exits, barriers, calls and long latencies they must issue the same threads in the same cycles.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/replay/engine_runner.h"
#include "tests/replay/policies/divergence/figures.h"
#include "tests/replay/policy_driver.h"

namespace heddle::replay {
namespace {

struct Case {
  std::string name;
  Scenario scenario;
  // Instruction, thread, cycles.
  std::vector<machine::v1::ScriptedLatency> latencies = {};
};

machine::v1::ScriptedLatency Latency(Pc pc, uint32_t thread, uint32_t cycles) {
  machine::v1::ScriptedLatency latency;
  latency.set_instruction(pc);
  latency.set_first_thread(thread);
  latency.set_last_thread(thread);
  latency.set_cycles(cycles);
  return latency;
}

// Unconditional branches, and a branch marked as uniform that is.
Scenario Jumps() {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 2, "D").Block('C', 1, "D").Block('D', 1, "AE", 'E').Block('E', 1, "F");
  scenario.Block('F', 2, "").Jump('B').Jump('E').Uniform('D');
  return scenario.ThreadBlock({"ABDACDEF", "ACDACDEF", "ABDABDEF", "ACDABDEF", "ABDABDEF", "ABDABDEF", "ABDABDEF"});
}

Scenario Exits() {
  Scenario scenario;
  scenario.Block('L', 1, "XM").Block('X', 1, "").Block('M', 1, "LE").Block('E', 1, "");
  return scenario.ThreadBlock({"LME", "LMLME", "LMLX", "LME", "LX", "LMLMLX", "LME", "LMLME"});
}

Scenario Barriers() {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 3, "D").Block('C', 4, "D").Block('D', 2, "");
  scenario.Barrier('B', 0).Barrier('B', 2).Barrier('C', 1).Barrier('C', 3).Barrier('D', 0);
  return scenario.ThreadBlock({"ABD", "ACD", "ABD", "ACD", "ACD", "ACD", "ACD", "ACD", "ABD", "ABD"});
}

Scenario BarrierAfterExit() {
  Scenario scenario;
  scenario.Block('A', 1, "XB").Block('X', 3, "").Block('B', 2, "CE", 'E').Block('C', 2, "E").Block('E', 2, "");
  scenario.Barrier('B', 0).Barrier('E', 0);
  return scenario.ThreadBlock({"AX", "ABCE", "ABE", "ABCE", "AX", "AX", "ABE", "ABCE", "AX", "AX", "AX", "AX"});
}

Scenario Recursion() {
  Scenario scenario;
  scenario.Call('A', 1, 'F', 'B').Block('B', 1, "");
  scenario.Function()
      .Block('F', 1, "RS", 'T')
      .Call('R', 1, 'F', 'C')
      .Block('C', 1, "T")
      .Block('S', 1, "T")
      .Return('T', 1);
  return scenario.ThreadBlock({"AFSTB", "AFRFSTCTB", "AFRFRFSTCTCTB", "AFSTB", "AFRFSTCTB", "AFSTB", "AFRFRFSTCTCTB"});
}

Scenario SeveralBlocks() {
  Scenario scenario = FungBlocks();
  return scenario.ThreadBlock({"ABCEG", "AFG", "AFG", "AFG", "ABDEG", "ABCEG"});
}

std::vector<Case> Cases() {
  return {
      {"Fung31", FungFigure31()},
      {"Fung41", FungFigure41()},
      {"Fung41SlowB", FungFigure41(), {Latency(1, 1, 7), Latency(5, 4, 3)}},
      {"Capri1", CapriFigure1()},
      {"Capri1SlowA", CapriFigure1(), {Latency(1, 0, 20)}},
      {"EvenOdd", EvenOddLoop(), {Latency(1, 3, 5)}},
      {"Jumps", Jumps()},
      {"JumpsSlow", Jumps(), {Latency(0, 4, 7), Latency(1, 0, 4)}},
      {"Exits", Exits()},
      {"ExitsSlow", Exits(), {Latency(2, 7, 9)}},
      {"Barriers", Barriers()},
      {"BarriersSlow", Barriers(), {Latency(2, 0, 6), Latency(7, 5, 4)}},
      {"BarrierAfterExit", BarrierAfterExit(), {Latency(3, 0, 5)}},
      {"Recursion", Recursion()},
      {"PartialWarp", SeveralBlocks()},
  };
}

class EngineAgreement : public testing::TestWithParam<std::string> {};

TEST_P(EngineAgreement, OnEveryCycle) {
  const std::string& text = GetParam();
  const std::string divergence = text.substr(0, text.find(' '));
  const std::string scheduler = text.substr(text.find(' ') + 1);
  for (const Case& c : Cases()) {
    PolicyDriver::Options options;
    options.divergence = divergence;
    options.scheduler = scheduler;
    options.latency = [&c](uint32_t thread, Pc pc) {
      uint32_t cycles = 1;
      for (const machine::v1::ScriptedLatency& latency : c.latencies) {
        if (latency.instruction() == pc && latency.first_thread() == thread) cycles = latency.cycles();
      }
      return cycles;
    };
    PolicyDriver driver(c.scenario, options);
    const std::string expected = driver.Run();
    EXPECT_EQ(driver.issued_threads(), c.scenario.thread_instructions()) << c.name << ": " << expected;
    EXPECT_EQ(RunOnEngine(c.scenario, divergence, scheduler, 4, c.latencies).log, expected) << c.name;
  }
}

std::vector<std::string> Pairs() {
  std::vector<std::string> pairs;
  for (const char* divergence :
       {"nrec",
        "pdom",
        "pdom:taken_first=false",
        "mimd",
        "dwf",
        "dwf:swizzle=none",
        "dwf:barrier_regroup=true",
        "dwf:scope=core",
        "tbc",
        "tbc:wcu_cycles_per_warp=0",
        "tbc_plus",
        "capri",
        "capri:prediction=never_stall",
        "capri:history=2b",
        "lwm",
        "lwm:large_warp_threads=8",
        "lwm:refetch=first",
        "lwm:large_warp_threads=8,refetch=first,taken_first=false",
        "harp",
        "harp:barriers=per_warp,first_level=1",
        "harp:barrier_latency=3,barrier_match=point,lookup_delay=0,barrier_entries=3,barrier_ways=2",
        "harp:first_level=2,first_level_delay=2,barrier_delay=1,second_level_port=unlimited,ready_lookup=1"}) {
    for (const char* scheduler : {"fifo", "lrr", "gto"}) pairs.push_back(std::string(divergence) + " " + scheduler);
  }
  for (const char* divergence : {"dwf", "dwf:swizzle=none", "dwf:barrier_regroup=true"}) {
    for (const char* scheduler : {"dtime", "dpc", "dmaj", "dmaj:reelect=eager,tie=oldest", "dmaj:count=warps", "dmin",
                                  "dmin:sticky=true", "dpdpri", "dpdpri:pd_rule=per_thread"}) {
      pairs.push_back(std::string(divergence) + " " + scheduler);
    }
  }
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(Policies, EngineAgreement, testing::ValuesIn(Pairs()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

}  // namespace
}  // namespace heddle::replay
