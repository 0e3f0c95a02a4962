// Devices address shared, constant and local memory with 32 bits: what is beyond wraps. Pointers to it have 64 bits in
// the IR, and hold where it lies here. So their upper halves count for nothing; where a pointer is used, it gets that
// of the memory's window.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_NARROW_ADDRESSES_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_NARROW_ADDRESSES_H_

#include <cstdint>

#include "tracegen/instrument/kernel_pass.h"

namespace heddle::tracegen {

// What counts of such a pointer.
inline constexpr uint64_t kNarrowAddressMask = 0xffff'ffff;

// Before shared variables have addresses: constants that are numbers of such addresses become instructions.
void ExpandSharedNumbers(KernelPass& pass);

// After that: pointers wrap where they are used; as numbers those to shared memory count from its start.
void WrapNarrowAddresses(KernelPass& pass);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_NARROW_ADDRESSES_H_
