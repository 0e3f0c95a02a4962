// Machines from configuration files of other simulators: what becomes a field, what is told, what is refused.
#include "tools/exchange/gpgpusim/import_machine.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "replay/machine/machine.h"
#include "tests/tools/exchange/import_harness.h"
#include "tools/exchange/gpgpusim/cache_text.h"
#include "tools/exchange/gpgpusim/config_file.h"

namespace heddle::tools {
namespace {

using machine::v1::Machine;
using machine::v1::OperationTiming;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ConfigFile, OptionsHaveCommentsQuotesOverLinesAndFlags) {
  const auto options = ParseOptions("-a 1 # -b 2\n\n-c \"x y\n   z\" -flag\n-d -1\n", "");
  ASSERT_TRUE(options.ok()) << options.status();
  std::vector<std::string> text;
  for (const ConfigOption& option : *options) text.push_back(option.place + " " + option.name + "=" + option.value);
  EXPECT_THAT(text, ElementsAre("line 1 -a=1", "line 3 -c=x y z", "line 4 -flag=", "line 5 -d=-1"));
}

TEST(ConfigFile, WhatNoOptionTakesIsRefusedWithItsLine) {
  EXPECT_THAT(std::string(ParseOptions("-a 1\n2\n", "").status().message()),
              AllOf(HasSubstr("line 2: \"2\" is the value of no option"), HasSubstr("-a has one already")));
  EXPECT_THAT(std::string(ParseOptions("-a \"1\n2\n", "f.config").status().message()),
              HasSubstr("f.config, line 1: the quote is not closed"));
  EXPECT_THAT(std::string(ParseNetworkFile("k = 27;\nflit_size 32;", "f").status().message()),
              HasSubstr("f, line 2: \"flit_size 32\" is not of the form"));
}

TEST(CacheText, FollowsTheVersions) {
  const auto read = [](const std::string& text) {
    const std::optional<CacheText> cache = ParseCacheText(text);
    if (!cache.has_value()) return std::string("refused");
    if (cache->none) return std::string("none");
    const auto letter = [](char c) { return std::string(1, c == 0 ? '-' : c); };
    return std::to_string(cache->sets) + "x" + std::to_string(cache->line_bytes) + "x" + std::to_string(cache->ways) +
           (cache->sectors ? " sectors " : " ") + letter(cache->replacement) + letter(cache->write) +
           letter(cache->allocate) + letter(cache->write_allocate) + letter(cache->set_index) + " " +
           std::to_string(cache->mshrs) + "/" + std::to_string(cache->merges) + "/" +
           std::to_string(cache->miss_queue) + "/" + std::to_string(cache->data_port_bytes);
  };
  EXPECT_EQ(read("none"), "none");
  EXPECT_EQ(read("128:64:4:L"), "128x64x4 L---- 0/0/0/0") << "2.x";
  EXPECT_EQ(read("64:64:2:L:R:f"), "64x64x2 LRf-- 0/0/0/0") << "before 3.0";
  EXPECT_EQ(read("4:256:4:L:R:f,A:2:32,4"), "4x256x4 LRf-- 2/32/4/0") << "3.0";
  EXPECT_EQ(read("8:128:5:L:R:m,F:128:4,128:2"), "8x128x5 LRm-- 128/4/128/0") << "3.0";
  EXPECT_EQ(read("32:128:4:L:B:m:A:P:N:32:8:8"), "32x128x4 LBmN- 32/8/8/0") << "between 3.1 and 3.2";
  EXPECT_EQ(read("32:128:4:L:B:m:A:P:N:32:8,8"), "32x128x4 LBmN- 32/8/8/0");
  EXPECT_EQ(read("64:256:8:L:B:m:A:S:W:32:4:4"), "64x256x8 LBmW- 32/4/4/0");
  EXPECT_EQ(read("4:128:24:L:R:m:F:P:N:128:4:128:2"), "4x128x24 LRmN- 128/4/128/0");
  EXPECT_EQ(read("4:128:24:L:R:m:F:P:N:128:4,128:2"), "4x128x24 LRmN- 128/4/128/0");
  EXPECT_EQ(read("32:128:4:L:L:m:A:N:32:8:8"), "32x128x4 LLmN- 32/8/8/0");
  EXPECT_EQ(read("4:128:24:L:R:m:F:N:128:4:128:2"), "4x128x24 LRmN- 128/4/128/0");
  EXPECT_EQ(read("32:128:4,L:L:m:N,A:32:8,8"), "32x128x4 LLmN- 32/8/8/0") << "3.1";
  EXPECT_EQ(read("N:64:128:8,L:B:m:W:H,A:32:4,4:0,32"), "64x128x8 LBmWH 32/4/4/32") << "3.2";
  EXPECT_EQ(read("S:4:128:64,L:T:m:L:L,A:512:8,16:0,32"), "4x128x64 sectors LTmLL 512/8/16/32") << "4.x";
  for (const char* wrong :
       {"", "32:128", "32:128:0,L:L:m:N,A:32:8,8", "32:128:4", "32:128:4,Q:L:m:N,A:32:8,8", "32:128:4,L:L:m:N,A:32,8",
        "32:128:4:L:B:m:A:N:32:8", "32:128:4:L:B:m:A:P:S:N:32:8:8", "32:128:4:L:B:m:N:A:32:8:8",
        "32:128:4:L:B:m:A:N:0:8:8", "32:128:4:L:B:m:A:N:32:8:8:2:0", "32:128:4,L:L:m:N,A:32:8",
        "32:128:four,L:L:m:N,A:32:8,8", "32:128:4,L:L:m:N,A:32:8,8,32,1"}) {
    EXPECT_EQ(read(wrong), "refused") << wrong;
  }
}

// The machine file was written from the same configuration by hand: an import must say the same, but for what the
// papers add (names, the L1's set index, the fetch of four...).
TEST(ImportMachine, AFermiConfigurationIsTheMachineOfItsFile) {
  const ImportedMachine imported = Import(kFermi, FermiNetwork);
  const absl::StatusOr<Machine> file = replay::LoadMachine("baws_gtx480");
  ASSERT_TRUE(file.ok()) << file.status();
  Machine machine = imported.machine;
  machine.set_name(file->name());
  machine.set_description(file->description());
  // The one class that such files do not have.
  auto* convert = machine.mutable_core()->mutable_units()->add_timing();
  convert->set_operation(OperationTiming::CONVERT);
  convert->set_latency(4);
  convert->set_initiation_interval(1);
  google::protobuf::util::MessageDifferencer difference;
  std::string text;
  difference.ReportDifferencesToString(&text);
  difference.TreatAsSet(
      OperationTiming::descriptor()->file()->FindMessageTypeByName("ExecutionUnits")->FindFieldByName("timing"));
  EXPECT_TRUE(difference.Compare(*file, machine)) << text;
}

TEST(ImportMachine, EveryValueHasItsLineAndTheTextLoadsAgain) {
  const ImportedMachine imported = Import(kFermi, FermiNetwork);
  EXPECT_EQ(imported.sources.at("memory.hierarchy.dram.controllers"), "line 4: -gpgpu_n_mem");
  EXPECT_EQ(imported.sources.at("memory.hierarchy.network.flit_bytes"), "fermi.icnt, line 4: flit_size");
  EXPECT_EQ(imported.sources.at("memory.hierarchy.shared.latency"),
            "GPGPU-Sim's default of -gpgpu_smem_latency, and write-back");

  const std::string text = ImportText(imported, {"gpgpusim.config"});
  EXPECT_THAT(text, HasSubstr("      controllers: 6            # line 4: -gpgpu_n_mem\n"));
  const std::string path = ::testing::TempDir() + "import_test_" + std::to_string(getpid()) + ".textproto";
  std::ofstream(path) << text;
  const absl::StatusOr<Machine> loaded = replay::LoadMachine(path);
  std::remove(path.c_str());
  ASSERT_TRUE(loaded.ok()) << loaded.status() << text;
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*loaded, imported.machine));
}

