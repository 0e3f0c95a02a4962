// How often chunks are decoded, and how much of them is held: counts, not times.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/engine/replay_batch.h"
#include "replay/machine/machine.h"
#include "tests/traces/program_builder.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;

constexpr uint32_t kBlocks = 128;
constexpr uint32_t kThreads = 64;
constexpr uint32_t kAccesses = 1000;  // of a thread
// Of a block, which has a chunk of its own; all of them are far more than 24 MiB.
constexpr uint64_t kChunkBytes = uint64_t{kThreads} * kAccesses * sizeof(uint32_t);
static_assert(kBlocks * kChunkBytes > 28u << 20);

// A launch whose blocks are recorded in so many parts, each a chunk.
std::unique_ptr<trace::TraceReader> Record(uint32_t parts) {
  const trace::testing::TemporaryFile file("decoding.htrace");
  trace::WriterOptions options;
  options.chunk_thread_instructions = 1;
  auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader(), options).value();
  ProgramBuilder loop("loop");
  EXPECT_TRUE(writer->AddProgram(loop.Block("head").Load().Branch("exit", "head").Block("exit").Exit().Build()).ok());
  EXPECT_TRUE(writer->BeginLaunch(trace::testing::MakeLaunch(0, kBlocks, kThreads)).ok());
  const uint32_t of_part = kAccesses / parts;
  std::vector<uint8_t> decisions(of_part, 1);
  for (uint32_t block = 0; block < kBlocks; ++block) {
    for (uint32_t part = 0; part < parts; ++part) {
      const bool last = part + 1 == parts;
      decisions.back() = last ? 0 : 1;
      std::vector<std::vector<uint64_t>> addresses(kThreads);
      std::vector<trace::ThreadRecord> records;
      for (uint32_t thread = 0; thread < kThreads; ++thread) {
        for (uint64_t i = part * of_part; i < (part + 1) * of_part; ++i) {
          addresses[thread].push_back(0x1000'0000 + ((block * kThreads + thread) * 977 + i * 331) % 4096 * 4);
        }
        records.push_back({decisions, addresses[thread]});
        records.back().exited = last;
      }
      std::vector<uint64_t> consumed(kThreads);
      EXPECT_TRUE(parts == 1 ? writer->AddBlock(block, records, trace::TraceWriter::kNoExpectation).ok()
                             : writer->AddBlockPart(block, records, last, consumed).ok());
    }
  }
  EXPECT_TRUE(writer->EndLaunch().ok());
  EXPECT_TRUE(writer->Finish().ok());
  auto reader = trace::TraceReader::Open(trace::FromMemory(trace::testing::ReadFile(file.path())), "decoding").value();
  EXPECT_EQ(reader->launches()[0].chunks.size(), kBlocks * parts);
  return reader;
}

class Decoding : public testing::Test {
 protected:
  static void SetUpTestSuite() { reader_ = Record(1).release(); }
  static void TearDownTestSuite() { delete reader_; }

  // Every block of the launch is resident from the beginning to the end.
  static machine::v1::Machine Wide() {
    machine::v1::Machine machine = LoadMachine("fermi_fixed").value();
    machine.set_sms(8);
    machine.mutable_core()->set_max_blocks(16);
    machine.mutable_core()->set_max_threads(16 * kThreads);
    machine.mutable_core()->set_registers(0);
    return machine;
  }
  // One block after the other.
  static machine::v1::Machine Narrow() {
    machine::v1::Machine machine = Wide();
    machine.set_sms(1);
    machine.mutable_core()->set_max_blocks(1);
    return machine;
  }
  static std::vector<Configuration> Schedulers(const std::vector<std::string>& names) {
    std::vector<Configuration> runs;
    for (const std::string& name : names) runs.emplace_back().scheduler.name = name;
    return runs;
  }
  static std::vector<result::v1::Result> Run(const machine::v1::Machine& machine,
                                             const std::vector<Configuration>& runs, uint64_t cache_bytes,
                                             DecodingCounters& decoding, const trace::TraceReader* reader = reader_) {
    ReplayOptions options;
    options.machine = machine;
    options.cache_bytes = cache_bytes;
    options.decoding = &decoding;
    auto results = Replay(*reader, runs, options);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? *std::move(results) : std::vector<result::v1::Result>();
  }

