// Matrix instructions under every policy: however it parts a warp's threads and puts them together with others, each
// product, load and store of tiles is made once, by the 32 threads of a warp.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tests/conformance/checked_replay.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "tests/random/random.h"
#include "tests/random/random_machine.h"
#include "tests/traces/collective_programs.h"
#include "tests/traces/program_builder.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

constexpr uint32_t kThreads = 80;  // of a block: the last warp is not full
constexpr uint32_t kBlocks = 2;

// Stages that end with a matrix instruction, or with a barrier. In each, the threads part: some loop, and few leave for
// good. The only accesses are of matrices.
trace::v1::KernelProgram MakeStages(uint64_t seed) {
  Random random(MixAll({seed, 77}));
  trace::testing::ProgramBuilder program("stages");
  constexpr int kStages = 5;
  for (int stage = 0; stage < kStages; ++stage) {
    const auto name = [stage](const char* what) { return absl::StrCat(what, stage); };
    program.Block(name("head")).Alu(static_cast<int>(random.In(0, 2))).Branch(name("if"), name("else"));
    program.Block(name("if")).Alu(static_cast<int>(random.In(1, 5))).Jump(name("join"));
    program.Block(name("else")).Alu(static_cast<int>(random.In(1, 3)));
    if (random.Chance(50)) {
      program.Branch(name("join"), name("else"));  // a loop
    } else if (random.Chance(50)) {
      program.Branch(name("in"), name("out"));
      program.Block(name("in")).Alu(static_cast<int>(random.In(1, 4))).Branch(name("out"), name("leave"));
      program.Block(name("leave")).Exit();
      program.Block(name("out")).Alu(1).Jump(name("join"));
    } else {
      program.Jump(name("join"));
    }
    program.Block(name("join")).Op(v1::OP_TENSOR);
    if (random.Chance(20)) program.Barrier();
    if (stage + 1 == kStages) {
      program.Exit();
    } else {
      program.Jump(absl::StrCat("head", stage + 1));
    }
  }
  v1::KernelProgram built = program.Build();
  for (v1::Instruction& instruction : *built.mutable_instruction()) {
    if (instruction.op() != v1::OP_TENSOR) continue;
    switch (random.In(0, 5)) {
      case 0:
        trace::testing::MakeTiles(instruction, v1::Matrix::LOAD, 1u << random.In(0, 2));
        break;
      case 1:
        trace::testing::MakeTiles(instruction, v1::Matrix::STORE, 1u << random.In(0, 2));
        break;
      case 2:
        trace::testing::MakeFragment(instruction, v1::Matrix::LOAD);
        break;
      case 3:
        trace::testing::MakeFragment(instruction, v1::Matrix::STORE);
        break;
      default:
        trace::testing::MakeProduct(instruction);
        instruction.mutable_matrix()->set_n(16);  // the shape that latencies are for
    }
  }
  return built;
}

std::unique_ptr<trace::TraceReader> MakeMatrixTrace(uint64_t seed) {
  const trace::testing::TemporaryFile file(absl::StrCat("matrix_", seed));
  const absl::Status written = trace::testing::WriteRandomTrace(file.path(), MakeStages(seed), seed, kBlocks, kThreads,
                                                                {.most_instructions = 60});
  EXPECT_TRUE(written.ok()) << written;
  return trace::TraceReader::Open(file.path()).value();
}

machine::v1::Machine MachineFor(uint64_t seed, bool buffers, const trace::Program& program) {
  MachineNeeds needs;
  constexpr uint32_t kWarpSizes[] = {64, 32, 48, 32};
  needs.warp_size = kWarpSizes[seed % 4];
  needs.threads_per_block = kThreads;
  needs.registers_per_thread = 32;
  needs.instructions = program.instruction_count();
  return buffers ? RandomBufferMachine(seed, needs) : RandomMachine(seed, needs);
}

