// What blocks read and write, to the byte, against sets of bytes.
#include "tracegen/execute/parallel/footprint.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>
#include <vector>

#include "tracegen/execute/block/record_arena.h"
#include "traces/base/random.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kBase = 0x2000'0000'0000;
constexpr uint64_t kBytes = 200'000;  // several granules, the last one not full

std::unique_ptr<Footprint> Make() {
  absl::StatusOr<std::unique_ptr<Footprint>> made = Footprint::Create(kBase, kBytes);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

TEST(Footprint, NeighboursAreNoConflict) {
  const auto writer = Make();
  const auto reader = Make();
  writer->Write(kBase + 17, 1);
  reader->Read(kBase + 16, 1);
  reader->Read(kBase + 18, 2);
  reader->Read(kBase + 24, 8);
  EXPECT_FALSE(reader->ReadsWhat(*writer));
  reader->Read(kBase + 16, 2);
  EXPECT_TRUE(reader->ReadsWhat(*writer));
}

TEST(Footprint, WhatIsWrittenBeforeIsTheReadersOwn) {
  const auto writer = Make();
  const auto reader = Make();
  writer->Write(kBase + 32760, 16);  // over the end of a granule
  reader->Write(kBase + 32768, 8);
  reader->Read(kBase + 32768, 8);
  EXPECT_FALSE(reader->ReadsWhat(*writer));
  reader->Read(kBase + 32760, 16);
  EXPECT_TRUE(reader->ReadsWhat(*writer));
  EXPECT_FALSE(writer->ReadsWhat(*reader)) << "writes alone are no conflict: the later range's stay";
}

TEST(Footprint, AgreesWithSetsOfBytes) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    // Few places make conflicts likely, many unlikely.
    const uint64_t places = uint64_t{16} << random.Below(14);
    std::unique_ptr<Footprint> workers[2] = {Make(), Make()};
    std::set<uint64_t> reads[2];
    std::set<uint64_t> writes[2];
    bool expected[2] = {};
    for (int round = 0; round < 2; ++round) {
      for (int w = 0; w < 2; ++w) {
        workers[w]->Clear();
        reads[w].clear();
        writes[w].clear();
        for (uint64_t i = 0; i < 1 + random.Below(60); ++i) {
          const auto bytes = uint32_t{1} << random.Below(5);
          const uint64_t offset =
              random.Below(std::min(places, (kBytes - 16) / bytes)) * bytes % (kBytes - 16) / bytes * bytes;
          const bool read = random.Below(2) == 0;
          for (uint64_t byte = offset; byte < offset + bytes; ++byte) {
            if (!read) writes[w].insert(byte);
            if (read && !writes[w].contains(byte)) reads[w].insert(byte);
          }
          read ? workers[w]->Read(kBase + offset, bytes) : workers[w]->Write(kBase + offset, bytes);
        }
      }
      for (int w = 0; w < 2; ++w) {
        expected[w] = false;
        for (const uint64_t byte : reads[w]) expected[w] |= writes[1 - w].contains(byte);
        EXPECT_EQ(workers[w]->ReadsWhat(*workers[1 - w]), expected[w]) << "seed " << seed << ", round " << round;
        const std::string from(kBytes, 'n');
        std::string to(kBytes, 'o');
        workers[w]->CopyWritten(from.data(), to.data());
        for (uint64_t byte = 0; byte < kBytes; ++byte) {
          ASSERT_EQ(to[byte] == 'n', writes[w].contains(byte)) << "seed " << seed << ", byte " << byte;
        }
      }
    }
  }
}

TEST(Footprint, IsSharedWithAProcess) {
  const auto child = Make();
  const auto parent = Make();
  parent->Read(kBase + 4096, 4);
  const pid_t process = fork();
  if (process == 0) {
    child->Write(kBase + 4098, 1);
    _exit(0);
  }
  waitpid(process, nullptr, 0);
  EXPECT_TRUE(parent->ReadsWhat(*child));
}