TEST(ImportMachine, ANetworkThatCannotBeReadIsToldAndMarkedAsOurChoice) {
  const ImportedMachine imported = Import(kFermi);
  EXPECT_THAT(NoteOn(imported, "-inter_config_file"), AllOf(HasSubstr("line "), HasSubstr("is not beside")));
  EXPECT_THAT(imported.sources.at("memory.hierarchy.network.input_speedup"), HasSubstr("our choice"));
}

TEST(ImportMachine, BuffersOfTheNetworkHoldTheLargestMessage) {
  const std::string text = FermiWith("-gpgpu_cache:il1 4:256:4,L:R:f:N:L,A:2:32,4");
  const std::string large = text.substr(0, text.find("-gpgpu_cache:dl2 ")) +
                            "-gpgpu_cache:dl2 64:256:8,L:B:m:W:L,A:32:4,4\n" +
                            text.substr(text.find("-gpgpu_cache:dl2_texture_only"));
  const ImportedMachine imported = Import(large, FermiNetwork);
  EXPECT_EQ(imported.machine.memory().hierarchy().network().input_buffer_flits(), 9) << "256 + 8 bytes in flits of 32";
  EXPECT_THAT(NoteOn(imported, "vc_buf_size"), HasSubstr("fermi.icnt, line 6: 9 flits"));
}

