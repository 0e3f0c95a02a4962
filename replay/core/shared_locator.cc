#include "replay/core/shared_locator.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "replay/core/clusters/cluster_board.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

void SharedLocator::Locate(Pc pc, LaneMask lanes, const std::array<ThreadId, kMaxLanes>& threads, MemoryPort& memory) {
  RemoteLanes& remote = memory.remote();
  remote.mask = 0;
  ForEachLane(lanes, [&](int lane) {
    const auto at = static_cast<size_t>(lane);
    const std::optional<RemotePlace> place = LocateOne(pc, threads[at], memory.addresses()[at]);
    if (!place.has_value()) return;
    remote.mask |= LaneMask{1} << lane;
    remote.sm[at] = static_cast<uint16_t>(place->sm);
  });
}

std::optional<SharedLocator::RemotePlace> SharedLocator::LocateOne(Pc pc, ThreadId thread, uint64_t& address) {
  const uint64_t block = blocks_[formation_.block_of(thread)].position;
  const uint32_t own = static_cast<uint32_t>(block % context_.cluster_blocks);
  const std::optional<trace::SharedPlace> place = context_.shared_windows.Find(address, own);
  if (!place.has_value()) {
    if (context_.steps[pc].space != trace::v1::SPACE_GENERIC) Fail(pc, thread, address, "which is no shared memory");
    return std::nullopt;
  }
  const uint64_t in_own_window = context_.windows.BaseOf(trace::v1::SPACE_SHARED) + place->offset;
  if (place->rank == own) {
    address = in_own_window;
    return std::nullopt;
  }
  if (place->rank >= context_.cluster_blocks) {
    Fail(pc, thread, address, "shared memory of a block that its cluster does not have");
    return std::nullopt;
  }
  const int sm = context_.clusters->SmOf(block, place->rank);
  if (sm < 0) {
    Fail(pc, thread, address, "shared memory of a block of its cluster that has not begun");
    return std::nullopt;
  }
  return RemotePlace{block, place->rank, static_cast<uint32_t>(sm), in_own_window};
}

void SharedLocator::Fail(Pc pc, ThreadId thread, uint64_t address, const char* why) {
  run_.Fail(absl::InvalidArgumentError(
      absl::StrCat("at PC ", uint64_t{pc} * 8, ": thread ", formation_.index_in_block(thread), " of block ",
                   blocks_[formation_.block_of(thread)].linear_index, " accesses 0x", absl::Hex(address), ", ", why)));
}

}  // namespace heddle::replay
