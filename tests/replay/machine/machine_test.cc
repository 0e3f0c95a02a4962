// Machines: the files in the tree, overrides, what is refused, and the occupancy rule against published residencies.
#include "replay/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace heddle::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

// A small program: one block that exits at once, with the needs that occupancy looks at.
trace::Program KernelThatNeeds(uint32_t registers, uint32_t static_shared = 0, uint32_t registers_requested = 0) {
  trace::v1::KernelProgram proto;
  proto.set_name("kernel");
  proto.set_register_count(registers);
  proto.set_static_shared_bytes(static_shared);
  proto.set_registers_requested(registers_requested);
  proto.add_instruction()->set_op(trace::v1::OP_EXIT);
  proto.mutable_instruction(0)->set_mnemonic("exit");
  auto* block = proto.add_block();
  block->set_instruction_count(1);
  block->set_terminator(trace::v1::EXIT);
  auto* function = proto.add_function();
  function->set_name("kernel");
  function->set_block_count(1);
  absl::StatusOr<trace::Program> program = trace::Program::Create(proto);
  EXPECT_TRUE(program.ok()) << program.status();
  return *std::move(program);
}

trace::v1::Launch LaunchOf(uint32_t threads, uint32_t dynamic_shared = 0) {
  trace::v1::Launch launch;
  launch.mutable_grid()->set_x(1000);
  launch.mutable_block()->set_x(threads);
  launch.set_dynamic_shared_bytes(dynamic_shared);
  return launch;
}

machine::v1::Machine Load(const std::string& name) {
  absl::StatusOr<machine::v1::Machine> machine = LoadMachine(name);
  EXPECT_TRUE(machine.ok()) << machine.status();
  return *machine;
}

machine::v1::Machine Fermi() { return Load("fermi_fixed"); }

TEST(MachineFiles, EveryFileOfTheTreeLoadsUnderItsOwnName) {
  ASSERT_THAT(ListMachines(), IsSupersetOf({"toy", "thesis_fixed", "fermi_fixed", "thesis_8800gtx", "harp_fermi",
                                            "capri_fx5800", "baws_gtx480", "vtw_gtx480", "ideal_gtx480", "volta_80sm",
                                            "volta_v100", "hopper_h100", "hopper_h200"}));
  for (const std::string& name : ListMachines()) {
    absl::StatusOr<machine::v1::Machine> machine = LoadMachine(name);
    ASSERT_TRUE(machine.ok()) << machine.status();
    EXPECT_EQ(machine->name(), name);
    EXPECT_FALSE(machine->description().empty()) << name;
  }
}

TEST(MachineFiles, AnUnknownNameListsTheKnownOnesAndTheNearest) {
  const std::string message(LoadMachine("fermi_fixd").status().message());
  EXPECT_THAT(message, AllOf(HasSubstr("unknown machine \"fermi_fixd\""), HasSubstr("did you mean \"fermi_fixed\"?"),
                             HasSubstr("thesis_fixed"), HasSubstr("toy")));
}

TEST(MachineFiles, AMissingFileIsNamed) {
  EXPECT_THAT(std::string(LoadMachine("nowhere/mine.textproto").status().message()),
              AllOf(HasSubstr("nowhere/mine.textproto"), HasSubstr("No such file")));
}

class MachineFile : public ::testing::Test {
 protected:
  // Writes `text` to a machine file and returns the message with which it is refused.
  std::string Refusal(const std::string& text) {
    const std::string path = ::testing::TempDir() + "machine_test_" + std::to_string(getpid()) + ".textproto";
    std::ofstream(path) << text;
    const absl::StatusOr<machine::v1::Machine> machine = LoadMachine(path);
    std::remove(path.c_str());
    return machine.ok() ? "accepted" : std::string(machine.status().message());
  }
};

TEST_F(MachineFile, AnUnknownFieldGivesLineAndColumnAndTheKnownFields) {
  EXPECT_THAT(Refusal("name: \"m\"\ncore {\n  schedulrs: 2\n}\n"),
              AllOf(HasSubstr("line 3, column "), HasSubstr("unknown field of Core \"schedulrs\""),
                    HasSubstr("did you mean \"schedulers\"?"), HasSubstr("pipeline_depth")));
}

TEST_F(MachineFile, AWrongValueGivesItsLine) {
  EXPECT_THAT(Refusal("name: \"m\"\nsms: many\n"), AllOf(HasSubstr(".textproto: line 2, "), HasSubstr("integer")));
}

