#include "replay/policies/divergence/shared/reconvergence_barriers.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

ReconvergenceBarriers::ReconvergenceBarriers(const Setup& setup)
    : setup_(setup),
      sets_(setup.per_warp || setup.entries == 0 ? 1 : (setup.entries + setup.ways - 1) / setup.ways),
      barriers_(setup.per_warp ? 0 : setup.entries),
      set_of_hw_warp_(setup.max_threads / static_cast<uint32_t>(setup.warp_size) + 1, 0),
      newest_(setup.max_threads, kNone),
      waiting_at_(setup.instructions, 0),
      own_(sets_, kNone) {}

// A free entry of the set; kNone if there is none.
uint32_t ReconvergenceBarriers::Take(uint32_t set) {
  uint32_t found = kNone;
  if (setup_.per_warp) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(barriers_.size()));
      barriers_.emplace_back();
    }
    found = free_.back();
    free_.pop_back();
  } else {
    const uint32_t end = std::min(static_cast<uint32_t>(barriers_.size()), (set + 1) * setup_.ways);
    for (uint32_t i = set * setup_.ways; i < end && found == kNone; ++i) {
      if (barriers_[i].valid == 0) found = i;
    }
    if (found == kNone) return kNone;
  }
  ++reserved_;
  most_live_ = std::max(most_live_, ++live_);
  return found;
}

void ReconvergenceBarriers::Add(uint32_t index, int lane, ThreadId thread) {
  Barrier& barrier = barriers_[index];
  barrier.valid |= LaneMask{1} << lane;
  barrier.thread[lane] = thread;
  barrier.older[lane] = newest_[thread];
  newest_[thread] = index;
}

// Takes the barrier out of the list of the lane's thread.
void ReconvergenceBarriers::Unlink(uint32_t index, int lane) {
  const ThreadId thread = barriers_[index].thread[lane];
  uint32_t* link = &newest_[thread];
  while (*link != index) link = &barriers_[*link].older[lane];
  *link = barriers_[index].older[lane];
}

void ReconvergenceBarriers::Free(uint32_t index) {
  Barrier& barrier = barriers_[index];
  --waiting_at_[barrier.point.pc()];
  --live_;
  barrier.valid = 0;
  barrier.reached = 0;
  if (setup_.per_warp) free_.push_back(index);
}

int ReconvergenceBarriers::Reserve(Position point, BlockId block, const Lanes& lanes) {
  int missed = 0;
  const bool by_point = setup_.match == Match::kPoint && !setup_.per_warp;
  ForEachLane(lanes.mask, [&](int lane) {
    const ThreadId thread = lanes.thread[lane];
    const uint32_t set = setup_.per_warp ? 0 : set_of_hw_warp_[thread / static_cast<uint32_t>(setup_.warp_size)];
    if (!setup_.per_warp) {
      for (uint32_t held = newest_[thread]; held != kNone; held = barriers_[held].older[lane]) {
        if (barriers_[held].point == point) return;
      }
    }
    if (by_point) {
      const uint32_t end = std::min(static_cast<uint32_t>(barriers_.size()), (set + 1) * setup_.ways);
      for (uint32_t i = set * setup_.ways; i < end; ++i) {
        const Barrier& barrier = barriers_[i];
        if (barrier.valid == 0 || barrier.point != point || barrier.block != block) continue;
        if ((barrier.valid >> lane & 1) != 0) continue;
        Add(i, lane, thread);
        return;
      }
    }
    uint32_t index = own_[set];
    if (index == kNone || by_point) {
      index = Take(set);
      if (index == kNone) {
        ++missed;
        return;
      }
      ++waiting_at_[point.pc()];
      Barrier& barrier = barriers_[index];
      barrier.point = point;
      barrier.block = block;
      if (own_[set] == kNone) own_sets_.push_back(set);
      own_[set] = index;
    }
    Add(index, lane, thread);
  });
  for (const uint32_t set : own_sets_) own_[set] = kNone;
  own_sets_.clear();
  return missed;
}

LaneMask ReconvergenceBarriers::Expected(Position point, const Lanes& lanes) const {
  LaneMask expected = 0;
  if (!AnyAt(point)) return expected;
  ForEachLane(lanes.mask, [&](int lane) {
    for (uint32_t i = newest_[lanes.thread[lane]]; i != kNone; i = barriers_[i].older[lane]) {
      if (barriers_[i].point == point && (barriers_[i].reached >> lane & 1) == 0) expected |= LaneMask{1} << lane;
    }
  });
  return expected;
}

void ReconvergenceBarriers::Touch(uint32_t barrier, ThreadId thread) {
  for (Touched& touched : touched_) {
    if (touched.barrier != barrier) continue;
    touched.lowest = std::min(touched.lowest, thread);
    return;
  }
  touched_.push_back({barrier, thread});
}

void ReconvergenceBarriers::ReportComplete(std::vector<uint32_t>& complete) {
  std::sort(touched_.begin(), touched_.end(), [](const Touched& a, const Touched& b) {
    return std::pair(a.lowest, a.barrier) < std::pair(b.lowest, b.barrier);
  });
  for (const Touched& touched : touched_) {
    const Barrier& barrier = barriers_[touched.barrier];
    if (barrier.valid == 0) {
      Free(touched.barrier);
    } else if (barrier.valid == barrier.reached) {
      complete.push_back(touched.barrier);
    }
  }
  touched_.clear();
}

LaneMask ReconvergenceBarriers::Reach(Position point, const Lanes& lanes, std::vector<uint32_t>& complete) {
  LaneMask reached = 0;
  if (!AnyAt(point)) return reached;
  ForEachLane(lanes.mask, [&](int lane) {
    const LaneMask bit = LaneMask{1} << lane;
    for (uint32_t i = newest_[lanes.thread[lane]]; i != kNone; i = barriers_[i].older[lane]) {
      Barrier& barrier = barriers_[i];
      if (barrier.point != point || (barrier.reached & bit) != 0) continue;
      barrier.reached |= bit;
      reached |= bit;
      Touch(i, lanes.thread[lane]);
      return;
    }
  });
  ReportComplete(complete);
  return reached;
}

void ReconvergenceBarriers::Exit(const Lanes& lanes, LaneMask exited, std::vector<uint32_t>& complete) {
  ForEachLane(exited, [&](int lane) {
    const ThreadId thread = lanes.thread[lane];
    while (newest_[thread] != kNone) {
      const uint32_t index = newest_[thread];
      Unlink(index, lane);
      barriers_[index].valid &= ~(LaneMask{1} << lane);
      Touch(index, thread);
    }
  });
  ReportComplete(complete);
}

Lanes ReconvergenceBarriers::Release(uint32_t index, Position& point) {
  const Barrier& barrier = barriers_[index];
  point = barrier.point;
  Lanes lanes;
  lanes.mask = barrier.valid;
  lanes.thread = barrier.thread;
  ForEachLane(lanes.mask, [&](int lane) { Unlink(index, lane); });
  Free(index);
  return lanes;
}

std::string ReconvergenceBarriers::Text() const {
  constexpr int kShown = 4;
  std::string text;
  int shown = 0;
  for (const Barrier& barrier : barriers_) {
    if (barrier.valid == 0 || ++shown > kShown) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", "a reconvergence barrier at pc ", barrier.point.pc() * 8, " has ",
                    std::popcount(barrier.reached), " of ", std::popcount(barrier.valid), " threads");
  }
  if (shown > kShown) absl::StrAppend(&text, "; and ", shown - kShown, " more");
  return text;
}

}  // namespace heddle::replay
