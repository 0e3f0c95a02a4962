// What it costs that threads of a warp share a register bank.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_REGISTER_BANKS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_REGISTER_BANKS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "replay/seams/types.h"

namespace heddle::replay {

// Without lane awareness, threads of one home lane compete for its register bank (Fung, section 5.1.1).
class RegisterBanks {
 public:
  enum class Penalty {
    kNone,           // ideal ports
    kCount,          // of an issue whose fullest bank has m threads, m > 1: m units
    kCountMinusOne,  // m - 1 units
  };

  // A unit of `unit` cycles.
  RegisterBanks(Penalty penalty, int unit, int warp_size) : penalty_(penalty), unit_(unit), warp_size_(warp_size) {}

  // Extra cycles that an issue of these threads takes.
  int ExtraCycles(const Lanes& lanes) const {
    if (penalty_ == Penalty::kNone) return 0;
    std::array<uint8_t, kMaxLanes> threads_of_bank{};
    int most = 0;
    for (LaneMask left = lanes.mask; left != 0; left &= left - 1) {
      const size_t bank = lanes.thread[static_cast<size_t>(std::countr_zero(left))] % static_cast<size_t>(warp_size_);
      most = std::max<int>(most, ++threads_of_bank[bank]);
    }
    if (most <= 1) return 0;
    return (penalty_ == Penalty::kCount ? most : most - 1) * unit_;
  }

 private:
  const Penalty penalty_;
  const int unit_;
  const int warp_size_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_DYNAMIC_WARPS_REGISTER_BANKS_H_
