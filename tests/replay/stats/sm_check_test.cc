// A counter that is off by one is found at the end of a launch, whichever it is, and the error says where and when.
#include "replay/stats/sm_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Twenty port cycles: six issues, of 32 and of 5 threads, one of them inserted by the policy; the rest is lost.
struct Counts {
  SmCounters sm;
  StallCounters stalls;
};

Counts Right() {
  Counts counts;
  counts.sm.warp_instructions = 5;
  counts.sm.inserted_instructions = 1;
  counts.sm.thread_instructions = 4 * 32 + 5;
  counts.sm.issues_by_size[31] = 4;
  counts.sm.issues_by_size[4] = 1;
  counts.sm.scheduler_cycles = 20;
  counts.sm.issued = 6;
  counts.sm.stall = 3;
  counts.sm.memory = 7;
  counts.sm.idle = 4;
  counts.sm.resident_cycles = 20;
  counts.sm.idle_cycles = 14;
  counts.stalls.port_cycles = 20;
  counts.stalls.issued = 6;
  counts.stalls.structural = 3;
  counts.stalls.data_memory = 7;
  counts.stalls.fetch = 4;
  counts.stalls.warp_cycles = 40;
  counts.stalls.warp_issues = 6;
  counts.stalls.warp_class[static_cast<size_t>(WarpClass::kMemory)] = 30;
  counts.stalls.warp_class[static_cast<size_t>(WarpClass::kStructural)] = 4;
  return counts;
}

TEST(SmCheck, WhatAddsUpIsAccepted) {
  const Counts counts = Right();
  EXPECT_TRUE(CheckSm(0, 20, counts.sm, counts.stalls).ok()) << CheckSm(0, 20, counts.sm, counts.stalls);
  EXPECT_TRUE(CheckSm(0, 20, counts.sm, std::nullopt).ok());
}

TEST(SmCheck, EveryCounterThatIsOffIsFoundWithSmAndCycle) {
  struct Fault {
    std::string says;
    std::function<void(Counts&)> put;
  };
  const std::vector<Fault> faults = {
      {"scheduler cycles: issued 6 + stall 3 + memory 7 + idle 5 are not the total 20",
       [](Counts& counts) { ++counts.sm.idle; }},
      {"are not the total 21", [](Counts& counts) { ++counts.sm.scheduler_cycles; }},
      {"issues by size hold 5 issues of 133 threads, not 5 of 134",
       [](Counts& counts) { ++counts.sm.thread_instructions; }},
      {"issues by size hold 6 issues", [](Counts& counts) { ++counts.sm.issues_by_size[0]; }},
      {"scheduler cycles with an issue 6 are not the issues 5 + 2",
       [](Counts& counts) { ++counts.sm.inserted_instructions; }},
      {"more idle cycles", [](Counts& counts) { counts.sm.idle_cycles = 21; }},
      {"stall classes of the issue ports add up to 21 of 20", [](Counts& counts) { ++counts.stalls.fetch; }},
      {"stall classes of the warps add up to 40 of 41", [](Counts& counts) { ++counts.stalls.warp_cycles; }},
      {"warps issued in 7 cycles, ports in 6",
       [](Counts& counts) {
         ++counts.stalls.warp_issues;
         ++counts.stalls.warp_cycles;
       }},
      {"the stall classes count 20 port cycles, 6 issues and 4 structural stalls, the scheduler cycles 20, 6 and 3",
       [](Counts& counts) {
         ++counts.stalls.structural;
         --counts.stalls.fetch;
       }},
  };
  for (const Fault& fault : faults) {
    Counts counts = Right();
    fault.put(counts);
    const absl::Status status = CheckSm(3, 20, counts.sm, counts.stalls);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << fault.says;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("SM 3, when the launch ended in cycle 20: "), HasSubstr(fault.says)));
  }
}

}  // namespace
}  // namespace heddle::replay
