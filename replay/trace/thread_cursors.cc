#include "replay/trace/thread_cursors.h"

#include "absl/strings/str_cat.h"

namespace heddle::replay {

ThreadCursors::ThreadCursors(const trace::LaunchView& launch, ChunkCache& cache, int max_threads)
    : launch_(launch), cache_(cache), decisions_(static_cast<size_t>(max_threads)) {
  addresses_.resize(max_threads);
  places_.resize(max_threads);
  call_stacks_.resize(max_threads);
  cache_.AddUser(this);
}

ThreadCursors::~ThreadCursors() {
  for (size_t thread = 0; thread < places_.size(); ++thread) Drop(static_cast<ThreadId>(thread));
  cache_.RemoveUser(this);
}

void ThreadCursors::Start(ThreadId first, uint32_t count, const RecordedBlock& block, uint32_t index) {
  const uint32_t in_chunk = block.place * launch_.threads_per_block + index;
  const trace::DecodedChunk* chunk = ok_ ? Acquire(block.chunk, count) : nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    const auto thread = static_cast<ThreadId>(first + i);
    places_[thread] = {.chunk = block.chunk, .thread_in_chunk = in_chunk + i};
    decisions_.Restart(thread);
    addresses_[thread] = Addresses();
    if (calls_) call_stacks_[thread].clear();
    if (chunk != nullptr) Enter(thread, *chunk);
  }
}

bool ThreadCursors::Fail(ThreadId thread, const std::string& what) {
  if (ok_) {
    ok_ = false;
    status_ = absl::InternalError(absl::StrCat("thread ", places_[thread].thread_in_chunk % launch_.threads_per_block,
                                               " of a block in chunk ", places_[thread].chunk, " of launch ",
                                               launch_.launch.id(), ": ", what));
  }
  return false;
}

const trace::DecodedChunk* ThreadCursors::Acquire(uint32_t chunk, uint32_t readers) {
  absl::StatusOr<const trace::DecodedChunk*> found = cache_.Acquire(launch_.chunks[chunk], readers);
  if (found.ok()) return *found;
  ok_ = false;
  status_ = found.status();
  return nullptr;
}

void ThreadCursors::Enter(ThreadId thread, const trace::DecodedChunk& chunk) {
  Place& place = places_[thread];
  place.path = &chunk.paths[chunk.path_of_thread[place.thread_in_chunk]];
  decisions_.Bind(thread, place.path->decisions, place.path->decision_count);
  Addresses& addresses = addresses_[thread];
  addresses.chunk = &chunk;
  addresses.next += static_cast<uint32_t>(chunk.first_address[place.thread_in_chunk]);
  addresses.limit = static_cast<uint32_t>(chunk.first_address[place.thread_in_chunk + 1]);
}

bool ThreadCursors::Resolve(ThreadId thread) {
  if (!ok_) return false;
  const trace::DecodedChunk* chunk = Acquire(places_[thread].chunk, 1);
  if (chunk != nullptr) Enter(thread, *chunk);
  return chunk != nullptr;
}

void ThreadCursors::Leave(ThreadId thread) {
  Addresses& addresses = addresses_[thread];
  addresses.next -= static_cast<uint32_t>(addresses.chunk->first_address[places_[thread].thread_in_chunk]);
  addresses.limit = 0;
  addresses.chunk = nullptr;
  decisions_.Unbind(thread);
  places_[thread].path = nullptr;
}

void ThreadCursors::Drop(ThreadId thread) {
  const trace::DecodedChunk* chunk = addresses_[thread].chunk;
  if (chunk == nullptr) return;
  Leave(thread);
  cache_.Release(*chunk, 1);
}

void ThreadCursors::Evicted(const trace::DecodedChunk& chunk) {
  for (size_t thread = 0; thread < addresses_.size(); ++thread) {
    if (addresses_[thread].chunk == &chunk) Drop(static_cast<ThreadId>(thread));
  }
}

