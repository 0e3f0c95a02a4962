// Caches with sectors, in configurations of GPGPU-Sim 4.x.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/tools/exchange/import_harness.h"

namespace heddle::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// An SM and an L2 of Volta; the texture cache keeps whole lines, as there.
std::string Volta() {
  std::string text = kFermi;
  for (const char* line :
       {"-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L,A:512:8,16:0,32",
        "-gpgpu_cache:dl2 S:32:128:24,L:B:m:L:P,A:192:4,32:0,32",
        "-gpgpu_tex_cache:l1 N:4:128:256,L:R:m:N:L,T:512:8,128:2", "-gpgpu_coalesce_arch 70", "-gpgpu_l1_banks 4"}) {
    text = With(text, line);
  }
  return text;
}

uint64_t Bytes(const machine::v1::Cache& cache) { return uint64_t{cache.sets()} * cache.line_bytes() * cache.ways(); }

TEST(ImportSectors, AreLinesOfTheirOwnInAllCachesOnTheWay) {
  const ImportedMachine imported = Import(Volta());
  const machine::v1::Hierarchy& memory = imported.machine.memory().hierarchy();
  EXPECT_EQ(memory.l1_data().sets(), 16);
  EXPECT_EQ(memory.l1_data().ways(), 64);
  EXPECT_EQ(Bytes(memory.l1_data()), 32 * 1024);
  EXPECT_EQ(memory.l2().cache().sets(), 128);
  EXPECT_EQ(Bytes(memory.l2().cache()), 96 * 1024);
  EXPECT_EQ(Bytes(memory.l1_texture()), 128 * 1024);
  for (const machine::v1::Cache& cache :
       {memory.l1_data(), memory.l2().cache(), memory.l1_texture(), memory.l1_constant(), memory.l1_instruction()}) {
    EXPECT_EQ(cache.line_bytes(), 32);
  }
  EXPECT_THAT(imported.sources.at("memory.hierarchy.l1_data.sets"), HasSubstr("lines of 4 sectors"));
  EXPECT_THAT(NoteOn(imported, "-gpgpu_cache:dl2"), HasSubstr("sectors are lines of their own"));
  EXPECT_EQ(NoteOn(imported, "-gpgpu_coalesce_arch"), "no note") << "transactions are of a sector there, too";
  EXPECT_EQ(memory.returns_per_cycle(), 4) << "a hit of each bank";
}

// An L1 data cache that asks for whole lines must find them.
TEST(ImportSectors, OfTheL2AloneAreFetchedTogether) {
  const ImportedMachine imported = Import(With(Volta(), "-gpgpu_cache:dl1 N:32:128:4,L:L:m:N:L,A:32:8,8"));
  const machine::v1::Hierarchy& memory = imported.machine.memory().hierarchy();
  EXPECT_EQ(memory.l1_data().line_bytes(), 128);
  EXPECT_EQ(memory.l1_texture().line_bytes(), 128);
  EXPECT_EQ(memory.l2().cache().line_bytes(), 128);
  EXPECT_THAT(NoteOn(imported, "-gpgpu_cache:dl2"),
              AllOf(HasSubstr("lines are fetched whole"), Not(HasSubstr("lines of their own"))));
  EXPECT_THAT(NoteOn(imported, "-gpgpu_coalesce_arch"), HasSubstr("segments of 128 bytes"));
}

TEST(ImportSectors, OfTheL1AloneAskAnL2WithWholeLines) {
  const ImportedMachine imported = Import(With(Volta(), "-gpgpu_cache:dl2 64:128:8,L:B:m:W:L,A:32:4,4"));
  const machine::v1::Hierarchy& memory = imported.machine.memory().hierarchy();
  EXPECT_EQ(memory.l1_data().line_bytes(), 32);
  EXPECT_EQ(memory.l1_texture().line_bytes(), 128);
  EXPECT_EQ(memory.l2().cache().line_bytes(), 128);
}

// Without an L1 stores are of up to 128 bytes.
TEST(ImportSectors, OfTheL2WithoutAnL1AreFetchedTogether) {
  const ImportedMachine imported = Import(With(Volta(), "-gpgpu_cache:dl1 none"));
  const machine::v1::Hierarchy& memory = imported.machine.memory().hierarchy();
  EXPECT_EQ(memory.l1_data().sets(), 0);
  EXPECT_EQ(memory.l2().cache().line_bytes(), 128);
}

}  // namespace
}  // namespace heddle::tools
