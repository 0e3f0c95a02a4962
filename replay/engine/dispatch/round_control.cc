#include "replay/engine/dispatch/round_control.h"

#include "absl/strings/str_cat.h"

namespace heddle::replay {

void RoundControl::Refuse(absl::string_view call, uint32_t sm, absl::string_view why) {
  if (!status_.ok()) return;
  status_ = absl::InternalError(absl::StrCat("dispatcher '", dispatcher_, "': ", call, " of SM ", sm,
                                             " for what begins in cycle ", first_, ": ", why));
}

SmCore* RoundControl::Ask(absl::string_view call, uint32_t sm) {
  if (!watches_) {
    Refuse(call, sm, "it has not said that it watches SMs (watches_sms)");
  } else if (!in_round_) {
    Refuse(call, sm, "that is for rounds only (BeginRound, Next, NextWarp)");
  } else if (sm >= machine_.sms) {
    Refuse(call, sm, absl::StrCat("the machine has ", machine_.sms, " SMs"));
  }
  if (!status_.ok()) return nullptr;
  SmCore* const core = machine_.find(sm);
  if (core != nullptr) core->CreditUntil(first_);
  return core;
}

SmActivity RoundControl::Activity(uint32_t sm) {
  const SmCore* const core = Ask("Activity", sm);
  return core == nullptr ? SmActivity() : core->activity();
}

SmWarps RoundControl::Warps(uint32_t sm) {
  const SmCore* const core = Ask("Warps", sm);
  return core == nullptr ? SmWarps() : core->CountWarps();
}

SmMemoryLoad RoundControl::MemoryLoad(uint32_t sm) {
  const SmCore* const core = Ask("MemoryLoad", sm);
  return core == nullptr ? SmMemoryLoad() : core->memory().load();
}

uint32_t RoundControl::FirstHwWarp(uint32_t sm, uint64_t block) {
  const SmCore* const core = Ask("FirstHwWarp", sm);
  if (!status_.ok()) return 0;
  const BlockId place = core == nullptr || by_warp_ ? BlockTable::kNone : core->PlaceOf(block);
  if (place != BlockTable::kNone) return core->FirstHwWarpOf(place);
  Refuse("FirstHwWarp", sm,
         by_warp_ ? std::string("its blocks come warp by warp") : absl::StrCat("block ", block, " is not there"));
  return 0;
}

void RoundControl::Set(uint32_t sm, uint64_t block, bool paused) {
  const char* const call = paused ? "Pause" : "Resume";
  SmCore* const core = Ask(call, sm);
  if (!status_.ok()) return;
  const BlockId place = core == nullptr ? BlockTable::kNone : core->PlaceOf(block);
  if (place == BlockTable::kNone) {
    Refuse(call, sm, absl::StrCat("block ", block, " is not there"));
  } else if (core->IsPaused(place) == paused) {
    Refuse(call, sm, absl::StrCat("block ", block, paused ? " is paused already" : " is not paused"));
  } else {
    core->SetPaused(place, paused, first_);
    machine_.wake(sm, first_);
  }
}

}  // namespace heddle::replay
