// The encoder expects columns to be what they were in earlier chunks, and does not sort the addresses of those that
// still are. Here they change behind the first chunks, each in a way of its own, and nothing may be lost.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/traces/program_builder.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {
namespace {

using testing::ProgramBuilder;

constexpr uint32_t kThreads = 64;
constexpr uint32_t kBlocks = 8;  // each of them a chunk; the first two try all models
constexpr uint32_t kRounds = 12;
constexpr uint64_t kArray = 0x700000000;

Program ThreeLoads() {
  ProgramBuilder loads("loads");
  loads.Block("head").Alu().Branch("exit", "body");
  loads.Block("body").Load().Load().Load().Jump("head");
  loads.Block("exit").Exit();
  return loads.Create();
}

struct Access {
  uint64_t block = 0;
  uint64_t thread = 0;
  uint64_t round = 0;
  uint32_t load = 0;
};
using Address = std::function<uint64_t(const Access&)>;

uint64_t Scattered(uint64_t number) { return kArray + (number * 0x9e3779b97f4a7c15 >> 40) * 4; }
uint64_t NumberOf(const Access& a) { return (a.block * kThreads + a.thread) * kRounds + a.round; }

// Models of the three columns, by chunk, of launches of one program. Adds a failure where what is read is not what was
// written.
std::vector<std::vector<v1::AddressColumn::Model>> WriteAndRead(const std::vector<Address>& launches,
                                                                const std::function<uint64_t(uint64_t)>& rounds) {
  testing::TemporaryFile file("expected");
  const Program program = ThreeLoads();
  auto writer = TraceWriter::Create(file.path(), testing::MakeHeader(), {.chunk_thread_instructions = 1});
  EXPECT_TRUE(writer.ok()) << writer.status();
  EXPECT_EQ((*writer)->AddProgram(program.proto()).status(), absl::OkStatus());
  std::vector<std::vector<uint64_t>> expected;
  for (const Address& address : launches) {
    EXPECT_EQ((*writer)->BeginLaunch(testing::MakeLaunch(0, kBlocks, kThreads)), absl::OkStatus());
    for (uint64_t block = 0; block < kBlocks; ++block) {
      std::vector<std::vector<uint64_t>> addresses(kThreads);
      std::vector<std::vector<uint8_t>> decisions(kThreads);
      std::vector<ThreadRecord> records;
      for (uint64_t t = 0; t < kThreads; ++t) {
        for (uint64_t round = 0; round < rounds(t); ++round) {
          decisions[t].push_back(1);
          for (uint32_t load = 0; load < 3; ++load) addresses[t].push_back(address({block, t, round, load}));
        }
        decisions[t].push_back(0);
        records.push_back({decisions[t], addresses[t]});
        expected.push_back(addresses[t]);
      }
      EXPECT_EQ((*writer)->AddBlock(block, records, TraceWriter::kNoExpectation), absl::OkStatus());
    }
    EXPECT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  }
  EXPECT_EQ((*writer)->Finish(), absl::OkStatus());

  auto reader = TraceReader::Open(file.path());
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::vector<std::vector<v1::AddressColumn::Model>> models;
  DecodedChunk chunk;
  size_t thread = 0;
  for (const LaunchView& launch : (*reader)->launches()) {
    for (const v1::ChunkReference& reference : launch.chunks) {
      v1::BlockChunk record;
      EXPECT_EQ((*reader)->ReadChunk(reference, record), absl::OkStatus());
      EXPECT_EQ((*reader)->ReadChunk(reference, chunk), absl::OkStatus());
      models.emplace_back();
      for (const v1::AddressColumn& column : record.column()) models.back().push_back(column.model());
      for (size_t t = 0; t + 1 < chunk.first_address.size(); ++t, ++thread) {
        std::vector<uint64_t> read;
        uint64_t position = chunk.first_address[t];
        while (position < chunk.first_address[t + 1]) {
          for (const Pc pc : launch.program->accesses()) read.push_back(chunk.address(position++, pc));
        }
        EXPECT_EQ(read, expected[thread]) << "thread " << thread;
      }
    }
  }
  EXPECT_EQ(thread, launches.size() * kBlocks * kThreads);
  return models;
}

std::vector<std::vector<v1::AddressColumn::Model>> WriteAndRead(const Address& address,
                                                                const std::function<uint64_t(uint64_t)>& rounds) {
  return WriteAndRead(std::vector<Address>{address}, rounds);
}

uint64_t AllRounds(uint64_t) { return kRounds; }
uint64_t RoundsByThread(uint64_t thread) { return 1 + thread / 4 % kRounds; }  // paths of several threads, and lengths

constexpr auto kSeparable = v1::AddressColumn::SEPARABLE;
constexpr auto kRelative = v1::AddressColumn::RELATIVE;

// Lines that threads go along from places of their own.
uint64_t Line(const Access& a) { return Scattered(a.block * kThreads + a.thread) + 4 * a.round + 1024 * a.load; }

TEST(Expected, ColumnsThatStaySoKeepTheirModels) {
  for (const auto& rounds : {AllRounds, RoundsByThread}) {
    // The first is a scattered place per thread; the second lies behind it; the third goes its own, straight way.
    const auto models = WriteAndRead(
        [](const Access& a) {
          return a.load == 2 ? kArray + a.thread * 400 + a.round * 4
                             : Scattered(NumberOf({a.block, a.thread, a.round, 0})) + 8 * a.load;
        },
        rounds);
    ASSERT_EQ(models.size(), kBlocks);
    for (const auto& chunk : models) {
      EXPECT_EQ(chunk[1], kRelative);
      EXPECT_EQ(chunk[2], kSeparable);
    }
  }
}

TEST(Expected, AColumnMayStopBeingSeparable) {
  const auto models = WriteAndRead(
      [](const Access& a) { return a.block >= 4 && a.load == 1 ? Scattered(NumberOf(a)) : Line(a); }, AllRounds);
  EXPECT_EQ(models[2][0], models[5][0]);
  EXPECT_NE(models[5][1], kSeparable);
}

// By one access of one thread, the first or the last.
TEST(Expected, OneAccessIsEnough) {
  for (const uint64_t thread : {uint64_t{0}, uint64_t{kThreads - 1}}) {
    for (const uint64_t round : {0u, 5u, kRounds - 1}) {
      SCOPED_TRACE(thread * 100 + round);
      const auto models = WriteAndRead(
          [&](const Access& a) {
            const bool other = a.block == 5 && a.thread == thread && a.round == round;
            return kArray + a.thread * 400 + a.round * 4 + 65536 * a.load + (other ? 4 : 0);
          },
          AllRounds);
      for (const auto model : models[4]) EXPECT_EQ(model, kSeparable);
      for (const auto model : models[5]) EXPECT_NE(model, kSeparable);
      for (const auto model : models[6]) EXPECT_EQ(model, kSeparable);
    }
  }
}

// The second column counts from the first without residuals, then with some: now the first has to be sorted as well,
// though it is still what was expected of it.
TEST(Expected, AReferenceIsSortedWhenItIsNeeded) {
  for (const auto& rounds : {AllRounds, RoundsByThread}) {
    WriteAndRead(
        [](const Access& a) {
          const uint64_t first = Scattered(NumberOf({a.block, a.thread, a.round, 0}));
          return first + 8 * a.load + (a.block >= 4 && a.load > 0 ? 4 * (a.round % 3) : 0);
        },
        rounds);
    // The third from the second, the second from the first.
    WriteAndRead(
        [](const Access& a) {
          const uint64_t first = Scattered(NumberOf({a.block, a.thread, a.round, 0}));
          const uint64_t second = first * 2 + 16;
          const uint64_t third = second * 2 + 32 + (a.block >= 3 && a.thread == 7 ? 4 : 0);
          return a.load == 0 ? first : a.load == 1 ? second : third;
        },
        rounds);
  }
}

// The first chunk of a further launch is encoded with what is known, and anew, with all models, if that was much worse.
TEST(Expected, ALaunchUnlikeTheOneBeforeItFindsItsOwnModels) {
  const Address line = [](const Access& a) { return kArray + a.thread * 400 + a.round * 4 + 65536 * a.load; };
  const Address pairs = [](const Access& a) {
    return Scattered(NumberOf({a.block, a.thread, a.round, 0})) + 8 * a.load;
  };
  for (const auto& rounds : {AllRounds, RoundsByThread}) {
    const auto models = WriteAndRead({line, pairs, pairs, line}, rounds);
    ASSERT_EQ(models.size(), 4 * kBlocks);
    for (uint32_t chunk = 0; chunk < kBlocks; ++chunk) {
      SCOPED_TRACE(chunk);
      EXPECT_EQ(models[chunk][1], kSeparable);
      EXPECT_EQ(models[kBlocks + chunk][1], kRelative);
      EXPECT_EQ(models[2 * kBlocks + chunk][1], kRelative);
      EXPECT_EQ(models[3 * kBlocks + chunk][1], kSeparable);
    }
  }
}

TEST(Expected, ARelativeColumnMayBecomeALine) {
  for (const auto& rounds : {AllRounds, RoundsByThread}) {
    const auto models = WriteAndRead(
        [](const Access& a) {
          if (a.block >= 4) return kArray + a.thread * 400 + a.round * 4 + 8 * a.load;
          return Scattered(NumberOf({a.block, a.thread, a.round, 0})) + 8 * a.load;
        },
        rounds);
    EXPECT_EQ(models[2][1], kRelative);
    EXPECT_EQ(models[5][1], kSeparable);
  }
}

}  // namespace
}  // namespace heddle::trace
