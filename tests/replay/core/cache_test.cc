// What the cache of decoded chunks keeps, and the queues of events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "replay/core/event_wheel.h"
#include "replay/engine/calendar.h"
#include "replay/trace/chunk_cache.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A launch in many chunks of about the same size.
class ChunkCacheTest : public testing::Test {
 protected:
  ChunkCacheTest() {
    const trace::testing::TemporaryFile file("cache.htrace");
    const auto program = trace::testing::ProgramBuilder("loads").Load().Alu(30).Exit().Build();
    trace::WriterOptions small;
    small.chunk_thread_instructions = 1000;
    EXPECT_TRUE(trace::testing::WriteRandomTrace(file.path(), program, 1, 64, 32, {}, small).ok());
    reader_ = trace::TraceReader::Open(trace::FromMemory(trace::testing::ReadFile(file.path())), "test").value();
    EXPECT_GE(chunks().size(), 8);
    trace::DecodedChunk chunk;
    EXPECT_TRUE(reader_->ReadChunk(chunks()[0], chunk).ok());
    chunk_bytes_ = chunk.bytes();
  }
  std::span<const trace::v1::ChunkReference> chunks() const { return reader_->launches()[0].chunks; }

  std::unique_ptr<trace::TraceReader> reader_;
  uint64_t chunk_bytes_ = 0;
};

// Reads from chunks as cursors do.
class FakeReader : public ChunkCache::User {
 public:
  void Evicted(const trace::DecodedChunk& chunk) override {
    evicted.push_back(chunk.blocks[0]);
    steps.erase(&chunk);
  }
  void Progress(const AddProgress& add) const override {
    for (const auto& [chunk, count] : steps) add(*chunk, count);
  }
  std::map<const trace::DecodedChunk*, uint64_t> steps;
  std::vector<uint64_t> evicted;
};

TEST_F(ChunkCacheTest, DecodesAChunkOnceWhileItFits) {
  ChunkCache cache(*reader_, 1u << 30);
  for (int round = 0; round < 3; ++round) {
    for (const auto& reference : chunks()) ASSERT_TRUE(cache.Peek(reference).ok());
  }
  EXPECT_EQ(cache.chunks_decoded(), chunks().size());
}

TEST_F(ChunkCacheTest, DropsTheLeastRecentlyUsedThatNobodyReads) {
  ChunkCache cache(*reader_, 3 * chunk_bytes_ + chunk_bytes_ / 2);
  FakeReader reader;
  cache.AddUser(&reader);
  const trace::DecodedChunk* first = cache.Acquire(chunks()[0]).value();
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(cache.Peek(chunks()[i]).ok());
  EXPECT_THAT(reader.evicted, IsEmpty());
  EXPECT_LE(cache.bytes_held(), 3 * chunk_bytes_ + chunk_bytes_ / 2);
  EXPECT_EQ(cache.Peek(chunks()[0]).value(), first);
  EXPECT_EQ(cache.chunks_decoded(), 6);
  ASSERT_TRUE(cache.Peek(chunks()[5]).ok());
  EXPECT_EQ(cache.chunks_decoded(), 6);
  ASSERT_TRUE(cache.Peek(chunks()[1]).ok());
  EXPECT_EQ(cache.chunks_decoded(), 7);
}

TEST_F(ChunkCacheTest, KeepsWhatMovingThreadsReadBeyondItsSizeButNotWhatStarvedOnesHold) {
  ChunkCache cache(*reader_, 2 * chunk_bytes_ + chunk_bytes_ / 2);
  FakeReader reader;
  cache.AddUser(&reader);
  for (int i = 0; i < 4; ++i) reader.steps[cache.Acquire(chunks()[i]).value()] = 1;
  EXPECT_THAT(reader.evicted, IsEmpty());  // within kStretch
  for (uint64_t age = 0; age <= ChunkCache::kStarved; ++age) {
    cache.Age();
    for (auto& [chunk, steps] : reader.steps) steps += chunk->blocks[0] != chunks()[1].first_block();
  }
  reader.steps[cache.Acquire(chunks()[4]).value()] = 1;  // notices who has moved
  for (uint64_t age = 0; age <= ChunkCache::kStarved; ++age) {
    cache.Age();
    for (auto& [chunk, steps] : reader.steps) steps += chunk->blocks[0] != chunks()[1].first_block();
  }
  reader.steps[cache.Acquire(chunks()[5]).value()] = 1;
  EXPECT_THAT(reader.evicted, ElementsAre(chunks()[1].first_block()));
}

TEST_F(ChunkCacheTest, NeverHoldsMoreThanItsStretch) {
  ChunkCache cache(*reader_, chunk_bytes_ + chunk_bytes_ / 2);
  FakeReader reader;
  cache.AddUser(&reader);
  for (const auto& reference : chunks()) {
    reader.steps[cache.Acquire(reference).value()] = 1;
    EXPECT_LE(cache.bytes_held(), ChunkCache::kStretch * (chunk_bytes_ + chunk_bytes_ / 2));
  }
  EXPECT_FALSE(reader.evicted.empty());
}

TEST(EventWheel, HandsOutEventsByTimeThenOrderOfAdding) {
  EventWheel wheel(10);
  wheel.Add(5, {.id = 1});
  wheel.Add(3, {.id = 2});
  wheel.Add(5, {.id = 3});
  wheel.Add(100'000, {.id = 4});  // far beyond the wheel
  std::vector<std::pair<Cycle, uint32_t>> seen;
  while (!wheel.empty()) {
    const Cycle now = wheel.Next();
    wheel.Take(now, [&](const Completion& event) { seen.push_back({now, event.id}); });
  }
  EXPECT_THAT(seen, ElementsAre(std::pair(3, 2), std::pair(5, 1), std::pair(5, 3), std::pair(100'000, 4)));
  EXPECT_EQ(wheel.Next(), kNever);
}

TEST(EventWheel, AnEventThatWasFarComesBeforeNearOnesOfItsCycle) {
  EventWheel wheel(10);
  wheel.Add(1000, {.id = 1});
  wheel.Take(990, [](const Completion&) { FAIL(); });
  wheel.Add(1000, {.id = 2});
  std::vector<uint32_t> seen;
  wheel.Take(wheel.Next(), [&](const Completion& event) { seen.push_back(event.id); });
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

TEST(Calendar, WakesComponentsInOrderAndFarOnesEarly) {
  Calendar calendar(130);
  calendar.Wake(129, 7);
  calendar.Wake(2, 7);
  calendar.Wake(64, 5);
  calendar.Wake(3, kNever);
  calendar.Wake(1, 1'000'000);
  std::vector<uint32_t> awake;
  EXPECT_EQ(calendar.Next(), 5);
  calendar.Take(5, awake);
  EXPECT_THAT(awake, ElementsAre(64));
  EXPECT_EQ(calendar.Next(), 7);
  calendar.Take(7, awake);
  EXPECT_THAT(awake, ElementsAre(2, 129));
  EXPECT_EQ(calendar.Next(), 1023);  // earlier than asked for, never later
  calendar.Take(1023, awake);
  EXPECT_THAT(awake, ElementsAre(1));
  EXPECT_EQ(calendar.Next(), kNever);
}

}  // namespace
}  // namespace heddle::replay