TEST(ImportMachine, EveryOptionIsAFieldOrHasANote) {
  const ImportedMachine imported =
      Import(std::string(kFermi) +
             "-gpgpu_scheduler gto\n-gpgpu_simd_model 1\n-gpgpu_max_cycle 500\n-gpgpu_dram_return_queue_size 116\n"
             "-power_simulation_enabled 1\n-gpgpu_memlatency_stat 14\n-gpgpu_registers_per_block 8192\n"
             "-dram_dual_bus_interface 0\n-gpgpu_n_memm 7\n-invented\n");
  EXPECT_THAT(Options(imported, ImportOutcome::kCommandLine),
              ElementsAre("-gpgpu_scheduler", "-gpgpu_simd_model", "-gpgpu_max_cycle"));
  EXPECT_THAT(NoteOn(imported, "-gpgpu_scheduler"), HasSubstr("--scheduler gto"));
  EXPECT_THAT(NoteOn(imported, "-gpgpu_simd_model"), HasSubstr("--divergence pdom"));
  EXPECT_THAT(Options(imported, ImportOutcome::kNotRepresented),
              AllOf(Contains("-gpgpu_dram_return_queue_size"), Contains("-gpgpu_registers_per_block"),
                    Not(Contains("-dram_dual_bus_interface"))));
  EXPECT_THAT(Options(imported, ImportOutcome::kNoTiming),
              ElementsAre("-power_simulation_enabled", "-gpgpu_memlatency_stat", "-dram_dual_bus_interface"));
  EXPECT_THAT(Options(imported, ImportOutcome::kUnknown), ElementsAre("-gpgpu_n_memm", "-invented"));
  EXPECT_THAT(NoteOn(imported, "-gpgpu_n_memm"), AllOf(HasSubstr("line "), HasSubstr("did you mean -gpgpu_n_mem?")));
  // All of it stands in the file, too.
  EXPECT_THAT(ImportText(imported, {"x"}),
              AllOf(HasSubstr("# Unknown options, not represented:\n#   line "), HasSubstr("-invented: unknown\n")));
}

