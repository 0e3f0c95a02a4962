// The table of what machine instructions do: one row per opcode. The place to extend.
#ifndef HEDDLE_TRACEGEN_MACHINE_MEANING_MEANING_H_
#define HEDDLE_TRACEGEN_MACHINE_MEANING_MEANING_H_

#include <span>
#include <string_view>

#include "tracegen/machine/meaning/emission.h"

namespace heddle::tracegen::machine {

enum class Effect : uint8_t {
  kComputes,  // from registers to registers: `emit` says what
  kAccesses,  // memory or a constant bank
  kMeets,     // threads of the warp or of the block
  kControls,  // decides where the thread goes on
  kNothing,   // that one thread, run alone, could tell
};

struct OpcodeMeaning {
  std::string_view opcode;
  // The modifiers that are understood, with blanks between them. An instruction with another one has no meaning here,
  // whatever the table of forms reads.
  std::string_view modifiers;
  Effect effect;
  void (*emit)(Emission&);  // of kComputes; Emission::failure says what is not known
  std::string_view what;    // it does
  std::string_view source;  // the PTX instructions whose public definition it carries out
};

// All rows; each opcode has one.
std::span<const OpcodeMeaning> AllMeanings();
// The row of an instruction's opcode; null if there is none, or if it lacks one of the instruction's modifiers.
const OpcodeMeaning* MeaningOf(const Instruction& instruction);

// By file.
std::span<const OpcodeMeaning> IntegerMeanings();
std::span<const OpcodeMeaning> PackedMeanings();
std::span<const OpcodeMeaning> BitMeanings();
std::span<const OpcodeMeaning> MoveMeanings();
std::span<const OpcodeMeaning> FloatMeanings();
std::span<const OpcodeMeaning> HalfMeanings();
std::span<const OpcodeMeaning> ConversionMeanings();
std::span<const OpcodeMeaning> EffectMeanings();

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_MEANING_MEANING_H_
