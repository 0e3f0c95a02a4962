// The arithmetic units of one SM.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_EXECUTION_UNITS_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_EXECUTION_UNITS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/core/ibuffer/operand_collector.h"
#include "replay/core/issue_table.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Arithmetic units and the operand collectors of SP units and SFUs, as absolute times from which on they are free.
class ExecutionUnits {
 public:
  ExecutionUnits(const machine::v1::ExecutionUnits& units, uint32_t ports)
      : operand_read_(units.operand_read_cycles()),
        operands_(units, ports),
        has_tensor_(units.tensor() != 0),
        has_more_(units.integer() != 0 || units.dp() != 0) {
    classes_[0].units.Resize(units.sp());
    classes_[1].units.Resize(units.sfu());
    Of(UnitClass::kTensor).units.Resize(units.tensor());
    Of(UnitClass::kInteger).units.Resize(units.integer());
    Of(UnitClass::kDp).units.Resize(units.dp());
    if (units.register_banks() != 0) {
      classes_[0].collectors.Resize(units.sp_collectors());
      classes_[1].collectors.Resize(units.sfu_collectors());
    }
  }

  // The first cycle in which an instruction of the class (not memory) can issue.
  Cycle NextFree(UnitClass unit) const { return next_free_[static_cast<size_t>(unit)]; }
  // The classes, as bits, of which an instruction can issue in cycle `now`.
  uint32_t FreeClasses(Cycle now) const {
    static_assert(static_cast<int>(UnitClass::kSp) == 0 && static_cast<int>(UnitClass::kSfu) == 1);
    uint32_t free = static_cast<uint32_t>(now >= next_free_[0]) | static_cast<uint32_t>(now >= next_free_[1]) << 1;
    if (has_tensor_) free |= BitOf(UnitClass::kTensor, now);
    if (has_more_) free |= BitOf(UnitClass::kInteger, now) | BitOf(UnitClass::kDp, now);
    return free;
  }
  // Whether there are other units than those of the first three classes.
  bool has_more() const { return has_more_; }

  // Issues an instruction in cycle `now`, not before NextFree. It takes the unit's input for `busy` cycles. Returns the
  // cycle in which its execution starts. `warp` and `sources`: see OperandCollector.
  [[gnu::always_inline]] Cycle Issue(UnitClass unit, uint32_t busy, uint32_t warp, std::span<const uint32_t> sources,
                                     Cycle now) {
    Class& one = classes_[static_cast<int>(unit)];
    one.units.TakeFirst(now + busy);
    const Cycle start = operands_.Start(warp, sources, now, operand_read_);
    one.collectors.TakeFirst(start);
    next_free_[static_cast<size_t>(unit)] = std::max(one.units.first(), one.collectors.first());
    return start;
  }

 private:
  // Things of one kind, as the times from which on each is free: ascending, in a ring from `head_` on. A new time is
  // mostly the latest, so that it finds its place at once.
  class FreeTimes {
   public:
    FreeTimes() = default;
    FreeTimes(const FreeTimes&) = delete;
    FreeTimes& operator=(const FreeTimes&) = delete;

    // How many there are, all free. Once, before anything else.
    void Resize(uint32_t count) {
      count_ = count;
      mask_ = std::bit_ceil(count + 1) - 1;
      if (mask_ < few_.size()) return;
      many_.assign(mask_ + 1, 0);
      times_ = many_.data();
    }
    // The time from which on one is free; always, if there are none.
    Cycle first() const { return times_[head_]; }
    // The one that is free first is free again from `until` on.
    void TakeFirst(Cycle until) {
      if (count_ <= 1) {
        times_[0] = count_ == 0 ? 0 : until;
        return;
      }
      head_ = (head_ + 1) & mask_;
      uint32_t place = (head_ + count_ - 1) & mask_;
      Cycle* const times = times_;
      if (times[(place - 1) & mask_] <= until) [[likely]] {
        times[place] = until;
        return;
      }
      for (uint32_t left = count_ - 1; left != 0 && times[(place - 1) & mask_] > until; --left) {
        times[place] = times[(place - 1) & mask_];
        place = (place - 1) & mask_;
      }
      times[place] = until;
    }

   private:
    // A power of two, more than there are things; beside the rest, so that few lines of the host's cache are touched.
    Cycle* times_ = few_.data();
    uint32_t mask_ = 0;
    uint32_t head_ = 0;
    uint32_t count_ = 0;
    std::array<Cycle, 8> few_{};
    std::vector<Cycle> many_;
  };
  struct Class {
    FreeTimes units;
    FreeTimes collectors;  // none = no limit
  };

  Class& Of(UnitClass unit) { return classes_[static_cast<size_t>(unit)]; }
  uint32_t BitOf(UnitClass unit, Cycle now) const {
    return static_cast<uint32_t>(now >= NextFree(unit)) << static_cast<int>(unit);
  }

  std::array<Cycle, kUnitClasses> next_free_{};  // by class; that of the memory is not used
  const uint32_t operand_read_;
  OperandCollector operands_;
  const bool has_tensor_;
  const bool has_more_;
  std::array<Class, kUnitClasses> classes_;  // likewise
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_EXECUTION_UNITS_H_
