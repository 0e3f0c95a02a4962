// Ranges of two logs, put together by thread.
#include "tracegen/execute/block/record_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "traces/base/random.h"

namespace heddle::tracegen {
namespace {

struct Expected {
  std::vector<uint64_t> addresses;
  std::vector<uint8_t> decisions;
};

// Writes what threads record between barriers: `lengths` tells how many addresses and decisions thread t has in a
// round.
class Rounds {
 public:
  explicit Rounds(uint32_t threads) : expected_(threads) {
    log_.Begin(1 << 16, 1 << 16);
    address_ = log_.addresses();
    decision_ = log_.decisions();
  }

  void Write(uint32_t thread, uint32_t addresses, uint32_t decisions) {
    for (uint32_t i = 0; i < addresses; ++i) {
      *address_++ = ++next_;
      expected_[thread].addresses.push_back(next_);
    }
    for (uint32_t i = 0; i < decisions; ++i) {
      *decision_++ = static_cast<uint8_t>(++next_);
      expected_[thread].decisions.push_back(static_cast<uint8_t>(next_));
    }
    log_.Close(thread, address_, decision_);
  }

  void ExpectGathered() {
    log_.Finish(static_cast<uint32_t>(expected_.size()));
    const std::span<const trace::ThreadRecord> records = log_.records();
    ASSERT_EQ(records.size(), expected_.size());
    // What is known before the addresses are put together.
    std::vector<std::vector<uint64_t>> segments(expected_.size());
    const trace::SegmentedBlock block = log_.segmented();
    const uint64_t* address = block.addresses;
    for (const trace::SegmentRun& run : block.runs) {
      for (uint32_t t = run.first_thread; t < run.first_thread + run.threads; ++t, address += run.addresses) {
        segments[t].insert(segments[t].end(), address, address + run.addresses);
      }
    }
    EXPECT_EQ(address, address_);
    for (size_t t = 0; t < records.size(); ++t) {
      SCOPED_TRACE(t);
      EXPECT_EQ(segments[t], expected_[t].addresses);
      EXPECT_EQ(block.access_count[t], expected_[t].addresses.size());
      EXPECT_EQ(log_.access_count(static_cast<uint32_t>(t)), expected_[t].addresses.size());
      EXPECT_EQ(records[t].addresses.empty(), expected_[t].addresses.empty());
      EXPECT_TRUE(std::equal(records[t].addresses.begin(), records[t].addresses.end(), expected_[t].addresses.begin()));
      if (log_.is_joined()) {
        EXPECT_EQ(records[t].addresses.size(), expected_[t].addresses.size());
      }
    }
    log_.Join();
    EXPECT_TRUE(log_.is_joined());
    for (size_t t = 0; t < records.size(); ++t) {
      SCOPED_TRACE(t);
      EXPECT_EQ(std::vector<uint64_t>(records[t].addresses.begin(), records[t].addresses.end()),
                expected_[t].addresses);
      EXPECT_EQ(std::vector<uint8_t>(records[t].decisions.begin(), records[t].decisions.end()), expected_[t].decisions);
    }
  }

  RecordLog& log() { return log_; }
  const uint64_t* address() const { return address_; }

 private:
  RecordLog log_;
  std::vector<Expected> expected_;
  uint64_t* address_ = nullptr;
  uint8_t* decision_ = nullptr;
  uint64_t next_ = 0;
};

TEST(RecordLog, OneSegmentPerThreadStaysInTheLog) {
  Rounds rounds(3);
  const uint64_t* const first = rounds.log().addresses();
  for (uint32_t t = 0; t < 3; ++t) rounds.Write(t, 4, t);
  rounds.ExpectGathered();
  EXPECT_EQ(rounds.log().records()[1].addresses.data(), first + 4);
}

TEST(RecordLog, ThreadsInStepAndNot) {
  Random random(7);
  for (int repetition = 0; repetition < 50; ++repetition) {
    SCOPED_TRACE(repetition);
    Rounds rounds(37);
    for (int round = 0; round < 12; ++round) {
      const auto longest = static_cast<uint32_t>(1 + random.Below(20));
      const bool in_step = random.Below(2) == 0;
      uint32_t addresses = static_cast<uint32_t>(random.Below(longest));
      uint32_t decisions = static_cast<uint32_t>(random.Below(longest));
      // The thread that came last goes on first; some record nothing, thread 36 only once.
      const auto first = static_cast<uint32_t>(random.Below(37));
      rounds.Write(first, addresses, decisions);
      for (uint32_t t = 0; t < (round == 3 ? 37u : 36u); ++t) {
        if (t == first) continue;
        if (!in_step) {
          addresses = static_cast<uint32_t>(random.Below(longest));
          decisions = static_cast<uint32_t>(random.Below(longest));
        }
        rounds.Write(t, addresses, decisions);
      }
    }
    rounds.ExpectGathered();
  }
}

TEST(RecordLog, PositionsAndRests) {
  Rounds rounds(4);
  std::vector<const uint64_t*> pointers(4, nullptr);
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t t = 0; t < 4; ++t) {
      rounds.Write(t, 5, 1);
      if (round == t) pointers[t] = rounds.address() - 2;
    }
  }
  std::vector<uint64_t> positions;
  rounds.log().PositionsInRecords(pointers, positions);
  EXPECT_EQ(positions, (std::vector<uint64_t>{3, 8, 13, 0}));

  rounds.log().Finish(4);
  rounds.log().Join();
  const std::span<trace::ThreadRecord> records = rounds.log().records();
  const std::vector<uint64_t> consumed = {15, 13, 0, 14};
  std::vector<std::vector<uint64_t>> rests;
  for (size_t t = 0; t < 4; ++t) {
    const auto rest = records[t].addresses.subspan(consumed[t]);
    rests.emplace_back(rest.begin(), rest.end());
  }
  std::vector<uint64_t*> starts;
  rounds.log().KeepRests(consumed, 10, starts);
  EXPECT_EQ(rounds.log().kept_addresses(), 18u);
  // Thread 1 goes on behind what was kept.
  uint64_t* next = rounds.log().addresses() + rounds.log().kept_addresses();
  *next++ = 1000;
  rounds.log().Close(1, next, rounds.log().decisions());
  rests[1].push_back(1000);
  rounds.log().Finish(4);
  rounds.log().Join();
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(std::vector<uint64_t>(records[t].addresses.begin(), records[t].addresses.end()), rests[t]);
    EXPECT_TRUE(records[t].decisions.empty());
  }
}

}  // namespace
}  // namespace heddle::tracegen
