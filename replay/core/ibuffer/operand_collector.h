// Register banks that instructions read their operands from.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_OPERAND_COLLECTOR_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_OPERAND_COLLECTOR_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// Register r of warp w is in bank (r + w) mod banks (GPGPU-Sim 3.2.2). A bank serves one read per cycle, oldest
// instruction first. Since instructions ask in the order of their issue, the cycle of a read is known at the issue.
class OperandCollector {
 public:
  // 0 banks: operands are always there in time.
  explicit OperandCollector(uint32_t banks) : next_read_(banks, 0), mask_(std::has_single_bit(banks) ? banks - 1 : 0) {}

  // The cycle in which the last of an instruction's operands is read; the first is read in the cycle after the issue
  // (`now`) at the earliest. `now` if it has none. `warp`: a hardware warp.
  Cycle Collect(uint32_t warp, std::span<const uint32_t> registers, Cycle now) {
    Cycle last = now;
    if (next_read_.empty()) return last;
    for (const uint32_t number : registers) {
      Cycle& next = next_read_[BankOf(number + warp)];
      const Cycle read = std::max(next, now + 1);
      next = read + 1;
      last = std::max(last, read);
    }
    return last;
  }

 private:
  uint32_t BankOf(uint32_t sum) const {
    return mask_ != 0 ? sum & mask_ : sum % static_cast<uint32_t>(next_read_.size());
  }

  std::vector<Cycle> next_read_;  // by bank: the first cycle in which it is free
  uint32_t mask_;                 // banks - 1 if they are a power of two above 1: divisions are slow
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_OPERAND_COLLECTOR_H_
