// What the SMs of a machine see of its memory.
//
// The part of the memory that belongs to one SM (memory stage, first-level caches, its end of the network) is an
// SmMemory; the core runs it within its own cycle. Everything that the SMs share is the MemorySystem; the engine runs
// it between the cycles of the cores. `docs/reference/timing.md` has the rules.
#ifndef HEDDLE_REPLAY_MEMORY_PORTS_MEMORY_SYSTEM_H_
#define HEDDLE_REPLAY_MEMORY_PORTS_MEMORY_SYSTEM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "proto/result.pb.h"
#include "proto/trace.pb.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/sm_activity.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {

// The core's number for a memory instruction under way; it may be used again when nothing is outstanding for it.
using AccessId = uint32_t;

class MemoryProfile;

// What the memory of a machine has counted in the cycles before some cycle, for time series. Sums over SMs, slices and
// controllers.
struct MemorySample {
  uint64_t l1_accesses = 0;  // of the data caches
  uint64_t l1_misses = 0;
  uint64_t outstanding_misses = 0;  // MSHRs of the data caches in use, summed over cycles
  uint64_t l2_accesses = 0;
  uint64_t l2_misses = 0;
  uint64_t dram_requests = 0;
  uint64_t dram_bus_busy = 0;  // DRAM cycles, counted when the column access is commanded
};

// One memory instruction of one warp.
struct WarpAccess {
  AccessId id = 0;
  SlotId slot = kNoSlot;                          // the warp, for notices about caches
  trace::v1::OpClass op = trace::v1::OP_UNKNOWN;  // load, store, atomic or texture
  trace::v1::MemorySpace space = trace::v1::SPACE_NONE;
  uint32_t bytes = 0;  // per lane
  LaneMask lanes = 0;
  // By lane; good during the call only. Null if the instruction has no address (copies of by-value parameters), or if
  // the space is not generic and the memory does not need addresses.
  const std::array<uint64_t, kMaxLanes>* addresses = nullptr;
  // By lane, hardware threads of the SM; good during the call only. Local memory is interleaved by thread; needed if
  // the space is local or generic and the memory needs addresses.
  const std::array<ThreadId, kMaxLanes>* threads = nullptr;
  // Lanes that reach the shared memory of another block of their cluster, and by lane the SM that holds that block.
  LaneMask remote = 0;
  const std::array<uint16_t, kMaxLanes>* remote_sm = nullptr;  // good during the call only
  Pc pc = 0;                                                   // of the instruction, to count its transactions
  bool is_volatile = false;
};

// The core that a memory serves. Calls may come during Submit and RunCycle.
class MemoryClient {
 public:
  virtual ~MemoryClient() = default;
  // The data of `lanes` are there at the start of cycle `at`, which is the present cycle (then they count in it) or a
  // later one, and later than the cycle of the submission. Every lane comes exactly once. A store is done when it has
  // left the memory stage; its data may still be on their way. `returned`: the lanes come from the return queue of
  // misses, which the write-back of the single pipeline prefers.
  virtual void LanesDone(AccessId access, LaneMask lanes, Cycle at, bool returned) = 0;
  // A store has reached its last memory partition; for fences. Once per store, not before its lanes are done. Stores to
  // shared memory and stores of a memory that does not model this are acknowledged when they are done.
  virtual void StoreAcknowledged(AccessId access, Cycle at) = 0;
  // The access has to wait for memory beyond the core. At most once per access.
  virtual void WaitsOffCore(AccessId access) = 0;
  // The line of a fetch that missed is there: the fetch can be tried again in this cycle.
  virtual void FetchArrived(uint32_t fetcher) = 0;
  // A cache of the SM missed, or lost a line.
  virtual void CacheEvent(const CacheNotice& notice) = 0;
};

enum class FetchResult : uint8_t {
  kHit,      // decode gets the instructions in the next cycle
  kPending,  // FetchArrived will tell
  kRefused,  // no room for the miss; nothing has changed
};

// The memory of one SM. The core calls it in its own cycles, in this order: RunCycle, then any number of Submit and
// Fetch. A cycle in which neither the core nor NextWake asks for may be left out; running one too many is harmless.
class SmMemory {
 public:
  virtual ~SmMemory() = default;

  // Whether the core must pass addresses of all spaces, not only generic ones.
  virtual bool needs_addresses() const = 0;
  // Longest time from submission to data that is usual, for the size of the core's event wheel.
  virtual uint32_t usual_latency() const = 0;

  // Replies that have come, then the memory stage, for cycle `now`.
  virtual void RunCycle(Cycle now) = 0;
  // The next cycle after `now` in which RunCycle has something to do unless something comes from outside (the engine
  // wakes the SM then); kNever if there is none.
  virtual Cycle NextWake(Cycle now) const = 0;

  // Whether an access may be submitted in this cycle: there is room in the memory stage or on the way to it. Before
  // the single pipeline, which has no such way, the last access has left the stage. It becomes free only in RunCycle.
  virtual bool StageFree() const = 0;
  // Gives the memory stage an access; StageFree() must hold. Its first access to a cache or bank is in a later cycle.
  virtual void Submit(const WarpAccess& access, Cycle now) = 0;

