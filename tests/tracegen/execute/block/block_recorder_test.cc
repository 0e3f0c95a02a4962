// What goes to the sink and to the observer, whole blocks and parts, from records that a test writes.
#include "tracegen/execute/block/block_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/tracegen/execute/threads/scheduler_fixture.h"

namespace heddle::tracegen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Seen {
  uint64_t block = 0;
  std::vector<std::vector<uint64_t>> addresses;  // by thread
  std::vector<std::vector<uint8_t>> decisions;
  std::vector<bool> exited;
  uint64_t instructions = 0;       // of a whole block
  std::vector<uint64_t> consumed;  // as the observer was told
  bool part = false;
  bool last = false;
};

Seen From(uint64_t block, std::span<const trace::ThreadRecord> records) {
  Seen seen;
  seen.block = block;
  for (const trace::ThreadRecord& record : records) {
    seen.addresses.emplace_back(record.addresses.begin(), record.addresses.end());
    seen.decisions.emplace_back(record.decisions.begin(), record.decisions.end());
    seen.exited.push_back(record.exited);
  }
  return seen;
}

// Of a part, it leaves `left` addresses of every thread for the next one.
class Sink : public BlockSink {
 public:
  absl::Status AddBlock(uint64_t block, BlockRecords& threads, uint64_t instructions) override {
    blocks.push_back(From(block, threads.joined()));
    blocks.back().instructions = instructions;
    return status;
  }
  absl::Status AddBlockPart(uint64_t block, std::span<const trace::ThreadRecord> threads, bool last,
                            std::span<uint64_t> consumed) override {
    blocks.push_back(From(block, threads));
    blocks.back().part = true;
    blocks.back().last = last;
    for (size_t t = 0; t < threads.size(); ++t) {
      const uint64_t count = threads[t].addresses.size();
      consumed[t] = last || threads[t].exited ? count : count - std::min(count, left);
    }
    return status;
  }

  std::vector<Seen> blocks;
  uint64_t left = 0;
  absl::Status status;
};

class Observer : public BlockObserver {
 public:
  absl::Status AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed, bool last) override {
    blocks.push_back(From(block, records.joined()));
    blocks.back().consumed.assign(consumed.begin(), consumed.end());
    blocks.back().last = last;
    return status;
  }

  std::vector<Seen> blocks;
  absl::Status status;
};

class Recorder : public SchedulerTest {
 protected:
  Recorder() {
    options_.part_accesses = 100;
    options_.part_instructions = 100;
    kernel_.name = "k";
    kernel_.step_addresses = 4;
    kernel_.step_decisions = 4;
  }
  // A block of so many threads, which have all begun.
  void Begin(uint64_t block, uint32_t threads, BlockSink* sink) {
    BeginBlock(threads);
    recorder_.BeginLaunch(kernel_, sink);
    recorder_.BeginBlock(block);
  }
  // The thread runs and records; it is suspended behind it.
  void Record(uint32_t thread, const std::vector<uint64_t>& addresses, const std::vector<uint8_t>& decisions) {
    threads_.SetRunning(thread);
    for (const uint64_t address : addresses) *context_.address_cursor++ = address;
    for (const uint8_t decision : decisions) *context_.decision_cursor++ = decision;
    context_.instructions += addresses.size() + decisions.size();
    log_.Close(thread, context_.address_cursor, context_.decision_cursor);
    threads_[thread].state = ThreadState::kReady;
  }
  void Exit(uint32_t thread) {
    threads_.SetRunning(thread);
    threads_.ExitRunning();
  }

  RunnerOptions options_;
  InstrumentedKernel kernel_;
  RecordLog log_;
  RecordLimits limits_{options_, context_, threads_};
  ThreadPlaces places_{context_};
  Warnings warnings_;
  OutsideAccesses outside_{places_, options_.describe_address, warnings_};
  BlockRecorder recorder_{options_, context_, threads_, limits_, log_, outside_};
  Sink sink_;
  Observer observer_;
};

