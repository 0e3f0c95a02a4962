// Structural rules of programs, and post-dominators.
#include "traces/format/program/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/traces/program_builder.h"
#include "traces/format/limits.h"
#include "traces/format/program/code_level.h"
#include "traces/format/program/post_dominators.h"

namespace heddle::trace {
namespace {

using ::testing::HasSubstr;
using testing::ProgramBuilder;

v1::KernelProgram Diamond() {
  return ProgramBuilder("diamond")
      .Block("a")
      .Alu()
      .Branch("b", "c")
      .Block("b")
      .Load()
      .Jump("d")
      .Block("c")
      .Alu()
      .Jump("d")
      .Block("d")
      .Exit()
      .Build();
}

struct Rule {
  const char* name;
  std::function<void(v1::KernelProgram&)> change;
  const char* message;
};

class ProgramRules : public ::testing::TestWithParam<Rule> {};

TEST_P(ProgramRules, NameTheProgramThePlaceAndTheRule) {
  v1::KernelProgram program = Diamond();
  GetParam().change(program);
  const absl::Status status = Program::Create(program).status();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("program \"diamond\""));
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, ProgramRules,
    ::testing::Values(
        Rule{"no_instructions", [](auto& p) { p.clear_instruction(); }, "has no instructions"},
        Rule{"no_blocks", [](auto& p) { p.clear_block(); }, "has no blocks"},
        Rule{"no_functions", [](auto& p) { p.clear_function(); }, "has no functions"},
        Rule{"function_gap", [](auto& p) { p.mutable_function(0)->set_first_block(1); }, "function 0"},
        Rule{"function_short", [](auto& p) { p.mutable_function(0)->set_block_count(3); }, "functions hold 3 blocks"},
        Rule{"block_gap", [](auto& p) { p.mutable_block(1)->set_first_instruction(9); }, "block 1: must start at"},
        Rule{"block_empty", [](auto& p) { p.mutable_block(1)->set_instruction_count(0); },
             "block 1: has no instructions"},
        Rule{"block_short", [](auto& p) { p.mutable_block(3)->set_instruction_count(9); }, "blocks hold"},
        Rule{"terminator", [](auto& p) { p.mutable_block(3)->set_terminator(v1::TERMINATOR_UNSPECIFIED); }, "block 3"},
        Rule{"successors_few", [](auto& p) { p.mutable_block(0)->clear_successor(); }, "does not go with 0 successors"},
        Rule{"successors_many", [](auto& p) { p.mutable_block(0)->add_successor(3); }, "does not go with 3 successors"},
        Rule{"callees", [](auto& p) { p.mutable_block(0)->add_callee(0); }, "does not go with 1 callees"},
        Rule{"successor_range", [](auto& p) { p.mutable_block(0)->set_successor(0, 4); }, "successor 4"},
        Rule{"kernel_returns", [](auto& p) { p.mutable_block(3)->set_terminator(v1::RETURN); }, "no caller"},
        Rule{"post_dominator_range", [](auto& p) { p.mutable_block(0)->set_immediate_post_dominator(5); },
             "block 0: immediate_post_dominator"},
        Rule{"post_dominator_self", [](auto& p) { p.mutable_block(0)->set_immediate_post_dominator(1); },
             "immediate_post_dominator"},
        Rule{"cycle",
             [](auto& p) {
               p.mutable_block(1)->set_successor(0, 2);
               p.mutable_block(2)->set_successor(0, 1);
             },
             "cycle without a decision"},
        Rule{"self_cycle", [](auto& p) { p.mutable_block(2)->set_successor(0, 2); }, "cycle without a decision"},
        Rule{"operation", [](auto& p) { p.mutable_instruction(0)->set_op(v1::OP_UNKNOWN); }, "instruction 0"},
        Rule{"operation_range", [](auto& p) { p.mutable_instruction(0)->set_op(static_cast<v1::OpClass>(99)); },
             "instruction 0"},
        Rule{"space", [](auto& p) { p.mutable_instruction(2)->set_space(v1::SPACE_NONE); }, "needs a space"},
        Rule{"bytes", [](auto& p) { p.mutable_instruction(2)->set_access_bytes(0); }, "needs access_bytes"},
        Rule{"bytes_many", [](auto& p) { p.mutable_instruction(2)->set_access_bytes(256); }, "access_bytes"},
        Rule{"space_of_alu", [](auto& p) { p.mutable_instruction(0)->set_space(v1::SPACE_GLOBAL); }, "only memory"},
        Rule{"barrier_of_alu", [](auto& p) { p.mutable_instruction(0)->set_barrier_id(1); }, "only barriers"},
        Rule{"barrier_id",
             [](auto& p) {
               p.mutable_instruction(0)->set_op(v1::OP_BARRIER);
               p.mutable_instruction(0)->set_barrier_id(16);
             },
             "barrier_id"},
        Rule{"register", [](auto& p) { p.mutable_instruction(0)->add_dst(0); }, "register"},
        Rule{"level", [](auto& p) { p.set_level(static_cast<v1::CodeLevel>(3)); }, "unknown level of code 3"},
        Rule{"widths", [](auto& p) { p.mutable_function(0)->set_register_bits(std::string(200, '\x20')); },
             "function 0: register_bits has 200 registers"},
        Rule{"width", [](auto& p) { p.mutable_function(0)->set_register_bits("\x18"); }, "a register has 24 bits"},
        Rule{"guard",
             [](auto& p) {
               p.mutable_block(0)->set_terminator(v1::FALL_THROUGH);
               p.mutable_block(0)->mutable_successor()->RemoveLast();
               p.mutable_instruction(2)->set_flags(v1::FLAG_GUARDED);
             },
             "instruction 2: accesses memory or waits under a guard"}),
    [](const auto& info) { return info.param.name; });

// setp; if its predicate holds, a store; exit.
v1::KernelProgram GuardedStore() {
  v1::KernelProgram program =
      ProgramBuilder("guarded").Block("a").Branch("b", "c").Block("b").Store().Jump("c").Block("c").Exit().Build();
  program.mutable_instruction(0)->set_op(v1::OP_INT_ALU);
  program.mutable_instruction(1)->set_flags(v1::FLAG_GUARDED);
  return program;
}

TEST(Guards, AreDecisionsWithoutABranch) {
  const absl::StatusOr<Program> program = Program::Create(GuardedStore());
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_TRUE(program->uses_guards());
  EXPECT_EQ(program->guard_count(), 1u);
  EXPECT_TRUE(program->DecidesGuard(program->block(0)));
  EXPECT_FALSE(program->DecidesGuard(program->block(1)));
}

TEST(Guards, BranchesToGuardedInstructionsAreBranches) {
  v1::KernelProgram proto = GuardedStore();
  proto.mutable_instruction(0)->set_op(v1::OP_BRANCH);
  const absl::StatusOr<Program> program = Program::Create(proto);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_TRUE(program->uses_guards());
  EXPECT_EQ(program->guard_count(), 0u);
}

TEST(Guards, OfInstructionsThatOnlyComputeNeedNoDecision) {
  v1::KernelProgram proto = Diamond();
  proto.mutable_instruction(0)->set_flags(v1::FLAG_GUARDED);
  const absl::StatusOr<Program> program = Program::Create(proto);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->guard_count(), 0u);
}

