#include "tracegen/machine/encoding/control.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace heddle::tracegen::machine {
namespace {

// Where the packed field begins in the 128 bits, on all architectures that we read, and where its parts begin in it.
constexpr uint32_t kControlAt = 105;
constexpr uint32_t kStallBits = 4;
constexpr uint32_t kYieldAt = 4;
constexpr uint32_t kWriteAt = 5;
constexpr uint32_t kReadAt = 8;
constexpr uint32_t kMaskAt = 11;
constexpr uint32_t kReuseAt = 17;
constexpr uint32_t kAllBits = 21;

constexpr uint32_t Field(uint32_t packed, uint32_t at, uint32_t bits) { return (packed >> at) & ((1u << bits) - 1); }

}  // namespace

absl::StatusOr<Control> DecodeControl(Architecture architecture, const Encoding& code) {
  const uint32_t packed = Field(static_cast<uint32_t>(code[1] >> (kControlAt - 64)), 0, kAllBits);
  Control control;
  control.stall = static_cast<uint8_t>(Field(packed, 0, kStallBits));
  control.yield = Field(packed, kYieldAt, 1) == 0;  // stored the other way round
  control.write_barrier = static_cast<uint8_t>(Field(packed, kWriteAt, 3));
  control.read_barrier = static_cast<uint8_t>(Field(packed, kReadAt, 3));
  control.wait_mask = static_cast<uint8_t>(Field(packed, kMaskAt, 6));
  control.reuse = static_cast<uint8_t>(Field(packed, kReuseAt, 4));
  for (const uint8_t barrier : {control.write_barrier, control.read_barrier}) {
    if (barrier == 6) {
      return absl::InvalidArgumentError(absl::StrCat("control bits name barrier ", int{barrier}, ", where ",
                                                     ArchitectureName(architecture),
                                                     " has 0 to 5: the encoding is not the one we know"));
    }
  }
  return control;
}

}  // namespace heddle::tracegen::machine
