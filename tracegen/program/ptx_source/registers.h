// Registers of a PTX function, and the parameters that are passed in it, as variables of LLVM IR that become values.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_REGISTERS_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_REGISTERS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "tracegen/ptx/syntax/function.h"

namespace heddle::tracegen {

// The bits of a value as another type: integers are cut or extended with zeros.
llvm::Value* AsType(llvm::IRBuilder<>& b, llvm::Value* value, llvm::Type* type);

// One register file. Registers are zero before they are written.
class Registers {
 public:
  // Variables are made at `entry`, in front of which nothing is put later.
  Registers(const ptx::Function& source, llvm::Instruction* entry) : source_(source), entry_(entry) {}

  llvm::AllocaInst* Of(const ptx::Operand& operand) { return Of(operand.index, Component(operand)); }
  llvm::AllocaInst* Of(uint32_t number, uint32_t component = 0);
  llvm::AllocaInst* Carry();
  // A variable of the function's own, without a name in PTX.
  llvm::AllocaInst* Make(llvm::Type* type);
  // Registers that hold bits count as floating-point numbers where the function mostly uses them so.
  void ChooseTypes();
  // Turns all variables into values.
  void Promote(llvm::Function& function);

 private:
  static uint32_t Component(const ptx::Operand& operand);
  const ptx::Function& source_;
  llvm::Instruction* entry_;
  std::map<std::pair<uint32_t, uint32_t>, llvm::AllocaInst*> registers_;
  std::vector<bool> is_float_;  // by number
  llvm::AllocaInst* carry_ = nullptr;
  std::vector<llvm::AllocaInst*> all_;
};

// A parameter: words that become values, or memory where its address is taken.
class ParameterBlock {
 public:
  ParameterBlock() = default;
  // Of `type` as PassedType says: an integer, or an array of integers.
  ParameterBlock(Registers& registers, llvm::Type* type);
  // In memory, at a pointer.
  explicit ParameterBlock(llvm::Value* memory) : memory_(memory) {}

  llvm::Value* memory() const { return memory_; }
  // Bits at `offset` bytes; poison outside the block.
  llvm::Value* Load(llvm::IRBuilder<>& b, uint64_t offset, unsigned bits) const;
  void Store(llvm::IRBuilder<>& b, uint64_t offset, llvm::Value* value) const;
  // The whole, as a value of `type` (PassedType's).
  llvm::Value* Whole(llvm::IRBuilder<>& b, llvm::Type* type) const;
  void SetWhole(llvm::IRBuilder<>& b, llvm::Value* value) const;

 private:
  std::vector<llvm::AllocaInst*> words_;
  uint64_t step_ = 1;  // bytes of a word
  llvm::Value* memory_ = nullptr;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_REGISTERS_H_