TEST_F(MachineFile, AnIncompleteMachineIsRefusedWithThePathOfTheField) {
  EXPECT_THAT(Refusal("name: \"m\" sms: 1 core { front_end: THESIS warp_size: 32 }"), HasSubstr("core.simd_width = 0"));
}

TEST(MachineOverride, SetsNestedFieldsEnumsFlagsAndNames) {
  machine::v1::Machine machine = Fermi();
  EXPECT_TRUE(Override(machine, "core.schedulers=1").ok());
  EXPECT_TRUE(Override(machine, "memory.fixed.global_cycles=77").ok());
  EXPECT_TRUE(Override(machine, "core.front_end=THESIS").ok());
  EXPECT_TRUE(Override(machine, "dispatch.spread_small_grids=false").ok());
  EXPECT_TRUE(Override(machine, "name=mine").ok());
  EXPECT_EQ(machine.core().schedulers(), 1);
  EXPECT_EQ(machine.memory().fixed().global_cycles(), 77);
  EXPECT_EQ(machine.core().front_end(), machine::v1::Core::THESIS);
  EXPECT_FALSE(machine.dispatch().spread_small_grids());
  EXPECT_EQ(machine.name(), "mine");
  EXPECT_TRUE(CheckMachine(machine).ok());
}

TEST(MachineOverride, CreatesMessagesThatAreMissing) {
  machine::v1::Machine machine;
  ASSERT_TRUE(Override(machine, "memory.fixed.shared_cycles=5").ok());
  EXPECT_TRUE(machine.memory().has_fixed());
}

TEST(MachineOverride, SetsEntriesOfListsByNameAndByIndex) {
  machine::v1::Machine machine = Load("baws_gtx480");
  const int entries = machine.core().units().timing_size();
  ASSERT_TRUE(Override(machine, "core.units.timing[INT_DIV].latency=20").ok());
  ASSERT_TRUE(Override(machine, "core.units.timing[0].initiation_interval=3").ok());
  EXPECT_EQ(machine.core().units().timing_size(), entries);
  EXPECT_EQ(machine.core().units().timing(2).operation(), machine::v1::OperationTiming::INT_DIV);
  EXPECT_EQ(machine.core().units().timing(2).latency(), 20);
  EXPECT_EQ(machine.core().units().timing(0).initiation_interval(), 3);

  ASSERT_TRUE(Override(machine, "core.units.timing[TENSOR].latency=64").ok()) << "added";
  ASSERT_TRUE(Override(machine, "core.units.timing[TENSOR].initiation_interval=8").ok());
  EXPECT_EQ(machine.core().units().timing_size(), entries + 1);
  EXPECT_EQ(machine.core().units().timing(entries).operation(), machine::v1::OperationTiming::TENSOR);
  EXPECT_TRUE(CheckMachine(machine).ok()) << CheckMachine(machine);

  machine::v1::Machine scripted = Fermi();
  ASSERT_TRUE(Override(scripted, "core.scripted_latency[0].cycles=30").ok()) << "the index after the last one adds";
  ASSERT_TRUE(Override(scripted, "core.scripted_latency[0].any_instruction=true").ok());
  EXPECT_EQ(scripted.core().scripted_latency_size(), 1);
  EXPECT_EQ(scripted.core().scripted_latency(0).cycles(), 30);
}

TEST(MachineOverride, SetsNumbersOfListsByIndex) {
  machine::v1::Machine machine = Load("baws_gtx480");
  const std::string sizes = "memory.hierarchy.l1_split.shared_bytes";
  for (const char* assignment : {"[0]=16384", "[1]=49152", "[2]=1", "[0]=0x2800"}) {
    ASSERT_TRUE(Override(machine, sizes + assignment).ok()) << "the index after the last one adds";
  }
  EXPECT_THAT(machine.memory().hierarchy().l1_split().shared_bytes(), ::testing::ElementsAre(0x2800, 49152, 1));
  const auto refusal = [&machine](const std::string& assignment) {
    const absl::Status status = Override(machine, assignment);
    return status.ok() ? "accepted" : std::string(status.message());
  };
  EXPECT_THAT(refusal(sizes + "=7"), HasSubstr("is a list: name an entry, such as " + sizes + "[0]"));
  EXPECT_THAT(refusal(sizes + "[4]=7"), HasSubstr("has 3 entries, counted from 0: [4] would leave a gap"));
  EXPECT_THAT(refusal(sizes + "[SMALL]=7"), HasSubstr("have no names, give an index"));
  EXPECT_THAT(refusal(sizes + "[0]=many"), HasSubstr("\"many\" is not a whole number"));
  EXPECT_THAT(refusal(sizes + "[0=7"), HasSubstr("the bracket is not closed"));
  EXPECT_THAT(refusal(sizes + "[0].bytes=7"), HasSubstr("shared_bytes[0] is a value and has no fields"));
  EXPECT_THAT(machine.memory().hierarchy().l1_split().shared_bytes(), ::testing::ElementsAre(0x2800, 49152, 1));
}

