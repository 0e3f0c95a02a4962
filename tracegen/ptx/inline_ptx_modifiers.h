// Which modifiers the instructions of inline PTX may have, so that none is passed over that changes a result.
#ifndef HEDDLE_TRACEGEN_PTX_INLINE_PTX_MODIFIERS_H_
#define HEDDLE_TRACEGEN_PTX_INLINE_PTX_MODIFIERS_H_

#include <string>
#include <string_view>

#include "tracegen/ptx/inline_ptx.h"

namespace heddle::tracegen {

// Whether the opcode has only types, and modifiers whose meaning is known for this instruction.
bool HasKnownModifiers(const InlineInstruction& instruction);

// "vadd" for vadd2 and vadd4, and so on: what is done to the lanes of a word. Empty for other instructions.
std::string LaneOperation(std::string_view base);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PTX_INLINE_PTX_MODIFIERS_H_
