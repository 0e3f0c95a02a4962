// What the lowering of one function works with, and the operands of its instructions.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_STEP_CONTEXT_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_STEP_CONTEXT_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "tracegen/program/ptx_source/registers.h"
#include "tracegen/program/ptx_source/variables.h"
#include "tracegen/program/ptx_source/windows.h"
#include "tracegen/ptx/meaning/emission.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// What a function is lowered for. For the code generator, instructions become statements of their own where they can
// (statement.h); the end of a thread is the text that says so.
enum class LoweringPurpose { kExecution, kCodeGenerator };

struct ModuleContext {
  const ptx::Module& source;
  llvm::Module& module;
  const PtxVariables& variables;
  std::vector<llvm::Function*> functions;  // by Module::functions
  LoweringPurpose purpose = LoweringPurpose::kExecution;
};

// Where a symbol lies: a pointer in its address space; a number for local memory, so that no pass takes it for a
// variable that could be promoted; or a parameter.
struct SymbolPlace {
  llvm::Value* pointer = nullptr;
  llvm::Value* number = nullptr;
  const ParameterBlock* block = nullptr;
};

class FunctionOperands final : public ptx::OperandAccess {
 public:
  FunctionOperands(const ModuleContext& in, uint32_t index, llvm::IRBuilder<>& b, llvm::Instruction* entry)
      : b_(b), in_(in), index_(index), registers_(in.source.functions[index], entry) {}

  llvm::Value* Read(const ptx::Operand& operand, llvm::Type* type) override;
  void Write(const ptx::Operand& operand, llvm::Value* value, bool is_signed) override;
  llvm::Value* ReadCarry() override;
  void WriteCarry(llvm::Value* carry) override;

  // The value of a predicate operand: of a guard, say.
  llvm::Value* Predicate(const ptx::Operand& operand) { return Read(operand, b_.getInt1Ty()); }
  // Until the next call, what is written is chosen by this value; null: always written.
  void SetGuard(llvm::Value* guard) { guard_ = guard; }
  llvm::Value* guard() const { return guard_; }

  SymbolPlace Place(const ptx::Operand& symbol) const;
  // The address of a symbol in its own state space, as a number of 64 bits.
  llvm::Value* AddressOf(const ptx::Operand& symbol);
  // Of an operand in brackets: the pointer that an access to the state space uses (kNone: generic). Null for parameters
  // that are no memory.
  llvm::Value* Pointer(const ptx::Operand& address, ptx::StateSpace space);

  Registers& registers() { return registers_; }
  const ptx::Function& source() const { return in_.source.functions[index_]; }
  const ModuleContext& module() const { return in_; }
  llvm::IRBuilder<>& builder() { return b_; }
  // Blocks of parameters, by kind and number; locals by number.
  std::map<std::pair<ptx::SymbolKind, uint32_t>, ParameterBlock> blocks;
  std::map<uint32_t, llvm::Value*> locals;  // addresses of local memory
  // What could not be read, for messages; empty if nothing.
  std::string failure;

 private:
  llvm::Value* Special(const ptx::Operand& operand, llvm::Type* type);
  llvm::Value* SpecialNumber(std::string_view name, std::string_view selector);
  llvm::Value* Fail(const std::string& what, llvm::Type* type);

  llvm::IRBuilder<>& b_;
  const ModuleContext& in_;
  const uint32_t index_;
  Registers registers_;
  llvm::Value* guard_ = nullptr;
};

// One instruction that is lowered.
struct StepContext {
  FunctionOperands& operands;
  ptx::Emission& e;
  const ptx::Instruction& at;
  llvm::IRBuilder<>& b;
};

// Each returns false if the instruction is not one of its own, or not known in this form. `access` receives the IR
// instruction that makes the access which the static program has, if there is one.
bool LowerMemory(StepContext& step, llvm::Instruction** access);
bool LowerAtomic(StepContext& step, llvm::Instruction** access);
bool LowerImageAccess(StepContext& step, llvm::Instruction** access);
bool LowerMeeting(StepContext& step);
bool LowerMatrix(StepContext& step, llvm::Instruction** access);
// `access`: the marker of the values that threads record, see operand_marker.h.
bool LowerAsynchronous(StepContext& step, llvm::Instruction** access);
bool LowerMove(StepContext& step);
// Errors: why the call cannot be made; the instruction's text is left to the caller.
absl::Status LowerCall(StepContext& step);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_STEP_CONTEXT_H_
