#include "replay/core/ibuffer/scoreboard.h"

#include <algorithm>
#include <array>

namespace heddle::replay {
namespace {

// What a barrier of control bits can count (Huerta et al., MICRO 2025, section 4). What would go beyond it waits: our
// choice, since nobody says what hardware does.
constexpr uint32_t kMostRaises = 63;

}  // namespace

void Scoreboard::CheckAll(uint32_t hw_warp, LaneMask lanes, const IssueStep& step, Pc pc, uint32_t depth,
                          Hazard& hazard) const {
  if (table_.by_control_bits()) {
    CheckBarriers(hw_warps_[hw_warp], lanes, step, hazard);
    return;
  }
  if (by_bits_) {
    const Word* word = &words_[size_t{hw_warp} * words_per_hw_warp_];
    for (const RegisterWord& own : table_.words(pc)) AddWord(*word++, own, hazard);
  }
  const HwWarp& at = hw_warps_[hw_warp];
  if (!at.writes.empty()) Search(at, lanes, step, step.registers.AtDepth(depth), depth, hazard);
}

void Scoreboard::Search(const HwWarp& hw_warp, LaneMask lanes, const IssueStep& step, RegisterFilter used,
                        uint32_t depth, Hazard& hazard) const {
  const auto contains = [](std::span<const uint32_t> numbers, uint32_t number) {
    for (const uint32_t one : numbers) {  // a few: not worth a search that is unrolled
      if (one == number) return true;
    }
    return false;
  };
  for (const Write& write : hw_warp.writes) {
    if (!used.Intersects(write.filter) || write.depth != depth || (write.lanes & lanes) == 0) continue;
    const bool source = contains(table_.sources(step), write.number);
    if (!source && !contains(table_.destinations(step), write.number)) continue;
    hazard.bits_ |= Hazard::kBlocked | write.producer;
    if (source) hazard.bits_ |= Hazard::kSource;
  }
}

void Scoreboard::CheckBarriers(const HwWarp& hw_warp, LaneMask lanes, const IssueStep& step, Hazard& hazard) const {
  std::array<uint32_t, trace::ControlBits::kNoBarrier + 1> raised{};  // how often
  for (const Write& raise : hw_warp.writes) {
    if ((raise.lanes & lanes) == 0) continue;
    ++raised[raise.number];
    if ((step.wait_mask >> raise.number & 1) == 0) continue;
    hazard.bits_ |= Hazard::kBlocked;
    if (!raise.operands) hazard.bits_ |= Hazard::kSource | raise.producer;
  }
  ++raised[step.write_barrier];
  ++raised[step.read_barrier];
  raised[trace::ControlBits::kNoBarrier] = 0;
  if (std::max(raised[step.write_barrier], raised[step.read_barrier]) > kMostRaises) hazard.bits_ |= Hazard::kBlocked;
}

Scoreboard::Write& Scoreboard::Raise(uint32_t hw_warp, LaneMask lanes, uint8_t barrier, uint32_t number) {
  HwWarp& at = hw_warps_[hw_warp];
  Write& raise = at.writes.emplace_back();
  raise.filter = at.filter = RegisterFilter(~uint64_t{0});  // whoever waits for some barrier has to look
  raise.lanes = lanes;
  raise.number = barrier;
  raise.instruction = number;
  ++listed_;
  return raise;
}

void Scoreboard::Reserve(uint32_t hw_warp, LaneMask lanes, const IssueStep& step, uint32_t depth, uint32_t instruction,
                         uint8_t producer) {
  HwWarp& at = hw_warps_[hw_warp];
  if (table_.by_control_bits()) {
    if (step.write_barrier == trace::ControlBits::kNoBarrier) return;
    Raise(hw_warp, lanes, step.write_barrier, instruction).producer = producer;
    return;
  }
  for (const uint32_t number : table_.destinations(step)) {
    const RegisterFilter filter = table_.FilterOf(number).AtDepth(depth);
    // In place: a copy of what was just written in pieces waits for the pieces.
    Write& write = at.writes.emplace_back();
    write.filter = filter;
    write.lanes = lanes;
    write.number = number;
    write.instruction = instruction;
    write.depth = static_cast<uint16_t>(depth);
    write.producer = producer;
    at.filter.Add(filter);
    ++listed_;
  }
}

void Scoreboard::Release(uint32_t hw_warp, uint32_t instruction) {
  HwWarp& at = hw_warps_[hw_warp];
  at.filter = RegisterFilter();
  for (uint32_t word = 0; word < words_per_hw_warp_; ++word) {
    at.filter.Add(RegisterFilter(words_[size_t{hw_warp} * words_per_hw_warp_ + word].pending));
  }
  for (size_t i = 0; i < at.writes.size();) {
    if (at.writes[i].instruction == instruction) {
      at.writes[i] = at.writes.back();
      at.writes.pop_back();
      --listed_;
    } else {
      at.filter.Add(at.writes[i].filter);
      ++i;
    }
  }
}

void Scoreboard::ReleaseLanes(uint32_t hw_warp, uint32_t instruction, LaneMask lanes) {
  for (Write& write : hw_warps_[hw_warp].writes) {
    if (write.instruction == instruction) write.lanes &= ~lanes;
  }
}

bool Scoreboard::IsPending(uint32_t hw_warp, LaneMask lanes, uint32_t number, uint32_t depth) const {
  if (by_bits_) {
    const uint32_t dense = table_.DenseNumber(number);
    const Word& word = words_[size_t{hw_warp} * words_per_hw_warp_ + dense / 64];
    if ((word.pending >> (dense & 63) & 1) != 0) return true;
  }
  const std::vector<Write>& writes = hw_warps_[hw_warp].writes;
  return std::any_of(writes.begin(), writes.end(), [=](const Write& write) {
    return write.number == number && write.depth == depth && (write.lanes & lanes) != 0;
  });
}

void Scoreboard::MarkOffCore(uint32_t hw_warp, uint32_t instruction) {
  for (Write& write : hw_warps_[hw_warp].writes) {
    if (write.instruction == instruction) write.producer |= kOffCore;
  }
}

bool Scoreboard::empty() const {
  return listed_ == 0 && std::all_of(words_.begin(), words_.end(), [](const Word& word) { return word.pending == 0; });
}

void Scoreboard::RemoveStore(uint32_t hw_warp, uint32_t instruction) {
  stores_ -=
      std::erase_if(hw_warps_[hw_warp].stores, [=](const Store& store) { return store.instruction == instruction; });
}

}  // namespace heddle::replay