TEST(MachineOverride, SetsFirstValuesOfEnumerationsMasksAndZero) {
  machine::v1::Machine machine = Load("thesis_8800gtx");
  EXPECT_TRUE(Override(machine, "memory.hierarchy.network.allocator=ISLIP").ok());
  EXPECT_TRUE(Override(machine, "memory.hierarchy.network.allocator=PIM").ok());
  EXPECT_EQ(machine.memory().hierarchy().network().allocator(), machine::v1::Network::PIM);
  EXPECT_TRUE(Override(machine, "memory.hierarchy.address_map.chip_mask=0x3800").ok());
  EXPECT_EQ(machine.memory().hierarchy().address_map().chip_mask(), 0x3800);
  EXPECT_TRUE(Override(machine, "memory.hierarchy.dram.queue=0").ok());
  EXPECT_EQ(machine.memory().hierarchy().dram().queue(), 0);
}

TEST(MachineOverride, ClustersOfThreadBlocks) {
  machine::v1::Machine machine = Load("volta_80sm");
  EXPECT_TRUE(Override(machine, "clusters.network_cycles=100").ok());
  EXPECT_EQ(machine.clusters().network_cycles(), 100u);
  EXPECT_TRUE(CheckMachine(machine).ok());
  EXPECT_TRUE(Override(machine, "clusters.network_cycles=100001").ok());
  EXPECT_THAT(std::string(CheckMachine(machine).message()), HasSubstr("clusters.network_cycles = 100001: must be"));
  machine = Load("volta_80sm");
  machine.mutable_clusters()->set_sms(2000);
  EXPECT_THAT(std::string(CheckMachine(machine).message()), HasSubstr("0 means all SMs"));
}

TEST(MachineOverride, AnErrorLeavesTheMachineAsItWas) {
  machine::v1::Machine machine = Load("baws_gtx480");
  const std::string before = machine.SerializeAsString();
  EXPECT_FALSE(Override(machine, "core.units.timing[TENSOR].latency=long").ok());
  EXPECT_EQ(machine.SerializeAsString(), before);
}

