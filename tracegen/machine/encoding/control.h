// Control bits: what the assembler tells an SM about when an instruction may issue.
#ifndef HEDDLE_TRACEGEN_MACHINE_ENCODING_CONTROL_H_
#define HEDDLE_TRACEGEN_MACHINE_ENCODING_CONTROL_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "tracegen/machine/encoding/architecture.h"

namespace heddle::tracegen::machine {

// 128 bits of code, low word first.
using Encoding = std::array<uint64_t, 2>;

// As Jia, Maggioni, Staiger and Scarpazza describe them for Volta ("Dissecting the NVIDIA Volta GPU Architecture via
// Microbenchmarking", 2018, section 2.1), and Huerta et al. use them for Ampere (MICRO 2025). A barrier here is one of
// six counters per warp, which an instruction of variable latency raises and lowers; it is no barrier between threads.
struct Control {
  static constexpr uint8_t kNoBarrier = 7;

  uint8_t stall = 0;                   // cycles until the warp may issue its next instruction, 0 to 15
  bool yield = false;                  // the scheduler should go on with another warp
  uint8_t write_barrier = kNoBarrier;  // lowered when the result is written: 0 to 5, or kNoBarrier
  uint8_t read_barrier = kNoBarrier;   // lowered when the operands were read: 0 to 5, or kNoBarrier
  uint8_t wait_mask = 0;               // bit i: issues only when barrier i is down
  uint8_t reuse = 0;                   // bit i: source operand i stays in the operand cache

  // As in the code: stall in bits 0 to 3, then the yield bit as it is stored, write barrier, read barrier, mask, reuse.
  uint32_t Packed() const;

  bool operator==(const Control&) const = default;
};

// Errors: a barrier number that no architecture has (6), with the number. The place is the caller's to add.
absl::StatusOr<Control> DecodeControl(Architecture architecture, const Encoding& code);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_ENCODING_CONTROL_H_
