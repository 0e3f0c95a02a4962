#include "replay/memory/sm/access_plan.h"

#include <algorithm>
#include <bit>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {
namespace {

// No transaction is larger than a line of the caches that it goes through.
uint32_t LargestTransaction(const machine::v1::Hierarchy& memory) {
  constexpr uint32_t kLargestLine = 256;
  uint32_t largest = kLargestLine;
  if (memory.l1_data().sets() != 0) largest = std::min(largest, memory.l1_data().line_bytes());
  if (memory.l2().slices_per_controller() != 0) largest = std::min(largest, memory.l2().cache().line_bytes());
  return largest;
}

Coalescer::Kind KindOf(trace::v1::OpClass op) {
  if (op == trace::v1::OP_STORE) return Coalescer::Kind::kWrite;
  return op == trace::v1::OP_ATOMIC ? Coalescer::Kind::kAtomic : Coalescer::Kind::kRead;
}

}  // namespace

AccessPlanner::AccessPlanner(const machine::v1::Machine& machine, const AddressWindows& windows, uint32_t sm)
    : windows_(windows),
      local_base_(windows.BaseOf(trace::v1::SPACE_LOCAL)),
      all_threads_(uint64_t{machine.sms()} * machine.core().max_threads()),
      first_thread_(uint64_t{sm} * machine.core().max_threads()),
      texture_line_bytes_(machine.memory().hierarchy().l1_texture().sets() == 0
                              ? 0
                              : machine.memory().hierarchy().l1_texture().line_bytes()),
      coalesces_(machine.memory().hierarchy().coalescing() != machine::v1::Hierarchy::COALESCING_OFF),
      volatile_past_l1_(machine.memory().hierarchy().volatile_past_l1()),
      coalescer_(
          machine.memory().hierarchy().coalescing(), machine.core().warp_size(),
          machine.memory().hierarchy().l1_data().sets() == 0 ? 0 : machine.memory().hierarchy().l1_data().line_bytes(),
          LargestTransaction(machine.memory().hierarchy())),
      shared_(machine.memory().hierarchy().shared(), machine.core().warp_size()) {}

void AccessPlanner::PlanShared(const WarpAccess& access, LaneMask lanes, AccessPlan& plan, SmMemoryCounters& counters) {
  const bool atomic = access.op == trace::v1::OP_ATOMIC;
  const SharedMemoryBanks::Passes count = shared_.Count(access.bytes, atomic, lanes, *access.addresses);
  ++counters.shared_accesses;
  counters.shared_parts += count.parts;
  counters.shared_passes += count.passes;
  plan.Add({.lanes = lanes, .passes = static_cast<uint16_t>(count.passes), .unit = MemoryUnit::kShared});
}

void AccessPlanner::PlanConstant(const WarpAccess& access, LaneMask lanes, AccessPlan& plan) {
  if (access.addresses == nullptr) {
    plan.Add({.lanes = lanes, .unit = MemoryUnit::kUnknown});
    return;
  }
  // One step per distinct address, in the order of the first lane that has it.
  const LaneAddresses& addresses = *access.addresses;
  while (lanes != 0) {
    const uint64_t address = addresses[std::countr_zero(lanes)];
    LaneMask same = 0;
    ForEachLane(lanes, [&](int lane) { same |= static_cast<LaneMask>(addresses[lane] == address) << lane; });
    plan.Add({.address = address, .lanes = same, .unit = MemoryUnit::kConstant});
    lanes &= ~same;
  }
}

void AccessPlanner::PlanTexture(const WarpAccess& access, LaneMask lanes, AccessPlan& plan) {
  transactions_.clear();
  GroupLanes(texture_line_bytes_, lanes, *access.addresses, transactions_);
  for (const Transaction& line : transactions_) {
    plan.Add({.address = line.address, .lanes = line.lanes, .bytes = line.bytes, .unit = MemoryUnit::kTexture});
  }
}

void AccessPlanner::AddData(const WarpAccess& access, uint32_t bytes, LaneMask lanes, const LaneAddresses& addresses,
                            uint32_t group, AccessPlan& plan, SmMemoryCounters& counters) {
  transactions_.clear();
  coalescer_.Coalesce(KindOf(access.op), bytes, lanes, addresses, transactions_);
  for (Transaction& transaction : transactions_) {
    if (coalesces_) {
      ++counters.transactions[std::countr_zero(transaction.bytes)];
    } else {
      counters.transactions[std::countr_zero(bytes)] += static_cast<uint64_t>(std::popcount(transaction.lanes));
    }
    // Atomics carry the operand of each lane, up to the size of the transaction (GPGPU-Sim 3.2.2 sends that much);
    // without coalescing the stores on one line carry what each lane writes.
    if (access.op == trace::v1::OP_ATOMIC || (!coalesces_ && access.op == trace::v1::OP_STORE)) {
      const auto operands = bytes * static_cast<uint32_t>(std::popcount(transaction.lanes));
      transaction.bytes = static_cast<uint16_t>(std::min<uint32_t>(transaction.bytes, operands));
    }
    plan.Add({transaction.address, transaction.lanes, transaction.bytes, transaction.passes, MemoryUnit::kData,
              static_cast<uint8_t>(group)});
  }
}

