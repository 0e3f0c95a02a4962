#include "replay/trace/thread_cursors.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace heddle::replay {

ThreadCursors::ThreadCursors(const trace::LaunchView& launch, ChunkCache& cache, int max_threads, bool& error_flag)
    : launch_(launch), cache_(cache), decisions_(static_cast<size_t>(max_threads)), error_flag_(error_flag) {
  next_.resize(max_threads);
  limit_.resize(max_threads);
  chunk_.resize(max_threads);
  places_.resize(max_threads);
  warp_cursors_.resize((static_cast<size_t>(max_threads) + WarpCursor::kThreads - 1) / WarpCursor::kThreads);
  origins_.resize(warp_cursors_.size());
  cache_.AddUser(this);
}

ThreadCursors::~ThreadCursors() {
  for (const WarpCursor& cursor : warp_cursors_) {
    if (cursor.shared()) cache_.Release(*cursor.chunk, WarpCursor::kThreads);
  }
  for (size_t thread = 0; thread < places_.size(); ++thread) Drop(static_cast<ThreadId>(thread));
  cache_.RemoveUser(this);
}

void ThreadCursors::Start(ThreadId first, uint32_t count, const RecordedBlock& block, uint32_t index) {
  const uint32_t in_chunk = block.place * launch_.threads_per_block + index;
  const trace::DecodedChunk* chunk = ok_ ? Acquire(block.chunk, count) : nullptr;
  if (!call_stacks_.empty()) {
    for (uint32_t i = 0; i < count; ++i) call_stacks_[first + i].clear();
  }
  const bool narrowed = chunk != nullptr && IsNarrowed(*chunk);
  if (chunk != nullptr && !narrowed && count == WarpCursor::kThreads && first % WarpCursor::kThreads == 0 &&
      warp_cursors_[first / WarpCursor::kThreads].Start(*chunk, in_chunk)) {
    origins_[first / WarpCursor::kThreads] = {block.chunk, in_chunk};
    return;
  }
  Place* const places = &places_[first];
  uint32_t* const next = &next_[first];
  uint32_t* const limit = &limit_[first];
  std::fill_n(chunk_.begin() + first, count, chunk);
  if (chunk == nullptr) {  // the run ends with an error
    for (uint32_t i = 0; i < count; ++i) {
      places[i] = {.chunk = block.chunk, .thread_in_chunk = in_chunk + i};
      next[i] = limit[i] = 0;
      decisions_.Start(static_cast<ThreadId>(first + i), nullptr, 0);
    }
    return;
  }
  if (narrowed) {
    for (uint32_t i = 0; i < count; ++i) {
      const auto thread = static_cast<ThreadId>(first + i);
      places[i] = {.chunk = block.chunk, .thread_in_chunk = in_chunk + i};
      next[i] = 0;
      decisions_.Restart(thread);
      Enter(thread, *chunk);
    }
    return;
  }
  const trace::PathView* const paths = chunk->paths.data();
  const uint32_t* const path_of = &chunk->path_of_thread[in_chunk];
  const uint64_t* const first_address = &chunk->first_address[in_chunk];
  for (uint32_t i = 0; i < count; ++i) {
    const trace::PathView& path = paths[path_of[i]];
    next[i] = static_cast<uint32_t>(first_address[i]);
    places[i] = {.chunk = block.chunk, .thread_in_chunk = in_chunk + i, .begin = next[i], .path = &path};
    limit[i] = static_cast<uint32_t>(first_address[i + 1]);
    decisions_.Start(static_cast<ThreadId>(first + i), path.decisions, path.decision_count);
  }
}

