// What the cache of decoded chunks keeps, and the queues of events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "replay/core/pending/event_wheel.h"
#include "replay/engine/order/calendar.h"
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
    trace::testing::ProgramBuilder program("loads");
    for (uint32_t i = 0; i < kAccesses; ++i) program.Load();
    trace::WriterOptions small;
    small.chunk_thread_instructions = 1000;
    EXPECT_TRUE(trace::testing::WriteRandomTrace(file.path(), program.Exit().Build(), 1, 64, 32, {}, small).ok());
    reader_ = trace::TraceReader::Open(trace::FromMemory(trace::testing::ReadFile(file.path())), "test").value();
    EXPECT_GE(chunks().size(), 8);
    trace::DecodedChunk chunk;
    EXPECT_TRUE(reader_->ReadChunk(chunks()[0], chunk).ok());
    chunk_bytes_ = chunk.bytes();
  }
  static constexpr uint32_t kAccesses = 200;  // of a thread
  // In chunks.
  CacheBounds Chunks(double all, double unread, double most) const {
    const auto bytes = [this](double count) {
      return static_cast<uint64_t>(count * static_cast<double>(chunk_bytes_));
    };
    return {.all = bytes(all), .unread = bytes(unread), .most = bytes(most)};
  }
  static uint64_t AccessAt(const trace::DecodedChunk& chunk, uint64_t place) {
    return chunk.offsets32.empty() ? chunk.addresses64[place] : chunk.offsets32[place];
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
  void AddReaders(const trace::v1::ChunkReference& reference, std::vector<ChunkReader>& readers) const override {
    const auto at = threads.find(reference.frame());
    if (at != threads.end()) readers.insert(readers.end(), at->second.begin(), at->second.end());
  }
  void Narrowed(const trace::DecodedChunk& old, const trace::DecodedChunk& fresh) override {
    narrowed.push_back(fresh.blocks[0]);
    const uint64_t count = steps[&old];
    steps.erase(&old);
    steps[&fresh] = count;
  }
  std::map<const trace::DecodedChunk*, uint64_t> steps;
  std::map<uint64_t, std::vector<ChunkReader>> threads;  // by frame
  std::vector<uint64_t> evicted;
  std::vector<uint64_t> narrowed;
};

TEST_F(ChunkCacheTest, DecodesAChunkOnceWhileItFits) {
  ChunkCache cache(*reader_, CacheBounds::Of(1u << 30, /*once=*/false));
  for (int round = 0; round < 3; ++round) {
    for (const auto& reference : chunks()) ASSERT_TRUE(cache.Peek(reference).ok());
  }
  EXPECT_EQ(cache.chunks_decoded(), chunks().size());
}

