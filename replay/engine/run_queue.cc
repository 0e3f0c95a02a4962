#include "replay/engine/run_queue.h"

namespace heddle::replay {

RunQueue::RunQueue(const std::vector<size_t>& launches, size_t configurations, bool sequential)
    : configurations_(configurations), sequential_(sequential), streams_(launches.size() * configurations) {
  launches_before_.push_back(0);
  for (const size_t count : launches) launches_before_.push_back(launches_before_.back() + count);
}

std::optional<RunQueue::Run> RunQueue::Earliest() const {
  std::optional<Run> earliest;
  for (size_t i = 0; i < streams_.size(); ++i) {
    const Stream& stream = streams_[i];
    const Run run{i / configurations_, stream.next, i % configurations_};
    const size_t launches = launches_before_[run.trace + 1] - launches_before_[run.trace];
    if (stream.next == launches || (sequential_ && stream.busy)) continue;
    if (Order(run) < limit_ && (!earliest.has_value() || Order(run) < Order(*earliest))) earliest = run;
  }
  return earliest;
}

std::optional<RunQueue::Run> RunQueue::Take() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (const std::optional<Run> run = Earliest(); run.has_value()) {
      Stream& stream = StreamOf(*run);
      ++stream.next;
      stream.busy = true;
      ++under_way_;
      return run;
    }
    if (under_way_ == 0) return std::nullopt;
    changed_.wait(lock);
  }
}

void RunQueue::Done(const Run& run, const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  StreamOf(run).busy = false;
  --under_way_;
  if (!status.ok() && Order(run) < limit_) {
    limit_ = Order(run);
    status_ = status;
  }
  changed_.notify_all();
}

}  // namespace heddle::replay
