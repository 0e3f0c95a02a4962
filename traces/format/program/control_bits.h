// Control bits of machine code, as Instruction.control packs them: what the assembler tells an SM about when an
// instruction may issue. Every reader and writer packs and unpacks them here.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_CONTROL_BITS_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_CONTROL_BITS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::trace {

// A barrier here is one of six counters per warp, which an instruction of variable latency raises and lowers (Jia,
// Maggioni, Staiger and Scarpazza, 2018, section 2.1); it is no barrier between threads.
struct ControlBits {
  static constexpr uint8_t kBarriers = 6;
  static constexpr uint8_t kNoBarrier = 7;
  static constexpr uint8_t kReuseBits = 4;

  uint8_t stall = 0;                   // cycles until the warp may issue its next instruction, 0 to 15
  bool yield = false;                  // the scheduler should go on with another warp
  uint8_t write_barrier = kNoBarrier;  // lowered when the result is written: 0 to 5, or kNoBarrier
  uint8_t read_barrier = kNoBarrier;   // lowered when the operands were read: 0 to 5, or kNoBarrier
  uint8_t wait_mask = 0;               // bit i: issues only when barrier i is down
  uint8_t reuse = 0;                   // bit i: the register of source operand i is kept for reuse

  bool operator==(const ControlBits&) const = default;
};

// Instruction.control of these bits: never 0. What does not fit its bits is cut.
uint32_t PackControl(const ControlBits& bits);

// Nothing if `control` is 0 (not told), or breaks a rule.
std::optional<ControlBits> UnpackControl(uint32_t control);

// The rule that Instruction.control breaks; empty if it is right.
std::string BrokenControlRule(uint32_t control);

// In the form that people who read machine code use: "B01----:R-:W2:Y:S04" waits for barriers 0 and 1, sets none when
// its operands were read, sets 2 when its result is written, yields, and stalls for 4 cycles. Registers that are kept
// for reuse follow as ":U" and the numbers of their operands.
std::string ControlText(const ControlBits& bits);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_CONTROL_BITS_H_
