// What the front end with instruction buffers knows of a warp slot beyond the warp table.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_WARP_ENTRY_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_WARP_ENTRY_H_

#include <cstdint>

#include "replay/core/ibuffer/issue_status.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Lanes of a hardware warp: bit i is hardware thread hw_warp * warp size + i.
struct HwWarpLanes {
  uint16_t hw_warp = 0;
  LaneMask lanes = 0;
};
// In place of a hardware warp: the threads are of several.
inline constexpr uint16_t kMixedHwWarps = 0xffff;

// Why a slot is in flight (SlotState::kInFlight).
enum class InFlightReason : uint8_t {
  kControl,     // a branch, call, return or exit
  kWaitAtEnd,   // a wait for copies or a transaction barrier that ends its block: what comes behind it is not known
  kFence,       // a fence, for stores; a wait within a block
  kMemory,      // a memory instruction that holds its warp
  kArithmetic,  // any other instruction that holds its warp
  kResolve,     // its resolve waits behind one that the policy has refused
};

// Whether instructions can be fetched for a slot.
enum class Fetchable : uint8_t { kNo, kEligible, kAtBarrier };

// One line of the host's cache, since every issue reads and writes most of it: the buffer's state and the warp's.
//
// A warp is regular if it is offered, its threads are of one hardware warp, nothing is inserted before its next
// instruction, and the program makes no calls. Most warps are regular most of the time, so that there is a short way
// for them.
struct alignas(64) WarpEntry {
  uint64_t formed = 0;        // the warp's identity: WarpTable::formed when it was looked at last
  uint64_t offered_at = 0;    // one in flight: the offer that `ready_at` belongs to
  Cycle ready_at = 0;         // one in flight, and stall counts: the first cycle in which it may issue
  LaneMask own = 0;           // its threads as lanes of `hw_warp`
  IssueStatus offered;        // regular: its status when it lacks nothing, but for the unit
  Pc head = 0;                // of the first instruction in the buffer, or of the next to fetch
  uint32_t in_flight_id = 0;  // kControl, kMemory, kArithmetic: what holds it
  uint16_t hw_warp = 0;       // of its threads, or kMixedHwWarps
  uint8_t valid = 0;          // instructions in the buffer
  uint8_t threads = 0;
  InFlightReason in_flight = InFlightReason::kControl;
  Fetchable fetchable = Fetchable::kNo;
  bool fetching = false;  // its fetch is being decoded
  bool waits_for_line = false;
  bool flushed = false;             // its buffer was dropped, and no fetch has gone out since
  bool long_wait_notified = false;  // LongLatencyStarted was called
  bool paused = false;              // its block is
  bool in_order = false;            // its threads are of one hardware warp, and lane i holds thread i of it
  bool regular = false;
};

// What keeps an offered warp from issuing the instruction at the head of its buffer; kStructural: nothing but a unit.
// The one place for this rule: the general way, the short way of regular warps and the fast path all ask here.
// `hazard_of()` is what the scoreboard says of that instruction, and is asked only if there is one.
template <typename HazardOf>
[[gnu::always_inline]] inline WarpClass ClassOfHead(const WarpEntry& warp, HazardOf hazard_of) {
  if (warp.valid == 0) return warp.flushed ? WarpClass::kControl : WarpClass::kFetch;
  const auto hazard = hazard_of();
  if (!hazard.blocked()) return WarpClass::kStructural;
  if (hazard.memory()) return hazard.source() ? WarpClass::kMemory : WarpClass::kMemoryWaw;
  return hazard.source() ? WarpClass::kArithmetic : WarpClass::kArithmeticWaw;
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_WARP_ENTRY_H_
