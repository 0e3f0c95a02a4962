// Values of uniform registers in the replay: a group of threads that does not agree issues once per value, and is
// counted; both engines, every policy.
#include <bit>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/random/random_kernel.h"
#include "tests/random/random_machine.h"
#include "tests/random/random_trace.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

// One SM with one port, whose warps have four threads: a single pipeline, or instruction buffers with a latency of 4.
machine::v1::Machine Small(bool buffers) {
  machine::v1::Machine machine;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        name: "by_hand"
        sms: 1
        core {
          front_end: THESIS
          warp_size: 4
          simd_width: 4
          schedulers: 1
          pipeline_depth: 2
          max_threads: 16
          max_blocks: 4
          shared_memory_bytes: 1024
        }
        memory {
          fixed {
            global_cycles: 10
            shared_cycles: 2
            local_cycles: 2
            constant_cycles: 2
            param_cycles: 2
            texture_cycles: 2
            atomic_cycles: 2
          }
        }
        dispatch {}
      )pb",
      &machine));
  if (!buffers) return machine;
  machine.mutable_core()->set_front_end(machine::v1::Core::IBUFFER);
  machine.mutable_core()->set_pipeline_depth(1);
  EXPECT_TRUE(google::protobuf::TextFormat::MergeFromString(
      R"pb(
        ibuffer { entries: 2 fetch_instructions: 2 reformed_warp_cycles: 2 }
        units {
          sp: 1
          sfu: 1
          memory_issue_latency: 1
          memory_initiation_interval: 1
          timing { operation: INT_ALU latency: 4 initiation_interval: 1 }
        }
      )pb",
      machine.mutable_core()));
  return machine;
}

// A kernel of one block without branches. `uniform`: by thread, what the instruction at `pc` reads of uniform
// registers.
RandomKernel Straight(const std::vector<v1::OpClass>& operations, uint32_t pc,
                      const std::vector<std::vector<uint64_t>>& uniform) {
  RandomKernel kernel;
  kernel.shape.blocks = 1;
  kernel.shape.threads_per_block = static_cast<uint32_t>(uniform.size());
  kernel.program.set_name("by_hand");
  v1::Function& function = *kernel.program.add_function();
  function.set_name("by_hand");
  function.set_block_count(1);
  v1::BasicBlock& block = *kernel.program.add_block();
  block.set_instruction_count(static_cast<uint32_t>(operations.size()));
  block.set_terminator(v1::EXIT);
  uint32_t number = 0;
  for (const v1::OpClass operation : operations) {
    v1::Instruction& instruction = *kernel.program.add_instruction();
    instruction.set_op(operation);
    if (number > 0 && operation != v1::OP_EXIT) instruction.add_src(number);  // what the one before has written
    if (operation != v1::OP_EXIT) instruction.add_dst(++number);
    if (operation != v1::OP_LOAD) continue;
    instruction.set_space(v1::SPACE_GLOBAL);
    instruction.set_access_bytes(4);
  }
  v1::Instruction& reader = *kernel.program.mutable_instruction(static_cast<int>(pc));
  if (reader.op() == v1::OP_LOAD) {
    v1::Operand& address = *reader.add_operand();
    address.set_kind(v1::Operand::ADDRESS);
    address.set_space(v1::SPACE_GLOBAL);
    address.set_bytes(4);
  }
  for (size_t i = 0; i < uniform[0].size(); ++i) reader.add_operand()->set_kind(v1::Operand::UNIFORM);
  for (uint32_t thread = 0; thread < uniform.size(); ++thread) {
    ThreadScript& script = kernel.threads.emplace_back();
    for (uint32_t at = 0; at < operations.size(); ++at) {
      ScriptStep step{at, 0, operations[at] == v1::OP_LOAD, 0};
      if (step.has_address) step.address = 4096 + 4 * thread;
      if (step.has_address) script.addresses.push_back(step.address);
      if (at == pc) step.uniform = uniform[thread];
      script.addresses.insert(script.addresses.end(), step.uniform.begin(), step.uniform.end());
      script.steps.push_back(step);
    }
  }
  return kernel;
}

