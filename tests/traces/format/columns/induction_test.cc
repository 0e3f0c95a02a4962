// What version 1.3 of the format added: decisions in planes, and addresses that follow the variable of a loop although
// not every iteration comes to the access.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/traces/format/columns/bit_loops.h"
#include "tests/traces/program_builder.h"
#include "traces/format/columns/decision_planes.h"
#include "traces/format/columns/decode_chunk.h"
#include "traces/format/columns/models/induction_counts.h"
#include "traces/format/columns/models/induction_equations.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Paths 1 0 1, 0 1 and 1: plane 0 is 1 0 1, plane 1 is 0 1, plane 2 is 1.
TEST(Planes, HoldTheDecisionsOfOneNumber) {
  const std::vector<uint32_t> counts = {3, 2, 1};
  EXPECT_EQ(PathBytes(counts), 3);
  EXPECT_EQ(PlaneBytes(counts), 3);
  const std::string planes = PlanesOf(counts, "\5\2\1");
  EXPECT_EQ(planes, "\5\2\1");
  EXPECT_EQ(PathsOf(counts, planes), "\5\2\1");
}

// Nine paths of one decision: one plane of two bytes.
TEST(Planes, StartOnAByte) {
  const std::vector<uint32_t> counts(9, 1);
  EXPECT_EQ(PlaneBytes(counts), 2);
  EXPECT_EQ(PlanesOf(counts, std::string("\1\0\0\0\0\0\0\1\1", 9)), "\x81\x01");
}

TEST(Planes, GiveEveryPathBack) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint32_t> counts(random() % 40);
    const uint32_t common = random() % 70;
    for (uint32_t& count : counts) count = random() % 3 == 0 ? random() % 70 : common;
    std::string bits;
    for (uint32_t count : counts) {
      for (uint32_t i = 0; i < count; i += 8) {
        bits.push_back(static_cast<char>(random() & (count - i >= 8 ? 0xff : (1u << (count - i)) - 1)));
      }
    }
    ASSERT_EQ(bits.size(), PathBytes(counts));
    const std::string planes = PlanesOf(counts, bits);
    ASSERT_EQ(planes.size(), PlaneBytes(counts));
    ASSERT_EQ(PathsOf(counts, planes), bits) << "round " << round;
  }
}

constexpr uint32_t kOuter = 1, kHead = 2, kBody = 3;

TEST(Candidates, AreTheLoopAroundAnAccessSinceTheLoopAroundThat) {
  auto program = Program::Create(testing::BitLoops());
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(InductionCandidates(*program, kBody),
              ElementsAre(InductionCounter{kHead, kOuter}, InductionCounter{kHead, 0}));
  EXPECT_THAT(InductionCandidates(*program, kBody + 2), ElementsAre(InductionCounter{kOuter, 0}));
  EXPECT_TRUE(InductionCandidates(*program, 0).empty());
}

TEST(Candidates, OfSumsAreAllLoopsAroundAndTheBlocksOfTheInnermost) {
  auto program = Program::Create(testing::BitLoops());
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(
      InductionSummands(*program, kBody),
      ElementsAre(InductionCounter{kHead, kOuter}, InductionCounter{kOuter, 0}, InductionCounter{kBody + 1, kOuter}));
  EXPECT_TRUE(InductionSummands(*program, 0).empty());
}

// a + 2 b = 8, b = 3, and what follows from them: a = 2; c can be anything.
TEST(Equations, AreSolvedAsFarAsTheyGo) {
  InductionEquations equations(3);
  EXPECT_TRUE(equations.Add(std::vector<int64_t>{1, 2, 0}, 8));
  EXPECT_TRUE(equations.Add(std::vector<int64_t>{0, 1, 0}, 3));
  EXPECT_TRUE(equations.Add(std::vector<int64_t>{2, 5, 0}, 19));
  EXPECT_FALSE(equations.Add(std::vector<int64_t>{1, 1, 0}, 6));
  EXPECT_FALSE(equations.solved());
  EXPECT_EQ(equations.Solution(0), 2);
  EXPECT_EQ(equations.Solution(1), 3);
  EXPECT_EQ(equations.Solution(2), 0);
}

