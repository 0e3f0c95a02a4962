// From when on each command is allowed at each bank of a DRAM controller, by all that was issued.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_COMMAND_BOUNDS_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_COMMAND_BOUNDS_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "replay/memory/dram/bank_lanes.h"
#include "replay/memory/dram/dram_timing.h"

namespace heddle::replay {

// A command has to wait for what its bank itself has done, for what banks of its group have done, and for what all have
// done. Times are cycles after a base that the owner moves; behind them, in the lowest bits, stands the constraint that
// they come from, the first in the list being the largest: the latest of several times is their maximum.
class CommandBounds {
 public:
  using Time = int32_t;

  explicit CommandBounds(const DramParameters& parameters);

  // Forgets all that was done.
  void Reset();
  // The base moves on by `cycles`.
  void MoveBase(Time cycles);

  uint8_t group(uint32_t bank) const { return group_[bank]; }
  // The bank's command is issued, `cycle` after the base. Returns from which cycle on nobody may issue each command for
  // that, and then the same for the bank's group.
  BankLanes Issued(uint32_t bank, DramCommand command, Time cycle) {
    const Effect& effect = effects_[static_cast<uint8_t>(command)];
    const CommandTimes start = Every(cycle << kReasonBits);
    const CommandTimes by_all = effect.all + start;
    const CommandTimes by_group = effect.group + start;
    own_[bank] = Later(own_[bank], effect.own + start);
    all_ = Later(all_, by_all);
    by_group_[group_[bank]] = Later(by_group_[group_[bank]], by_group);
    return Narrow(by_all >> kReasonBits, by_group >> kReasonBits);
  }
  // When the bank is allowed the command, and what holds it up until then: a time for CycleOf and ReasonOf.
  Time Allowed(uint32_t bank, DramCommand of) const {
    const auto command = static_cast<uint8_t>(of);
    return std::max({own_[bank][command], by_group_[group_[bank]][command], all_[command]});
  }
  static Time CycleOf(Time time) { return time >> kReasonBits; }
  // A number that is larger the further to the front the constraint is in the list, and that constraint.
  static Time RankOf(Time time) { return time & kReasons; }
  static DramConstraint ConstraintOf(Time rank) { return static_cast<DramConstraint>(kReasons - rank); }

 private:
  static constexpr int kReasonBits = 4;
  static constexpr Time kReasons = (1 << kReasonBits) - 1;
  static constexpr Time kPast = kReasons;  // no time

  // What a command does to the time of commands.
  struct Effect {
    CommandTimes own, group, all;
  };

  static Time TimeOf(Bound span) {
    return static_cast<Time>(span.cycle() << kReasonBits) + kReasons - static_cast<Time>(span.because());
  }
  static CommandTimes Every(Time time) { return CommandTimes{} + time; }
  static CommandTimes Later(CommandTimes a, CommandTimes b) { return a > b ? a : b; }

  CommandTimes all_;
  std::array<uint8_t, DramParameters::kMaxBanks> group_{};
  std::array<Effect, kDramCommands> effects_;
  std::array<CommandTimes, DramParameters::kMaxBanks> own_;       // by bank
  std::array<CommandTimes, DramParameters::kMaxBanks> by_group_;  // by group
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_COMMAND_BOUNDS_H_