struct HandRun {
  std::string issues;  // "2:0": instruction 0 issues in cycle 2
  result::v1::LaunchResult launch;
  std::vector<std::string> notes;  // on uniform registers
};

// Under PDOM and LRR; both engines agree on it.
HandRun RunBoth(const RandomKernel& kernel, const machine::v1::Machine& machine) {
  const auto reader = WriteAndOpen({&kernel});
  AcceptedConfiguration checked;
  checked.configuration.divergence = {"pdom", ""};
  checked.configuration.scheduler = {"lrr", ""};
  ExpectEqual(*reader, machine, {checked});
  SortedIssueLog log;
  ReplayOptions options;
  options.machine = machine;
  options.observer = &log;
  const auto results = Replay(*reader, std::vector<Configuration>{checked.configuration}, options);
  EXPECT_TRUE(results.ok()) << results.status();
  if (!results.ok()) return {};
  HandRun run{"", (*results)[0].launch(0), {}};
  for (const std::string& note : (*results)[0].note()) {
    if (absl::StrContains(note, "uniform")) run.notes.push_back(note);
  }
  for (const IssueEntry& issue : log.Sorted()) {
    absl::StrAppend(&run.issues, run.issues.empty() ? "" : " ", issue.cycle, ":", issue.lanes[0].pc);
  }
  return run;
}

const std::vector<v1::OpClass> kAdds = {v1::OP_INT_ALU, v1::OP_INT_ALU, v1::OP_EXIT};

TEST(UniformValues, AWarpThatAgreesIssuesOnce) {
  const HandRun run = RunBoth(Straight(kAdds, 0, {{7, 1}, {7, 1}, {7, 1}, {7, 1}}), Small(false));
  EXPECT_EQ(run.issues, "0:0 2:1 4:2");
  const result::v1::UniformValues& counted = run.launch.uniform_values();
  EXPECT_EQ(counted.issues(), 1u);
  EXPECT_EQ(counted.mixed_issues(), 0u);
  EXPECT_EQ(counted.mixed_thread_instructions(), 0u);
  EXPECT_EQ(counted.extra_issues(), 0u);
  EXPECT_TRUE(run.notes.empty());
}

// Three values: the port is held for three cycles, 0 to 2.
TEST(UniformValues, OneWithThreeValuesHoldsThePortOfTheSinglePipeline) {
  const HandRun run = RunBoth(Straight(kAdds, 0, {{7, 1}, {8, 1}, {8, 2}, {8, 1}}), Small(false));
  EXPECT_EQ(run.issues, "0:0 3:1 5:2");
  EXPECT_EQ(run.launch.cycles(), 7u);
  EXPECT_EQ(run.launch.scheduler_cycles().stall(), 1u) << "cycle 2";
  const result::v1::UniformValues& counted = run.launch.uniform_values();
  EXPECT_EQ(counted.issues(), 1u);
  EXPECT_EQ(counted.mixed_issues(), 1u);
  EXPECT_EQ(counted.mixed_thread_instructions(), 4u);
  EXPECT_EQ(counted.extra_issues(), 2u);
  EXPECT_EQ(run.launch.warp_instructions(), 3u) << "further issues are counted apart";
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_EQ(run.notes[0],
            "by_hand: 100 % of the issues that read uniform registers are of threads with different values, which no "
            "warp of a device can hold; they are charged with 2 more (uniform_values)");
}

// Fetched in cycle 0. The last of three issues starts in 4, and its result is there in 8. The exit is fetched then.
TEST(UniformValues, WithInstructionBuffersTheUnitTakesOneAfterTheOther) {
  const HandRun run = RunBoth(Straight(kAdds, 0, {{1}, {2}, {3}, {3}}), Small(true));
  EXPECT_EQ(run.issues, "2:0 8:1 10:2");
}

