// The oldest launch takes the SMs that its blocks can fill, and the next ones what is left.
#include <algorithm>

#include "replay/engine/order/work_distributor.h"

namespace heddle::replay {
namespace {

// An SM for each block, as dispatchers spread blocks: no launch is slower than by itself but for the memory, and for
// SMs that younger ones have had before. The last blocks of a launch leave SMs to the next one, which is how devices
// overlap launches of several streams; ours is by whole SMs.
class FillFirst final : public WorkDistributor {
 public:
  void Share(uint32_t sms, std::span<const LaunchDemand> launches, std::span<uint32_t> shares) const override {
    uint32_t left = sms;
    for (size_t i = 0; i < launches.size(); ++i) {
      shares[i] = static_cast<uint32_t>(std::min<uint64_t>(left, launches[i].useful()));
      left -= shares[i];
    }
  }
};

}  // namespace

std::unique_ptr<WorkDistributor> MakeFillFirst() { return std::make_unique<FillFirst>(); }

}  // namespace heddle::replay