TEST_F(Recorder, ABlockThatFitsGoesToSinkAndObserverAsAWhole) {
  recorder_.SetObserver(&observer_);
  context_.instructions = 1000;  // of the blocks before it
  Begin(/*block=*/7, 2, &sink_);
  Record(0, {10, 11}, {1});
  Record(1, {20}, {});
  Record(0, {12}, {0, 1});
  Exit(0);
  Exit(1);
  ASSERT_TRUE(recorder_.Finish().ok());
  ASSERT_EQ(sink_.blocks.size(), 1u);
  const Seen& seen = sink_.blocks[0];
  EXPECT_FALSE(seen.part);
  EXPECT_EQ(seen.block, 7u);
  EXPECT_THAT(seen.addresses, ElementsAre(ElementsAre(10, 11, 12), ElementsAre(20)));
  EXPECT_THAT(seen.decisions, ElementsAre(ElementsAre(1, 0, 1), IsEmpty()));
  EXPECT_EQ(seen.instructions, 7u);
  ASSERT_EQ(observer_.blocks.size(), 1u);
  EXPECT_EQ(observer_.blocks[0].addresses, seen.addresses);
  EXPECT_THAT(observer_.blocks[0].consumed, ElementsAre(3, 1));
  EXPECT_TRUE(observer_.blocks[0].last);
}

TEST_F(Recorder, TheNextBlockStartsOver) {
  Begin(0, 1, &sink_);
  Record(0, {1, 2}, {1});
  Exit(0);
  ASSERT_TRUE(recorder_.Finish().ok());
  BeginBlock(1);
  recorder_.BeginBlock(1);
  Record(0, {3}, {});
  Exit(0);
  ASSERT_TRUE(recorder_.Finish().ok());
  ASSERT_EQ(sink_.blocks.size(), 2u);
  EXPECT_THAT(sink_.blocks[1].addresses, ElementsAre(ElementsAre(3)));
  EXPECT_THAT(sink_.blocks[1].decisions, ElementsAre(IsEmpty()));
}

TEST_F(Recorder, APartIsHandedOverAndWhatIsLeftOfItIsPassedAgain) {
  recorder_.SetObserver(&observer_);
  sink_.left = 2;
  Begin(3, 2, &sink_);
  Record(0, {10, 11, 12}, {1});
  Record(1, {20}, {0});
  Exit(1);
  ASSERT_TRUE(recorder_.Cut().ok());
  Record(0, {13}, {0});
  Exit(0);
  ASSERT_TRUE(recorder_.Finish().ok());
  ASSERT_EQ(sink_.blocks.size(), 2u);
  EXPECT_TRUE(sink_.blocks[0].part);
  EXPECT_FALSE(sink_.blocks[0].last);
  EXPECT_THAT(sink_.blocks[0].exited, ElementsAre(false, true));
  EXPECT_THAT(sink_.blocks[0].addresses, ElementsAre(ElementsAre(10, 11, 12), ElementsAre(20)));
  EXPECT_TRUE(sink_.blocks[1].part);
  EXPECT_TRUE(sink_.blocks[1].last);
  EXPECT_THAT(sink_.blocks[1].exited, ElementsAre(true, true));
  EXPECT_THAT(sink_.blocks[1].addresses, ElementsAre(ElementsAre(11, 12, 13), IsEmpty()));
  EXPECT_THAT(sink_.blocks[1].decisions, ElementsAre(ElementsAre(0), IsEmpty()));
  ASSERT_EQ(observer_.blocks.size(), 2u);
  EXPECT_THAT(observer_.blocks[0].consumed, ElementsAre(1, 1));
  EXPECT_FALSE(observer_.blocks[0].last);
  EXPECT_THAT(observer_.blocks[1].consumed, ElementsAre(3, 0));
  EXPECT_TRUE(observer_.blocks[1].last);
}

// A thread that is suspended within an IR block still has to store the addresses that it has reserved.
TEST_F(Recorder, ASuspendedThreadStoresItsAddressesInTheNextPart) {
  sink_.left = 2;
  Begin(0, 1, &sink_);
  Record(0, {10, 11, 0}, {1});
  threads_[0].own.block_base = context_.address_cursor - 1;
  ASSERT_TRUE(recorder_.Cut().ok());
  ASSERT_NE(threads_[0].own.block_base, nullptr);
  *threads_[0].own.block_base = 99;
  Exit(0);
  ASSERT_TRUE(recorder_.Finish().ok());
  EXPECT_THAT(sink_.blocks[1].addresses, ElementsAre(ElementsAre(11, 99)));
}

