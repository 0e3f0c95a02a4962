// The writer: nothing under the final name before it is complete, nothing left after a failure, misuse named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/traces/program_builder.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::MakeHeader;
using testing::MakeLaunch;
using testing::ProgramBuilder;
using testing::TemporaryFile;
namespace fs = std::filesystem;

// Files whose names start with the target's: the target itself and temporary ones.
int FilesBeside(const std::string& path) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path())) {
    count += entry.path().filename().string().starts_with(fs::path(path).filename().string());
  }
  return count;
}

v1::KernelProgram Loop() {
  return ProgramBuilder("loop").Block("h").Alu().Load().Branch("x", "h").Block("x").Store().Exit().Build();
}

struct OpenWriter {
  explicit OpenWriter(const std::string& path, bool launch = true) {
    auto created = TraceWriter::Create(path, MakeHeader());
    EXPECT_TRUE(created.ok()) << created.status();
    writer = *std::move(created);
    EXPECT_TRUE(writer->AddProgram(Loop()).ok());
    if (launch) {
      EXPECT_EQ(writer->BeginLaunch(MakeLaunch(0, 10, 1)), absl::OkStatus());
    }
  }
  absl::Status Add(uint64_t block, std::vector<uint8_t> decisions, std::vector<uint64_t> addresses,
                   uint64_t expected = TraceWriter::kNoExpectation) {
    const ThreadRecord record{decisions, addresses};
    return writer->AddBlock(block, std::span(&record, 1), expected);
  }
  std::unique_ptr<TraceWriter> writer;
};

TEST(Atomicity, TheFinalNameAppearsWithFinishOnly) {
  TemporaryFile file("atomic");
  {
    OpenWriter open(file.path());
    ASSERT_EQ(open.Add(0, {1, 0}, {8, 16, 24}), absl::OkStatus());
    ASSERT_EQ(open.writer->EndLaunch(), absl::OkStatus());
    EXPECT_FALSE(fs::exists(file.path()));
    EXPECT_EQ(FilesBeside(file.path()), 1) << "the temporary file";
    ASSERT_EQ(open.writer->Finish(), absl::OkStatus());
    EXPECT_TRUE(fs::exists(file.path()));
    EXPECT_EQ(open.writer->totals().bytes, fs::file_size(file.path()));
    EXPECT_FALSE(open.writer->AddAnnotation({}).ok());
  }
  EXPECT_EQ(FilesBeside(file.path()), 1) << "the trace";
}

TEST(Atomicity, AnAbortedWriterLeavesNothingAndKeepsAnOlderFile) {
  TemporaryFile file("abort");
  {
    OpenWriter open(file.path());
    ASSERT_EQ(open.Add(0, {0}, {8, 16}), absl::OkStatus());
  }
  EXPECT_EQ(FilesBeside(file.path()), 0);
  ASSERT_EQ(testing::WriteRandomTrace(file.path(), Loop(), 1, 1, 4), absl::OkStatus());
  const std::string before = testing::ReadFile(file.path());
  {
    OpenWriter open(file.path());
  }
  EXPECT_EQ(testing::ReadFile(file.path()), before);
  EXPECT_EQ(FilesBeside(file.path()), 1);
}