TEST(ImportMachine, DifferencesOfCachesAndUnitsAreTold) {
  const ImportedMachine imported = Import(
      FermiWith("-gpgpu_cache:dl1 S:32:128:4,F:T:s:L:H,A:32:8,8:0,32") +
      "-gpgpu_num_dp_units 1\n-gpgpu_num_int_units 4\n-gpgpu_max_insn_issue_per_warp 2\n-gpgpu_flush_l1_cache 0\n");
  const std::string note = NoteOn(imported, "-gpgpu_cache:dl1");
  for (const char* what :
       {"sectors are lines of their own", "least recently used", "streaming", "hash", "data port", "do not allocate"}) {
    EXPECT_THAT(note, HasSubstr(what));
  }
  const machine::v1::Cache& cache = imported.machine.memory().hierarchy().l1_data();
  EXPECT_EQ(cache.global_write(), machine::v1::Cache::WRITE_UPDATE);
  EXPECT_EQ(cache.allocate(), machine::v1::Cache::ON_FILL);
  EXPECT_THAT(NoteOn(imported, "-gpgpu_flush_l1_cache"), HasSubstr("emptied between launches"));
  EXPECT_THAT(Options(imported, ImportOutcome::kNotRepresented), Contains("-gpgpu_max_insn_issue_per_warp"));
  EXPECT_EQ(NoteOn(imported, "-gpgpu_num_dp_units"), "no note");
}

// Up to version 3.1 data caches wrote in one way, and most configurations have the letter of a read-only cache.
TEST(ImportMachine, DataCachesOfVersion3WithoutAPolicyOfWrites) {
  for (const char* text : {"32:128:4:L:R:m,A:32:8,8", "32:128:4:L:B:m,A:32:8,8", "32:128:4:L:B:m:A:P:N:32:8:8"}) {
    const ImportedMachine imported = Import(FermiWith(std::string("-gpgpu_cache:dl1 ") + text));
    const machine::v1::Cache& cache = imported.machine.memory().hierarchy().l1_data();
    EXPECT_EQ(cache.sets(), 32) << text;
    EXPECT_EQ(cache.mshr_merges(), 8) << text;
    EXPECT_EQ(cache.global_write(), machine::v1::Cache::WRITE_EVICT) << text;
    EXPECT_EQ(cache.local_write(), machine::v1::Cache::WRITE_BACK) << text;
    EXPECT_THAT(NoteOn(imported, "-gpgpu_cache:dl1"), HasSubstr("whatever the letter")) << text;
  }
  const ImportedMachine evicts = Import(FermiWith("-gpgpu_cache:dl1 32:128:4:L:E:m:A:N:32:8:8"));
  EXPECT_EQ(evicts.machine.memory().hierarchy().l1_data().local_write(), machine::v1::Cache::WRITE_EVICT);
  const ImportedMachine l2 = Import(FermiWith("-gpgpu_cache:dl2 64:128:8:L:R:m,A:32:4,4"));
  EXPECT_EQ(l2.machine.memory().hierarchy().l2().cache().global_write(), machine::v1::Cache::WRITE_BACK);
  EXPECT_THAT(NoteOn(l2, "-gpgpu_cache:dl2"), HasSubstr("a global store drops the line"));
}

// 1024 MSHRs for 1024 accesses each, in twelve slices: more than a model has room for, and than any program needs.
TEST(ImportMachine, MergesAreBoundedByWhatTheModelHasRoomFor) {
  const ImportedMachine imported = Import(FermiWith("-gpgpu_cache:dl2 N:64:128:16,L:B:m:W:L,A:2048:1024,4:0,32"));
  const machine::v1::Cache& cache = imported.machine.memory().hierarchy().l2().cache();
  EXPECT_EQ(cache.mshrs(), 2048);
  EXPECT_EQ(cache.mshr_merges(), (uint64_t{1} << 24) / 2048 / 12);
  EXPECT_THAT(NoteOn(imported, "-gpgpu_cache:dl2"), HasSubstr("at most 682 accesses wait for a line, not 1024"));
  EXPECT_THAT(NoteOn(Import(FermiWith("-gpgpu_cache:dl2 N:64:128:16,L:B:m:W:L,A:1024:1024,4")), "-gpgpu_cache:dl2"),
              Not(HasSubstr("accesses wait")));
}