void AccessPlanner::PlanData(const WarpAccess& access, LaneMask global, LaneMask local, AccessPlan& plan,
                             SmMemoryCounters& counters) {
  if (access.op == trace::v1::OP_STORE) {
    ++counters.data_stores;
  } else if (access.op == trace::v1::OP_ATOMIC) {
    ++counters.data_atomics;
  } else {
    ++counters.data_loads;
  }
  if (global != 0) AddData(access, access.bytes, global, *access.addresses, 0, plan, counters);
  if (local == 0) return;
  const uint32_t words = std::max(1u, access.bytes / 4);
  const uint32_t bytes = std::min(4u, access.bytes);
  plan.joined = words > 1;
  for (uint32_t k = 0; k < words; ++k) {
    ForEachLane(local, [&](int lane) {
      const uint64_t offset = (*access.addresses)[lane] - local_base_;
      const uint64_t thread = first_thread_ + (access.threads == nullptr ? lane : (*access.threads)[lane]);
      local_addresses_[lane] = local_base_ + ((offset / 4 + k) * all_threads_ + thread) * 4 + offset % 4;
    });
    AddData(access, bytes, local, local_addresses_, k + 1, plan, counters);
  }
}

void AccessPlanner::PlanRemote(const WarpAccess& access, AccessPlan& plan) {
  const bool atomic = access.op == trace::v1::OP_ATOMIC;
  for (LaneMask left = access.remote & access.lanes; left != 0;) {
    uint32_t sm = ~0u;
    ForEachLane(left, [&](int lane) { sm = std::min<uint32_t>(sm, (*access.remote_sm)[lane]); });
    LaneMask there = 0;
    ForEachLane(left, [&](int lane) { there |= static_cast<LaneMask>((*access.remote_sm)[lane] == sm) << lane; });
    const SharedMemoryBanks::Passes count = shared_.Count(access.bytes, atomic, there, *access.addresses);
    const uint32_t bytes = access.bytes * static_cast<uint32_t>(std::popcount(there));
    plan.Add({.address = sm,
              .lanes = there,
              .bytes = static_cast<uint16_t>(bytes),
              .passes = static_cast<uint16_t>(count.passes),
              .unit = MemoryUnit::kRemote});
    left &= ~there;
  }
}

void AccessPlanner::PlanAllShared(const WarpAccess& access, LaneMask own, AccessPlan& plan,
                                  SmMemoryCounters& counters) {
  if (own != 0) PlanShared(access, own, plan, counters);
  if (access.remote != 0) [[unlikely]]
    PlanRemote(access, plan);
}

void AccessPlanner::Plan(const WarpAccess& access, AccessPlan& plan, SmMemoryCounters& counters) {
  plan.Resize(0);
  plan.joined = false;
  const LaneMask lanes = access.lanes & ~access.remote;
  if (access.addresses == nullptr) return PlanConstant(access, lanes, plan);
  switch (access.space) {
    case trace::v1::SPACE_SHARED:
    case trace::v1::SPACE_CLUSTER_SHARED:
      return PlanAllShared(access, lanes, plan, counters);
    case trace::v1::SPACE_CONSTANT:
    case trace::v1::SPACE_PARAM:
      return PlanConstant(access, lanes, plan);
    case trace::v1::SPACE_TEXTURE:
      return texture_line_bytes_ != 0 ? PlanTexture(access, lanes, plan) : PlanData(access, lanes, 0, plan, counters);
    case trace::v1::SPACE_LOCAL:
      return PlanData(access, 0, lanes, plan, counters);
    case trace::v1::SPACE_GENERIC:
      break;
    default:
      return PlanData(access, lanes, 0, plan, counters);
  }
  LaneMask shared = 0;
  LaneMask constant = 0;
  LaneMask local = 0;
  ForEachLane(lanes, [&](int lane) {
    const LaneMask bit = LaneMask{1} << lane;
    switch (windows_.SpaceOf((*access.addresses)[lane])) {
      case trace::v1::SPACE_SHARED:
        shared |= bit;
        break;
      case trace::v1::SPACE_CONSTANT:
      case trace::v1::SPACE_PARAM:
        constant |= bit;
        break;
      case trace::v1::SPACE_LOCAL:
        local |= bit;
        break;
      default:
        break;
    }
  });
  PlanAllShared(access, shared, plan, counters);
  if (constant != 0) PlanConstant(access, constant, plan);
  const LaneMask global = lanes & ~(shared | constant | local);
  if ((global | local) != 0) PlanData(access, global, local, plan, counters);
}

}  // namespace heddle::replay
