// Whole thread blocks in ascending order, SMs in turn.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "replay/seams/block_dispatcher.h"

namespace heddle::replay {
namespace {

// Timing model section 7: at most one block per SM and cycle, SMs visited round robin, blocks in ascending linear
// order.
class ThreadBlockDispatcher : public BlockDispatcher {
 public:
  explicit ThreadBlockDispatcher(const DispatchContext& context) : blocks_(context.blocks), sms_(context.sms) {}

  std::optional<Assignment> Next(std::span<const SmOccupancy> sms, std::span<const bool> accepted) override {
    if (done()) return std::nullopt;
    for (uint32_t i = 0; i < sms_; ++i) {
      const uint32_t sm = (turn_ + i) % sms_;
      if (accepted[sm] || sms[sm].resident >= sms[sm].capacity) continue;
      turn_ = (sm + 1) % sms_;
      return Assignment{sm, next_++};
    }
    return std::nullopt;
  }

  bool done() const override { return next_ == blocks_; }

 private:
  const uint64_t blocks_;
  const uint32_t sms_;
  uint64_t next_ = 0;
  uint32_t turn_ = 0;  // the SM to ask first
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