TEST(CodeLevel, IsToldInWords) {
  v1::KernelProgram program = Diamond();
  EXPECT_EQ(CodeInWords(program), "");
  EXPECT_EQ(MinorVersionOf(program), kUsualMinorVersion);
  program.set_level(v1::LEVEL_PTX_GIVEN);
  EXPECT_EQ(CodeInWords(program), "PTX");
  program.set_producer("NVVM 13.0");
  program.set_isa_version("9.0");
  program.set_target("sm_80");
  EXPECT_EQ(CodeInWords(program), "PTX 9.0 by NVVM 13.0 for sm_80");
  EXPECT_EQ(MinorVersionOf(program), kGivenCodeMinorVersion);
  EXPECT_EQ(MinorVersionOf(GuardedStore()), kGivenCodeMinorVersion);
  program.set_stand_in_for("cublasSgemm");
  EXPECT_EQ(CodeInWords(program), "stand-in for cublasSgemm, PTX 9.0 by NVVM 13.0 for sm_80");
  program = Diamond();
  program.mutable_function(0)->set_register_bits("\x20\x20");
  EXPECT_EQ(MinorVersionOf(program), kGivenCodeMinorVersion);
  program = Diamond();
  program.set_stand_in_for("cublasSgemm");
  EXPECT_EQ(CodeInWords(program), "stand-in for cublasSgemm");
  EXPECT_EQ(MinorVersionOf(program), 8u);
}

