// Threads whose addresses are those of the first one on their path, moved by a distance per instruction, are kept as
// these distances. Whatever they do, and in whatever segments they come, nothing may be lost, and the file may not
// tell.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/traces/program_builder.h"
#include "traces/format/chunk/pending_chunk.h"
#include "traces/format/chunk/segmented_block.h"

namespace heddle::trace {
namespace {

using testing::ProgramBuilder;

// A loop around a load and, every other time, three accesses in a row, then a store.
Program Nest() {
  ProgramBuilder nest("nest");
  nest.Block("head").Alu().Branch("exit", "body");
  nest.Block("body").Load().Branch("next", "more");
  nest.Block("more").Load().Load().Store().Jump("next");
  nest.Block("next").Alu().Jump("head");
  nest.Block("exit").Store().Exit();
  return nest.Create();
}

struct Thread {
  std::vector<uint8_t> decisions;
  std::vector<uint32_t> loads;  // by access: which of the program's five
  std::vector<uint64_t> addresses;
};

// `takes_more` tells for each round whether it has the three accesses.
Thread Run(uint64_t rounds, const std::function<bool(uint64_t round)>& takes_more,
           const std::function<uint64_t(uint32_t load, uint64_t round)>& address) {
  Thread thread;
  const auto access = [&](uint32_t load, uint64_t round) {
    thread.loads.push_back(load);
    thread.addresses.push_back(address(load, round));
  };
  for (uint64_t round = 0; round < rounds; ++round) {
    thread.decisions.push_back(1);
    access(0, round);
    thread.decisions.push_back(takes_more(round) ? 1 : 0);
    if (!takes_more(round)) continue;
    for (uint32_t load = 1; load < 4; ++load) access(load, round);
  }
  thread.decisions.push_back(0);
  access(4, rounds);
  return thread;
}

// What threads of one block do: some alike, some not, on a few paths.
std::vector<Thread> RandomBlock(std::mt19937_64& random, size_t threads) {
  std::vector<Thread> block;
  const uint64_t kinds = 1 + random() % 3;
  std::vector<uint64_t> rounds;
  for (uint64_t k = 0; k < kinds; ++k) rounds.push_back(random() % 40);
  const uint64_t mostly_alike = random() % 3;
  for (size_t t = 0; t < threads; ++t) {
    const uint64_t kind = random() % kinds;
    uint64_t bases[5];
    for (uint64_t& base : bases) base = random() >> (random() % 2 == 0 ? 1 : 40);  // far apart or not
    const uint64_t wrong_round = random() % (mostly_alike == 0 ? 2 : 200);
    const auto wrong_load = static_cast<uint32_t>(random() % 5);
    block.push_back(Run(
        rounds[kind], [kind](uint64_t round) { return (round >> kind) % 2 == 0; },
        [&](uint32_t load, uint64_t round) {
          const bool wrong = round == wrong_round && load == wrong_load;
          return bases[load] + 4 * round * load + (wrong ? 1 : 0);
        }));
  }
  return block;
}

// The block's addresses as threads that wait for each other leave them: at random places, by threads in random order.
struct Segments {
  std::vector<SegmentRun> runs;
  std::vector<uint64_t> addresses;
  std::vector<ThreadRecord> threads;
  std::vector<uint64_t> counts;
  SegmentedBlock block() const { return {runs, addresses.data(), threads, counts}; }
};
Segments Cut(const std::vector<Thread>& threads, std::mt19937_64& random) {
  Segments cut;
  cut.runs.emplace_back();  // as a log has it
  std::vector<size_t> done(threads.size(), 0);
  for (bool any = true; any;) {
    any = false;
    const size_t length = 1 + random() % 50;
    const bool backwards = random() % 4 == 0;
    for (size_t i = 0; i < threads.size(); ++i) {
      const size_t t = backwards ? threads.size() - 1 - i : i;
      const size_t count = std::min(random() % 8 == 0 ? 1 : length, threads[t].addresses.size() - done[t]);
      if (count == 0) continue;
      any = true;
      const uint64_t* const from = threads[t].addresses.data() + done[t];
      cut.addresses.insert(cut.addresses.end(), from, from + count);
      done[t] += count;
      SegmentRun& last = cut.runs.back();
      if (last.first_thread + last.threads == t && last.addresses == count) {
        ++last.threads;
      } else {
        cut.runs.push_back({static_cast<uint32_t>(t), 1, static_cast<uint32_t>(count), 0});
      }
    }
  }
  for (const Thread& thread : threads) {
    cut.threads.push_back({thread.decisions, {}});
    cut.counts.push_back(thread.addresses.size());
  }
  return cut;
}

void ExpectKept(const PendingChunk& chunk, const std::vector<Thread>& threads) {
  ASSERT_EQ(chunk.path_of_thread().size(), threads.size());
  std::vector<uint64_t> room;
  uint64_t accesses = 0;
  for (size_t t = 0; t < threads.size(); ++t) {
    SCOPED_TRACE(t);
    const PendingPath& path = chunk.paths()[chunk.path_of_thread()[t]];
    ASSERT_EQ(path.accesses, threads[t].addresses.size());
    const uint64_t* const kept = chunk.addresses().Of(t, room);
    EXPECT_EQ(std::vector<uint64_t>(kept, kept + path.accesses), threads[t].addresses);
    accesses += path.accesses;
  }
  EXPECT_EQ(chunk.addresses().accesses(), accesses);
}

TEST(MovedThreads, KeepTheirAddresses) {
  std::mt19937_64 random(5);
  const Program program = Nest();
  for (int repetition = 0; repetition < 60; ++repetition) {
    SCOPED_TRACE(repetition);
    PendingChunk chunk;
    PendingChunk segmented;
    chunk.Reset(&program);
    segmented.Reset(&program);
    std::vector<Thread> all;
    for (int b = 0; b < 3; ++b) {
      const std::vector<Thread> block = RandomBlock(random, 40);
      const Segments cut = Cut(block, random);
      for (const Thread& thread : block) {
        ASSERT_TRUE(chunk.AddWholeThread({thread.decisions, thread.addresses}, ~uint64_t{0}).ok());
        ASSERT_TRUE(segmented.AddThreadOfBlock(thread.decisions, thread.addresses.size(), ~uint64_t{0}).ok());
      }
      std::vector<AddressBounds> bounds;
      segmented.AddAddresses(cut.block(), bounds);
      for (const Thread& thread : block) {
        for (const uint64_t address : thread.addresses) {
          EXPECT_TRUE(bounds.empty() || std::ranges::any_of(bounds, [address](const AddressBounds& b) {
                        return b.lowest > b.highest || (b.lowest <= address && address <= b.highest);
                      }));
        }
      }
      all.insert(all.end(), block.begin(), block.end());
    }
    ExpectKept(chunk, all);
    ExpectKept(segmented, all);
  }
}

// 32 threads along one array, each 64 bytes behind the one before.
std::vector<Thread> Alike() {
  std::vector<Thread> block;
  for (uint64_t t = 0; t < 32; ++t) {
    block.push_back(Run(
        20, [](uint64_t round) { return round % 2 == 1; },
        [t](uint32_t load, uint64_t round) { return 4096 * (load + 1) + 64 * t + 4 * round; }));
  }
  return block;
}

TEST(MovedThreads, OnlyDistancesAreKeptOfThem) {
  const Program program = Nest();
  PendingChunk chunk;
  chunk.Reset(&program);
  std::vector<Thread> block = Alike();
  block[7].addresses[11] += 4;
  for (const Thread& thread : block) {
    ASSERT_TRUE(chunk.AddWholeThread({thread.decisions, thread.addresses}, ~uint64_t{0}).ok());
  }
  for (size_t t = 0; t < block.size(); ++t) {
    if (t == 0 || t == 7) {
      EXPECT_TRUE(chunk.addresses().moves(t).empty());
    } else {
      EXPECT_EQ(std::vector<uint64_t>(chunk.addresses().moves(t).begin(), chunk.addresses().moves(t).end()),
                std::vector<uint64_t>(5, 64 * t));
    }
  }
  ExpectKept(chunk, block);
}

std::vector<AddressBounds> RangesOf(const std::vector<Thread>& block) {
  std::mt19937_64 random(9);
  const Program program = Nest();
  PendingChunk chunk;
  chunk.Reset(&program);
  for (const Thread& thread : block) {
    EXPECT_TRUE(chunk.AddThreadOfBlock(thread.decisions, thread.addresses.size(), ~uint64_t{0}).ok());
  }
  std::vector<AddressBounds> bounds;
  chunk.AddAddresses(Cut(block, random).block(), bounds);
  ExpectKept(chunk, block);
  return bounds;
}

TEST(MovedThreads, TellTheRangesOfABlock) {
  const std::vector<AddressBounds> bounds = RangesOf(Alike());
  // Of the first thread, and of all others: by instruction in the order in which they are met.
  ASSERT_EQ(bounds.size(), 10u);
  EXPECT_EQ(bounds[0].lowest, 4096u);
  EXPECT_EQ(bounds[0].highest, 4096u + 4 * 19);
  EXPECT_EQ(bounds[5].lowest, 4096u + 64);
  EXPECT_EQ(bounds[5].highest, 4096u + 64 * 31 + 4 * 19);
  EXPECT_EQ(bounds[6].lowest, 2 * 4096u + 64 + 4);
  EXPECT_EQ(bounds[9].highest, 5 * 4096u + 64 * 31 + 4 * 20);
}

TEST(MovedThreads, ThoseThatScatterTellNoRanges) {
  std::mt19937_64 random(9);
  std::vector<Thread> block = Alike();
  for (Thread& thread : block) {
    for (uint64_t& address : thread.addresses) address += random() % 1000;
  }
  EXPECT_TRUE(RangesOf(block).empty());
}

std::string Written(bool in_segments) {
  testing::TemporaryFile file("moved");
  std::mt19937_64 random(11);
  std::mt19937_64 cuts(12);
  const Program program = Nest();
  auto writer = TraceWriter::Create(file.path(), testing::MakeHeader(), {.chunk_accesses = 4000});
  EXPECT_TRUE(writer.ok()) << writer.status();
  EXPECT_EQ((*writer)->AddProgram(program.proto()).status(), absl::OkStatus());
  EXPECT_EQ((*writer)->BeginLaunch(testing::MakeLaunch(0, 40, 40)), absl::OkStatus());
  for (uint64_t b = 0; b < 40; ++b) {
    const std::vector<Thread> block = RandomBlock(random, 40);
    absl::Status status;
    if (in_segments) {
      std::vector<AddressBounds> bounds;
      status = (*writer)->AddBlock(b, Cut(block, cuts).block(), TraceWriter::kNoExpectation, bounds);
    } else {
      std::vector<ThreadRecord> records;
      for (const Thread& thread : block) records.push_back({thread.decisions, thread.addresses});
      status = (*writer)->AddBlock(b, records, TraceWriter::kNoExpectation);
    }
    EXPECT_EQ(status, absl::OkStatus());
  }
  EXPECT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
  return testing::ReadFile(file.path());
}

TEST(MovedThreads, SegmentsMakeTheSameFile) {
  const std::string whole = Written(false);
  EXPECT_GT(whole.size(), 1000u);
  EXPECT_TRUE(Written(true) == whole);
}

TEST(MovedThreads, ASegmentedBlockIsCheckedAsAnyOther) {
  testing::TemporaryFile file("moved");
  std::mt19937_64 random(1);
  const Program program = Nest();
  auto writer = TraceWriter::Create(file.path(), testing::MakeHeader());
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE((*writer)->AddProgram(program.proto()).ok());
  ASSERT_TRUE((*writer)->BeginLaunch(testing::MakeLaunch(0, 4, 32)).ok());
  std::vector<Thread> block = Alike();
  block[5].addresses.pop_back();
  const Segments cut = Cut(block, random);
  std::vector<AddressBounds> bounds;
  const absl::Status status = (*writer)->AddBlock(0, cut.block(), TraceWriter::kNoExpectation, bounds);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find("block 0, thread 5: the path has 51 accesses, but 50 were given"), std::string::npos)
      << status;
}

}  // namespace
}  // namespace heddle::trace
