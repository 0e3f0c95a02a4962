// Where each hardware thread of an SM is in its recording.
#ifndef HEDDLE_REPLAY_TRACE_THREAD_CURSORS_H_
#define HEDDLE_REPLAY_TRACE_THREAD_CURSORS_H_

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "replay/seams/lane_mask.h"
#include "replay/seams/types.h"
#include "replay/trace/chunk_cache.h"
#include "replay/trace/decision_windows.h"
#include "replay/trace/warp_cursor.h"
#include "traces/format/limits.h"
#include "traces/format/program/program.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// A recorded block: the chunk that holds its first part, and its place there.
struct RecordedBlock {
  uint32_t chunk = 0;  // index in LaunchView::chunks
  uint32_t place = 0;  // among the chunk's blocks
};

// One cursor per hardware thread: next decision, next address, call stack. The paths themselves stay in the decoded
// chunks. A cursor whose chunk was evicted has no pointers and limits of zero, so that one comparison in the hot path
// finds both the end of a part and a lost chunk; the slow path then fetches the chunk again, or goes on to the next
// part of a block that was cut in time.
//
// Hardware warps of 32 threads that start on the same path have one cursor in common (WarpCursor) until somebody moves
// only some of them, or something else than decisions and accesses comes up. Until then their own cursors are like
// those of threads without a chunk, so that the same slow path gives each thread its own.
//
// Of a chunk that the cache has narrowed a cursor has a window only; behind that the slow path asks for the next one.
//
// A trace that ends too early or cannot be read again sets status(); the values handed out after that are meaningless.
class ThreadCursors : public ChunkCache::User {
 public:
  // `error_flag` is set when the recording turns out to be wrong, for who asks in every cycle; it outlives this.
  ThreadCursors(const trace::LaunchView& launch, ChunkCache& cache, int max_threads, bool& error_flag);
  ~ThreadCursors() override;
  ThreadCursors(const ThreadCursors&) = delete;
  ThreadCursors& operator=(const ThreadCursors&) = delete;

  // `count` threads from `first` on start at the kernel's entry: those of a recorded block from number `index` on.
  void Start(ThreadId first, uint32_t count, const RecordedBlock& block, uint32_t index);
  // The threads of the lanes `exited` exit; returns those whose recordings are used up too. Forgets the cursors.
  LaneMask Finish(const Lanes& lanes, LaneMask exited);

  // Takes the next two-way decision of each lane's thread; returns the lanes that decide 1.
  LaneMask TakeDecisions(const Lanes& lanes) { return NextDecisions</*kTake=*/true>(lanes); }
  // What TakeDecisions would return; leaves the threads where they are.
  LaneMask PeekDecisions(const Lanes& lanes) { return NextDecisions</*kTake=*/false>(lanes); }
  // Takes one thread's next two-way decision: 0 or 1.
  uint32_t TakeDecision(ThreadId thread) {
    return decisions_.has_next(thread) || RefillDecisions(thread) ? decisions_.Take(thread) : 0;
  }
  // Takes the decision of each lane's thread on the guard of what it comes to.
  void TakeGuards(const Lanes& lanes) {
    const LaneMask passing = TakeDecisions(lanes);
    ForEachLane(lanes.mask, [&](int lane) { decisions_.SetGuard(lanes.thread[lane], (passing >> lane & 1) == 0); });
  }
  // Lanes whose thread's guard, the last one taken, holds.
  LaneMask LanesUnderGuard(const Lanes& lanes) const {
    LaneMask holds = 0;
    ForEachLane(lanes.mask, [&](int lane) { holds |= LaneMask{decisions_.guard(lanes.thread[lane])} << lane; });
    return holds;
  }
  // Next decision of a wide branch or an indirect call.
  uint32_t TakeWideDecision(ThreadId thread);