// Rounds 0 1 1 | 1 0 1 of the inner loop run the load: it is the second and third round, then the first and third.
TEST(Counts, BeginAnewWithEveryRoundAround) {
  auto program = Program::Create(testing::BitLoops());
  ASSERT_TRUE(program.ok());
  InductionCounts counts(*program);
  ASSERT_TRUE(counts.Add(0, {{kHead, kOuter}, 1}));
  const std::vector<uint8_t> decisions = {0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0};
  ByteDecisions all(decisions.data(), decisions.size());
  WalkState state;
  std::vector<uint64_t> seen;
  EXPECT_EQ(counts.Walk(Extent::kRunsToExit, all, state, 1000, [&](uint32_t, uint64_t n) { seen.push_back(n); }),
            WalkStatus::kOk);
  EXPECT_THAT(seen, ElementsAre(2, 3, 1, 3));
  ASSERT_TRUE(counts.Add(0, {{kOuter, 0}, 100}));
  seen.clear();
  ByteDecisions again(decisions.data(), decisions.size());
  state = WalkState();
  EXPECT_EQ(counts.Walk(Extent::kRunsToExit, again, state, 1000, [&](uint32_t, uint64_t n) { seen.push_back(n); }),
            WalkStatus::kOk);
  EXPECT_THAT(seen, ElementsAre(102, 103, 201, 203));
}

TEST(Counts, AreOfSoManyPairsOnly) {
  auto program = Program::Create(testing::BitLoops());
  ASSERT_TRUE(program.ok());
  InductionCounts counts(*program);
  size_t added = 0;
  for (uint32_t a = 0; a < 6; ++a) {
    for (uint32_t b = 0; b < 6; ++b) added += a != b && counts.Add(0, {{a, b}, 1});
  }
  EXPECT_EQ(added, kMostInductionCounters);
  EXPECT_TRUE(counts.Add(1, {{0, 1}, 1}));  // counted already
}

struct Written {
  std::unique_ptr<TraceReader> reader;
  v1::BlockChunk chunk;             // the first
  std::vector<uint64_t> addresses;  // of all loads and stores
};

Written Write(const testing::TemporaryFile& file, const testing::BitLoopOptions& options = {}) {
  Written out;
  auto addresses = testing::WriteBitLoops(file.path(), options);
  EXPECT_TRUE(addresses.ok()) << addresses.status();
  auto reader = TraceReader::Open(file.path());
  EXPECT_TRUE(reader.ok()) << reader.status();
  out.addresses = *std::move(addresses);
  out.reader = *std::move(reader);
  EXPECT_EQ(out.reader->ReadChunk(out.reader->launches()[0].chunks[0], out.chunk), absl::OkStatus());
  return out;
}

// Addresses of every chunk, thread after thread.
std::vector<uint64_t> AddressesOf(const TraceReader& reader) {
  std::vector<uint64_t> addresses;
  DecodedChunk chunk;
  const LaunchView& launch = reader.launches()[0];
  for (const v1::ChunkReference& reference : launch.chunks) {
    EXPECT_EQ(reader.ReadChunk(reference, chunk), absl::OkStatus());
    for (size_t t = 0; t < chunk.path_of_thread.size(); ++t) {
      const PathView& path = chunk.paths[chunk.path_of_thread[t]];
      PackedDecisions decisions(path);
      WalkState state{path.start_block, {}, false};
      uint64_t instructions = 0;
      uint64_t position = chunk.first_address[t];
      (void)Walk(*launch.program, path.extent, decisions, state, ~uint64_t{0}, instructions,
                 [&](uint32_t, const Block& block) {
                   for (Pc pc : launch.program->accesses_of(block)) addresses.push_back(chunk.address(position++, pc));
                 });
    }
  }
  return addresses;
}

TEST(Writer, FindsAnArrayThatALoopGoesThrough) {
  testing::TemporaryFile file("induction");
  const Written written = Write(file);
  const v1::AddressColumn& load = written.chunk.column(0);
  EXPECT_EQ(load.model(), v1::AddressColumn::INDUCTION);
  EXPECT_EQ(load.counted_block(), kHead);
  EXPECT_EQ(load.reset_block(), kOuter);
  EXPECT_EQ(load.stride(), 4);
  EXPECT_EQ(load.base_dd(0), 0x700000000 - 4);  // the head is entered once in front of bit 0
  EXPECT_FALSE(written.chunk.paths().decision_planes().empty());
  EXPECT_TRUE(written.chunk.paths().decision_bits().empty());
  EXPECT_EQ(AddressesOf(*written.reader), written.addresses);
  EXPECT_EQ(written.reader->VerifyDigest(), absl::OkStatus());
  // The header has been written before that was known.
  EXPECT_THAT(written.reader->header().required_feature(), ElementsAre(kChunkFeature));
  EXPECT_THAT(written.reader->index().required_feature(), ElementsAre(kLaterChunkFeature));
}

