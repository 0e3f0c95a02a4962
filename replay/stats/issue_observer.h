// Hears what each SM does, cycle by cycle: for logs, drawings and tests.
#ifndef HEDDLE_REPLAY_STATS_ISSUE_OBSERVER_H_
#define HEDDLE_REPLAY_STATS_ISSUE_OBSERVER_H_

#include <cstdint>
#include <span>

#include "replay/seams/types.h"

namespace heddle::replay {

// One warp-instruction as it issues, for logs, drawings and tests.
struct IssueEvent {
  uint32_t configuration = 0;  // index in the list of configurations
  uint32_t launch = 0;
  uint32_t sm = 0;
  uint32_t port = 0;
  uint32_t slot = 0;  // of the SM's warp table; where several issue together (MIMD), the first
  Cycle cycle = 0;
  struct Lane {
    uint32_t lane = 0;
    Pc pc = 0;            // of this thread: an issue may hold several PCs under MIMD
    uint64_t block = 0;   // linear index in the grid
    uint32_t thread = 0;  // linear index in the block
  };
  std::span<const Lane> lanes;  // ascending by lane
};

// Warps that could have issued and did not, or a barrier that has opened.
struct WaitEvent {
  enum class Kind : uint8_t {
    kPassedOver,     // `threads` could have issued through the port in this cycle; another warp did
    kHeldBack,       // `threads` could have issued through the port in this cycle; the scheduler let no warp issue
    kBarrierOpened,  // threads of `block` that wait at a barrier go on
  } kind = Kind::kPassedOver;
  uint32_t configuration = 0;
  uint32_t launch = 0;
  uint32_t sm = 0;
  uint32_t port = 0;  // kBarrierOpened: 0
  Cycle cycle = 0;
  uint64_t block = 0;                         // linear index in the grid; kBarrierOpened only
  std::span<const IssueEvent::Lane> threads;  // of all these warps, with the lane that each sits in
};

// What a warp does that does not issue.
enum class WarpState : uint8_t {
  kReady,       // could issue: lacks a unit or the port at most
  kMemory,      // waits for a register that memory fills
  kArithmetic,  // waits for another register
  kControl,     // a branch that has not resolved, or the refill after it
  kFetch,       // waits for instructions
  kPolicy,      // held back by the divergence policy
  kBarrier,     // waits at a barrier
  kInFlight,    // single pipeline: its instruction is in the pipeline or in memory
};
inline constexpr int kWarpStates = static_cast<int>(WarpState::kInFlight) + 1;

enum class PortLoss : uint8_t;  // replay/stats/instruction_profile.h

// All warps and issue ports of an SM over some cycles in which nothing changes.
struct StateEvent {
  uint32_t configuration = 0;
  uint32_t launch = 0;
  uint32_t sm = 0;
  Cycle cycle = 0;      // the first
  uint64_t cycles = 0;  // how many
  struct WarpSample {
    uint32_t slot = 0;
    uint32_t threads = 0;
    Pc pc = 0;  // where it stands
    WarpState state = WarpState::kReady;
  };
  std::span<const WarpSample> warps;  // ascending by slot
  std::span<const PortLoss> ports;    // by port: the class of its cycles without an issue
};

// The issues of one SM come in the order of their cycles, those of several SMs in any order: one may be ahead of
// another.
class IssueObserver {
 public:
  virtual ~IssueObserver() = default;
  virtual void Issued(const IssueEvent& event) = 0;
  // Whether Waits is wanted.
  virtual bool wants_waits() const { return false; }
  // In the order of cycles for one SM, before or after the issues of the same cycle. Where several slots issue together
  // (MIMD), those that issue with the first are passed over in its event and issue in the same cycle all the same.
  virtual void Waits(const WaitEvent& /*event*/) {}
  // Whether States is wanted.
  virtual bool wants_states() const { return false; }
  // For one SM, all cycles in which a block is resident, in their order; the issues of a cycle come before the event
  // that covers it.
  virtual void States(const StateEvent& /*event*/) {}
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_STATS_ISSUE_OBSERVER_H_
