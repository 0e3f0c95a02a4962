// The banks of an SM's shared memory.
#ifndef HEDDLE_REPLAY_MEMORY_SM_SHARED_MEMORY_BANKS_H_
#define HEDDLE_REPLAY_MEMORY_SM_SHARED_MEMORY_BANKS_H_

#include <cstdint>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/sm/coalescer.h"

namespace heddle::replay {

// Words of 4 bytes are interleaved over the banks, each bank serves one word per pass.
class SharedMemoryBanks {
 public:
  // `banks` at least 1.
  SharedMemoryBanks(const machine::v1::SharedMemory& config, uint32_t warp_size);

  // Passes and the parts they are made in (which is what they would be without conflicts).
  struct Passes {
    uint32_t passes = 0;
    uint32_t parts = 0;
  };
  // The passes of an access of `bytes` per lane: over the parts of the warp that have active lanes, the sum of the most
  // distinct words that one bank has to give. Without broadcast every lane counts instead of every word, as in Fung's
  // thesis, section 5.1; so it does for atomics, which change the word lane by lane, unless `merge_atomics` is set.
  Passes Count(uint32_t bytes, bool atomic, LaneMask lanes, const LaneAddresses& addresses);

 private:
  uint32_t PassesOfPart(uint32_t bytes, bool by_word, LaneMask lanes, const LaneAddresses& addresses);

  // Usually a power of two, for which there is a quick way.
  size_t BankOf(uint64_t word) const { return bank_mask_ != 0 ? word & bank_mask_ : word % banks_; }

  uint32_t banks_;
  uint32_t bank_mask_;
  uint32_t parts_;
  bool broadcast_;
  bool merge_atomics_;
  uint32_t warp_size_;
  // Words that were asked for in the present part: a list per bank. A bank whose `part` is not the present one is
  // empty.
  struct Bank {
    uint64_t part = 0;
    uint32_t first = 0;
    uint32_t count = 0;
  };
  struct Word {
    uint64_t number = 0;
    uint32_t next = 0;
  };
  uint64_t part_ = 0;
  std::vector<Bank> bank_;
  std::vector<Word> word_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_SHARED_MEMORY_BANKS_H_