// A launch that failed is taken back with all its chunks: the file is the same as if it had never begun.
TEST(Abandoning, ALaunchLeavesNothingBehind) {
  const auto write = [](const std::string& path, unsigned threads, bool abandon) {
    WriterOptions options;
    options.threads = threads;
    options.chunk_accesses = 2;  // a chunk per block
    auto writer = TraceWriter::Create(path, MakeHeader(), options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE((*writer)->AddProgram(Loop()).ok());
    const std::vector<uint8_t> decisions = {1, 0};
    const std::vector<uint64_t> addresses = {8, 16, 24};
    const ThreadRecord record{decisions, addresses};
    const auto add = [&](uint64_t blocks) {
      for (uint64_t block = 0; block < blocks; ++block) {
        ASSERT_EQ((*writer)->AddBlock(block, std::span(&record, 1), TraceWriter::kNoExpectation), absl::OkStatus());
      }
    };
    ASSERT_EQ((*writer)->BeginLaunch(MakeLaunch(0, 10, 1)), absl::OkStatus());
    add(10);
    ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
    const WriterTotals before = (*writer)->totals();
    if (abandon) {
      ASSERT_EQ((*writer)->BeginLaunch(MakeLaunch(0, 10, 1)), absl::OkStatus());
      add(7);
      uint64_t consumed = 0;
      const ThreadRecord part{std::span(decisions).first(1), std::span(addresses).first(1)};
      ASSERT_EQ((*writer)->AddBlockPart(7, std::span(&part, 1), false, std::span(&consumed, 1)), absl::OkStatus());
      ASSERT_EQ((*writer)->AbandonLaunch(), absl::OkStatus());
      EXPECT_EQ((*writer)->totals().blocks, before.blocks);
      EXPECT_EQ((*writer)->totals().thread_instructions, before.thread_instructions);
    }
    ASSERT_EQ((*writer)->BeginLaunch(MakeLaunch(0, 3, 1)), absl::OkStatus());
    add(3);
    ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
    ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  };
  for (unsigned threads : {1u, 3u}) {
    TemporaryFile with("abandoned");
    TemporaryFile without("never_begun");
    write(with.path(), threads, true);
    write(without.path(), threads, false);
    auto abandoned = TraceReader::Open(with.path());
    auto never_begun = TraceReader::Open(without.path());
    ASSERT_TRUE(abandoned.ok()) << abandoned.status();
    ASSERT_TRUE(never_begun.ok()) << never_begun.status();
    EXPECT_EQ((*abandoned)->launches().size(), 2u);
    EXPECT_EQ((*abandoned)->digest(), (*never_begun)->digest());
    EXPECT_EQ(fs::file_size(with.path()), fs::file_size(without.path()));
  }
}

TEST(Abandoning, ClearsTheErrorOfABlockButNeedsAnOpenLaunch) {
  TemporaryFile file("clears");
  OpenWriter open(file.path());
  ASSERT_FALSE(open.Add(0, {1, 0}, {8}).ok());
  ASSERT_EQ(open.writer->AbandonLaunch(), absl::OkStatus());
  ASSERT_EQ(open.writer->BeginLaunch(MakeLaunch(0, 10, 1)), absl::OkStatus());
  ASSERT_EQ(open.Add(0, {1, 0}, {8, 16, 24}), absl::OkStatus());
  ASSERT_EQ(open.writer->EndLaunch(), absl::OkStatus());
  EXPECT_THAT(std::string(open.writer->AbandonLaunch().message()), HasSubstr("no launch is open"));
}

TEST(Atomicity, DevicesAndDirectoriesAreNotReplaced) {
  EXPECT_THAT(std::string(TraceWriter::Create("/dev/null", MakeHeader()).status().message()),
              HasSubstr("not a regular file"));
  EXPECT_THAT(std::string(TraceWriter::Create("/tmp", MakeHeader()).status().message()),
              HasSubstr("not a regular file"));
  EXPECT_TRUE(absl::IsNotFound(TraceWriter::Create("/nonexistent/a.htrace", MakeHeader()).status()));
}

TEST(Atomicity, FilesThatAreNoTracesAreNotReplaced) {
  std::string compressed(1000, '\0');
  const std::string others = "\nwhat somebody else has compressed";
  compressed.resize(ZSTD_compress(compressed.data(), compressed.size(), others.data(), others.size(), 3));
  for (const std::string& contents : {std::string("notes\n"),
                                      std::string("\x7f"
                                                  "ELF"),
                                      std::string(1, '\n'), compressed}) {
    TemporaryFile file("notes.txt");
    std::ofstream(file.path(), std::ios::binary) << contents;
    const absl::Status status = TraceWriter::Create(file.path(), MakeHeader()).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(file.path()), HasSubstr(absl::StrCat(contents.size(), " bytes")),
                      HasSubstr("no Heddle trace"), HasSubstr("choose another name, or remove it")));
    EXPECT_EQ(testing::ReadFile(file.path()), contents);
    EXPECT_EQ(FilesBeside(file.path()), 1);
  }
}

