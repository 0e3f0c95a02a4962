// Decoded chunks of a trace, shared by all SMs and configurations, within a bound of memory.
#ifndef HEDDLE_REPLAY_TRACE_CHUNK_CACHE_H_
#define HEDDLE_REPLAY_TRACE_CHUNK_CACHE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/decoded_chunk.h"
#include "traces/format/reader.h"

namespace heddle::replay {

// Least recently used chunks go first, those that no thread is reading before those that are. A thread that is reading
// never pins a chunk: whoever holds pointers into one is told before it goes, and asks again when it goes on, so that a
// starved thread or an old block costs a second decoding, not memory (decisions.md D14).
//
// Memory: at most `bytes` of decoded data, and in any case the one chunk that was asked for last (a chunk is at most
// 16 M accesses, normally 512 k: trace format limits), plus one encoded chunk while decoding. Independent of the number
// of blocks of a launch and of the length of its threads.
class ChunkCache {
 public:
  // Holds pointers into chunks.
  class User {
   public:
    virtual ~User() = default;
    // The chunk is about to go: forget every pointer into it.
    virtual void Evicted(const trace::DecodedChunk& chunk) = 0;
  };

  ChunkCache(const trace::TraceReader& reader, uint64_t bytes) : reader_(reader), bytes_(bytes) {}
  ChunkCache(const ChunkCache&) = delete;
  ChunkCache& operator=(const ChunkCache&) = delete;

  void AddUser(User* user) { users_.push_back(user); }
  void RemoveUser(User* user);

  // The chunk, decoded now if it is not at hand. Valid until Evicted tells otherwise. The caller counts as a reader of
  // it until it calls Release, or until the chunk is evicted.
  absl::StatusOr<const trace::DecodedChunk*> Acquire(const trace::v1::ChunkReference& reference);
  void Release(const trace::DecodedChunk& chunk);

  // Without becoming a reader: valid until the next Acquire or Peek.
  absl::StatusOr<const trace::DecodedChunk*> Peek(const trace::v1::ChunkReference& reference);

  uint64_t bytes_held() const { return held_; }
  uint64_t chunks_decoded() const { return decoded_; }

 private:
  struct Entry {
    uint64_t frame = 0;
    uint64_t bytes = 0;
    uint64_t readers = 0;
    std::unique_ptr<trace::DecodedChunk> chunk;
  };
  using Entries = std::list<Entry>;  // most recently used first

  absl::StatusOr<Entries::iterator> Find(const trace::v1::ChunkReference& reference);
  void Evict(Entries::iterator entry);
  void MakeRoom(Entries::iterator keep);

  const trace::TraceReader& reader_;
  const uint64_t bytes_;
  uint64_t held_ = 0;
  uint64_t decoded_ = 0;
  Entries entries_;
  std::unordered_map<uint64_t, Entries::iterator> by_frame_;
  std::unordered_map<const trace::DecodedChunk*, Entries::iterator> by_chunk_;
  std::vector<std::unique_ptr<trace::DecodedChunk>> spare_;  // buffers to decode into, at most one
  std::vector<User*> users_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_TRACE_CHUNK_CACHE_H_
