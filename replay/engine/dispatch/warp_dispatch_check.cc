#include "replay/engine/dispatch/warp_dispatch_check.h"

#include "absl/strings/str_cat.h"

namespace heddle::replay {

WarpDispatchCheck::WarpDispatchCheck(const DispatchContext& context)
    : cluster_blocks_(context.cluster_blocks),
      warps_per_block_(context.warps_per_block),
      group_sms_(context.cluster_sms),
      given_(context.sms) {}

std::string WarpDispatchCheck::Take(const WarpAssignment& warp) {
  std::vector<uint64_t>& of_sm = given_[warp.sm];
  if (of_sm.size() <= warp.hw_warp) of_sm.resize(size_t{warp.hw_warp} + 1);
  const uint64_t given = of_sm[warp.hw_warp]++;
  if (warp.virtual_block.has_value() && warp.virtual_block->iteration != given) {
    return absl::StrCat(" as iteration ", warp.virtual_block->iteration, " of a virtual block, where ", given,
                        " have been");
  }
  if (cluster_blocks_ == 1) return {};
  return warp.virtual_block.has_value() && given != 0 ? TakeNext(warp) : TakeFirst(warp);
}

std::string WarpDispatchCheck::TakeFirst(const WarpAssignment& warp) {
  const uint64_t cluster = warp.block / cluster_blocks_;
  const uint32_t group = warp.sm / group_sms_;
  Begun& begun = begun_.try_emplace(cluster, Begun{0, group}).first->second;
  ++begun.warps;
  if (warp.virtual_block.has_value()) {
    virtual_blocks_[{warp.sm, warp.virtual_block->place}] = {cluster, warp.block % cluster_blocks_};
  }
  return begun.group == group ? "" : ", which is not of the group of SMs that has its cluster";
}

std::string WarpDispatchCheck::TakeNext(const WarpAssignment& warp) {
  const VirtualBlock& block = virtual_blocks_[{warp.sm, warp.virtual_block->place}];
  if (block.rank != warp.block % cluster_blocks_) return ", to a virtual block of another rank";
  const auto found = going_on_.try_emplace(warp.block / cluster_blocks_, GoingOn{0, block.cluster}).first;
  const bool same = found->second.first_cluster == block.cluster;
  if (++found->second.warps == cluster_blocks_ * warps_per_block_) going_on_.erase(found);
  return same ? "" : ", to another virtual cluster than others of its cluster";
}

std::string WarpDispatchCheck::EndRound() {
  const uint64_t all = cluster_blocks_ * warps_per_block_;
  std::string wrong;
  for (const auto& [cluster, what] : begun_) {
    if (what.warps == all) continue;
    wrong = absl::StrCat(what.warps, " of the ", all, " warps of a cluster without the others");
    break;
  }
  begun_.clear();
  return wrong;
}

}  // namespace heddle::replay
