#include "replay/engine/order/launch_order.h"

#include <cstdint>
#include <set>

namespace heddle::replay {
namespace {

constexpr size_t kTaken = ~size_t{0};

}  // namespace

LaunchOrder::LaunchOrder(const trace::TraceReader& reader, std::span<const trace::LaunchView* const> launches)
    : waits_(launches.size()), waiting_(launches.size()) {
  // By launch of the trace: the replayed launches that have to end before whoever depends on it may begin.
  std::vector<std::set<size_t>> stands_for(reader.launches().size());
  size_t next = 0;
  for (const trace::LaunchView& view : reader.launches()) {
    std::set<size_t> before;
    for (const uint32_t earlier : view.launch.depends_on()) {
      before.insert(stands_for[earlier].begin(), stands_for[earlier].end());
    }
    if (next == launches.size() || launches[next] != &view) {
      stands_for[view.launch.id()] = std::move(before);
      continue;
    }
    waits_[next] = before.size();
    for (const size_t one : before) waiting_[one].push_back(next);
    stands_for[view.launch.id()] = {next++};
  }
}

std::vector<size_t> LaunchOrder::TakeReady() {
  std::vector<size_t> ready;
  for (size_t launch = 0; launch < waits_.size(); ++launch) {
    if (waits_[launch] != 0) continue;
    waits_[launch] = kTaken;
    ready.push_back(launch);
  }
  return ready;
}

void LaunchOrder::End(size_t launch) {
  ++ended_;
  for (const size_t one : waiting_[launch]) --waits_[one];
}

}  // namespace heddle::replay
