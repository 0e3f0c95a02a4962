#include "replay/seams/divergence_policy.h"

#include <bit>

namespace heddle::replay {

void DivergencePolicy::Admit(const BlockAdmission& admission, WarpEditor& editor) {
  const int warp_size = editor.warp_size();
  for (size_t hw_warp = 0; hw_warp < admission.warps.size(); ++hw_warp) {
    Lanes lanes;
    lanes.mask = admission.warps[hw_warp];
    if (lanes.mask == 0) continue;
    for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      lanes.thread[lane] = static_cast<ThreadId>(admission.first_thread + hw_warp * warp_size + lane);
    }
    editor.Spawn(admission.entry, lanes);
  }
}

bool DivergencePolicy::MayIssueWith(std::span<const SlotId> /*chosen*/, SlotId /*candidate*/,
                                    const WarpTable& /*table*/) const {
  return true;
}

}  // namespace heddle::replay