// Two blocks of one warp: the second's add issues in cycle 3 while the first one has an ordinary issue, and not before
// 4 if that one is two.
TEST(UniformValues, AnotherWarpWaitsForThePort) {
  std::vector<std::vector<uint64_t>> values(8, {5});
  EXPECT_EQ(RunBoth(Straight({v1::OP_INT_ALU, v1::OP_EXIT}, 0, values), Small(true)).issues, "2:0 3:0 4:1 5:1");
  values[3] = {6};
  const std::string issues = RunBoth(Straight({v1::OP_INT_ALU, v1::OP_EXIT}, 0, values), Small(true)).issues;
  EXPECT_EQ(issues, "2:0 4:0 5:1 6:1");
}

TEST(UniformValues, AnAccessIsOneAfterItsIssues) {
  for (const bool buffers : {false, true}) {
    const auto kernel = [&](const std::vector<std::vector<uint64_t>>& values) {
      return Straight({v1::OP_LOAD, v1::OP_INT_ALU, v1::OP_EXIT}, 0, values);
    };
    const HandRun together = RunBoth(kernel({{1}, {1}, {1}, {1}}), Small(buffers));
    const HandRun apart = RunBoth(kernel({{1}, {2}, {1}, {2}}), Small(buffers));
    EXPECT_EQ(apart.launch.uniform_values().extra_issues(), 1u);
    EXPECT_EQ(apart.launch.memory_instructions().DebugString(), together.launch.memory_instructions().DebugString());
  }
}

// What the counters have to be for the issues that were observed.
result::v1::UniformValues Reckoned(const RandomKernel& kernel, const std::vector<IssueEntry>& issues) {
  result::v1::UniformValues sum;
  std::map<std::pair<uint64_t, uint32_t>, size_t> next;  // step of each thread
  for (const IssueEntry& issue : issues) {
    std::set<std::vector<uint64_t>> values;
    for (const LoggedLane& lane : issue.lanes) {
      const ThreadScript& script = kernel.threads[lane.block * kernel.shape.threads_per_block + lane.thread];
      const ScriptStep& step = script.steps[next[{lane.block, lane.thread}]++];
      EXPECT_EQ(step.pc, lane.pc);
      if (!step.uniform.empty()) values.insert(step.uniform);
    }
    if (values.empty()) continue;
    sum.set_issues(sum.issues() + 1);
    if (values.size() == 1) continue;
    sum.set_mixed_issues(sum.mixed_issues() + 1);
    sum.set_mixed_thread_instructions(sum.mixed_thread_instructions() + issue.lanes.size());
    sum.set_extra_issues(sum.extra_issues() + values.size() - 1);
  }
  return sum;
}

// `guards`: there may be guarded accesses, at which threads issue what their script does not have.
RandomKernel KernelWithValues(uint64_t seed, bool guards) {
  KernelShape shape = RandomShape(seed, 8);
  shape.guards = shape.guards && guards;
  shape.uniform_values = true;
  return MakeRandomKernel(shape);
}

machine::v1::Machine MachineFor(uint64_t seed, const RandomKernel& kernel) {
  MachineNeeds needs;
  needs.warp_size = 8;
  needs.threads_per_block = kernel.shape.threads_per_block;
  needs.registers_per_thread = kernel.program.register_count();
  needs.instructions = static_cast<uint32_t>(kernel.program.instruction_size());
  return seed % 2 == 0 ? RandomMachine(seed, needs) : RandomBufferMachine(seed, needs);
}

// Policies whose issue may hold several PCs form it of groups that nobody sees here.
std::vector<AcceptedConfiguration> OfOneGroup() {
  std::vector<AcceptedConfiguration> all = DefaultConfigurations().accepted;
  std::erase_if(all, [](const AcceptedConfiguration& one) { return one.mixed_pcs; });
  return all;
}

