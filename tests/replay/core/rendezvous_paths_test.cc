// Matrix instructions that the threads of a warp come to on several paths, while other warps go around them: short-
// circuit code, `if (a || b) product`.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/random/random.h"
#include "tests/replay/core/engine_harness.h"
#include "tests/replay/core/ibuffer_harness.h"
#include "tests/traces/collective_programs.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::KernelProgram;

// `if (a || b) product`: both branches meet behind the product.
KernelProgram ShortCircuit() {
  KernelProgram program = ProgramBuilder("short_circuit")
                              .Block("a")
                              .Branch("b", "product")
                              .Block("b")
                              .Alu(2)
                              .Branch("product", "end")
                              .Block("product")
                              .Alu(3)
                              .Jump("end")
                              .Block("end")
                              .Alu(1)
                              .Exit()
                              .Build();
  trace::testing::MakeProduct(*program.mutable_instruction(4));
  return program;
}
constexpr Pc kProduct = 4;

enum class Way : uint8_t { kByA, kByB, kAround };
ThreadTrace Takes(Way way) {
  return way == Way::kByA ? Thread({1}) : Thread({0, static_cast<uint8_t>(way == Way::kByB ? 0 : 1)});
}

// All threads of a warp come to the product, or none does.
void ExpectOneProductPerWarp(const std::vector<Way>& ways, uint32_t blocks) {
  std::vector<ThreadTrace> threads;
  std::map<std::pair<uint64_t, uint32_t>, int> expected;  // by block and warp
  for (size_t i = 0; i < ways.size(); ++i) {
    threads.push_back(Takes(ways[i]));
    const size_t of_block = ways.size() / blocks;
    if (ways[i] != Way::kAround) expected[{i / of_block, static_cast<uint32_t>(i % of_block / 32)}] = 1;
  }
  const auto trace = MakeTrace(ShortCircuit(), blocks, threads);
  for (const bool buffers : {false, true}) {
    for (const char* policy :
         {"pdom", "its", "nrec", "dws", "dwf", "tbc", "tbc_plus", "capri", "lwm", "lwm:large_warp_threads=0",
          "lwm:refetch=first", "lwm:refetch=first,taken_first=false", "harp", "thread_frontiers", "dpe"}) {
      SCOPED_TRACE(absl::StrCat(policy, buffers ? " with buffers" : ""));
      RunOptions options = buffers ? Small() : RunOptions();
      options.machine.mutable_core()->set_warp_size(32);
      options.machine.mutable_core()->set_simd_width(32);
      options.machine.mutable_core()->set_max_threads(256);
      options.divergence = policy;
      const Outcome outcome = RunBoth(*trace, options);
      ASSERT_TRUE(outcome.status.ok());
      std::map<std::pair<uint64_t, uint32_t>, int> products;
      for (const LoggedIssue& issue : outcome.log.issues()) {
        if (issue.members.front().pc != kProduct) continue;
        EXPECT_EQ(issue.members.size(), 32u);
        ++products[{issue.members.front().block, issue.members.front().thread / 32}];
      }
      EXPECT_EQ(products, expected);
    }
  }
}

// The first warp is whole on the first path. The second one's halves come on both.
TEST(ShortCircuit, AWholeWarpDoesNotWaitWithTheHalfOfAnother) {
  std::vector<Way> ways(32, Way::kByA);
  for (int i = 0; i < 32; ++i) ways.push_back(i % 2 == 0 ? Way::kByA : Way::kByB);
  ExpectOneProductPerWarp(ways, 1);
}

// The other half has to come past a warp that goes around.
TEST(ShortCircuit, SomeWarpsGoAround) {
  std::vector<Way> ways;
  for (int i = 0; i < 32; ++i) ways.push_back(i % 3 == 0 ? Way::kByA : Way::kByB);
  ways.resize(64, Way::kAround);
  ways.resize(96, Way::kByA);
  for (int i = 0; i < 32; ++i) ways.push_back(i < 16 ? Way::kByB : Way::kByA);
  ExpectOneProductPerWarp(ways, 1);
}

TEST(ShortCircuit, WhateverTheWays) {
  Random random(7);
  for (int run = 0; run < 20; ++run) {
    std::vector<Way> ways;
    for (int warp = 0; warp < 8; ++warp) {
      const uint64_t kind = random.Below(4);
      for (int i = 0; i < 32; ++i) {
        const Way mixed = random.Chance(50) ? Way::kByA : Way::kByB;
        ways.push_back(kind == 0 ? Way::kAround : kind == 1 ? Way::kByA : mixed);
      }
    }
    SCOPED_TRACE(run);
    ExpectOneProductPerWarp(ways, 2);
  }
}

}  // namespace
}  // namespace heddle::replay
