#include "replay/policies/divergence/large_warps/large_warp_stack.h"

#include <array>
#include <bit>

#include "absl/strings/str_cat.h"

namespace heddle::replay {
namespace {

bool Empty(const RowMasks& masks) {
  for (const LaneMask mask : masks) {
    if (mask != 0) return false;
  }
  return true;
}

void Add(const RowMasks& masks, RowMasks& sum) {
  for (size_t row = 0; row < masks.size(); ++row) sum[row] |= masks[row];
}

std::string TextOf(Position at) {
  if (at.is_exit()) return "-";
  return at.depth() == 0 ? absl::StrCat(at.pc() * 8) : absl::StrCat(at.pc() * 8, "@", at.depth());
}

}  // namespace

bool LargeWarpStack::Overlap(const RowMasks& a, const RowMasks& b) {
  for (size_t row = 0; row < a.size(); ++row) {
    if ((a[row] & b[row]) != 0) return true;
  }
  return false;
}

void LargeWarpStack::Reset(Position entry, const RowMasks& threads) {
  while (!entries_.empty()) Remove(entries_.size() - 1);
  entries_.push_back({entry, Position::Exit(), threads, Status::kWaiting, -1});
}

void LargeWarpStack::Remove(size_t index) {
  spare_.push_back(std::move(entries_[index].threads));
  entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(index));
}

size_t LargeWarpStack::Find(size_t row, LaneMask lane) const {
  for (size_t i = entries_.size(); i-- > 0;) {
    if ((entries_[i].threads[row] & lane) != 0) return i;
  }
  return entries_.size();
}

void LargeWarpStack::Exit(size_t row, LaneMask lanes) {
  for (Entry& entry : entries_) entry.threads[row] &= ~lanes;
}

void LargeWarpStack::Diverge(size_t index, Position reconvergence, std::vector<LargeWarpPath>& paths, size_t count,
                             bool taken_first) {
  const Position outer = entries_[index].rpc;
  // A return to several callers has no reconvergence point of its own.
  const Position rpc = reconvergence.is_exit() ? outer : reconvergence;
  size_t at = index + 1;
  if (rpc == outer && !rpc.is_exit()) {
    // The entry below waits at this very point; a loop's exit branch must not grow the stack with every iteration.
    Remove(index);
    at = index;
  } else {
    entries_[index].next = rpc;
    entries_[index].status = Status::kWaiting;
  }
  // The one that is pushed last runs first.
  std::array<LargeWarpPath*, 2> pair = {&paths[0], &paths[count - 1]};
  const bool two_way = count == 2 && pair[0]->taken != pair[1]->taken;
  if (two_way && pair[0]->taken == taken_first) std::swap(pair[0], pair[1]);
  for (size_t i = 0; i < count; ++i) {
    const LargeWarpPath& path = two_way ? *pair[i] : paths[count - 1 - i];
    if (path.at == rpc) continue;
    RowMasks threads;
    if (!spare_.empty()) {
      threads = std::move(spare_.back());
      spare_.pop_back();
    }
    threads.assign(path.threads.begin(), path.threads.end());
    entries_.insert(entries_.begin() + static_cast<ptrdiff_t>(at++),
                    Entry{path.at, rpc, std::move(threads), Status::kWaiting, -1});
  }
}

bool LargeWarpStack::PopReconverged() {
  bool popped = false;
  if (entries_.empty()) return false;
  above_.assign(entries_[0].threads.size(), 0);
  for (size_t i = entries_.size(); i-- > 0;) {
    const Entry& entry = entries_[i];
    const bool done = entry.status == Status::kWaiting && entry.next == entry.rpc && !entry.rpc.is_exit();
    if (Empty(entry.threads) || (done && !Overlap(entry.threads, above_))) {
      Remove(i);
      popped = true;
      continue;
    }
    Add(entry.threads, above_);
  }
  return popped;
}

size_t LargeWarpStack::Running() const {
  size_t index = 0;
  while (index < entries_.size() && entries_[index].status != Status::kRunning) ++index;
  return index;
}

size_t LargeWarpStack::WithTag(int32_t tag) const {
  size_t index = entries_.size();
  while (index-- > 0) {
    if (entries_[index].tag == tag) return index;
  }
  return entries_.size();
}

size_t LargeWarpStack::Runnable() const {
  size_t found = entries_.size();
  if (entries_.empty()) return found;
  above_.assign(entries_[0].threads.size(), 0);
  for (size_t i = entries_.size(); i-- > 0;) {
    const Entry& entry = entries_[i];
    if (entry.status == Status::kRunning) return entries_.size();
    if (found == entries_.size() && entry.status == Status::kWaiting && !Overlap(entry.threads, above_)) found = i;
    Add(entry.threads, above_);
  }
  return found;
}

std::string LargeWarpStack::Text() const {
  std::string text;
  for (const Entry& entry : entries_) {
    int threads = 0;
    for (const LaneMask mask : entry.threads) threads += std::popcount(mask);
    absl::StrAppend(&text, "(", TextOf(entry.next), ",", TextOf(entry.rpc), ",", threads,
                    entry.status == Status::kAtBarrier ? ",barrier)" : ")");
  }
  return text;
}

}  // namespace heddle::replay