  // Moves each lane's thread beyond its next access.
  void SkipAddresses(const Lanes& lanes) {
    if (WarpCursor* cursor = WarpCursorOf(lanes); cursor != nullptr && cursor->HasAccess()) {
      ++cursor->next_access;
      return;
    }
    for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
      const ThreadId thread = lanes.thread[std::countr_zero(mask)];
      if (next_[thread] >= limit_[thread] && !RefillAddresses(thread)) continue;
      ++next_[thread];
    }
  }
  // The address that each lane's thread accesses next, with the instruction at `pc`; the cursors stay.
  void PeekAddresses(const Lanes& lanes, Pc pc, std::array<uint64_t, kMaxLanes>& out) {
    ReadAddresses<0>(lanes, pc, out);
  }
  // Takes the addresses of the 32 threads of a hardware warp in the order of the lanes, if they have one cursor: else
  // nothing, and false.
  bool TakeWarpAddresses(uint32_t hw_warp, Pc pc, std::array<uint64_t, kMaxLanes>& out) {
    WarpCursor& cursor = warp_cursors_[hw_warp];
    if (!cursor.shared() || !cursor.HasAccess()) return false;
    cursor.Addresses(pc, out);
    ++cursor.next_access;
    return true;
  }
  // PeekAddresses, and moves each thread beyond that access.
  void TakeAddresses(const Lanes& lanes, Pc pc, std::array<uint64_t, kMaxLanes>& out) {
    ReadAddresses<1>(lanes, pc, out);
  }

  // Blocks that end in a call whose continuation is pending; its size is the thread's call depth.
  std::vector<uint32_t>& call_stack(ThreadId thread) {
    if (call_stacks_.empty()) call_stacks_.resize(chunk_.size());
    return call_stacks_[thread];
  }

  absl::Status status() const { return status_; }
  bool ok() const { return ok_; }

  void Evicted(const trace::DecodedChunk& chunk) override;
  void Progress(const AddProgress& add) const override;
  void AddReaders(const trace::v1::ChunkReference& reference, std::vector<ChunkReader>& readers) const override;
  void Narrowed(const trace::DecodedChunk& old, const trace::DecodedChunk& narrowed) override;

 private:
  // Threads that are looked at together, if they are neighbours and all take part.
  static constexpr uint32_t kWarp = DecisionWindows::kWarp;
  static constexpr LaneMask kFullWarp = (LaneMask{1} << kWarp) - 1;

  template <bool kTake>
  LaneMask NextDecisions(const Lanes& lanes) {
    if (WarpCursor* cursor = WarpCursorOf(lanes); cursor != nullptr && cursor->HasDecision()) {
      const LaneMask taken = cursor->Decision();
      cursor->decisions_taken += kTake;
      return taken;
    }
    LaneMask taken = 0;
    const ThreadId* const threads = lanes.thread.data();
    if (lanes.mask == kFullWarp &&
        (kTake ? decisions_.TakeWarp(threads, taken) : decisions_.PeekWarp(threads, taken))) {
      return taken;
    }
    for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      const ThreadId thread = threads[lane];
      if (!decisions_.has_next(thread) && !RefillDecisions(thread)) continue;
      taken |= LaneMask{kTake ? decisions_.Take(thread) : decisions_.Peek(thread)} << lane;
    }
    return taken;
  }
  // The rest: only the slow path looks here.
  static constexpr uint32_t kNowhere = ~uint32_t{0};
  struct Place {
    uint32_t chunk = kNowhere;  // index in LaunchView::chunks; kNowhere: no thread there, or its warp has a cursor
    uint32_t thread_in_chunk = 0;
    uint32_t next_wide = 0;
    uint32_t begin = 0;  // with a chunk: the index there of its first access, modulo 2^32: see Enter
    const trace::PathView* path = nullptr;
  };
  // Where the first thread of a shared cursor is recorded.
  struct Origin {
    uint32_t chunk = 0;  // index in LaunchView::chunks
    uint32_t thread_in_chunk = 0;
  };
  // Indices of accesses in a chunk fit into 32 bits.
  static_assert(trace::kMaxChunkAccesses < uint64_t{1} << 32);

  // Each lane's next address; the cursors move by `kStep` accesses. Threads of a warp mostly read the same chunk, so
  // that what it says of the instruction is looked up once.
  template <uint32_t kStep>
  void ReadAddresses(const Lanes& lanes, Pc pc, std::array<uint64_t, kMaxLanes>& out) {
    if (WarpCursor* cursor = WarpCursorOf(lanes); cursor != nullptr && cursor->HasAccess()) {
      cursor->Addresses(pc, out);
      cursor->next_access += kStep;
      return;
    }
    if (lanes.mask == kFullWarp && ReadWarp<kStep>(lanes.thread.data(), pc, out)) return;
    const trace::DecodedChunk* chunk = nullptr;
    const uint32_t* offsets = nullptr;
    uint64_t base = 0;
    for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      const ThreadId thread = lanes.thread[lane];
      if (next_[thread] >= limit_[thread]) {
        if (!RefillAddresses(thread)) continue;
        chunk = nullptr;  // it may have given way to another in the same place
      }
      if (chunk_[thread] != chunk) {
        chunk = chunk_[thread];
        offsets = chunk->offsets32.empty() ? nullptr : chunk->offsets32.data();
        base = offsets == nullptr ? 0 : chunk->base[pc];
      }
      out[lane] = offsets != nullptr ? base + offsets[next_[thread]] : chunk->addresses64[next_[thread]];
      next_[thread] += kStep;
    }
  }
  // ReadAddresses for neighbours that read one chunk of 32-bit offsets, and have an access left in it. False if they
  // are others; nothing has been read then.
  template <uint32_t kStep>
  bool ReadWarp(const ThreadId* threads, Pc pc, std::array<uint64_t, kMaxLanes>& out) {
    const size_t first = threads[0];
    if (first + kWarp > next_.size()) return false;
    uint32_t* const next = &next_[first];
    const uint32_t* const limit = &limit_[first];
    const trace::DecodedChunk* const* const chunks = &chunk_[first];
    // Loops without an exit, which run over several threads at a time.
    ThreadId apart = 0;
    for (uint32_t i = 0; i < kWarp; ++i) apart |= static_cast<ThreadId>(threads[i] - threads[0] - i);
    uint32_t at_limit = 0;
    for (uint32_t i = 0; i < kWarp; ++i) at_limit |= next[i] >= limit[i] ? 1u : 0u;
    uintptr_t elsewhere = 0;
    for (uint32_t i = 0; i < kWarp; ++i) {
      elsewhere |= reinterpret_cast<uintptr_t>(chunks[i]) ^ reinterpret_cast<uintptr_t>(chunks[0]);
    }
    if ((apart | at_limit | elsewhere) != 0 || chunks[0]->offsets32.empty()) return false;
    const uint32_t* const offsets = chunks[0]->offsets32.data();
    const uint64_t base = chunks[0]->base[pc];
    for (uint32_t i = 0; i < kWarp; ++i) out[i] = base + offsets[next[i]];
    for (uint32_t i = 0; i < kWarp; ++i) next[i] += kStep;
    return true;
  }

  // The common cursor of the threads, if they have one; null if there is none, or the lanes hold others.
  WarpCursor* WarpCursorOf(const Lanes& lanes) {
    if (lanes.mask != WarpCursor::kLanes) return nullptr;
    const ThreadId first = lanes.thread[0];
    WarpCursor& cursor = warp_cursors_[first / WarpCursor::kThreads];
    if (!cursor.shared() || first % WarpCursor::kThreads != 0) return nullptr;
    return FollowOneAnother(lanes.thread.data(), WarpCursor::kThreads) ? &cursor : nullptr;
  }
  // The threads of the warp that begins with `first` get cursors of their own.
  void Separate(WarpCursor& cursor, ThreadId first);

  bool RefillDecisions(ThreadId thread);
  bool RefillAddresses(ThreadId thread);
  // The chunk for `readers` more cursors; null if it cannot be read.
  const trace::DecodedChunk* Acquire(uint32_t chunk, uint32_t readers);
  // Points the cursor into its chunk.
  void Enter(ThreadId thread, const trace::DecodedChunk& chunk);
  // Fetches the chunk of a cursor that has lost it, or gives the threads of its warp their own.
  bool Resolve(ThreadId thread);
  // Forgets what points into the chunk; Drop also tells the cache.
  void Leave(ThreadId thread);
  void Drop(ThreadId thread);
  // Accesses that the thread has made of this part.
  uint32_t AccessesMade(ThreadId thread) const { return next_[thread] - places_[thread].begin; }
  // Whether these are all; the cursor must have a chunk.
  bool MadeAllAccesses(ThreadId thread) const { return AccessesMade(thread) == places_[thread].path->accesses; }
  // Gets a thread that has accesses left, and is at the end of its window, the next window.
  bool NextWindow(ThreadId thread);
  // The path of the last part of the thread's recording, which it moves to; null if that fails.
  const trace::PathView* LastPath(ThreadId thread);
  // From the end of a part that was cut in time to the thread's next part. False at the end of the recording.
  bool NextPart(ThreadId thread);
  bool Fail(ThreadId thread, const std::string& what);

  const trace::LaunchView& launch_;
  ChunkCache& cache_;
  DecisionWindows decisions_;
  // By thread; what is read of all threads of a warp lies apart.
  std::vector<uint32_t> next_;   // access: index in the chunk; number of the access without a chunk
  std::vector<uint32_t> limit_;  // 0 without a chunk
  std::vector<const trace::DecodedChunk*> chunk_;
  std::vector<Place> places_;
  std::vector<std::vector<uint32_t>> call_stacks_;  // none as long as there has been no call
  std::vector<WarpCursor> warp_cursors_;            // by thread / 32
  std::vector<Origin> origins_;                     // of shared cursors
  bool& error_flag_;
  absl::Status status_;
  bool ok_ = true;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_TRACE_THREAD_CURSORS_H_
