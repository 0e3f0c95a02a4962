// One scheduler, whose declaration the command line of the compiler makes: -DPOLICY_NAME="x" -DPOLICY_DEFAULT="1".
#include <memory>

#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {
namespace {

class First final : public WarpScheduler {
 public:
  SlotId Pick(const SlotSet& eligible) const override { return eligible.First(); }
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{.name = POLICY_NAME,
               .summary = "the first",
               .source = "a test",
               .parameters = {{.name = "n", .default_value = POLICY_DEFAULT, .minimum = 1, .maximum = 9}}},
    [](const SchedulerContext&, const Parameters&) { return std::make_unique<First>(); });

}  // namespace
}  // namespace heddle::replay
