// The first difference of two traces, by launch, block, thread and instruction.
#include "traces/format/edit/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/traces/format/columns/trace_runs.h"
#include "tests/traces/program_builder.h"

namespace heddle::trace {
namespace {

using ::testing::HasSubstr;
using testing::ProgramBuilder;
using testing::TemporaryFile;

constexpr uint32_t kThreads = 4;

//   pc 0   head: alu, load, branch to exit or (taken) body
//   pc 3   body: store, alu; back to head
//   pc 5   exit
v1::KernelProgram Loop() {
  return ProgramBuilder("loop")
      .Block("head")
      .Alu(1)
      .Load()
      .Branch("exit", "body")
      .Block("body")
      .Store()
      .Alu(1)
      .Jump("head")
      .Block("exit")
      .Exit()
      .Build();
}

// One thread: `rounds` times through the body. Addresses are 1000 * thread + 4 * number of the access.
struct Thread {
  std::vector<uint8_t> decisions;
  std::vector<uint64_t> addresses;
};
Thread LoopThread(uint64_t thread, int rounds) {
  Thread out;
  for (int i = 0; i < rounds; ++i) out.decisions.push_back(1);
  out.decisions.push_back(0);
  for (int i = 0; i < 2 * rounds + 1; ++i) out.addresses.push_back(1000 * thread + 4 * static_cast<uint64_t>(i));
  return out;
}

using Threads = std::vector<std::vector<Thread>>;  // by block

Threads TwoBlocks() {
  Threads blocks;
  for (uint64_t b = 0; b < 2; ++b) {
    blocks.emplace_back();
    for (uint64_t t = 0; t < kThreads; ++t) blocks[b].push_back(LoopThread(b * kThreads + t, static_cast<int>(t) + 2));
  }
  return blocks;
}

// Writes the blocks whole, or in parts of `part` decisions per thread.
void Write(const std::string& path, const Threads& blocks, size_t part, const v1::KernelProgram& program = Loop()) {
  auto writer = TraceWriter::Create(path, testing::MakeHeader());
  ASSERT_TRUE((*writer)->AddProgram(program).ok());
  ASSERT_EQ((*writer)->BeginLaunch(testing::MakeLaunch(0, static_cast<uint32_t>(blocks.size()), kThreads)),
            absl::OkStatus());
  for (uint64_t b = 0; b < blocks.size(); ++b) {
    if (part == 0) {
      std::vector<ThreadRecord> records;
      for (const Thread& thread : blocks[b]) records.push_back({thread.decisions, thread.addresses});
      ASSERT_EQ((*writer)->AddBlock(b, records, TraceWriter::kNoExpectation), absl::OkStatus());
      continue;
    }
    std::vector<uint64_t> address(kThreads, 0), consumed(kThreads);
    bool last = false;
    for (size_t done = 0; !last; done += part) {
      std::vector<ThreadRecord> records;
      last = true;
      for (uint32_t t = 0; t < kThreads; ++t) {
        const Thread& thread = blocks[b][t];
        const size_t from = std::min(done, thread.decisions.size());
        const size_t to = std::min(done + part, thread.decisions.size());
        const bool exited = to == thread.decisions.size();
        last &= exited;
        // Up to the cut right behind a decision, the head has run once more than the body.
        const size_t end = exited ? thread.addresses.size() : 2 * to - 1;
        records.push_back({std::span(thread.decisions).subspan(from, to - from),
                           std::span(thread.addresses).subspan(address[t], end - address[t]), exited});
      }
      ASSERT_EQ((*writer)->AddBlockPart(b, records, last, consumed), absl::OkStatus());
      for (uint32_t t = 0; t < kThreads; ++t) address[t] += consumed[t];
    }
  }
  ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
}

std::optional<TraceDifference> Compare(const std::string& a, const std::string& b) {
  const auto one = TraceReader::Open(a);
  const auto other = TraceReader::Open(b);
  EXPECT_TRUE(one.ok() && other.ok()) << one.status() << other.status();
  auto difference = CompareTraces(**one, **other);
  EXPECT_TRUE(difference.ok()) << difference.status();
  return difference.ok() ? *difference : std::nullopt;
}

// Each way to cut the blocks of the one and of the other trace: 0 = whole.
class CompareTest : public ::testing::TestWithParam<std::pair<size_t, size_t>> {
 protected:
  std::optional<TraceDifference> CompareBlocks(const Threads& a, const Threads& b) {
    Write(a_.path(), a, GetParam().first);
    Write(b_.path(), b, GetParam().second);
    return Compare(a_.path(), b_.path());
  }
  TemporaryFile a_{"compare-a"};
  TemporaryFile b_{"compare-b"};
};

TEST_P(CompareTest, EqualThreadsAreEqualHoweverTheyAreCut) {
  EXPECT_FALSE(CompareBlocks(TwoBlocks(), TwoBlocks()).has_value());
}

TEST_P(CompareTest, AnotherAddressIsFoundAtItsInstruction) {
  // Access 3 of the thread is the store of its second round: head (3), body (2), head (3), then the store.
  Threads changed = TwoBlocks();
  changed[1][2].addresses[3] = 77;
  const auto difference = CompareBlocks(TwoBlocks(), changed);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->Place(), "launch 0, block 1, thread 2, instruction 8 (pc 24)");
  EXPECT_THAT(difference->what, HasSubstr("address 0x177c in "));
  EXPECT_THAT(difference->what, HasSubstr("0x4d in "));
}

TEST_P(CompareTest, AnotherDecisionIsFoundAtItsBranch) {
  // The thread leaves the loop after one round instead of five.
  Threads changed = TwoBlocks();
  changed[0][3] = LoopThread(3, 1);
  const auto difference = CompareBlocks(TwoBlocks(), changed);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->Place(), "launch 0, block 0, thread 3, instruction 7 (pc 16)");
  EXPECT_THAT(difference->what, HasSubstr("takes successor or callee 1 in "));
}

