// Rules of collective and asynchronous instructions, and the columns that they have.
#include "traces/format/program/operands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/traces/collective_programs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/limits.h"
#include "traces/format/program/code_level.h"

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MakeCopy;
using testing::MakeGroup;
using testing::MakeNamedBarrier;
using testing::MakeProduct;
using testing::MakeTransactionBarrier;
using testing::ProgramBuilder;

// 0 copy, 1 commit, 2 wait, 3 barrier, 4 product, 5 transaction barrier, 6 warp operation, 7 load, 8 exit.
v1::KernelProgram Pipeline() {
  v1::KernelProgram program =
      ProgramBuilder("pipeline").Alu(6).Op(v1::OP_WARP).Load(v1::SPACE_SHARED, 16).Exit().Build();
  MakeCopy(*program.mutable_instruction(0));
  MakeGroup(*program.mutable_instruction(1), v1::Async::COMMIT);
  MakeGroup(*program.mutable_instruction(2), v1::Async::WAIT_GROUP, 2);
  MakeNamedBarrier(*program.mutable_instruction(3), v1::BARRIER_ARRIVE, 64);
  MakeProduct(*program.mutable_instruction(4));
  MakeTransactionBarrier(*program.mutable_instruction(5), v1::Async::BARRIER_INIT, 32);
  return program;
}

struct Rule {
  const char* name;
  int instruction;
  std::function<void(v1::Instruction&)> change;
  const char* message;
};

class OperandRules : public ::testing::TestWithParam<Rule> {};

TEST_P(OperandRules, NameTheInstructionAndTheRule) {
  v1::KernelProgram program = Pipeline();
  GetParam().change(*program.mutable_instruction(GetParam().instruction));
  const absl::Status status = Program::Create(program).status();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("instruction " + std::to_string(GetParam().instruction) + ":"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, OperandRules,
    ::testing::Values(
        Rule{"kind", 0, [](auto& i) { i.mutable_operand(1)->set_kind(v1::Operand::Kind(77)); }, "unknown kind 77"},
        Rule{"no_kind", 0, [](auto& i) { i.mutable_operand(0)->clear_kind(); }, "unknown kind 0"},
        Rule{"one_address", 0, [](auto& i) { i.mutable_operand()->RemoveLast(); }, "two addresses"},
        Rule{"constant_address", 0, [](auto& i) { i.mutable_operand(1)->set_constant(true); }, "two addresses"},
        Rule{"address_without_bytes", 0, [](auto& i) { i.mutable_operand(0)->set_bytes(0); }, "needs a space"},
        Rule{"address_of_many_bytes", 0, [](auto& i) { i.mutable_operand(0)->set_bytes(300); }, "1 to 255 bytes"},
        Rule{"bytes_differ", 0, [](auto& i) { i.mutable_operand(0)->set_bytes(8); }, "differ in bytes"},
        Rule{"copy_to_global", 0, [](auto& i) { i.mutable_operand(1)->set_space(v1::SPACE_GLOBAL); }, "shared memory"},
        Rule{"role", 0, [](auto& i) { i.mutable_async()->set_role(v1::Async::Role(40)); }, "unknown role 40"},
        Rule{"no_role", 0, [](auto& i) { i.clear_async(); }, "unknown role 0"},
        Rule{"async_elsewhere", 7, [](auto& i) { i.mutable_async(); }, "OP_ASYNC"},
        Rule{"commit_with_operands", 1, [](auto& i) { i.add_operand()->set_kind(v1::Operand::COUNT); },
             "cannot have"},
        Rule{"pending", 2, [](auto& i) { i.mutable_async()->set_most_pending(9); }, "most_pending is above 8"},
        Rule{"pending_elsewhere", 1, [](auto& i) { i.mutable_async()->set_most_pending(1); }, "only WAIT_GROUP"},
        Rule{"number_twice", 3, [](auto& i) { i.set_barrier_id(1); }, "told twice"},
        Rule{"count_twice", 3, [](auto& i) { i.add_operand()->set_kind(v1::Operand::COUNT); }, "told twice"},
        Rule{"arrival_without_count", 3, [](auto& i) { i.clear_barrier_threads(); }, "needs a count"},
        Rule{"barrier_role", 3, [](auto& i) { i.set_barrier_role(v1::BarrierRole(9)); }, "unknown role or scope"},
        Rule{"barrier_scope", 3, [](auto& i) { i.set_barrier_scope(v1::BarrierScope(9)); }, "unknown role or scope"},
        Rule{"waits_in_block", 3, [](auto& i) { i.set_barrier_role(v1::BARRIER_WAIT); }, "without arriving"},
        Rule{"cluster_number", 3, [](auto& i) { i.set_barrier_scope(v1::SCOPE_CLUSTER); }, "has no number"},
        Rule{"role_elsewhere", 7, [](auto& i) { i.set_barrier_role(v1::BARRIER_ARRIVE); }, "only barriers"},
        Rule{"constant_number", 3,
             [](auto& i) {
               i.mutable_operand(0)->set_constant(true);
               i.mutable_operand(0)->set_value(16);
             },
             "not below 16"},
        Rule{"value_of_a_register", 3, [](auto& i) { i.mutable_operand(0)->set_value(3); }, "is not constant"},
        Rule{"space_of_a_count", 3, [](auto& i) { i.mutable_operand(0)->set_space(v1::SPACE_SHARED); },
             "only operands that are addresses"},
        Rule{"shape", 4, [](auto& i) { i.mutable_matrix()->set_m(17); }, "shape"},
        Rule{"types", 4, [](auto& i) { i.mutable_matrix()->set_a(v1::Matrix::F64); }, "shape"},
        Rule{"registers", 4, [](auto& i) { i.mutable_matrix()->set_b_registers(7); }, "it reads"},
        Rule{"registers_that_overflow", 4, [](auto& i) { i.mutable_matrix()->set_b_registers(~0u); }, "it reads"},
        Rule{"class_of_a_product", 7, [](auto& i) { i.mutable_matrix()->set_role(v1::Matrix::MULTIPLY); }, "its class"},
        Rule{"members", 7, [](auto& i) { i.set_members(1); }, "several lanes"},
        Rule{"barrier_in_global", 5, [](auto& i) { i.mutable_operand(0)->set_space(v1::SPACE_GLOBAL); },
             "in shared memory"},
        Rule{"init_without_count", 5, [](auto& i) { i.mutable_operand()->RemoveLast(); }, "begins with a count"},
        Rule{"wait_without_count", 5,
             [](auto& i) {
               i.mutable_async()->set_role(v1::Async::BARRIER_WAIT);
               i.mutable_operand()->RemoveLast();
             },
             "counts phases"},
        Rule{"invalidate_with_count", 5,
             [](auto& i) { i.mutable_async()->set_role(v1::Async::BARRIER_INVALIDATE); }, "does not have"},
        Rule{"load_of_other_bytes", 7,
             [](auto& i) {
               i.add_operand()->set_kind(v1::Operand::ADDRESS);
               i.mutable_operand(0)->set_space(v1::SPACE_SHARED);
               i.mutable_operand(0)->set_bytes(4);
             },
             "is its address"},
        Rule{"many_operands", 6,
             [](auto& i) {
               for (int k = 0; k < 9; ++k) i.add_operand()->set_kind(v1::Operand::UNIFORM);
             },
             "more than 8 operands"}),
    [](const auto& info) { return info.param.name; });

TEST(Operands, EachThatIsNotConstantIsAColumn) {
  const auto program = Program::Create(Pipeline());
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->accesses(), ElementsAre(0, 0, 3, 5, 7));
  EXPECT_EQ(program->block(0).access_count, 5u);
  std::vector<uint32_t> operands;
  std::vector<v1::OpClass> accesses;
  std::vector<Pc> slots;
  for (const Column& column : ColumnsOf(*program)) {
    operands.push_back(column.operand);
    accesses.push_back(column.access);
    slots.push_back(column.slot);
  }
  EXPECT_THAT(operands, ElementsAre(0, 1, 0, 0, 0));
  EXPECT_THAT(accesses, ElementsAre(v1::OP_LOAD, v1::OP_STORE, v1::OP_UNKNOWN, v1::OP_ATOMIC, v1::OP_LOAD));
  EXPECT_THAT(slots, ElementsAre(0, 9 + 1, 3, 5, 7));
  EXPECT_EQ(FindColumn(*program, 0, 1), 1u);
  EXPECT_EQ(FindColumn(*program, 7, 0), 4u);
  EXPECT_EQ(FindColumn(*program, 0, 2), 5u);
  EXPECT_EQ(FindColumn(*program, 1, 0), 5u);
}

