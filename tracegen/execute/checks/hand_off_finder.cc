#include "tracegen/execute/checks/hand_off_finder.h"

#include <algorithm>
#include <utility>

namespace heddle::tracegen {
namespace {

constexpr uint64_t kNoInterval = ~uint64_t{0};

// Of accesses of these kinds, `several` or one by each thread.
bool MayHandOff(uint32_t kinds, bool several) {
  return (kinds & (kinds - 1)) != 0 || (kinds == AccessKind::kStore && several);
}

}  // namespace

HandOffFinder::HandOffFinder(uint32_t units, bool has_atomics, std::vector<uint32_t> constants)
    : constants_(std::move(constants)), places_(units), atomic_places_(has_atomics ? units : 0) {}

void HandOffFinder::Find(const SharedAccesses& accesses, uint32_t warp, bool looks_at_stores) {
  const SharedPaths& paths = accesses.paths;
  const uint32_t first = warp * kWarpWidth;
  const uint32_t lanes = std::min<uint32_t>(kWarpWidth, paths.threads() - first);
  const SharedPath& path = paths.path(first);
  if (!path.mixed && !(path.stores && looks_at_stores) &&
      std::all_of(&path, &path + lanes, [&path](const SharedPath& other) { return other == path; }))
    return;
  uint32_t next[kWarpWidth] = {};
  for (uint32_t lane = 0; lane < lanes; ++lane) next[lane] = paths.path(first + lane).first;
  span_of_lane_.fill(nullptr);
  for (;;) {
    uint64_t interval = kNoInterval;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      if (next[lane] == paths.path(first + lane).end) continue;
      interval = std::min(interval, paths.span(next[lane]).interval);
    }
    if (interval == kNoInterval) return;
    uint32_t kinds = 0;
    const SharedStep* step = nullptr;  // of all lanes, if each has one
    bool several = false;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const bool takes_part = next[lane] != paths.path(first + lane).end && paths.span(next[lane]).interval == interval;
      span_of_lane_[lane] = takes_part ? &paths.span(next[lane]++) : nullptr;
      if (!takes_part) continue;
      const SharedSpan& span = *span_of_lane_[lane];
      kinds |= span.kinds;
      if (step == nullptr) step = &paths.step(span.first);
      several |= span.end - span.first > 1 || paths.step(span.first).pc != step->pc;
    }
    if (!MayHandOff(kinds, several && looks_at_stores)) continue;
    BeginInterval();
    if (!FindInStep(accesses, warp)) FindInInterval(accesses, warp);
  }
}

bool HandOffFinder::FindInStep(const SharedAccesses& accesses, uint32_t warp) {
  const SharedSpan* same = nullptr;
  for (const SharedSpan* span : span_of_lane_) {
    if (span == nullptr) continue;
    if (same == nullptr) same = span;
    if (span != same) return false;
  }
  units_.clear();
  for (uint32_t i = same->first; i < same->end; ++i) {
    for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
      if (span_of_lane_[lane] == nullptr) continue;
      units_.push_back(accesses.UnitsOf(warp * kWarpWidth + lane, accesses.paths.step(i)));
      if (units_.back().first == units_.back().end) return false;
    }
  }
  const auto lanes = static_cast<uint32_t>(units_.size() / (same->end - same->first));
  if (same->kinds == AccessKind::kStore && StepsLieApart(lanes)) return true;
  const SharedUnits* units = units_.data();
  for (uint32_t i = same->first; i < same->end; ++i) {
    ++step_;
    for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
      if (span_of_lane_[lane] != nullptr) Touch(lane, accesses.paths.step(i).pc, accesses.paths.step(i).kind, *units++);
    }
    EndStep();
  }
  return true;
}

