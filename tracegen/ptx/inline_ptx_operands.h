// What one statement of inline PTX reads and writes, as values of IR.
#ifndef HEDDLE_TRACEGEN_PTX_INLINE_PTX_OPERANDS_H_
#define HEDDLE_TRACEGEN_PTX_INLINE_PTX_OPERANDS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "tracegen/ptx/inline_ptx.h"

namespace heddle::tracegen {

// Type of an operation, such as u32: width in bits, and how the bits are taken.
struct PtxType {
  unsigned bits = 0;  // 1 for predicates
  bool is_signed = false;
  bool is_float = false;
};

// The type that a part of an opcode names; nothing if it names none, or one that is not known (f16x2, bf16).
std::optional<PtxType> ParsePtxType(absl::string_view part);

// The operands of an asm statement, instruction by instruction: values of registers that the text declares, of inputs
// and of outputs so far. What cannot be read is poison, and failed() says so from then on.
class InlinePtxOperands {
 public:
  explicit InlinePtxOperands(llvm::CallInst& call);

  // Goes on to the next instruction, which has to outlive the calls that are about it, and reads its guard.
  void Take(const InlineInstruction& instruction);
  bool failed() const { return failed_; }

  // What the statement returns: its outputs, one or a structure of them. Null for void.
  llvm::Value* Result();

 protected:
  const InlineInstruction& at() const { return *at_; }
  llvm::CallInst& call() { return call_; }
  bool Has(std::string_view modifier) const { return at_->Has(modifier); }
  // Types that the opcode names, in order; the last one is the operation's.
  const std::vector<PtxType>& types() const { return types_; }
  PtxType Type() const { return types_.empty() ? PtxType{32, false, false} : types_.back(); }
  llvm::Type* TypeOf(const PtxType& type);

  llvm::Value* Read(const InlineOperand& operand, llvm::Type* type);
  llvm::Value* Read(size_t i, const PtxType& type);
  llvm::Value* In(size_t i) { return Read(i, Type()); }  // operand of the operation's own type
  llvm::Value* In32(size_t i) { return Read(i, PtxType{32, false, false}); }
  // A predicate is written as a register of the text, never as an argument.
  llvm::Value* Predicate(size_t i) { return Read(i, PtxType{1, false, false}); }

  // Under the instruction's guard, if it has one. False if nothing can be written there.
  bool Write(const InlineOperand& operand, llvm::Value* value);
  // To the first operand; false also if there is no value.
  bool Out(llvm::Value* value) { return value != nullptr && !at_->operands.empty() && Write(at_->operands[0], value); }

  llvm::Value* Integer(unsigned bits, uint64_t value);
  // A call of an intrinsic; null if LLVM has none of this name, or one with other operands.
  llvm::Value* Intrinsic(const std::string& name, llvm::ArrayRef<llvm::Value*> arguments);
  void Fail() { failed_ = true; }

  llvm::IRBuilder<> builder_;

 private:
  void ReadArguments();
  llvm::Type* OutputType(unsigned i) const;
  // The bits of a value as another type; registers may be wider than what an instruction uses of them.
  llvm::Value* As(llvm::Value* value, llvm::Type* type);
  llvm::Value* Number(const InlineOperand& operand, llvm::Type* type);
  llvm::Value* Special(const InlineOperand& operand, llvm::Type* type);
  llvm::Value* Fail(llvm::Type* type);

  llvm::CallInst& call_;
  std::vector<llvm::Value*> arguments_;  // by number: outputs (null until they have a value), then inputs
  unsigned outputs_ = 0;
  std::map<std::string, llvm::Value*, std::less<>> registers_;
  const InlineInstruction* at_ = nullptr;
  llvm::Value* guard_ = nullptr;  // of the instruction; null: none
  std::vector<PtxType> types_;
  bool failed_ = false;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PTX_INLINE_PTX_OPERANDS_H_
