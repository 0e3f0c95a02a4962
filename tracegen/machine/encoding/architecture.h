// The architectures whose machine code can be read.
#ifndef HEDDLE_TRACEGEN_MACHINE_ENCODING_ARCHITECTURE_H_
#define HEDDLE_TRACEGEN_MACHINE_ENCODING_ARCHITECTURE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace heddle::tracegen::machine {

// By compute capability: the value is 10 times the major number, plus the minor one.
enum class Architecture : uint8_t { kSm75 = 75, kSm80 = 80, kSm86 = 86, kSm90 = 90 };

// All four have instructions of 128 bits.
constexpr uint32_t kInstructionBytes = 16;

inline constexpr Architecture kArchitectures[] = {Architecture::kSm75, Architecture::kSm80, Architecture::kSm86,
                                                  Architecture::kSm90};

// "sm_80".
std::string ArchitectureName(Architecture architecture);
// Errors: a name that is none of the four, with the names that there are.
absl::StatusOr<Architecture> ArchitectureOf(std::string_view name);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_ENCODING_ARCHITECTURE_H_
