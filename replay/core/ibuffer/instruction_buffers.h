// The instruction buffers of one SM: one per warp slot, between fetch and issue.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_INSTRUCTION_BUFFERS_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_INSTRUCTION_BUFFERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/ibuffer/buffer_setup.h"
#include "replay/core/ibuffer/warp_entry.h"
#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

// Keeps how many instructions each buffer holds, what is on its way into one, and which slots can be fetched for. The
// head of a buffer is a PC in the slot's entry; a warp that goes on elsewhere loses what it has (Redirect).
class InstructionBuffers {
 public:
  struct Counters {
    uint64_t instructions = 0;  // that entered a buffer
    uint64_t dropped = 0;       // of those, dropped before they issued
  };

  InstructionBuffers(const WarpTable& table, const BufferSetup& setup);

  // --- filling
  // Instructions that were fetched in this or the last cycle, and are not decoded yet; kNoSlot: none.
  SlotId arriving() const { return arriving_.slot; }
  void BeginFill(SlotId slot, WarpEntry& warp, uint32_t count) {
    arriving_ = {slot, static_cast<uint8_t>(count)};
    warp.fetching = true;
  }
  // What is arriving for the slot enters its buffer.
  void EndFill(SlotId slot, WarpEntry& warp);
  bool HasRoom(const WarpEntry& warp) const { return warp.valid < fill_below_; }

  // --- emptying
  // The instruction at `pc`, the first in the buffer, issues.
  void TakeHead(SlotId slot, WarpEntry& warp, Pc pc) {
    entries_[slot] = --warp.valid;
    warp.head = pc + 1;
  }
  // Drops what the buffer holds and what is arriving for it.
  void Flush(SlotId slot, WarpEntry& warp);
  // The warp goes on at `pc`. The one place for what follows from that: if it is not the instruction that the buffer
  // has next, the buffer is flushed.
  void Redirect(SlotId slot, WarpEntry& warp, Pc pc) {
    if (warp.head == pc) return;
    Flush(slot, warp);
    warp.head = pc;
    warp.flushed = true;
  }

  // --- what can be fetched for
  // Looks again after the buffer or the slot's state has changed.
  void UpdateFetchable(SlotId slot, WarpEntry& warp) {
    const bool room = HasRoom(warp);
    if (room || warp.fetchable != Fetchable::kNo) SetFetchable(slot, warp, room);
  }
  // UpdateFetchable for a regular warp.
  [[gnu::always_inline]] void UpdateFetchableOfRegular(SlotId slot, WarpEntry& warp) {
    const bool fetchable =
        HasRoom(warp) && !warp.fetching && !warp.waits_for_line && warp.head + warp.valid < program_size_;
    if (fetchable == (warp.fetchable == Fetchable::kEligible)) return;
    if (fetchable) {
      eligible_.Insert(slot);
      warp.fetchable = Fetchable::kEligible;
    } else {
      eligible_.Erase(slot);
      warp.fetchable = Fetchable::kNo;
    }
  }
  // UpdateFetchable, where it is known whether there is room.
  [[gnu::noinline]] void SetFetchable(SlotId slot, WarpEntry& warp, bool room);
  // A fetch for the slot has gone out.
  void ForgetFetchable(SlotId slot, WarpEntry& warp) {
    (warp.fetchable == Fetchable::kEligible ? eligible_ : at_barrier_).Erase(slot);
    warp.fetchable = Fetchable::kNo;
  }
  // Slots that can be fetched for, and those of them that are at a barrier.
  const SlotSet& eligible() const { return eligible_; }
  const SlotSet& at_barrier() const { return at_barrier_; }
  // By slot: instructions in its buffer.
  std::span<const uint8_t> entries() const { return entries_; }
  const Counters& counters() const { return counters_; }

 private:
  struct Arriving {
    SlotId slot = kNoSlot;
    uint8_t count = 0;
  };

  Arriving arriving_;
  const WarpTable& table_;
  const uint8_t fill_below_;  // there is room in a buffer that holds fewer instructions
  const Pc program_size_;
  std::vector<uint8_t> entries_;  // by slot: WarpEntry::valid, as the fetch policy sees it
  SlotSet eligible_;
  SlotSet at_barrier_;
  Counters counters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_INSTRUCTION_BUFFERS_H_