TEST(Writer, FindsRowsOfThreadsDownwardsAndFarApart) {
  testing::TemporaryFile file("induction");
  const Written written = Write(file, {.address = [](uint64_t thread, uint64_t bit) {
                                  return 0x700000000000 + (thread << 33) - (bit << 34) - 8 * bit;
                                }});
  EXPECT_EQ(written.chunk.column(0).model(), v1::AddressColumn::INDUCTION);
  EXPECT_EQ(written.chunk.column(0).stride(), -(int64_t{1} << 34) - 8);
  EXPECT_EQ(AddressesOf(*written.reader), written.addresses);
}

// A pointer that the outer loop moves, and the inner one from there.
TEST(Writer, FindsArraysThatTwoLoopsGoThrough) {
  testing::TemporaryFile file("induction");
  const Written written =
      Write(file, {.moved = [](uint64_t thread, uint64_t round, uint64_t) { return 1000 * thread - 52 * round; }});
  const v1::AddressColumn& load = written.chunk.column(0);
  EXPECT_EQ(load.model(), v1::AddressColumn::INDUCTION);
  EXPECT_EQ(load.stride(), 4);
  ASSERT_EQ(load.further_term_size(), 1);
  EXPECT_EQ(load.further_term(0).counted_block(), kOuter);
  EXPECT_EQ(load.further_term(0).reset_block(), 0);
  EXPECT_EQ(load.further_term(0).stride(), -52);
  EXPECT_EQ(AddressesOf(*written.reader), written.addresses);
  EXPECT_THAT(written.reader->index().required_feature(), ElementsAre(kLaterChunkFeature, kColumnFeature));
}

// Rows that begin anywhere, and that threads go through.
TEST(Writer, FindsArraysThatJumpNowAndThen) {
  testing::TemporaryFile file("induction");
  const Written written = Write(file, {.moved = [](uint64_t thread, uint64_t round, uint64_t) {
                                  return ((thread * 4 + round) * 0x9e3779b97f4a7c15 >> 40) * 64;
                                }});
  const v1::AddressColumn& load = written.chunk.column(0);
  EXPECT_EQ(load.model(), v1::AddressColumn::COUNTED);
  EXPECT_EQ(load.stride(), 4);
  EXPECT_FALSE(load.has_restart());
  EXPECT_EQ(AddressesOf(*written.reader), written.addresses);
}

// Steps of which nothing is known, from the same place in every round.
uint64_t RandomWalk(uint64_t thread, uint64_t round, uint64_t load) {
  uint64_t place = thread * 0x9e3779b97f4a7c15 >> 24 << 12;
  for (uint64_t i = 0; i < load; ++i) {
    place += 4096 * ((((thread * 64 + round) * 64 + i) * 0xd6e8feb86659fd93 >> 60 & 3) + 1);
  }
  return place;
}

TEST(Writer, FindsWhereThreadsBeginAnew) {
  testing::TemporaryFile file("induction");
  const Written written = Write(
      file, {.rounds = 16, .bits = 3, .moved = RandomWalk, .address = [](uint64_t, uint64_t) { return 0x700000000; }});
  const v1::AddressColumn& load = written.chunk.column(0);
  EXPECT_EQ(load.model(), v1::AddressColumn::COUNTED);
  ASSERT_TRUE(load.has_restart());
  EXPECT_EQ(load.restart().counted_block(), kOuter);
  EXPECT_EQ(AddressesOf(*written.reader), written.addresses);
  EXPECT_EQ(written.reader->VerifyDigest(), absl::OkStatus());
}

TEST(Writer, LeavesAlmostRegularAddressesToOtherModels) {
  testing::TemporaryFile file("induction");
  const Written written = Write(file, {.address = [](uint64_t thread, uint64_t bit) {
                                  return 0x700000000 + 4 * bit + (thread == 1000 && bit == 9 ? 4 : 0);
                                }});
  EXPECT_NE(written.chunk.column(0).model(), v1::AddressColumn::INDUCTION);
  EXPECT_EQ(AddressesOf(*written.reader), written.addresses);
}

// The first threads load once, which says nothing about the stride.
TEST(Writer, LearnsTheStrideFromAnyThread) {
  testing::TemporaryFile file("induction");
  const Written written = Write(file, {.blocks = 1, .threads = 1024, .rounds = 1});
  EXPECT_EQ(written.chunk.column(0).model(), v1::AddressColumn::INDUCTION);
  EXPECT_EQ(AddressesOf(*written.reader), written.addresses);
}

