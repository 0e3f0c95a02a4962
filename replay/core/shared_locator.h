// Whose shared memory the lanes of an access reach.
#ifndef HEDDLE_REPLAY_CORE_SHARED_LOCATOR_H_
#define HEDDLE_REPLAY_CORE_SHARED_LOCATOR_H_

#include <array>
#include <cstdint>
#include <optional>

#include "replay/core/block_table.h"
#include "replay/core/launch_context.h"
#include "replay/core/memory_port.h"
#include "replay/core/sm_run_state.h"
#include "replay/seams/types.h"
#include "replay/warps/formation.h"
#include "traces/format/program/clusters.h"

namespace heddle::replay {

// For instructions that may reach shared memory of other blocks of a cluster (Step::cluster). The run fails if a lane
// reaches a block that its cluster does not have, or that has not begun.
class SharedLocator {
 public:
  SharedLocator(const LaunchContext& context, const Formation& formation, const BlockTable& blocks, SmRunState& run)
      : context_(context), formation_(formation), blocks_(blocks), run_(run) {}

  // `lanes`, of hardware threads `threads`, access `memory.addresses()` at `pc`. Addresses in a thread's own shared
  // memory become those of its own window; the lanes of other blocks are noted in `memory.remote()`. Lanes that do not
  // access must not be among them: their addresses may be any. May be called twice for an access.
  void Locate(Pc pc, LaneMask lanes, const std::array<ThreadId, kMaxLanes>& threads, MemoryPort& memory);

  // A place in the shared memory of another block.
  struct RemotePlace {
    uint64_t block = 0;  // of the thread, in the order of dispatch
    uint32_t rank = 0;
    uint32_t sm = 0;
    uint64_t address = 0;  // in the block's own window
  };
  // The same for an address of one thread. nullopt: it is its own, or no shared memory.
  std::optional<RemotePlace> LocateOne(Pc pc, ThreadId thread, uint64_t& address);
  // Ends the run: a thread accesses what it may not.
  void Fail(Pc pc, ThreadId thread, uint64_t address, const char* why);

 private:
  const LaunchContext& context_;
  const Formation& formation_;
  const BlockTable& blocks_;
  SmRunState& run_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SHARED_LOCATOR_H_
