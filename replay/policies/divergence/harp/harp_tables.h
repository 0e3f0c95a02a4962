// The tables of one HARP warp scheduler (HARP, section 4.2, Figure 7).
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_TABLES_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_TABLES_H_

#include <cstdint>
#include <vector>

#include "replay/policies/divergence/shared/reconvergence_barriers.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/slot_queue.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// A warp of the Waiting-Lookup table: threads of warps that execute the same memory instruction and go on together.
struct WaitingEntry {
  Position at;  // the memory instruction
  BlockId block = 0;
  LaneMask members = 0;
  int pending = 0;  // warps with threads in it whose accesses are outstanding
  Lanes gathered;   // threads whose accesses are done
};

// What a warp in flight has in the Waiting-Lookup table.
struct WaitingShare {
  uint32_t entry = 0;  // index into HarpTables::waiting
  LaneMask lanes = 0;
};

// A warp that was revived by its barrier and waits for the port into the Second-Level.
struct RevivedWarp {
  Position at;
  Lanes lanes;
};

// A committed warp while the pipelined barrier table is being searched.
struct PendingCommit {
  bool used = false;
  uint8_t port = 0;
  SlotId slot = kNoSlot;  // where its threads wait; kNoSlot: they are loose
  Position reconvergence;
  Lanes lanes;
  std::vector<PathGroup> groups;
};

// What one scheduler holds; the counts follow the tables, so that nothing is counted anew.
struct HarpTables {
  explicit HarpTables(const ReconvergenceBarriers::Setup& setup) : barriers(setup) {}

  ReconvergenceBarriers barriers;
  SlotQueue second_level;               // ready warps that wait for the First-Level, parked
  std::vector<SlotId> ready_lookup;     // first in first out, parked
  std::vector<WaitingEntry> waiting;    // Waiting-Lookup by place
  std::vector<uint32_t> waiting_order;  // its places in use, oldest first
  std::vector<RevivedWarp> revived;     // first in first out

  int first_level = 0;    // warps, including those on their way in
  int second_ready = 0;   // warps in `second_level`
  int arriving = 0;       // warps on their way into the Second-Level
  int warps = 0;          // slots of this scheduler
  int waiting_warps = 0;  // of them, in flight with all their threads in the Waiting-Lookup
  int resident = 0;       // blocks
  bool watched = false;   // a timer for the transitions is running
  bool low = false;       // few warps are ready, since low_since
  Cycle low_since = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_HARP_TABLES_H_
