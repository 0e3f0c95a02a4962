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

void ThreadCursors::Start(ThreadId thread, const RecordedBlock& block, uint32_t index) {
  Place& place = places_[thread];
  place = Place();
  place.chunk = block.chunk;
  place.thread_in_chunk = block.place * launch_.threads_per_block + index;
  place.index_in_block = index;
  place.active = true;
  decisions_.Restart(thread);
  addresses_[thread] = Addresses();
  call_stacks_[thread].clear();
  Resolve(thread);
}

bool ThreadCursors::Fail(ThreadId thread, const std::string& what) {
  if (ok_) {
    ok_ = false;
    status_ = absl::InternalError(absl::StrCat("thread ", places_[thread].index_in_block, " of a block in chunk ",
                                               places_[thread].chunk, " of launch ", launch_.launch.id(), ": ", what));
  }
  return false;
}

bool ThreadCursors::Resolve(ThreadId thread) {
  if (!ok_) return false;
  Place& place = places_[thread];
  absl::StatusOr<const trace::DecodedChunk*> found = cache_.Acquire(launch_.chunks[place.chunk]);
  if (!found.ok()) {
    ok_ = false;
    status_ = found.status();
    return false;
  }
  const trace::DecodedChunk& chunk = **found;
  place.path = &chunk.paths[chunk.path_of_thread[place.thread_in_chunk]];
  decisions_.Bind(thread, place.path->decisions, place.path->decision_count);
  Addresses& addresses = addresses_[thread];
  const uint64_t first = chunk.first_address[place.thread_in_chunk];
  addresses.chunk = &chunk;
  addresses.next += first;
  addresses.limit = chunk.first_address[place.thread_in_chunk + 1];
  return true;
}

void ThreadCursors::Drop(ThreadId thread) {
  Addresses& addresses = addresses_[thread];
  if (addresses.chunk == nullptr) return;
  addresses.next -= addresses.chunk->first_address[places_[thread].thread_in_chunk];
  addresses.limit = 0;
  decisions_.Unbind(thread);
  places_[thread].path = nullptr;
  cache_.Release(*addresses.chunk);
  addresses.chunk = nullptr;
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
  place.thread_in_chunk = place.index_in_block;  // such a chunk holds one block
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

bool ThreadCursors::Finish(ThreadId thread) {
  if (places_[thread].path == nullptr && !Resolve(thread)) return false;
  while (places_[thread].path->extent == trace::Extent::kCut) {
    if (!NextPart(thread)) return false;
  }
  const Place& place = places_[thread];
  const bool at_end = place.path->extent == trace::Extent::kRunsToExit && decisions_.used_up(thread) &&
                      addresses_[thread].next == addresses_[thread].limit && place.next_wide == place.path->wide_count;
  Drop(thread);
  places_[thread].active = false;
  return at_end;
}

}  // namespace heddle::replay
