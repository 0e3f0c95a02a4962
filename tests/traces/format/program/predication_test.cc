// Which guards keep warps together, and the program that they then walk.
#include "traces/format/program/predication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/traces/machine_programs.h"
#include "tests/traces/program_builder.h"

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;
using testing::ProgramBuilder;

// add; if a predicate holds, a fence; exit.
v1::KernelProgram OneGuard() {
  v1::KernelProgram program =
      ProgramBuilder("one_guard").Block("a").Branch("b", "c").Block("b").Alu().Jump("c").Block("c").Exit().Build();
  program.mutable_instruction(0)->set_op(v1::OP_INT_ALU);
  program.mutable_instruction(1)->set_op(v1::OP_FENCE);
  program.mutable_instruction(1)->set_flags(v1::FLAG_GUARDED);
  return program;
}

// add; a guarded store, then behind a join a guarded load; exit.
v1::KernelProgram TwoGuards(const std::string& join) {
  v1::KernelProgram program = ProgramBuilder("two_guards")
                                  .Block("a")
                                  .Branch("b", "join")
                                  .Block("b")
                                  .Store()
                                  .Jump("join")
                                  .Block("join")
                                  .Branch("c", "end")
                                  .Block("c")
                                  .Load()
                                  .Jump("end")
                                  .Block("end")
                                  .Exit()
                                  .Build();
  program.mutable_instruction(0)->set_op(v1::OP_INT_ALU);
  program.mutable_instruction(1)->set_flags(v1::FLAG_GUARDED);
  program.mutable_instruction(2)->set_op(v1::OP_MOVE);
  program.mutable_instruction(2)->set_mnemonic(join);
  program.mutable_instruction(3)->set_flags(v1::FLAG_GUARDED);
  return program;
}

TEST(Predication, KeepsWarpsTogetherAtGuards) {
  const absl::StatusOr<Program> program = Program::Create(TwoGuards("nop.join"));
  ASSERT_TRUE(program.ok()) << program.status();
  const std::optional<PredicatedProgram> predicated = Predicate(*program);
  ASSERT_TRUE(predicated.has_value());
  EXPECT_EQ(CountPartingGuards(*program), 0u);
  EXPECT_EQ(predicated->program.guard_count(), 0u);
  EXPECT_THAT(predicated->guarded,
              ElementsAre(Guarded::kNo, Guarded::kYes, Guarded::kNo, Guarded::kBehindJoin, Guarded::kNo));
  EXPECT_THAT(predicated->run, ElementsAre(1u, kNoBlock, 3u, kNoBlock, kNoBlock));
  EXPECT_FALSE(predicated->IsJoin(0));
  EXPECT_TRUE(predicated->IsJoin(2));
  // Every thread goes from one to the next: a, b, and past the join c and the end.
  const Block& a = predicated->program.block(0);
  EXPECT_EQ(a.terminator, v1::FALL_THROUGH);
  EXPECT_EQ(a.successor, 1u);
  EXPECT_EQ(a.post_dominator, 1u);
  EXPECT_EQ(predicated->program.block(predicated->program.block(1).successor).first, program->block(3).first);
  EXPECT_EQ(predicated->program.block(3).successor, 4u);
}

TEST(Predication, JoinsHaveTheNameOfOne) {
  const absl::StatusOr<Program> program = Program::Create(TwoGuards("mov.u32"));
  ASSERT_TRUE(program.ok()) << program.status();
  const std::optional<PredicatedProgram> predicated = Predicate(*program);
  ASSERT_TRUE(predicated.has_value());
  EXPECT_FALSE(predicated->IsJoin(2));
  EXPECT_EQ(predicated->program.block(2).first, program->block(2).first);
}

TEST(Predication, BehindAGuardedExitTheOtherThreadsGoOn) {
  v1::KernelProgram proto =
      ProgramBuilder("guarded_exit").Block("a").Branch("b", "c").Block("b").Exit().Block("c").Exit().Build();
  proto.mutable_instruction(0)->set_op(v1::OP_INT_ALU);
  proto.mutable_instruction(1)->set_flags(v1::FLAG_GUARDED);
  const absl::StatusOr<Program> program = Program::Create(proto);
  ASSERT_TRUE(program.ok()) << program.status();
  const std::optional<PredicatedProgram> predicated = Predicate(*program);
  ASSERT_TRUE(predicated.has_value());
  EXPECT_EQ(predicated->program.block(0).successor, 1u);
  EXPECT_EQ(predicated->program.block(1).terminator, v1::EXIT);
  EXPECT_EQ(predicated->program.block(1).taken, 2u);
  EXPECT_EQ(predicated->program.block(2).taken, kNoBlock);
}

TEST(Predication, GuardsOfWhatThreadsWaitAtStayDecisions) {
  for (const v1::OpClass op : {v1::OP_BARRIER, v1::OP_FENCE, v1::OP_CALL}) {
    v1::KernelProgram proto = OneGuard();
    proto.mutable_instruction(1)->set_op(op);
    const absl::StatusOr<Program> program = Program::Create(proto);
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_FALSE(Predicate(*program).has_value()) << v1::OpClass_Name(op);
    EXPECT_EQ(CountPartingGuards(*program), 1u);
  }
}

// Who breaks away from a convergence barrier goes on at once; who waits at one does not.
TEST(Predication, ThreadsComeByABreakAndNoOtherConvergence) {
  using v1::Convergence;
  for (const Convergence::Role role : {Convergence::BREAK, Convergence::WARP_SYNC, Convergence::YIELD}) {
    v1::KernelProgram proto = OneGuard();
    proto.set_level(v1::LEVEL_MACHINE);
    proto.set_target("sm_80");
    testing::MakeConvergence(*proto.mutable_instruction(1), role);
    proto.mutable_function(0)->set_register_file(std::string(1, static_cast<char>(v1::FILE_CONVERGENCE)));
    proto.mutable_function(0)->set_register_number(std::string(1, '\0'));
    proto.mutable_instruction(0)->clear_dst();
    proto.mutable_instruction(0)->clear_src();
    proto.mutable_instruction(1)->clear_dst();
    proto.mutable_instruction(1)->clear_src();
    proto.mutable_instruction(1)->add_src(1);
    const absl::StatusOr<Program> program = Program::Create(proto);
    ASSERT_TRUE(program.ok()) << program.status();
    const bool passes = role == Convergence::BREAK;
    EXPECT_EQ(Predicate(*program).has_value(), passes) << Convergence::Role_Name(role);
    EXPECT_EQ(CountPartingGuards(*program), passes ? 0u : 1u);
  }
}

TEST(Predication, BlocksWithAnotherWayInStayBranchedAround) {
  v1::KernelProgram proto = TwoGuards("nop.join");
  // The load can be come to from the first block, too.
  proto.mutable_block(0)->set_successor(1, 3);
  const absl::StatusOr<Program> program = Program::Create(proto);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_FALSE(Predicate(*program).has_value());
}

}  // namespace
}  // namespace heddle::trace