TEST(Calls, RecursionWithoutADecisionIsRefused) {
  const v1::KernelProgram program = ProgramBuilder("k")
                                        .Block("a")
                                        .Call("f", "b")
                                        .Block("b")
                                        .Exit()
                                        .Function("f")
                                        .Block("x")
                                        .Call("g", "y")
                                        .Block("y")
                                        .Return()
                                        .Function("g")
                                        .Block("x")
                                        .Call("f", "y")
                                        .Block("y")
                                        .Return()
                                        .Build();
  EXPECT_THAT(std::string(Program::Create(program).status().message()), HasSubstr("recursion without a decision"));
}

TEST(Calls, RecursionBehindADecisionIsAccepted) {
  ProgramBuilder("k")
      .Block("a")
      .Call("f", "b")
      .Block("b")
      .Exit()
      .Function("f")
      .Block("x")
      .Branch("y", "z")
      .Block("y")
      .Call("f", "z")
      .Block("z")
      .Return()
      .Create();
}

TEST(Calls, ALoopAroundACallEndsOnlyIfTheCallDecides) {
  const auto loop = [](bool decides) {
    ProgramBuilder builder("k");
    builder.Block("a").Call("f", "b").Block("b").Jump("a").Function("f").Block("x");
    if (decides) {
      builder.Branch("y", "z").Block("y").Return().Block("z").Exit();
    } else {
      builder.Return();
    }
    return Program::Create(builder.Build()).status();
  };
  EXPECT_EQ(loop(true), absl::OkStatus());
  EXPECT_THAT(std::string(loop(false).message()), HasSubstr("cycle without a decision"));
}

std::vector<uint32_t> PostDominators(const ProgramBuilder& builder) { return ComputePostDominators(builder.Create()); }
constexpr uint32_t kEnd = kNoBlock;

TEST(PostDominators, OfADiamondAndALoop) {
  EXPECT_THAT(
      PostDominators(
          ProgramBuilder("d").Block("a").Branch("b", "c").Block("b").Jump("d").Block("c").Jump("d").Block("d").Exit()),
      ::testing::ElementsAre(3, 3, 3, kEnd));
  EXPECT_THAT(PostDominators(ProgramBuilder("l").Block("a").Alu().Block("h").Branch("x", "h").Block("x").Exit()),
              ::testing::ElementsAre(1, 2, kEnd));
}

TEST(PostDominators, TwoExitsMeetAtTheEnd) {
  EXPECT_THAT(PostDominators(ProgramBuilder("e").Block("a").Branch("b", "c").Block("b").Exit().Block("c").Exit()),
              ::testing::ElementsAre(kEnd, kEnd, kEnd));
}

// Otherwise one assertion in a loop would send every reconvergence point to the end.
TEST(PostDominators, TrapsDoNotTakePart) {
  EXPECT_THAT(PostDominators(ProgramBuilder("t")
                                 .Block("a")
                                 .Branch("ok", "bad")
                                 .Block("bad")
                                 .Alu()
                                 .Jump("worse")
                                 .Block("worse")
                                 .Op(v1::OP_EXIT)
                                 .Flags(v1::FLAG_CANNOT_RETURN)
                                 .Exit()
                                 .Block("ok")
                                 .Branch("x", "y")
                                 .Block("x")
                                 .Jump("z")
                                 .Block("y")
                                 .Jump("z")
                                 .Block("z")
                                 .Exit()),
              ::testing::ElementsAre(3, kEnd, kEnd, 6, 6, 6, kEnd));
}