TEST(Operands, ConstantOnesInFrontAreCounted) {
  v1::KernelProgram program = Pipeline();
  v1::Instruction& barrier = *program.mutable_instruction(3);
  barrier.clear_barrier_threads();
  barrier.mutable_operand(0)->set_constant(true);
  barrier.mutable_operand(0)->set_value(5);
  barrier.add_operand()->set_kind(v1::Operand::COUNT);
  const auto created = Program::Create(program);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(OperandOf(*created, FindColumn(*created, 3, 1)), 1u);
  EXPECT_EQ(ColumnsOf(*created)[2].kind, v1::Operand::COUNT);
}

TEST(Operands, ProgramsWithoutThemAreOfTheirOldVersion) {
  const v1::KernelProgram plain = ProgramBuilder("plain").Load().Barrier().Store().Exit().Build();
  EXPECT_EQ(MinorVersionOf(plain), kUsualMinorVersion);
  EXPECT_EQ(SlotCount(*Program::Create(plain)), 4u);
  EXPECT_EQ(MinorVersionOf(Pipeline()), kCollectiveMinorVersion);
}

TEST(Operands, MoreColumnsThanNumbersAreRefused) {
  v1::KernelProgram program = ProgramBuilder("many").Alu(kMaxInstructions - 1).Exit().Build();
  for (v1::Instruction& instruction : *program.mutable_instruction()) {
    if (instruction.op() == v1::OP_INT_ALU) MakeCopy(instruction);
  }
  EXPECT_THAT(std::string(Program::Create(program).status().message()), HasSubstr("more than 65536 columns"));
}

}  // namespace
}  // namespace heddle::trace
