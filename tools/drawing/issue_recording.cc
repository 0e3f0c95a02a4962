#include "tools/drawing/issue_recording.h"

namespace heddle::tools {

void IssueRecording::Issued(const replay::IssueEvent& event) {
  if (event.sm != part_.sm || launch_.value_or(event.launch) != event.launch) return;
  launch_ = event.launch;
  if (launch_of_waits_ != event.launch) waits_.clear();
  if (!first_.has_value()) {
    first_ = event.cycle;
    std::erase_if(waits_, [&event](const Wait& wait) { return wait.cycle < event.cycle; });
  }
  if (!first_issue_.has_value()) first_issue_ = event.cycle;
  last_issue_ = event.cycle;
  std::optional<WarpId> before;  // threads of a warp mostly stand beside one another
  for (const replay::IssueEvent::Lane& lane : event.lanes) {
    const WarpId warp(lane.block, lane.thread / part_.warp_size);
    if (before == warp) continue;
    before = warp;
    lives_.try_emplace(warp, Life{event.cycle, event.cycle}).first->second.last = event.cycle;
  }
  if (event.cycle < first() || event.cycle > last()) return;
  issues_.push_back({event.cycle, event.port, {event.lanes.begin(), event.lanes.end()}});
}

void IssueRecording::Waits(const replay::WaitEvent& event) {
  if (event.sm != part_.sm || launch_.value_or(event.launch) != event.launch) return;
  if (launch_of_waits_ != event.launch) waits_.clear();
  launch_of_waits_ = event.launch;
  if (first_.has_value()) {
    if (event.cycle < first() || event.cycle > last()) return;
  } else if (!waits_.empty() && waits_.back().cycle != event.cycle) {
    waits_.clear();  // the first issue can only be in this cycle or a later one
  }
  waits_.push_back({event.kind, event.cycle, event.block, {event.threads.begin(), event.threads.end()}});
}

}  // namespace heddle::tools