void ThreadCursors::Progress(const AddProgress& add) const {
  const trace::DecodedChunk* chunk = nullptr;  // neighbours mostly read the same one
  uint64_t steps = 0;
  for (size_t thread = 0; thread < addresses_.size(); ++thread) {
    if (addresses_[thread].chunk != chunk) {
      if (chunk != nullptr) add(*chunk, steps);
      chunk = addresses_[thread].chunk;
      steps = 0;
    }
    steps += addresses_[thread].next + decisions_.taken(static_cast<ThreadId>(thread)) + places_[thread].next_wide;
  }
  if (chunk != nullptr) add(*chunk, steps);
}

bool ThreadCursors::NextPart(ThreadId thread) {
  Place& place = places_[thread];
  if (place.path->extent != trace::Extent::kCut) return false;
  const uint32_t next = place.chunk + 1;
  if (next >= launch_.chunks.size() || launch_.chunks[next].part() != launch_.chunks[place.chunk].part() + 1) {
    return Fail(thread, "the next part of its block is missing");
  }
  if (addresses_[thread].next != addresses_[thread].limit || !decisions_.used_up(thread) ||
      place.next_wide != place.path->wide_count) {
    return Fail(thread, "a part of its recording was not used up");
  }
  Drop(thread);
  place.chunk = next;
  place.thread_in_chunk %= launch_.threads_per_block;  // such a chunk holds one block
  place.next_wide = 0;
  decisions_.Restart(thread);
  addresses_[thread].next = 0;
  return Resolve(thread);
}

bool ThreadCursors::RefillDecisions(ThreadId thread) {
  if (places_[thread].path == nullptr && !Resolve(thread)) return false;
  while (!decisions_.Refill(thread)) {
    if (NextPart(thread)) continue;
    return Fail(thread, "its recording has no decision left for a branch");
  }
  return true;
}

bool ThreadCursors::RefillAddresses(ThreadId thread) {
  if (places_[thread].path == nullptr && !Resolve(thread)) return false;
  while (addresses_[thread].next >= addresses_[thread].limit) {
    if (NextPart(thread)) continue;
    return Fail(thread, "its recording has no address left for a memory instruction");
  }
  return true;
}

uint32_t ThreadCursors::TakeWideDecision(ThreadId thread) {
  if (places_[thread].path == nullptr && !Resolve(thread)) return 0;
  while (places_[thread].next_wide >= places_[thread].path->wide_count) {
    if (NextPart(thread)) continue;
    Fail(thread, "its recording has no decision left for a branch");
    return 0;
  }
  return places_[thread].path->wide[places_[thread].next_wide++];
}

bool ThreadCursors::AtEnd(ThreadId thread) const {
  const Place& place = places_[thread];
  return place.path->extent == trace::Extent::kRunsToExit && decisions_.used_up(thread) &&
         addresses_[thread].next == addresses_[thread].limit && place.next_wide == place.path->wide_count;
}

LaneMask ThreadCursors::Finish(const Lanes& lanes, LaneMask exited) {
  LaneMask at_end = 0;
  // Neighbours mostly leave the same chunk: the cache is told once.
  const trace::DecodedChunk* left = nullptr;
  uint32_t readers = 0;
  const auto release = [&] {
    if (readers != 0) cache_.Release(*left, readers);
    readers = 0;
  };
  for (; exited != 0; exited &= exited - 1) {
    const int lane = std::countr_zero(exited);
    const ThreadId thread = lanes.thread[lane];
    if (places_[thread].path == nullptr || places_[thread].path->extent == trace::Extent::kCut) {
      release();  // chunks may come and go now
      if (places_[thread].path == nullptr && !Resolve(thread)) continue;
      while (places_[thread].path->extent == trace::Extent::kCut && NextPart(thread)) {
      }
      if (!ok_) continue;
    }
    if (AtEnd(thread)) at_end |= LaneMask{1} << lane;
    if (addresses_[thread].chunk != left) release();
    left = addresses_[thread].chunk;
    ++readers;
    Leave(thread);
  }
  release();
  return at_end;
}

}  // namespace heddle::replay
