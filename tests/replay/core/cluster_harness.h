// Traces of launches with clusters of several blocks, and machines to replay them on.
#ifndef HEDDLE_TESTS_REPLAY_CORE_CLUSTER_HARNESS_H_
#define HEDDLE_TESTS_REPLAY_CORE_CLUSTER_HARNESS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {

inline constexpr uint64_t kClusterShared = 0x100'0000;  // the window of MakeHeader, with as many bytes

// An address in the window of the cluster's shared memory.
uint64_t InBlock(uint32_t rank, uint64_t offset);

// A trace of one launch; `grid` and `cluster` extend along x and y. `threads` holds all threads, block after block.
std::unique_ptr<trace::TraceReader> MakeClusters(trace::v1::KernelProgram program, std::pair<uint32_t, uint32_t> grid,
                                                 std::pair<uint32_t, uint32_t> cluster,
                                                 const std::vector<trace::testing::ThreadTrace>& threads);
// Makes an instruction a barrier of the cluster.
void MakeClusterBarrier(trace::v1::Instruction& instruction, trace::v1::BarrierRole role);

// Some SMs of the toy machine, 10 cycles from one another, where shared memory takes 5.
RunOptions Toys(uint32_t sms);
// The same with instruction buffers.
RunOptions Buffers(uint32_t sms);
// Some SMs with the memory of baws_gtx480 behind a front end, 10 cycles from one another.
RunOptions OnHierarchy(bool buffers, uint32_t sms);

// Runs it, and again with every cycle run, which must not change anything.
Outcome RunTwice(const trace::TraceReader& trace, RunOptions options);
// "0:0 1:6": the issues of a block, cycle and PC.
std::string IssuesOf(const Outcome& outcome, uint64_t block);
// The cycle in which a block issued the instruction last.
Cycle LastIssue(const Outcome& outcome, uint64_t block, Pc pc);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_CORE_CLUSTER_HARNESS_H_