TEST(UniformValues, CountersAreThoseOfTheIssuesUnderEveryPairOfPolicies) {
  uint64_t mixed = 0;
  uint64_t regrouped = 0;
  for (const uint64_t seed : Seeds(910'000, 24)) {
    const RandomKernel kernel = KernelWithValues(seed, /*guards=*/false);
    const auto reader = WriteAndOpen({&kernel});
    const machine::v1::Machine machine = MachineFor(seed, kernel);
    const std::vector<AcceptedConfiguration> accepted = ForMachine(OfOneGroup(), machine);
    std::vector<Configuration> configurations;
    for (const AcceptedConfiguration& one : accepted) configurations.push_back(one.configuration);
    SortedIssueLog log(configurations.size());
    ReplayOptions options;
    options.machine = machine;
    options.observer = &log;
    const auto results = Replay(*reader, configurations, options);
    ASSERT_TRUE(results.ok()) << results.status();
    for (size_t c = 0; c < configurations.size(); ++c) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, ", ", accepted[c].Text()));
      const result::v1::LaunchResult& launch = (*results)[c].launch(0);
      const result::v1::UniformValues wanted = Reckoned(kernel, log.Sorted(c));
      if (wanted.issues() != 0) {
        EXPECT_EQ(launch.uniform_values().DebugString(), wanted.DebugString());
      }
      NoteChecked(configurations[c]);
      mixed += wanted.mixed_issues();
      regrouped += accepted[c].regroups ? wanted.mixed_issues() : 0;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(mixed, 100u) << "the programs show too little";
  EXPECT_GT(regrouped, 10u) << "the programs show too little";
}

TEST(UniformValues, BothEnginesAgree) {
  for (const uint64_t seed : Seeds(920'000, 40)) {
    const RandomKernel kernel = KernelWithValues(seed, /*guards=*/true);
    const auto reader = WriteAndOpen({&kernel}, {.cut_in_time = seed % 3 == 0, .seed = seed});
    const machine::v1::Machine machine = MachineFor(seed, kernel);
    Random random(seed);
    SCOPED_TRACE(absl::StrCat("seed ", seed, ", machine { ", machine.ShortDebugString(), " }"));
    ExpectEqual(*reader, machine, DrawConfigurations(random, machine, 6));
    if (HasFailure()) return;
  }
}

// Where all threads agree, nothing is as if nobody had recorded it but the counters.
TEST(UniformValues, WhereAllThreadsAgreeTheyChangeNothing) {
  for (const uint64_t seed : Seeds(930'000, 24)) {
    RandomKernel kernel = KernelWithValues(seed, /*guards=*/false);
    RandomKernel plain = kernel;
    for (v1::Instruction& instruction : *plain.program.mutable_instruction()) instruction.clear_operand();
    for (size_t t = 0; t < kernel.threads.size(); ++t) {
      ThreadScript& script = kernel.threads[t];
      ThreadScript& without = plain.threads[t];
      script.addresses.clear();
      without.addresses.clear();
      for (size_t i = 0; i < script.steps.size(); ++i) {
        ScriptStep& step = script.steps[i];
        without.steps[i].uniform.clear();
        if (step.has_address) script.addresses.push_back(step.address);
        if (step.has_address) without.addresses.push_back(step.address);
        for (uint64_t& value : step.uniform) script.addresses.push_back(value = 3 * step.pc);
      }
    }
    const auto with = WriteAndOpen({&kernel});
    const auto reader = WriteAndOpen({&plain});
    const machine::v1::Machine machine = MachineFor(seed, kernel);
    std::vector<Configuration> configurations;
    for (const AcceptedConfiguration& one : ForMachine(DefaultConfigurations().accepted, machine)) {
      configurations.push_back(one.configuration);
    }
    ReplayOptions options;
    options.machine = machine;
    const trace::TraceReader* const traces[] = {with.get(), reader.get()};
    const auto results = ReplayTraces(traces, configurations, options);
    ASSERT_TRUE(results.ok()) << results.status();
    for (size_t c = 0; c < configurations.size(); ++c) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, ", ", configurations[c].divergence.name));
      result::v1::LaunchResult launch = (*results)[0][c].launch(0);
      EXPECT_EQ(launch.uniform_values().mixed_issues(), 0u);
      EXPECT_EQ(launch.uniform_values().extra_issues(), 0u);
      launch.clear_uniform_values();
      EXPECT_EQ(launch.DebugString(), (*results)[1][c].launch(0).DebugString());
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace heddle::replay
