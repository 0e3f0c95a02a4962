#include "tracegen/program/ptx_source/variables.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/IR/Constants.h"
#include "tracegen/program/managed.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using ptx::StateSpace;

constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3, kConstantSpace = 4;

bool IsPlaced(const ptx::Variable& variable) {
  return variable.space != StateSpace::kLocal && variable.space != StateSpace::kParam &&
         variable.space != StateSpace::kReg;
}

void PutBytes(uint64_t bits, uint64_t bytes, uint64_t at, std::string& out) {
  for (uint64_t i = 0; i < bytes && i < 8; ++i) out[at + i] = static_cast<char>(bits >> (8 * i));
}

}  // namespace

absl::Status PtxVariables::Error(const ptx::Variable& variable, absl::string_view what) const {
  return absl::UnimplementedError(
      absl::StrCat(source_.Where(variable.part, variable.line), ": variable '", variable.name, "': ", what));
}

absl::StatusOr<llvm::GlobalVariable*> PtxVariables::Make(const ptx::Variable& variable) {
  llvm::LLVMContext& context = module_.getContext();
  const std::string& name = variable.name;
  if (variable.IsReference()) {
    // Holds the handle of what is bound to it.
    auto* made = new llvm::GlobalVariable(module_, llvm::Type::getInt64Ty(context), /*isConstant=*/false,
                                          llvm::GlobalValue::ExternalLinkage,
                                          llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), 0), name, nullptr,
                                          llvm::GlobalValue::NotThreadLocal, kGlobalSpace);
    made->setAlignment(llvm::Align(8));
    return made;
  }
  unsigned space = kGlobalSpace;
  switch (variable.space) {
    case StateSpace::kGlobal:
      break;
    case StateSpace::kShared:
      space = kSharedSpace;
      break;
    case StateSpace::kConst:
      space = kConstantSpace;
      break;
    default:
      return Error(variable, "variables of this state space are not supported here");
  }
  const bool is_extern = variable.linkage == ptx::Linkage::kExtern;
  llvm::Type* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), variable.Bytes());
  llvm::Constant* initial = nullptr;
  if (!is_extern) {
    initial = space == kSharedSpace ? static_cast<llvm::Constant*>(llvm::UndefValue::get(type))
                                    : llvm::Constant::getNullValue(type);
  }
  auto* made = new llvm::GlobalVariable(module_, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
                                        initial, name, nullptr, llvm::GlobalValue::NotThreadLocal, space);
  made->setAlignment(llvm::Align(std::max<uint64_t>(1, variable.Alignment())));
  if (variable.managed) made->addAttribute(kManagedAttribute);
  return made;
}

absl::Status PtxVariables::Declare() {
  globals_.assign(source_.variables.size(), nullptr);
  for (const ptx::ModuleItem& item : source_.items) {
    if (item.kind == ptx::ModuleItem::Kind::kVariable) {
      HEDDLE_ASSIGN_OR_RETURN(globals_[item.index], Make(source_.variables[item.index]));
    }
    if (item.kind != ptx::ModuleItem::Kind::kDefinition) continue;
    const ptx::Function& function = source_.functions[item.index];
    for (uint32_t i = 0; i < function.variables.size(); ++i) {
      const ptx::Variable& variable = function.variables[i];
      if (!IsPlaced(variable)) continue;
      HEDDLE_ASSIGN_OR_RETURN(of_bodies_[std::make_pair(item.index, i)], Make(variable));
    }
  }
  // Those that are declared elsewhere: inline PTX names variables of the program around it.
  for (size_t i = 0; i < globals_.size(); ++i) {
    if (globals_[i] == nullptr) globals_[i] = module_.getNamedGlobal(source_.variables[i].name);
  }
  return absl::OkStatus();
}

llvm::GlobalVariable* PtxVariables::OfBody(uint32_t function, uint32_t index) const {
  const auto found = of_bodies_.find({function, index});
  return found == of_bodies_.end() ? nullptr : found->second;
}

absl::StatusOr<llvm::Constant*> PtxVariables::Value(const ptx::Variable& variable,
                                                    const std::vector<llvm::Function*>& functions) {
  llvm::LLVMContext& context = module_.getContext();
  std::string bytes(variable.Bytes(), '\0');
  const uint64_t step = std::max<uint64_t>(1, variable.type.bits / 8);
  std::vector<std::pair<uint64_t, llvm::Constant*>> addresses;  // offset and value
  for (const ptx::InitialValue& value : variable.initial) {
    const uint64_t at = value.element * step;
    if (at + step > bytes.size()) return Error(variable, "an initial value beyond its end");
    if (value.kind != ptx::InitialValue::Kind::kAddress) {
      PutBytes(value.bits, step, at, bytes);
      continue;
    }
    if (value.mask != 0 || step != 8) return Error(variable, "a part of an address as its initial value");
    llvm::Constant* base = value.symbol == ptx::SymbolKind::kFunction
                               ? static_cast<llvm::Constant*>(functions[value.index])
                               : static_cast<llvm::Constant*>(globals_[value.index]);
    if (base == nullptr) return Error(variable, "the address of what has none as its initial value");
    if (value.addend != 0) {
      base = llvm::ConstantExpr::getGetElementPtr(
          llvm::Type::getInt8Ty(context), base,
          llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), static_cast<uint64_t>(value.addend), true));
    }
    addresses.emplace_back(
        at, llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(base, llvm::PointerType::get(context, 0)));
  }
  auto piece = [&](uint64_t from, uint64_t to) {
    return llvm::ConstantDataArray::getString(context, llvm::StringRef(bytes).substr(from, to - from), false);
  };
  if (addresses.empty()) return piece(0, bytes.size());
  std::vector<llvm::Constant*> parts;
  uint64_t end = 0;
  for (const auto& [at, address] : addresses) {
    if (at > end) parts.push_back(piece(end, at));
    parts.push_back(address);
    end = at + 8;
  }
  if (end < bytes.size()) parts.push_back(piece(end, bytes.size()));
  return llvm::ConstantStruct::getAnon(context, parts, /*Packed=*/true);
}

absl::Status PtxVariables::Initialize(const std::vector<llvm::Function*>& functions) {
  const auto initialize = [&](const ptx::Variable& variable, llvm::GlobalVariable*& global) -> absl::Status {
    if (global == nullptr || variable.initial.empty() || variable.IsReference()) {
      return absl::OkStatus();
    }
    if (variable.space == StateSpace::kShared) return Error(variable, "shared memory has no initial values");
    HEDDLE_ASSIGN_OR_RETURN(llvm::Constant * value, Value(variable, functions));
    if (value->getType() == global->getValueType()) {
      global->setInitializer(value);
      return absl::OkStatus();
    }
    auto* made = new llvm::GlobalVariable(module_, value->getType(), false, llvm::GlobalValue::ExternalLinkage, value,
                                          "", global, llvm::GlobalValue::NotThreadLocal, global->getAddressSpace());
    made->setAlignment(global->getAlign());
    made->takeName(global);
    global->replaceAllUsesWith(made);
    global->eraseFromParent();
    global = made;
    return absl::OkStatus();
  };
  for (uint32_t i = 0; i < globals_.size(); ++i) {
    HEDDLE_RETURN_IF_ERROR(initialize(source_.variables[i], globals_[i]));
  }
  for (auto& [place, global] : of_bodies_) {
    HEDDLE_RETURN_IF_ERROR(initialize(source_.functions[place.first].variables[place.second], global));
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
