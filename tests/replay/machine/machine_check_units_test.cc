// Machines that cannot be, by what they say of units, operands, the front end, asynchronous copies and
// transaction barriers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/machine/machine.h"

namespace heddle::replay {
namespace {

using ::testing::HasSubstr;

// The message with which machine `name` is refused after `assignments`.
std::string Refusal(const std::string& name, const std::vector<std::string>& assignments) {
  machine::v1::Machine machine = LoadMachine(name).value();
  for (const std::string& assignment : assignments) EXPECT_TRUE(Override(machine, assignment).ok()) << assignment;
  const absl::Status status = CheckMachine(machine);
  return status.ok() ? "accepted" : std::string(status.message());
}

std::string V100(const std::vector<std::string>& assignments) { return Refusal("volta_v100", assignments); }

TEST(MachineCheckUnits, TensorUnits) {
  EXPECT_THAT(V100({"core.units.tensor=65"}), HasSubstr("core.units.tensor = 65: must be 0 to 64"));
  EXPECT_THAT(V100({"core.units.tensor=0"}),
              HasSubstr("core.units.timing[TENSOR].unit = TENSOR_UNIT: core.units.tensor must be at least 1"));
  EXPECT_THAT(Refusal("volta_80sm", {"core.units.timing[TENSOR].unit=TENSOR_UNIT"}), HasSubstr("core.units.tensor"));
  EXPECT_EQ(Refusal("volta_80sm", {"core.units.timing[TENSOR].unit=TENSOR_UNIT", "core.units.tensor=2"}), "accepted");
}

TEST(MachineCheckUnits, TensorTimings) {
  const std::string half = "core.units.tensor_timing[F16_INTO_F32].";
  EXPECT_THAT(V100({half + "multiply_adds=0"}), HasSubstr(half + "multiply_adds = 0: must be 1 to 1048576"));
  EXPECT_THAT(V100({half + "pipeline_cycles=100001"}), HasSubstr(half + "pipeline_cycles = 100001"));
  EXPECT_THAT(V100({"core.units.tensor_timing[1].elements=F16_INTO_F32"}),
              HasSubstr("core.units.tensor_timing[F16_INTO_F32]: stands there twice"));
  EXPECT_THAT(V100({"core.units.tensor_timing[2].multiply_adds=8"}),
              HasSubstr("core.units.tensor_timing[2].elements: must be given"));
  EXPECT_THAT(V100({"core.units.tensor_timing[INT8].pipeline_cycles=8"}),
              HasSubstr("core.units.tensor_timing[INT8].multiply_adds = 0"));
  EXPECT_THAT(Refusal("baws_gtx480", {"core.units.tensor_timing[INT8].multiply_adds=8"}),
              HasSubstr("core.units.timing[TENSOR] must be there"));
}

TEST(MachineCheckUnits, ShapesOfProducts) {
  const std::string shape = "core.units.tensor_timing[F16_INTO_F16].shape";
  const auto with = [&](const std::vector<std::string>& fields) {
    std::vector<std::string> assignments;
    for (const std::string& field : fields) assignments.push_back(shape + field);
    return V100(assignments);
  };
  EXPECT_THAT(with({"[0].m=16", "[0].n=8", "[0].latency=8"}), HasSubstr(shape + "[0].k = 0: must be 1 to 4096"));
  EXPECT_THAT(with({"[0].m=4097"}), HasSubstr(shape + "[0].m = 4097"));
  EXPECT_THAT(with({"[0].m=16", "[0].n=8", "[0].k=8"}),
              HasSubstr(shape + "[0]: must say latency or initiation_interval"));
  EXPECT_THAT(with({"[0].m=16", "[0].n=8", "[0].k=8", "[0].latency=100001"}), HasSubstr(shape + "[0].latency"));
  EXPECT_THAT(with({"[0].m=16", "[0].n=8", "[0].k=8", "[0].latency=9", "[1].m=16", "[1].n=8", "[1].k=8",
                    "[1].initiation_interval=4"}),
              HasSubstr(shape + "[1]: m16n8k8 stands there twice"));
  EXPECT_EQ(with({"[0].m=16", "[0].n=8", "[0].k=8", "[0].initiation_interval=4"}), "accepted");
}

// Both front ends have them.
TEST(MachineCheckUnits, AsynchronousCopiesAndTransactionBarriers) {
  for (const char* name : {"fermi_fixed", "hopper_h100"}) {
    const auto refusal = [name](const std::string& assignment) { return Refusal(name, {assignment}); };
    EXPECT_THAT(refusal("core.copies.issue_latency=100001"), HasSubstr("core.copies.issue_latency = 100001"));
    EXPECT_THAT(refusal("core.copies.write_latency=100001"), HasSubstr("core.copies.write_latency = 100001"));
    EXPECT_THAT(refusal("core.copies.bytes_per_cycle=1048577"), HasSubstr("core.copies.bytes_per_cycle = 1048577"));
    EXPECT_THAT(refusal("core.copies.in_flight=1048577"), HasSubstr("core.copies.in_flight = 1048577"));
    EXPECT_THAT(refusal("core.transaction_barriers.arrival_latency=1025"),
                HasSubstr("core.transaction_barriers.arrival_latency = 1025: must be 0 to 1024"));
    EXPECT_THAT(refusal("core.transaction_barriers.wake_latency=100001"),
                HasSubstr("core.transaction_barriers.wake_latency = 100001"));
    EXPECT_THAT(refusal("core.block_barriers.arrival_interval=100001"),
                HasSubstr("core.block_barriers.arrival_interval = 100001"));
    EXPECT_THAT(refusal("core.block_barriers.release_latency=100001"),
                HasSubstr("core.block_barriers.release_latency = 100001"));
    EXPECT_EQ(refusal("core.copies.in_flight=1"), "accepted");
  }
}

TEST(MachineCheckUnits, TensorUnitsWithoutEffect) {
  const auto effect = [](const std::string& name) {
    return WithoutEffect(LoadMachine(name).value(), "core.units.tensor=4");
  };
  EXPECT_THAT(effect("volta_80sm"), HasSubstr("no operation of core.units.timing has TENSOR_UNIT"));
  EXPECT_THAT(effect("fermi_fixed"), HasSubstr("core.front_end is THESIS"));
  EXPECT_EQ(effect("hopper_h100"), "");
}

TEST(MachineCheckUnits, UnitsForIntegersAndDoubles) {
  EXPECT_THAT(V100({"core.units.integer=65"}), HasSubstr("core.units.integer = 65: must be 0 to 64"));
  EXPECT_THAT(V100({"core.units.dp=65"}), HasSubstr("core.units.dp = 65: must be 0 to 64"));
  EXPECT_THAT(V100({"core.units.timing[INT_ALU].unit=INT_UNIT"}),
              HasSubstr("core.units.timing[INT_ALU].unit = INT_UNIT: core.units.integer must be at least 1"));
  EXPECT_THAT(V100({"core.units.timing[FP64].unit=DP_UNIT"}),
              HasSubstr("core.units.timing[FP64].unit = DP_UNIT: core.units.dp must be at least 1"));
  EXPECT_EQ(V100({"core.units.timing[INT_ALU].unit=INT_UNIT", "core.units.integer=4"}), "accepted");
  const machine::v1::Machine machine = LoadMachine("volta_v100").value();
  EXPECT_THAT(WithoutEffect(machine, "core.units.integer=4"), HasSubstr("has INT_UNIT"));
  EXPECT_THAT(WithoutEffect(machine, "core.units.dp=4"), HasSubstr("has DP_UNIT"));
}

TEST(MachineCheckUnits, OperandsInSteps) {
  const auto gtx480 = [](std::vector<std::string> assignments) {
    assignments.insert(assignments.begin(), {"core.units.register_banks=16", "core.units.operand_read_cycles=4"});
    return Refusal("baws_gtx480", assignments);
  };
  EXPECT_THAT(gtx480({"core.units.operand_steps=17"}), HasSubstr("core.units.operand_steps = 17: must be 0 to 16"));
  EXPECT_THAT(gtx480({"core.units.operand_steps=1", "core.units.operand_read_cycles=2"}),
              HasSubstr("core.units.operand_read_cycles = 2: must be 3 to"));
  EXPECT_EQ(gtx480({"core.units.operand_steps=1"}), "accepted");
  EXPECT_EQ(gtx480({"core.units.banks_by_port=true"}), "accepted");
  EXPECT_THAT(gtx480({"core.units.banks_by_port=true", "core.units.register_banks=15"}),
              HasSubstr("core.units.register_banks = 15: must be a multiple of core.schedulers = 2"));
  machine::v1::Machine machine = LoadMachine("baws_gtx480").value();
  machine.mutable_core()->mutable_units()->set_register_banks(0);
  EXPECT_THAT(WithoutEffect(machine, "core.units.operand_steps=2"), HasSubstr("core.units.register_banks = 0"));
  EXPECT_THAT(WithoutEffect(machine, "core.units.banks_by_port=true"), HasSubstr("core.units.register_banks = 0"));
}

TEST(MachineCheckUnits, WhatAFrontEndDoes) {
  EXPECT_THAT(V100({"core.ibuffer.fetches_per_cycle=65"}),
              HasSubstr("core.ibuffer.fetches_per_cycle = 65: must be 0 to 64"));
  machine::v1::Machine machine = LoadMachine("volta_v100").value();
  EXPECT_FALSE(Override(machine, "core.branches=LATER").ok());
  machine.mutable_core()->set_branches(static_cast<machine::v1::Core::Branches>(7));
  EXPECT_THAT(std::string(CheckMachine(machine).message()), HasSubstr("core.branches = 7: must be AT_RESULT or"));
  for (const char* field :
       {"core.branches=AT_ISSUE", "core.atomics_hold=true", "core.reductions=true", "core.ports_in_turn=true"}) {
    EXPECT_EQ(V100({field}), "accepted");
    EXPECT_EQ(WithoutEffect(LoadMachine("volta_v100").value(), field), "");
    EXPECT_THAT(WithoutEffect(LoadMachine("fermi_fixed").value(), field), HasSubstr("core.front_end is THESIS"));
  }
}

}  // namespace
}  // namespace heddle::replay
