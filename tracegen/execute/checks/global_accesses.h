// The accesses to global memory of stored blocks.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_GLOBAL_ACCESSES_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_GLOBAL_ACCESSES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/execute/checks/access_kind.h"
#include "tracegen/execute/checks/block_store.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// What a basic block does that matters here.
struct GlobalItem {
  trace::Pc pc = 0;
  uint16_t bytes = 0;
  AccessKind::Value kind = AccessKind::kLoad;
  bool is_sync = false;      // atomic or volatile
  bool has_address = false;  // takes an address of the record
  bool is_global = false;    // may access global memory
};

struct GlobalAccess {
  uint64_t block = 0;
  uint32_t thread = 0;
  uint32_t barriers = 0;         // passed before
  uint32_t warp_operations = 0;  // warp operations since
  uint32_t position = 0;         // among the thread's accesses
  const GlobalItem* item = nullptr;
};

// Memory is counted in units as large as the smallest access.
class GlobalAccesses {
 public:
  // The program and the blocks must outlive the object. `threads`: per block.
  GlobalAccesses(const trace::Program& program, uint32_t threads, BlockStore& store);

  uint32_t threads() const { return threads_; }
  std::vector<uint64_t> blocks() const { return store_.Blocks(); }

  // Calls visit(access, address) for every access of the block to global memory, thread after thread. Errors: those of
  // the store.
  template <typename Visitor>
  absl::Status ForEachAccess(uint64_t block, Visitor&& visit) const;

  // Calls visit(unit) for every unit that an access concerns.
  template <typename Visitor>
  void ForEachUnit(uint64_t address, const GlobalItem& item, Visitor&& visit) const {
    for (uint64_t unit = UnitOf(address); unit <= UnitOf(address + item.bytes - 1); ++unit) visit(unit);
  }
  unsigned unit_bits() const { return unit_bits_; }
  uint64_t UnitOf(uint64_t address) const { return (address - kGlobalBase) >> unit_bits_; }
  uint64_t AddressOf(uint64_t unit) const { return kGlobalBase + (unit << unit_bits_); }

 private:
  const trace::Program& program_;
  const uint32_t threads_;
  BlockStore& store_;
  unsigned unit_bits_ = 2;
  std::vector<GlobalItem> items_;     // of all basic blocks, each in its order
  std::vector<uint32_t> first_item_;  // by basic block, and one more
};

template <typename Visitor>
absl::Status GlobalAccesses::ForEachAccess(uint64_t block, Visitor&& visit) const {
  HEDDLE_ASSIGN_OR_RETURN(const StoredBlock* stored, store_.Get(block));
  for (uint32_t t = 0; t < threads_; ++t) {
    const std::span<const uint8_t> taken = stored->decisions_of(t);
    const std::span<const uint64_t> addresses = stored->addresses_of(t);
    trace::ByteDecisions decisions(taken.data(), taken.size());
    trace::WalkState state;
    uint64_t instructions = 0;
    GlobalAccess access;
    access.block = block;
    access.thread = t;
    trace::Walk(program_, trace::Extent::kRunsToExit, decisions, state, ~uint64_t{0}, instructions,
                [&](uint32_t index, const trace::Block&) {
                  for (uint32_t i = first_item_[index]; i < first_item_[index + 1]; ++i) {
                    const GlobalItem& item = items_[i];
                    if (item.kind == AccessKind::kBarrier) {
                      ++access.barriers;
                      access.warp_operations = 0;
                    }
                    if (item.kind == AccessKind::kWarpOperation) ++access.warp_operations;
                    if (!item.has_address || access.position >= addresses.size()) continue;
                    access.item = &item;
                    const uint64_t address = addresses[access.position];
                    if (item.is_global && address - kGlobalBase < kGlobalBytes) visit(access, address);
                    ++access.position;
                  }
                });
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_GLOBAL_ACCESSES_H_
