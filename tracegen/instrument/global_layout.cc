#include "tracegen/instrument/global_layout.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Operator.h"
#include "tracegen/instrument/thread_context.h"
#include "tracegen/program/device_calls.h"
#include "tracegen/program/managed.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

// Writes the bytes of constants as the device sees them.
class ConstantWriter {
 public:
  ConstantWriter(const llvm::Module& module, const llvm::DenseMap<const llvm::GlobalVariable*, uint64_t>& addresses)
      : layout_(module.getDataLayout()), addresses_(addresses), functions_(AddressTakenFunctions(module)) {}

  absl::Status Write(const llvm::Constant* value, std::string& out, uint64_t offset) const {
    if (isa<llvm::UndefValue>(value) || value->isNullValue()) return absl::OkStatus();
    llvm::Type* type = value->getType();
    if (auto* number = dyn_cast<llvm::ConstantInt>(value)) {
      llvm::APInt bits = number->getValue();
      Store(bits, layout_.getTypeStoreSize(type), out, offset);
      return absl::OkStatus();
    }
    if (auto* number = dyn_cast<llvm::ConstantFP>(value)) {
      Store(number->getValueAPF().bitcastToAPInt(), layout_.getTypeStoreSize(type), out, offset);
      return absl::OkStatus();
    }
    if (auto* data = dyn_cast<llvm::ConstantDataSequential>(value)) {
      uint64_t step = layout_.getTypeAllocSize(data->getElementType());
      for (unsigned i = 0; i < data->getNumElements(); ++i) {
        HEDDLE_RETURN_IF_ERROR(Write(data->getElementAsConstant(i), out, offset + i * step));
      }
      return absl::OkStatus();
    }
    if (auto* aggregate = dyn_cast<llvm::ConstantAggregate>(value)) {
      for (unsigned i = 0; i < aggregate->getNumOperands(); ++i) {
        uint64_t at = offset;
        if (auto* structure = dyn_cast<llvm::StructType>(type)) {
          at += layout_.getStructLayout(structure)->getElementOffset(i);
        } else {
          at += i * layout_.getTypeAllocSize(aggregate->getOperand(i)->getType());
        }
        HEDDLE_RETURN_IF_ERROR(Write(aggregate->getOperand(i), out, at));
      }
      return absl::OkStatus();
    }
    if (type->isPointerTy() || type->isIntegerTy(64)) {
      HEDDLE_ASSIGN_OR_RETURN(uint64_t address, Address(value));
      Store(llvm::APInt(64, address), 8, out, offset);
      return absl::OkStatus();
    }
    return absl::UnimplementedError("an initial value of a kind that is not supported");
  }

 private:
  absl::StatusOr<uint64_t> Address(const llvm::Constant* value) const {
    if (auto* variable = dyn_cast<llvm::GlobalVariable>(value)) {
      auto found = addresses_.find(variable);
      if (found == addresses_.end()) return absl::UnimplementedError("the address of a shared variable");
      return found->second;
    }
    if (auto* function = dyn_cast<llvm::Function>(value)) {
      // Not found: a function without a body (a pure virtual one); calling it fails as a null pointer does.
      const auto found = std::find(functions_.begin(), functions_.end(), function);
      return found == functions_.end()
                 ? 0
                 : kFunctionBase + static_cast<uint64_t>(found - functions_.begin() + 1) * kFunctionStep;
    }
    if (auto* expression = dyn_cast<llvm::ConstantExpr>(value)) {
      if (expression->isCast()) return Address(expression->getOperand(0));
      if (auto* element = dyn_cast<llvm::GEPOperator>(expression)) {
        llvm::APInt offset(layout_.getIndexTypeSizeInBits(element->getType()), 0);
        if (element->accumulateConstantOffset(layout_, offset)) {
          absl::StatusOr<uint64_t> base = Address(cast<llvm::Constant>(element->getPointerOperand()));
          if (!base.ok()) return base;
          return *base + offset.getSExtValue();
        }
      }
    }
    if (auto* number = dyn_cast<llvm::ConstantInt>(value)) return number->getZExtValue();
    if (value->isNullValue()) return 0;
    return absl::UnimplementedError("a computed address");
  }