TEST(MachineOverride, SaysWhatIsWrong) {
  machine::v1::Machine machine = Fermi();
  const auto refusal = [&machine](const std::string& assignment) {
    const absl::Status status = Override(machine, assignment);
    return status.ok() ? "accepted" : std::string(status.message());
  };
  EXPECT_THAT(refusal("core.schedulres=2"), AllOf(HasSubstr("unknown field of core \"schedulres\""),
                                                  HasSubstr("did you mean \"schedulers\"?"), HasSubstr("warp_size")));
  EXPECT_THAT(refusal("cor.schedulers=2"), AllOf(HasSubstr("unknown field of a machine \"cor\""), HasSubstr("sms")));
  EXPECT_THAT(refusal("core.schedulers"), HasSubstr("must be path=value"));
  EXPECT_THAT(refusal("=2"), HasSubstr("must be path=value"));
  EXPECT_THAT(refusal("core.schedulers=two"), HasSubstr("\"two\" is not a whole number"));
  EXPECT_THAT(refusal("core.schedulers=-1"), HasSubstr("\"-1\" is not a whole number"));
  EXPECT_THAT(refusal("core.schedulers=4294967296"), HasSubstr("is not a whole number"));
  EXPECT_THAT(refusal("core.front_end=FERMI"),
              AllOf(HasSubstr("one of THESIS, IBUFFER"), Not(HasSubstr("UNSPECIFIED"))));
  EXPECT_THAT(refusal("core=2"), AllOf(HasSubstr("core is a group of fields"), HasSubstr("schedulers")));
  EXPECT_THAT(refusal("core.schedulers.x=2"), HasSubstr("core.schedulers is a value"));
  EXPECT_THAT(refusal("core.scripted_latency.cycles=2"),
              HasSubstr("core.scripted_latency is a list: name an entry, such as core.scripted_latency[0]"));
  EXPECT_THAT(refusal("core.units.timing.latency=2"), HasSubstr("such as core.units.timing[INT_ALU]"));
  EXPECT_THAT(refusal("core.scripted_latency[1].cycles=2"), HasSubstr("has 0 entries, counted from 0: [1]"));
  EXPECT_THAT(refusal("core.scripted_latency[X].cycles=2"), HasSubstr("have no names, give an index"));
  EXPECT_THAT(refusal("core.units.timing[INT_DVI].latency=2"),
              AllOf(HasSubstr("unknown entry of core.units.timing \"INT_DVI\""), HasSubstr("mean \"INT_DIV\"?"),
                    Not(HasSubstr("UNSPECIFIED"))));
  EXPECT_THAT(refusal("core.units.timing[INT_DIV.latency=2"), HasSubstr("the bracket is not closed"));
  EXPECT_THAT(refusal("core.units.timing[INT_DIV]=2"), AllOf(HasSubstr("is a group of fields"), HasSubstr("latency")));
  EXPECT_THAT(refusal("core.schedulers[0]=2"), HasSubstr("core.schedulers is not a list"));
  EXPECT_THAT(refusal("memory.hierarchy.l1_split.bytes=2"),
              HasSubstr("the machine has fixed in place of memory.hierarchy"));
  EXPECT_THAT(refusal("memory.hierarchy.jitter_cycles=2"),
              HasSubstr("the machine has fixed in place of memory.hierarchy"));
  EXPECT_THAT(refusal("dispatch.spread_small_grids=yes"), HasSubstr("is not true or false"));
}

TEST(MachineOverride, SaysWhatHasNoEffect) {
  const auto effect = [](const std::string& name, const std::string& assignment) {
    machine::v1::Machine machine = Load(name);
    EXPECT_TRUE(Override(machine, assignment).ok()) << assignment;
    return WithoutEffect(machine, assignment);
  };
  EXPECT_EQ(effect("baws_gtx480", "core.pipeline_depth=16"),
            "core.pipeline_depth=16 has no effect: core.front_end is IBUFFER");
  EXPECT_THAT(effect("baws_gtx480", "core.thesis.bank_penalty_per_issue=true"), HasSubstr("no effect"));
  EXPECT_THAT(effect("thesis_8800gtx", "core.thesis.pre_memory_stages=3"), HasSubstr("core.pipeline_depth counts"));
  EXPECT_THAT(effect("baws_gtx480", "memory.hierarchy.l2.cache.miss_queue=3"), HasSubstr("l2.dram_queue"));
  EXPECT_THAT(effect("baws_gtx480", "memory.hierarchy.l1_constant.banks=4"),
              HasSubstr("only memory.hierarchy.l1_data"));
  EXPECT_THAT(effect("thesis_8800gtx", "core.units.sp=4"), HasSubstr("core.front_end is THESIS"));
  EXPECT_THAT(effect("thesis_8800gtx", "core.skip_empty_groups=true"), HasSubstr("core.front_end is THESIS"));
  EXPECT_THAT(effect("ideal_gtx480", "memory.hierarchy.dram.timing.cl=9"), HasSubstr("ideal_beyond_l1_cycles"));
  EXPECT_THAT(effect("fermi_fixed", "clocks.core_mhz=700"), HasSubstr("memory.fixed counts core cycles"));
  EXPECT_THAT(effect("thesis_8800gtx", "memory.hierarchy.l1_texture.ways=2"), HasSubstr("there is no such cache"));
  EXPECT_THAT(effect("baws_gtx480", "memory.hierarchy.l1_instruction.hit_cycles=2"), HasSubstr("no effect"));
  EXPECT_THAT(effect("baws_gtx480", "memory.hierarchy.network.seed=2"), HasSubstr("only PIM"));
  EXPECT_THAT(effect("capri_fx5800", "memory.hierarchy.l1_data.mshr_merges=2"), HasSubstr("nothing is merged"));
  EXPECT_EQ(effect("capri_fx5800", "memory.hierarchy.l1_texture.mshr_merges=2"), "");
  const std::string split = "memory.hierarchy.l1_split.";
  EXPECT_EQ(effect("thesis_8800gtx", "memory.hierarchy.l1_data.sets=0"), "");
  EXPECT_EQ(effect("baws_gtx480", split + "shared_bytes[0]=0"),
            split + "shared_bytes[0]=0 has no effect: " + split + "bytes = 0: nothing is split");
  EXPECT_EQ(effect("baws_gtx480", split + "bytes=65536"), "");
  EXPECT_EQ(effect("volta_v100", split + "shared_bytes[0]=1024"), "");
  machine::v1::Machine without_l1 = Load("volta_v100");
  without_l1.mutable_memory()->mutable_hierarchy()->mutable_l1_data()->set_sets(0);
  EXPECT_THAT(WithoutEffect(without_l1, split + "bytes=65536"), HasSubstr("there is no L1 to split"));
  EXPECT_THAT(WithoutEffect(without_l1, split + "shared_bytes[2]=65536"), HasSubstr("there is no L1 to split"));
  EXPECT_EQ(effect("thesis_8800gtx", "memory.hierarchy.network.seed=2"), "");
  EXPECT_EQ(effect("thesis_8800gtx", "memory.hierarchy.l1_constant.hit_cycles=2"), "");
  EXPECT_EQ(effect("baws_gtx480", "core.units.sp=4"), "");
  EXPECT_EQ(effect("baws_gtx480", "core.skip_empty_groups=true"), "");
  EXPECT_EQ(effect("baws_gtx480", "memory.hierarchy.l1_texture.sets=0"), "");
  EXPECT_EQ(effect("baws_gtx480", "memory.hierarchy.l1_data.banks=2"), "");
  EXPECT_EQ(effect("thesis_8800gtx", "core.pipeline_depth=16"), "");
  EXPECT_EQ(effect("fermi_fixed", "core.pipeline_depth=16"), "");
}

