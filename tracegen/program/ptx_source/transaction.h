// Numbers in what lowered PTX asks of those who execute it (device_operation.h).
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_TRANSACTION_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_TRANSACTION_H_

#include <cstdint>

namespace heddle::tracegen {

// Of a wait for copies: for all, also those of the open group. Otherwise it names the groups that may be pending.
inline constexpr uint32_t kWaitForAll = ~uint32_t{0};

// Arrivals give the state of the barrier before them.
enum class Transaction : uint32_t {
  kInit,  // number: arrivals that complete a phase
  kInvalidate,
  kExpect,        // number: bytes
  kArrive,        // number: arrivals
  kArriveDrop,    // likewise, which later phases do not expect
  kArriveExpect,  // number: bytes; one arrival
  kArriveDropExpect,
  kCopies,            // the thread's copies so far are complete: one arrival
  kCopiesCounted,     // likewise, and the phase expects one arrival more
  kInvalidateOfWarp,  // each thread of a warp does it for all of them: what is none any more stays so
};

// Of the state that an arrival gives: where the arrivals that are to come begin, of kTransactionCountBits bits, and the
// parity of the phase.
inline constexpr uint32_t kTransactionPendingBit = 20;
inline constexpr uint32_t kTransactionCountBits = 20;
inline constexpr uint32_t kTransactionParityBit = 62;

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_TRANSACTION_H_
