// Parallel iterative matching.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_PIM_ALLOCATOR_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_PIM_ALLOCATOR_H_

#include <cstdint>
#include <vector>

#include "replay/memory/network/crossbar_allocator.h"
#include "traces/base/random.h"

namespace heddle::replay {

// The random numbers of parallel iterative matching: a stream of its own for every pass of every edge, in which every
// buffer and every output has one number. They depend on the seed only, not on which were drawn before.
class PimNumbers {
 public:
  explicit PimNumbers(uint64_t seed) : seed_(SplitMixHash(seed)) {}
  // Pass `pass`, counted over all edges.
  void Begin(uint64_t pass) { stream_ = SplitMixHash(seed_ ^ SplitMixHash(pass)); }
  // Uniform in 0 to count - 1.
  uint32_t OfBuffer(uint32_t buffer, uint32_t count) const { return Below(count, stream_ + 2 * uint64_t{buffer}); }
  uint32_t OfOutput(uint32_t output, uint32_t count) const { return Below(count, stream_ + 2 * uint64_t{output} + 1); }

 private:
  static uint32_t Below(uint32_t count, uint64_t draw) {
    return static_cast<uint32_t>((SplitMixHash(draw) >> 32) * count >> 32);
  }

  uint64_t seed_;
  uint64_t stream_ = 0;
};

// Every buffer picks one of the outputs that it requests, then every output picks one of its bidders, both uniformly at
// random; repeated `iterations` times on what is left (Fung's thesis, section 5.1.2).
template <uint32_t kWords>
class PimAllocator final : public CrossbarAllocator<kWords> {
 public:
  PimAllocator(uint32_t outputs, uint32_t iterations, uint64_t seed)
      : iterations_(iterations), numbers_(seed), bids_(outputs) {}

  bool rows_are_buffers() const override { return true; }
  // Fung's thesis: a full output disables the transfer to it, even if the allocator granted it.
  bool asks_blindly() const override { return true; }

  void Allocate(uint64_t edge, const BitMatrix<kWords>& requests, CrossbarGrants& grants) override {
    BitSet<kWords> matched_buffers, matched_outputs;
    for (uint32_t pass = 0; pass < iterations_; ++pass) {
      numbers_.Begin(edge * iterations_ + pass);
      requests.filled_rows().Without(matched_buffers).ForEach([&](uint32_t buffer) {
        const BitSet<kWords> open = requests[buffer].Without(matched_outputs);
        if (open.empty()) return;
        bids_.Insert(open.Nth(numbers_.OfBuffer(buffer, open.size())), buffer);
      });
      if (bids_.filled_rows().empty()) return;
      const BitSet<kWords> bid_for = bids_.filled_rows();
      bid_for.ForEach([&](uint32_t output) {
        const BitSet<kWords>& bidders = bids_[output];
        const uint32_t buffer = bidders.Nth(numbers_.OfOutput(output, bidders.size()));
        bids_.ClearRow(output);
        matched_buffers.Insert(buffer);
        matched_outputs.Insert(output);
        grants.Add(buffer, output);
      });
    }
  }

 private:
  const uint32_t iterations_;
  PimNumbers numbers_;
  BitMatrix<kWords> bids_;  // rows: outputs
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_PIM_ALLOCATOR_H_
