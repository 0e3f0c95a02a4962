#include "replay/memory/dram/dram_command_search.h"

namespace heddle::replay {

DramCommandSearch::DramCommandSearch(const DramParameters& parameters)
    : wanted_(parameters.banks), bounds_(parameters) {
  for (uint32_t bank = 0; bank < parameters.banks; ++bank) wanted_.SetGroup(bank, bounds_.group(bank));
}

void DramCommandSearch::Reset() {
  base_ = 0;
  cycle_ = kNeverCycle;
  ready_ = 0;
  bounds_.Reset();
}

void DramCommandSearch::MoveBase(uint64_t cycle) {
  const uint64_t by = std::min<uint64_t>(cycle - base_, WantedCommands::kNever);
  bounds_.MoveBase(static_cast<CommandBounds::Time>(by));
  wanted_.MoveBase(static_cast<BankLane>(by));
  base_ = cycle;
}

}  // namespace heddle::replay
