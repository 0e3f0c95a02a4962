// Parallel iterative matching.
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/memory/crossbar_allocator.h"

namespace heddle::replay {
namespace {

class PimAllocator final : public CrossbarAllocator {
 public:
  PimAllocator(uint32_t buffers, uint32_t outputs, uint32_t iterations, uint64_t seed)
      : iterations_(iterations),
        numbers_(seed),
        bids_(outputs, buffers),
        matched_buffers_(WordsFor(buffers)),
        matched_outputs_(WordsFor(outputs)),
        open_(WordsFor(outputs)) {}

  bool rows_are_buffers() const override { return true; }
  // The thesis: a full output disables the transfer to it, even if the allocator granted it.
  bool asks_blindly() const override { return true; }

  void Allocate(uint64_t edge, const BitMatrix& requests, std::vector<CrossbarGrant>& grants) override {
    std::ranges::fill(matched_buffers_, 0);
    std::ranges::fill(matched_outputs_, 0);
    for (uint32_t pass = 0; pass < iterations_; ++pass) {
      numbers_.Begin(edge * iterations_ + pass);
      ForEachBit(requests.filled_rows(), [&](uint32_t buffer) {
        if (TestBit(matched_buffers_, buffer)) return;
        const std::span<const uint64_t> wanted = requests.Row(buffer);
        for (uint32_t word = 0; word < open_.size(); ++word) open_[word] = wanted[word] & ~matched_outputs_[word];
        if (const uint32_t count = CountBits(open_); count > 0) {
          bids_.Set(NthBit(open_, numbers_.OfBuffer(buffer, count)), buffer);
        }
      });
      if (bids_.empty()) return;
      ForEachBit(bids_.filled_rows(), [&](uint32_t output) {
        const std::span<const uint64_t> bidders = bids_.Row(output);
        const uint32_t buffer = NthBit(bidders, numbers_.OfOutput(output, CountBits(bidders)));
        bids_.ClearRow(output);
        SetBit(matched_buffers_, buffer);
        SetBit(matched_outputs_, output);
        grants.push_back({buffer, output});
      });
    }
  }

 private:
  const uint32_t iterations_;
  PimNumbers numbers_;
  BitMatrix bids_;  // rows: outputs
  std::vector<uint64_t> matched_buffers_;
  std::vector<uint64_t> matched_outputs_;
  std::vector<uint64_t> open_;
};

}  // namespace

std::unique_ptr<CrossbarAllocator> MakePimAllocator(uint32_t buffers, uint32_t outputs, uint32_t iterations,
                                                    uint64_t seed) {
  return std::make_unique<PimAllocator>(buffers, outputs, iterations, seed);
}

}  // namespace heddle::replay