TEST(Atomicity, EmptyFilesAndTracesAreReplacedEvenWhereTheyAreDamaged) {
  TemporaryFile whole("whole");
  ASSERT_EQ(testing::WriteRandomTrace(whole.path(), Loop(), 1, 4, 32), absl::OkStatus());
  const std::string trace = testing::ReadFile(whole.path());
  std::string damaged = trace;
  for (size_t i = 20; i < 40; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  for (const std::string& contents :
       {std::string(), trace, trace.substr(0, trace.size() / 2), trace.substr(0, 50), damaged}) {
    TemporaryFile file("older");
    std::ofstream(file.path(), std::ios::binary) << contents;
    EXPECT_EQ(testing::WriteRandomTrace(file.path(), Loop(), 1, 4, 32), absl::OkStatus()) << contents.size();
    EXPECT_EQ(testing::ReadFile(file.path()), trace);
  }
}

TEST(FullDisk, IsAClearErrorThatStays) {
  TemporaryFile file("full");
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit = old_limit;
  limit.rlim_cur = 2048;
  {
    OpenWriter open(file.path());
    setrlimit(RLIMIT_FSIZE, &limit);
    absl::Status status;
    for (uint64_t block = 0; block < 10 && status.ok(); ++block) {
      std::vector<uint8_t> decisions(300'000, 1);
      std::vector<uint64_t> addresses;
      uint64_t random = block;
      for (size_t i = 0; i <= decisions.size(); ++i) {
        addresses.push_back(random = random * 0x2545f4914f6cdd1d + 1442695040888963407);
      }
      decisions.push_back(0);
      addresses.push_back(1);
      status = open.Add(block, decisions, addresses);
    }
    setrlimit(RLIMIT_FSIZE, &old_limit);
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("free some space"));
    EXPECT_EQ(open.writer->EndLaunch(), status) << "every further call returns the same error";
    EXPECT_EQ(open.writer->Finish(), status);
  }
  EXPECT_EQ(FilesBeside(file.path()), 0);
}

TEST(Misuse, IsNamedWithLaunchBlockAndThread) {
  const auto error = [](auto&& use) {
    TemporaryFile file("misuse");
    OpenWriter open(file.path());
    const absl::Status status = use(open);
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  };
  EXPECT_THAT(error([](OpenWriter& o) { return o.Add(10, {0}, {1, 2}); }), HasSubstr("block 10: the grid has 10"));
  EXPECT_THAT(error([](OpenWriter& o) { return o.Add(3, {1}, {1, 2}); }),
              HasSubstr("launch 0, block 3, thread 0: a block asks for a decision"));
  EXPECT_THAT(error([](OpenWriter& o) { return o.Add(3, {0, 0}, {1, 2}); }), HasSubstr("before its last decision"));
  EXPECT_THAT(error([](OpenWriter& o) { return o.Add(3, {2}, {1, 2}); }), HasSubstr("does not exist"));
  EXPECT_THAT(error([](OpenWriter& o) { return o.Add(3, {0}, {1}); }), HasSubstr("has 2 accesses, but 1"));
  EXPECT_THAT(error([](OpenWriter& o) { return o.Add(3, {0}, {1, 2}, 6); }), HasSubstr("6 were counted"));
  EXPECT_THAT(error([](OpenWriter& o) {
                (void)o.Add(3, {0}, {1, 2});
                return o.Add(3, {0}, {1, 2});
              }),
              HasSubstr("in order"));
  EXPECT_THAT(error([](OpenWriter& o) { return o.writer->AddBlock(3, {}, 0); }), HasSubstr("0 threads given"));
  EXPECT_THAT(error([](OpenWriter& o) { return o.writer->Finish(); }), HasSubstr("still open"));
  EXPECT_THAT(error([](OpenWriter& o) { return o.writer->BeginLaunch(MakeLaunch(0, 1, 1)); }), HasSubstr("still open"));
  EXPECT_THAT(error([](OpenWriter& o) { return o.writer->AddTransfer({}); }), HasSubstr("between launches"));
  EXPECT_THAT(error([](OpenWriter& o) {
                (void)o.writer->EndLaunch();
                return o.writer->BeginLaunch(MakeLaunch(7, 1, 1));
              }),
              HasSubstr("program 7"));
  EXPECT_THAT(error([](OpenWriter& o) {
                const std::vector<uint8_t> decisions = {1};
                const std::vector<uint64_t> addresses = {1};
                const ThreadRecord record{decisions, addresses};
                uint64_t consumed = 0;
                return o.writer->AddBlockPart(0, std::span(&record, 1), true, std::span(&consumed, 1));
              }),
              HasSubstr("does not reach its exit"));
}

TEST(LongBlocks, MustBeAddedInParts) {
  TemporaryFile file("long");
  OpenWriter open(file.path());
  std::vector<uint8_t> decisions(6'000'000, 1);
  decisions.push_back(0);
  const std::vector<uint64_t> addresses(decisions.size() + 1, 64);
  EXPECT_THAT(std::string(open.Add(0, decisions, addresses).message()), HasSubstr("in parts"));
}

uint64_t PeakKilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss);
}

