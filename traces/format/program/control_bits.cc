#include "traces/format/program/control_bits.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace heddle::trace {
namespace {

// Where the parts begin in the packed number, and how many bits they have.
struct Part {
  uint32_t at, bits;
};
constexpr Part kStall{0, 4};
constexpr Part kYield{4, 1};
constexpr Part kWrite{5, 3};
constexpr Part kRead{8, 3};
constexpr Part kMask{11, ControlBits::kBarriers};
constexpr Part kReuse{17, ControlBits::kReuseBits};
constexpr uint32_t kAllBits = kReuse.at + kReuse.bits;

constexpr uint32_t Put(Part part, uint32_t value) { return (value & ((1u << part.bits) - 1)) << part.at; }
constexpr uint8_t Get(Part part, uint32_t packed) {
  return static_cast<uint8_t>(packed >> part.at & ((1u << part.bits) - 1));
}

ControlBits BitsOf(uint32_t packed) {
  ControlBits bits;
  bits.stall = Get(kStall, packed);
  bits.yield = Get(kYield, packed) != 0;
  bits.write_barrier = Get(kWrite, packed);
  bits.read_barrier = Get(kRead, packed);
  bits.wait_mask = Get(kMask, packed);
  bits.reuse = Get(kReuse, packed);
  return bits;
}

std::string BarrierText(uint8_t barrier) {
  return barrier == ControlBits::kNoBarrier ? "-" : absl::StrCat(uint32_t{barrier});
}

}  // namespace

uint32_t PackControl(const ControlBits& bits) {
  return 1 + (Put(kStall, bits.stall) | Put(kYield, bits.yield ? 1 : 0) | Put(kWrite, bits.write_barrier) |
              Put(kRead, bits.read_barrier) | Put(kMask, bits.wait_mask) | Put(kReuse, bits.reuse));
}

std::optional<ControlBits> UnpackControl(uint32_t control) {
  if (control == 0 || !BrokenControlRule(control).empty()) return std::nullopt;
  return BitsOf(control - 1);
}

std::string BrokenControlRule(uint32_t control) {
  if (control == 0) return "";
  if (control - 1 >= 1u << kAllBits) return absl::StrCat("control has more than ", kAllBits, " bits");
  const ControlBits bits = BitsOf(control - 1);
  for (const uint8_t barrier : {bits.write_barrier, bits.read_barrier}) {
    if (barrier >= ControlBits::kBarriers && barrier != ControlBits::kNoBarrier) {
      return absl::StrCat("control names barrier ", uint32_t{barrier}, "; there are 0 to ", ControlBits::kBarriers - 1,
                          ", and ", uint32_t{ControlBits::kNoBarrier}, " for none");
    }
  }
  return "";
}

std::string ControlText(const ControlBits& bits) {
  std::string text = "B";
  for (uint8_t barrier = 0; barrier < ControlBits::kBarriers; ++barrier) {
    absl::StrAppend(&text, (bits.wait_mask >> barrier & 1) != 0 ? BarrierText(barrier) : "-");
  }
  absl::StrAppend(&text, ":R", BarrierText(bits.read_barrier), ":W", BarrierText(bits.write_barrier), ":",
                  bits.yield ? "Y" : "-", absl::StrFormat(":S%02u", uint32_t{bits.stall}));
  if (bits.reuse == 0) return text;
  absl::StrAppend(&text, ":U");
  for (uint8_t operand = 0; operand < ControlBits::kReuseBits; ++operand) {
    if ((bits.reuse >> operand & 1) != 0) absl::StrAppend(&text, uint32_t{operand});
  }
  return text;
}

}  // namespace heddle::trace
