#include "replay/engine/order/run_queue.h"

#include <utility>

namespace heddle::replay {

RunQueue::RunQueue(const std::vector<size_t>& launches, std::vector<bool> in_order)
    : configurations_(in_order.size()), in_order_(std::move(in_order)), streams_(launches.size() * configurations_) {
  launches_before_.push_back(0);
  for (const size_t count : launches) launches_before_.push_back(launches_before_.back() + count);
}

std::optional<RunQueue::Run> RunQueue::Earliest() const {
  std::optional<Run> earliest;
  if (stopped_) return earliest;
  for (size_t i = 0; i < streams_.size(); ++i) {
    const Stream& stream = streams_[i];
    const Run run{i / configurations_, stream.next, i % configurations_};
    const size_t launches = launches_before_[run.trace + 1] - launches_before_[run.trace];
    if (stream.failed || stream.next == launches || (in_order_[run.configuration] && stream.busy)) continue;
    if (!earliest.has_value() || Order(run) < Order(*earliest)) earliest = run;
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

void RunQueue::Done(const Run& run, bool good) {
  const std::lock_guard lock(mutex_);
  Stream& stream = StreamOf(run);
  stream.busy = false;
  stream.good += good ? 1 : 0;
  stream.failed |= !good;
  --under_way_;
  changed_.notify_all();
}

void RunQueue::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool RunQueue::Ended(size_t trace, size_t configuration) const {
  return streams_[trace * configurations_ + configuration].good ==
         launches_before_[trace + 1] - launches_before_[trace];
}

}  // namespace heddle::replay
