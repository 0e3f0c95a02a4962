#include "tracegen/execute/memory/bounds_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace heddle::tracegen {
namespace {

constexpr unsigned kGranuleBits = 9;
constexpr uint64_t kGranule = uint64_t{1} << kGranuleBits;

}  // namespace

void BoundsCheck::SetAllocations(const std::vector<trace::v1::Allocation>& allocations) {
  std::vector<Range> ranges;
  for (const trace::v1::Allocation& allocation : allocations) {
    if (allocation.base() < kGlobalBase || allocation.base() - kGlobalBase >= kGlobalBytes) continue;
    ranges.push_back({allocation.base(), allocation.bytes(), allocation.name()});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.base < b.base; });
  if (ranges == ranges_) return;
  ranges_ = std::move(ranges);
  valid_.clear();
  for (const Range& range : ranges_) {
    const uint64_t first = range.base - kGlobalBase;
    valid_.resize(std::max<uint64_t>(valid_.size(), (first + range.bytes + kGranule - 1) >> kGranuleBits), 0);
    for (uint64_t at = first >> kGranuleBits; at << kGranuleBits < first + range.bytes; ++at) {
      const uint64_t left = first + range.bytes - (at << kGranuleBits);
      valid_[at] = static_cast<uint16_t>(std::min(left, kGranule));
    }
  }
}

const BoundsCheck::Range* BoundsCheck::Before(uint64_t address) const {
  const auto next = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                     [](uint64_t at, const Range& range) { return at < range.base; });
  return next == ranges_.begin() ? nullptr : &*std::prev(next);
}

bool BoundsCheck::Holds(std::span<const trace::AddressBounds> ranges) const {
  const auto holds = [this](const trace::AddressBounds& asked) {
    if (asked.lowest > asked.highest) return false;
    if (asked.highest < kGlobalBase || asked.lowest >= kGlobalBase + kGlobalBytes) {
      return asked.highest < shared_end_ || asked.lowest >= kSharedBase + kSharedBytes;
    }
    const Range* const range = Before(asked.lowest);
    return range != nullptr && asked.highest - range->base < range->bytes;
  };
  return !ranges.empty() && std::ranges::all_of(ranges, holds);
}

bool BoundsCheck::AllInOneRange(std::span<const uint64_t> addresses) const {
  const Range* const before = Before(addresses.front());
  if (before == nullptr) return false;
  const Range& range = *before;
  if (addresses.back() - range.base >= range.bytes) return false;
  // No offset is larger than the bits of all of them together; that is below the size of most arrays, which are powers
  // of two, or much larger than what a thread goes through.
  uint64_t bits[4] = {};
  size_t i = 0;
  for (; i + 4 <= addresses.size(); i += 4) {
    for (size_t k = 0; k < 4; ++k) bits[k] |= addresses[i + k] - range.base;
  }
  for (; i < addresses.size(); ++i) bits[0] |= addresses[i] - range.base;
  if ((bits[0] | bits[1] | bits[2] | bits[3]) < range.bytes) return true;
  return std::all_of(addresses.begin(), addresses.end(),
                     [&range](uint64_t address) { return address - range.base < range.bytes; });
}

size_t BoundsCheck::FindOutside(std::span<const uint64_t> addresses) const {
  if (addresses.empty()) return kNone;
  // Most threads access nothing but shared memory from one barrier to the next, or one array: that takes no look-ups.
  constexpr uint64_t kNotGlobal = kSharedBase & ~(kGlobalBase | (kGlobalBytes - 1));
  static_assert(kNotGlobal != 0 && kGlobalBase % kGlobalBytes == 0);
  if ((addresses.front() & kNotGlobal) != 0) {
    uint64_t common = kNotGlobal;
    bool behind = false;
    for (const uint64_t address : addresses) {
      common &= address;
      behind |= IsBehindShared(address);
    }
    if (common != 0 && !behind) return kNone;
  } else if (AllInOneRange(addresses)) {
    return kNone;
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (IsBehindShared(addresses[i])) return i;
    const uint64_t offset = addresses[i] - kGlobalBase;
    if (offset >= kGlobalBytes) continue;
    const uint64_t granule = offset >> kGranuleBits;
    if (granule >= valid_.size() || (offset & (kGranule - 1)) >= valid_[granule]) return i;
  }
  return kNone;
}

std::string BoundsCheck::Describe(uint64_t address) const {
  if (IsShared(address)) {
    return absl::StrCat(address - shared_end_, " bytes behind the end of the block's shared memory (",
                        shared_end_ - kSharedBase, " bytes)");
  }
  if (ranges_.empty()) return "where nothing is allocated";
  const Range* const range = Before(address);
  if (range == nullptr) return "in front of everything that is allocated";
  return absl::StrCat(address - range->base - range->bytes, " bytes behind the end of '", range->name, "' (",
                      range->bytes, " bytes)");
}

}  // namespace heddle::tracegen
