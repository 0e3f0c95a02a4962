// The fuzzer's mutator in every build: some thousand changed traces are read without harm, and enough of them get far
// enough for that to mean something.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/fuzz/record_mutator.h"
#include "tests/fuzz/trace_input.h"
#include "tests/traces/forge.h"
#include "tests/traces/format/columns/trace_runs.h"
#include "tests/traces/program_builder.h"

namespace heddle::trace::testing {
namespace {

std::vector<v1::TraceFile> Seeds() {
  std::vector<v1::TraceFile> seeds;
  const auto add = [&](const std::string& file) {
    v1::TraceFile& records = seeds.emplace_back();
    for (const v1::Record& record : RecordsOf(file)) *records.add_record() = record;
  };
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_FUZZ_CORPUS)) {
    const std::string bytes = ReadFile(entry.path().string());
    if (bytes[0] == 'F') add(bytes.substr(1));
  }
  TemporaryFile file("mutation");
  EXPECT_EQ(WriteRun(file.path(), {.part_blocks = 20, .writer = {.chunk_thread_instructions = 1500}}),
            absl::OkStatus());
  add(ReadFile(file.path()));
  return seeds;
}

TEST(Mutations, AreReadWithoutHarm) {
  std::map<Depth, int> depths;
  const std::vector<v1::TraceFile> seeds = Seeds();
  ASSERT_GE(seeds.size(), 3);
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    v1::TraceFile records = seeds[seed % seeds.size()];
    MutateRecords(records, seed);
    if (seed % 5 == 0) CrossRecords(records, seeds[(seed + 1) % seeds.size()], seed);
    if (seed % 4 != 0) FixTotals(records);
    ++depths[ReadHostileInput((seed % 7 == 0 ? 'X' : 'R') + records.SerializeAsString())];
  }
  EXPECT_GE(depths[Depth::kOpened], 100) << "errors in the first chunks are found";
  EXPECT_GE(depths[Depth::kDecoded], 50) << "errors in further chunks, and in what they say, are found";
  EXPECT_GE(depths[Depth::kVerified], 50);
  EXPECT_GE(depths[Depth::kNothing], 50);
}

TEST(Mutations, FixedTotalsAreThoseOfTheTrace) {
  for (v1::TraceFile records : Seeds()) {
    const std::string before = records.SerializeAsString();
    for (v1::Record& record : *records.mutable_record()) {
      if (record.has_chunk()) record.mutable_chunk()->set_accesses(record.chunk().accesses() + 5);
    }
    FixTotals(records);
    EXPECT_EQ(records.SerializeAsString(), before);
  }
}

}  // namespace
}  // namespace heddle::trace::testing
