#include "replay/memory/dram/command_bounds.h"

#include <cstddef>

namespace heddle::replay {

CommandBounds::CommandBounds(const DramParameters& parameters) {
  for (uint32_t bank = 0; bank < parameters.banks; ++bank) {
    group_[bank] =
        static_cast<uint8_t>(parameters.interleaved_groups ? bank % parameters.bank_groups
                                                           : bank / (parameters.banks / parameters.bank_groups));
  }
  Reset();

  constexpr auto kRead = static_cast<size_t>(DramCommand::kRead);
  constexpr auto kWrite = static_cast<size_t>(DramCommand::kWrite);
  constexpr auto kPrecharge = static_cast<size_t>(DramCommand::kPrecharge);
  constexpr auto kActivate = static_cast<size_t>(DramCommand::kActivate);
  const DramTiming& timing = parameters.timing;
  effects_.fill({Every(kPast), Every(kPast), Every(kPast)});
  for (const size_t first : {kRead, kWrite}) {
    for (const size_t second : {kRead, kWrite}) {
      effects_[first].all[second] = TimeOf(timing.column_to_column[first][second]);
      effects_[first].group[second] = TimeOf(timing.column_to_column_in_group[first][second]);
    }
  }
  effects_[kRead].own[kPrecharge] = TimeOf(timing.read_to_precharge);
  effects_[kRead].group[kPrecharge] = TimeOf(timing.read_to_precharge_in_group);
  effects_[kWrite].own[kPrecharge] = TimeOf(timing.write_to_precharge);
  effects_[kPrecharge].own[kActivate] = TimeOf(timing.precharge_to_activate);
  effects_[kActivate].all[kActivate] = TimeOf(timing.activate_to_activate_any_bank);
  for (size_t second = 0; second < kDramCommands; ++second) {
    effects_[kActivate].own[second] = TimeOf(timing.activate_to[second]);
  }
}

void CommandBounds::Reset() {
  all_ = Every(kPast);
  own_.fill(Every(kPast));
  by_group_.fill(Every(kPast));
}

void CommandBounds::MoveBase(Time cycles) {
  const auto moved = [&](CommandTimes times) { return Later(times - Every(cycles << kReasonBits), Every(kPast)); };
  all_ = moved(all_);
  for (CommandTimes& times : own_) times = moved(times);
  for (CommandTimes& times : by_group_) times = moved(times);
}

}  // namespace heddle::replay
