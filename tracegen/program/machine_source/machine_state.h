// The registers of a function of machine code as variables of LLVM IR that become values, and what it reads beside
// them.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_STATE_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_STATE_H_

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "tracegen/machine/meaning/emission.h"
#include "tracegen/program/machine_source/constant_banks.h"
#include "tracegen/program/machine_source/context.h"

namespace heddle::tracegen {

// Holds what a reduction at a barrier gave until it is read. No register of the architecture, so never handed over.
inline constexpr machine::Register kBarrierResult = {machine::RegisterFile::kConvergence, 255, false};

class MachineState final : public machine::StateAccess {
 public:
  // Values are made where `b` stands, variables at `entry`, in front of which nothing is put later.
  MachineState(const MachineContext& in, uint32_t function, llvm::IRBuilder<>& b, llvm::Instruction* entry)
      : in_(in), b_(b), entry_(entry), banks_(in, function, b) {}

  llvm::Value* Read(const machine::Register& reg) override;
  void Write(const machine::Register& reg, llvm::Value* value) override;
  llvm::Value* Constant(const machine::Operand& operand, uint32_t offset) override;
  llvm::Value* Special(std::string_view name) override;

  // Writes whatever the guard is.
  void Set(const machine::Register& reg, llvm::Value* value);
  // i1: a predicate with its negation.
  llvm::Value* Predicate(const machine::RegisterUse& use);
  // Until the next call, what is written is chosen by this value; null: always written.
  void SetGuard(llvm::Value* guard) { guard_ = guard; }
  // A special register of PTX: "tid.x", "laneid".
  llvm::Value* PtxSpecial(std::string_view name);
  // Whether addresses of shared memory have the rank of a block in its cluster above 24 bits.
  bool has_cluster_addresses() const { return in_.program().architecture == machine::Architecture::kSm90; }
  ConstantBanks& banks() { return banks_; }
  // Turns all variables into values.
  void Promote(llvm::Function& function);

 private:
  llvm::AllocaInst* Of(const machine::Register& reg);

  const MachineContext& in_;
  llvm::IRBuilder<>& b_;
  llvm::Instruction* entry_;
  ConstantBanks banks_;
  std::map<std::pair<machine::RegisterFile, uint8_t>, llvm::AllocaInst*> variables_;
  llvm::Value* guard_ = nullptr;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_STATE_H_
