// One cursor for a hardware warp whose threads read the same.
#ifndef HEDDLE_REPLAY_TRACE_WARP_CURSOR_H_
#define HEDDLE_REPLAY_TRACE_WARP_CURSOR_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "replay/seams/types.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/limits.h"

namespace heddle::replay {

// 32 neighbouring threads that take one path of one chunk and have taken equally many steps of it. Their accesses lie
// one after the other in the chunk, equally many for each, so that one cursor tells where each of them is. That is so
// from the start for most warps of regular kernels, and for as long as nobody moves some of the threads alone.
//
// One line of the host's cache: an access of a warp looks here, and mostly at nothing else of its cursors.
struct alignas(64) WarpCursor {
  static constexpr uint32_t kThreads = 32;
  static constexpr LaneMask kLanes = (LaneMask{1} << kThreads) - 1;
  static constexpr uint32_t kFirstAccess = (1u << 28) - 1;

  const trace::DecodedChunk* chunk = nullptr;  // null: each thread has a cursor of its own
  const trace::PathView* path = nullptr;
  uint32_t first_access : 28 = 0;  // of the first thread: index in the chunk
  uint32_t even : 4 = 0;           // see below
  uint32_t next_access = 0;        // of each thread, from 0
  uint32_t decisions_taken = 0;    // by each thread
  // What is known of accesses `looked_at` and following: bit i of `even` tells that the offsets of access i rise by
  // equal steps from thread to thread. The accesses of a thread lie side by side, so that those of 32 threads for one
  // instruction are spread over many lines of the host's cache, which has forgotten them until the next instruction.
  static constexpr uint32_t kAhead = 4;
  struct Series {
    uint32_t first = 0;
    uint32_t step = 0;
  };
  static_assert(trace::kMaxChunkAccesses < uint64_t{1} << 28 && kAhead == 4, "first_access and even");
  uint32_t looked_at = 0;
  std::array<Series, kAhead> ahead{};

  bool shared() const { return chunk != nullptr; }
  // Of each thread.
  uint32_t accesses() const { return static_cast<uint32_t>(path->accesses); }

  // The threads from `first` on of a chunk, at the beginning of their path; false if they do not take the same one.
  bool Start(const trace::DecodedChunk& of, uint32_t first) {
    const uint32_t* const paths = &of.path_of_thread[first];
    uint32_t different = 0;
    for (uint32_t i = 1; i < kThreads; ++i) different |= paths[i] ^ paths[0];
    if (different != 0) return false;
    const trace::PathView& common = of.paths[paths[0]];
    const uint64_t begin = of.first_address[first];
    if (of.first_address[first + kThreads] - begin != kThreads * common.accesses) return false;
    *this = {.chunk = &of, .path = &common, .first_access = static_cast<uint32_t>(begin) & kFirstAccess};
    LookAhead();
    return true;
  }

  // Where the accesses of a thread begin and end in the chunk; threads count from 0.
  uint32_t Begin(uint32_t thread) const { return first_access + thread * accesses(); }

  // The next two-way decision of the threads, if their path has one.
  bool HasDecision() const { return decisions_taken < path->decision_count; }
  LaneMask Decision() const {
    return (path->decisions[decisions_taken >> 3] >> (decisions_taken & 7) & 1) != 0 ? kLanes : 0;
  }

  // The addresses of the threads' next access, made by the instruction at `pc`, if they have one.
  bool HasAccess() const { return next_access < path->accesses; }
  void Addresses(Pc pc, std::array<uint64_t, kMaxLanes>& out) {
    if (next_access - looked_at >= kAhead) LookAhead();
    const uint32_t place = next_access - looked_at;
    if ((even >> place & 1) != 0) {
      const uint64_t base = chunk->base[pc];
      const Series series = ahead[place];
      for (uint32_t i = 0; i < kThreads; ++i) out[i] = base + (series.first + i * series.step);
      return;
    }
    const uint32_t first = first_access + next_access;
    const size_t accesses = path->accesses;
    if (chunk->offsets32.empty()) {
      const uint64_t* const addresses = &chunk->addresses64[first];
      for (uint32_t i = 0; i < kThreads; ++i) out[i] = addresses[i * accesses];
      return;
    }
    const uint32_t* const offsets = &chunk->offsets32[first];
    const uint64_t base = chunk->base[pc];
    for (uint32_t i = 0; i < kThreads; ++i) out[i] = base + offsets[i * accesses];
  }

  // Looks at the next accesses, the lines of which are near one another.
  void LookAhead() {
    looked_at = next_access;
    even = 0;
    if (chunk->offsets32.empty() || !HasAccess()) return;
    const uint32_t* const offsets = &chunk->offsets32[first_access + next_access];
    const size_t accesses = path->accesses;
    const uint32_t places = static_cast<uint32_t>(std::min<size_t>(kAhead, accesses - next_access));
    uint32_t found = 0;
    if (accesses == places && AllEven(offsets, places)) {  // side by side: quicker than one access after the other
      for (uint32_t place = 0; place < places; ++place) {
        ahead[place] = {offsets[place], offsets[accesses + place] - offsets[place]};
      }
      even = ((1u << places) - 1) & 15;
      return;
    }
    for (uint32_t place = 0; place < places; ++place) {
      const Series series{offsets[place], offsets[accesses + place] - offsets[place]};
      const auto differs = [&](uint32_t thread) {
        return offsets[thread * accesses + place] ^ (series.first + thread * series.step);
      };
      if (differs(kThreads - 1) != 0) continue;  // mostly tells
      uint32_t different = 0;
      for (uint32_t thread = 2; thread < kThreads; ++thread) different |= differs(thread);
      if (different != 0) continue;
      ahead[place] = series;
      found |= 1u << place;
    }
    even = found & 15;
  }

  // Whether the offsets of all accesses, of which each thread has `accesses`, rise by equal steps.
  static bool AllEven(const uint32_t* offsets, uint32_t accesses) {
    const uint32_t* const second = offsets + accesses;
    const uint32_t* const third = second + accesses;
    uint32_t different = 0;
    for (uint32_t i = 0; i < (kThreads - 2) * accesses; ++i)
      different |= (third[i] - second[i]) ^ (second[i] - offsets[i]);
    return different == 0;
  }

  // Whether the recording ends here, so that the threads may exit.
  bool UsedUp() const {
    return path->extent == trace::Extent::kRunsToExit && decisions_taken == path->decision_count &&
           next_access == path->accesses && path->wide_count == 0;
  }

  // A number that grows with every step: what the threads' own cursors would add up to.
  uint64_t Steps() const {
    return uint64_t{kThreads} * (uint64_t{first_access} + next_access + decisions_taken) +
           path->accesses * (kThreads * (kThreads - 1) / 2);
  }
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_TRACE_WARP_CURSOR_H_
