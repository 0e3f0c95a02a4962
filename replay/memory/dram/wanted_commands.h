// The commands that the banks of a DRAM controller want, and from when on each is allowed.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_WANTED_COMMANDS_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_WANTED_COMMANDS_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "replay/memory/dram/bank_lanes.h"
#include "replay/memory/dram/dram_timing.h"

namespace heddle::replay {

// Every bank wants at most one command. From when on each bank is allowed its own is kept up in 16 bits, in cycles
// after a base that the owner moves, so that eight banks are looked at together.
class WantedCommands {
 public:
  static constexpr BankLane kNever = 0x7fff;

  explicit WantedCommands(uint32_t banks) : vectors_((banks + 2 * kBankLanes - 1) / (2 * kBankLanes) * 2) {
    allowed_.fill(EveryBank(kNever));
    wanted_.fill(EveryBank(kNothing));
    groups_.fill(BankLanes{});
  }
  void SetGroup(uint32_t bank, uint8_t group) { groups_[bank / kBankLanes][bank % kBankLanes] = group; }

  // The bank wants `command`, which it is allowed from cycle `allowed` on.
  void Want(uint32_t bank, DramCommand command, BankLane allowed) {
    Put(bank, static_cast<BankLane>(command), allowed);
  }
  // The bank does not want anything any more.
  void Forget(uint32_t bank) { Put(bank, kNothing, kNever); }

  // Nobody, and nobody of the group, is allowed a command before these cycles: by command, one after the other.
  void Hold(BankLanes until, uint8_t of_group) {
    constexpr BankLane kRead = static_cast<BankLane>(DramCommand::kRead);
    constexpr BankLane kWrite = static_cast<BankLane>(DramCommand::kWrite);
    constexpr BankLane kPrecharge = static_cast<BankLane>(DramCommand::kPrecharge);
    constexpr BankLane kActivate = static_cast<BankLane>(DramCommand::kActivate);
    const BankLanes all_read = EveryBank(until[kRead]), group_read = EveryBank(until[kDramCommands + kRead]);
    const BankLanes all_write = EveryBank(until[kWrite]), group_write = EveryBank(until[kDramCommands + kWrite]);
    const BankLanes all_activate = EveryBank(until[kActivate]);
    const BankLanes group_precharge = EveryBank(until[kDramCommands + kPrecharge]);
    const auto hold = [&](uint32_t i) {
      const BankLanes reads = wanted_[i] == kRead, writes = wanted_[i] == kWrite;
      const BankLanes precharges = wanted_[i] == kPrecharge, activates = wanted_[i] == kActivate;
      const BankLanes by_all = (reads & all_read) | (writes & all_write) | (activates & all_activate);
      const BankLanes by_group = (reads & group_read) | (writes & group_write) | (precharges & group_precharge);
      const BankLanes members = groups_[i] == EveryBank(of_group);
      allowed_[i] = Max(allowed_[i], Max(by_all, by_group & members));
    };
    hold(0);
    hold(1);
    for (uint32_t i = 2; i < vectors_; ++i) hold(i);
  }

  // The first cycle in which one is allowed; kNever if none is wanted.
  BankLane First() const {
    BankLanes least = Min(allowed_[0], allowed_[1]);
    for (uint32_t i = 2; i < vectors_; i += 2) least = Min(least, Min(allowed_[i], allowed_[i + 1]));
    return Least(least);
  }
  // The banks whose command is allowed in cycle `cycle`, as a bit mask.
  uint64_t ReadyIn(BankLane cycle) const {
    const BankLanes last = EveryBank(std::min<BankLane>(cycle, kNever - 1));
    uint64_t ready = MaskOfFalse(allowed_[0] > last, allowed_[1] > last);
    for (uint32_t i = 2; i < vectors_; i += 2) {
      ready |= uint64_t{MaskOfFalse(allowed_[i] > last, allowed_[i + 1] > last)} << i * kBankLanes;
    }
    return ready;
  }
  // The base moves on by `cycles`.
  void MoveBase(BankLane cycles) {
    const BankLanes lanes = EveryBank(cycles);
    for (uint32_t i = 0; i < vectors_; ++i) {
      allowed_[i] = wanted_[i] == EveryBank(kNothing) ? allowed_[i] : Max(allowed_[i], lanes) - lanes;
    }
  }

 private:
  static constexpr BankLane kNothing = -1;  // no command
  static constexpr uint32_t kMostVectors = DramParameters::kMaxBanks / kBankLanes;

  // Whole vectors are written: who reads a vector soon after a part of it was written waits.
  void Put(uint32_t bank, BankLane command, BankLane allowed) {
    static constexpr BankLanes kPlaces[kBankLanes] = {
        {-1, 0, 0, 0, 0, 0, 0, 0}, {0, -1, 0, 0, 0, 0, 0, 0}, {0, 0, -1, 0, 0, 0, 0, 0}, {0, 0, 0, -1, 0, 0, 0, 0},
        {0, 0, 0, 0, -1, 0, 0, 0}, {0, 0, 0, 0, 0, -1, 0, 0}, {0, 0, 0, 0, 0, 0, -1, 0}, {0, 0, 0, 0, 0, 0, 0, -1}};
    const uint32_t i = bank / kBankLanes;
    const BankLanes here = kPlaces[bank % kBankLanes];
    wanted_[i] = (here & EveryBank(command)) | (~here & wanted_[i]);
    allowed_[i] = (here & EveryBank(allowed)) | (~here & allowed_[i]);
  }

  const uint32_t vectors_;                       // that the banks need, an even number
  std::array<BankLanes, kMostVectors> allowed_;  // from when on the bank's command is; kNever without one
  std::array<BankLanes, kMostVectors> wanted_;   // the bank's command
  std::array<BankLanes, kMostVectors> groups_;   // that the bank belongs to
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_WANTED_COMMANDS_H_
