#include "replay/memory/dram/dram_command_search.h"

namespace heddle::replay {

const DramCommandSearch::Lanes DramCommandSearch::kPlaces[kLanes] = {
    {-1, 0, 0, 0, 0, 0, 0, 0}, {0, -1, 0, 0, 0, 0, 0, 0}, {0, 0, -1, 0, 0, 0, 0, 0}, {0, 0, 0, -1, 0, 0, 0, 0},
    {0, 0, 0, 0, -1, 0, 0, 0}, {0, 0, 0, 0, 0, -1, 0, 0}, {0, 0, 0, 0, 0, 0, -1, 0}, {0, 0, 0, 0, 0, 0, 0, -1}};

DramCommandSearch::DramCommandSearch(const DramParameters& parameters)
    : vectors_((parameters.banks + 2 * kLanes - 1) / (2 * kLanes) * 2) {
  allowed_.fill(Every(kNever));
  wanted_.fill(Every(kNothing));
  groups_.fill(Lanes{});
  for (uint32_t bank = 0; bank < parameters.banks; ++bank) {
    group_[bank] =
        static_cast<uint8_t>(parameters.interleaved_groups ? bank % parameters.bank_groups
                                                           : bank / (parameters.banks / parameters.bank_groups));
    groups_[bank / kLanes][bank % kLanes] = group_[bank];
  }
  Reset();

  constexpr auto kRead = static_cast<size_t>(DramCommand::kRead);
  constexpr auto kWrite = static_cast<size_t>(DramCommand::kWrite);
  constexpr auto kPrecharge = static_cast<size_t>(DramCommand::kPrecharge);
  constexpr auto kActivate = static_cast<size_t>(DramCommand::kActivate);
  const DramTiming& timing = parameters.timing;
  effects_.fill({EveryTime(kPast), EveryTime(kPast), EveryTime(kPast)});
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

void DramCommandSearch::Reset() {
  base_ = 0;
  cycle_ = kNeverCycle;
  ready_ = 0;
  all_ = EveryTime(kPast);
  own_.fill(EveryTime(kPast));
  by_group_.fill(EveryTime(kPast));
}

void DramCommandSearch::MoveBase(uint64_t cycle) {
  const auto by = static_cast<Time>(std::min<uint64_t>(cycle - base_, kNever));
  const auto moved = [&](Times times) { return Later(times - EveryTime(by << kReasonBits), EveryTime(kPast)); };
  all_ = moved(all_);
  for (Times& times : own_) times = moved(times);
  for (Times& times : by_group_) times = moved(times);
  const Lanes lanes = Every(static_cast<Lane>(by));
  for (uint32_t i = 0; i < vectors_; ++i) {
    allowed_[i] = wanted_[i] == Every(kNothing) ? allowed_[i] : Max(allowed_[i], lanes) - lanes;
  }
  base_ = cycle;
}

}  // namespace heddle::replay
