// What a warp's memory instruction does in the memory stage, step by step.
#ifndef HEDDLE_REPLAY_MEMORY_SM_ACCESS_PLAN_H_
#define HEDDLE_REPLAY_MEMORY_SM_ACCESS_PLAN_H_

#include <array>
#include <cstdint>

#include "proto/machine.pb.h"
#include "replay/memory/ports/address_windows.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/sm/coalescer.h"
#include "replay/memory/sm/shared_memory_banks.h"
#include "replay/memory/sm/sm_memory_counters.h"

namespace heddle::replay {

// What a step uses.
enum class MemoryUnit : uint8_t {
  kShared,    // shared memory, for `passes` cycles
  kRemote,    // shared memory of other blocks, on the SM that is the step's address
  kConstant,  // one address through the constant cache
  kUnknown,   // an access without an address (a parameter that is copied by value): as a hit of the constant cache
  kTexture,   // one line of the texture cache
  kData,      // one transaction through the data cache
};

struct AccessStep {
  uint64_t address = 0;
  LaneMask lanes = 0;
  uint16_t bytes = 0;   // of the transaction
  uint16_t passes = 0;  // kShared, kRemote: bank passes; atomics: the most lanes on one address
  MemoryUnit unit = MemoryUnit::kData;
  uint8_t group = 0;      // kData: 0 = global memory, else local memory; each 4-byte word of a lane's access is a group
  uint8_t placement = 0;  // kData: 1 + LinePlacement, once a memory policy has been asked

  bool local() const { return group != 0; }
};

// The steps of one instruction, in the order in which the stage makes them: shared memory, that of other blocks by SM,
// constants, textures, global, local memory. Steps of kData come last.
class AccessPlan {
 public:
  uint32_t size() const { return size_; }
  AccessStep& operator[](uint32_t index) { return steps_[index]; }
  const AccessStep& operator[](uint32_t index) const { return steps_[index]; }
  void Add(const AccessStep& step) { steps_[size_++] = step; }
  void Resize(uint32_t size) { size_ = size; }

  // Whether all steps are of one unit and group.
  bool uniform() const {
    return size_ == 0 || (steps_[0].unit == steps_[size_ - 1].unit && steps_[0].group == steps_[size_ - 1].group);
  }

  // A lane has several steps (local memory, more than 4 bytes): lanes can only be done together.
  bool joined = false;

 private:
  uint32_t size_ = 0;  // beside the first steps, mostly there are no others
  // Per lane at most one step, four in local memory.
  std::array<AccessStep, TransactionList::kMost> steps_;
};

// Makes plans for one SM. Lanes of generic accesses are sorted by the window that holds their address. Local memory is
// interleaved by thread, as on all GPUs with local memory: word w of hardware thread h of the machine's H is at window
// base + (w * H + h) * 4.
class AccessPlanner {
 public:
  AccessPlanner(const machine::v1::Machine& machine, const AddressWindows& windows, uint32_t sm);

  // `plan` is overwritten. Counts instructions, transactions, shared memory passes.
  void Plan(const WarpAccess& access, AccessPlan& plan, SmMemoryCounters& counters);
  // Whether it must not find its data in the L1: atomics, and volatile loads if the machine says so.
  bool PassesL1(const WarpAccess& access) const {
    return access.op == trace::v1::OP_ATOMIC ||
           (access.op == trace::v1::OP_LOAD && access.is_volatile && volatile_past_l1_);
  }

 private:
  // Lanes in the own block's shared memory, and behind them the access' lanes in that of others.
  void PlanAllShared(const WarpAccess& access, LaneMask own, AccessPlan& plan, SmMemoryCounters& counters);
  void PlanRemote(const WarpAccess& access, AccessPlan& plan);
  void PlanShared(const WarpAccess& access, LaneMask lanes, AccessPlan& plan, SmMemoryCounters& counters);
  void PlanConstant(const WarpAccess& access, LaneMask lanes, AccessPlan& plan);
  void PlanTexture(const WarpAccess& access, LaneMask lanes, AccessPlan& plan);
  void PlanData(const WarpAccess& access, LaneMask global, LaneMask local, AccessPlan& plan,
                SmMemoryCounters& counters);
  void AddData(const WarpAccess& access, uint32_t bytes, LaneMask lanes, const LaneAddresses& addresses, uint32_t group,
               AccessPlan& plan, SmMemoryCounters& counters);

  const AddressWindows& windows_;
  uint64_t local_base_;
  uint64_t all_threads_;         // of the machine
  uint64_t first_thread_;        // of this SM
  uint32_t texture_line_bytes_;  // 0: textures go through the data cache
  bool coalesces_;
  bool volatile_past_l1_;
  Coalescer coalescer_;
  SharedMemoryBanks shared_;
  TransactionList transactions_;
  LaneAddresses local_addresses_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_ACCESS_PLAN_H_