bool ThreadCursors::Fail(ThreadId thread, const std::string& what) {
  if (ok_) {
    ok_ = false;
    error_flag_ = true;
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
  error_flag_ = true;
  status_ = found.status();
  return nullptr;
}

void ThreadCursors::Separate(WarpCursor& cursor, ThreadId first) {
  const Origin& origin = origins_[first / WarpCursor::kThreads];
  for (uint32_t i = 0; i < WarpCursor::kThreads; ++i) {
    const auto thread = static_cast<ThreadId>(first + i);
    places_[thread] = {.chunk = origin.chunk,
                       .thread_in_chunk = origin.thread_in_chunk + i,
                       .begin = cursor.Begin(i),
                       .path = cursor.path};
    chunk_[thread] = cursor.chunk;
    next_[thread] = cursor.Begin(i) + cursor.next_access;
    limit_[thread] = cursor.Begin(i + 1);
    decisions_.Start(thread, cursor.path->decisions, cursor.path->decision_count, cursor.decisions_taken);
  }
  cursor.chunk = nullptr;
}

void ThreadCursors::Enter(ThreadId thread, const trace::DecodedChunk& chunk) {
  Place& place = places_[thread];
  place.path = &chunk.paths[chunk.path_of_thread[place.thread_in_chunk]];
  decisions_.Bind(thread, place.path->decisions, place.path->decision_count);
  chunk_[thread] = &chunk;
  if (!IsNarrowed(chunk)) {
    place.begin = static_cast<uint32_t>(chunk.first_address[place.thread_in_chunk]);
    next_[thread] += place.begin;
    limit_[thread] = static_cast<uint32_t>(chunk.first_address[place.thread_in_chunk + 1]);
    return;
  }
  // Where the first access would be if all of them were there: so that indices tell how many accesses have been made.
  const uint32_t made = next_[thread];
  const AccessWindow* const window = cache_.Window(chunk, place.thread_in_chunk);
  const bool inside = window != nullptr && made - window->first < window->count;
  place.begin = inside ? window->place - window->first : 0 - made;
  next_[thread] = place.begin + made;
  limit_[thread] = inside ? window->place + window->count : 0;
}

bool ThreadCursors::Resolve(ThreadId thread) {
  if (!ok_) return false;
  if (WarpCursor& cursor = warp_cursors_[thread / WarpCursor::kThreads]; cursor.shared()) {
    Separate(cursor, static_cast<ThreadId>(thread - thread % WarpCursor::kThreads));
    return true;
  }
  const trace::DecodedChunk* chunk = Acquire(places_[thread].chunk, 1);
  if (chunk != nullptr) Enter(thread, *chunk);
  return chunk != nullptr;
}

void ThreadCursors::Leave(ThreadId thread) {
  next_[thread] = AccessesMade(thread);
  limit_[thread] = 0;
  chunk_[thread] = nullptr;
  decisions_.Unbind(thread);
  places_[thread].path = nullptr;
}

void ThreadCursors::Drop(ThreadId thread) {
  const trace::DecodedChunk* chunk = chunk_[thread];
  if (chunk == nullptr) return;
  Leave(thread);
  cache_.Release(*chunk, 1);
}

void ThreadCursors::Evicted(const trace::DecodedChunk& chunk) {
  for (size_t hw_warp = 0; hw_warp < warp_cursors_.size(); ++hw_warp) {
    if (warp_cursors_[hw_warp].chunk == &chunk)
      Separate(warp_cursors_[hw_warp], static_cast<ThreadId>(hw_warp * WarpCursor::kThreads));
  }
  for (size_t thread = 0; thread < chunk_.size(); ++thread) {
    if (chunk_[thread] == &chunk) Drop(static_cast<ThreadId>(thread));
  }
}

void ThreadCursors::AddReaders(const trace::v1::ChunkReference& reference, std::vector<ChunkReader>& readers) const {
  const auto found =
      std::lower_bound(launch_.chunks.begin(), launch_.chunks.end(), reference.frame(),
                       [](const trace::v1::ChunkReference& chunk, uint64_t frame) { return chunk.frame() < frame; });
  if (found == launch_.chunks.end() || found->frame() != reference.frame()) return;
  const auto chunk = static_cast<uint32_t>(found - launch_.chunks.begin());
  for (size_t hw_warp = 0; hw_warp < warp_cursors_.size(); ++hw_warp) {
    if (!warp_cursors_[hw_warp].shared() || origins_[hw_warp].chunk != chunk) continue;
    for (uint32_t i = 0; i < WarpCursor::kThreads; ++i) {
      readers.push_back({origins_[hw_warp].thread_in_chunk + i, warp_cursors_[hw_warp].next_access});
    }
  }
  for (size_t thread = 0; thread < places_.size(); ++thread) {
    if (places_[thread].chunk != chunk) continue;
    readers.push_back({places_[thread].thread_in_chunk,
                       chunk_[thread] == nullptr ? next_[thread] : AccessesMade(static_cast<ThreadId>(thread))});
  }
}

void ThreadCursors::Narrowed(const trace::DecodedChunk& old, const trace::DecodedChunk& narrowed) {
  for (size_t hw_warp = 0; hw_warp < warp_cursors_.size(); ++hw_warp) {
    if (warp_cursors_[hw_warp].chunk == &old)
      Separate(warp_cursors_[hw_warp], static_cast<ThreadId>(hw_warp * WarpCursor::kThreads));
  }
  for (size_t thread = 0; thread < chunk_.size(); ++thread) {
    if (chunk_[thread] != &old) continue;
    Leave(static_cast<ThreadId>(thread));
    Enter(static_cast<ThreadId>(thread), narrowed);
  }
}

void ThreadCursors::Progress(const AddProgress& add) const {
  for (const WarpCursor& cursor : warp_cursors_) {
    if (cursor.shared()) add(*cursor.chunk, cursor.Steps());
  }
  const trace::DecodedChunk* chunk = nullptr;  // neighbours mostly read the same one
  uint64_t steps = 0;
  for (size_t thread = 0; thread < chunk_.size(); ++thread) {
    if (chunk_[thread] != chunk) {
      if (chunk != nullptr) add(*chunk, steps);
      chunk = chunk_[thread];
      steps = 0;
    }
    steps += next_[thread] + decisions_.taken(static_cast<ThreadId>(thread)) + places_[thread].next_wide;
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
  if (!MadeAllAccesses(thread) || !decisions_.used_up(thread) || place.next_wide != place.path->wide_count) {
    return Fail(thread, "a part of its recording was not used up");
  }
  Drop(thread);
  place.chunk = next;
  place.thread_in_chunk %= launch_.threads_per_block;  // such a chunk holds one block
  place.next_wide = 0;
  decisions_.Restart(thread);
  next_[thread] = 0;
  return Resolve(thread);
}

bool ThreadCursors::NextWindow(ThreadId thread) {
  const Place& place = places_[thread];
  if (const absl::Status status = cache_.NextWindows(launch_.chunks[place.chunk]); !status.ok()) {
    ok_ = false;
    error_flag_ = true;
    status_ = status;
    return false;
  }
  if (place.path == nullptr && !Resolve(thread)) return false;
  return next_[thread] < limit_[thread] || Fail(thread, "its next accesses cannot be read");
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
  while (next_[thread] >= limit_[thread]) {
    if (!MadeAllAccesses(thread)) {
      if (!NextWindow(thread)) return false;
      continue;
    }
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

const trace::PathView* ThreadCursors::LastPath(ThreadId thread) {
  if (places_[thread].path == nullptr && !Resolve(thread)) return nullptr;
  while (places_[thread].path->extent == trace::Extent::kCut && NextPart(thread)) {
  }
  return ok_ ? places_[thread].path : nullptr;
}

LaneMask ThreadCursors::Finish(const Lanes& lanes, LaneMask exited) {
  if (WarpCursor* cursor = exited == lanes.mask ? WarpCursorOf(lanes) : nullptr;
      cursor != nullptr && cursor->path->extent != trace::Extent::kCut) {
    const bool used_up = cursor->UsedUp();
    cache_.Release(*cursor->chunk, WarpCursor::kThreads);
    cursor->chunk = nullptr;
    return used_up ? exited : 0;
  }
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
    Place& place = places_[thread];
    const trace::PathView* path = place.path;
    if (path == nullptr || path->extent == trace::Extent::kCut) [[unlikely]] {
      release();  // chunks may come and go now
      path = LastPath(thread);
      if (path == nullptr) continue;
    }
    const bool used_up = path->extent == trace::Extent::kRunsToExit && decisions_.used_up(thread) &&
                         MadeAllAccesses(thread) && place.next_wide == path->wide_count;
    at_end |= LaneMask{used_up} << lane;
    if (chunk_[thread] != left) [[unlikely]] {
      release();
      left = chunk_[thread];
    }
    ++readers;
    chunk_[thread] = nullptr;
    next_[thread] = limit_[thread] = 0;
    decisions_.Unbind(thread);
    place.path = nullptr;
    place.chunk = kNowhere;
  }
  release();
  return at_end;
}

}  // namespace heddle::replay
