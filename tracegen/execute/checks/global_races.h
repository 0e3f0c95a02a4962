// Finds races in global memory in what the blocks of a launch have recorded, and what a run in another order leaves
// there.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_GLOBAL_RACES_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_GLOBAL_RACES_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "tracegen/execute/checks/block_store.h"
#include "tracegen/execute/checks/global_accesses.h"
#include "tracegen/execute/checks/memory_differences.h"
#include "tracegen/execute/checks/sync_order.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// A race: accesses to one place by different threads, at least one of them a store, that nothing orders (Race in
// trace.proto). What does not count, since programs mean it so, or no value depends on it:
// * accesses of which both are atomic or volatile;
// * accesses with an atomic or volatile access behind the one and in front of the other, to the same place by both
//   sides (a lock, a flag, a counter of blocks), each in the accessing thread or beyond a barrier of its block;
// * stores of the same constant, and stores to places that hold the same in the end in every order that was tried.
// Barriers and warp operations order threads as in SharedMemoryCheck.
//
// Memory: 16 bytes per place that the launch writes, for up to 64 MiB of such places in pages of 4 KiB (others are not
// looked at), and some 100 for each instruction that uses a place which several blocks use.
class GlobalRaces {
 public:
  // The program and the blocks, which are those of the usual order, must outlive the object. `threads`: per block.
  // `constants` as for SharedMemoryCheck.
  GlobalRaces(const trace::Program& program, uint32_t threads, std::vector<uint32_t> constants, BlockStore& store);

  // When memory is what the run in the usual order has left: finds what it has written, and keeps that. Errors: those
  // of the store, as below.
  absl::Status KeepMemory();
  // When memory is what a run in another order has left.
  void CompareMemory() { differences_.CompareRun(); }
  // After all runs: adds to the certificate what has been found.
  absl::Status Find(const std::vector<trace::v1::Allocation>& allocations, trace::v1::Certificate& certificate);

 private:
  static constexpr unsigned kPageBits = 10;  // units of a page
  static constexpr size_t kMostPages = 16 << 10;
  static constexpr size_t kMostInstructions = 16;  // of one place

  struct Event {
    uint64_t unit = 0;
    GlobalAccess access;
  };
  // What a unit is used for.
  struct Use {
    uint64_t thread = 0;  // 1 + the first one that accessed it, over all blocks
    bool written = false;
    bool shared = false;   // by several threads
    bool between = false;  // by several blocks
  };
  using Page = std::array<Use, size_t{1} << kPageBits>;
  // Accesses to one unit by one instruction in an interval: the first one, and the first ones by another thread of its
  // warp and by one of another warp.
  struct Samples {
    std::array<GlobalAccess, 3> accesses;
    void Add(const GlobalAccess& access);
  };
  // Samples between blocks: of the first two blocks.
  struct BlockSamples {
    std::array<GlobalAccess, 2> accesses;
  };
  struct RacePair {
    std::unordered_set<uint64_t> units;
    uint64_t unit = 0;  // the example
    GlobalAccess writer;
    GlobalAccess other;
  };

  Use* UseOf(uint64_t unit) const;
  absl::Status FindInBlock(uint64_t block);
  void Compare(uint64_t unit, const GlobalAccess& a, const GlobalAccess& b);
  bool IsBenign(const GlobalAccess& a, const GlobalAccess& b, uint64_t unit) const;

  GlobalAccesses accesses_;
  const std::vector<uint32_t> constants_;
  MemoryDifferences differences_;
  SyncOrder syncs_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::unordered_map<uint64_t, std::map<trace::Pc, BlockSamples>> between_;  // by unit
  std::map<std::pair<trace::Pc, trace::Pc>, RacePair> races_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_GLOBAL_RACES_H_
