// Whole thread blocks in ascending order, SMs in turn.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "replay/policies/dispatch/shared/cluster_places.h"
#include "replay/seams/block_dispatcher.h"

namespace heddle::replay {
namespace {

// At most one block per SM and cycle, SMs visited round robin, blocks in ascending order; clusters of several blocks as
// a whole.
class ThreadBlockDispatcher : public BlockDispatcher {
 public:
  explicit ThreadBlockDispatcher(const DispatchContext& context) : blocks_(context.blocks), places_(context) {}

  std::optional<Assignment> Next(std::span<const SmOccupancy> sms, std::span<const bool> accepted) override {
    if (done()) return std::nullopt;
    if (cluster_.empty()) {
      cluster_ = places_.Next([&](uint32_t sm) {
        const int room = sms[sm].capacity - sms[sm].resident;
        return accepted[sm] || room < 0 ? 0u : static_cast<uint32_t>(room);
      });
    }
    if (cluster_.empty()) return std::nullopt;
    const uint32_t sm = cluster_.front();
    cluster_ = cluster_.subspan(1);
    return Assignment{sm, next_++};
  }

  bool done() const override { return next_ == blocks_; }

 private:
  const uint64_t blocks_;
  ClusterPlaces places_;
  std::span<const uint32_t> cluster_;  // SMs of the blocks that are left of a cluster that has begun
  uint64_t next_ = 0;
};

HEDDLE_BLOCK_DISPATCHER(
    PolicyInfo{
        .name = "thread_blocks",
        .summary = "Gives whole thread blocks, in ascending order, to the SMs in turn.",
        .source = "GPGPU-Sim 2.1 and 3.2: blocks are spread over the SMs, one per SM and cycle",
        .parameters = {},
        .counters = {},
    },
    [](const DispatchContext& context, const Parameters&) { return std::make_unique<ThreadBlockDispatcher>(context); });

}  // namespace
}  // namespace heddle::replay
