#include "replay/seams/shared_state.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/seams/policy_error.h"

namespace heddle::replay {
namespace {

SharedState& Checked(SharedState* state) {
  if (state == nullptr) throw PolicyError("a policy asks for shared state, but it was made outside a run");
  return *state;
}

}  // namespace

void SharedState::BeginLaunch() {
  of_launch_.clear();
  ++begun_;
  dispatcher_asks_ = false;
  dispatcher_may_ask_ = true;
}

void SharedState::ForgetSm(uint32_t sm) {
  std::erase_if(of_launch_, [sm](const auto& object) { return std::get<2>(object.first) == sm; });
}

bool SharedState::EndOfDispatchersFactory() {
  dispatcher_may_ask_ = false;
  return dispatcher_asks_;
}

void SharedState::DispatcherAsks() {
  if (!dispatcher_asks_ && !dispatcher_may_ask_) {
    throw PolicyError(
        "the dispatcher asks for shared state of an SM for the first time after it was made, when SMs may be ahead of "
        "one another; call OfSm in its constructor");
  }
  dispatcher_asks_ = true;
}

void* SharedState::Find(const Key& key, bool outlives_launch) const {
  const auto& [type, size, sm] = key;
  if (sm != StateShape::kWholeMachine && sm >= machine_.sms) {
    throw PolicyError(
        absl::StrCat("a policy asks for shared state of SM ", sm, ", but the machine has ", machine_.sms));
  }
  if (outlives_launch && !in_order_) {
    throw PolicyError(absl::StrCat("shared state ", type.name(),
                                   " outlives the launch, but no policy of the run has the trait "
                                   "state_outlives_launch; declare it in the PolicyInfo of those that use it"));
  }
  const Objects& objects = outlives_launch ? of_trace_ : of_launch_;
  const auto it = objects.find(key);
  return it == objects.end() ? nullptr : it->second.get();
}

void SharedState::Add(const Key& key, std::shared_ptr<void> object, bool outlives_launch) {
  (outlives_launch ? of_trace_ : of_launch_).emplace(key, std::move(object));
}

SharedState& SmShared::State() const { return Checked(state_); }
SharedState& MachineShared::State() const { return Checked(state_); }

}  // namespace heddle::replay