  static void Store(const llvm::APInt& bits, uint64_t bytes, std::string& out, uint64_t offset) {
    llvm::APInt wide = bits.zextOrTrunc(static_cast<unsigned>(bytes * 8));
    for (uint64_t i = 0; i < bytes; ++i) {
      out[offset + i] = static_cast<char>(wide.extractBitsAsZExtValue(8, static_cast<unsigned>(i * 8)));
    }
  }

  const llvm::DataLayout& layout_;
  const llvm::DenseMap<const llvm::GlobalVariable*, uint64_t>& addresses_;
  const std::vector<const llvm::Function*> functions_;
};

bool IsPlaced(const llvm::GlobalVariable& variable) {
  return variable.getAddressSpace() != 3 && !variable.getName().starts_with("llvm.") && !variable.isDeclaration();
}

}  // namespace

std::string SourceName(llvm::StringRef symbol) {
  // Internal variables that the host must reach carry a suffix of the compiler.
  size_t suffix = symbol.find("__static__");
  std::string name = llvm::demangle(symbol.substr(0, suffix == llvm::StringRef::npos ? symbol.size() : suffix).str());
  return name;
}

const PlacedGlobal* GlobalLayout::FindSymbol(const std::string& symbol) const {
  for (const PlacedGlobal& global : globals) {
    if (global.symbol == symbol) return &global;
  }
  return nullptr;
}

const PlacedGlobal* GlobalLayout::FindName(const std::string& name) const {
  for (const PlacedGlobal& global : globals) {
    if (global.name == name) return &global;
  }
  return FindSymbol(name);
}

absl::StatusOr<GlobalLayout> PlaceGlobals(
    const llvm::Module& module,
    const std::function<absl::StatusOr<uint64_t>(uint64_t bytes, const std::string& name)>& allocate,
    GlobalLayout placed) {
  const llvm::DataLayout& layout = module.getDataLayout();
  GlobalLayout result = std::move(placed);
  size_t next = result.globals.size();
  llvm::DenseMap<const llvm::GlobalVariable*, uint64_t> addresses;
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (!IsPlaced(variable)) continue;
    if (const PlacedGlobal* before = result.FindSymbol(variable.getName().str())) {
      addresses[&variable] = before->address;
      continue;
    }
    PlacedGlobal fresh;
    fresh.symbol = variable.getName().str();
    fresh.name = SourceName(variable.getName());
    fresh.bytes = layout.getTypeAllocSize(variable.getValueType());
    fresh.constant = variable.getAddressSpace() == 4;
    fresh.managed = variable.hasAttribute(kManagedAttribute);
    uint64_t alignment = std::max<uint64_t>(layout.getPreferredAlign(&variable).value(), 16);
    if (fresh.constant) {
      result.constant_bytes = (result.constant_bytes + alignment - 1) / alignment * alignment;
      fresh.address = kConstantBase + result.constant_bytes;
      result.constant_bytes += fresh.bytes;
      if (result.constant_bytes > kConstantBytes) {
        return absl::ResourceExhaustedError(absl::StrCat("constant variables need ", result.constant_bytes,
                                                         " bytes, but constant memory has ", kConstantBytes));
      }
    } else {
      HEDDLE_ASSIGN_OR_RETURN(uint64_t address, allocate(fresh.bytes, fresh.name));
      fresh.address = address;
    }
    addresses[&variable] = fresh.address;
    result.globals.push_back(std::move(fresh));
  }
  ConstantWriter writer(module, addresses);
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (!IsPlaced(variable) || next == result.globals.size()) continue;
    PlacedGlobal& fresh = result.globals[next];
    if (fresh.symbol != variable.getName()) continue;  // placed before
    ++next;
    fresh.contents.assign(fresh.bytes, '\0');
    if (absl::Status status = writer.Write(variable.getInitializer(), fresh.contents, 0); !status.ok()) {
      return absl::UnimplementedError(absl::StrCat("variable '", fresh.name, "' is initialised with ", status.message(),
                                                   ", which is not supported"));
    }
  }
  return result;
}

}  // namespace heddle::tracegen
