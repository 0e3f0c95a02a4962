// Which command a DRAM controller can issue first.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_DRAM_COMMAND_SEARCH_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_DRAM_COMMAND_SEARCH_H_

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "replay/memory/dram/dram_reply_queue.h"
#include "replay/memory/dram/dram_timing.h"

namespace heddle::replay {

// Every bank wants at most one command. It has to wait for what the bank itself has done, for what banks of its group
// have done, and for what all have done. From when on each bank is allowed its command is kept up in 16 bits, so that
// eight banks are looked at together. Nothing here branches by command or bank: which of them comes next cannot be
// guessed.
class DramCommandSearch {
 public:
  explicit DramCommandSearch(const DramParameters& parameters);

  // Forgets all that was done; time starts again at cycle 0. No bank may want anything.
  void Reset();
  // It is cycle `cycle`, or later. Comes before anything else in a cycle.
  void Advance(uint64_t cycle) {
    if (cycle - base_ >= kSpan) MoveBase(cycle);
  }

  // The bank wants `command` from now on.
  void Want(uint32_t bank, DramCommand command) {
    command_[bank] = static_cast<uint8_t>(command);
    Put(bank, static_cast<Lane>(command), static_cast<Lane>(AllowedAt(bank) >> kReasonBits));
  }
  // The bank does not want anything any more.
  void Forget(uint32_t bank) { Put(bank, kNothing, kNever); }
  // The bank's command, which it goes on wanting until told otherwise, is issued in `cycle`.
  void Issued(uint32_t bank, uint64_t cycle) {
    const Effect& effect = effects_[command_[bank]];
    const Times start = EveryTime(static_cast<Time>((cycle - base_) << kReasonBits));
    const Times by_all = effect.all + start;
    const Times by_group = effect.group + start;
    own_[bank] = Later(own_[bank], effect.own + start);
    all_ = Later(all_, by_all);
    by_group_[group_[bank]] = Later(by_group_[group_[bank]], by_group);
    Hold(Cycles(by_all, by_group), group_[bank]);
  }

  // Searches, not before cycle `earliest`, which does not go back. Afterwards:
  void Find(uint64_t earliest) {
    Lanes least = Min(allowed_[0], allowed_[1]);
    for (uint32_t i = 2; i < vectors_; i += 2) least = Min(least, Min(allowed_[i], allowed_[i + 1]));
    const Lane first = std::max(Least(least), static_cast<Lane>(earliest - base_));
    cycle_ = first == kNever ? kNeverCycle : base_ + static_cast<uint64_t>(first);
    const Lanes last = Every(std::min<Lane>(first, kNever - 1));
    ready_ = MaskOf(allowed_[0] > last, allowed_[1] > last);
    for (uint32_t i = 2; i < vectors_; i += 2) {
      ready_ |= uint64_t{MaskOf(allowed_[i] > last, allowed_[i + 1] > last)} << i * kLanes;
    }
  }
  // The same, if since the last search nothing was issued, and this bank alone has begun to want something.
  void FindWith(uint32_t bank, uint64_t earliest) {
    const uint64_t cycle = std::max(AllowedFrom(bank).cycle(), earliest);
    ready_ &= -uint64_t{cycle >= cycle_};
    ready_ |= uint64_t{cycle <= cycle_} << bank;
    cycle_ = std::min(cycle_, cycle);
  }
  // the first cycle in which a wanted command can be issued, kNeverCycle if none is wanted, and the banks whose
  // commands can be issued then.
  uint64_t cycle() const { return cycle_; }
  uint64_t ready() const { return ready_; }
  // The constraint that ends then, of several the first in the list. Only for a search that found none for `earliest`.
  DramConstraint because() const {
    Time first = 0;
    for (uint64_t rest = ready_; rest != 0; rest &= rest - 1) {
      first = std::max(first, AllowedAt(static_cast<uint32_t>(std::countr_zero(rest))) & kReasons);
    }
    return static_cast<DramConstraint>(kReasons - first);
  }

  // When the bank's command is allowed by itself, and why not before.
  Bound AllowedFrom(uint32_t bank) const {
    const Time allowed = AllowedAt(bank);
    return {base_ + static_cast<uint64_t>(allowed >> kReasonBits),
            static_cast<DramConstraint>(kReasons - (allowed & kReasons))};
  }

 private:
  // Cycles after `base_`, followed by the constraint, the first in the list being the largest: the longest of several
  // spans is their maximum.
  using Time = int32_t;
  static constexpr int kReasonBits = 4;
  static constexpr Time kReasons = (1 << kReasonBits) - 1;
  static constexpr Time kPast = kReasons;                                         // no time
  using Times = Time __attribute__((vector_size(kDramCommands * sizeof(Time))));  // by command
  // Cycles after `base_`, or a command or group, of one bank.
  using Lane = int16_t;
  static constexpr uint32_t kLanes = 8;
  using Lanes = Lane __attribute__((vector_size(kLanes * sizeof(Lane))));  // of neighbouring banks
  static constexpr Lane kNever = 0x7fff;
  static constexpr Lane kNothing = -1;  // no command
  static constexpr uint64_t kSpan = 2048;
  static_assert(kSpan + DramParameters::kLongestBound < kNever);
  static constexpr uint32_t kMaxBanks = DramParameters::kMaxBanks;

