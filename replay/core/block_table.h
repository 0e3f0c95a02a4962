// The resident thread blocks of one SM, and the hardware warps that their warps occupy.
#ifndef HEDDLE_REPLAY_CORE_BLOCK_TABLE_H_
#define HEDDLE_REPLAY_CORE_BLOCK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/arrivals.h"
#include "replay/core/launch_context.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Who is resident, how many threads are live, and which hardware warps are free. Knows neither
// time nor policies.
class BlockTable {
 public:
  static constexpr BlockId kNone = 0xffff;
  struct Block {
    bool resident = false;
    bool exited = false;  // all its threads, and the policy knows
    bool paused = false;  // by the dispatcher
    uint64_t position = 0;
    uint64_t linear_index = 0;
    uint32_t live = 0;       // threads, those of warps that have not come yet included
    uint32_t place = 0;      // of its virtual block
    BlockId former = kNone;  // of the same virtual block, has threads left
  };

  explicit BlockTable(const LaunchContext& context);

  // Forgets what left in the cycle before.
  void BeginCycle() {
    retired_.clear();
    freed_hw_warps_.clear();
  }

  // --- coming
  // A block comes, without warps so far, into the place that its arrival names, which is free, or into the first free
  // one.
  BlockId Open(const BlockArrival& arrival);
  // The resident block with this position in the order of dispatch; kNone if it is not here.
  BlockId Find(uint64_t position) const;
  // The block continues a virtual block; see WarpArrival::Virtual.
  void BindToVirtualBlock(BlockId block, const WarpArrival::Virtual& virtual_block);
  // A warp of the block occupies a hardware warp, with so many threads.
  void PlaceWarp(BlockId block, uint32_t hw_warp, uint32_t threads) {
    live_in_hw_warp_[hw_warp] = static_cast<uint16_t>(threads);
    block_of_hw_warp_[hw_warp] = block;
    hw_warp_is_free_[hw_warp] = 0;
  }
  // A block, or a warp where they come one by one, has been admitted; their number before it.
  uint64_t CountAdmission() { return admitted_++; }
  uint64_t admitted() const { return admitted_; }

  // --- leaving
  // Threads of the warp in a hardware warp exit. Whether they were its last.
  bool ExitThreads(uint32_t hw_warp, uint32_t threads) {
    exited_threads_ += threads;
    blocks_[block_of_hw_warp_[hw_warp]].live -= threads;
    live_in_hw_warp_[hw_warp] = static_cast<uint16_t>(live_in_hw_warp_[hw_warp] - threads);
    return live_in_hw_warp_[hw_warp] == 0;
  }
  // All threads of the block have exited, and the policy knows. Once per block.
  void SetExited(BlockId block) { blocks_[block].exited = true; }
  // The block that takes over from this one, all of whose threads have exited, may use the shared memory. Whether there
  // is such a block.
  bool ReleaseShared(BlockId block);
  // The warp in it has ended, and nothing of it is on its way.
  void FreeHwWarp(uint32_t hw_warp) {
    hw_warp_is_free_[hw_warp] = 1;
    freed_hw_warps_.push_back(hw_warp);
  }
  // The block leaves the SM.
  void Retire(BlockId block);

  // --- pausing
  void SetPaused(BlockId block, bool paused) {
    paused_ += paused - blocks_[block].paused;
    blocks_[block].paused = paused;
  }
  // Whether some resident block is paused.
  bool any_paused() const { return paused_ != 0; }
  // Whether slots of the block are. Almost always nothing is.
  bool IsPaused(BlockId block) const { return paused_ != 0 && blocks_[block].paused; }

  // --- who is here
  const Block& operator[](BlockId block) const { return blocks_[block]; }
  size_t size() const { return blocks_.size(); }
  int resident() const { return resident_; }
  uint32_t hw_warps() const { return static_cast<uint32_t>(block_of_hw_warp_.size()); }
  BlockId block_of_hw_warp(uint32_t hw_warp) const { return block_of_hw_warp_[hw_warp]; }  // of its latest warp
  uint32_t live_in_hw_warp(uint32_t hw_warp) const { return live_in_hw_warp_[hw_warp]; }   // threads
  bool HwWarpIsFree(uint32_t hw_warp) const {
    return hw_warp < hw_warp_is_free_.size() && hw_warp_is_free_[hw_warp] != 0;
  }
  // Positions of the blocks that retired, and the hardware warps that became free, in the cycle that was run last.
  std::span<const uint64_t> retired() const { return retired_; }
  std::span<const uint32_t> freed_hw_warps() const { return freed_hw_warps_; }
  uint64_t exited_threads() const { return exited_threads_; }

 private:
  std::vector<uint64_t> retired_;
  std::vector<uint32_t> freed_hw_warps_;
  int resident_ = 0;
  int paused_ = 0;
  std::vector<Block> blocks_;
  // By hardware warp:
  std::vector<uint16_t> live_in_hw_warp_;
  std::vector<BlockId> block_of_hw_warp_;
  std::vector<uint8_t> hw_warp_is_free_;
  uint64_t admitted_ = 0;
  uint64_t exited_threads_ = 0;
  const uint32_t threads_per_block_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_BLOCK_TABLE_H_
