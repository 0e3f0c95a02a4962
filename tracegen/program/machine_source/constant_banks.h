// Constant banks of machine code, as values.
//
// What lies where was found by assembling PTX that reads it (docs/explanation/machine-level.md):
//   bank 0: what the launch sets, then the kernel's parameters     bank 2: literals of the assembler
//   bank 3: variables in constant memory                          bank 4: addresses of variables in global memory
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_CONSTANT_BANKS_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_CONSTANT_BANKS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "tracegen/program/machine_source/context.h"

namespace heddle::tracegen {

// Whether an instruction reads a constant bank at a place that a register holds, so that it accesses memory. All others
// take a fixed place, as an operand.
bool ReadsMovingConstant(const machine::Instruction& instruction);

// The words of the kernel's parameters in bank 0 that an instruction takes as operands, by place.
std::vector<int64_t> ParameterWordsOf(const machine::Instruction& instruction, machine::Architecture architecture);

class ConstantBanks {
 public:
  // Of one function. Values are made where `b` stands.
  ConstantBanks(const MachineContext& in, uint32_t function, llvm::IRBuilder<>& b);

  // Where local memory lies: the upper half of its addresses, and of a kernel its end. Numbers of 64 bits.
  void SetLocalMemory(llvm::Value* window, llvm::Value* end) { window_ = window, end_ = end; }
  llvm::Value* local_window() const { return window_; }
  // A special register of PTX by its name there: "ntid.x", "cluster_nctaid.y".
  llvm::Value* Special(const std::string& name);

  // Of a function that is no kernel: what it has been handed of the kernel's parameters.
  void SetParameterWord(int64_t at, llvm::Value* word) { words_[at] = word; }

  // 32 bits at a fixed place. Null if nobody knows what is there.
  llvm::Value* Word(uint32_t bank, int64_t at);
  // A pointer to the byte `index` (32 bits) behind a place. Null if the bank has no memory, or if it is not known which
  // parameter of the kernel is meant.
  llvm::Value* Pointer(uint32_t bank, llvm::Value* index, int64_t at);

 private:
  struct Parameter {
    llvm::Argument* argument = nullptr;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    bool in_memory = false;
  };

  void PlaceParameters();
  llvm::Value* LaunchWord(int64_t at);
  llvm::Value* ClusterWord(int64_t at);
  llvm::Value* ParameterWord(uint64_t at);
  llvm::Value* LiteralWord(const std::vector<uint8_t>& bytes, int64_t at);
  llvm::Value* VariableWord(int64_t at);
  llvm::Value* AddressWord(int64_t at);
  llvm::Value* Half(llvm::Value* value, bool upper);
  llvm::GlobalVariable* Literals();
  llvm::GlobalVariable* Variable(const std::string& name) const { return in_.module.getNamedGlobal(name); }

  const MachineContext& in_;
  const uint32_t function_;
  const machine::CodeSection& section_;
  llvm::IRBuilder<>& b_;
  std::vector<Parameter> parameters_;
  std::map<int64_t, llvm::Value*> words_;
  llvm::Value* window_ = nullptr;
  llvm::Value* end_ = nullptr;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_CONSTANT_BANKS_H_
