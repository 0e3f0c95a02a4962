// Which command a DRAM controller can issue first.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_COMMAND_SEARCH_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_COMMAND_SEARCH_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "replay/memory/dram_timing.h"

namespace heddle::replay {

// Every bank wants at most one command. It has to wait for what the bank itself has done (a time that does not change
// while the bank wants the command) and for what all banks, or those of its group, have done (which changes with every
// command). A search looks at the banks that want something, each without a branch: which of them is first cannot be
// guessed.
class DramCommandSearch {
 public:
  // Neighbouring banks form a group.
  DramCommandSearch(uint32_t banks, uint32_t groups) : groups_(groups) {
    for (uint32_t bank = 0; bank < banks; ++bank) group_[bank] = static_cast<uint8_t>(bank / (banks / groups));
  }

  // The bank, which wants nothing, wants `command`, which its own history allows from `own` on.
  void Want(uint32_t bank, DramCommand command, Bound own) {
    wanting_ |= uint64_t{1} << bank;
    held_by_[bank] = static_cast<uint8_t>(HoldOf(command, group_[bank]));
    own_[bank] = own;
  }
  // The bank does not want its command any more.
  void Forget(uint32_t bank) { wanting_ &= ~(uint64_t{1} << bank); }
  // Nobody is allowed `command` before `until`.
  void Hold(DramCommand command, Bound until) {
    for (uint32_t group = 0; group < groups_; ++group) Raise(holds_[HoldOf(command, group)], until);
  }
  // Nobody of the bank's group is allowed `command` before `until`.
  void HoldGroupOf(uint32_t bank, DramCommand command, Bound until) {
    Raise(holds_[HoldOf(command, group_[bank])], until);
  }
  // Forgets all that was done; no bank wants anything.
  void Reset() {
    holds_ = {};
    first_ = {};
  }

  // Searches, not before cycle `earliest`, which does not go back. Afterwards:
  void Find(uint64_t earliest) {
    First first;
    for (uint64_t rest = wanting_; rest != 0; rest &= rest - 1) {
      Offer(static_cast<uint32_t>(std::countr_zero(rest)), earliest, first);
    }
    first_ = first;
  }
  // The same, if since the last search nothing was issued, and this bank alone has begun to want something.
  void FindWith(uint32_t bank, uint64_t earliest) { Offer(bank, earliest, first_); }
  // the first cycle in which a wanted command can be issued, and the constraint that ends then (of several the first in
  // the list; meaningless if that is `earliest`),
  Bound next() const { return Bound::FromEndOrder(first_.order); }
  // and the banks whose commands can be issued then.
  uint64_t ready() const { return first_.banks; }

  // When the bank's command is allowed by itself, and why not before.
  Bound AllowedFrom(uint32_t bank) const {
    const Bound own = own_[bank];
    const Bound hold = holds_[held_by_[bank]];
    return own < hold ? hold : own;  // by value: the compiler makes a branch of std::max
  }

 private:
  static constexpr uint32_t kMaxBanks = DramParameters::kMaxBanks;
  // Who is allowed first.
  struct First {
    uint64_t order = ~uint64_t{15};  // Bound::EndOrder; after all times if there is none
    uint64_t banks = 0;
  };

  void Offer(uint32_t bank, uint64_t earliest, First& first) const {
    const uint64_t allowed = AllowedFrom(bank).EndOrder();
    const uint64_t order = allowed < earliest << 4 ? earliest << 4 : allowed;
    const uint64_t cycle = order >> 4;
    const uint64_t first_cycle = first.order >> 4;
    first.banks &= -uint64_t{cycle >= first_cycle};
    first.banks |= uint64_t{cycle <= first_cycle} << bank;
    first.order = order < first.order ? order : first.order;
  }
  static size_t HoldOf(DramCommand command, uint32_t group) {
    return size_t{group} * kDramCommands + static_cast<size_t>(command);
  }
  static void Raise(Bound& bound, Bound until) { bound = std::max(bound, until); }

  const uint32_t groups_;
  uint64_t wanting_ = 0;  // banks
  First first_;
  std::array<uint8_t, kMaxBanks> held_by_{};  // the hold on the bank's command
  std::array<uint8_t, kMaxBanks> group_{};
  std::array<Bound, kMaxBanks> own_;
  std::array<Bound, size_t{kDramCommands} * kMaxBanks> holds_;  // by group and command
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_COMMAND_SEARCH_H_
