#include "replay/core/single_pipeline/register_banks.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

int RegisterBankPenalty(const LaunchContext& context, const Lanes& lanes) {
  using machine::v1::ThesisPipeline;
  if (context.bank_penalty == ThesisPipeline::BANK_PENALTY_NONE || !context.any_lane) return 0;
  std::array<uint8_t, kMaxLanes> threads_of_bank{};
  int most = 0;
  ForEachLane(lanes.mask,
              [&](int lane) { most = std::max<int>(most, ++threads_of_bank[lanes.thread[lane] % context.warp_size]); });
  if (most <= 1) return 0;
  const bool all = context.bank_penalty == ThesisPipeline::BANK_PENALTY_M;
  return (all ? most : most - 1) * context.bank_penalty_cycles;
}

}  // namespace heddle::replay