// Keeps what it is given.
struct Copies final : public BlockSink {
  struct Block {
    uint64_t block;
    uint64_t instructions;
    bool last;
    std::vector<std::vector<uint64_t>> addresses;
    std::vector<std::vector<uint8_t>> decisions;
    std::vector<bool> exited;
  };
  absl::Status Add(uint64_t block, std::span<const trace::ThreadRecord> threads, uint64_t instructions, bool last) {
    Block& copy = blocks.emplace_back(Block{block, instructions, last, {}, {}, {}});
    for (const trace::ThreadRecord& thread : threads) {
      copy.addresses.emplace_back(thread.addresses.begin(), thread.addresses.end());
      copy.decisions.emplace_back(thread.decisions.begin(), thread.decisions.end());
      copy.exited.push_back(thread.exited);
    }
    return absl::OkStatus();
  }
  absl::Status AddBlock(uint64_t block, BlockRecords& threads, uint64_t instructions) override {
    return Add(block, threads.joined(), instructions, true);
  }
  absl::Status AddBlockPart(uint64_t block, std::span<const trace::ThreadRecord> threads, bool last,
                            std::span<uint64_t>) override {
    return Add(block, threads, 0, last);
  }
  std::vector<Block> blocks;
};

TEST(RecordArena, DeliversWhatWasPut) {
  auto arena = RecordArena::Create(4096);
  ASSERT_TRUE(arena.ok());
  const std::vector<uint64_t> addresses = {5, 6, 7};
  const std::vector<uint8_t> decisions = {1, 0, 1, 1, 0};
  const std::vector<trace::ThreadRecord> threads = {{decisions, {addresses.data(), 2}, false},
                                                    {{decisions.data(), 1}, {addresses.data() + 2, 1}, true}};
  for (int again = 0; again < 2; ++again) {
    (*arena)->Clear();
    ASSERT_TRUE((*arena)->PutBlock(3, threads, 99).ok());
    ASSERT_TRUE((*arena)->PutText("found").ok());
    ASSERT_TRUE((*arena)->PutPart(4, threads, false).ok());
    ASSERT_TRUE((*arena)->PutPart(4, {threads.data(), 1}, true).ok());
    Copies copies;
    std::string text;
    ASSERT_TRUE((*arena)->Deliver(copies, [&text](std::string_view part) { text += part; }).ok());
    EXPECT_EQ(text, "found");
    ASSERT_EQ(copies.blocks.size(), 3u);
    EXPECT_EQ(copies.blocks[0].instructions, 99u);
    EXPECT_EQ(copies.blocks[0].addresses, (std::vector<std::vector<uint64_t>>{{5, 6}, {7}}));
    EXPECT_EQ(copies.blocks[0].decisions, (std::vector<std::vector<uint8_t>>{{1, 0, 1, 1, 0}, {1}}));
    EXPECT_EQ(copies.blocks[1].exited, (std::vector<bool>{false, true}));
    EXPECT_FALSE(copies.blocks[1].last);
    EXPECT_TRUE(copies.blocks[2].last);
    EXPECT_EQ(copies.blocks[2].block, 4u);
    EXPECT_EQ(copies.blocks[2].addresses.size(), 1u);
  }
}

TEST(RecordArena, SaysWhenItIsFull) {
  auto arena = RecordArena::Create(200);
  ASSERT_TRUE(arena.ok());
  const std::vector<uint64_t> addresses(10, 1);
  const std::vector<trace::ThreadRecord> threads = {{{}, addresses, false}};
  ASSERT_TRUE((*arena)->PutBlock(0, threads, 1).ok());
  EXPECT_TRUE(absl::IsResourceExhausted((*arena)->PutBlock(1, threads, 1)));
  EXPECT_TRUE(absl::IsResourceExhausted((*arena)->PutText(std::string(100, 'x'))));
  EXPECT_TRUE((*arena)->PutText("short").ok()) << "what does not fit leaves no trace";
}

}  // namespace
}  // namespace heddle::tracegen
