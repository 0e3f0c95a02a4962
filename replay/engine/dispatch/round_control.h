// What a dispatcher that watches SMs sees and says of them, in the rounds of a launch.
#ifndef HEDDLE_REPLAY_ENGINE_DISPATCH_ROUND_CONTROL_H_
#define HEDDLE_REPLAY_ENGINE_DISPATCH_ROUND_CONTROL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "replay/core/sm_core.h"
#include "replay/seams/block_dispatcher.h"

namespace heddle::replay {

// Holds a dispatcher to the rules of SmControl. The first call against them is kept; calls behind it change nothing.
class RoundControl final : public SmControl {
 public:
  struct Machine {
    uint32_t sms = 0;
    std::function<SmCore*(uint32_t sm)> find;         // null if it has had no block
    std::function<void(uint32_t sm, Cycle at)> wake;  // runs the SM in that cycle
  };
  // `dispatcher`: its name, for messages. `by_warp`: it gives single warps.
  RoundControl(const std::string& dispatcher, bool by_warp, Machine machine)
      : dispatcher_(dispatcher), by_warp_(by_warp), machine_(std::move(machine)) {}

  // Whether the dispatcher watches the SMs; once it is made.
  void SetWatches(bool watches) { watches_ = watches; }
  bool watches() const { return watches_; }
  // Around a round: all SMs have run every cycle before `first`, and none has run that one.
  void Begin(Cycle first) {
    first_ = first;
    in_round_ = true;
  }
  void End() { in_round_ = false; }
  // OK, or what the dispatcher did against the rules (Internal).
  const absl::Status& status() const { return status_; }

  SmActivity Activity(uint32_t sm) override;
  SmWarps Warps(uint32_t sm) override;
  SmMemoryLoad MemoryLoad(uint32_t sm) override;
  uint32_t FirstHwWarp(uint32_t sm, uint64_t block) override;
  void Pause(uint32_t sm, uint64_t block) override { Set(sm, block, true); }
  void Resume(uint32_t sm, uint64_t block) override { Set(sm, block, false); }

 private:
  // The SM as it is before cycle first_; null if it has had no block, or if the call is refused.
  SmCore* Ask(absl::string_view call, uint32_t sm);
  void Set(uint32_t sm, uint64_t block, bool paused);
  void Refuse(absl::string_view call, uint32_t sm, absl::string_view why);

  const std::string dispatcher_;
  const bool by_warp_;
  const Machine machine_;
  bool watches_ = false;
  bool in_round_ = false;
  Cycle first_ = 0;
  absl::Status status_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_DISPATCH_ROUND_CONTROL_H_
