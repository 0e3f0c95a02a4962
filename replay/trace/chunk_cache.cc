#include "replay/trace/chunk_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

// The fewest accesses that a thread gets from a chunk that is narrowed.
constexpr uint64_t kLeastWindow = 4;

}  // namespace

void ChunkCache::RemoveUser(User* user) {
  users_.erase(std::remove(users_.begin(), users_.end(), user), users_.end());
  if (users_.empty()) lost_.clear();
}

void ChunkCache::Hold(Entry& entry) {
  held_ -= entry.bytes;
  entry.bytes = entry.chunk->bytes() + entry.windows.size() * sizeof(AccessWindow);
  held_ += entry.bytes;
  counters_.most_bytes = std::max(counters_.most_bytes, held_);
}

void ChunkCache::Evict(Entries::iterator entry) {
  if (entry->readers != 0) {
    lost_.insert(entry->reference->frame());
    for (User* user : users_) user->Evicted(*entry->chunk);
  }
  held_ -= entry->bytes;
  by_frame_.erase(entry->reference->frame());
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
  EvictDownTo(bounds_.unread, keep, [](const Entry& entry) { return entry.readers == 0; });
  if (held_ <= bounds_.all) return;
  // What is left of narrowed chunks is of no use to others.
  EvictDownTo(0, keep, [](const Entry& entry) { return entry.readers == 0 && IsNarrowed(*entry.chunk); });
  LookAtProgress();
  EvictDownTo(bounds_.all, keep, [this](const Entry& entry) { return age_ - entry.moved >= kStarved; });
  for (auto it = entries_.end(); held_ > bounds_.all && it != entries_.begin();) {
    --it;
    if (it != keep && !IsNarrowed(*it->chunk)) Narrow(*it, nullptr);
  }
  EvictDownTo(bounds_.most, keep, [](const Entry&) { return true; });
}

void ChunkCache::Narrow(Entry& entry, std::unique_ptr<trace::DecodedChunk> whole) {
  std::vector<ChunkReader> readers;
  for (const User* user : users_) user->AddReaders(*entry.reference, readers);
  // Half of the memory is for windows, in equal shares; the other half for chunks that are not narrowed yet.
  const auto shares = static_cast<uint64_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const Entry& other) { return other.readers != 0; }));
  const uint64_t share = bounds_.all / 2 / std::max<uint64_t>(shares, 1);
  trace::DecodedChunk& chunk = whole != nullptr ? *whole : *entry.chunk;
  const uint64_t access_bytes = chunk.addresses64.empty() ? sizeof(uint32_t) : sizeof(uint64_t);
  const uint64_t accesses = share / access_bytes / std::max<uint64_t>(readers.size(), 1);
  entry.windows = NarrowAccesses(std::move(readers), std::max(accesses, kLeastWindow), chunk);
  std::unique_ptr<trace::DecodedChunk> old;
  if (whole != nullptr) {
    by_chunk_[whole.get()] = by_chunk_.at(entry.chunk.get());
    old = std::exchange(entry.chunk, std::move(whole));
  }
  Hold(entry);
  for (User* user : users_) user->Narrowed(old != nullptr ? *old : *entry.chunk, *entry.chunk);
  if (old == nullptr) return;
  by_chunk_.erase(old.get());
  if (spare_.empty()) spare_.push_back(std::move(old));
}

absl::StatusOr<std::unique_ptr<trace::DecodedChunk>> ChunkCache::Decode(const trace::v1::ChunkReference& reference) {
  std::unique_ptr<trace::DecodedChunk> chunk;
  if (spare_.empty()) {
    chunk = std::make_unique<trace::DecodedChunk>();
  } else {
    chunk = std::move(spare_.back());
    spare_.pop_back();
  }
  HEDDLE_RETURN_IF_ERROR(prefetcher_.Read(reference, chunk));
  ++counters_.chunks;
  return chunk;
}

absl::StatusOr<ChunkCache::Entries::iterator> ChunkCache::Find(const trace::v1::ChunkReference& reference) {
  // Threads of a block ask for the same chunk, one after the other.
  Entries::iterator at = entries_.begin();
  if (entries_.empty() || at->reference->frame() != reference.frame()) {
    const auto found = by_frame_.find(reference.frame());
    at = found == by_frame_.end() ? entries_.end() : found->second;
  }
  if (at != entries_.end() && at->readers == 0 && IsNarrowed(*at->chunk)) {
    Evict(at);
    at = entries_.end();
  }
  if (at != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, at);
    return at;
  }
  absl::StatusOr<std::unique_ptr<trace::DecodedChunk>> chunk = Decode(reference);
  if (!chunk.ok()) return chunk.status();
  if (!lost_.empty()) counters_.again += lost_.erase(reference.frame());
  Entry entry;
  entry.reference = &reference;
  entry.moved = age_;
  entry.chunk = *std::move(chunk);
  entries_.push_front(std::move(entry));
  const auto it = entries_.begin();
  Hold(*it);
  by_frame_[reference.frame()] = it;
  by_chunk_[it->chunk.get()] = it;
  MakeRoom(it);
  return it;
}

absl::Status ChunkCache::NextWindows(const trace::v1::ChunkReference& reference) {
  const auto found = by_frame_.find(reference.frame());
  if (found == by_frame_.end()) return absl::OkStatus();  // whoever needs it gets the whole chunk
  const Entries::iterator entry = found->second;
  entries_.splice(entries_.begin(), entries_, entry);
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<trace::DecodedChunk> whole, Decode(reference));
  ++counters_.again;
  Narrow(*entry, std::move(whole));
  return absl::OkStatus();
}

const AccessWindow* ChunkCache::Window(const trace::DecodedChunk& chunk, uint32_t thread) const {
  const auto found = by_chunk_.find(&chunk);
  return found == by_chunk_.end() ? nullptr : FindWindow(found->second->windows, thread);
}

absl::StatusOr<const trace::DecodedChunk*> ChunkCache::Acquire(const trace::v1::ChunkReference& reference,
                                                               uint64_t readers) {
  HEDDLE_ASSIGN_OR_RETURN(Entries::iterator entry, Find(reference));
  entry->readers += readers;
  return entry->chunk.get();
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
  HEDDLE_ASSIGN_OR_RETURN(Entries::iterator entry, Find(reference));
  return entry->chunk.get();
}

}  // namespace heddle::replay
