// Control bits: what the assembler tells an SM about when an instruction may issue.
#ifndef HEDDLE_TRACEGEN_MACHINE_ENCODING_CONTROL_H_
#define HEDDLE_TRACEGEN_MACHINE_ENCODING_CONTROL_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "tracegen/machine/encoding/architecture.h"
#include "traces/format/program/control_bits.h"

namespace heddle::tracegen::machine {

// 128 bits of code, low word first.
using Encoding = std::array<uint64_t, 2>;

// As Jia, Maggioni, Staiger and Scarpazza describe them for Volta ("Dissecting the NVIDIA Volta GPU Architecture via
// Microbenchmarking", 2018, section 2.1), and Huerta et al. use them for Ampere (MICRO 2025).
using Control = trace::ControlBits;

// Errors: a barrier number that no architecture has (6), with the number. The place is the caller's to add.
absl::StatusOr<Control> DecodeControl(Architecture architecture, const Encoding& code);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_ENCODING_CONTROL_H_
