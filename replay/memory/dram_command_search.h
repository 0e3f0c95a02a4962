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
// command). A search looks at the banks that want something: mostly a few of them, whose times are in a few cache
// lines.
class DramCommandSearch {
 public:
  // Neighbouring banks form a group.
  DramCommandSearch(uint32_t banks, uint32_t groups) : grouped_(groups > 1) {
    for (uint32_t bank = 0; bank < banks; ++bank) group_[bank] = static_cast<uint8_t>(bank / (banks / groups));
  }

  // The bank, which wants nothing, wants `command`, which its own history allows from `own` on.
  void Want(uint32_t bank, DramCommand command, Bound own) {
    wanting_ |= uint64_t{1} << bank;
    command_[bank] = command;
    own_[bank] = own;
  }
  // The bank does not want its command any more.
  void Forget(uint32_t bank) { wanting_ &= ~(uint64_t{1} << bank); }
  // Nobody (or nobody of the bank's group) is allowed `command` before `until`.
  void Hold(DramCommand command, Bound until) { Raise(everywhere_[Index(command)], until); }
  void HoldGroupOf(uint32_t bank, DramCommand command, Bound until) {
    if (grouped_) Raise(in_group_[group_[bank]][Index(command)], until);
  }
  // Forgets all that was done; no bank wants anything.
  void Reset() {
    everywhere_ = {};
    in_group_ = {};
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
    const size_t command = Index(command_[bank]);
    const Bound bound = std::max(own_[bank], everywhere_[command]);
    return grouped_ ? std::max(bound, in_group_[group_[bank]][command]) : bound;
  }

 private:
  static constexpr uint32_t kMaxBanks = DramParameters::kMaxBanks;
  // Who is allowed first.
  struct First {
    uint64_t order = ~uint64_t{15};  // Bound::EndOrder; after all times if there is none
    uint64_t banks = 0;
  };

  void Offer(uint32_t bank, uint64_t earliest, First& first) const {
    const uint64_t order = std::max(AllowedFrom(bank).EndOrder(), earliest << 4);
    // Without branches, which would be guessed wrong.
    const uint64_t others = first.order >> 4 <= order >> 4 ? first.banks : 0;
    first.banks = others | static_cast<uint64_t>(order >> 4 <= first.order >> 4) << bank;
    first.order = std::min(first.order, order);
  }
  static constexpr size_t Index(DramCommand command) { return static_cast<size_t>(command); }
  static void Raise(Bound& bound, Bound until) { bound = std::max(bound, until); }

  const bool grouped_;
  uint64_t wanting_ = 0;  // banks
  First first_;
  std::array<Bound, kDramCommands> everywhere_;  // by command
  std::array<DramCommand, kMaxBanks> command_{};
  std::array<uint8_t, kMaxBanks> group_{};
  std::array<Bound, kMaxBanks> own_;
  std::array<std::array<Bound, kDramCommands>, kMaxBanks> in_group_;  // by group and command
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_COMMAND_SEARCH_H_