// Policy 1 takes the lower bits of a bank's number for its group, policy 0, the default, the higher ones.
TEST(ImportMachine, BankGroupsFollowThePolicyOfTheConfiguration) {
  using machine::v1::Dram;
  const auto grouping = [](const std::string& text) {
    return Import(text).machine.memory().hierarchy().dram().bank_grouping();
  };
  EXPECT_EQ(grouping(kFermi), Dram::NEIGHBOURS);
  EXPECT_EQ(grouping(FermiWith("-dram_bnkgrp_indexing_policy 0")), Dram::NEIGHBOURS);
  EXPECT_EQ(grouping(FermiWith("-dram_bnkgrp_indexing_policy 1")), Dram::INTERLEAVED);
  EXPECT_EQ(NoteOn(Import(FermiWith("-dram_bnkgrp_indexing_policy 1")), "-dram_bnkgrp_indexing_policy"), "no note");
  EXPECT_THAT(Refusal(FermiWith("-dram_bnkgrp_indexing_policy 2")), HasSubstr("is not 0 (higher bits) or 1"));
}

// Banks that the map never selects are not there; without timings it says how many there are.
TEST(ImportMachine, BanksAreThoseThatTheAddressMapSelects) {
  const std::string map =
      "-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCC.CCSSSSSS";
  const ImportedMachine fewer = Import(FermiWith(map));
  EXPECT_EQ(fewer.machine.memory().hierarchy().dram().banks(), 8);
  EXPECT_EQ(fewer.machine.memory().hierarchy().dram().bank_groups(), 2) << "of four banks, as before";
  EXPECT_THAT(NoteOn(fewer, "-gpgpu_dram_timing_opt"), HasSubstr("8 banks, as the address map selects, not 16"));
  EXPECT_EQ(
      Import(FermiWith(map) + "-dram_bnkgrp_indexing_policy 1\n").machine.memory().hierarchy().dram().bank_groups(), 4);
  const std::string text = kFermi;
  const ImportedMachine untimed = Import(text.substr(0, text.find("-gpgpu_dram_timing_opt")));
  EXPECT_EQ(untimed.machine.memory().hierarchy().dram().banks(), 16);
  EXPECT_EQ(untimed.machine.memory().hierarchy().dram().bank_groups(), 1);
}

TEST(ImportMachine, TimingsWithoutBankGroups) {
  const ImportedMachine imported =
      Import(std::string(kFermi) + "-gpgpu_dram_timing_opt 16:2:8:12:25:10:35:10:7:6:11\n");
  const machine::v1::Dram& dram = imported.machine.memory().hierarchy().dram();
  EXPECT_EQ(dram.bank_groups(), 0);
  EXPECT_EQ(dram.timing().wtr(), 6);
  EXPECT_TRUE(dram.timing().wtr_from_data());
  EXPECT_EQ(dram.timing().wr(), 11);
}

TEST(ImportMachine, MemoryInstructionsArePipelined) {
  const machine::v1::ExecutionUnits units = Import(kFermi).machine.core().units();
  EXPECT_EQ(units.memory_issue_latency(), 4);
  EXPECT_EQ(units.memory_initiation_interval(), 1);
}

TEST(ImportMachine, TheLastOfTwoValuesCountsAndTheFirstIsTold) {
  const ImportedMachine imported = Import(std::string(kFermi) + "-gpgpu_n_mem 8\n");
  EXPECT_EQ(imported.machine.memory().hierarchy().dram().controllers(), 8);
  EXPECT_THAT(NoteOn(imported, "-gpgpu_n_mem"), AllOf(HasSubstr("line 4"), HasSubstr("counts")));
}

TEST(ImportMachine, PartitionsAreHashedIfTheConfigurationSaysSo) {
  const auto hashed = [](const ImportedMachine& imported) {
    return imported.machine.memory().hierarchy().address_map().hashed_partitions();
  };
  EXPECT_FALSE(hashed(Import(kFermi)));
  EXPECT_FALSE(hashed(Import(FermiWith("-gpgpu_memory_partition_indexing 0"))));
  const ImportedMachine imported = Import(FermiWith("-gpgpu_memory_partition_indexing 2"));
  EXPECT_TRUE(hashed(imported));
  EXPECT_THAT(NoteOn(imported, "-gpgpu_memory_partition_indexing"), HasSubstr("Heddle's"));
}

