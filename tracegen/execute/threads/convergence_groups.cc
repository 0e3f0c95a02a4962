#include "tracegen/execute/threads/convergence_groups.h"

namespace heddle::tracegen {
namespace {

uint32_t BitOf(uint32_t lane) { return 1u << lane; }

}  // namespace

void ConvergenceGroups::BeginBlock() {
  for (Warp& warp : warps_) {
    warp.group.fill(0);
    warp.groups = 0;
    warp.order = 0;
    warp.barriers.clear();
  }
}

uint32_t ConvergenceGroups::TogetherWith(uint32_t warp, uint32_t lane) const {
  const std::array<uint32_t, 32>& group = warps_[warp].group;
  uint32_t lanes = 0;
  for (uint32_t other = 0; other < group.size(); ++other) {
    if (group[other] == group[lane]) lanes |= BitOf(other);
  }
  return lanes;
}

void ConvergenceGroups::Unite(uint32_t warp, uint32_t lanes) {
  Warp& of = warps_[warp];
  ++of.groups;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    of.group[static_cast<size_t>(__builtin_ctz(rest))] = of.groups;
  }
}

uint32_t ConvergenceGroups::Join(uint32_t warp, uint32_t lane, uint32_t site) {
  Warp& of = warps_[warp];
  Barrier* found = nullptr;
  Barrier* free = nullptr;
  for (Barrier& barrier : of.barriers) {
    if (barrier.members == 0) {
      free = &barrier;
    } else if (barrier.group == of.group[lane] && barrier.site == site && (barrier.joined & BitOf(lane)) == 0 &&
               (found == nullptr || barrier.order < found->order)) {
      found = &barrier;
    }
  }
  if (found == nullptr) {
    if (free == nullptr && of.barriers.size() == kMostBarriers) return 0;
    found = free != nullptr ? free : &of.barriers.emplace_back();
    *found = Barrier{of.group[lane], site, 0, 0, of.order++};
  }
  found->members |= BitOf(lane);
  found->joined |= BitOf(lane);
  return static_cast<uint32_t>(found - of.barriers.data()) + 1;
}

void ConvergenceGroups::Leave(uint32_t warp, uint32_t lane, uint32_t barrier) {
  if (MembersOf(warp, barrier) != 0) warps_[warp].barriers[barrier - 1].members &= ~BitOf(lane);
}

void ConvergenceGroups::Exit(uint32_t warp, uint32_t lane) {
  for (Barrier& barrier : warps_[warp].barriers) barrier.members &= ~BitOf(lane);
}

uint32_t ConvergenceGroups::MembersOf(uint32_t warp, uint32_t barrier) const {
  const std::vector<Barrier>& barriers = warps_[warp].barriers;
  return barrier == 0 || barrier > barriers.size() ? 0 : barriers[barrier - 1].members;
}

bool ConvergenceGroups::MayJoin(uint32_t warp, uint32_t barrier, uint32_t lanes) const {
  if (MembersOf(warp, barrier) == 0) return false;
  const Warp& of = warps_[warp];
  const Barrier& asked = of.barriers[barrier - 1];
  for (uint32_t rest = lanes & ~asked.joined; rest != 0; rest &= rest - 1) {
    if (of.group[static_cast<size_t>(__builtin_ctz(rest))] == asked.group) return true;
  }
  return false;
}

}  // namespace heddle::tracegen
