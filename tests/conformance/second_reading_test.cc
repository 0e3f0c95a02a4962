// TBC, TBC+ and CAPRI of the replay against a second reading of the paper, on random programs: the same warps in the
// same cycles.
#include "tests/conformance/second_reading.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/random/random.h"
#include "tests/random/random_trace.h"

namespace heddle::replay {
namespace {

using Mechanism = SecondReading::Mechanism;
using History = SecondReading::History;

struct Case {
  uint64_t seed = 0;
  RandomKernel kernel;
  machine::v1::Machine machine;
  std::map<uint32_t, std::vector<uint32_t>> latency;  // by PC and thread
};

// One block of up to six warps; no barriers, of which the paper does not speak. Some instructions take longer for some
// threads, so that warps come to branches at different times.
Case MakeCase(uint64_t seed) {
  Random random(MixAll({seed, 601}));
  Case out;
  out.seed = seed;
  const uint32_t warp_size = random.OneOf({2u, 4u, 4u, 8u});
  KernelShape shape = RandomShape(MixAll({seed, 602}), warp_size);
  shape.guards = false;  // the second readings take decisions for branches
  shape.uniform_values = false;
  shape.blocks = 1;
  shape.threads_per_block = static_cast<uint32_t>(random.In(1, 6 * warp_size));
  shape.barriers = false;
  shape.divergent = true;
  shape.memory = false;
  out.kernel = MakeRandomKernel(shape);
  auto machine = LoadMachine("toy");
  EXPECT_TRUE(machine.ok()) << machine.status();
  out.machine = *std::move(machine);
  machine::v1::Core& core = *out.machine.mutable_core();
  core.set_warp_size(warp_size);
  core.set_simd_width(warp_size);
  const uint32_t instructions = static_cast<uint32_t>(out.kernel.program.instruction_size());
  for (uint32_t pc = 0; pc < instructions; ++pc) {
    out.latency[pc].assign(shape.threads_per_block, 1);
    if (!random.Chance(25)) continue;
    machine::v1::ScriptedLatency& scripted = *core.add_scripted_latency();
    scripted.set_instruction(pc);
    scripted.set_first_thread(static_cast<uint32_t>(random.Below(shape.threads_per_block)));
    scripted.set_last_thread(static_cast<uint32_t>(random.In(scripted.first_thread(), shape.threads_per_block - 1)));
    scripted.set_cycles(static_cast<uint32_t>(random.In(2, 30)));
    for (uint32_t thread = scripted.first_thread(); thread <= scripted.last_thread(); ++thread) {
      out.latency[pc][thread] = scripted.cycles();
    }
  }
  return out;
}

std::vector<std::string> Replayed(const Case& test_case, const std::string& divergence) {
  const auto reader = WriteAndOpen({&test_case.kernel});
  SortedIssueLog log;
  ReplayOptions options;
  options.machine = test_case.machine;
  options.observer = &log;
  const auto results = Replay(*reader, {{PolicySpec::FromText(divergence), {"fifo", ""}}}, options);
  if (!results.ok()) return {std::string(results.status().message())};
  std::vector<std::string> lines;
  for (const IssueEntry& issue : log.Sorted()) {
    std::string line = std::to_string(issue.cycle) + " " + std::to_string(issue.lanes[0].pc);
    for (const LoggedLane& lane : issue.lanes) line += " " + std::to_string(lane.thread);
    lines.push_back(line);
  }
  return lines;
}

struct Variant {
  const char* divergence;
  SecondReading::Options options;
};

std::vector<Variant> Variants() {
  return {
      {"tbc:wcu_cycles_per_warp=0", {.mechanism = Mechanism::kTbc}},
      {"tbc_plus:wcu_cycles_per_warp=0", {.mechanism = Mechanism::kTbcPlus}},
      {"capri:wcu_cycles_per_warp=0", {.mechanism = Mechanism::kCapri}},
      {"capri:wcu_cycles_per_warp=0,capt_entries=2", {.mechanism = Mechanism::kCapri, .table_entries = 2}},
      {"capri:wcu_cycles_per_warp=0,history=1bS", {.mechanism = Mechanism::kCapri, .history = History::kSticky}},
      {"capri:wcu_cycles_per_warp=0,history=2b", {.mechanism = Mechanism::kCapri, .history = History::kTwoBit}},
      {"capri:wcu_cycles_per_warp=0,prediction=never_stall", {.mechanism = Mechanism::kCapri, .never_stall = true}},
  };
}

TEST(SecondReading, AgreesWithTheReplayCycleForCycle) {
  const uint64_t programs = Programs(400);
  const std::vector<Variant> variants = Variants();
  std::set<size_t> distinct;  // variants that differed from TBC at least once
  for (const uint64_t seed : Seeds(1, 400)) {
    const Case test_case = MakeCase(seed);
    std::vector<std::string> tbc;
    for (size_t v = 0; v < variants.size(); ++v) {
      const Variant& variant = variants[v];
      SecondReading::Options options = variant.options;
      options.warp_size = static_cast<int>(test_case.machine.core().warp_size());
      options.latency = [&](uint32_t thread, uint32_t pc) { return test_case.latency.at(pc)[thread]; };
      const std::vector<std::string> expected = SecondReading(test_case.kernel, options).Run();
      const std::vector<std::string> actual = Replayed(test_case, variant.divergence);
      ASSERT_EQ(actual, expected) << "seed " << seed << ", " << variant.divergence;
      if (v == 0) tbc = actual;
      if (actual != tbc) distinct.insert(v);
    }
  }
  // The programs tell the mechanisms apart.
  if (programs >= 100) {
    EXPECT_EQ(distinct.size(), variants.size() - 1);
  }
}

}  // namespace
}  // namespace heddle::replay
