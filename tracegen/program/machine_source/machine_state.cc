#include "tracegen/program/machine_source/machine_state.h"

#include <string>
#include <vector>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "tracegen/program/machine_source/function_shapes.h"
#include "tracegen/program/ptx_source/windows.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using machine::Register;

struct SpecialName {
  std::string_view name;
  std::string_view ptx;
};
// Those that one special register of PTX has as it is.
constexpr SpecialName kSpecials[] = {
    {"SR_TID.X", "tid.x"},
    {"SR_TID.Y", "tid.y"},
    {"SR_TID.Z", "tid.z"},
    {"SR_CTAID.X", "ctaid.x"},
    {"SR_CTAID.Y", "ctaid.y"},
    {"SR_CTAID.Z", "ctaid.z"},
    {"SR_LANEID", "laneid"},
    {"SR_EQMASK", "lanemask.eq"},
    {"SR_LTMASK", "lanemask.lt"},
    {"SR_LEMASK", "lanemask.le"},
    {"SR_GTMASK", "lanemask.gt"},
    {"SR_GEMASK", "lanemask.ge"},
    {"SR_CLOCKLO", "clock"},
    {"SR_VIRTUALSMID", "smid"},
    {"SR_SMEMSZ", "total_smem_size"},
    {"SR_CgaCtaId", "cluster_ctarank"},
};

}  // namespace

llvm::AllocaInst* MachineState::Of(const Register& reg) {
  llvm::AllocaInst*& variable = variables_[{reg.file, reg.number}];
  if (variable == nullptr) {
    llvm::IRBuilder<> at(entry_);
    variable = at.CreateAlloca(TypeOf(at.getContext(), reg));
    at.CreateStore(llvm::ConstantInt::get(variable->getAllocatedType(), 0), variable);
  }
  return variable;
}

Value* MachineState::Read(const Register& reg) {
  llvm::Type* type = TypeOf(b_.getContext(), reg);
  if (reg.is_constant) return llvm::ConstantInt::get(type, type->isIntegerTy(1) ? 1 : 0);
  return b_.CreateLoad(type, Of(reg));
}

void MachineState::Set(const Register& reg, Value* value) {
  if (!reg.is_constant) b_.CreateStore(value, Of(reg));
}

void MachineState::Write(const Register& reg, Value* value) {
  if (reg.is_constant) return;
  Set(reg, guard_ == nullptr ? value : b_.CreateSelect(guard_, value, Read(reg)));
}

Value* MachineState::Predicate(const machine::RegisterUse& use) {
  Value* value = Read(use.reg);
  return use.sign == '!' ? b_.CreateNot(value) : value;
}

Value* MachineState::Constant(const machine::Operand& operand, uint32_t offset) {
  const machine::Address& address = operand.address;
  if ((address.base && !address.base->reg.is_constant) || (address.uniform && !address.uniform->reg.is_constant)) {
    return nullptr;
  }
  return banks_.Word(operand.bank, address.offset.value_or(0) + offset);
}

Value* MachineState::PtxSpecial(std::string_view name) { return banks_.Special(std::string(name)); }

Value* MachineState::Special(std::string_view name) {
  if (name == "SRZ") return b_.getInt32(0);
  for (const SpecialName& special : kSpecials) {
    if (special.name == name) return PtxSpecial(special.ptx);
  }
  if (name == "SR_CLOCKHI") return b_.CreateTrunc(b_.CreateLShr(PtxSpecial("clock64"), 32), b_.getInt32Ty());
  if (name == "SR_GLOBALTIMERLO") return b_.CreateTrunc(PtxSpecial("globaltimer"), b_.getInt32Ty());
  if (name == "SR_GLOBALTIMERHI") return b_.CreateTrunc(b_.CreateLShr(PtxSpecial("globaltimer"), 32), b_.getInt32Ty());
  // The number of the warp within its block is the second byte; how many there can be likewise.
  if (name == "SR_VIRTID") return b_.CreateShl(PtxSpecial("warpid"), 8);
  if (name == "SR_VIRTCFG") return b_.CreateShl(PtxSpecial("nwarpid"), 8);
  // The upper half of addresses in shared memory.
  if (name == "SR_SWINHI") return b_.getInt32(static_cast<uint32_t>(kPtxSharedWindow >> 32));
  if (name.starts_with("SR_PM")) return b_.getInt32(0);  // counters that nobody has set up
  return nullptr;
}

void MachineState::Promote(llvm::Function& function) {
  std::vector<llvm::AllocaInst*> all;
  for (const auto& [reg, variable] : variables_) all.push_back(variable);
  llvm::DominatorTree dominators(function);
  llvm::PromoteMemToReg(all, dominators);
}

}  // namespace heddle::tracegen
