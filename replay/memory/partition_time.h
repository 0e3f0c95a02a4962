// The time of network, L2 and DRAM.
#ifndef HEDDLE_REPLAY_MEMORY_PARTITION_TIME_H_
#define HEDDLE_REPLAY_MEMORY_PARTITION_TIME_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "proto/machine.pb.h"
#include "replay/memory/ports/clock_domains.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Which of their components have something to do at which edge. It starts at 0 with every launch.
class PartitionTime {
 public:
  // Components of the network's domain: the ways to the memory and to the SMs.
  static constexpr uint32_t kUp = 0;
  static constexpr uint32_t kDown = 1;

  PartitionTime(const std::array<Tick, kDomains>& periods, const machine::v1::L2& l2, uint32_t slices,
                uint32_t controllers);
  PartitionTime(const PartitionTime&) = delete;
  PartitionTime& operator=(const PartitionTime&) = delete;

  // Time starts again; nobody is woken any more.
  void BeginLaunch();

  ClockDomains& clocks() { return clocks_; }
  const ClockDomains& clocks() const { return clocks_; }
  EdgeCalendar& dram() { return dram_; }
  EdgeCalendar& l2() { return l2_; }
  EdgeCalendar& network() { return network_; }

  // The core's cycle for which the others were run last.
  Cycle core_cycle() const { return core_cycle_; }
  // Runs all edges up to that of core cycle `now`, in order, each by the function of its domain, which gets component
  // and edge. Of edges at the same time that of the first domain runs first.
  template <typename RunDram, typename RunL2, typename RunNetwork>
  void RunUntil(Cycle now, RunDram run_dram, RunL2 run_l2, RunNetwork run_network) {
    core_cycle_ = now;
    const Tick end = now * clocks_.period(Domain::kCore);
    for (;;) {
      const Tick dram = dram_.next_time();
      const Tick l2 = l2_.next_time();
      const Tick network = network_.next_time();
      if (dram <= l2 && dram <= network) {
        if (dram > end) break;
        const Edge edge = dram_.next();
        dram_.RunNext([&](uint32_t controller) { run_dram(controller, edge); });
      } else if (l2 <= network) {
        if (l2 > end) break;
        const Edge edge = l2_.next();
        l2_.RunNext([&](uint32_t slice) { run_l2(slice, edge); });
      } else {
        if (network > end) break;
        const Edge edge = network_.next();
        network_.RunNext([&](uint32_t direction) { run_network(direction, edge); });
      }
    }
    clocks_.Enter(Domain::kCore, now);
  }
  // The core's cycle before which RunUntil has something to do; kNever if there is none.
  Cycle NextCoreCycle() const {
    const Tick first = std::min({dram_.next_time(), l2_.next_time(), network_.next_time()});
    if (first == ~Tick{0}) return kNever;
    // Mostly the next cycle, which takes no division.
    const Tick end = core_cycle_ * clocks_.period(Domain::kCore);
    const bool is_next = first > end && first <= end + clocks_.period(Domain::kCore);
    return is_next ? core_cycle_ + 1 : clocks_.NotBefore(Domain::kCore, first);
  }

  // The first edge of the L2 at which a request that is taken in at `from` may be looked at (`rop_cycles`).
  Edge AfterRop(Tick from) const { return clocks_.NotBefore(Domain::kL2, from + rop_ticks_); }
  // The first edge of the DRAM at which a job that is queued now may be taken (`dram_pipe_cycles`).
  Edge AfterDramPipe() {
    return std::max(clocks_.Soonest(Domain::kDram), clocks_.NotBefore(Domain::kDram, clocks_.now() + dram_pipe_ticks_));
  }
  // Whether between two edges of the network is one of the L2.
  bool l2_keeps_up() const { return clocks_.period(Domain::kL2) <= clocks_.period(Domain::kNetwork); }

 private:
  ClockDomains clocks_;
  EdgeCalendar dram_;
  EdgeCalendar l2_;
  EdgeCalendar network_;
  Cycle core_cycle_ = 0;
  const Tick rop_ticks_;
  const Tick dram_pipe_ticks_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PARTITION_TIME_H_
