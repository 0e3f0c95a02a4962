// Small launches whose every number was worked out by hand from the definitions in result.proto: both engines must have
// them, so that they cannot be wrong together.
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/random/random_kernel.h"
#include "tests/random/random_trace.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

// One SM, one port, as many lanes as threads in a warp.
machine::v1::Machine Toy(uint32_t warp_size, uint32_t pipeline_depth) {
  machine::v1::Machine machine;
  machine.set_name("by_hand");
  machine.set_sms(1);
  machine::v1::Core& core = *machine.mutable_core();
  core.set_front_end(machine::v1::Core::THESIS);
  core.set_warp_size(warp_size);
  core.set_simd_width(warp_size);
  core.set_schedulers(1);
  core.set_pipeline_depth(pipeline_depth);
  core.set_max_threads(16);
  core.set_max_blocks(4);
  core.set_shared_memory_bytes(1024);
  machine::v1::FixedLatency& fixed = *machine.mutable_memory()->mutable_fixed();
  fixed.set_global_cycles(10);
  fixed.set_shared_cycles(pipeline_depth);
  fixed.set_local_cycles(pipeline_depth);
  fixed.set_constant_cycles(pipeline_depth);
  fixed.set_param_cycles(pipeline_depth);
  fixed.set_texture_cycles(pipeline_depth);
  fixed.set_atomic_cycles(pipeline_depth);
  return machine;
}

// A kernel of one block of threads; blocks and threads are added one by one.
class ByHand {
 public:
  explicit ByHand(uint32_t threads) {
    kernel_.shape.blocks = 1;
    kernel_.shape.threads_per_block = threads;
    kernel_.threads.resize(threads);
    kernel_.program.set_name("by_hand");
    v1::Function& function = *kernel_.program.add_function();
    function.set_name("by_hand");
  }
  // `post_dominator` is 0 for the end, else 1 + the block's number.
  void AddBlock(const std::vector<v1::OpClass>& operations, v1::Terminator terminator,
                const std::vector<uint32_t>& successors, uint32_t post_dominator) {
    v1::BasicBlock& block = *kernel_.program.add_block();
    block.set_first_instruction(kernel_.program.instruction_size());
    block.set_instruction_count(operations.size());
    block.set_terminator(terminator);
    block.set_immediate_post_dominator(post_dominator);
    for (uint32_t successor : successors) block.add_successor(successor);
    for (v1::OpClass operation : operations) {
      v1::Instruction& instruction = *kernel_.program.add_instruction();
      instruction.set_op(operation);
      if (operation != v1::OP_LOAD) continue;
      instruction.set_space(v1::SPACE_GLOBAL);
      instruction.set_access_bytes(4);
    }
    kernel_.program.mutable_function(0)->set_block_count(kernel_.program.block_size());
  }
  void SetThread(uint32_t thread, const std::vector<uint8_t>& decisions, const std::vector<uint32_t>& pcs) {
    ThreadScript& script = kernel_.threads[thread];
    script.decisions = decisions;
    for (uint32_t pc : pcs) {
      ScriptStep step{pc, 0, kernel_.program.instruction(static_cast<int>(pc)).op() == v1::OP_LOAD, 0};
      if (step.has_address) step.address = 4096 + 4 * thread;
      if (step.has_address) script.addresses.push_back(step.address);
      script.steps.push_back(step);
    }
  }
  // The launch's result under PDOM and LRR; both engines agree on it.
  result::v1::LaunchResult Run(const machine::v1::Machine& machine) const {
    const auto reader = WriteAndOpen({&kernel_});
    AcceptedConfiguration checked;
    checked.configuration.divergence = {"pdom", ""};
    checked.configuration.scheduler = {"lrr", ""};
    ExpectEqual(*reader, machine, {checked});
    ReplayOptions options;
    options.machine = machine;
    const auto results = Replay(*reader, {checked.configuration}, options);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? (*results)[0].launch(0) : result::v1::LaunchResult();
  }

 private:
  RandomKernel kernel_;
};

// add in cycle 0, load in 2 (ten cycles), add in 12, exit in 14: done at the start of 16.
TEST(ByHand, AWarpThatWaitsForMemory) {
  ByHand kernel(4);
  kernel.AddBlock({v1::OP_INT_ALU, v1::OP_LOAD, v1::OP_INT_ALU, v1::OP_EXIT}, v1::EXIT, {}, 0);
  for (uint32_t thread = 0; thread < 4; ++thread) kernel.SetThread(thread, {}, {0, 1, 2, 3});
  const result::v1::LaunchResult result = kernel.Run(Toy(4, 2));
  EXPECT_EQ(result.cycles(), 16);
  EXPECT_EQ(result.warp_instructions(), 4);
  EXPECT_EQ(result.thread_instructions(), 16);
  EXPECT_DOUBLE_EQ(result.ipc(), 1.0);
  EXPECT_DOUBLE_EQ(result.lane_activity(), 100.0);
  EXPECT_DOUBLE_EQ(result.simd_utilisation(), 100.0);
  EXPECT_DOUBLE_EQ(result.depth_utilisation(), 25.0);
  EXPECT_EQ(result.scheduler_cycles().total(), 16);
  EXPECT_EQ(result.scheduler_cycles().issued(), 4);
  EXPECT_EQ(result.scheduler_cycles().memory(), 9) << "cycles 3 to 11";
  EXPECT_EQ(result.scheduler_cycles().idle(), 3) << "cycles 1, 13 and 15";
  EXPECT_EQ(result.scheduler_cycles().stall(), 0);
  EXPECT_EQ(result.idle_threads().cycles(), 12);
  EXPECT_EQ(result.idle_threads().dependency(), 48);
  EXPECT_EQ(result.issues_by_size(3), 4);
}

