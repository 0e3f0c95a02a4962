// One PTX instruction as an instruction of the static program.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_STATIC_INSTRUCTION_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_STATIC_INSTRUCTION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tracegen/program/flow.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// Where an instruction stands.
struct TextPlace {
  const ptx::Module& module;
  const ptx::Function& function;
  uint32_t line = 0;  // of the text
  uint32_t id = 0;    // number of the instruction in the module, from 1
};

// A name that says what a register holds, as those of LLVM's text do, with a number that is its own.
std::string CanonicalName(const ptx::Function& function, uint32_t number);

// Calls `visit` with each operand that is a register, in order; elements of vectors and addresses are operands, too.
template <typename Visit>
void ForEachRegister(const ptx::Operand& operand, const Visit& visit) {
  if (operand.kind == ptx::Operand::Kind::kRegister) visit(operand);
  for (const ptx::Operand& element : operand.elements) ForEachRegister(element, visit);
}

// The parameter variable of the function's body that `ld.param` or `st.param` is about; nothing for others.
std::optional<uint32_t> ParameterVariable(const ptx::Instruction& instruction);

// Everything but calls. Errors: an instruction without a class; an asynchronous one that a trace does not have.
absl::StatusOr<FlowInstruction> StaticInstruction(const TextPlace& place, const ptx::Instruction& instruction);

// A call of a function of the text or of one in a register (`callee` is null): its name, registers and number.
FlowInstruction StaticCall(const TextPlace& place, const ptx::Instruction& call, const ptx::Function* callee);

// A call of a function that the text only declares: one instruction for all that the function does. Errors: a function
// that is not known.
absl::StatusOr<FlowInstruction> StaticLibraryCall(const TextPlace& place, const ptx::Instruction& call,
                                                  const ptx::Function& callee);

// The return that stands at the end of a body without one. `id` is its number.
FlowInstruction StaticReturn(const ptx::Function& function, uint32_t id);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_STATIC_INSTRUCTION_H_
