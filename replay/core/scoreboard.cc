#include "replay/core/scoreboard.h"

namespace heddle::replay {

Scoreboard::Hazard Scoreboard::Search(const Row& row, LaneMask lanes, const IssueTable& table, const IssueStep& step,
                                      RegisterFilter used, uint32_t depth) {
  Hazard hazard;
  const auto contains = [](std::span<const uint32_t> numbers, uint32_t number) {
    for (const uint32_t one : numbers) {  // a few: not worth a search that is unrolled
      if (one == number) return true;
    }
    return false;
  };
  for (const Write& write : row.writes) {
    if (!used.Meets(write.filter) || write.depth != depth || (write.lanes & lanes) == 0) continue;
    const bool source = contains(table.sources(step), write.number);
    if (!source && !contains(table.destinations(step), write.number)) continue;
    hazard.blocked = true;
    hazard.source |= source;
    hazard.memory |= (write.producer & kMemory) != 0;
    hazard.beyond_shared |= (write.producer & kBeyondShared) != 0;
    hazard.off_core |= (write.producer & kOffCore) != 0;
  }
  return hazard;
}

void Scoreboard::Reserve(uint32_t row, LaneMask lanes, std::span<const uint32_t> registers, uint32_t depth,
                         uint32_t instruction, uint8_t producer) {
  Row& at = rows_[row];
  for (const uint32_t number : registers) {
    const RegisterFilter filter = RegisterFilter::Of(number).AtDepth(depth);
    // In place: a copy of what was just written in pieces waits for the pieces.
    Write& write = at.writes.emplace_back();
    write.filter = filter;
    write.lanes = lanes;
    write.number = number;
    write.instruction = instruction;
    write.depth = static_cast<uint16_t>(depth);
    write.producer = producer;
    at.filter.Add(filter);
    ++writes_;
  }
}

void Scoreboard::Release(uint32_t row, uint32_t instruction) {
  Row& at = rows_[row];
  at.filter = RegisterFilter();
  for (size_t i = 0; i < at.writes.size();) {
    if (at.writes[i].instruction == instruction) {
      at.writes[i] = at.writes.back();
      at.writes.pop_back();
      --writes_;
    } else {
      at.filter.Add(at.writes[i].filter);
      ++i;
    }
  }
}

void Scoreboard::MarkOffCore(uint32_t row, uint32_t instruction) {
  for (Write& write : rows_[row].writes) {
    if (write.instruction == instruction) write.producer |= kOffCore;
  }
}

void Scoreboard::RemoveStore(uint32_t row, uint32_t instruction) {
  std::erase_if(rows_[row].stores, [=](const Store& store) { return store.instruction == instruction; });
}

}  // namespace heddle::replay
