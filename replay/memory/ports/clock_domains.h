// The time of a machine: integer ticks, the edges of its four clocks, and which component has something to do at which
// edge. docs/reference/timing.md, section 1.
#ifndef HEDDLE_REPLAY_MEMORY_PORTS_CLOCK_DOMAINS_H_
#define HEDDLE_REPLAY_MEMORY_PORTS_CLOCK_DOMAINS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"

namespace heddle::replay {

// In the order in which edges at the same time run.
enum class Domain : uint8_t { kDram, kL2, kNetwork, kCore };
inline constexpr int kDomains = 4;

using Tick = uint64_t;  // time since the launch began, in units in which every period is an integer
using Edge = uint64_t;  // number of an edge of one clock, from 0 at time 0
inline constexpr Edge kNoEdge = ~Edge{0};

// Periods in ticks, by domain: the smallest integers with the ratios of the frequencies; all 1 if no frequency is
// given. Error: only some frequencies given, or ratios whose integers are so large that time could overflow.
absl::StatusOr<std::array<Tick, kDomains>> ClockPeriods(const machine::v1::Clocks& clocks);

// Time in order: which edge runs, and which edges of the other domains are still to run. It only moves forward.
class ClockDomains {
 public:
  explicit ClockDomains(const std::array<Tick, kDomains>& periods) : period_(periods) {}

  Tick period(Domain domain) const { return period_[static_cast<int>(domain)]; }
  Tick now() const { return now_; }

  // Time begins again.
  void Restart() { *this = ClockDomains(period_); }

  // Edge `edge` of `domain` runs from here on.
  void Enter(Domain domain, Edge edge) {
    now_ = edge * period(domain);
    order_ = static_cast<int>(domain);
  }

  // The first edge of `domain` that is still to run: at which what is written now can be seen there. Within a tick the
  // domains run in order, so that a later domain still runs at the present time.
  Edge Soonest(Domain domain) {
    const int d = static_cast<int>(domain);
    const Tick bound = now_ + (d <= order_ ? 1 : 0);
    Upcoming& upcoming = upcoming_[d];
    if (upcoming.time < bound) {
      upcoming.time += period_[d];
      ++upcoming.edge;
      if (upcoming.time < bound) {  // a jump: divide
        upcoming.edge = (bound + period_[d] - 1) / period_[d];
        upcoming.time = upcoming.edge * period_[d];
      }
    }
    return upcoming.edge;
  }

  // The first edge of `domain` that is not before `time`, whether it is still to run or not.
  Edge NotBefore(Domain domain, Tick time) const {
    const Tick period = period_[static_cast<int>(domain)];
    return period == 1 ? time : (time + period - 1) / period;
  }

 private:
  struct Upcoming {
    Edge edge = 0;
    Tick time = 0;
  };
  std::array<Tick, kDomains> period_;
  Tick now_ = 0;
  int order_ = -1;  // before the first edge of the first domain
  std::array<Upcoming, kDomains> upcoming_{};
};

// Which components of one clock domain have something to do at which edge: a ring of edges with one bit per component
// and edge, and an occupancy bitmap over the edges, so that components that sleep cost nothing. A wake beyond the ring
// is put at its far end: waking a component too early is harmless.
class EdgeCalendar {
 public:
  // Of `domain`; `clocks` lives longer.
  EdgeCalendar(uint32_t components, ClockDomains& clocks, Domain domain)
      : words_((components + 63) / 64),
        clocks_(clocks),
        domain_(domain),
        period_(clocks.period(domain)),
        wakes_(static_cast<size_t>(kEdges) * words_, 0) {}

  // Time begins again: nobody runs.
  void Restart() {
    first_ = 0;
    next_ = kNoEdge;
    next_time_ = kNoTime;
    std::fill(wakes_.begin(), wakes_.end(), 0);
    occupied_.fill(0);
  }

  // Component `component` runs at edge `at`, which is still to run. Nothing for kNoEdge.
  void Wake(uint32_t component, Edge at) {
    if (at == kNoEdge) return;
    if (at > first_ + kEdges - 1) {
      // The ring has not moved while nothing ran: edges that are over are free.
      first_ = std::max(first_, clocks_.Soonest(domain_));
      at = std::min(at, first_ + kEdges - 1);
    }
    assert(at >= first_);
    const uint32_t place = static_cast<uint32_t>(at) & (kEdges - 1);
    wakes_[place * words_ + (component >> 6)] |= uint64_t{1} << (component & 63);
    occupied_[place >> 6] |= uint64_t{1} << (place & 63);
    if (at < next_) SetNext(at);
  }

  // The first edge with a wake, kNoEdge if there is none, and its time.
  Edge next() const { return next_; }
  Tick next_time() const { return next_time_; }

  // Enters the next edge and calls run(component) for its components, ascending. They may wake components at later
  // edges.
  template <typename Run>
  void RunNext(Run&& run) {
    const Edge edge = next_;
    clocks_.Enter(domain_, edge);
    const uint32_t place = static_cast<uint32_t>(edge) & (kEdges - 1);
    occupied_[place >> 6] &= ~(uint64_t{1} << (place & 63));
    first_ = edge + 1;
    for (uint32_t word = 0; word < words_; ++word) {
      uint64_t bits = wakes_[place * words_ + word];
      wakes_[place * words_ + word] = 0;
      for (; bits != 0; bits &= bits - 1) run(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
    }
    FindNext();
  }

 private:
  static constexpr uint32_t kEdges = 1024;
  static constexpr uint32_t kWords = kEdges / 64;
  static constexpr Tick kNoTime = ~Tick{0};

  void FindNext() {
    const uint32_t start = static_cast<uint32_t>(first_) & (kEdges - 1);
    uint32_t word = start >> 6;
    uint64_t bits = occupied_[word] >> (start & 63);
    if (bits != 0) {  // mostly the next edge or one soon after
      return SetNext(first_ + static_cast<uint32_t>(std::countr_zero(bits)));
    }
    for (uint32_t i = 0; i < kWords; ++i) {
      word = (word + 1) % kWords;
      bits = occupied_[word];
      if (bits != 0) {
        const uint32_t place = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        return SetNext(first_ + ((place - start) & (kEdges - 1)));
      }
    }
    next_ = kNoEdge;
    next_time_ = kNoTime;
  }
  void SetNext(Edge edge) {
    next_ = edge;
    next_time_ = edge * period_;
  }

  uint32_t words_;
  ClockDomains& clocks_;
  Domain domain_;
  Tick period_;
  Edge first_ = 0;  // no edge before this one is still to run
  Edge next_ = kNoEdge;
  Tick next_time_ = kNoTime;
  std::vector<uint64_t> wakes_;
  std::array<uint64_t, kWords> occupied_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PORTS_CLOCK_DOMAINS_H_
