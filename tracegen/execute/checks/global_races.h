// Finds races in global memory in what the blocks of a launch have recorded, and what a run in another order leaves
// there.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_GLOBAL_RACES_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_GLOBAL_RACES_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "tracegen/execute/checks/block_store.h"
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
  void CompareMemory();
  // After all runs: adds to the certificate what has been found.
  absl::Status Find(const std::vector<trace::v1::Allocation>& allocations, trace::v1::Certificate& certificate);

 private:
  static constexpr unsigned kPageBits = 10;  // units of a page
  static constexpr size_t kMostPages = 16 << 10;
  static constexpr size_t kMostSyncs = size_t{1} << 20;
  static constexpr size_t kMostDifferent = size_t{1} << 20;
  static constexpr size_t kMostInstructions = 16;  // of one place

  enum Kind : uint8_t { kLoad = 1, kStore = 2, kAtomic = 4, kBarrier = 8, kWarpOperation = 16 };
  // What a basic block does that matters here, in its order.
  struct Item {
    trace::Pc pc = 0;
    uint16_t bytes = 0;
    Kind kind = kLoad;
    bool is_sync = false;      // atomic or volatile
    bool has_address = false;  // takes an address of the record
    bool is_global = false;    // may access global memory
  };
  struct Access {
    uint64_t block = 0;
    uint32_t thread = 0;
    uint32_t barriers = 0;  // passed before
    uint32_t meetings = 0;  // warp operations since
    uint32_t position = 0;  // among the thread's accesses
    const Item* item = nullptr;
  };
  struct Event {
    uint64_t unit = 0;
    Access access;
  };
  // What a unit is used for.
  struct Use {
    uint64_t thread = 0;  // 1 + the first one that accessed it, over all blocks
    bool written = false;
    bool shared = false;   // by several threads
    bool between = false;  // by several blocks
  };
  using Page = std::array<Use, size_t{1} << kPageBits>;
  // Atomic and volatile accesses to a place by a thread.
  struct Sync {
    uint32_t first_barriers = 0;
    uint32_t last_barriers = 0;
    uint32_t first_position = 0;
    uint32_t last_position = 0;
  };
  // Accesses to one unit by one instruction in an interval: the first one, and the first ones by another thread of its
  // warp and by one of another warp.
  struct Samples {
    std::array<Access, 3> accesses;
    void Add(const Access& access);
  };
  // The same between blocks: the first two blocks.
  struct BlockSamples {
    std::array<Access, 2> accesses;
  };
  struct RacePair {
    std::unordered_set<uint64_t> units;
    uint64_t unit = 0;  // the example
    Access writer;
    Access other;
  };
  struct Order {  // what was found about accesses of two instructions
    uint32_t asked = 0;
    uint32_t ordered = 0;
  };

  template <typename Visitor>
  absl::Status ForEachAccess(uint64_t block, Visitor&& visit);
  template <typename Visitor>
  void ForEachUnit(uint64_t address, const Item& item, Visitor&& visit) const;
  Use* UseOf(uint64_t unit) const;
  uint64_t AddressOf(uint64_t unit) const;
  absl::Status FindInBlock(uint64_t block);
  void Compare(uint64_t unit, const Access& a, const Access& b);
  void AddSync(const Access& access, uint64_t address);
  bool AreOrdered(const Access& a, const Access& b);
  // Whether syncs lie behind the first and in front of the second.
  bool IsSyncBetween(const Access& first, const Access& second) const;
  bool IsBenign(const Access& a, const Access& b, uint64_t unit) const;
  void AddDifferences(const std::vector<trace::v1::Allocation>& allocations, trace::v1::Certificate& certificate) const;

  const trace::Program& program_;
  const uint32_t threads_;
  const std::vector<uint32_t> constants_;
  BlockStore& store_;
  unsigned unit_bits_ = 2;
  std::vector<Item> items_;
  std::vector<uint32_t> first_item_;  // by basic block, and one more
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::map<uint64_t, std::string> kept_;  // by page: its contents after the usual order
  std::unordered_set<uint64_t> different_units_;
  std::vector<std::vector<uint64_t>> runs_;          // of each: addresses of bytes that differ, ascending
  std::unordered_map<uint64_t, trace::Pc> writers_;  // of units that differ: an instruction that stores there
  std::unordered_map<uint64_t, std::map<std::pair<uint64_t, uint32_t>, Sync>> syncs_;  // by block; address and thread
  std::unordered_map<uint64_t, std::map<trace::Pc, BlockSamples>> between_;            // by unit
  size_t sync_count_ = 0;
  std::map<std::pair<trace::Pc, trace::Pc>, Order> orders_;
  std::map<std::pair<trace::Pc, trace::Pc>, RacePair> races_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_GLOBAL_RACES_H_
