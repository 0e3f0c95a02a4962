#include "tracegen/execute/block/record_limits.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace heddle::tracegen {
namespace {

constexpr uint64_t kSmallestShare = 64;         // instructions a thread may run before others get their turn
constexpr uint64_t kLargestRandomShare = 2048;  // instructions that a thread may run under a random order, besides

// An equal part of what is left. Threads that meet take it anew at every meeting, and blocks mostly have 2^n of them,
// for which there is a quicker way than to divide.
uint64_t Share(uint64_t left, uint64_t sharers) {
  return std::has_single_bit(sharers) ? left >> std::countr_zero(sharers) : left / sharers;
}

}  // namespace

void RecordLimits::BeginPart() {
  const uint64_t left = options_.max_instructions - std::min(options_.max_instructions, context_.instructions);
  part_limit_ = context_.instructions + std::min(options_.part_instructions, left);
  part_address_limit_ = context_.address_cursor + options_.part_accesses;
}

void RecordLimits::SetFrom(uint64_t instructions, const uint64_t* cursor) {
  are_estimates_ = false;
  const uint64_t sharers = std::max<uint64_t>(1, threads_.alive());
  const uint64_t left = part_limit_ - std::min(part_limit_, instructions);
  const auto addresses_left = static_cast<uint64_t>(std::max<ptrdiff_t>(0, part_address_limit_ - cursor));
  uint64_t share = std::max(kSmallestShare, Share(left, sharers));
  if (threads_.is_random()) share = kSmallestShare + threads_.random().Below(kLargestRandomShare);
  context_.instruction_limit = instructions + std::min(left, share);
  context_.address_limit = cursor + std::min(addresses_left, std::max(kSmallestShare, Share(addresses_left, sharers)));
  if (options_.turn_instructions != 0) {
    context_.instruction_limit = std::min(context_.instruction_limit, instructions + options_.turn_instructions);
  }
}

bool RecordLimits::EstimateShares() {
  if (IsFull()) return false;
  const auto sharers_shift = static_cast<uint32_t>(std::bit_width(uint64_t{threads_.alive()}));
  const auto share = [sharers_shift](uint64_t left, uint64_t& holds) {
    holds = left / 2 < kSmallestShare ? 0 : left / 2;
    return std::min(left, std::max(kSmallestShare, holds >> sharers_shift));
  };
  uint64_t holds = 0;
  instruction_share_ = share(part_limit_ - context_.instructions, holds);
  shares_hold_to_instructions_ = context_.instructions + holds;
  address_share_ = share(static_cast<uint64_t>(part_address_limit_ - context_.address_cursor), holds);
  shares_hold_to_address_ = context_.address_cursor + holds;
  return true;
}

bool RecordLimits::Relax() {
  if (!are_estimates_) return false;
  SetFrom(context_.instruction_limit - instruction_share_, context_.address_limit - address_share_);
  return context_.instructions < context_.instruction_limit && context_.address_cursor < context_.address_limit;
}

}  // namespace heddle::tracegen
