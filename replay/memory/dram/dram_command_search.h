// Which command a DRAM controller can issue first.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_DRAM_COMMAND_SEARCH_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_DRAM_COMMAND_SEARCH_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "replay/memory/dram/command_bounds.h"
#include "replay/memory/dram/dram_reply_queue.h"
#include "replay/memory/dram/dram_timing.h"
#include "replay/memory/dram/wanted_commands.h"

namespace heddle::replay {

// Every bank wants at most one command. `CommandBounds` knows from when on each command is allowed, `WantedCommands`
// holds what is wanted; here stands the time, and what was found. Nothing branches by command or bank: which of them
// comes next cannot be guessed.
class DramCommandSearch {
 public:
  explicit DramCommandSearch(const DramParameters& parameters);

  // Forgets all that was done; time starts again at cycle 0. No bank may want anything.
  void Reset();
  // It is cycle `cycle`, or later. Comes before anything else in a cycle.
  void Advance(uint64_t cycle) {
    if (cycle - base_ >= kSpan) MoveBase(cycle);
  }

  // The bank wants `command` from now on.
  void Want(uint32_t bank, DramCommand command) {
    command_[bank] = command;
    wanted_.Want(bank, command, static_cast<BankLane>(CommandBounds::CycleOf(bounds_.Allowed(bank, command))));
  }
  // The bank does not want anything any more.
  void Forget(uint32_t bank) { wanted_.Forget(bank); }
  // The bank's command, which it goes on wanting until told otherwise, is issued in `cycle`.
  void Issued(uint32_t bank, uint64_t cycle) {
    wanted_.Hold(bounds_.Issued(bank, command_[bank], static_cast<CommandBounds::Time>(cycle - base_)),
                 bounds_.group(bank));
  }

  // Searches, not before cycle `earliest`, which does not go back: cycle() and ready() say what was found.
  void Find(uint64_t earliest) {
    const BankLane first = std::max(wanted_.First(), static_cast<BankLane>(earliest - base_));
    cycle_ = first == WantedCommands::kNever ? kNeverCycle : base_ + static_cast<uint64_t>(first);
    ready_ = wanted_.ReadyIn(first);
  }
  // Finds what Find does, if since the last search nothing was issued, and this bank alone has begun to want something.
  void FindWith(uint32_t bank, uint64_t earliest) {
    const uint64_t cycle = std::max(AllowedFrom(bank).cycle(), earliest);
    ready_ &= -uint64_t{cycle >= cycle_};
    ready_ |= uint64_t{cycle <= cycle_} << bank;
    cycle_ = std::min(cycle_, cycle);
  }
  // The first cycle in which a wanted command can be issued, kNeverCycle if none is wanted.
  uint64_t cycle() const { return cycle_; }
  // The banks whose commands can be issued then, as a bit mask.
  uint64_t ready() const { return ready_; }
  // The constraint that ends then, of several the first in the list. Only for a search that found none for `earliest`.
  DramConstraint because() const {
    CommandBounds::Time first = 0;
    for (uint64_t rest = ready_; rest != 0; rest &= rest - 1) {
      first = std::max(first, CommandBounds::RankOf(AllowedAt(static_cast<uint32_t>(std::countr_zero(rest)))));
    }
    return CommandBounds::ConstraintOf(first);
  }

  // When the bank's command is allowed by itself, and why not before.
  Bound AllowedFrom(uint32_t bank) const {
    const CommandBounds::Time allowed = AllowedAt(bank);
    return {base_ + static_cast<uint64_t>(CommandBounds::CycleOf(allowed)),
            CommandBounds::ConstraintOf(CommandBounds::RankOf(allowed))};
  }

 private:
  static constexpr uint64_t kSpan = 2048;  // cycles after the base in which nothing overflows
  static_assert(kSpan + DramParameters::kLongestBound < WantedCommands::kNever);

  CommandBounds::Time AllowedAt(uint32_t bank) const { return bounds_.Allowed(bank, command_[bank]); }
  void MoveBase(uint64_t cycle);

  uint64_t base_ = 0;  // cycle
  uint64_t cycle_ = kNeverCycle;
  uint64_t ready_ = 0;
  WantedCommands wanted_;
  std::array<DramCommand, DramParameters::kMaxBanks> command_{};  // that each bank wanted last
  CommandBounds bounds_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_DRAM_COMMAND_SEARCH_H_
