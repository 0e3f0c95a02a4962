// The two-way decisions of the hardware threads of an SM, one after the other.
#ifndef HEDDLE_REPLAY_TRACE_DECISION_WINDOWS_H_
#define HEDDLE_REPLAY_TRACE_DECISION_WINDOWS_H_

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// Every thread has a window of up to 32 decisions that come next, so that taking one is a shift, and taking those of a
// whole warp a few vector operations. A thread is bound to the packed bits of a path (lowest bit of the first byte
// first) as long as its chunk is there; how many decisions it has taken stays when it is unbound.
class DecisionWindows {
 public:
  explicit DecisionWindows(size_t threads)
      : window_(threads), taken_(threads), end_(threads), paths_(threads), numbers_(threads) {
    std::iota(numbers_.begin(), numbers_.end(), ThreadId{0});
  }

  // The thread is at the first decision of a path that it will be bound to.
  void Restart(ThreadId thread) {
    taken_[thread] = 0;
    Unbind(thread);
  }
  // Restart and Bind in one, for a thread that has taken `taken` decisions of the path.
  void Start(ThreadId thread, const uint8_t* bits, uint32_t count, uint32_t taken = 0) {
    taken_[thread] = taken;
    end_[thread] = taken;
    paths_[thread] = {bits, count};
  }
  // The thread's path is `count` decisions long.
  void Bind(ThreadId thread, const uint8_t* bits, uint32_t count) {
    paths_[thread] = {bits, count};
    end_[thread] = taken_[thread];
  }
  void Unbind(ThreadId thread) { Bind(thread, nullptr, 0); }

  // Decisions that the thread has taken of its path; whether these are all (of a bound thread).
  uint32_t taken(ThreadId thread) const { return taken_[thread]; }
  bool used_up(ThreadId thread) const { return taken_[thread] == paths_[thread].count; }

  // Whether the thread's window has a decision. If it has none, Refill is tried, which is false at the end of the path
  // and for a thread that is not bound.
  bool has_next(ThreadId thread) const { return taken_[thread] != end_[thread]; }
  bool Refill(ThreadId thread) {
    const Path& path = paths_[thread];
    const uint32_t taken = taken_[thread];
    if (taken >= path.count) return false;
    const uint32_t first = taken >> 3;
    const uint32_t bytes = std::min<uint32_t>(sizeof(uint32_t), ((path.count + 7) >> 3) - first);
    uint32_t window = 0;
    for (uint32_t i = 0; i < bytes; ++i) window |= uint32_t{path.bits[first + i]} << (8 * i);
    window_[thread] = window >> (taken & 7);
    end_[thread] = taken + std::min(8 * bytes - (taken & 7), path.count - taken);
    return true;
  }

  // Takes the next decision of a thread that has one in its window: 0 or 1.
  uint32_t Take(ThreadId thread) {
    const uint32_t decision = Peek(thread);
    window_[thread] >>= 1;
    ++taken_[thread];
    return decision;
  }
  // What Take would return; leaves the decision there.
  uint32_t Peek(ThreadId thread) const { return window_[thread] & 1; }

  // Whether the guard holds on which the thread decided last.
  void SetGuard(ThreadId thread, bool holds) {
    if (guards_.empty()) guards_.resize(numbers_.size());
    guards_[thread] = holds ? 1 : 0;
  }
  bool guard(ThreadId thread) const { return guards_[thread] != 0; }

  // Threads of PeekWarp and TakeWarp.
  static constexpr uint32_t kWarp = 32;
  // Peek for kWarp threads with ascending numbers that all have a decision; decision i is that of threads[i]. If
  // they are others, nothing is taken: returns false.
  bool PeekWarp(const ThreadId* threads, LaneMask& decisions) const {
#if defined(__SSE2__)
    const size_t first = threads[0];
    if (first + kWarp > numbers_.size() || std::memcmp(threads, &numbers_[first], kWarp * sizeof(ThreadId)) != 0) {
      return false;
    }
    const __m128i* const window = Vectors(window_, first);
    const __m128i* const taken = Vectors(taken_, first);
    const __m128i* const end = Vectors(end_, first);
    __m128i empty = _mm_setzero_si128();
    uint32_t bits = 0;
    for (uint32_t i = 0; i < kWarp / kStep; ++i) {
      empty = _mm_or_si128(empty, _mm_cmpeq_epi32(_mm_loadu_si128(taken + i), _mm_loadu_si128(end + i)));
      const int signs = _mm_movemask_ps(_mm_castsi128_ps(_mm_slli_epi32(_mm_loadu_si128(window + i), 31)));
      bits |= static_cast<uint32_t>(signs) << (i * kStep);
    }
    decisions = bits;
    return _mm_movemask_epi8(empty) == 0;
#else
    (void)threads;
    (void)decisions;
    return false;
#endif
  }
  bool TakeWarp(const ThreadId* threads, LaneMask& decisions) {
    if (!PeekWarp(threads, decisions)) return false;
#if defined(__SSE2__)
    __m128i* const window = reinterpret_cast<__m128i*>(&window_[threads[0]]);
    __m128i* const taken = reinterpret_cast<__m128i*>(&taken_[threads[0]]);
    for (uint32_t i = 0; i < kWarp / kStep; ++i) {
      _mm_storeu_si128(window + i, _mm_srli_epi32(_mm_loadu_si128(window + i), 1));
      _mm_storeu_si128(taken + i, _mm_add_epi32(_mm_loadu_si128(taken + i), _mm_set1_epi32(1)));
    }
#endif
    return true;
  }

 private:
#if defined(__SSE2__)
  static constexpr uint32_t kStep = sizeof(__m128i) / sizeof(uint32_t);  // threads of a vector
  static const __m128i* Vectors(const std::vector<uint32_t>& numbers, size_t first) {
    return reinterpret_cast<const __m128i*>(&numbers[first]);
  }
#endif
  struct Path {
    const uint8_t* bits = nullptr;
    uint32_t count = 0;
  };

  // By thread:
  std::vector<uint32_t> window_;  // the lowest bit is the next decision
  std::vector<uint32_t> taken_;
  std::vector<uint32_t> end_;  // taken_ when the window is empty
  std::vector<Path> paths_;
  std::vector<ThreadId> numbers_;  // 0, 1, 2...
  std::vector<uint8_t> guards_;    // none before the first
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_TRACE_DECISION_WINDOWS_H_
