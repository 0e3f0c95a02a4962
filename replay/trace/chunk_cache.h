// Decoded chunks of a trace, shared by all SMs and configurations, within a bound of memory.
#ifndef HEDDLE_REPLAY_TRACE_CHUNK_CACHE_H_
#define HEDDLE_REPLAY_TRACE_CHUNK_CACHE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/chunk_prefetcher.h"
#include "traces/format/decoded_chunk.h"
#include "traces/format/reader.h"

namespace heddle::replay {

// Least recently used chunks go first, and of those that no thread is reading. Of the others, those whose readers have
// not moved since the cache was last full: a starved thread or an old block costs a second decoding when it goes on,
// not memory. Whoever holds pointers into a chunk is told before it goes.
//
// Memory: at most `bytes` of decoded data that is not being read, and at most kStretch times as much where threads that
// move read from that many chunks at once (one part per resident block, if blocks are cut in time); in any case the one
// chunk that was asked for last (normally under 8 MB; the trace format's limits), the one that is decoded ahead, and
// two encoded ones while decoding. So memory does not grow with the number of blocks of a launch or with the length of
// its threads.
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
  };

  static constexpr uint64_t kStretch = 3;

  // Bytes that suffice where every block is read once, by one configuration. Some: a dispatcher need not take blocks in
  // their order, and so may come back to a chunk. Not more: every further chunk would be memory that the host touches
  // for the first time (docs/performance.md).
  static constexpr uint64_t kReadOnceBytes = 8u << 20;

  ChunkCache(const trace::TraceReader& reader, uint64_t bytes) : prefetcher_(reader), bytes_(bytes) {}
  ChunkCache(const ChunkCache&) = delete;
  ChunkCache& operator=(const ChunkCache&) = delete;

  void AddUser(User* user) { users_.push_back(user); }
  void RemoveUser(User* user);

  // The chunk, decoded now if it is not at hand. Valid until Evicted tells otherwise. The caller counts as `readers`
  // readers of it until it calls Release for them, or until the chunk is evicted.
  absl::StatusOr<const trace::DecodedChunk*> Acquire(const trace::v1::ChunkReference& reference, uint64_t readers = 1);
  void Release(const trace::DecodedChunk& chunk, uint64_t readers = 1);

  // Time passes: readers that do not move for kStarved calls are taken for starved.
  void Age() { ++age_; }
  static constexpr uint64_t kStarved = 2;

  // Without becoming a reader: valid until the next Acquire or Peek.
  absl::StatusOr<const trace::DecodedChunk*> Peek(const trace::v1::ChunkReference& reference);

  uint64_t bytes_held() const { return held_; }
  uint64_t chunks_decoded() const { return decoded_; }

 private:
  struct Entry {
    uint64_t frame = 0;
    uint64_t bytes = 0;
    uint64_t readers = 0;
    uint64_t progress = 0;  // of all readers, when last looked at
    uint64_t moved = 0;     // age of the cache when it had changed
    std::unique_ptr<trace::DecodedChunk> chunk;
  };
  using Entries = std::list<Entry>;  // most recently used first

  absl::StatusOr<Entries::iterator> Find(const trace::v1::ChunkReference& reference);
  void Evict(Entries::iterator entry);
  void MakeRoom(Entries::iterator keep);
  void LookAtProgress();
  // Evicts chunks that may go, least recently used first, until at most `bytes` are held.
  template <typename MayGo>
  void EvictDownTo(uint64_t bytes, Entries::iterator keep, MayGo may_go);

  trace::ChunkPrefetcher prefetcher_;
  const uint64_t bytes_;
  uint64_t held_ = 0;
  uint64_t decoded_ = 0;
  uint64_t age_ = 0;
  Entries entries_;
  std::unordered_map<uint64_t, Entries::iterator> by_frame_;
  std::unordered_map<const trace::DecodedChunk*, Entries::iterator> by_chunk_;
  std::vector<std::unique_ptr<trace::DecodedChunk>> spare_;  // buffers to decode into, at most one
  std::vector<User*> users_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_TRACE_CHUNK_CACHE_H_