TEST(ImportMachine, NamesAndDefaultsOfVersion4) {
  const ImportedMachine imported = Import(
      "-gpgpu_n_clusters 80\n-gpgpu_n_cores_per_cluster 1\n-gpgpu_n_mem 32\n-gpgpu_n_sub_partition_per_mchannel 2\n"
      "-gpgpu_clock_domains 1447.5:1132.0:1132.0:850.0\n-gpgpu_shader_core_pipeline 2048:32\n-gpgpu_shader_cta 32\n"
      "-gpgpu_num_sched_per_core 4\n-gpgpu_operand_collector_num_units_gen 8\n-gpgpu_l1_latency 20\n-gpgpu_l1_banks 4\n"
      "-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L,A:512:8,16:0,32\n-gpgpu_cache:dl2 S:32:128:24,L:B:m:L:P,A:192:4,32:0,32\n"
      "-gpgpu_smem_latency 21\n-gpgpu_coalesce_arch 70\n-gpgpu_perfect_inst_const_cache 1\n-gpgpu_l2_rop_latency 160\n"
      "-gpgpu_dram_partition_queues 64:32:16:48\n-network_mode 2\n-icnt_flit_size 40\n-icnt_in_buffer_limit 512\n"
      "-gpgpu_dram_timing_opt nbk=16:CCD=2:RRD=3:RCD=12:RAS=28:RP=12:RC=40:CL=12:WL=2:CDLR=3:WR=10\n"
      "-ptx_opcode_latency_tesnor 64\n-ptx_opcode_initiation_tensor 32\n-ptx_opcode_latency_sfu 100\n"
      "-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS\n");
  const Machine& machine = imported.machine;
  EXPECT_EQ(machine.sms(), 80);
  EXPECT_EQ(machine.clocks().core_mhz(), 14475) << "only the ratios matter";
  EXPECT_EQ(machine.clocks().dram_mhz(), 8500);
  EXPECT_THAT(NoteOn(imported, "-gpgpu_clock_domains"), HasSubstr("times 10"));
  EXPECT_EQ(machine.core().units().sp_collectors(), 8);
  const machine::v1::Hierarchy& memory = machine.memory().hierarchy();
  EXPECT_EQ(memory.coalescing(), machine::v1::Hierarchy::COMPUTE_20);
  EXPECT_EQ(memory.l1_data().hit_cycles(), 20);
  EXPECT_EQ(memory.l1_data().banks(), 4);
  EXPECT_EQ(memory.returns_per_cycle(), 4) << "a hit of each bank";
  EXPECT_EQ(memory.shared().latency(), 22) << "from the access to a dependent issue";
  EXPECT_EQ(memory.l1_constant().sets(), 0);
  EXPECT_EQ(memory.l1_instruction().sets(), 0);
  EXPECT_EQ(memory.l2().rop_cycles(), 160 + 20) << "and the L1's pipeline";
  EXPECT_EQ(memory.l2().dram_pipe_cycles(), 30) << "the default";
  EXPECT_EQ(memory.l2().input_queue(), 64);
  EXPECT_EQ(memory.l2().dram_queue(), 32);
  EXPECT_EQ(memory.l2().output_queue(), 48);
  EXPECT_EQ(memory.network().flit_bytes(), 40);
  EXPECT_EQ(memory.network().input_buffer_flits(), 512 * 4) << "packets of at most 136 bytes";
  EXPECT_EQ(memory.address_map().slice_bit(), 8);
  const auto& timings = machine.core().units().timing();
  EXPECT_THAT(std::vector<OperationTiming>(timings.begin(), timings.end()),
              Contains(AllOf(::testing::Property(&OperationTiming::operation, OperationTiming::TENSOR),
                             ::testing::Property(&OperationTiming::latency, 64),
                             ::testing::Property(&OperationTiming::initiation_interval, 32))));
}

