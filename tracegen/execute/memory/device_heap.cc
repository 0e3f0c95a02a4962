#include "tracegen/execute/memory/device_heap.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heddle::tracegen {

uint64_t DeviceHeap::Allocate(uint64_t bytes) {
  if (bytes > bytes_) return 0;
  bytes = std::max((bytes + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto piece = free_.begin(); piece != free_.end(); ++piece) {
    const auto [address, size] = *piece;
    if (size < bytes) continue;
    free_.erase(piece);
    if (size > bytes) free_[address + bytes] = size - bytes;
    used_[address] = bytes;
    return address;
  }
  return 0;
}

bool DeviceHeap::Free(uint64_t address) {
  if (address == 0) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  auto piece = used_.find(address);
  if (piece == used_.end()) return false;
  uint64_t bytes = piece->second;
  used_.erase(piece);
  auto next = free_.lower_bound(address);
  if (next != free_.end() && next->first == address + bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == address) {
      previous->second += bytes;
      return true;
    }
  }
  free_[address] = bytes;
  return true;
}

void DeviceHeap::Reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  used_.clear();
  free_ = {{base_, bytes_ / kAlignment * kAlignment}};
}

DeviceHeap::State DeviceHeap::Save() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {free_, used_};
}

void DeviceHeap::Restore(State state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  free_ = std::move(state.free);
  used_ = std::move(state.used);
}

}  // namespace heddle::tracegen