TEST_P(CompareTest, TheLowestThreadComesFirstEvenIfItDiffersLater) {
  Threads changed = TwoBlocks();
  changed[0][3].addresses[0] = 1;
  changed[0][1].addresses[6] = 2;
  const auto difference = CompareBlocks(TwoBlocks(), changed);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->thread, 1);
  EXPECT_EQ(difference->instruction, 3 * 5 + 1);
}

TEST_P(CompareTest, ADifferenceInTheMiddleOfAnyThreadIsFound) {
  const Threads original = TwoBlocks();
  for (uint64_t b = 0; b < 2; ++b) {
    for (uint32_t t = 0; t < kThreads; ++t) {
      for (size_t k = 0; k < original[b][t].addresses.size(); ++k) {
        Threads changed = original;
        changed[b][t].addresses[k] ^= 1;
        const auto difference = CompareBlocks(original, changed);
        ASSERT_TRUE(difference.has_value()) << b << " " << t << " " << k;
        EXPECT_EQ(difference->block, b);
        EXPECT_EQ(difference->thread, t);
        EXPECT_EQ(difference->instruction, k / 2 * 5 + (k % 2 == 0 ? 1 : 3));
      }
    }
  }
}

TEST_P(CompareTest, AMissingBlockIsADifference) {
  Threads fewer = TwoBlocks();
  fewer.pop_back();
  const auto difference = CompareBlocks(TwoBlocks(), fewer);
  ASSERT_TRUE(difference.has_value());
  EXPECT_THAT(difference->what, HasSubstr("grid 2x1x1"));
}

INSTANTIATE_TEST_SUITE_P(Cuts, CompareTest,
                         ::testing::Values(std::pair(0, 0), std::pair(0, 1), std::pair(2, 0), std::pair(1, 1),
                                           std::pair(1, 3), std::pair(3, 2)),
                         [](const auto& info) {
                           return std::to_string(info.param.first) + "_" + std::to_string(info.param.second);
                         });

TEST(Compare, WholeRunsInOtherPartsAndChunksAreEqual) {
  TemporaryFile a("compare-a"), b("compare-b"), c("compare-c");
  ASSERT_EQ(testing::WriteRun(a.path()), absl::OkStatus());
  ASSERT_EQ(testing::WriteRun(b.path(), {.part_blocks = 7, .writer = {.zstd_level = 9}}), absl::OkStatus());
  ASSERT_EQ(testing::WriteRun(c.path(), {.seed = 5}), absl::OkStatus());
  EXPECT_FALSE(Compare(a.path(), b.path()).has_value());
  const auto difference = Compare(a.path(), c.path());
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->launch, 0);
}

TEST(Compare, ProgramsDifferAtTheirFirstDifferentInstruction) {
  TemporaryFile a("compare-a"), b("compare-b");
  v1::KernelProgram changed = Loop();
  changed.mutable_instruction(3)->set_access_bytes(8);
  Write(a.path(), TwoBlocks(), 0);
  Write(b.path(), TwoBlocks(), 0, changed);
  const auto difference = Compare(a.path(), b.path());
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->Place(), "launch 0, pc 24");
}

TEST(Compare, WhoseCodeItIsExplainsOtherInstructionsOrIsToldLast) {
  TemporaryFile a("compare-a"), b("compare-b"), c("compare-c"), d("compare-d");
  v1::KernelProgram given = Loop();
  given.set_level(v1::LEVEL_PTX_GIVEN);
  given.set_producer("NVVM 13.0");
  given.set_isa_version("9.0");
  v1::KernelProgram changed = given;
  changed.mutable_instruction(3)->set_access_bytes(8);
  Threads other = TwoBlocks();
  other[1][2].addresses[3] = 77;
  Write(a.path(), TwoBlocks(), 0);
  Write(b.path(), TwoBlocks(), 0, given);
  Write(c.path(), TwoBlocks(), 0, changed);
  Write(d.path(), other, 0, given);
  const auto same = Compare(a.path(), b.path());
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->Place(), "launch 0");
  EXPECT_THAT(same->what, HasSubstr("PTX 9.0 by NVVM 13.0 in "));
  EXPECT_THAT(same->what, HasSubstr("; instructions and threads are the same"));
  const auto instructions = Compare(a.path(), c.path());
  ASSERT_TRUE(instructions.has_value());
  EXPECT_EQ(instructions->Place(), "launch 0");
  EXPECT_THAT(instructions->what, HasSubstr("the kernel's code is that of the recording's own compiler in "));
  const auto threads = Compare(a.path(), d.path());
  ASSERT_TRUE(threads.has_value());
  EXPECT_THAT(threads->what, HasSubstr("address 0x177c in "));
  EXPECT_FALSE(Compare(b.path(), b.path()).has_value());
}

TEST(Compare, AGuardIsADifference) {
  TemporaryFile a("compare-a"), b("compare-b");
  v1::KernelProgram changed = Loop();
  changed.mutable_instruction(4)->set_flags(v1::FLAG_GUARDED);
  Write(a.path(), TwoBlocks(), 0);
  Write(b.path(), TwoBlocks(), 0, changed);
  const auto difference = Compare(a.path(), b.path());
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->Place(), "launch 0, pc 32");
  EXPECT_THAT(difference->what, HasSubstr("@"));
}

}  // namespace
}  // namespace heddle::trace
