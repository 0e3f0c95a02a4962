// Machines as text: what is written is read as the same machine.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>

#include "replay/machine/machine.h"
#include "tools/exchange/gpgpusim/machine_text.h"

namespace heddle::tools {
namespace {

using machine::v1::Machine;

TEST(MachineText, IsReadAsTheSameMachine) {
  for (const std::string& name : replay::ListMachines()) {
    Machine machine = replay::LoadMachine(name).value();
    // An entry of a list that has a list.
    if (machine.core().units().tensor_timing_size() != 0) {
      for (const char* assignment : {"[0].m=16", "[0].n=8", "[0].k=8", "[0].latency=33", "[1].m=8", "[1].n=32",
                                     "[1].k=16", "[1].initiation_interval=40"}) {
        const std::string path = "core.units.tensor_timing[F16_INTO_F32].shape";
        ASSERT_TRUE(replay::Override(machine, path + assignment).ok());
      }
    }
    Machine read;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(MachineText(machine, {}), &read)) << name;
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equivalent(machine, read)) << name;
  }
}

TEST(MachineText, SourcesStandBesideTheirValues) {
  const Machine machine = replay::LoadMachine("hopper_h100").value();
  EXPECT_THAT(MachineText(machine, {{"core.units.tensor_timing[TF32]", "a source"}}),
              testing::ContainsRegex("elements: TF32 multiply_adds: 171 pipeline_cycles: 18 } *# a source"));
  EXPECT_THAT(MachineText(machine, {{"memory.hierarchy.l1_split.shared_bytes[2]", "a source"}}),
              testing::ContainsRegex("\n      shared_bytes: 102400 *# a source\n"));
}

}  // namespace
}  // namespace heddle::tools