// Blocks that are cut within the loop over bits: the second part counts from the cut until the loop begins anew, so
// that only whole rounds are alike.
TEST(Writer, CutsBlocksAnywhere) {
  for (const uint32_t cut : {1u, 27u, 40u, 70u}) {
    SCOPED_TRACE(cut);
    testing::TemporaryFile file("induction");
    const Written written = Write(file, {.blocks = 1, .threads = 1024, .cut_behind = cut});
    ASSERT_EQ(written.reader->launches()[0].chunks.size(), 2);
    std::vector<uint64_t> sorted = AddressesOf(*written.reader);
    std::vector<uint64_t> expected = written.addresses;
    std::sort(sorted.begin(), sorted.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(sorted, expected);
    v1::BlockChunk second;
    ASSERT_EQ(written.reader->ReadChunk(written.reader->launches()[0].chunks[1], second), absl::OkStatus());
    if (cut % 27 == 0) {
      EXPECT_EQ(second.column(0).model(), v1::AddressColumn::INDUCTION);
    }
  }
}

struct BrokenRule {
  const char* name;
  std::function<void(v1::BlockChunk&)> change;
  const char* rule;
};

class Broken : public ::testing::TestWithParam<BrokenRule> {};

TEST_P(Broken, IsRefused) {
  testing::TemporaryFile file("induction");
  Written written = Write(file);
  GetParam().change(written.chunk);
  DecodedChunk decoded;
  const absl::Status status = DecodeChunk(written.chunk, *written.reader->launches()[0].program, 256, decoded);
  ASSERT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().rule));
}

INSTANTIATE_TEST_SUITE_P(
    All, Broken,
    ::testing::Values(
        BrokenRule{"planes_and_bits", [](auto& c) { c.mutable_paths()->set_decision_bits("x"); }, "not both"},
        BrokenRule{"planes_short", [](auto& c) { c.mutable_paths()->mutable_decision_planes()->pop_back(); },
                   "decision_planes has"},
        BrokenRule{"planes_long", [](auto& c) { c.mutable_paths()->mutable_decision_planes()->push_back('\0'); },
                   "decision_planes has"},
        BrokenRule{"decisions_without_end",
                   [](auto& c) {
                     for (uint32_t& count : *c.mutable_paths()->mutable_decision_count()) count = ~0u;
                   },
                   "decisions are more than"},
        BrokenRule{"another_block", [](auto& c) { c.mutable_column(0)->set_counted_block(7); }, "not two blocks"},
        BrokenRule{"another_reset", [](auto& c) { c.mutable_column(0)->set_reset_block(~0u); }, "not two blocks"},
        BrokenRule{"one_block", [](auto& c) { c.mutable_column(0)->set_reset_block(kHead); }, "not two blocks"},
        BrokenRule{"bases", [](auto& c) { c.mutable_column(0)->mutable_base_dd()->RemoveLast(); }, "base_dd"},
        BrokenRule{"steps", [](auto& c) { c.mutable_column(0)->add_step_dd(1); }, "step_dd"},
        BrokenRule{"residuals", [](auto& c) { c.mutable_column(0)->set_residual_count(1); }, "residual_count"},
        BrokenRule{"blocks_of_another_model", [](auto& c) { c.mutable_column(1)->set_stride(4); }, "belong to model"},
        BrokenRule{"term_of_another_model", [](auto& c) { c.mutable_column(1)->add_further_term(); },
                   "belong to model"},
        BrokenRule{"term_of_one_block", [](auto& c) { c.mutable_column(0)->add_further_term(); }, "not two blocks"},
        BrokenRule{"many_terms",
                   [](auto& c) {
                     for (int i = 0; i < 4; ++i) c.mutable_column(0)->add_further_term()->set_reset_block(kHead);
                   },
                   "more than 4 terms"},
        BrokenRule{"restart_of_another_model", [](auto& c) { c.mutable_column(0)->mutable_restart(); },
                   "restart belongs to"},
        BrokenRule{"restart_of_one_block",
                   [](auto& c) {
                     c.mutable_column(0)->set_model(v1::AddressColumn::COUNTED);
                     c.mutable_column(0)->mutable_restart();
                   },
                   "not two blocks"},
        BrokenRule{"restart_with_a_stride",
                   [](auto& c) {
                     c.mutable_column(0)->set_model(v1::AddressColumn::COUNTED);
                     c.mutable_column(0)->mutable_restart()->set_stride(1);
                   },
                   "no stride"},
        BrokenRule{"counted_without_residuals",
                   [](auto& c) { c.mutable_column(0)->set_model(v1::AddressColumn::COUNTED); }, "residual_count"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace heddle::trace
