#include "tests/replay/core/cluster_harness.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/machine/machine.h"
#include "tests/replay/core/ibuffer_harness.h"

namespace heddle::replay {

using trace::testing::ThreadTrace;
using trace::v1::Instruction;
using trace::v1::KernelProgram;

namespace {

constexpr uint64_t kShare = 0x100'0000;
constexpr uint64_t kCluster = 0x4000'0000;

trace::v1::FileHeader Header() {
  trace::v1::FileHeader header = trace::testing::MakeHeader();
  trace::v1::AddressWindow& window = *header.add_window();
  window.set_space(trace::v1::SPACE_CLUSTER_SHARED);
  window.set_base(kCluster);
  window.set_bytes(16 * kShare);
  return header;
}

}  // namespace

uint64_t InBlock(uint32_t rank, uint64_t offset) { return kCluster + rank * kShare + offset; }

std::unique_ptr<trace::TraceReader> MakeClusters(KernelProgram program, std::pair<uint32_t, uint32_t> grid,
                                                 std::pair<uint32_t, uint32_t> cluster,
                                                 const std::vector<ThreadTrace>& threads) {
  static int number = 0;
  const trace::testing::TemporaryFile file(absl::StrCat("cluster_", getpid(), "_", number++, ".htrace"));
  auto writer = *trace::TraceWriter::Create(file.path(), Header());
  program.set_static_shared_bytes(1024);
  EXPECT_TRUE(writer->AddProgram(program).ok());
  const uint32_t blocks = grid.first * grid.second;
  const auto per_block = static_cast<uint32_t>(threads.size() / blocks);
  trace::v1::Launch launch = trace::testing::MakeLaunch(0, blocks, per_block);
  launch.mutable_grid()->set_x(grid.first);
  launch.mutable_grid()->set_y(grid.second);
  launch.mutable_cluster()->set_x(cluster.first);
  launch.mutable_cluster()->set_y(cluster.second);
  launch.mutable_cluster()->set_z(1);
  EXPECT_TRUE(writer->BeginLaunch(launch).ok());
  for (uint32_t block = 0; block < blocks; ++block) {
    std::vector<trace::ThreadRecord> records;
    for (uint32_t i = 0; i < per_block; ++i) records.push_back(threads[block * per_block + i].record());
    EXPECT_TRUE(writer->AddBlock(block, records, trace::TraceWriter::kNoExpectation).ok());
  }
  EXPECT_TRUE(writer->EndLaunch().ok());
  EXPECT_TRUE(writer->Finish().ok());
  auto reader = trace::TraceReader::Open(trace::FromMemory(trace::testing::ReadFile(file.path())), "test");
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

void MakeClusterBarrier(Instruction& instruction, trace::v1::BarrierRole role) {
  instruction.Clear();
  instruction.set_op(trace::v1::OP_BARRIER);
  instruction.set_mnemonic(role == trace::v1::BARRIER_ARRIVE ? "barrier.cluster.arrive" : "barrier.cluster.wait");
  instruction.set_barrier_scope(trace::v1::SCOPE_CLUSTER);
  instruction.set_barrier_role(role);
}

RunOptions Toys(uint32_t sms) {
  RunOptions options;
  options.machine.set_sms(sms);
  options.machine.mutable_core()->set_shared_memory_bytes(1 << 16);
  options.machine.mutable_memory()->mutable_fixed()->set_shared_cycles(5);
  options.machine.mutable_clusters()->set_network_cycles(10);
  return options;
}
RunOptions Buffers(uint32_t sms) {
  RunOptions options = Small();
  Buffer(options).set_fetch_when(machine::v1::InstructionBuffer::FREE_SLOT);
  Buffer(options).set_entries(4);
  options.machine.set_sms(sms);
  options.machine.mutable_core()->set_shared_memory_bytes(1 << 16);
  options.machine.mutable_clusters()->set_network_cycles(10);
  return options;
}

Outcome RunTwice(const trace::TraceReader& trace, RunOptions options) {
  Outcome outcome = RunTrace(trace, options);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  options.force_tick = true;
  const Outcome ticking = RunTrace(trace, options);
  EXPECT_EQ(outcome.log.Sorted(), ticking.log.Sorted());
  if (outcome.status.ok() && ticking.status.ok()) {
    EXPECT_EQ(outcome.launch().DebugString(), ticking.launch().DebugString());
  }
  return outcome;
}

std::string IssuesOf(const Outcome& outcome, uint64_t block) {
  std::vector<std::string> issues;
  for (const LoggedIssue& issue : outcome.log.issues()) {
    if (issue.members[0].block == block) issues.push_back(absl::StrCat(issue.cycle, ":", issue.members[0].pc));
  }
  return absl::StrJoin(issues, " ");
}
Cycle LastIssue(const Outcome& outcome, uint64_t block, Pc pc) {
  Cycle last = 0;
  for (const LoggedIssue& issue : outcome.log.issues()) {
    if (issue.members[0].block == block && issue.members[0].pc == pc) last = std::max(last, issue.cycle);
  }
  return last;
}

RunOptions OnHierarchy(bool buffers, uint32_t sms) {
  RunOptions options;
  options.machine = LoadMachine(buffers ? "baws_gtx480" : "fermi_fixed").value();
  const machine::v1::Machine memory = LoadMachine("baws_gtx480").value();
  *options.machine.mutable_memory() = memory.memory();
  *options.machine.mutable_clocks() = memory.clocks();
  options.machine.set_sms(sms);
  options.machine.mutable_clusters()->set_network_cycles(10);
  options.machine.mutable_clusters()->set_network_bytes(16);
  return options;
}

}  // namespace heddle::replay