  static const trace::TraceReader* reader_;
};
const trace::TraceReader* Decoding::reader_ = nullptr;

TEST_F(Decoding, ASingleConfigurationDecodesWhatItsBlocksReadOnce) {
  DecodingCounters decoding;
  Run(Wide(), Schedulers({"lrr"}), ReplayOptions::kDefaultCacheBytes, decoding);
  EXPECT_EQ(decoding.chunks, kBlocks);
  EXPECT_EQ(decoding.again, 0);
}

TEST_F(Decoding, SeveralConfigurationsShareIt) {
  DecodingCounters decoding;
  Run(Wide(), Schedulers({"lrr", "gto", "oldest"}), ReplayOptions::kDefaultCacheBytes, decoding);
  EXPECT_EQ(decoding.chunks, kBlocks);
  EXPECT_EQ(decoding.again, 0);
}

TEST_F(Decoding, ASingleConfigurationFreesWhatNoBlockReadsAnyMore) {
  DecodingCounters decoding;
  Run(Narrow(), Schedulers({"lrr"}), ReplayOptions::kDefaultCacheBytes, decoding);
  EXPECT_EQ(decoding.chunks, kBlocks);
  EXPECT_LE(decoding.most_bytes, CacheBounds::kReadOnce + 2 * kChunkBytes);
}

// Beyond the bound the work grows with what is too much, and the results stay.
TEST_F(Decoding, WithLessMemoryChunksAreDecodedAgainAFewTimes) {
  constexpr uint64_t kBytes = 8u << 20;
  DecodingCounters enough;
  const auto expected = Run(Wide(), Schedulers({"lrr", "gto"}), ReplayOptions::kDefaultCacheBytes, enough);
  DecodingCounters decoding;
  const auto results = Run(Wide(), Schedulers({"lrr", "gto"}), kBytes, decoding);
  ASSERT_EQ(results.size(), expected.size());
  for (size_t run = 0; run < results.size(); ++run) {
    EXPECT_EQ(results[run].launch(0).ShortDebugString(), expected[run].launch(0).ShortDebugString());
  }
  // Half of the memory is for windows, so that a thread's accesses come in about eight of them.
  EXPECT_GT(decoding.again, 0);
  EXPECT_LE(decoding.chunks, 2 * 16 * kBlocks);
  EXPECT_LE(decoding.most_bytes, kBytes + 4 * kChunkBytes);
}

// Threads come to the next part of their block one after the other.
TEST_F(Decoding, WithLessMemoryThePartsOfBlocksAreDecodedAgainAFewTimes) {
  constexpr uint32_t kParts = 4;
  constexpr uint64_t kBytes = 2u << 20;
  const auto reader = Record(kParts);
  DecodingCounters enough;
  const auto expected = Run(Wide(), Schedulers({"gto"}), ReplayOptions::kDefaultCacheBytes, enough, reader.get());
  EXPECT_EQ(enough.chunks, kParts * kBlocks);
  DecodingCounters decoding;
  const auto results = Run(Wide(), Schedulers({"gto"}), kBytes, decoding, reader.get());
  ASSERT_EQ(results.size(), expected.size());
  EXPECT_EQ(results[0].launch(0).ShortDebugString(), expected[0].launch(0).ShortDebugString());
  EXPECT_GT(decoding.again, 0);
  EXPECT_LE(decoding.chunks, 16 * kParts * kBlocks);
}

TEST_F(Decoding, ABatchKeepsWhatItsBlocksRead) {
  BatchReplayer replayer(*reader_, CacheBounds::Of(ReplayOptions::kDefaultCacheBytes, /*once=*/true));
  BatchRun run{.configuration = *CheckConfiguration({}), .options = {}};
  run.options.machine = Wide();
  const auto outcomes = replayer.Replay(std::vector<BatchRun>{run}, [] { return true; });
  ASSERT_TRUE(outcomes[0].ok()) << outcomes[0].status();
  EXPECT_EQ(replayer.decoding().chunks, kBlocks);
  EXPECT_EQ(replayer.decoding().again, 0);
}

}  // namespace
}  // namespace heddle::replay