TEST(MatrixRules, HoldForEveryPairOfPolicies) {
  for (const uint64_t seed : Seeds(500'001, 12)) {
    const auto trace = MakeMatrixTrace(seed);
    for (const bool buffers : {false, true}) {
      const machine::v1::Machine machine = MachineFor(seed, buffers, *trace->launches()[0].program);
      SCOPED_TRACE(absl::StrCat("seed ", seed, ", machine { ", machine.ShortDebugString(), " }"));
      ExpectRulesKept(*trace, machine, ForMachine(DefaultConfigurations(Seams::kAll).accepted, machine));
      if (HasFailure()) return;
    }
  }
}

// What a launch has executed, as far as no policy may change it. `lanes`: also bytes in transactions, and what shared
// memory did, which depend on the lanes that threads are in. Where an issue holds several PCs, lanes are places in it.
std::string Work(const v1::KernelProgram& program, const result::v1::LaunchResult& result,
                 const std::vector<IssueEntry>& issues, bool lanes) {
  std::map<uint32_t, uint64_t> products;  // issues by PC
  for (const IssueEntry& issue : issues) {
    if (issue.lanes.empty() || !program.instruction(static_cast<int>(issue.lanes[0].pc)).has_matrix()) continue;
    ++products[issue.lanes[0].pc];
    std::set<std::pair<uint64_t, uint32_t>> warps;
    for (const LoggedLane& lane : issue.lanes) warps.insert({lane.block, lane.thread / 32});
    EXPECT_EQ(warps.size(), 1u) << issue.Text();
  }
  std::string text = absl::StrCat(result.thread_instructions(), " thread-instructions;");
  for (const auto& [pc, count] : products) absl::StrAppend(&text, " pc ", pc * 8, ": ", count, " issues;");
  const auto& memory = result.memory_instructions();
  absl::StrAppend(&text, " ", memory.data_loads(), " loads, ", memory.data_stores(), " stores, ",
                  memory.shared_accesses(), " accesses to shared memory");
  if (!lanes) return text;
  for (const result::v1::SizeCount& size : memory.transactions()) {
    absl::StrAppend(&text, ", ", size.count(), " transactions of ", size.bytes(), " bytes");
  }
  return absl::StrCat(text, ", ", memory.shared_parts(), " parts, ", memory.shared_passes(), " passes");
}

// Thread-instructions, accesses, their bytes, and what shared memory does are the same under all divergence policies.
TEST(MatrixRules, EveryDivergencePolicyDoesTheSameWork) {
  std::vector<AcceptedConfiguration> policies = DefaultConfigurations().accepted;
  for (const AcceptedConfiguration& varied : VariedConfigurations().accepted) policies.push_back(varied);
  std::erase_if(policies, [](const AcceptedConfiguration& one) { return one.configuration.scheduler.name != "lrr"; });
  uint64_t shared = 0, loads = 0, stores = 0;
  for (const uint64_t seed : Seeds(600'001, 10)) {
    const auto trace = MakeMatrixTrace(seed);
    const v1::KernelProgram& program = trace->launches()[0].program->proto();
    for (const char* name : {"fermi_fixed", "baws_gtx480"}) {
      ReplayOptions options;
      options.machine = LoadMachine(name).value();
      *options.machine.mutable_memory() = LoadMachine("baws_gtx480").value().memory();
      *options.machine.mutable_clocks() = LoadMachine("baws_gtx480").value().clocks();
      const std::vector<AcceptedConfiguration> fitting = ForMachine(policies, options.machine);
      std::vector<Configuration> plain;
      for (const AcceptedConfiguration& one : fitting) plain.push_back(one.configuration);
      ASSERT_FALSE(fitting[0].mixed_pcs);
      SortedIssueLog log(plain.size());
      options.observer = &log;
      const trace::TraceReader* const traces[] = {trace.get()};
      const auto outcomes = ReplayEach(traces, plain, options);
      ASSERT_TRUE(outcomes.ok()) << outcomes.status();
      options.observer = nullptr;
      options.force_tick = true;  // without quick ways
      const auto ticking = ReplayEach(traces, plain, options);
      ASSERT_TRUE(ticking.ok()) << ticking.status();
      std::string first;
      for (size_t c = 0; c < plain.size(); ++c) {
        SCOPED_TRACE(absl::StrCat("seed ", seed, ", ", name, ", ", plain[c].divergence.name, ":",
                                  plain[c].divergence.parameters));
        const auto& outcome = outcomes->front()[c];
        ASSERT_TRUE(outcome.ok()) << outcome.status();
        NoteChecked(plain[c]);
        const result::v1::LaunchResult& result = outcome->launch(0);
        ASSERT_TRUE(ticking->front()[c].ok());
        EXPECT_EQ(result.DebugString(), ticking->front()[c]->launch(0).DebugString());
        const std::string work = Work(program, result, log.Sorted(c), /*lanes=*/!fitting[c].mixed_pcs);
        if (c == 0) first = work;
        EXPECT_TRUE(first.starts_with(work)) << work << "\nnot " << first;
        EXPECT_TRUE(fitting[c].mixed_pcs || work == first);
        shared += result.memory_instructions().shared_accesses();
        loads += result.memory_instructions().data_loads();
        stores += result.memory_instructions().data_stores();
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_TRUE(shared != 0 && loads != 0 && stores != 0) << "the programs show too little";
}

}  // namespace
}  // namespace heddle::replay
