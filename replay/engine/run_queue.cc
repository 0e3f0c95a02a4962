#include "replay/engine/run_queue.h"

namespace heddle::replay {

std::optional<RunQueue::Run> RunQueue::Earliest() const {
  std::optional<Run> earliest;
  for (size_t i = 0; i < next_.size(); ++i) {
    if (next_[i] == launches_ || busy_[i]) continue;
    const Run run{next_[i], i};
    if (Order(run) < limit_ && (!earliest.has_value() || Order(run) < Order(*earliest))) earliest = run;
  }
  return earliest;
}

std::optional<RunQueue::Run> RunQueue::Take() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (const std::optional<Run> run = Earliest(); run.has_value()) {
      ++next_[run->configuration];
      busy_[run->configuration] = sequential_;
      ++under_way_;
      return run;
    }
    if (under_way_ == 0) return std::nullopt;
    changed_.wait(lock);
  }
}

void RunQueue::Done(const Run& run, const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  busy_[run.configuration] = false;
  --under_way_;
  if (!status.ok() && Order(run) < limit_) {
    limit_ = Order(run);
    status_ = status;
  }
  changed_.notify_all();
}

}  // namespace heddle::replay
