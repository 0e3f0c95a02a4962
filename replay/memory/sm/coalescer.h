// From the addresses of a warp's lanes to memory transactions.
#ifndef HEDDLE_REPLAY_MEMORY_SM_COALESCER_H_
#define HEDDLE_REPLAY_MEMORY_SM_COALESCER_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "proto/machine.pb.h"
#include "replay/seams/types.h"

namespace heddle::replay {

using LaneAddresses = std::array<uint64_t, kMaxLanes>;

// A run of memory that one request or one access to a cache covers. Ordered by address within one Coalesce.
struct Transaction {
  uint64_t address = 0;
  LaneMask lanes = 0;
  uint16_t bytes = 0;  // from `address` on; a power of two
  uint8_t passes = 1;  // atomics: the most lanes on one address
};

// Transactions of one warp instruction: at most one per lane and 4-byte word of up to 16 bytes.
class TransactionList {
 public:
  static constexpr uint32_t kMost = 4 * kMaxLanes;

  uint32_t size() const { return size_; }
  const Transaction& operator[](uint32_t index) const { return transactions_[index]; }
  Transaction& operator[](uint32_t index) { return transactions_[index]; }
  Transaction* begin() { return transactions_.data(); }
  Transaction* end() { return transactions_.data() + size_; }
  const Transaction* begin() const { return transactions_.data(); }
  const Transaction* end() const { return transactions_.data() + size_; }
  void clear() { size_ = 0; }
  void resize(uint32_t size) { size_ = size; }  // to fewer
  void push_back(const Transaction& transaction) { transactions_[size_++] = transaction; }

 private:
  uint32_t size_ = 0;  // beside the first of them
  std::array<Transaction, kMost> transactions_;
};

// How many parts a warp's access of `bytes` per lane is made in, one after another: 8-byte accesses in two, 16-byte
// ones in four (CUDA C Programming Guide, compute capability 2.x, section on global memory), and never in fewer than
// `parts`.
inline uint32_t WarpParts(uint32_t parts, uint32_t bytes) { return std::max({parts, bytes / 4, 1u}); }

// The lanes of part `part` of `parts` equal ones.
inline LaneMask PartLanes(uint32_t part, uint32_t parts, uint32_t warp_size) {
  const uint32_t lanes = (warp_size + parts - 1) / parts;
  if (part * lanes >= kMaxLanes) return 0;
  const LaneMask mask = lanes >= kMaxLanes ? ~LaneMask{0} : (LaneMask{1} << lanes) - 1;
  return mask << (part * lanes);
}

// Three ways to combine lanes:
//   COMPUTE_13: per half-warp, segments of 32, 64 or 128 bytes for accesses of 1, 2 or more bytes, halved while all
//   their
//     accessed bytes lie in one half (CUDA best practices guide, compute capability 1.2 and 1.3);
//   COMPUTE_20: per warp, segments of 128 bytes; writes are halved in the same way as GPGPU-Sim 3.2.2 does; sectors of
//     32 bytes for what does not go through a first-level cache;
//   COALESCING_OFF: lanes stay apart, except that lanes on one line of the first-level cache make one access to it,
//   which
//     counts as many.
// No segment is larger than the machine's cache lines.
class Coalescer {
 public:
  using Mode = machine::v1::Hierarchy::Coalescing;
  enum class Kind : uint8_t { kRead, kWrite, kAtomic };

  // `line_bytes`: of the first-level cache, 0 if accesses do not go through one. `largest`: no transaction has more
  // bytes.
  Coalescer(Mode mode, uint32_t warp_size, uint32_t line_bytes, uint32_t largest);

  // Appends the transactions of `lanes`, which access `bytes` each (a power of two up to 16, aligned).
  void Coalesce(Kind kind, uint32_t bytes, LaneMask lanes, const LaneAddresses& addresses, TransactionList& out) const;

 private:
  uint32_t SegmentBytes(Kind kind, uint32_t bytes) const;

  Mode mode_;
  uint32_t warp_size_;
  uint32_t line_bytes_;
  uint32_t largest_;
};

// Appends one transaction of `bytes` (a power of two) for each aligned piece of that size that a lane's address lies
// in, ascending.
void GroupLanes(uint32_t bytes, LaneMask lanes, const LaneAddresses& addresses, TransactionList& out);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_COALESCER_H_