TEST(MachineCheck, RefusesImpossibleMachinesWithThePath) {
  const auto refusal = [](const std::string& assignment) {
    machine::v1::Machine machine = Fermi();
    EXPECT_TRUE(Override(machine, assignment).ok()) << assignment;
    const absl::Status status = CheckMachine(machine);
    return status.ok() ? "accepted" : std::string(status.message());
  };
  EXPECT_THAT(refusal("sms=0"), HasSubstr("sms = 0"));
  EXPECT_THAT(refusal("core.warp_size=65"), HasSubstr("core.warp_size = 65: must be 1 to 64"));
  EXPECT_THAT(refusal("core.simd_width=0"), HasSubstr("core.simd_width = 0"));
  EXPECT_THAT(refusal("core.schedulers=5"), HasSubstr("core.schedulers = 5: must be 1 to 4"));
  EXPECT_THAT(refusal("core.max_threads=4128"), HasSubstr("core.max_threads = 4128: must be 1 to 4096"));
  EXPECT_THAT(refusal("core.max_threads=1000"), HasSubstr("a multiple of core.warp_size = 32"));
  EXPECT_THAT(refusal("core.max_blocks=0"), HasSubstr("core.max_blocks = 0"));
  EXPECT_THAT(refusal("core.simd_width=2"), AllOf(HasSubstr("core.pipeline_depth = 8"), HasSubstr("16 to")));
  EXPECT_THAT(refusal("memory.fixed.global_cycles=0"), HasSubstr("memory.fixed.global_cycles = 0"));
  EXPECT_THAT(refusal("memory.fixed.atomic_cycles=4000000000"), HasSubstr("memory.fixed.atomic_cycles"));
  EXPECT_EQ(refusal("core.registers=0"), "accepted") << "0 means no limit";
  EXPECT_EQ(refusal("core.warp_size=24"), "accepted") << "a power of two is not required";
}

