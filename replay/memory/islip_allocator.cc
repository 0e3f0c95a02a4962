// Round-robin matching with pointers that desynchronize (McKeown, "The iSLIP scheduling algorithm for input-queued
// switches", 1999).
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/memory/crossbar_allocator.h"

namespace heddle::replay {
namespace {

class IslipAllocator final : public CrossbarAllocator {
 public:
  IslipAllocator(uint32_t buffers, uint32_t outputs, uint32_t iterations)
      : iterations_(iterations),
        grant_pointer_(outputs),
        accept_pointer_(buffers),
        offers_(buffers, outputs),
        matched_buffers_(WordsFor(buffers)),
        matched_outputs_(WordsFor(outputs)),
        open_(WordsFor(buffers)) {}

  bool rows_are_buffers() const override { return false; }
  // As in a router with credits: who has no credit for the next buffer does not take part.
  bool asks_blindly() const override { return false; }

  void Allocate(uint64_t /*edge*/, const BitMatrix& requests, std::vector<CrossbarGrant>& grants) override {
    ForEachBit(requests.filled_rows(), [&](uint32_t output) {
      offers_.Set(FirstBitCyclic(requests.Row(output), grant_pointer_[output]), output);
    });
    const size_t before = grants.size();
    Accept(grants);
    for (size_t i = before; i < grants.size(); ++i) {
      grant_pointer_[grants[i].output] = Following(grants[i].buffer, accept_pointer_.size());
      accept_pointer_[grants[i].buffer] = Following(grants[i].output, grant_pointer_.size());
    }
    if (iterations_ > 1) Fill(requests, before, grants);
  }

 private:
  // Every buffer accepts one of its offers.
  void Accept(std::vector<CrossbarGrant>& grants) {
    ForEachBit(offers_.filled_rows(), [&](uint32_t buffer) {
      grants.push_back({buffer, FirstBitCyclic(offers_.Row(buffer), accept_pointer_[buffer])});
      offers_.ClearRow(buffer);
    });
  }

  // The iterations after the first: what is unmatched tries again. The grants from `done` on are of this edge.
  void Fill(const BitMatrix& requests, size_t done, std::vector<CrossbarGrant>& grants) {
    std::ranges::fill(matched_buffers_, 0);
    std::ranges::fill(matched_outputs_, 0);
    for (uint32_t iteration = 1; iteration < iterations_ && done < grants.size(); ++iteration) {
      for (; done < grants.size(); ++done) {
        SetBit(matched_buffers_, grants[done].buffer);
        SetBit(matched_outputs_, grants[done].output);
      }
      ForEachBit(requests.filled_rows(), [&](uint32_t output) {
        if (TestBit(matched_outputs_, output)) return;
        const std::span<const uint64_t> askers = requests.Row(output);
        for (uint32_t word = 0; word < open_.size(); ++word) open_[word] = askers[word] & ~matched_buffers_[word];
        const uint32_t buffer = FirstBitCyclic(open_, grant_pointer_[output]);
        if (buffer != kNoBit) offers_.Set(buffer, output);
      });
      Accept(grants);
    }
  }

  static uint32_t Following(uint32_t index, size_t count) { return index + 1 == count ? 0 : index + 1; }

  const uint32_t iterations_;
  std::vector<uint32_t> grant_pointer_;   // by output: the buffer that it prefers
  std::vector<uint32_t> accept_pointer_;  // by buffer: the output that it prefers
  BitMatrix offers_;                      // rows: buffers
  std::vector<uint64_t> matched_buffers_;
  std::vector<uint64_t> matched_outputs_;
  std::vector<uint64_t> open_;
};

}  // namespace

std::unique_ptr<CrossbarAllocator> MakeIslipAllocator(uint32_t buffers, uint32_t outputs, uint32_t iterations) {
  return std::make_unique<IslipAllocator>(buffers, outputs, iterations);
}

}  // namespace heddle::replay