  // Counts for every instruction from now on what a profile holds; `profile` outlives this. Memories that make no
  // transactions have nothing to count.
  virtual void SetProfile(MemoryProfile* /*profile*/) {}

  // A memory policy that wants something decides from now on what the data cache keeps; before anything runs. It
  // outlives this. Memories without a data cache have no use for one.
  virtual void SetPolicy(MemoryPolicy& /*policy*/, uint32_t /*warp_size*/) {}
  // What MemoryPolicy says of warps; without a policy of no effect.
  virtual void WarpsAdmitted(BlockId /*block*/, uint32_t /*first_hw_warp*/, uint32_t /*hw_warps*/) {}
  virtual void WarpEnded(uint32_t /*hw_warp*/) {}
  virtual void BlockRetired(BlockId /*block*/) {}

  // Fetches the instructions at byte address `address` of the program for `fetcher` (the core's own number).
  virtual FetchResult Fetch(uint64_t address, uint32_t fetcher, Cycle now) = 0;

  // Nothing is under way that the SM waits for or that still has to leave it.
  virtual bool drained() const = 0;
  // Whether nothing from outside can reach the SM, and its next RunCycle will reach nothing outside: no request waits
  // to leave or for its reply. The engine may then run the SM ahead of the others.
  virtual bool isolated() const { return drained(); }
  // One line on what is occupied and what waits, for the report of a deadlock; empty if nothing.
  virtual std::string Explain() const = 0;
  // How busy the SM's way to the memory is, after the last cycle that was run.
  virtual SmMemoryLoad load() const { return {}; }
};

// Wakes SMs from outside.
class SmWaker {
 public:
  virtual ~SmWaker() = default;
  // SM `sm` runs in the core cycle that the engine is about to run.
  virtual void WakeSm(uint32_t sm) = 0;
};

// The shared memory of a machine, over all launches of one run.
class MemorySystem {
 public:
  virtual ~MemorySystem() = default;

  // Between launches: `transfers` are those of the trace before the launch that comes next, from its beginning on, so
  // that every call gives those of the call before again. What they have written is no longer in any cache.
  virtual void Transferred(std::span<const trace::v1::Transfer> /*transfers*/) {}
  // A launch begins at core cycle 0: the memory is drained, the first-level caches are empty. `l1_ways`: that the sets
  // of the L1 data caches have in it, at most those of the machine.
  virtual void BeginLaunch(uint32_t l1_ways) = 0;
  // The memory of one SM for this launch, at any time of it; once per SM.
  virtual std::unique_ptr<SmMemory> MakeSm(uint32_t sm, MemoryClient& client) = 0;

  // The first core cycle before which Advance has something to do; kNever if nothing is under way outside the SMs.
  virtual Cycle NextEvent() const = 0;
  // Runs all edges of the other clocks up to the core's edge `now`, those at the same time included, and wakes the SMs
  // that got a reply or room in the network. Calling it too often is harmless.
  virtual void Advance(Cycle now, SmWaker& waker) = 0;

  // Nothing is under way outside the SMs.
  virtual bool drained() const = 0;
  // The launch is over and everything drained, at core cycle `end`: checks that requests in = requests out at every
  // level and that the counters agree with one another, and writes them. Errors: Internal, naming component and
  // counter.
  virtual absl::Status EndLaunch(Cycle end, result::v1::LaunchResult& result) = 0;

  // --- launches that run side by side; BeginLaunch has begun the time that they share
  // Parts of SMs that are made from now on are for this launch, by the caller's number, and their L1 data caches have
  // so many ways. MakeSm may come again for an SM that has been released.
  virtual void MakeFor(uint32_t /*launch*/, uint32_t /*l1_ways*/) {}
  // The part of an SM, which is drained, is about to go. What it has counted in the cycles before `until` is the
  // launch's.
  virtual void ReleaseSm(uint32_t /*sm*/, Cycle /*until*/) {}
  // Writes what the parts of SMs have counted that were made for the launch, all of which have been released.
  // `sm_cycles`: the cycles in which it had an SM, summed over SMs. EndLaunch writes what is shared, and checks all.
  virtual void EndBeside(uint32_t /*launch*/, uint64_t /*sm_cycles*/, result::v1::LaunchResult& /*result*/) {}

  // Sample will be called in this launch, which begins. Otherwise a component may run ahead of the others, where they
  // cannot tell, and count what it does before its time.
  virtual void BeginSampling() {}
  // What was counted before core cycle `end`, in which nothing has run yet. False if the memory counts nothing.
  virtual bool Sample(Cycle /*end*/, MemorySample& /*out*/) const { return false; }
  // Requests that DRAM has answered since the machine began; 0 if there is none. While it grows, SMs that wait do not
  // hang.
  virtual uint64_t served_requests() const { return 0; }
  // What every queue holds, for the report of a deadlock; empty if nothing.
  virtual std::string Explain() const = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PORTS_MEMORY_SYSTEM_H_