TEST_F(ChunkCacheTest, DropsTheLeastRecentlyUsedThatNobodyReads) {
  ChunkCache cache(*reader_, Chunks(3.5, 3.5, 30));
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

// However few of those that nobody reads are kept.
TEST_F(ChunkCacheTest, KeepsWhatIsReadAndDropsWhatIsNot) {
  ChunkCache cache(*reader_, Chunks(7.5, 1.5, 30));
  FakeReader reader;
  cache.AddUser(&reader);
  std::vector<const trace::DecodedChunk*> read;
  for (int i = 0; i < 6; ++i) read.push_back(cache.Acquire(chunks()[i]).value());
  for (int i = 0; i < 6; ++i) EXPECT_EQ(cache.Acquire(chunks()[i]).value(), read[i]);
  EXPECT_EQ(cache.chunks_decoded(), 6);
  EXPECT_THAT(reader.narrowed, IsEmpty());
  for (const trace::DecodedChunk* chunk : read) cache.Release(*chunk, 2);
  ASSERT_TRUE(cache.Peek(chunks()[6]).ok());
  EXPECT_THAT(reader.evicted, IsEmpty()) << "nobody reads them";
  EXPECT_LE(cache.bytes_held(), chunk_bytes_ + chunk_bytes_ / 2);
  EXPECT_EQ(cache.counters().again, 0);
}

TEST_F(ChunkCacheTest, WhatStarvedThreadsHoldGoesFirst) {
  ChunkCache cache(*reader_, Chunks(3.5, 3.5, 30));
  FakeReader reader;
  cache.AddUser(&reader);
  for (int i = 0; i < 3; ++i) reader.steps[cache.Acquire(chunks()[i]).value()] = 0;
  for (uint64_t age = 0; age <= ChunkCache::kStarved; ++age) cache.Age();
  for (auto& [chunk, steps] : reader.steps) steps += chunk->blocks[0] != chunks()[1].first_block();
  ASSERT_TRUE(cache.Acquire(chunks()[3]).ok());
  EXPECT_THAT(reader.evicted, ElementsAre(chunks()[1].first_block()));
  EXPECT_THAT(reader.narrowed, IsEmpty());
  ASSERT_TRUE(cache.Acquire(chunks()[1]).ok());
  EXPECT_EQ(cache.counters().again, 1) << "it goes on";
}

// Beyond the bound threads that move keep their paths, and the accesses that they make next.
TEST_F(ChunkCacheTest, NarrowsWhatMovingThreadsRead) {
  ChunkCache cache(*reader_, Chunks(2.5, 2.5, 30));
  FakeReader reader;
  cache.AddUser(&reader);
  trace::DecodedChunk whole;
  ASSERT_TRUE(reader_->ReadChunk(chunks()[0], whole).ok());
  const auto access = [&whole](uint32_t thread, uint32_t number) {
    return AccessAt(whole, whole.first_address[thread] + number);
  };
  reader.threads[chunks()[0].frame()] = {{5, 0}, {1, 30}, {2, kAccesses}};
  const trace::DecodedChunk* const first = cache.Acquire(chunks()[0], 3).value();
  ASSERT_TRUE(cache.Acquire(chunks()[1]).ok());
  EXPECT_THAT(reader.narrowed, IsEmpty());
  ASSERT_TRUE(cache.Acquire(chunks()[2]).ok());
  EXPECT_THAT(reader.narrowed, ElementsAre(chunks()[0].first_block()));
  EXPECT_THAT(reader.evicted, IsEmpty());
  EXPECT_LE(cache.bytes_held(), 2 * chunk_bytes_ + chunk_bytes_ / 2);
  EXPECT_EQ(cache.counters().again, 0);
  const auto holds = [&](const trace::DecodedChunk& chunk, uint32_t thread, uint32_t from) {
    const AccessWindow* const window = cache.Window(chunk, thread);
    ASSERT_NE(window, nullptr);
    EXPECT_EQ(window->first, from);
    EXPECT_EQ(window->count == 0, from == kAccesses);
    for (uint32_t i = 0; i < window->count; ++i) {
      EXPECT_EQ(AccessAt(chunk, window->place + i), access(thread, from + i)) << thread;
    }
  };
  ASSERT_TRUE(IsNarrowed(*first));
  holds(*first, 1, 30);
  holds(*first, 2, kAccesses);
  holds(*first, 5, 0);
  EXPECT_EQ(cache.Window(*first, 3), nullptr);
  // They have gone on, and another one has come.
  reader.threads[chunks()[0].frame()] = {{5, 10}, {1, 77}, {3, 0}};
  ASSERT_TRUE(cache.NextWindows(chunks()[0]).ok());
  EXPECT_EQ(cache.counters().again, 1);
  EXPECT_THAT(reader.narrowed, ElementsAre(chunks()[0].first_block(), chunks()[0].first_block()));
  const trace::DecodedChunk* const second = cache.Acquire(chunks()[0]).value();
  ASSERT_TRUE(IsNarrowed(*second));
  holds(*second, 1, 77);
  holds(*second, 3, 0);
  holds(*second, 5, 10);
  // Whoever comes when nobody reads it any more gets it whole.
  cache.Release(*second, 4);
  EXPECT_FALSE(IsNarrowed(*cache.Acquire(chunks()[0]).value()));
}

TEST_F(ChunkCacheTest, NeverHoldsMoreThanItMay) {
  ChunkCache cache(*reader_, Chunks(1.5, 1.5, 3));
  FakeReader reader;
  cache.AddUser(&reader);
  for (const auto& reference : chunks()) {
    for (uint32_t thread = 0; thread < 32; ++thread) reader.threads[reference.frame()].push_back({thread, 0});
    reader.steps[cache.Acquire(reference).value()] = 1;
    EXPECT_LE(cache.bytes_held(), 3 * chunk_bytes_);
  }
  EXPECT_FALSE(reader.narrowed.empty());
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