// In hundredths of a MHz the fastest clock would be beyond what a machine takes.
TEST(ImportMachine, ClocksAreRoundedNoFinerThanAMachineTakes) {
  const ImportedMachine imported = Import(FermiWith("-gpgpu_clock_domains 1481.37:1481.37:1481.37:2501.13"));
  EXPECT_EQ(imported.machine.clocks().core_mhz(), 14814);
  EXPECT_EQ(imported.machine.clocks().dram_mhz(), 25011);
  EXPECT_THAT(NoteOn(imported, "-gpgpu_clock_domains"), HasSubstr("rounded to 1/10 MHz"));
}

TEST(ImportMachine, AccelSimsTraceConfigReplacesTheLatenciesOfPtx) {
  const auto imported =
      ImportMachine({{"gpgpusim.config", kFermi}, {"trace.config", "-trace_opcode_latency_initiation_sp 6,3\n"}},
                    "imported", NoNetwork);
  ASSERT_TRUE(imported.ok()) << imported.status();
  for (const OperationTiming& timing : imported->machine.core().units().timing()) {
    if (timing.operation() != OperationTiming::FP32) continue;
    EXPECT_EQ(timing.latency(), 6);
    EXPECT_EQ(timing.initiation_interval(), 3);
  }
  EXPECT_EQ(imported->sources.at("core.units.timing[FP32]"),
            "trace.config, line 1: -trace_opcode_latency_initiation_sp");
}

TEST(ImportMachine, Version2HasTheSinglePipeline) {
  const ImportedMachine imported = Import(
      "-gpgpu_n_shader 30 -gpgpu_n_mem 8 -gpgpu_clock_domains 325.0:650.0:650.0:800.0\n"
      "-gpgpu_shader_registers 16384\n-gpgpu_shader_core_pipeline 1024:32:8\n-gpgpu_pre_mem_stages 1\n"
      "-gpgpu_cache:dl1 128:64:4:L\n-gpgpu_tex_cache:l1 64:64:2:L -gpgpu_const_cache:l1 64:64:2:L\n"
      "-gpgpu_shmem_pipe_speedup 2\n-gpgpu_interwarp_mshr_merge 6\n-gpu_concentration 3\n-gpgpu_simd_model 3\n"
      "-gpgpu_dram_scheduler 1\n-gpgpu_dram_sched_queue_size 32\n-gpgpu_n_mem_per_ctrlr 2\n"
      "-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RRBBBCCC.CCCSSSSS\n"
      "-gpgpu_dram_timing_opt 8:2:8:12:25:10:35:10:7:6\n-gpgpu_spread_blocks_across_cores\n");
  const Machine& machine = imported.machine;
  EXPECT_EQ(machine.core().front_end(), machine::v1::Core::THESIS);
  EXPECT_EQ(machine.sms(), 30);
  EXPECT_EQ(machine.core().simd_width(), 8);
  EXPECT_EQ(machine.core().pipeline_depth(), 7);
  EXPECT_EQ(machine.core().thesis().pre_memory_stages(), 1);
  const machine::v1::Hierarchy& memory = machine.memory().hierarchy();
  EXPECT_EQ(memory.network().sms_per_port(), 3);
  EXPECT_EQ(memory.l1_data().sets(), 128);
  EXPECT_EQ(memory.l1_data().pending_hits(), machine::v1::Cache::OWN_REQUEST) << "6 = texture (4) and constants (2)";
  EXPECT_EQ(memory.l1_texture().pending_hits(), machine::v1::Cache::JOIN_MSHR);
  EXPECT_EQ(memory.l1_constant().pending_hits(), machine::v1::Cache::JOIN_MSHR);
  EXPECT_EQ(imported.sources.at("memory.hierarchy.l1_data.pending_hits"),
            "line 8: -gpgpu_interwarp_mshr_merge (bit 1)");
  EXPECT_EQ(memory.l1_data().global_write(), machine::v1::Cache::WRITE_BACK);
  EXPECT_EQ(memory.l2().slices_per_controller(), 0);
  EXPECT_EQ(memory.dram().queue(), 32);
  EXPECT_EQ(memory.dram().timing().wtr(), 6);
  EXPECT_FALSE(memory.dram().timing().wtr_from_data()) << "2.x counts from the command";
  EXPECT_THAT(NoteOn(imported, "-gpgpu_simd_model"), HasSubstr("--divergence dwf"));
  EXPECT_THAT(Options(imported, ImportOutcome::kUnknown), IsEmpty());
}