TEST(PostDominators, LoopsThatOnlyATrapEndsTakeNoPart) {
  EXPECT_THAT(PostDominators(ProgramBuilder("u")
                                 .Block("a")
                                 .Branch("h", "x")
                                 .Block("h")
                                 .Branch("bad", "h")
                                 .Block("bad")
                                 .Op(v1::OP_EXIT)
                                 .Flags(v1::FLAG_CANNOT_RETURN)
                                 .Exit()
                                 .Block("x")
                                 .Exit()),
              ::testing::ElementsAre(3, kEnd, kEnd, kEnd));
}

TEST(PostDominators, EndlessLoopsAreConnectedToTheEnd) {
  EXPECT_THAT(PostDominators(ProgramBuilder("w")
                                 .Block("a")
                                 .Branch("h", "x")
                                 .Block("h")
                                 .Branch("b", "c")
                                 .Block("b")
                                 .Jump("l")
                                 .Block("c")
                                 .Jump("l")
                                 .Block("l")
                                 .Jump("h")
                                 .Block("x")
                                 .Exit()),
              ::testing::ElementsAre(kEnd, 4, 4, 4, kEnd, kEnd));
}

// By definition: p post-dominates b if no way from b to the function's end avoids p; the immediate one is the nearest.
TEST(PostDominators, OfRandomProgramsFollowTheDefinition) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const auto program = Program::Create(testing::RandomProgram(seed, {.depth = 3, .calls = true, .wide = true}));
    ASSERT_TRUE(program.ok());
    const uint32_t count = static_cast<uint32_t>(program->blocks().size());
    // Blocks from which the end is reached without going through `avoided`.
    const auto escapes = [&](uint32_t avoided) {
      std::vector<bool> out(count, false);
      for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < count; ++b) {
          if (out[b] || b == avoided) continue;
          const v1::BasicBlock& block = program->proto().block(static_cast<int>(b));
          bool now = block.successor_size() == 0;
          for (uint32_t s : block.successor()) now = now || out[s];
          if (now) out[b] = changed = true;
        }
      }
      return out;
    };
    std::vector<std::vector<bool>> escape;
    escape.reserve(count);
    for (uint32_t p = 0; p < count; ++p) escape.push_back(escapes(p));
    const std::vector<uint32_t> found = ComputePostDominators(*program);
    for (uint32_t b = 0; b < count; ++b) {
      const auto dominates = [&](uint32_t p, uint32_t q) {
        return p != q && program->block(p).function == program->block(q).function && !escape[p][q];
      };
      uint32_t nearest = kNoBlock;
      for (uint32_t p = 0; p < count; ++p) {
        if (dominates(p, b) && (nearest == kNoBlock || dominates(nearest, p))) nearest = p;
      }
      ASSERT_EQ(found[b], nearest) << "seed " << seed << " block " << b;
    }
  }
}

// A ladder on which fixed-point algorithms take a step per block and round.
TEST(PostDominators, OfLargeProgramsTakeNoQuadraticTime) {
  v1::KernelProgram program;
  program.set_name("ladder");
  constexpr uint32_t kBlocks = 60'000;
  program.add_function()->set_block_count(kBlocks);
  for (uint32_t b = 0; b < kBlocks; ++b) {
    program.add_instruction()->set_op(b + 1 == kBlocks ? v1::OP_EXIT : v1::OP_BRANCH);
    v1::BasicBlock& block = *program.add_block();
    block.set_first_instruction(b);
    block.set_instruction_count(1);
    block.set_terminator(b + 1 == kBlocks ? v1::EXIT : v1::BRANCH_CONDITIONAL);
    if (b + 1 == kBlocks) continue;
    block.add_successor(b + 1);
    block.add_successor(b == 0 ? 1 : b - 1);
  }
  const auto created = Program::Create(program);
  ASSERT_TRUE(created.ok()) << created.status();
  const std::vector<uint32_t> found = ComputePostDominators(*created);
  for (uint32_t b = 0; b + 1 < kBlocks; ++b) ASSERT_EQ(found[b], b + 1);
}

}  // namespace
}  // namespace heddle::trace