TEST(MachineCheck, RefusesImpossibleFrontEndsWithThePath) {
  const auto refusal = [](const std::string& name, const std::string& assignment) {
    machine::v1::Machine machine = Load(name);
    EXPECT_TRUE(Override(machine, assignment).ok()) << assignment;
    const absl::Status status = CheckMachine(machine);
    return status.ok() ? "accepted" : std::string(status.message());
  };
  const auto baws = [&](const std::string& assignment) { return refusal("baws_gtx480", assignment); };
  EXPECT_THAT(baws("core.ibuffer.entries=0"), HasSubstr("core.ibuffer.entries = 0"));
  EXPECT_THAT(baws("core.ibuffer.fetch_instructions=3"),
              HasSubstr("core.ibuffer.fetch_instructions = 3: must be 1 to 2"));
  EXPECT_THAT(baws("core.ibuffer.reformed_warp_cycles=0"), HasSubstr("core.ibuffer.reformed_warp_cycles = 0"));
  EXPECT_THAT(baws("core.units.sp=0"), HasSubstr("core.units.sp = 0"));
  EXPECT_THAT(baws("core.units.sfu=0"), HasSubstr("core.units.sfu = 0"));
  EXPECT_THAT(baws("core.units.memory_issue_latency=0"), HasSubstr("core.units.memory_issue_latency = 0"));
  EXPECT_THAT(baws("core.units.memory_issue_latency=1025"), HasSubstr("must be 1 to 1024"));
  EXPECT_THAT(baws("core.units.memory_initiation_interval=0"), HasSubstr("core.units.memory_initiation_interval = 0"));
  EXPECT_THAT(baws("core.units.memory_operand_read_cycles=100001"), HasSubstr("must be 0 to 100000"));
  EXPECT_EQ(baws("core.dependences=CONTROL_BITS"), "accepted");
  EXPECT_THAT(baws("core.register_file.banks=2"), HasSubstr("core.register_file.read_cycles = 0: must be 1 to"));
  EXPECT_THAT(baws("core.register_file.read_cycles=3"), HasSubstr("must be 0 to 0 (without core.register_file.banks"));
  EXPECT_THAT(baws("core.register_file.cache=true"), HasSubstr("there is nothing to save"));
  EXPECT_THAT(baws("core.register_file.banks=1025"), HasSubstr("core.register_file.banks = 1025"));
  // The field of older files, which was both.
  EXPECT_THAT(baws("core.units.memory_issue_cycles=5"),
              HasSubstr("core.units.memory_issue_cycles = 5: is two fields now, write memory_issue_latency: 5 and "
                        "memory_initiation_interval: 1"));
  EXPECT_THAT(baws("core.units.timing[INT_DIV].latency=0"), HasSubstr("core.units.timing[INT_DIV].latency = 0"));
  EXPECT_THAT(baws("core.units.timing[TENSOR].latency=4"),
              HasSubstr("core.units.timing[TENSOR].initiation_interval = 0"));
  EXPECT_THAT(baws("core.units.timing[1].operation=INT_ALU"),
              HasSubstr("core.units.timing[INT_ALU]: stands there twice"));
  EXPECT_THAT(baws("core.units.timing[0].operation=TENSOR"), HasSubstr("INT_ALU must be among the operations"));
  EXPECT_THAT(baws("core.scripted_latency[0].cycles=9"), HasSubstr("core.scripted_latency"));
  EXPECT_THAT(baws("core.front_end=THESIS"), HasSubstr("core.pipeline_depth = 0"));
  EXPECT_THAT(refusal("thesis_8800gtx", "core.thesis.pre_memory_stages=15"),
              HasSubstr("core.thesis.pre_memory_stages = 15: must be 0 to 14"));
  EXPECT_THAT(refusal("thesis_8800gtx", "core.scripted_latency[0].cycles=9"), HasSubstr("only with memory.fixed"));
  EXPECT_THAT(refusal("thesis_8800gtx", "core.pipeline_depth=4"),
              AllOf(HasSubstr("core.pipeline_depth = 4: must be 5"), HasSubstr("register_read_bypass")));
  EXPECT_THAT(baws("memory.hierarchy.l2.cache.pending_hits=OWN_MSHR"),
              HasSubstr("memory.hierarchy.l2.cache.pending_hits = 1: must be JOIN_MSHR"));
  EXPECT_EQ(baws("memory.hierarchy.l1_data.pending_hits=OWN_REQUEST"), "accepted");
  EXPECT_THAT(refusal("capri_fx5800", "core.pipeline_depth=2"), HasSubstr("core.pipeline_depth = 2: must be 3"));
  EXPECT_THAT(refusal("harp_fermi", "core.max_threads=1504"),
              HasSubstr("core.max_threads = 1504: must be a multiple of core.schedulers * core.warp_size = 64"));
}

