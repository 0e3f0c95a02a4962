// The cores of GPGPU-Sim 4.x and Accel-Sim: units, collectors, fetch, and what running traces means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "replay/core/issue_table.h"
#include "tests/tools/exchange/import_harness.h"

namespace heddle::tools {
namespace {

using machine::v1::Core;
using machine::v1::ExecutionUnits;
using machine::v1::OperationTiming;
using ::testing::HasSubstr;

std::string FermiWithAll(std::initializer_list<const char*> lines) {
  std::string text = kFermi;
  for (const char* line : lines) text = With(text, line);
  return text;
}
OperationTiming::Unit UnitOf(const ExecutionUnits& units, OperationTiming::Operation operation) {
  return replay::TimingOf(units, operation).unit();
}

TEST(ImportCore, UnitsOfTheirOwnForIntegersDoublesAndProducts) {
  const ImportedMachine imported =
      Import(FermiWithAll({"-gpgpu_num_int_units 4", "-gpgpu_num_dp_units 3", "-gpgpu_num_tensor_core_units 2",
                           "-ptx_opcode_latency_tesnor 64", "-ptx_opcode_initiation_tensor 32"}));
  const ExecutionUnits& units = imported.machine.core().units();
  EXPECT_EQ(units.integer(), 4);
  EXPECT_EQ(units.dp(), 3);
  EXPECT_EQ(units.tensor(), 2);
  EXPECT_EQ(UnitOf(units, OperationTiming::INT_ALU), OperationTiming::INT_UNIT);
  EXPECT_EQ(UnitOf(units, OperationTiming::INT_MUL), OperationTiming::INT_UNIT) << "they leave the SFUs";
  EXPECT_EQ(UnitOf(units, OperationTiming::INT_DIV), OperationTiming::SFU_UNIT);
  EXPECT_EQ(UnitOf(units, OperationTiming::FP32), OperationTiming::SP_UNIT);
  EXPECT_EQ(UnitOf(units, OperationTiming::FP64), OperationTiming::DP_UNIT);
  EXPECT_EQ(UnitOf(units, OperationTiming::TENSOR), OperationTiming::TENSOR_UNIT);
  const ExecutionUnits shared = Import(kFermi).machine.core().units();
  EXPECT_EQ(UnitOf(shared, OperationTiming::INT_ALU), OperationTiming::SP_UNIT);
  EXPECT_EQ(UnitOf(shared, OperationTiming::INT_MUL), OperationTiming::SFU_UNIT);
  EXPECT_EQ(UnitOf(shared, OperationTiming::FP64), OperationTiming::SFU_UNIT);
}

// An instruction with one operand and a dependent one, as in Accel-Sim: 6 cycles and the latency apart with one step of
// the collectors per cycle, 5 with two.
TEST(ImportCore, OperandsAreReadInAsManyStepsAsTheRegisterFileHasPorts) {
  const auto units_with = [](const char* line) { return Import(FermiWith(line)).machine.core().units(); };
  const ExecutionUnits one = units_with("-gpgpu_reg_file_port_throughput 1");
  EXPECT_EQ(one.operand_steps(), 1);
  EXPECT_EQ(one.operand_read_cycles() + one.write_back_cycles(), 6);
  EXPECT_EQ(one.memory_issue_latency(), 5);
  const ExecutionUnits two = units_with("-gpgpu_reg_file_port_throughput 2");
  EXPECT_EQ(two.operand_steps(), 2);
  EXPECT_EQ(two.operand_read_cycles() + two.write_back_cycles(), 5);
  EXPECT_EQ(two.memory_issue_latency(), 4);
  const ExecutionUnits not_told = Import(kFermi).machine.core().units();
  EXPECT_EQ(not_told.operand_steps(), 0) << "versions without the option";
  EXPECT_EQ(not_told.operand_read_cycles(), 5);
  EXPECT_EQ(not_told.memory_issue_latency(), 4);
}

TEST(ImportCore, SchedulersWithRegisterBanksOfTheirOwn) {
  EXPECT_TRUE(Import(FermiWith("-gpgpu_sub_core_model 1")).machine.core().units().banks_by_port());
  EXPECT_FALSE(Import(FermiWith("-gpgpu_sub_core_model 0")).machine.core().units().banks_by_port());
  EXPECT_THAT(NoteOn(Import(FermiWith("-gpgpu_sub_core_model 1")), "-gpgpu_sub_core_model"), HasSubstr("share units"));
  EXPECT_THAT(Refusal(FermiWithAll({"-gpgpu_sub_core_model 1", "-gpgpu_num_reg_banks 15"})),
              HasSubstr("-gpgpu_num_reg_banks: core.units.register_banks = 15: must be a multiple of core.schedulers"));
}

TEST(ImportCore, FetchesPerCycle) {
  EXPECT_EQ(Import(FermiWith("-gpgpu_inst_fetch_throughput 4")).machine.core().ibuffer().fetches_per_cycle(), 4);
  EXPECT_EQ(Import(kFermi).machine.core().ibuffer().fetches_per_cycle(), 0);
}

TEST(ImportCore, ATraceConfigMeansThatTracesAreRun) {
  const auto imported = ImportMachine(
      {{"gpgpusim.config", kFermi},
       {"trace.config",
        "-trace_opcode_latency_initiation_int 2,2\n-specialized_unit_1 0,4,4,4,4,BRA\n"
        "-specialized_unit_2 1,4,200,4,4,TEX\n-specialized_unit_3 1,4,4,4,4,BRA\n"
        "-trace_opcode_latency_initiation_spec_op_2 200,4\n-trace_opcode_latency_initiation_spec_op_3 5,3\n"}},
      "imported", NoNetwork);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Core& core = imported->machine.core();
  EXPECT_EQ(core.branches(), Core::AT_ISSUE);
  EXPECT_TRUE(core.atomics_hold());
  EXPECT_TRUE(core.ports_in_turn());
  EXPECT_TRUE(imported->machine.memory().hierarchy().shared().merge_atomics());
  const OperationTiming& branch = replay::TimingOf(core.units(), OperationTiming::BRANCH);
  EXPECT_EQ(branch.latency(), 5);
  EXPECT_EQ(branch.initiation_interval(), 3);
  EXPECT_THAT(imported->sources.at("core.branches"), HasSubstr("trace.config"));
  EXPECT_THAT(NoteOn(*imported, "-specialized_unit_3"), HasSubstr("branches share the SFUs"));
  EXPECT_THAT(Options(*imported, ImportOutcome::kNotRepresented), ::testing::Contains("-specialized_unit_2"));

  const Core plain = Import(kFermi).machine.core();
  EXPECT_EQ(plain.branches(), Core::AT_RESULT);
  EXPECT_FALSE(plain.atomics_hold());
  EXPECT_FALSE(plain.ports_in_turn());
}

// A trace has no division of its own: what `heddle trace export` writes for one is a multiplication or a MUFU.
TEST(ImportCore, DivisionsTakeTheFiguresOfWhatStandsForThemInATrace) {
  const auto imported = ImportMachine({{"gpgpusim.config", With(kFermi, "-gpgpu_num_int_units 4")},
                                       {"trace.config",
                                        "-trace_opcode_latency_initiation_int 2,1\n"
                                        "-trace_opcode_latency_initiation_sfu 20,8\n"}},
                                      "imported", NoNetwork);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const ExecutionUnits& units = imported->machine.core().units();
  const OperationTiming integer = replay::TimingOf(units, OperationTiming::INT_DIV);
  EXPECT_EQ(integer.latency(), 2);
  EXPECT_EQ(integer.initiation_interval(), 1);
  EXPECT_EQ(integer.unit(), OperationTiming::INT_UNIT);
  for (const auto operation : {OperationTiming::FP32_DIV, OperationTiming::FP64_DIV}) {
    EXPECT_EQ(replay::TimingOf(units, operation).latency(), 20);
    EXPECT_EQ(replay::TimingOf(units, operation).initiation_interval(), 8);
  }
  EXPECT_EQ(replay::TimingOf(Import(kFermi).machine.core().units(), OperationTiming::FP32_DIV).latency(), 39)
      << "without a trace.config";
}

}  // namespace
}  // namespace heddle::tools
