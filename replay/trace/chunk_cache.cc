#include "replay/trace/chunk_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heddle::replay {

void ChunkCache::RemoveUser(User* user) { users_.erase(std::remove(users_.begin(), users_.end(), user), users_.end()); }

void ChunkCache::Evict(Entries::iterator entry) {
  if (entry->readers != 0) {
    for (User* user : users_) user->Evicted(*entry->chunk);
  }
  held_ -= entry->bytes;
  by_frame_.erase(entry->frame);
  by_chunk_.erase(entry->chunk.get());
  if (spare_.empty()) spare_.push_back(std::move(entry->chunk));
  entries_.erase(entry);
}

template <typename MayGo>
void ChunkCache::EvictDownTo(uint64_t bytes, Entries::iterator keep, MayGo may_go) {
  for (auto it = entries_.end(); held_ > bytes && it != entries_.begin();) {
    const auto entry = std::prev(it);
    if (entry == keep || !may_go(*entry)) {
      it = entry;
    } else {
      Evict(entry);
    }
  }
}

void ChunkCache::LookAtProgress() {
  std::unordered_map<const trace::DecodedChunk*, uint64_t> progress;
  for (const User* user : users_) {
    user->Progress([&](const trace::DecodedChunk& chunk, uint64_t steps) { progress[&chunk] += steps; });
  }
  for (Entry& entry : entries_) {
    const uint64_t now = progress[entry.chunk.get()];
    if (now != entry.progress) entry.moved = age_;
    entry.progress = now;
  }
}

void ChunkCache::MakeRoom(Entries::iterator keep) {
  EvictDownTo(bytes_, keep, [](const Entry& entry) { return entry.readers == 0; });
  if (held_ <= bytes_) return;
  LookAtProgress();
  EvictDownTo(bytes_, keep, [this](const Entry& entry) { return age_ - entry.moved >= kStarved; });
  EvictDownTo(kStretch * bytes_, keep, [](const Entry&) { return true; });
}

absl::StatusOr<ChunkCache::Entries::iterator> ChunkCache::Find(const trace::v1::ChunkReference& reference) {
  // Threads of a block ask for the same chunk, one after the other.
  if (!entries_.empty() && entries_.front().frame == reference.frame()) return entries_.begin();
  if (const auto found = by_frame_.find(reference.frame()); found != by_frame_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second;
  }
  std::unique_ptr<trace::DecodedChunk> chunk;
  if (spare_.empty()) {
    chunk = std::make_unique<trace::DecodedChunk>();
  } else {
    chunk = std::move(spare_.back());
    spare_.pop_back();
  }
  if (absl::Status status = prefetcher_.Read(reference, chunk); !status.ok()) return status;
  ++decoded_;
  Entry entry;
  entry.frame = reference.frame();
  entry.bytes = chunk->bytes();
  entry.moved = age_;
  entry.chunk = std::move(chunk);
  held_ += entry.bytes;
  entries_.push_front(std::move(entry));
  const auto it = entries_.begin();
  by_frame_[it->frame] = it;
  by_chunk_[it->chunk.get()] = it;
  MakeRoom(it);
  return it;
}

absl::StatusOr<const trace::DecodedChunk*> ChunkCache::Acquire(const trace::v1::ChunkReference& reference,
                                                               uint64_t readers) {
  absl::StatusOr<Entries::iterator> entry = Find(reference);
  if (!entry.ok()) return entry.status();
  (*entry)->readers += readers;
  return (*entry)->chunk.get();
}

void ChunkCache::Release(const trace::DecodedChunk& chunk, uint64_t readers) {
  Entries::iterator entry = entries_.begin();
  if (entries_.empty() || entry->chunk.get() != &chunk) {
    const auto found = by_chunk_.find(&chunk);
    if (found == by_chunk_.end()) return;
    entry = found->second;
  }
  entry->readers -= std::min(entry->readers, readers);
}

absl::StatusOr<const trace::DecodedChunk*> ChunkCache::Peek(const trace::v1::ChunkReference& reference) {
  absl::StatusOr<Entries::iterator> entry = Find(reference);
  if (!entry.ok()) return entry.status();
  return (*entry)->chunk.get();
}

}  // namespace heddle::replay
