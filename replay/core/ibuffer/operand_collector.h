// Register banks that instructions read their operands from.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_OPERAND_COLLECTOR_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_OPERAND_COLLECTOR_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Register r of warp w is in bank (r + w) mod banks (GPGPU-Sim 3.2.2), or in such a one of those that belong to the
// warp's port. A bank serves one read per cycle, or per step, oldest instruction first. Since instructions ask in the
// order of their issue, the time of a read is known at the issue.
class OperandCollector {
 public:
  // 0 banks: operands are always there in time.
  OperandCollector(const machine::v1::ExecutionUnits& units, uint32_t ports)
      : next_read_(units.register_banks(), 0),
        mask_(std::has_single_bit(units.register_banks()) ? units.register_banks() - 1 : 0),
        ports_(units.banks_by_port() ? ports : 1),
        steps_(units.register_banks() == 0 ? 0 : units.operand_steps()),
        plain_(units.register_banks() != 0 && steps_ == 0 && ports_ == 1) {}

  // The cycle in which an instruction that issues in `now` starts to execute: `read_cycles` later, or as much later as
  // its operands are late. `warp`: a hardware warp.
  Cycle Start(uint32_t warp, std::span<const uint32_t> registers, Cycle now, uint32_t read_cycles) {
    if (!plain_) [[unlikely]]
      return next_read_.empty() ? now + read_cycles : StartInSteps(warp, registers, now, read_cycles);
    // The first is read in the cycle after the issue at the earliest.
    Cycle last = now + read_cycles;
    for (const uint32_t number : registers) {
      Cycle& next = next_read_[mask_ != 0 ? (number + warp) & mask_ : (number + warp) % next_read_.size()];
      const Cycle read = std::max(next, now + 1);
      next = read + 1;
      last = std::max(last, read);
    }
    return last;
  }

 private:
  // As GPGPU-Sim's collectors do it. An instruction that issues in c asks in the first step of c + 1, and can be read
  // for from the next step on; in the step behind its last read it leaves the collector. With `steps_` of 0 it is as
  // above, but for the banks.
  [[gnu::noinline]] Cycle StartInSteps(uint32_t warp, std::span<const uint32_t> registers, Cycle now,
                                       uint32_t read_cycles) {
    const uint32_t banks = static_cast<uint32_t>(next_read_.size()) / ports_;
    const uint32_t first_bank = warp % ports_ * banks;
    const uint32_t steps = std::max(1u, steps_);
    const Cycle first = steps_ == 0 ? now + 1 : (now + 1) * steps + 1;
    Cycle earliest = first;  // of the next read
    Cycle last = first - 1;
    for (const uint32_t number : registers) {
      Cycle& next = next_read_[first_bank + (number + warp) % banks];
      const Cycle read = std::max(next, earliest);
      next = read + 1;
      last = std::max(last, read);
      if (steps_ != 0) earliest = read + 1;
    }
    if (steps_ == 0) return std::max(last, now + read_cycles);
    return now + read_cycles + (last + 1) / steps - (first + 1) / steps;
  }

  // By bank: the first cycle, or step, in which it is free.
  std::vector<Cycle> next_read_;
  const uint32_t mask_;   // banks - 1 if they are a power of two above 1: divisions are slow
  const uint32_t ports_;  // that divide the banks
  const uint32_t steps_;  // of a cycle; 0: a bank reads once per cycle
  const bool plain_;      // there are banks, without steps, for all ports
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_OPERAND_COLLECTOR_H_
