// The SMs of a launch.
#ifndef HEDDLE_REPLAY_ENGINE_SM_ARRAY_H_
#define HEDDLE_REPLAY_ENGINE_SM_ARRAY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "replay/core/ibuffer/ibuffer_core.h"
#include "replay/core/launch_context.h"
#include "replay/core/sm_core.h"
#include "replay/engine/replay_launch.h"

namespace heddle::replay {

// An SM is made when it gets its first block: launches are often smaller than the machine, and then most of their time
// would go into SMs that they never use.
class SmArray {
 public:
  // What is referred to must outlive the object; `context` is complete before the first SM is made. `beside`: the
  // memory's number of the launch, if others run at the same time.
  SmArray(const LaunchRun& run, const LaunchContext& context, std::optional<uint32_t> beside);

  // The SM of that number, which is made if it is not there.
  SmCore& At(uint32_t sm) {
    if (by_number_[sm] == nullptr) Make(sm);
    return *by_number_[sm];
  }
  // Null as long as the SM has not had a block.
  SmCore* Find(uint32_t sm) const { return by_number_[sm]; }

  // The SM, which has been made, goes.
  void Drop(uint32_t sm);

  uint32_t count() const { return static_cast<uint32_t>(by_number_.size()); }
  // In the order of their first blocks.
  const std::vector<std::unique_ptr<SmCore>>& made() const { return made_; }
  // made() as cores with instruction buffers; empty if they have none.
  const std::vector<IBufferCore*>& buffer_cores() const { return buffer_cores_; }
  bool has_buffers() const { return buffer_setup_.has_value(); }
  // Whether a scheduler of them does (WarpScheduler::watches_grid).
  bool watches_grid() const { return watches_grid_; }

 private:
  void Make(uint32_t sm);

  const LaunchRun& run_;
  const LaunchContext& context_;
  const std::optional<uint32_t> beside_;
  std::optional<BufferSetup> buffer_setup_;  // of machines with instruction buffers
  std::vector<std::unique_ptr<SmCore>> made_;
  std::vector<IBufferCore*> buffer_cores_;
  std::vector<SmCore*> by_number_;
  bool watches_grid_ = false;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_SM_ARRAY_H_
