// The tables that the stages of the front end with instruction buffers share.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_STATE_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_STATE_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/ibuffer/buffer_setup.h"
#include "replay/core/ibuffer/hw_warp_table.h"
#include "replay/core/ibuffer/in_flight_table.h"
#include "replay/core/ibuffer/issue_status.h"
#include "replay/core/ibuffer/pauses.h"
#include "replay/core/ibuffer/scoreboard.h"
#include "replay/core/ibuffer/warp_entry.h"
#include "replay/core/sm_parts.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// What the issue ports have done, and until when they are held. Times are absolute.
struct IssuePorts {
  std::array<SlotId, kMaxPorts> issued;       // by port, in this cycle; kNoSlot: nothing
  std::array<SlotId, kMaxPorts> last_issued;  // by port, in this cycle or before
  uint32_t issued_mask = 0;                   // ports that issued in this cycle, as bits
  Cycle held_until = 0;                       // some port is held before this cycle
  std::array<Cycle, kMaxPorts> free{};        // by port

  IssuePorts() {
    issued.fill(kNoSlot);
    last_issued.fill(kNoSlot);
  }
};

// A structure: each table guards its own state. What every cycle looks at comes first.
struct IBufferState {
  IBufferState(const SmParts& sm, const BufferSetup& buffer_setup)
      : setup(buffer_setup),
        one_in_flight((sm.interests & kEveryInstruction) != 0),
        data_holds((sm.interests & kLaneReturns) != 0),
        scope(sm.context.scoreboard),
        regular_warps(!one_in_flight && !sm.context.by_warp && setup.table.flat() && scope == ScoreboardScope::kWarp),
        stalls(!one_in_flight && (setup.table.has_stall_counts() || setup.register_reads.any())),
        pauses_travel(stalls && setup.table.by_control_bits()),
        issue_status(static_cast<int>(sm.table().state.size()), sm.context.ports),
        hw_warps(sm.blocks.hw_warps(), sm.table().state.size(), static_cast<uint32_t>(sm.context.warp_size),
                 !one_in_flight),
        scoreboard(sm.blocks.hw_warps(), setup.table, scope),
        pauses(pauses_travel ? sm.blocks.hw_warps() : 0) {
    warps.reserve(sm.table().state.size());
  }
  IBufferState(const IBufferState&) = delete;
  IBufferState& operator=(const IBufferState&) = delete;

  const BufferSetup& setup;
  const bool
      one_in_flight;      // the policy resolves every instruction: no buffers, a thread has one instruction in flight
  const bool data_holds;  // a warp waits for its own loads: the policy takes lanes as their data come
  const ScoreboardScope scope;  // for whom a write is pending
  // A warp may be regular: buffers, whole blocks, a program without calls, and one scoreboard per hardware warp.
  const bool regular_warps;
  const bool stalls;  // warps pause, or hold ports, as machine code says: it has control bits, and there are buffers
  const bool pauses_travel;  // a thread takes its pause along into other warps
  Cycle offer_cycle = 0;     // the cycle that an offer made now counts in
  IssuePorts ports;
  std::vector<WarpEntry> warps;  // by slot, up to the highest that has been taken so far
  IssueStatusTable issue_status;
  HwWarpTable hw_warps;
  Scoreboard scoreboard;
  Pauses pauses;  // if they travel
  InFlightTable in_flight;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_STATE_H_