TEST(ImportMachine, MalformedValuesAreErrorsWithTheirLine) {
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_n_mem six")), AllOf(HasSubstr("line 4: -gpgpu_n_mem"), HasSubstr("\"six\"")));
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_n_mem -6")), HasSubstr("\"-6\" is no whole number below 2^64"));
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_clock_domains 700:700:924")), HasSubstr("is not CORE:NETWORK:L2:DRAM"));
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_clock_domains 700:0:700:924")), HasSubstr("\"0\" is not a frequency"));
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_shader_core_pipeline 1536")), HasSubstr("is not THREADS:WARP SIZE"));
  EXPECT_THAT(Refusal(FermiWith("-ptx_opcode_latency_int 4,13,4")), HasSubstr("is not ADD,MAX,MUL,MAD,DIV"));
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_cache:dl1 32:128")),
              AllOf(HasSubstr("is not a cache"), HasSubstr("SETS:LINE")));
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_cache:dl1 32:128:4,L:R:m:N,A:32:8,8")), HasSubstr("must have a write policy"));
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_dram_scheduler 7")), HasSubstr("is not 0 (FIFO) or 1 (FR-FCFS)"));
  EXPECT_THAT(Refusal(FermiWith("-network_mode 3")), HasSubstr("is not 1 (BookSim) or 2 (crossbar)"));
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_dram_partition_queues 8:8")), HasSubstr("is not four lengths"));
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_coalesce_arch ")), HasSubstr("\"\" is no whole number below 2^64"));
  const auto timing = [](const std::string& text) {
    return Refusal(std::string(kFermi) + "-gpgpu_dram_timing_opt " + text);
  };
  EXPECT_THAT(timing("16:2:6"), HasSubstr("has 3 values: must be 10, 11 or 14"));
  EXPECT_THAT(timing("nbk=16:XYZ=2"), HasSubstr("unknown timing \"XYZ\""));
  EXPECT_THAT(timing("nbk=16:CCD=2"), HasSubstr("the timing RRD is missing"));
  EXPECT_THAT(timing("nbk=16:CCD=two"), HasSubstr("\"two\" is no whole number below 2^64"));
  EXPECT_THAT(Refusal(""), HasSubstr("there is no option in it"));
}

TEST(ImportMachine, AnImpossibleMachineIsRefusedWithLineAndField) {
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_cache:dl1 33:128:4,L:L:m:N,A:32:8,8")),
              AllOf(HasSubstr("-gpgpu_cache:dl1"), HasSubstr("line "),
                    HasSubstr("memory.hierarchy.l1_data.sets = 33: must be a power of two")));
  EXPECT_THAT(Refusal(FermiWith("-gpgpu_num_sched_per_core 5")),
              AllOf(HasSubstr("-gpgpu_num_sched_per_core"), HasSubstr("core.schedulers = 5: must be 1 to 4")));
}

TEST(ImportMachine, AMapThatDoesNotFitTheBanksIsRefusedWithItsLine) {
  const std::string text = kFermi;
  const size_t at = text.find("nbk=16");
  EXPECT_THAT(Refusal(std::string(text).replace(at, 6, "nbk=8")),
              AllOf(HasSubstr("-gpgpu_mem_addr_mapping"), HasSubstr("memory.hierarchy.address_map.text")));
}

TEST(ImportMachine, AMissingAddressMapIsNotGuessed) {
  EXPECT_THAT(Refusal("-gpgpu_n_clusters 1\n-gpgpu_n_mem 1\n"), HasSubstr("-gpgpu_mem_addr_mapping: without it"));
}

}  // namespace
}  // namespace heddle::tools