  // What a command does to the time of commands.
  struct Effect {
    Times own, group, all;
  };

  static Time TimeOf(Bound span) {
    return static_cast<Time>(span.cycle() << kReasonBits) + kReasons - static_cast<Time>(span.because());
  }
  static Times EveryTime(Time time) { return Times{} + time; }
  static Times Later(Times a, Times b) { return a > b ? a : b; }
  // Of both, in cycles, one after the other.
  static Lanes Cycles(Times first, Times second) {
    first >>= kReasonBits;
    second >>= kReasonBits;
#if defined(__SSE2__)
    return reinterpret_cast<Lanes>(
        _mm_packs_epi32(reinterpret_cast<__m128i>(first), reinterpret_cast<__m128i>(second)));
#else
    Lanes cycles;
    for (uint32_t i = 0; i < kDramCommands; ++i) {
      cycles[i] = static_cast<Lane>(first[i]);
      cycles[kDramCommands + i] = static_cast<Lane>(second[i]);
    }
    return cycles;
#endif
  }
  static Lanes Every(Lane value) { return Lanes{} + value; }
  static Lanes Max(Lanes a, Lanes b) { return a > b ? a : b; }
  static Lanes Min(Lanes a, Lanes b) { return a < b ? a : b; }
  static Lane Least(Lanes lanes) {
    lanes = Min(lanes, __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7, 0, 1, 2, 3));
    lanes = Min(lanes, __builtin_shufflevector(lanes, lanes, 2, 3, 0, 1, 6, 7, 4, 5));
    return Min(lanes, __builtin_shufflevector(lanes, lanes, 1, 0, 3, 2, 5, 4, 7, 6))[0];
  }
  // One bit per lane that is false, those of `low` first.
  static uint32_t MaskOf(Lanes low, Lanes high) {
#if defined(__SSE2__)
    return 0xffff & ~static_cast<uint32_t>(_mm_movemask_epi8(
                        _mm_packs_epi16(reinterpret_cast<__m128i>(low), reinterpret_cast<__m128i>(high))));
#else
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      mask |= (~low[lane] & 1u) << lane | (~high[lane] & 1u) << (lane + kLanes);
    }
    return mask;
#endif
  }
  Time AllowedAt(uint32_t bank) const {
    const uint8_t command = command_[bank];
    return std::max({own_[bank][command], by_group_[group_[bank]][command], all_[command]});
  }
  // Whole vectors are written: who reads a vector soon after a part of it was written waits.
  void Put(uint32_t bank, Lane command, Lane allowed) {
    const uint32_t i = bank / kLanes;
    const Lanes here = kPlaces[bank % kLanes];
    wanted_[i] = (here & Every(command)) | (~here & wanted_[i]);
    allowed_[i] = (here & Every(allowed)) | (~here & allowed_[i]);
  }
  // Until when nobody, and nobody of the group, is allowed a command: by command, one after the other.
  void Hold(Lanes until, uint8_t of_group) {
    constexpr Lane kRead = static_cast<Lane>(DramCommand::kRead);
    constexpr Lane kWrite = static_cast<Lane>(DramCommand::kWrite);
    constexpr Lane kPrecharge = static_cast<Lane>(DramCommand::kPrecharge);
    constexpr Lane kActivate = static_cast<Lane>(DramCommand::kActivate);
    const Lanes all_read = Every(until[kRead]), group_read = Every(until[kDramCommands + kRead]);
    const Lanes all_write = Every(until[kWrite]), group_write = Every(until[kDramCommands + kWrite]);
    const Lanes all_activate = Every(until[kActivate]), group_precharge = Every(until[kDramCommands + kPrecharge]);
    const auto hold = [&](uint32_t i) {
      const Lanes reads = wanted_[i] == kRead, writes = wanted_[i] == kWrite;
      const Lanes precharges = wanted_[i] == kPrecharge, activates = wanted_[i] == kActivate;
      const Lanes by_all = (reads & all_read) | (writes & all_write) | (activates & all_activate);
      const Lanes by_group = (reads & group_read) | (writes & group_write) | (precharges & group_precharge);
      const Lanes members = groups_[i] == Every(of_group);
      allowed_[i] = Max(allowed_[i], Max(by_all, by_group & members));
    };
    hold(0);
    hold(1);
    for (uint32_t i = 2; i < vectors_; ++i) hold(i);
  }
  void MoveBase(uint64_t cycle);

  static const Lanes kPlaces[kLanes];  // one lane each

  uint64_t base_ = 0;  // cycle
  uint64_t cycle_ = kNeverCycle;
  uint64_t ready_ = 0;
  const uint32_t vectors_;  // that the banks need, an even number
  Times all_;
  std::array<Lanes, kMaxBanks / kLanes> allowed_;  // from when on the bank's command is; kNever without one
  std::array<Lanes, kMaxBanks / kLanes> wanted_;   // the bank's command
  std::array<Lanes, kMaxBanks / kLanes> groups_;   // that the bank belongs to
  std::array<uint8_t, kMaxBanks> command_{};
  std::array<uint8_t, kMaxBanks> group_{};
  std::array<Effect, kDramCommands> effects_;
  std::array<Times, kMaxBanks> own_;
  std::array<Times, kMaxBanks> by_group_;  // by group
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_DRAM_COMMAND_SEARCH_H_
