// Decodes the next chunk of a launch while its user works on the present one.
#ifndef HEDDLE_TRACES_FORMAT_READ_CHUNK_PREFETCHER_H_
#define HEDDLE_TRACES_FORMAT_READ_CHUNK_PREFETCHER_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {

// Reads chunks as TraceReader::ReadChunk does, with the same results and errors; whether a chunk was decoded ahead
// shows only in the time. For one user thread. Memory: one more decoded chunk and one more encoded one.
class ChunkPrefetcher {
 public:
  // Without a second processor nothing is decoded ahead.
  explicit ChunkPrefetcher(const TraceReader& reader);
  ~ChunkPrefetcher();
  ChunkPrefetcher(const ChunkPrefetcher&) = delete;
  ChunkPrefetcher& operator=(const ChunkPrefetcher&) = delete;

  // Puts the chunk into `*chunk`, which may become another object than before, and goes on with the one that follows it
  // in the launch if it is the furthest one so far.
  absl::Status Read(const v1::ChunkReference& reference, std::unique_ptr<DecodedChunk>& chunk);

  uint64_t decoded_ahead() const { return decoded_ahead_; }  // chunks that were asked for later

 private:
  enum class State { kIdle, kWanted, kBusy, kDone, kStop };

  void Work();
  // Starts on the chunk behind `reference`.
  void StartNext(const v1::ChunkReference& reference);

  const TraceReader& reader_;
  const bool enabled_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kIdle;
  v1::ChunkReference ahead_;  // of the chunk that is wanted, worked on or done
  std::unique_ptr<DecodedChunk> chunk_ = std::make_unique<DecodedChunk>();
  absl::Status status_;
  uint64_t furthest_frame_ = 0;  // that was read; frame 0 is never a chunk
  uint64_t decoded_ahead_ = 0;
  std::thread worker_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_CHUNK_PREFETCHER_H_
