// What goes in comes out: every thread's blocks, decisions and addresses, whatever the program, the chunking and the
// cuts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "tests/traces/program_builder.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/read/check.h"
#include "traces/format/read/chunk_prefetcher.h"

namespace heddle::trace {
namespace {

using testing::MakeHeader;
using testing::MakeLaunch;
using testing::ProgramBuilder;
using testing::RandomProgram;
using testing::RandomProgramOptions;
using testing::RandomThread;
using testing::RandomThreadOptions;
using testing::TemporaryFile;
using testing::ThreadTrace;

// What a file says about one thread, put together over all parts.
struct Replayed {
  std::vector<uint32_t> blocks;
  std::vector<uint64_t> addresses;
};

// Threads of a launch, by linear block index, then thread.
std::map<uint64_t, std::vector<Replayed>> ReplayLaunch(const TraceReader& reader, const LaunchView& launch) {
  std::map<uint64_t, std::vector<Replayed>> all;
  DecodedChunk chunk;
  for (const v1::ChunkReference& reference : launch.chunks) {
    const absl::Status status = reader.ReadChunk(reference, chunk);
    EXPECT_TRUE(status.ok()) << status;
    if (!status.ok()) return all;
    for (size_t t = 0; t < chunk.path_of_thread.size(); ++t) {
      std::vector<Replayed>& threads = all[chunk.blocks[t / chunk.threads_per_block]];
      threads.resize(chunk.threads_per_block);
      Replayed& thread = threads[t % chunk.threads_per_block];
      const PathView& path = chunk.paths[chunk.path_of_thread[t]];
      PackedDecisions decisions(path);
      WalkState state{path.start_block, {path.call_stack.begin(), path.call_stack.end()}, false};
      uint64_t instructions = 0;
      uint64_t position = chunk.first_address[t];
      const WalkStatus walked = Walk(*launch.program, path.extent, decisions, state, ~uint64_t{0}, instructions,
                                     [&](uint32_t b, const Block& block) {
                                       thread.blocks.push_back(b);
                                       for (Pc pc : launch.program->accesses_of(block))
                                         thread.addresses.push_back(chunk.address(position++, pc));
                                     });
      EXPECT_EQ(walked, WalkStatus::kOk);
      EXPECT_EQ(position, chunk.first_address[t + 1]);
      EXPECT_EQ(instructions, path.thread_instructions);
    }
  }
  return all;
}

void ExpectThreads(const TraceReader& reader, const LaunchView& launch,
                   const std::map<uint64_t, std::vector<ThreadTrace>>& expected) {
  const auto replayed = ReplayLaunch(reader, launch);
  ASSERT_EQ(replayed.size(), expected.size());
  for (const auto& [block, threads] : expected) {
    ASSERT_TRUE(replayed.contains(block));
    for (size_t t = 0; t < threads.size(); ++t) {
      ASSERT_EQ(replayed.at(block)[t].blocks, threads[t].blocks) << "block " << block << " thread " << t;
      ASSERT_EQ(replayed.at(block)[t].addresses, threads[t].addresses) << "block " << block << " thread " << t;
    }
  }
}

absl::Status AddWhole(TraceWriter& writer, uint64_t block, const std::vector<ThreadTrace>& threads) {
  std::vector<ThreadRecord> records;
  uint64_t instructions = 0;
  for (const ThreadTrace& thread : threads) {
    records.push_back(thread.record());
    instructions += thread.thread_instructions;
  }
  return writer.AddBlock(block, records, instructions);
}

// Hands a block over in slices of `slice` basic blocks per thread, as a recorder with a budget would.
absl::Status AddInParts(TraceWriter& writer, uint64_t block, const std::vector<ThreadTrace>& threads, size_t slice) {
  std::vector<size_t> done(threads.size(), 0), decision(threads.size(), 0), address(threads.size(), 0);
  std::vector<uint64_t> consumed(threads.size());
  for (bool last = false; !last;) {
    last = true;
    std::vector<ThreadRecord> records;
    for (size_t t = 0; t < threads.size(); ++t) {
      const ThreadTrace& thread = threads[t];
      // Threads advance at different speeds.
      done[t] = std::min(thread.blocks.size(), done[t] + slice + t % 3);
      last &= done[t] == thread.blocks.size();
      const size_t decisions = done[t] == 0 ? 0 : thread.decisions_after[done[t] - 1];
      const size_t addresses = done[t] == 0 ? 0 : thread.addresses_after[done[t] - 1];
      records.push_back({std::span(thread.decisions).subspan(decision[t], decisions - decision[t]),
                         std::span(thread.addresses).subspan(address[t], addresses - address[t]),
                         done[t] == thread.blocks.size()});
      decision[t] = decisions;
    }
    if (absl::Status status = writer.AddBlockPart(block, records, last, consumed); !status.ok()) return status;
    for (size_t t = 0; t < threads.size(); ++t) address[t] += consumed[t];
  }
  return absl::OkStatus();
}

std::vector<ThreadTrace> RandomBlock(const Program& program, uint64_t seed, uint64_t block, uint32_t threads,
                                     const RandomThreadOptions& options = {}) {
  std::vector<ThreadTrace> traces;
  for (uint32_t t = 0; t < threads; ++t) traces.push_back(RandomThread(program, seed, block * threads + t, options));
  return traces;
}

RandomProgramOptions OptionsOf(uint64_t seed) {
  RandomProgramOptions options;
  options.calls = seed % 2 == 1;
  options.wide = seed % 4 >= 2;
  options.barriers = seed % 3 == 0;
  options.depth = 2 + static_cast<int>(seed % 3);
  return options;
}

struct Scenario {
  const char* name;
  RandomThreadOptions threads;
  WriterOptions writer;
  size_t slice = 0;     // 0 = whole blocks
  uint64_t stride = 1;  // between recorded blocks
};

class RoundTrip : public ::testing::TestWithParam<Scenario> {};

TEST_P(RoundTrip, RandomProgramsComeBackEqual) {
  const Scenario& scenario = GetParam();
  for (uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(seed);
    TemporaryFile file("round-trip");
    auto writer = TraceWriter::Create(file.path(), MakeHeader(), scenario.writer);
    ASSERT_TRUE(writer.ok()) << writer.status();
    auto program = (*writer)->AddProgram(RandomProgram(seed, OptionsOf(seed)));
    ASSERT_TRUE(program.ok()) << program.status();
    constexpr uint32_t kThreads = 37;
    std::map<uint64_t, std::vector<ThreadTrace>> expected;
    ASSERT_EQ((*writer)->BeginLaunch(MakeLaunch(0, 100, kThreads)), absl::OkStatus());
    for (uint64_t i = 0; i < 6; ++i) {
      const uint64_t block = i * scenario.stride;
      expected[block] = RandomBlock(**program, seed, block, kThreads, scenario.threads);
      ASSERT_EQ(scenario.slice == 0 ? AddWhole(**writer, block, expected[block])
                                    : AddInParts(**writer, block, expected[block], scenario.slice),
                absl::OkStatus());
    }
    ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
    ASSERT_EQ((*writer)->Finish(), absl::OkStatus());

    auto reader = TraceReader::Open(file.path());
    ASSERT_TRUE(reader.ok()) << reader.status();
    ASSERT_EQ((*reader)->launches().size(), 1);
    const LaunchView& launch = (*reader)->launches()[0];
    EXPECT_EQ(launch.totals.blocks(), 6);
    EXPECT_EQ(launch.totals.threads(), 6 * kThreads);
    ExpectThreads(**reader, launch, expected);
    auto report = CheckTrace(**reader);
    ASSERT_TRUE(report.ok()) << report.status();
    for (const Finding& finding : report->findings) {
      EXPECT_NE(finding.severity, Finding::Severity::kError)
          << finding.rule << " " << finding.place << " " << finding.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, RoundTrip,
    ::testing::Values(Scenario{"whole_blocks", {}, {}},
                      Scenario{"small_chunks", {}, {.zstd_level = 1, .chunk_thread_instructions = 5000}},
                      Scenario{"chunks_by_accesses", {}, {.zstd_level = 19, .chunk_accesses = 500}},
                      Scenario{"paths_shared", {.alike = 32, .linear_addresses = true}, {}},
                      Scenario{"separable", {.linear_addresses = true}, {}}, Scenario{"cut_in_time", {}, {}, 7},
                      Scenario{"cut_at_every_block", {.most_instructions = 300}, {}, 1},
                      Scenario{"cut_and_shared", {.alike = 16}, {}, 20}, Scenario{"blocks_apart", {}, {}, 0, 3},
                      Scenario{"blocks_apart_and_cut", {}, {}, 50, 17}),
    [](const auto& info) { return info.param.name; });

// Paths are stored once, however many threads take them.
TEST(Paths, EqualPathsAreStoredOnce) {
  TemporaryFile file("shared");
  ASSERT_EQ(testing::WriteRandomTrace(file.path(), RandomProgram(3), 1, 8, 64, {.alike = 512}), absl::OkStatus());
  auto reader = TraceReader::Open(file.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  DecodedChunk chunk;
  ASSERT_EQ((*reader)->ReadChunk((*reader)->launches()[0].chunks[0], chunk), absl::OkStatus());
  EXPECT_EQ(chunk.path_of_thread.size(), 512);
  EXPECT_EQ(chunk.paths.size(), 1);
}

TEST(Addresses, SixtyFourBitsWhereAnInstructionReachesFar) {
  const v1::KernelProgram program = ProgramBuilder("far").Block("entry").Load().Alu().Load().Exit().Build();
  TemporaryFile file("far");
  auto writer = TraceWriter::Create(file.path(), MakeHeader());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->AddProgram(program).ok());
  ASSERT_EQ((*writer)->BeginLaunch(MakeLaunch(0, 1, 3)), absl::OkStatus());
  const std::vector<std::vector<uint64_t>> addresses = {{0, ~uint64_t{0}}, {uint64_t{1} << 63, 5}, {12, 1ull << 40}};
  std::vector<ThreadRecord> records;
  for (const auto& thread : addresses) records.push_back({{}, thread});
  ASSERT_EQ((*writer)->AddBlock(0, records, TraceWriter::kNoExpectation), absl::OkStatus());
  ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  auto reader = TraceReader::Open(file.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  DecodedChunk chunk;
  ASSERT_EQ((*reader)->ReadChunk((*reader)->launches()[0].chunks[0], chunk), absl::OkStatus());
  EXPECT_TRUE(chunk.offsets32.empty());
  const std::vector<uint64_t> flat = {0, ~uint64_t{0}, uint64_t{1} << 63, 5, 12, 1ull << 40};
  EXPECT_EQ(chunk.addresses64, flat);
}

TEST(Blocks, AreFoundByTheirNumber) {
  TemporaryFile file("find");
  auto writer = TraceWriter::Create(file.path(), MakeHeader(), {.chunk_thread_instructions = 200});
  ASSERT_TRUE(writer.ok());
  auto program = (*writer)->AddProgram(RandomProgram(5));
  ASSERT_TRUE(program.ok());
  ASSERT_EQ((*writer)->BeginLaunch(MakeLaunch(0, 1000, 4)), absl::OkStatus());
  const std::vector<uint64_t> blocks = {3, 4, 9, 10, 500, 501, 777};
  for (uint64_t block : blocks) {
    ASSERT_EQ(AddWhole(**writer, block, RandomBlock(**program, 1, block, 4)), absl::OkStatus());
  }
  ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  auto reader = TraceReader::Open(file.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  const LaunchView& launch = (*reader)->launches()[0];
  for (uint64_t block = 0; block < 1000; ++block) {
    const std::optional<uint32_t> found = (*reader)->FindChunk(launch, block);
    const bool recorded = std::find(blocks.begin(), blocks.end(), block) != blocks.end();
    ASSERT_EQ(found.has_value(), recorded) << block;
    if (!recorded) continue;
    DecodedChunk chunk;
    ASSERT_EQ((*reader)->ReadChunk(launch.chunks[*found], chunk), absl::OkStatus());
    EXPECT_THAT(chunk.blocks, ::testing::Contains(block));
  }
}

TEST(Files, AreTheSameForTheSameInput) {
  TemporaryFile first("same-1"), second("same-2"), level("same-3");
  ASSERT_EQ(testing::WriteRandomTrace(first.path(), RandomProgram(9), 4, 9, 33), absl::OkStatus());
  ASSERT_EQ(testing::WriteRandomTrace(second.path(), RandomProgram(9), 4, 9, 33), absl::OkStatus());
  ASSERT_EQ(testing::WriteRandomTrace(level.path(), RandomProgram(9), 4, 9, 33, {}, {.zstd_level = 12}),
            absl::OkStatus());
  EXPECT_EQ(testing::ReadFile(first.path()), testing::ReadFile(second.path()));
  auto a = TraceReader::Open(first.path());
  auto b = TraceReader::Open(level.path());
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ((*a)->digest(), (*b)->digest()) << "the digest must not depend on the compression level";
}

TEST(Files, DoNotDependOnTheNumberOfThreads) {
  std::string one;
  for (unsigned threads : {1u, 2u, 5u}) {
    TemporaryFile file("threads");
    const WriterOptions options = {.zstd_level = 5, .threads = threads, .chunk_thread_instructions = 500};
    ASSERT_EQ(testing::WriteRandomTrace(file.path(), RandomProgram(11), 4, 40, 33, {}, options), absl::OkStatus());
    auto reader = TraceReader::Open(file.path());
    ASSERT_TRUE(reader.ok()) << reader.status();
    ASSERT_GT((*reader)->index().chunk_size(), 10);
    if (threads == 1) one = testing::ReadFile(file.path());
    EXPECT_EQ(testing::ReadFile(file.path()), one) << threads << " threads";
  }
}

// Columns are encoded on several threads where a chunk is worth it.
TEST(Files, DoNotDependOnTheThreadsThatEncodeColumns) {
  std::string one;
  for (unsigned threads : {1u, 3u}) {
    TemporaryFile file("columns");
    ASSERT_EQ(testing::WriteRandomTrace(file.path(), RandomProgram(11), 4, 100, 64, {}, {.threads = threads}),
              absl::OkStatus());
    auto reader = TraceReader::Open(file.path());
    ASSERT_TRUE(reader.ok()) << reader.status();
    ASSERT_GT((*reader)->index().chunk(0).accesses(), 1u << 14);
    if (threads == 1) one = testing::ReadFile(file.path());
    EXPECT_EQ(testing::ReadFile(file.path()), one) << threads << " threads";
  }
}

// Chunks one after the other, some of them again, from a place in the middle, and past the end of a launch.
TEST(Prefetcher, GivesWhatTheReaderGives) {
  TemporaryFile file("prefetch");
  ASSERT_EQ(
      testing::WriteRandomTrace(file.path(), RandomProgram(12), 4, 40, 33, {}, {.chunk_thread_instructions = 500}),
      absl::OkStatus());
  auto reader = TraceReader::Open(file.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto& chunks = (*reader)->index().chunk();
  ASSERT_GT(chunks.size(), 10);
  ChunkPrefetcher prefetcher(**reader);
  auto chunk = std::make_unique<DecodedChunk>();
  DecodedChunk expected;
  for (int c : {0, 1, 2, 0, 3, 4, 2, 7, 8, 1, 9, chunks.size() - 1, 5}) {
    ASSERT_EQ((*reader)->ReadChunk(chunks[c], expected), absl::OkStatus());
    ASSERT_EQ(prefetcher.Read(chunks[c], chunk), absl::OkStatus());
    EXPECT_EQ(chunk->blocks, expected.blocks);
    EXPECT_EQ(chunk->path_of_thread, expected.path_of_thread);
    EXPECT_EQ(chunk->offsets32, expected.offsets32);
    EXPECT_EQ(chunk->addresses64, expected.addresses64);
    EXPECT_EQ(chunk->base, expected.base);
  }
  if (std::thread::hardware_concurrency() > 1) {
    EXPECT_GE(prefetcher.decoded_ahead(), 3);
  }
}

// A thread that is suspended within its last block has room for all of the block's addresses and has not written them
// yet; only `exited` tells it from one that is done.
TEST(Parts, AThreadSuspendedInItsLastBlockIsNotDone) {
  const v1::KernelProgram program = ProgramBuilder("wait").Block("a").Alu().Barrier().Load().Exit().Build();
  TemporaryFile file("wait");
  auto writer = TraceWriter::Create(file.path(), MakeHeader());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->AddProgram(program).ok());
  ASSERT_EQ((*writer)->BeginLaunch(MakeLaunch(0, 1, 1)), absl::OkStatus());
  std::vector<uint64_t> addresses = {0xbad};
  uint64_t consumed = 7;
  ThreadRecord record{{}, addresses, false};
  ASSERT_EQ((*writer)->AddBlockPart(0, std::span(&record, 1), false, std::span(&consumed, 1)), absl::OkStatus());
  EXPECT_EQ(consumed, 0);
  addresses[0] = 0x600d;
  record.exited = true;
  ASSERT_EQ((*writer)->AddBlockPart(0, std::span(&record, 1), true, std::span(&consumed, 1)), absl::OkStatus());
  EXPECT_EQ(consumed, 1);
  ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  auto reader = TraceReader::Open(file.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_THAT(ReplayLaunch(**reader, (*reader)->launches()[0]).at(0)[0].addresses, ::testing::ElementsAre(0x600d));
}

// Maps have no order of their own in protobuf.
TEST(Files, DoNotDependOnTheOrderOfTheHeadersMap) {
  std::vector<std::string> contents;
  for (bool forward : {true, false}) {
    v1::FileHeader header = MakeHeader();
    for (int i = 0; i < 50; ++i) {
      (*header.mutable_provenance())["key" + std::to_string(forward ? i : 49 - i)] = "value";
    }
    TemporaryFile file("map");
    auto writer = TraceWriter::Create(file.path(), header);
    ASSERT_TRUE(writer.ok());
    ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
    contents.push_back(testing::ReadFile(file.path()));
  }
  EXPECT_EQ(contents[0], contents[1]);
}

TEST(Runs, KeepLaunchesTransfersCertificatesAndAnnotationsInOrder) {
  TemporaryFile file("run");
  auto writer = TraceWriter::Create(file.path(), MakeHeader());
  ASSERT_TRUE(writer.ok());
  auto first = (*writer)->AddProgram(RandomProgram(1));
  auto second = (*writer)->AddProgram(RandomProgram(2));
  ASSERT_TRUE(first.ok() && second.ok());
  v1::Transfer transfer;
  transfer.set_direction(v1::Transfer::HOST_TO_DEVICE);
  transfer.set_bytes(77);
  ASSERT_EQ((*writer)->AddTransfer(transfer), absl::OkStatus());
  ASSERT_EQ((*writer)->BeginLaunch(MakeLaunch(1, 2, 8)), absl::OkStatus());
  ASSERT_EQ(AddWhole(**writer, 0, RandomBlock(**second, 1, 0, 8)), absl::OkStatus());
  ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  v1::Launch skipped = MakeLaunch(0, 4, 8);
  skipped.set_recorded(false);
  ASSERT_EQ((*writer)->BeginLaunch(skipped), absl::OkStatus());
  v1::Certificate certificate;
  certificate.set_launch(0);
  certificate.set_runs(3);
  ASSERT_EQ((*writer)->AddCertificate(certificate), absl::OkStatus());
  v1::Annotation annotation;
  annotation.set_key("note");
  ASSERT_EQ((*writer)->AddAnnotation(annotation), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  auto reader = TraceReader::Open(file.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_EQ((*reader)->launches().size(), 2);
  EXPECT_EQ((*reader)->launches()[0].program->name(), (*second)->name());
  EXPECT_FALSE((*reader)->launches()[1].launch.recorded());
  EXPECT_TRUE((*reader)->launches()[1].chunks.empty());
  ASSERT_EQ((*reader)->transfers().size(), 1);
  EXPECT_EQ((*reader)->transfers()[0].bytes(), 77);
  EXPECT_EQ((*reader)->launches()[0].transfers_before, 1);
  EXPECT_EQ((*reader)->launches()[1].transfers_before, 1);
  EXPECT_EQ((*reader)->certificates().size(), 1);
  EXPECT_EQ((*reader)->annotations().size(), 1);
}

}  // namespace
}  // namespace heddle::trace
