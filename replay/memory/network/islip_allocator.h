// Round-robin matching with pointers that move apart.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_ISLIP_ALLOCATOR_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_ISLIP_ALLOCATOR_H_

#include <cstdint>
#include <vector>

#include "replay/memory/network/crossbar_allocator.h"

namespace heddle::replay {

// iSLIP (McKeown, "The iSLIP scheduling algorithm for input-queued switches", 1999): every output grants the first
// requesting buffer at or after its pointer, every buffer accepts the first granting output at or after its own; both
// pointers move to one beyond the match, in the first iteration only. Further iterations match what is left.
template <uint32_t kWords>
class IslipAllocator final : public CrossbarAllocator<kWords> {
 public:
  IslipAllocator(uint32_t buffers, uint32_t outputs, uint32_t iterations)
      : buffers_(buffers),
        outputs_(outputs),
        iterations_(iterations),
        grant_pointer_(outputs),
        accept_pointer_(buffers),
        offers_(buffers) {}

  bool rows_are_buffers() const override { return false; }
  // As in a router with credits: who has no credit for the next buffer does not take part.
  bool asks_blindly() const override { return false; }

  void Allocate(uint64_t /*edge*/, const BitMatrix<kWords>& requests, CrossbarGrants& grants) override {
    BitSet<kWords> offered;
    requests.filled_rows().ForEach(
        [&](uint32_t output) { Offer(requests[output].FirstCyclic(grant_pointer_[output]), output, offered); });
    uint32_t done = grants.size();
    Accept(offered, grants, [&](uint32_t buffer, uint32_t output) {
      grant_pointer_[output] = Following(buffer, buffers_);
      accept_pointer_[buffer] = Following(output, outputs_);
    });
    if (iterations_ == 1) return;
    BitSet<kWords> matched_buffers, matched_outputs;
    for (uint32_t iteration = 1; iteration < iterations_ && done < grants.size(); ++iteration) {
      for (; done < grants.size(); ++done) {
        matched_buffers.Insert(grants[done].buffer);
        matched_outputs.Insert(grants[done].output);
      }
      offered.Clear();
      requests.filled_rows().Without(matched_outputs).ForEach([&](uint32_t output) {
        const BitSet<kWords> open = requests[output].Without(matched_buffers);
        if (!open.empty()) Offer(open.FirstCyclic(grant_pointer_[output]), output, offered);
      });
      Accept(offered, grants, [](uint32_t, uint32_t) {});
    }
  }

 private:
  void Offer(uint32_t buffer, uint32_t output, BitSet<kWords>& offered) {
    offers_[buffer].Insert(output);
    offered.Insert(buffer);
  }
  // Every buffer accepts one of its offers; calls matched(buffer, output).
  template <typename Matched>
  void Accept(const BitSet<kWords>& offered, CrossbarGrants& grants, Matched matched) {
    offered.ForEach([&](uint32_t buffer) {
      const uint32_t output = offers_[buffer].FirstCyclic(accept_pointer_[buffer]);
      offers_[buffer].Clear();
      grants.Add(buffer, output);
      matched(buffer, output);
    });
  }
  static uint32_t Following(uint32_t index, uint32_t count) { return index + 1 == count ? 0 : index + 1; }

  const uint32_t buffers_;
  const uint32_t outputs_;
  const uint32_t iterations_;
  std::vector<uint32_t> grant_pointer_;   // by output: the buffer that it prefers
  std::vector<uint32_t> accept_pointer_;  // by buffer: the output that it prefers
  std::vector<BitSet<kWords>> offers_;    // by buffer: outputs; empty between iterations
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_ISLIP_ALLOCATOR_H_
