#include "replay/memory/dram_command_search.h"

#include <bit>
#include <limits>

namespace heddle::replay {

DramCommandSearch::DramCommandSearch(uint32_t banks, uint32_t groups) {
  for (uint32_t bank = 0; bank < banks; ++bank) {
    group_[bank] = static_cast<uint8_t>(bank / (banks / groups));
    members_[group_[bank]] |= uint64_t{1} << bank;
  }
}

void DramCommandSearch::Want(uint32_t bank, DramCommand command, Bound own) {
  command_[bank] = command;
  own_[bank] = own;
  // Times mostly come in ascending order.
  uint8_t before = last_;
  while (before != kNone && own_[before] > own) before = before_[before];
  before_[bank] = before;
  uint8_t& link = before == kNone ? first_ : after_[before];
  after_[bank] = link;
  (link == kNone ? last_ : before_[link]) = static_cast<uint8_t>(bank);
  link = static_cast<uint8_t>(bank);
}

void DramCommandSearch::Unlink(uint32_t bank) {
  (before_[bank] == kNone ? first_ : after_[before_[bank]]) = after_[bank];
  (after_[bank] == kNone ? last_ : before_[after_[bank]]) = before_[bank];
}

void DramCommandSearch::Forget(uint32_t bank) {
  uint64_t& settled = settled_[static_cast<uint32_t>(command_[bank])];
  const uint64_t bit = uint64_t{1} << bank;
  if ((settled & bit) != 0) {
    settled &= ~bit;
  } else {
    Unlink(bank);
  }
}

void DramCommandSearch::Find(uint64_t earliest) {
  while (first_ != kNone && own_[first_].cycle() <= earliest) {
    const uint8_t bank = first_;
    Unlink(bank);
    settled_[static_cast<uint32_t>(command_[bank])] |= uint64_t{1} << bank;
  }
  uint64_t best = Bound(std::numeric_limits<uint64_t>::max() >> 4, DramConstraint::kRrd).EndOrder();
  uint64_t ready = 0;
  const auto offer = [&](Bound bound, uint64_t banks) {
    const uint64_t order = std::max(bound.EndOrder(), earliest << 4);
    if (order >> 4 < best >> 4) {
      best = order;
      ready = banks;
    } else if (order >> 4 == best >> 4) {
      best = std::min(best, order);
      ready |= banks;
    }
  };
  for (int command = 0; command < kDramCommands; ++command) {
    uint64_t settled = settled_[command];
    for (uint64_t rest = settled == 0 ? 0 : held_groups_[command]; rest != 0; rest &= rest - 1) {
      const int group = std::countr_zero(rest);
      const Bound bound = in_group_[command][group];
      if (bound.cycle() <= earliest) {
        held_groups_[command] &= ~(rest & -rest);
      } else if (const uint64_t banks = settled & members_[group]; banks != 0 && bound > everywhere_[command]) {
        offer(bound, banks);
        settled &= ~banks;
      }
    }
    if (settled != 0) offer(everywhere_[command], settled);
  }
  for (uint8_t bank = first_; bank != kNone && own_[bank].cycle() <= best >> 4; bank = after_[bank]) {
    offer(AllowedFrom(bank), uint64_t{1} << bank);
  }
  next_ = Bound::FromEndOrder(best);
  ready_ = ready;
}

}  // namespace heddle::replay
