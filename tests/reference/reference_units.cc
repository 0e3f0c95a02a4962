#include "tests/reference/reference_units.h"

#include <algorithm>
#include <string>

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;
using machine::v1::OperationTiming;

OperationTiming::Operation OperationOf(const v1::Instruction& instruction) {
  switch (instruction.op()) {
    case v1::OP_INT_MUL:
      return OperationTiming::INT_MUL;
    case v1::OP_INT_DIV:
      return OperationTiming::INT_DIV;
    case v1::OP_FP32:
      return OperationTiming::FP32;
    case v1::OP_FP64:
      return OperationTiming::FP64;
    case v1::OP_FP_DIV:
      return instruction.mnemonic().find(".f64") != std::string::npos ? OperationTiming::FP64_DIV
                                                                      : OperationTiming::FP32_DIV;
    case v1::OP_SFU:
      return OperationTiming::SFU;
    case v1::OP_TENSOR:
      return OperationTiming::TENSOR;
    case v1::OP_CONVERT:
      return OperationTiming::CONVERT;
    case v1::OP_WARP:
      if (const std::string name = instruction.mnemonic().substr(0, 4); name == "shfl" || name == "SHFL") {
        return OperationTiming::SHUFFLE;
      } else {
        return name == "vote" || name == "VOTE" ? OperationTiming::VOTE : OperationTiming::INT_ALU;
      }
    case v1::OP_BRANCH:
    case v1::OP_CALL:
    case v1::OP_RETURN:
      return OperationTiming::BRANCH;
    default:
      return OperationTiming::INT_ALU;
  }
}

}  // namespace

ReferenceUnits::ReferenceUnits(const machine::v1::Core& core) : core_(core) {
  busy_until_[OperationTiming::SP_UNIT].resize(core.units().sp());
  busy_until_[OperationTiming::SFU_UNIT].resize(core.units().sfu());
  busy_until_[OperationTiming::TENSOR_UNIT].resize(core.units().tensor());
  busy_until_[OperationTiming::INT_UNIT].resize(core.units().integer());
  busy_until_[OperationTiming::DP_UNIT].resize(core.units().dp());
}

uint32_t ReferenceUnits::GroupsOf(LaneMask lanes) const {
  uint32_t groups = 0;
  for (uint32_t first = 0; first < core_.warp_size(); first += core_.simd_width()) {
    bool active = false;
    for (uint32_t lane = first; lane < std::min(first + core_.simd_width(), core_.warp_size()); ++lane) {
      active |= (lanes >> lane & 1) != 0;
    }
    groups += active || !core_.skip_empty_groups();
  }
  return groups;
}

UnitNeed ReferenceUnits::NeedOf(const v1::Instruction* instruction, LaneMask lanes) const {
  const OperationTiming::Operation operation =
      instruction == nullptr ? OperationTiming::INT_ALU : OperationOf(*instruction);
  const auto& timings = core_.units().timing();
  const auto find = [&timings](OperationTiming::Operation wanted) {
    return std::find_if(timings.begin(), timings.end(),
                        [wanted](const auto& one) { return one.operation() == wanted; });
  };
  auto found = find(operation);
  if (found == timings.end()) found = find(OperationTiming::INT_ALU);
  const uint32_t repeats =
      instruction != nullptr && instruction->op() == v1::OP_SFU ? std::max(instruction->micro_ops(), 1u) : 1;
  const uint32_t one = found->initiation_interval() * GroupsOf(lanes);
  return {found->unit(), repeats * one, (repeats - 1) * one, found->latency()};
}

bool ReferenceUnits::HasRoom(const UnitNeed& need, Cycle now) const {
  const std::vector<Cycle>& units = busy_until_.at(need.unit);
  if (std::none_of(units.begin(), units.end(), [&](Cycle until) { return until <= now; })) return false;
  const std::map<OperationTiming::Unit, uint32_t> limits = {
      {OperationTiming::SP_UNIT, core_.units().sp_collectors()},
      {OperationTiming::SFU_UNIT, core_.units().sfu_collectors()}};
  const uint32_t collectors = limits.contains(need.unit) ? limits.at(need.unit) : 0;
  if (core_.units().register_banks() == 0 || collectors == 0) return true;
  const auto taken = std::count_if(collecting_.begin(), collecting_.end(),
                                   [&](const auto& entry) { return entry.second.unit == need.unit; });
  return taken < static_cast<int64_t>(collectors);
}

bool ReferenceUnits::Issue(uint64_t number, const UnitNeed& need, const std::vector<uint32_t>& registers, uint32_t warp,
                           Cycle now) {
  for (Cycle& until : busy_until_.at(need.unit)) {
    if (until > now) continue;
    until = now + need.input_cycles;
    break;
  }
  Collecting collecting;
  collecting.unit = need.unit;
  collecting.issued = now;
  if (core_.units().register_banks() != 0) {
    const uint32_t parts = core_.units().banks_by_port() ? core_.schedulers() : 1;
    const uint32_t banks = core_.units().register_banks() / parts;
    for (const uint32_t reg : registers) {
      collecting.banks.push_back(warp % parts * banks + (reg + warp) % banks);
    }
  }
  if (collecting.banks.empty() && InSteps() == 0 && core_.units().operand_read_cycles() == 0) return true;
  collecting_.emplace(number, std::move(collecting));
  return false;
}

uint32_t ReferenceUnits::InSteps() const {
  return core_.units().register_banks() == 0 ? 0 : core_.units().operand_steps();
}

// Each bank is read for the oldest instruction that still waits for it; an instruction takes all operands that it can
// get, or in steps only the first that it still lacks.
void ReferenceUnits::ReadBanks(Cycle now) {
  std::set<uint32_t> taken;
  for (auto& [number, collecting] : collecting_) {
    if (InSteps() == 0) {
      std::erase_if(collecting.banks, [&](uint32_t bank) { return taken.insert(bank).second; });
      continue;
    }
    if (now <= collecting.issued) continue;
    const std::vector<uint32_t> wanted = collecting.banks;
    const bool asked = collecting.asked;
    collecting.asked = true;
    if (asked && !wanted.empty() && !taken.contains(wanted.front())) collecting.banks.erase(collecting.banks.begin());
    // Nobody who is younger is served by a bank that this one still needs, or was served by.
    taken.insert(wanted.begin(), wanted.end());
  }
}

std::vector<uint64_t> ReferenceUnits::CollectOperands(Cycle now) {
  const uint32_t read_cycles = core_.units().operand_read_cycles();
  std::vector<uint64_t> started;
  for (uint32_t step = 0; step < std::max(1u, InSteps()); ++step) {
    for (auto& [number, collecting] : collecting_) {
      // It leaves its collector in the step behind its last read. With one operand and no conflict that is the second
      // step after it has asked, and execution starts `read_cycles` after issue.
      if (InSteps() == 0 || !collecting.asked || !collecting.banks.empty() || collecting.starts.has_value()) continue;
      const Cycle usual = ((collecting.issued + 1) * InSteps() + 2) / InSteps();
      collecting.starts = now + read_cycles + collecting.issued - usual;
    }
    ReadBanks(now);
  }
  for (const auto& [number, collecting] : collecting_) {
    const bool in_time = InSteps() == 0 ? collecting.banks.empty() && now >= collecting.issued + read_cycles
                                        : collecting.starts.has_value() && now >= *collecting.starts;
    if (in_time) started.push_back(number);
  }
  for (const uint64_t number : started) collecting_.erase(number);
  return started;
}

}  // namespace heddle::replay
