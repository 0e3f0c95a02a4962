// Products of matrices on tensor units: how long each keeps its unit, and when its result is there, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "tests/replay/core/engine_harness.h"
#include "tests/replay/core/ibuffer_harness.h"
#include "tests/traces/collective_programs.h"

namespace heddle::replay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using trace::testing::MakeProduct;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::KernelProgram;
using trace::v1::Matrix;

struct Product {
  uint32_t m, n, k;
  Matrix::Type elements;
  Matrix::Type sums;
};

void Make(trace::v1::Instruction& instruction, const Product& product) {
  MakeProduct(instruction);
  instruction.set_mnemonic(absl::StrCat("mma.of.", Matrix::Type_Name(product.elements)));
  Matrix& matrix = *instruction.mutable_matrix();
  matrix.clear_a_registers();
  matrix.set_m(product.m);
  matrix.set_n(product.n);
  matrix.set_k(product.k);
  matrix.set_a(product.elements);
  matrix.set_b(product.elements);
  matrix.set_c(product.sums);
  matrix.set_d(product.sums);
}

// Products that need nothing of one another, and an add that needs the last one.
KernelProgram Products(int count, const Product& product) {
  KernelProgram program = ProgramBuilder("products").Alu(count + 1).Exit().Build();
  for (int i = 0; i <= count; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  for (int i = 0; i < count; ++i) Make(*program.mutable_instruction(i), product);
  SetRegisters(program, count, {static_cast<uint32_t>(count + 1)}, {static_cast<uint32_t>(count)});
  return program;
}

// One SM of a machine, with all instructions in the buffer, before a memory that nothing uses.
RunOptions OneSm(const std::string& name) {
  RunOptions options;
  options.machine = LoadMachine(name).value();
  options.machine.set_sms(1);
  options.machine.mutable_dispatch()->clear_launch_cycles();
  *options.machine.mutable_memory() = Small().machine.memory();
  Buffer(options).set_entries(64);
  Buffer(options).set_fetch_instructions(64);
  return options;
}

// Of one product on a machine with one tensor unit: cycles to the next one, and to the result.
struct Times {
  uint64_t interval = 0;
  uint64_t latency = 0;
  friend bool operator==(const Times&, const Times&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Times& times) {
    return out << times.interval << " and " << times.latency;
  }
};

Times TimesOf(RunOptions options, const Product& product) {
  Units(options).set_tensor(1);
  const auto trace = MakeTrace(Products(2, product), 1, std::vector<ThreadTrace>(32));
  const Outcome outcome = RunBoth(*trace, options);
  const auto& issues = outcome.log.issues();
  if (issues.size() != 4) return {};
  return {issues[1].cycle - issues[0].cycle, issues[2].cycle - issues[1].cycle};
}

// Of m16n16k16, m16n8k16 is half: 32 cycles of 64 until the next product and the result.
TEST(ProductTiming, AProductTakesItsShareOfTheTensorUnit) {
  KernelProgram program = ProgramBuilder("products").Alu(3).Exit().Build();
  for (const int at : {0, 1}) MakeProduct(*program.mutable_instruction(at));
  for (int i = 0; i < 3; ++i) SetRegisters(program, i, {static_cast<uint32_t>(i + 1)}, {});
  SetRegisters(program, 2, {3}, {2});
  for (const int at : {0, 1}) program.mutable_instruction(at)->mutable_matrix()->clear_a_registers();
  RunOptions options = Small();
  options.machine.mutable_core()->set_warp_size(32);
  options.machine.mutable_core()->set_simd_width(32);
  options.machine.mutable_core()->set_max_threads(256);
  Buffer(options).set_fetch_when(machine::v1::InstructionBuffer::FREE_SLOT);
  Buffer(options).set_entries(4);
  AddTiming(options, machine::v1::OperationTiming::TENSOR, 64, 64, machine::v1::OperationTiming::SFU_UNIT);
  const auto trace = MakeTrace(program, 1, std::vector<ThreadTrace>(32));
  EXPECT_EQ(Issues(RunBoth(*trace, options)), "2:0 34:1 66:2 67:3");
}

// m * n * k multiply-adds at 128 per cycle, then 22 cycles into single precision, 32 into half.
TEST(ProductTiming, OnTheV100) {
  const RunOptions v100 = OneSm("volta_v100");
  EXPECT_EQ(TimesOf(v100, {16, 16, 16, Matrix::F16, Matrix::F32}), (Times{32, 54}));
  EXPECT_EQ(TimesOf(v100, {16, 16, 16, Matrix::F16, Matrix::F16}), (Times{32, 64}));
  EXPECT_EQ(TimesOf(v100, {32, 8, 16, Matrix::F16, Matrix::F32}), (Times{32, 54}));
  // PTX's m8n8k4 in half precision is four products.
  EXPECT_EQ(TimesOf(v100, {8, 8, 4, Matrix::F16, Matrix::F32}), (Times{8, 30}));
}

// At 342 per cycle, rounded up, then 18 cycles; half of that, twice, 32, and 16 times that.
TEST(ProductTiming, OnTheH100) {
  const RunOptions h100 = OneSm("hopper_h100");
  EXPECT_EQ(TimesOf(h100, {16, 8, 16, Matrix::F16, Matrix::F32}), (Times{6, 24}));
  EXPECT_EQ(TimesOf(h100, {16, 8, 8, Matrix::F16, Matrix::F16}), (Times{3, 21}));
  EXPECT_EQ(TimesOf(h100, {16, 16, 16, Matrix::F16, Matrix::F32}), (Times{12, 30}));
  EXPECT_EQ(TimesOf(h100, {16, 8, 16, Matrix::BF16, Matrix::F32}), (Times{6, 24}));
  EXPECT_EQ(TimesOf(h100, {16, 8, 8, Matrix::TF32, Matrix::F32}), (Times{6, 24}));
  EXPECT_EQ(TimesOf(h100, {16, 8, 32, Matrix::U8, Matrix::S32}), (Times{6, 24}));
  EXPECT_EQ(TimesOf(h100, {8, 8, 16, Matrix::S8, Matrix::S32}), (Times{2, 20}));
  EXPECT_EQ(TimesOf(h100, {16, 8, 32, Matrix::E4M3, Matrix::F32}), (Times{12, 30}));
  EXPECT_EQ(TimesOf(h100, {16, 8, 32, Matrix::E5M2, Matrix::F16}), (Times{12, 30}));
  EXPECT_EQ(TimesOf(h100, {8, 8, 4, Matrix::F64, Matrix::F64}), (Times{8, 26}));
  EXPECT_EQ(TimesOf(h100, {16, 8, 256, Matrix::B1, Matrix::S32}), (Times{6, 24}));
}

// 8 warps of 32 products on 4 units: 64 on each, one after the other, but for what the first and the last take besides.
TEST(ProductTiming, AllUnitsOfAnSmAreUsed) {
  const struct {
    const char* name;
    Product product;
    uint64_t cycles;
  } kCases[] = {{"volta_v100", {16, 16, 16, Matrix::F16, Matrix::F32}, 64 * 32},
                {"hopper_h100", {16, 8, 16, Matrix::F16, Matrix::F32}, 64 * 6}};
  for (const auto& one : kCases) {
    const auto trace = MakeTrace(Products(32, one.product), 1, std::vector<ThreadTrace>(256));
    const Outcome outcome = RunBoth(*trace, OneSm(one.name));
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_GE(outcome.launch().cycles(), one.cycles) << one.name;
    EXPECT_LT(outcome.launch().cycles(), one.cycles + 80) << one.name;
  }
}

// A special function that is under way does not hold up a product that has a unit of its own, and one that shares it.
TEST(ProductTiming, ATensorUnitIsNotASpecialFunctionUnit) {
  const Product product{16, 16, 16, Matrix::F16, Matrix::F32};
  KernelProgram program = Products(1, product);
  *program.mutable_instruction(1) = program.instruction(0);
  trace::v1::Instruction& special = *program.mutable_instruction(0);
  special.clear_matrix();
  special.set_op(trace::v1::OP_SFU);
  special.set_micro_ops(4);
  SetRegisters(program, 0, {9}, {});
  const auto trace = MakeTrace(program, 1, std::vector<ThreadTrace>(32));
  for (const bool own : {true, false}) {
    RunOptions options = OneSm("volta_v100");
    Units(options).set_sfu(1);
    for (auto& timing : *Units(options).mutable_timing()) {
      const bool of_products = timing.operation() == machine::v1::OperationTiming::TENSOR;
      if (of_products && !own) timing.set_unit(machine::v1::OperationTiming::SFU_UNIT);
    }
    const Outcome outcome = RunBoth(*trace, options);
    ASSERT_EQ(outcome.log.issues().size(), 3u);
    // Four micro-operations, eight cycles each.
    EXPECT_EQ(outcome.log.issues()[1].cycle - outcome.log.issues()[0].cycle, own ? 1u : 32u);
  }
}

TEST(ProductTiming, AShapeMayHaveTimesOfItsOwn) {
  RunOptions options = OneSm("volta_v100");
  const auto set = [&options](const std::string& assignment) {
    ASSERT_TRUE(Override(options.machine, "core.units.tensor_timing[F16_INTO_F32].shape" + assignment).ok());
  };
  for (const char* assignment :
       {"[0].m=16", "[0].n=8", "[0].k=8", "[0].latency=33", "[0].initiation_interval=20", "[1].m=8", "[1].n=32",
        "[1].k=16", "[1].initiation_interval=40", "[2].m=32", "[2].n=8", "[2].k=16", "[2].latency=70"}) {
    set(assignment);
  }
  EXPECT_EQ(TimesOf(options, {16, 8, 8, Matrix::F16, Matrix::F32}), (Times{20, 33}));
  EXPECT_EQ(TimesOf(options, {8, 32, 16, Matrix::F16, Matrix::F32}), (Times{40, 62}));
  EXPECT_EQ(TimesOf(options, {32, 8, 16, Matrix::F16, Matrix::F32}), (Times{32, 70}));
  EXPECT_EQ(TimesOf(options, {16, 16, 16, Matrix::F16, Matrix::F32}), (Times{32, 54})) << "is not among them";
  EXPECT_EQ(TimesOf(options, {16, 8, 8, Matrix::F16, Matrix::F16}), (Times{8, 40})) << "has other elements";
}

// Instructions enter in groups of lanes, each of which takes the initiation interval; the rate is that of the warp. Of
// 33 cycles a group takes 17.
TEST(ProductTiming, NarrowPipelinesKeepTheRate) {
  RunOptions options = OneSm("volta_v100");
  options.machine.mutable_core()->set_simd_width(16);
  EXPECT_EQ(TimesOf(options, {16, 16, 16, Matrix::F16, Matrix::F32}), (Times{32, 54}));
  Units(options).mutable_tensor_timing(0)->set_multiply_adds(127);
  EXPECT_EQ(TimesOf(options, {16, 16, 16, Matrix::F16, Matrix::F32}), (Times{34, 55}));
}

TEST(ProductTiming, ElementsThatTheMachineLacksAreRefusedByMnemonicAndPlace) {
  const auto refusal = [](const std::string& machine, const Product& product) {
    const auto trace = MakeTrace(Products(1, product), 1, std::vector<ThreadTrace>(32));
    return std::string(RunTrace(*trace, OneSm(machine)).status.message());
  };
  EXPECT_THAT(refusal("volta_v100", {16, 8, 32, Matrix::S8, Matrix::S32}),
              AllOf(HasSubstr("machine volta_v100 has no products of these elements: mma.of.S8, "), HasSubstr("PC 0"),
                    HasSubstr("core.units.tensor_timing")));
  EXPECT_THAT(refusal("volta_v100", {16, 8, 16, Matrix::BF16, Matrix::F32}), HasSubstr("mma.of.BF16"));
  const Product nibbles{16, 8, 32, Matrix::U4, Matrix::S32};
  EXPECT_THAT(refusal("hopper_h100", nibbles), HasSubstr("mma.of.U4"));
  EXPECT_EQ(refusal("volta_80sm", nibbles), "") << "says nothing of elements";
  EXPECT_EQ(refusal("hopper_h100", {16, 8, 32, Matrix::U8, Matrix::S32}), "");
}

}  // namespace
}  // namespace heddle::replay