TEST_F(Recorder, WithoutASinkNothingIsKept) {
  Begin(0, 1, nullptr);
  uint64_t* const start = context_.address_cursor;
  Record(0, {1, 2, 3}, {1});
  ASSERT_TRUE(recorder_.Cut().ok());
  EXPECT_EQ(context_.address_cursor, start);  // it starts over in the same place
  Record(0, {4}, {});
  Exit(0);
  EXPECT_TRUE(recorder_.Finish().ok());
}

TEST_F(Recorder, WithoutASinkAnObserverAloneSeesNoBlocks) {
  recorder_.SetObserver(&observer_);
  Begin(0, 1, nullptr);
  Record(0, {1}, {});
  Exit(0);
  EXPECT_TRUE(recorder_.Finish().ok());
  EXPECT_TRUE(observer_.blocks.empty());
}

TEST_F(Recorder, WholeBlocksAreKeptForAnObserver) {
  options_.whole_block_entries = 1000;
  recorder_.SetObserver(&observer_);
  Begin(5, 1, nullptr);
  Record(0, std::vector<uint64_t>(100, 8), {1});
  ASSERT_TRUE(recorder_.Cut().ok());  // a turn ends, nothing is handed over
  Record(0, {9}, {0});
  Exit(0);
  ASSERT_TRUE(recorder_.Finish().ok());
  ASSERT_EQ(observer_.blocks.size(), 1u);
  EXPECT_EQ(observer_.blocks[0].block, 5u);
  EXPECT_EQ(observer_.blocks[0].addresses[0].size(), 101u);
  EXPECT_THAT(observer_.blocks[0].decisions, ElementsAre(ElementsAre(1, 0)));
  EXPECT_TRUE(observer_.blocks[0].last);
}

TEST_F(Recorder, ABlockThatIsTooLargeToBeKeptIsAnError) {
  options_.whole_block_entries = 150;
  recorder_.SetObserver(&observer_);
  Begin(5, 1, nullptr);
  Record(0, std::vector<uint64_t>(100, 8), {});
  const absl::Status status = recorder_.Cut();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("kernel 'k': block 5 records more than can be kept"));
}

TEST_F(Recorder, ErrorsOfSinkAndObserverAreTheRecorders) {
  recorder_.SetObserver(&observer_);
  sink_.status = absl::DataLossError("disk full");
  Begin(0, 1, &sink_);
  Record(0, {1}, {});
  EXPECT_EQ(recorder_.Cut(), sink_.status);
  EXPECT_TRUE(observer_.blocks.empty());  // it sees a block behind the sink
  sink_.status = absl::OkStatus();
  observer_.status = absl::InternalError("race");
  BeginBlock(1);
  recorder_.BeginBlock(1);
  Record(0, {1}, {});
  Exit(0);
  EXPECT_EQ(recorder_.Finish(), observer_.status);
}

TEST_F(Recorder, OfAFailedBlockTheObserverSeesHowFarItsThreadsHaveCome) {
  recorder_.SetObserver(&observer_);
  kernel_.blocks.resize(1);
  kernel_.blocks[0].access_instructions.resize(2);
  Begin(4, 3, &sink_);
  Record(0, {10, 11}, {});
  Exit(0);
  Record(1, {20, 21, 22}, {});
  threads_[1].own.location = 1;  // in an IR block with two accesses, which may not have been stored yet
  threads_.SetRunning(2);
  context_.own.location = 0;
  *context_.address_cursor++ = 30;  // the log has not been told of this one
  recorder_.ShowFailedBlock();
  EXPECT_TRUE(sink_.blocks.empty());
  ASSERT_EQ(observer_.blocks.size(), 1u);
  EXPECT_THAT(observer_.blocks[0].addresses,
              ElementsAre(ElementsAre(10, 11), ElementsAre(20, 21, 22), ElementsAre(30)));
  EXPECT_THAT(observer_.blocks[0].exited, ElementsAre(true, false, false));
  EXPECT_THAT(observer_.blocks[0].consumed, ElementsAre(2, 1, 1));
  EXPECT_FALSE(observer_.blocks[0].last);
}

TEST_F(Recorder, TheLargestBlockGrowsWithThreadsAndParts) {
  Begin(0, 4, &sink_);
  const uint64_t four = recorder_.LargestBlock();
  EXPECT_GE(four, 105 * sizeof(uint64_t) + 105);
  options_.part_accesses *= 100;
  EXPECT_GE(recorder_.LargestBlock(), four + 99 * 100 * sizeof(uint64_t));
}

}  // namespace
}  // namespace heddle::tracegen
