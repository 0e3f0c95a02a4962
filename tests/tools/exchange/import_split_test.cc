// Storage that L1 and shared memory share, and the time that a launch takes, in configurations of GPGPU-Sim.
#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "replay/machine/machine.h"
#include "tests/tools/exchange/import_harness.h"

namespace heddle::tools {
namespace {

using machine::v1::Machine;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// An SM of Volta in the names of 4.x; only what the split and the launch depend on is another than above.
std::string Volta() {
  std::string text = kFermi;
  for (const char* line :
       {"-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L,A:512:8,16:0,32", "-gpgpu_shmem_size 98304",
        "-gpgpu_unified_l1d_size 128", "-gpgpu_shmem_option 64,0,8,16,32,96,0", "-gpgpu_adaptive_cache_config 1",
        "-gpgpu_kernel_launch_latency 5000", "-gpgpu_TB_launch_latency 2"}) {
    text = With(text, line);
  }
  return text;
}
std::string VoltaWith(const std::string& line) { return With(Volta(), line); }

TEST(ImportSplit, TheL1TakesWhatSharedMemoryLeavesAndALaunchItsTime) {
  const ImportedMachine imported = Import(Volta());
  const machine::v1::Hierarchy& memory = imported.machine.memory().hierarchy();
  EXPECT_EQ(memory.l1_split().bytes(), 128 * 1024);
  EXPECT_THAT(memory.l1_split().shared_bytes(), ElementsAre(0, 8192, 16384, 32768, 65536, 98304));
  EXPECT_EQ(memory.l1_data().sets(), 4 * 4);
  EXPECT_EQ(memory.l1_data().ways(), 256) << "128 KB in these sets, 64 of the 256 are the 32 KB of the text";
  EXPECT_EQ(imported.machine.dispatch().launch_cycles(), 5000);
  EXPECT_THAT(imported.sources.at("memory.hierarchy.l1_split.shared_bytes[3]"), HasSubstr("-gpgpu_shmem_option (KB)"));
  EXPECT_THAT(imported.sources.at("dispatch.launch_cycles"), HasSubstr("-gpgpu_kernel_launch_latency"));
  EXPECT_THAT(NoteOn(imported, "-gpgpu_adaptive_cache_config"), HasSubstr("also where the grid has fewer"));
  for (const char* option : {"-gpgpu_unified_l1d_size", "-gpgpu_shmem_option", "-gpgpu_kernel_launch_latency"}) {
    EXPECT_EQ(NoteOn(imported, option), "no note") << option;
  }
  EXPECT_THAT(Options(imported, ImportOutcome::kUnknown), IsEmpty());
  EXPECT_THAT(Options(imported, ImportOutcome::kNotRepresented), Contains("-gpgpu_TB_launch_latency"));
  const std::string text = ImportText(imported, {"gpgpusim.config"});
  const std::string path = ::testing::TempDir() + "import_split_" + std::to_string(getpid()) + ".textproto";
  std::ofstream(path) << text;
  const absl::StatusOr<Machine> loaded = replay::LoadMachine(path);
  std::remove(path.c_str());
  ASSERT_TRUE(loaded.ok()) << loaded.status() << text;
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*loaded, imported.machine)) << text;
}

TEST(ImportSplit, WithoutAnAdaptiveL1TheSplitIsNotRead) {
  const ImportedMachine imported = Import(VoltaWith("-gpgpu_adaptive_cache_config 0"));
  EXPECT_FALSE(imported.machine.memory().hierarchy().has_l1_split());
  EXPECT_EQ(imported.machine.memory().hierarchy().l1_data().ways(), 64);
  EXPECT_THAT(Options(imported, ImportOutcome::kNoTiming),
              AllOf(Contains("-gpgpu_unified_l1d_size"), Contains("-gpgpu_shmem_option")));
  EXPECT_EQ(Import(kFermi).machine.dispatch().launch_cycles(), 0);
  EXPECT_THAT(NoteOn(Import(VoltaWith("-gpgpu_cache:dl1 none")), "-gpgpu_adaptive_cache_config"),
              HasSubstr("there is no L1 data cache"));
  EXPECT_THAT(NoteOn(Import(VoltaWith("-gpgpu_unified_l1d_size 0")), "-gpgpu_adaptive_cache_config"),
              HasSubstr("without -gpgpu_unified_l1d_size"));
}

TEST(ImportSplit, TheSplitOfVoltaThatEarlierVersionsHaveBuiltIn) {
  const ImportedMachine imported = Import(FermiWith("-gpgpu_cache:dl1 4:128:64,L:T:m:L:L,A:512:8,16:0,32") +
                                          "-gpgpu_adaptive_volta_cache_config 1\n");
  const machine::v1::Hierarchy& memory = imported.machine.memory().hierarchy();
  EXPECT_EQ(memory.l1_split().bytes(), 128 * 1024);
  EXPECT_THAT(memory.l1_split().shared_bytes(), ElementsAre(0, 8192, 16384, 32768, 65536, 98304));
}

TEST(ImportSplit, SplitsThatCannotBeAreRefusedWithTheirLine) {
  EXPECT_THAT(Refusal(VoltaWith("-gpgpu_shmem_option 0,eight")),
              AllOf(HasSubstr("-gpgpu_shmem_option"), HasSubstr("line "), HasSubstr("is not a list of sizes in KB")));
  EXPECT_THAT(Refusal(VoltaWith("-gpgpu_shmem_option 0,99999999999")), HasSubstr("is not a list of sizes in KB"));
  EXPECT_THAT(Refusal(VoltaWith("-gpgpu_unified_l1d_size 99999999999")), HasSubstr("is not a size in KB"));
  EXPECT_THAT(Refusal(VoltaWith("-gpgpu_shmem_option 0,64")),
              AllOf(HasSubstr("-gpgpu_shmem_option"), HasSubstr("memory.hierarchy.l1_split.shared_bytes[1] = 65536")));
  EXPECT_THAT(Refusal(VoltaWith("-gpgpu_unified_l1d_size 96")),
              AllOf(HasSubstr("-gpgpu_unified_l1d_size"), HasSubstr("memory.hierarchy.l1_split.bytes = 98304")));
  EXPECT_THAT(Refusal(VoltaWith("-gpgpu_kernel_launch_latency 100001")),
              AllOf(HasSubstr("-gpgpu_kernel_launch_latency"), HasSubstr("dispatch.launch_cycles = 100001")));
}

}  // namespace
}  // namespace heddle::tools
