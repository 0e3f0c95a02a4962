// Decoded chunks of a trace, shared by all SMs and configurations, within a bound of memory.
#ifndef HEDDLE_REPLAY_TRACE_CHUNK_CACHE_H_
#define HEDDLE_REPLAY_TRACE_CHUNK_CACHE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/trace/access_windows.h"
#include "replay/trace/decoding_counters.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/read/chunk_prefetcher.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// Bounds on the decoded data that a cache holds, in bytes.
struct CacheBounds {
  uint64_t all = 0;     // see ChunkCache
  uint64_t unread = 0;  // as long as it holds more than this, chunks that no thread reads go; at most `all`
  uint64_t most = 0;    // what is read goes as well, to be decoded again; at least `all`

  // Bytes of chunks that nobody reads that suffice where every block is read once, by one configuration. Some: a
  // dispatcher need not take blocks in their order, and so may come back to a chunk. Not more: every further chunk
  // would be memory that the host touches for the first time (docs/explanation/performance.md).
  static constexpr uint64_t kReadOnce = 8u << 20;
  // For a cache that may hold `bytes`; `once`: no two runs read a launch one after the other.
  static CacheBounds Of(uint64_t bytes, bool once) {
    return {.all = bytes,
            .unread = once ? std::min(bytes / kKept, kReadOnce) : bytes / kKept,
            .most = kMostFactor * std::max(bytes, kLeast)};
  }
  static constexpr uint64_t kKept = 4;
  static constexpr uint64_t kMostFactor = 3;
  static constexpr uint64_t kLeast = 16u << 20;
};

// What the threads read that are resident stays decoded, up to CacheBounds::all. Chunks that nobody reads go first, the
// least recently used before the others.
//
// Where the threads that are resident read more than that:
// 1. Chunks go whose readers have not moved for a while: a starved thread or an old block costs a second decoding when
//    it goes on, not memory.
// 2. Chunks are narrowed to the accesses that their readers make next, as many for each as there is room for. A thread
//    that has made them has the chunk decoded once more, and all readers of the chunk get their next accesses with
//    that. So a chunk is decoded about as often as what is resident exceeds the bound, not with every step of a thread.
// 3. If paths and windows are more than CacheBounds::most, any chunk goes, the least recently used first.
// Whoever holds pointers into a chunk is told before it goes.
//
// Memory, besides: the one chunk that was asked for last (normally under 8 MB; the trace format's limits), the one that
// is decoded ahead, and two encoded ones while decoding. So it does not grow with the number of blocks of a launch or
// with the length of its threads.
class ChunkCache {
 public:
  // Holds pointers into chunks.
  class User {
   public:
    virtual ~User() = default;
    // The chunk is about to go: forget every pointer into it.
    virtual void Evicted(const trace::DecodedChunk& chunk) = 0;
    // Calls add(chunk, n) for its readers, where n grows with every step of the reader within the chunk.
    using AddProgress = std::function<void(const trace::DecodedChunk&, uint64_t)>;
    virtual void Progress(const AddProgress& add) const = 0;
    // Adds the threads that are at this chunk, whether they hold pointers into it or not.
    virtual void AddReaders(const trace::v1::ChunkReference& reference, std::vector<ChunkReader>& readers) const = 0;
    // Every pointer into `old` has to lead to the same place of `narrowed`, which may be the same object. Window tells
    // what it has of a thread.
    virtual void Narrowed(const trace::DecodedChunk& old, const trace::DecodedChunk& narrowed) = 0;
  };

  ChunkCache(const trace::TraceReader& reader, CacheBounds bounds) : prefetcher_(reader), bounds_(bounds) {}
  ChunkCache(const ChunkCache&) = delete;
  ChunkCache& operator=(const ChunkCache&) = delete;

  void AddUser(User* user) { users_.push_back(user); }
  void RemoveUser(User* user);

  // The chunk, decoded now if it is not at hand; it may be narrowed. Valid until Evicted or Narrowed tells otherwise.
  // The caller counts as `readers` readers of it until it calls Release for them, or until the chunk is evicted.
  absl::StatusOr<const trace::DecodedChunk*> Acquire(const trace::v1::ChunkReference& reference, uint64_t readers = 1);
  void Release(const trace::DecodedChunk& chunk, uint64_t readers = 1);

  // A thread at the narrowed chunk needs accesses that it does not have: decodes it once more, and gives all threads
  // that are at it windows from where they are. Users are told (Narrowed), also if the chunk was evicted meanwhile.
  absl::Status NextWindows(const trace::v1::ChunkReference& reference);
  // What the narrowed chunk has of a thread; null for nothing.
  const AccessWindow* Window(const trace::DecodedChunk& chunk, uint32_t thread) const;

  // Time passes: readers that do not move for kStarved calls are taken for starved.
  void Age() { ++age_; }
  static constexpr uint64_t kStarved = 2;

  // Without becoming a reader: valid until the next Acquire or Peek. It may be narrowed.
  absl::StatusOr<const trace::DecodedChunk*> Peek(const trace::v1::ChunkReference& reference);

  uint64_t bytes_held() const { return held_; }
  uint64_t chunks_decoded() const { return counters_.chunks; }
  const DecodingCounters& counters() const { return counters_; }

 private:
  struct Entry {
    const trace::v1::ChunkReference* reference = nullptr;  // of the trace's index
    uint64_t bytes = 0;
    uint64_t readers = 0;
    uint64_t progress = 0;  // of all readers, when last looked at
    uint64_t moved = 0;     // age of the cache when it had changed
    std::unique_ptr<trace::DecodedChunk> chunk;
    std::vector<AccessWindow> windows;  // if it is narrowed
  };
  using Entries = std::list<Entry>;  // most recently used first

  absl::StatusOr<Entries::iterator> Find(const trace::v1::ChunkReference& reference);
  absl::StatusOr<std::unique_ptr<trace::DecodedChunk>> Decode(const trace::v1::ChunkReference& reference);
  void Evict(Entries::iterator entry);
  void MakeRoom(Entries::iterator keep);
  // Narrows `whole`, which takes the place of the entry's chunk, or is that. Tells the users.
  void Narrow(Entry& entry, std::unique_ptr<trace::DecodedChunk> whole);
  void LookAtProgress();
  void Hold(Entry& entry);  // counts its bytes anew
  // Evicts chunks that may go, least recently used first, until at most `bytes` are held.
  template <typename MayGo>
  void EvictDownTo(uint64_t bytes, Entries::iterator keep, MayGo may_go);

  trace::ChunkPrefetcher prefetcher_;
  const CacheBounds bounds_;
  uint64_t held_ = 0;
  uint64_t age_ = 0;
  DecodingCounters counters_;
  Entries entries_;
  std::unordered_map<uint64_t, Entries::iterator> by_frame_;
  std::unordered_map<const trace::DecodedChunk*, Entries::iterator> by_chunk_;
  std::unordered_set<uint64_t> lost_;                        // frames of chunks that were evicted while they were read
  std::vector<std::unique_ptr<trace::DecodedChunk>> spare_;  // buffers to decode into, at most one
  std::vector<User*> users_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_TRACE_CHUNK_CACHE_H_
