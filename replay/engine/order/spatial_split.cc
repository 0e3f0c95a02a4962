// Every launch gets as many SMs as every other.
#include <algorithm>

#include "replay/engine/order/work_distributor.h"

namespace heddle::replay {
namespace {

// Spatial multitasking (Adriaens, Compton, Kim and Schulte, The case for GPGPU spatial multitasking, HPCA 2012), with
// the SMs divided evenly. That what a launch has no use for goes to the others is our choice.
class SpatialSplit final : public WorkDistributor {
 public:
  void Share(uint32_t sms, std::span<const LaunchDemand> launches, std::span<uint32_t> shares) const override {
    std::fill(shares.begin(), shares.end(), 0);
    uint32_t left = sms;
    // One SM after the other, in turn, to those that can use another.
    for (bool any = true; any && left > 0;) {
      any = false;
      for (size_t i = 0; i < launches.size() && left > 0; ++i) {
        if (shares[i] >= launches[i].useful()) continue;
        ++shares[i];
        --left;
        any = true;
      }
    }
  }
};

}  // namespace

std::unique_ptr<WorkDistributor> MakeSpatialSplit() { return std::make_unique<SpatialSplit>(); }

}  // namespace heddle::replay
