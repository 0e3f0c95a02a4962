#include "traces/format/read/chunk_prefetcher.h"

#include <algorithm>
#include <utility>

#include "traces/base/huge_pages.h"

namespace heddle::trace {
namespace {

constexpr size_t kChunkBytes = size_t{16} << 20;  // some decoded chunks and what they are made of

}  // namespace

ChunkPrefetcher::ChunkPrefetcher(const TraceReader& reader)
    : reader_(reader), enabled_(std::thread::hardware_concurrency() > 1) {}

ChunkPrefetcher::~ChunkPrefetcher() {
  if (!worker_.joinable()) return;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return state_ != State::kBusy; });
    state_ = State::kStop;
  }
  changed_.notify_all();
  worker_.join();
}

void ChunkPrefetcher::Work() {
  PreferHugePages(kChunkBytes);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return state_ == State::kWanted || state_ == State::kStop; });
    if (state_ == State::kStop) return;
    state_ = State::kBusy;
    lock.unlock();
    // While the state is kBusy nobody else touches the reference, the chunk and the status.
    status_ = reader_.ReadChunk(ahead_, *chunk_);
    lock.lock();
    state_ = State::kDone;
    changed_.notify_all();
  }
}

void ChunkPrefetcher::StartNext(const v1::ChunkReference& reference) {
  const auto& chunks = reader_.index().chunk();
  const auto next =
      std::upper_bound(chunks.begin(), chunks.end(), reference.frame(),
                       [](uint64_t frame, const v1::ChunkReference& chunk) { return frame < chunk.frame(); });
  if (next == chunks.end() || next->launch() != reference.launch()) return;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return state_ == State::kIdle || state_ == State::kDone; });
    ahead_ = *next;
    state_ = State::kWanted;
  }
  if (!worker_.joinable()) worker_ = std::thread([this] { Work(); });
  changed_.notify_all();
}

absl::Status ChunkPrefetcher::Read(const v1::ChunkReference& reference, std::unique_ptr<DecodedChunk>& chunk) {
  // A chunk that is read again is that of a thread that was starved; its successor has been read as well.
  if (!enabled_ || reference.frame() <= furthest_frame_) return reader_.ReadChunk(reference, *chunk);
  furthest_frame_ = reference.frame();
  bool here = false;
  absl::Status status;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (state_ != State::kIdle && ahead_.frame() == reference.frame()) {
      changed_.wait(lock, [this] { return state_ == State::kDone; });
      std::swap(chunk, chunk_);
      status = std::move(status_);
      state_ = State::kIdle;
      here = true;
    }
  }
  if (here) {
    ++decoded_ahead_;
  } else {
    status = reader_.ReadChunk(reference, *chunk);
  }
  if (status.ok()) StartNext(reference);
  return status;
}

}  // namespace heddle::trace