TEST(MachineCheck, RefusesScriptedLatenciesThatCannotBe) {
  machine::v1::Machine machine = Fermi();
  auto* scripted = machine.mutable_core()->add_scripted_latency();
  EXPECT_THAT(std::string(CheckMachine(machine).message()), HasSubstr("core.scripted_latency[0].cycles = 0"));
  scripted->set_cycles(9);
  scripted->set_first_thread(4);
  EXPECT_THAT(std::string(CheckMachine(machine).message()), HasSubstr("core.scripted_latency[0].last_thread = 0"));
  scripted->set_last_thread(7);
  EXPECT_TRUE(CheckMachine(machine).ok());
}

// Anantpur and Govindarajan, Taming Warp Divergence, table 7: registers per thread of the original and the transformed
// kernel, and the thread blocks that are resident on a GTX 480 with 15 SMs. Block sizes are those of the benchmark
// suites' sources (208 for mergeSortPass, 192 for the two of cfd, 512 for srad2, 256 for the others).
struct Residency {
  const char* kernel;
  uint32_t threads;
  uint32_t registers;
  int resident;
};

class PublishedResidency : public ::testing::TestWithParam<Residency> {};

TEST_P(PublishedResidency, FollowsFromTheOccupancyRule) {
  for (const char* name : {"vtw_gtx480", "baws_gtx480", "ideal_gtx480", "fermi_fixed"}) {
    const machine::v1::Machine machine = Load(name);
    const absl::StatusOr<Occupancy> occupancy =
        ComputeOccupancy(machine, KernelThatNeeds(GetParam().registers), LaunchOf(GetParam().threads));
    ASSERT_TRUE(occupancy.ok()) << occupancy.status();
    EXPECT_EQ(occupancy->blocks * static_cast<int>(machine.sms()), GetParam().resident) << GetParam().kernel << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    TamingWarpDivergenceTable7, PublishedResidency,
    ::testing::Values(Residency{"mergeSortPass", 208, 28, 75}, Residency{"mergeSortPass transformed", 208, 30, 60},
                      Residency{"findRangeK", 256, 19, 90}, Residency{"findRangeK transformed", 256, 22, 75},
                      Residency{"cu_time_step", 192, 18, 120}, Residency{"cu_time_step transformed", 192, 22, 105},
                      Residency{"srad2", 512, 18, 45}, Residency{"srad2 transformed", 512, 22, 30},
                      Residency{"cu_comp_step_fact", 192, 19, 120},
                      Residency{"cu_comp_step_fact transformed", 192, 23, 105}, Residency{"srad_cu_1", 256, 19, 90},
                      Residency{"srad_cu_1 transformed", 256, 23, 75}, Residency{"kmeansPoint", 256, 17, 90},
                      Residency{"kmeansPoint transformed", 256, 22, 75}, Residency{"ComputeQ_GPU", 256, 21, 75},
                      Residency{"ComputeQ_GPU transformed", 256, 20, 90}, Residency{"bpnn_adjust_wts_cu", 256, 18, 90},
                      Residency{"bpnn_adjust_wts_cu transformed", 256, 24, 75}, Residency{"srad_cu_2", 256, 17, 90},
                      Residency{"srad_cu_2 transformed", 256, 22, 75}));

TEST(OccupancyRule, NamesTheResourceThatBounds) {
  const machine::v1::Machine machine = Fermi();
  const auto limit = [&machine](const trace::Program& program, const trace::v1::Launch& launch) {
    const absl::StatusOr<Occupancy> occupancy = ComputeOccupancy(machine, program, launch);
    return occupancy.ok() ? std::to_string(occupancy->blocks) + " by " + occupancy->limit
                          : std::string(occupancy.status().message());
  };
  EXPECT_EQ(limit(KernelThatNeeds(4), LaunchOf(256)), "6 by threads");
  EXPECT_EQ(limit(KernelThatNeeds(4), LaunchOf(64)), "8 by blocks");
  EXPECT_EQ(limit(KernelThatNeeds(32), LaunchOf(256)), "4 by registers");
  EXPECT_EQ(limit(KernelThatNeeds(4, 10'000), LaunchOf(64)), "4 by shared_memory");
  EXPECT_EQ(limit(KernelThatNeeds(4, 10'000), LaunchOf(64, 20'000)), "1 by shared_memory");
}

TEST(OccupancyRule, RoundsThreadsUpToWarpsAndRegistersToMultiplesOfFour) {
  machine::v1::Machine machine = Fermi();
  machine.mutable_core()->set_registers(64 * 12);
  EXPECT_EQ(ComputeOccupancy(machine, KernelThatNeeds(9), LaunchOf(33))->blocks, 1);
  EXPECT_EQ(ComputeOccupancy(machine, KernelThatNeeds(9), LaunchOf(32))->blocks, 2);
  machine.mutable_core()->set_registers(64 * 12 - 1);
  EXPECT_FALSE(ComputeOccupancy(machine, KernelThatNeeds(9), LaunchOf(33)).ok());
}

// Lashgar et al., HARP, Table 5: concurrent threads per scheduler, of which an SM has two.
TEST(OccupancyRule, WhereABlockIsBoundToASchedulerEachHasItsShare) {
  const machine::v1::Machine machine = Load("harp_fermi");
  EXPECT_EQ(ComputeOccupancy(machine, KernelThatNeeds(4), LaunchOf(256))->blocks, 6);
  EXPECT_EQ(ComputeOccupancy(machine, KernelThatNeeds(4), LaunchOf(128))->blocks, 12);
  EXPECT_EQ(ComputeOccupancy(machine, KernelThatNeeds(4), LaunchOf(512))->blocks, 2) << "three fit on the SM";
  EXPECT_THAT(std::string(ComputeOccupancy(machine, KernelThatNeeds(4), LaunchOf(1000)).status().message()),
              AllOf(HasSubstr("1024 threads"), HasSubstr("a scheduler of the SM has 768"),
                    HasSubstr("--set core.max_threads=2048")));
}

TEST(OccupancyRule, ARequestedRegisterCountReplacesTheEstimate) {
  EXPECT_EQ(ComputeOccupancy(Fermi(), KernelThatNeeds(60, 0, 16), LaunchOf(256))->blocks, 6);
}

TEST(OccupancyRule, ACountThatIsGivenReplacesWhatTheTraceSays) {
  const trace::Program program = KernelThatNeeds(60, 0, 16);
  EXPECT_EQ(ComputeOccupancy(Fermi(), program, LaunchOf(256), 0, 32)->blocks, 4);
  EXPECT_EQ(ComputeOccupancy(Fermi(), program, LaunchOf(256), 4, 28)->blocks, 4);
  EXPECT_EQ(ComputeWarpOccupancy(Fermi(), program, LaunchOf(256), 64).warps, 16);
  EXPECT_EQ(ComputeRegisterSensitivity(Fermi(), program, LaunchOf(256), 32).registers, 32);
}

// 32768 registers, 256 threads: 20 per thread are 6 blocks, 12 as many as threads allow, 28 are 4.
TEST(OccupancyRule, RegisterSensitivityIsTheResidencyWithEightMoreAndFewer) {
  RegisterSensitivity sensitivity = ComputeRegisterSensitivity(Fermi(), KernelThatNeeds(20), LaunchOf(256));
  EXPECT_EQ(sensitivity.registers, 20);
  EXPECT_EQ(sensitivity.blocks_fewer, 6);
  EXPECT_EQ(sensitivity.blocks_more, 4);
  sensitivity = ComputeRegisterSensitivity(Fermi(), KernelThatNeeds(5), LaunchOf(256));
  EXPECT_EQ(sensitivity.blocks_fewer, 6) << "fewer than none";
  sensitivity = ComputeRegisterSensitivity(Fermi(), KernelThatNeeds(31), LaunchOf(1024));
  EXPECT_EQ(sensitivity.blocks_more, 0) << "40 registers for 1024 threads do not fit";
}

TEST(OccupancyRule, ABlockThatDoesNotFitIsRefusedWithNeedAndLimit) {
  EXPECT_THAT(
      std::string(ComputeOccupancy(Fermi(), KernelThatNeeds(4, 50'000), LaunchOf(64)).status().message()),
      AllOf(HasSubstr("kernel kernel"), HasSubstr("50000 bytes of shared memory"), HasSubstr("the SM has 49152")));
  EXPECT_THAT(std::string(ComputeOccupancy(Fermi(), KernelThatNeeds(255), LaunchOf(1024)).status().message()),
              AllOf(HasSubstr("262144 registers"), HasSubstr("the SM has 32768")));
}

}  // namespace
}  // namespace heddle::replay
