// Round-robin fetch: the warps take turns.
#include <cstdint>
#include <memory>

#include "replay/seams/fetch_policy.h"

namespace heddle::replay {
namespace {

// Slots ascending from the one after the last fetch, wrapping round. Warps at a barrier are fetched for as well, or
// not.
class RoundRobin final : public FetchPolicy {
 public:
  explicit RoundRobin(const Parameters& parameters) : at_barrier_(parameters.Bool("fetch_at_barrier")) {}

  SlotId Pick(const FetchView& view) const override {
    const uint32_t from = uint32_t{last_} + 1;
    const SlotId running = view.eligible.FirstCyclic(from);
    if (!at_barrier_) return running;
    const SlotId waiting = view.at_barrier.FirstCyclic(from);
    if (running == kNoSlot || waiting == kNoSlot) return running == kNoSlot ? waiting : running;
    // The one that comes first going round.
    const bool running_wraps = running < from;
    const bool waiting_wraps = waiting < from;
    if (running_wraps != waiting_wraps) return running_wraps ? waiting : running;
    return running < waiting ? running : waiting;
  }

  void Fetched(SlotId slot) override { last_ = slot; }

 private:
  const bool at_barrier_;
  SlotId last_ = kNoSlot;
};

HEDDLE_FETCH_POLICY(
    PolicyInfo{
        .name = "round_robin",
        .summary = "The warps take turns; one that cannot be fetched for is passed over",
        .source = "Liu et al. (BAWS), section 4.2; GPGPU-Sim 3.2.2",
        .parameters = {{.name = "fetch_at_barrier",
                        .type = ParameterType::kBool,
                        .default_value = "true",
                        .description = "whether warps that wait at a barrier take part",
                        .source = "GPGPU-Sim 3.2.2"}},
    },
    [](const FetchContext&, const Parameters& parameters) { return std::make_unique<RoundRobin>(parameters); });

}  // namespace
}  // namespace heddle::replay