bool HandOffFinder::StepsLieApart(uint32_t lanes) const {
  SharedUnits all = {~0u, 0};  // of the steps before
  for (size_t i = 0; i < units_.size(); i += lanes) {
    SharedUnits step = units_[i];
    for (uint32_t lane = 1; lane < lanes; ++lane) {
      step.first = std::min(step.first, units_[i + lane].first);
      step.end = std::max(step.end, units_[i + lane].end);
    }
    if (i != 0 && step.first < all.end && all.first < step.end) return false;
    all = {std::min(all.first, step.first), std::max(all.end, step.end)};
  }
  return true;
}

void HandOffFinder::FindInInterval(const SharedAccesses& accesses, uint32_t warp) {
  for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
    lanes_[lane].clear();
    if (span_of_lane_[lane] == nullptr) continue;
    for (uint32_t i = span_of_lane_[lane]->first; i < span_of_lane_[lane]->end; ++i) {
      const SharedUnits units = accesses.UnitsOf(warp * kWarpWidth + lane, accesses.paths.step(i));
      if (units.first != units.end)
        lanes_[lane].push_back(
            {accesses.paths.step(i).order, units, accesses.paths.step(i).pc, accesses.paths.step(i).kind});
    }
  }
  size_t next[kWarpWidth] = {};
  for (;;) {
    uint64_t order = ~uint64_t{0};
    for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
      if (next[lane] != lanes_[lane].size()) order = std::min(order, lanes_[lane][next[lane]].order);
    }
    if (order == ~uint64_t{0}) return;
    ++step_;
    for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
      if (next[lane] == lanes_[lane].size() || lanes_[lane][next[lane]].order != order) continue;
      const Access& access = lanes_[lane][next[lane]++];
      Touch(lane, access.pc, access.kind, access.units);
    }
    EndStep();
  }
}

void HandOffFinder::BeginInterval() {
  step_ = 0;
  if (++stamp_ != 0) return;
  for (Place& place : places_) place.stamp = 0;
  for (AtomicPlace& place : atomic_places_) place.stamp = 0;
  stamp_ = 1;
}

void HandOffFinder::Touch(uint32_t lane, trace::Pc pc, AccessKind::Value kind, SharedUnits units) {
  const uint32_t self = 1u << lane;
  const auto number = static_cast<uint8_t>(1 + lane);
  const auto reads = [&](const Latest& written) {
    if (written.IsOfOthers(self)) ++found_[{written.pc, pc}];
  };
  const auto overwrites = [&](const LatestTwo& read) {
    if (const trace::Pc* other = read.ByOther(number)) ++found_[{pc, *other}];
  };
  for (uint32_t unit = units.first; unit < units.end; ++unit) {
    Place& place = At(places_, unit);
    AtomicPlace* const atomic = atomic_places_.empty() ? nullptr : &At(atomic_places_, unit);
    switch (kind) {
      case AccessKind::kLoad:
        reads(place.store);
        if (atomic != nullptr) reads(atomic->latest);
        place.load.Add(pc, number);
        break;
      case AccessKind::kStore:
        overwrites(place.load);
        if (atomic != nullptr) overwrites(atomic->of_lanes);
        if (place.store.step != step_ && place.store.lanes != 0) {
          if (StoreTheSame(place.store.pc, pc)) {
            place.store.step = step_;
          } else {
            overwritten_.push_back({unit, place.store.pc, place.store.lanes});
          }
        }
        place.store.Add(step_, pc, self);
        break;
      default: {
        AtomicPlace& own = At(atomic_places_, unit);
        reads(place.store);
        overwrites(place.load);
        own.latest.Add(step_, pc, self);
        own.of_lanes.Add(pc, number);
        break;
      }
    }
  }
}

void HandOffFinder::EndStep() {
  if (overwritten_.empty()) return;
  for (const Overwritten& old : overwritten_) {
    const Latest& store = places_[old.unit].store;
    if ((old.lanes & ~store.lanes) != 0) ++found_[{store.pc, old.pc}];
  }
  overwritten_.clear();
}

}  // namespace heddle::tracegen
