// Which command a DRAM controller can issue first.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_COMMAND_SEARCH_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_COMMAND_SEARCH_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "replay/memory/dram_timing.h"

namespace heddle::replay {

// Every bank wants at most one command. It has to wait for what the bank itself has done (a time that does not change
// while the bank wants the command) and for what all banks have done (which changes with every command). Banks that
// have only the latter to wait for are kept as bits by command, the others as a list by time: no search looks at all
// banks.
class DramCommandSearch {
 public:
  // Neighbouring banks form a group.
  DramCommandSearch(uint32_t banks, uint32_t groups);

  // The bank, which wants nothing, wants `command`, which its own history allows from `own` on.
  void Want(uint32_t bank, DramCommand command, Bound own);
  // The bank does not want its command any more.
  void Forget(uint32_t bank);
  // Nobody (or nobody of the bank's group) is allowed `command` before `until`.
  void Hold(DramCommand command, Bound until) { Raise(everywhere_[static_cast<uint32_t>(command)], until); }
  void HoldGroupOf(uint32_t bank, DramCommand command, Bound until) {
    const uint32_t index = static_cast<uint32_t>(command);
    Raise(in_group_[index][group_[bank]], until);
    held_groups_[index] |= uint64_t{1} << group_[bank];
  }
  // Forgets all that was done; no bank wants anything.
  void Reset() {
    everywhere_ = {};
    in_group_ = {};
  }

  // Searches, not before cycle `earliest`, which does not go back. Afterwards:
  void Find(uint64_t earliest);
  // the first cycle in which a wanted command can be issued, and the constraint that ends then (of several the first in
  // the list; meaningless if that is `earliest`),
  Bound next() const { return next_; }
  // and the banks whose commands can be issued then.
  uint64_t ready() const { return ready_; }

  // When the bank's command is allowed by itself, and why not before.
  Bound AllowedFrom(uint32_t bank) const { return std::max(own_[bank], Shared(group_[bank], command_[bank])); }

 private:
  static constexpr uint8_t kNone = 0xff;
  static constexpr uint32_t kMaxBanks = DramParameters::kMaxBanks;

  Bound Shared(uint32_t group, DramCommand command) const {
    const uint32_t index = static_cast<uint32_t>(command);
    return std::max(everywhere_[index], in_group_[index][group]);
  }
  static void Raise(Bound& bound, Bound until) { bound = std::max(bound, until); }
  void Unlink(uint32_t bank);

  std::array<Bound, kDramCommands> everywhere_;                       // by command
  std::array<std::array<Bound, kMaxBanks>, kDramCommands> in_group_;  // by command and group
  std::array<uint64_t, kMaxBanks> members_{};                         // by group: its banks
  std::array<uint8_t, kMaxBanks> group_{};
  std::array<uint64_t, kDramCommands> held_groups_{};  // by command: groups whose bound in in_group_ may lie ahead
  // By bank.
  std::array<DramCommand, kMaxBanks> command_{};
  std::array<Bound, kMaxBanks> own_;
  std::array<uint8_t, kMaxBanks> before_{};  // in the list of waiting banks, by own_
  std::array<uint8_t, kMaxBanks> after_{};
  uint8_t first_ = kNone;
  uint8_t last_ = kNone;
  std::array<uint64_t, kDramCommands> settled_{};  // banks whose own history does not hold them up any more
  Bound next_;
  uint64_t ready_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_COMMAND_SEARCH_H_