// A warp of two threads that part: A in cycle 0, the taken side C in 2, the other side B in 4, D together in 6. Cycle 3
// finds thread 0 on the side that does not run, cycle 5 thread 1 at the reconvergence point.
TEST(ByHand, TwoThreadsThatPart) {
  ByHand kernel(2);
  kernel.AddBlock({v1::OP_BRANCH}, v1::BRANCH_CONDITIONAL, {1, 2}, 4);  // A
  kernel.AddBlock({v1::OP_INT_ALU}, v1::FALL_THROUGH, {3}, 4);          // B
  kernel.AddBlock({v1::OP_INT_ALU}, v1::FALL_THROUGH, {3}, 4);          // C
  kernel.AddBlock({v1::OP_EXIT}, v1::EXIT, {}, 0);                      // D
  kernel.SetThread(0, {0}, {0, 1, 3});
  kernel.SetThread(1, {1}, {0, 2, 3});
  const result::v1::LaunchResult result = kernel.Run(Toy(2, 2));
  EXPECT_EQ(result.cycles(), 8);
  EXPECT_EQ(result.warp_instructions(), 4);
  EXPECT_EQ(result.thread_instructions(), 6);
  EXPECT_DOUBLE_EQ(result.lane_activity(), 75.0);
  EXPECT_EQ(result.issues_by_size(0), 2);
  EXPECT_EQ(result.issues_by_size(1), 2);
  EXPECT_EQ(result.idle_threads().cycles(), 4) << "cycles 1, 3, 5 and 7";
  EXPECT_EQ(result.idle_threads().dependency(), 6);
  EXPECT_EQ(result.idle_threads().inactive(), 1);
  EXPECT_EQ(result.idle_threads().reconverging(), 1);
  EXPECT_EQ(result.scheduler_cycles().idle(), 4);
}

// Two warps; the second one's first instruction takes nine cycles. Warp 0: add in 0, barrier in 3, back in 6, waits.
// Warp 1: add in 1, barrier in 10, which opens it; warp 0 goes on in 11 and exits by 14; warp 1 is back from the
// barrier instruction in 13 and exits by 16.
TEST(ByHand, AWarpThatWaitsAtABarrier) {
  ByHand kernel(4);
  kernel.AddBlock({v1::OP_INT_ALU, v1::OP_BARRIER, v1::OP_EXIT}, v1::EXIT, {}, 0);
  for (uint32_t thread = 0; thread < 4; ++thread) kernel.SetThread(thread, {}, {0, 1, 2});
  machine::v1::Machine machine = Toy(2, 3);
  machine::v1::ScriptedLatency& scripted = *machine.mutable_core()->add_scripted_latency();
  scripted.set_instruction(0);
  scripted.set_first_thread(2);
  scripted.set_last_thread(3);
  scripted.set_cycles(9);
  const result::v1::LaunchResult result = kernel.Run(machine);
  EXPECT_EQ(result.cycles(), 16);
  EXPECT_EQ(result.barriers(), 4);
  EXPECT_EQ(result.idle_threads().cycles(), 10) << "cycles 2, 4 to 9, 12, 14 and 15";
  EXPECT_EQ(result.idle_threads().dependency(), 28);
  EXPECT_EQ(result.idle_threads().barrier(), 8) << "two threads in cycles 6 to 9";
  EXPECT_EQ(result.idle_threads().finished(), 4) << "two threads in cycles 14 and 15";
  EXPECT_EQ(result.scheduler_cycles().issued(), 6);
  EXPECT_EQ(result.scheduler_cycles().idle(), 10);
  EXPECT_EQ(result.scheduler_cycles().memory(), 0);
}

// A warp of four threads on one lane takes four cycles to issue and decides in cycles divisible by four: the second
// instruction, back in cycle 6, waits for cycle 8.
TEST(ByHand, AWarpThatIssuesOverFourCycles) {
  ByHand kernel(4);
  kernel.AddBlock({v1::OP_INT_ALU, v1::OP_EXIT}, v1::EXIT, {}, 0);
  for (uint32_t thread = 0; thread < 4; ++thread) kernel.SetThread(thread, {}, {0, 1});
  machine::v1::Machine machine = Toy(4, 6);
  machine.mutable_core()->set_simd_width(1);
  const result::v1::LaunchResult result = kernel.Run(machine);
  EXPECT_EQ(result.cycles(), 14);
  EXPECT_EQ(result.scheduler_cycles().total(), 4) << "cycles 0, 4, 8 and 12";
  EXPECT_EQ(result.scheduler_cycles().issued(), 2);
  EXPECT_EQ(result.scheduler_cycles().idle(), 2);
  EXPECT_EQ(result.idle_threads().cycles(), 6) << "cycles 4 to 7, 12 and 13";
  EXPECT_EQ(result.idle_threads().dependency(), 4 * 4) << "cycles 4, 5, 12 and 13";
  EXPECT_EQ(result.idle_threads().ready(), 4 * 2) << "cycles 6 and 7";
  EXPECT_DOUBLE_EQ(result.depth_utilisation(), 100.0 * 8 / 14);
}

}  // namespace
}  // namespace heddle::replay
