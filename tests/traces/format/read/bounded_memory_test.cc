// Memory of writers and readers depends neither on the length of a trace, nor on the number of its blocks, nor on how
// long a single thread is. Each piece of work runs in a process of its own, whose largest resident set counts.
//
// HEDDLE_MEMORY_FULL=1 asks for the full sizes: 10^10 thread-instructions, 10^6 blocks, a thread of 10^9 instructions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "tests/traces/program_builder.h"
#include "traces/format/read/chunk_prefetcher.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::trace {
namespace {

using testing::MakeHeader;
using testing::MakeLaunch;
using testing::ProgramBuilder;
using testing::TemporaryFile;

// The bounds that docs/reference/format.md states, in MiB.
constexpr double kMostWriting = 64;
constexpr double kMostReading = 48;

// A trace that is as long as asked.
struct Shape {
  const char* name;
  uint64_t small;  // thread-instructions by default
  uint64_t full;   // and with HEDDLE_MEMORY_FULL
  std::function<absl::Status(TraceWriter&, uint64_t)> write;
};

// Most MiB that a process has resident which does nothing but `work`; negative if that fails.
double PeakOf(const std::function<absl::Status()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    const absl::Status status = work();
    if (!status.ok()) fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    _exit(status.ok() ? 0 : 1);
  }
  int exit_status = 1;
  rusage usage{};
  if (child < 0 || wait4(child, &exit_status, 0, &usage) != child || exit_status != 0) return -1;
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// One loop, from whose end a thread goes on (decision 1) or exits (0); `instructions` per round, one of them a load.
v1::KernelProgram Loop(int instructions) {
  return ProgramBuilder("loop")
      .Block("round")
      .Load()
      .Alu(instructions - 2)
      .Branch("exit", "round")
      .Block("exit")
      .Exit()
      .Build();
}

uint64_t AddressOf(uint64_t thread, uint64_t round) { return (uint64_t{1} << 40) + 4 * thread + 4096 * round; }

// Blocks of `threads` threads, each of which runs the loop `rounds` times.
absl::Status WriteBlocks(TraceWriter& writer, int instructions, uint64_t rounds, uint32_t threads, uint64_t total) {
  const uint64_t per_block = threads * (rounds * static_cast<uint64_t>(instructions) + 1);
  const uint64_t blocks = (total + per_block - 1) / per_block;
  if (auto added = writer.AddProgram(Loop(instructions)); !added.ok()) return added.status();
  absl::Status status = writer.BeginLaunch(MakeLaunch(0, static_cast<uint32_t>(blocks), threads));
  std::vector<uint8_t> decisions(rounds, 1);
  decisions.back() = 0;
  std::vector<uint64_t> addresses(threads * rounds);
  std::vector<ThreadRecord> records(threads);
  for (uint64_t block = 0; block < blocks; ++block) {
    for (uint64_t t = 0; t < threads; ++t) {
      for (uint64_t k = 0; k < rounds; ++k) addresses[t * rounds + k] = AddressOf(block * threads + t, k);
      records[t] = {decisions, std::span(addresses).subspan(t * rounds, rounds)};
    }
    status.Update(writer.AddBlock(block, records, per_block));
    if (!status.ok()) return status;
  }
  return status;
}

// One thread that never leaves the loop until it has run `total` instructions, in parts of about a chunk each.
absl::Status WriteLongThread(TraceWriter& writer, uint64_t total) {
  constexpr int kInstructions = 20;
  constexpr uint64_t kRoundsAtOnce = 50'000;
  if (auto added = writer.AddProgram(Loop(kInstructions)); !added.ok()) return added.status();
  absl::Status status = writer.BeginLaunch(MakeLaunch(0, 1, 1));
  const uint64_t rounds = total / kInstructions;
  std::vector<uint8_t> decisions;
  std::vector<uint64_t> addresses;
  for (uint64_t round = 0; round < rounds && status.ok(); round += kRoundsAtOnce) {
    const uint64_t count = std::min(kRoundsAtOnce, rounds - round);
    const bool last = round + count == rounds;
    decisions.assign(count, 1);
    if (last) decisions.back() = 0;
    addresses.clear();
    for (uint64_t k = 0; k < count; ++k) addresses.push_back(AddressOf(0, (round + k) * 7919 % 100'003));
    const ThreadRecord record = {decisions, addresses, last};
    uint64_t consumed = 0;
    status = writer.AddBlockPart(0, std::span(&record, 1), last, std::span(&consumed, 1));
  }
  return status;
}

absl::Status Write(const std::string& path, const Shape& shape, uint64_t total) {
  auto writer = TraceWriter::Create(path, MakeHeader(), {.threads = 2});
  if (!writer.ok()) return writer.status();
  absl::Status status = shape.write(**writer, total);
  status.Update((*writer)->EndLaunch());
  status.Update((*writer)->Finish());
  return status;
}

// Decodes all chunks, ahead of their use as a replay does, and counts what is in them.
absl::Status Read(const std::string& path, uint64_t at_least) {
  auto reader = TraceReader::Open(path);
  if (!reader.ok()) return reader.status();
  ChunkPrefetcher prefetcher(**reader);
  auto chunk = std::make_unique<DecodedChunk>();
  uint64_t total = 0;
  for (const v1::ChunkReference& reference : (*reader)->index().chunk()) {
    if (absl::Status status = prefetcher.Read(reference, chunk); !status.ok()) return status;
    total += chunk->thread_instructions;
  }
  return total >= at_least ? absl::OkStatus() : absl::DataLossError("thread-instructions are missing");
}

class BoundedMemory : public ::testing::TestWithParam<Shape> {};

TEST_P(BoundedMemory, DoesNotGrowWithTheTrace) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizers' own memory would count";
#endif
  const Shape& shape = GetParam();
  const uint64_t total = getenv("HEDDLE_MEMORY_FULL") != nullptr ? shape.full : shape.small;
  double writing[2];
  double reading[2];
  for (int i = 0; i < 2; ++i) {
    const uint64_t size = i == 0 ? total / 8 : total;
    TemporaryFile file("memory");
    writing[i] = PeakOf([&] { return Write(file.path(), shape, size); });
    reading[i] = PeakOf([&] { return Read(file.path(), size); });
    printf("%s, %.1e thread-instructions: writing %.0f MiB, reading %.0f MiB\n", shape.name, static_cast<double>(size),
           writing[i], reading[i]);
    ASSERT_GT(writing[i], 0);
    ASSERT_GT(reading[i], 0);
    EXPECT_LE(writing[i], kMostWriting);
    EXPECT_LE(reading[i], kMostReading);
  }
  // The index has some 60 bytes per chunk; nothing else may stay.
  constexpr double kSlack = 12;
  EXPECT_LE(writing[1], writing[0] + kSlack);
  EXPECT_LE(reading[1], reading[0] + kSlack);
}

INSTANTIATE_TEST_SUITE_P(Shapes, BoundedMemory,
                         ::testing::Values(Shape{"many_instructions", 400'000'000, 10'000'000'000,
                                                 [](TraceWriter& writer, uint64_t total) {
                                                   return WriteBlocks(writer, 500, 20, 64, total);
                                                 }},
                                           // 10^6 blocks of a warp.
                                           Shape{"many_blocks", 16'000'000, 352'000'000,
                                                 [](TraceWriter& writer, uint64_t total) {
                                                   return WriteBlocks(writer, 10, 1, 32, total);
                                                 }},
                                           Shape{"long_thread", 50'000'000, 1'000'000'000, WriteLongThread}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace heddle::trace
