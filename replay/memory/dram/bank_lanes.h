// 16-bit numbers of eight neighbouring banks, in one vector of the host.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_BANK_LANES_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_BANK_LANES_H_

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <cstdint>

#include "replay/memory/dram/dram_timing.h"

namespace heddle::replay {

// Cycles, or a command or group, of one bank, and of eight.
using BankLane = int16_t;
inline constexpr uint32_t kBankLanes = 8;
using BankLanes = BankLane __attribute__((vector_size(kBankLanes * sizeof(BankLane))));
// One number for each command.
using CommandTimes = int32_t __attribute__((vector_size(kDramCommands * sizeof(int32_t))));

inline BankLanes EveryBank(BankLane value) { return BankLanes{} + value; }
inline BankLanes Max(BankLanes a, BankLanes b) { return a > b ? a : b; }
inline BankLanes Min(BankLanes a, BankLanes b) { return a < b ? a : b; }
inline BankLane Least(BankLanes lanes) {
  lanes = Min(lanes, __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7, 0, 1, 2, 3));
  lanes = Min(lanes, __builtin_shufflevector(lanes, lanes, 2, 3, 0, 1, 6, 7, 4, 5));
  return Min(lanes, __builtin_shufflevector(lanes, lanes, 1, 0, 3, 2, 5, 4, 7, 6))[0];
}
// One bit per lane that is false, those of `low` first. Lanes are 0 or -1, as a comparison makes them.
inline uint32_t MaskOfFalse(BankLanes low, BankLanes high) {
#if defined(__SSE2__)
  return 0xffff & ~static_cast<uint32_t>(_mm_movemask_epi8(
                      _mm_packs_epi16(reinterpret_cast<__m128i>(low), reinterpret_cast<__m128i>(high))));
#else
  uint32_t mask = 0;
  for (uint32_t lane = 0; lane < kBankLanes; ++lane) {
    mask |= (~low[lane] & 1u) << lane | (~high[lane] & 1u) << (lane + kBankLanes);
  }
  return mask;
#endif
}
// Both in 16 bits, one after the other.
inline BankLanes Narrow(CommandTimes first, CommandTimes second) {
#if defined(__SSE2__)
  return reinterpret_cast<BankLanes>(
      _mm_packs_epi32(reinterpret_cast<__m128i>(first), reinterpret_cast<__m128i>(second)));
#else
  BankLanes both;
  for (uint32_t i = 0; i < kDramCommands; ++i) {
    both[i] = static_cast<BankLane>(first[i]);
    both[kDramCommands + i] = static_cast<BankLane>(second[i]);
  }
  return both;
#endif
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_BANK_LANES_H_
