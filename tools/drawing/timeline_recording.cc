#include "tools/drawing/timeline_recording.h"

#include <algorithm>

#include "replay/stats/instruction_profile.h"

namespace heddle::tools {

TimelineRecording::Sm* TimelineRecording::Of(uint32_t launch, uint32_t sm) {
  if (full() || !std::binary_search(sms_.begin(), sms_.end(), sm)) return nullptr;
  return &launches_[launch][sm];
}

void TimelineRecording::Extend(std::vector<Piece>& pieces, const Piece& piece) {
  if (!pieces.empty() && piece.Continues(pieces.back())) {
    pieces.back().end = piece.end;
  } else {
    pieces.push_back(piece);
    ++events_;
  }
}

void TimelineRecording::Issued(const replay::IssueEvent& event) {
  if (event.cycle < first_ || event.cycle > last_) return;
  Sm* sm = Of(event.launch, event.sm);
  if (sm == nullptr) return;
  sm->issues.push_back({event.cycle, event.lanes[0].block, event.port, event.slot, event.lanes[0].pc,
                        static_cast<uint32_t>(event.lanes.size())});
  ++events_;
}

void TimelineRecording::Waits(const replay::WaitEvent& event) {
  if (event.kind != replay::WaitEvent::Kind::kBarrierOpened || event.cycle < first_ || event.cycle > last_) return;
  Sm* sm = Of(event.launch, event.sm);
  if (sm == nullptr) return;
  sm->barriers.push_back({event.cycle, event.block});
  ++events_;
}

void TimelineRecording::States(const replay::StateEvent& event) {
  const replay::Cycle begin = std::max(event.cycle, first_);
  const replay::Cycle end = std::min(event.cycle + event.cycles, last_ + 1);
  if (begin >= end) return;
  Sm* sm = Of(event.launch, event.sm);
  if (sm == nullptr) return;
  for (const replay::StateEvent::WarpSample& warp : event.warps) {
    Extend(sm->warps[warp.slot], {begin, end, static_cast<uint32_t>(warp.state), warp.threads, warp.pc});
  }
  sm->ports.resize(event.ports.size());
  for (size_t port = 0; port < event.ports.size(); ++port) {
    Extend(sm->ports[port], {begin, end, static_cast<uint32_t>(event.ports[port])});
  }
}

}  // namespace heddle::tools