// 300 M thread-instructions, half of them in blocks, half in parts of one thread: writing and reading stay small.
TEST(Memory, IsBoundedByChunksWhateverTheLaunch) {
  TemporaryFile file("memory");
  const uint64_t before = PeakKilobytes();
  auto writer = TraceWriter::Create(file.path(), MakeHeader());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->AddProgram(Loop()).ok());
  ASSERT_EQ((*writer)->BeginLaunch(MakeLaunch(0, 100'000, 64)), absl::OkStatus());
  std::vector<uint8_t> decisions(500, 1);
  decisions.push_back(0);
  std::vector<uint64_t> addresses(502);
  std::vector<ThreadRecord> records(64, ThreadRecord{decisions, addresses});
  for (uint64_t block = 0; block < 1500; ++block) {
    for (size_t i = 0; i < addresses.size(); ++i) addresses[i] = block * 4 + i * (1 + block % 7) * 64;
    ASSERT_EQ((*writer)->AddBlock(block, records, 64 * 1505), absl::OkStatus());
  }
  std::vector<uint64_t> consumed(64);
  const std::vector<uint8_t> on(5000, 1), end = {0};
  const std::vector<uint64_t> on_addresses(5000, 256), end_addresses(2, 256);
  for (int part = 0; part <= 150; ++part) {
    const bool last = part == 150;
    records.assign(64, last ? ThreadRecord{end, end_addresses} : ThreadRecord{on, on_addresses});
    ASSERT_EQ((*writer)->AddBlockPart(1500, records, last, std::span(consumed)), absl::OkStatus());
  }
  ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  EXPECT_GT((*writer)->totals().thread_instructions, 250'000'000);
  writer->reset();
  auto reader = TraceReader::Open(file.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  DecodedChunk chunk;
  uint64_t instructions = 0;
  for (const v1::ChunkReference& reference : (*reader)->launches()[0].chunks) {
    ASSERT_EQ((*reader)->ReadChunk(reference, chunk), absl::OkStatus());
    instructions += chunk.thread_instructions;
    EXPECT_LE(chunk.thread_instructions, kMaxChunkThreadInstructions);
  }
  EXPECT_EQ(instructions, (*reader)->index().thread_instructions());
  EXPECT_LT(PeakKilobytes() - before, 200'000);
}

}  // namespace
}  // namespace heddle::trace
