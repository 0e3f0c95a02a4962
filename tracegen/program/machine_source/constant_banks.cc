#include "tracegen/program/machine_source/constant_banks.h"

#include <algorithm>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/machine/forms/pattern.h"
#include "tracegen/program/ptx_source/windows.h"
#include "tracegen/ptx/inline_ptx.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using machine::Operand;

constexpr uint32_t kLaunchBank = 0, kLiteralBank = 2, kVariableBank = 3, kAddressBank = 4;
constexpr unsigned kConstantSpace = 4;
constexpr int64_t kClusterWords = 0x140;

// Where bank 0 has what differs between architectures.
struct LaunchLayout {
  int64_t environment = 0;  // environment registers, of which there are kEnvironmentWords
  int64_t graph = 0;        // the execution of a graph: 64 bits
  int64_t descriptor = 0;   // describes global memory to its accesses, which do not show it; -1: nothing does
  int64_t parameters = 0;
};
constexpr int64_t kEnvironmentWords = 32;

LaunchLayout LayoutOf(machine::Architecture architecture) {
  switch (architecture) {
    case machine::Architecture::kSm75:
      return {.environment = 0x88, .graph = 0x130, .descriptor = -1, .parameters = 0x160};
    case machine::Architecture::kSm90:
      return {.environment = 0x40, .graph = 0x190, .descriptor = 0x208, .parameters = 0x210};
    default:
      return {.environment = 0x88, .graph = 0x130, .descriptor = 0x118, .parameters = 0x160};
  }
}

bool HasMovingPlace(const Operand& operand) {
  return operand.kind == Operand::Kind::kConstant &&
         ((operand.address.base && !operand.address.base->reg.is_constant) ||
          (operand.address.uniform && !operand.address.uniform->reg.is_constant));
}

}  // namespace

bool ReadsMovingConstant(const machine::Instruction& instruction) {
  return std::any_of(instruction.operands.begin(), instruction.operands.end(), HasMovingPlace);
}

std::vector<int64_t> ParameterWordsOf(const machine::Instruction& instruction, machine::Architecture architecture) {
  const std::span<const machine::OperandPlace> places = machine::OperandPlaces(*instruction.form);
  const uint8_t by_modifiers = machine::RegistersOf(instruction.modifiers);
  std::vector<int64_t> words;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    if (operand.kind != Operand::Kind::kConstant || operand.bank != kLaunchBank || HasMovingPlace(operand)) continue;
    const machine::OperandPlace& place = places[instruction.places[i]];
    const int64_t count = place.kind == 'c' || place.by_modifiers ? by_modifiers : place.count;
    const int64_t first = operand.address.offset.value_or(0) & ~int64_t{3};
    for (int64_t at = first; at < first + 4 * count; at += 4) {
      if (at >= LayoutOf(architecture).parameters) words.push_back(at);
    }
  }
  return words;
}

ConstantBanks::ConstantBanks(const MachineContext& in, uint32_t function, llvm::IRBuilder<>& b)
    : in_(in), function_(function), section_(in.SectionOf(function)), b_(b) {
  if (in.function(function).is_kernel) PlaceParameters();
}

void ConstantBanks::PlaceParameters() {
  const llvm::DataLayout& layout = in_.module.getDataLayout();
  uint64_t end = section_.parameter_offset;
  for (llvm::Argument& argument : in_.functions[function_]->args()) {
    Parameter parameter;
    parameter.argument = &argument;
    parameter.in_memory = argument.hasByValAttr();
    llvm::Type* type = parameter.in_memory ? argument.getParamByValType() : argument.getType();
    parameter.bytes = layout.getTypeAllocSize(type);
    uint64_t alignment = layout.getABITypeAlign(type).value();
    if (argument.getParamAlign()) alignment = std::max(alignment, argument.getParamAlign()->value());
    parameter.offset = (end + alignment - 1) / alignment * alignment;
    end = parameter.offset + parameter.bytes;
    parameters_.push_back(parameter);
  }
}

Value* ConstantBanks::Half(Value* value, bool upper) {
  return b_.CreateTrunc(upper ? b_.CreateLShr(value, 32) : value, b_.getInt32Ty());
}

Value* ConstantBanks::Special(const std::string& name) {
  if (IsUnknownToLlvm(name.substr(0, name.find('.')))) {
    llvm::FunctionType* type = llvm::FunctionType::get(b_.getInt32Ty(), false);
    return b_.CreateCall(in_.module.getOrInsertFunction(absl::StrCat(kSpecialRegisterFunction, name), type));
  }
  const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(absl::StrCat("llvm.nvvm.read.ptx.sreg.", name));
  return b_.CreateCall(llvm::Intrinsic::getDeclaration(&in_.module, id), {});
}

Value* ConstantBanks::Word(uint32_t bank, int64_t at) {
  switch (bank) {
    case kLaunchBank:
      return LaunchWord(at);
    case kLiteralBank:
      return LiteralWord(section_.constants2, at);
    case kVariableBank:
      return VariableWord(at);
    case kAddressBank:
      return AddressWord(at);
    default:
      return nullptr;
  }
}

Value* ConstantBanks::LaunchWord(int64_t at) {
  static constexpr const char* kSizes[] = {"ntid.x", "ntid.y", "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z"};
  const LaunchLayout layout = LayoutOf(in_.program().architecture);
  if (at >= layout.parameters) return ParameterWord(static_cast<uint64_t>(at));
  if (at < 0 || at % 4 != 0) return nullptr;
  if (layout.descriptor >= 0 && (at == layout.descriptor || at == layout.descriptor + 4)) return b_.getInt32(0);
  if (at == layout.graph || at == layout.graph + 4) return b_.getInt32(0);
  if (at >= layout.environment && at < layout.environment + 4 * kEnvironmentWords) {
    return Special(absl::StrCat("envreg", (at - layout.environment) / 4));
  }
  if (in_.program().architecture == machine::Architecture::kSm90 && at >= kClusterWords) return ClusterWord(at);
  if (at < 0x18) return Special(kSizes[at / 4]);
  switch (at) {
    case 0x18:  // where shared memory lies among generic addresses
    case 0x1c:
      return Half(b_.getInt64(kPtxSharedWindow), at == 0x1c);
    case 0x20:  // where local memory lies
    case 0x24:
      return at == 0x20 ? b_.getInt32(0) : Half(window_, true);
    case 0x28:  // the end of the thread's local memory: a kernel's stack pointer
      return end_ == nullptr ? nullptr : Half(end_, false);
    case 0x2c:
      return Special("dynamic_smem_size");
    case 0x30:
      return Special("gridid");
    case 0x34:  // its upper half
      return b_.getInt32(0);
    case 0x10c:
      return Special("nsmid");
    case 0x114:  // shared memory that is not the program's own: what SR_SMEMSZ has more than PTX's %total_smem_size
      return b_.getInt32(0);
    default:
      return nullptr;
  }
}

// How the grid is made of clusters.
Value* ConstantBanks::ClusterWord(int64_t at) {
  static constexpr const char* kAxes[] = {".x", ".y", ".z"};
  if (at == kClusterWords) return Special("is_explicit_cluster");
  if (at == 0x188) return Special("cluster_nctarank");
  const int64_t index = (at - kClusterWords) / 4 - 1;
  if (index < 0 || index >= 9) return nullptr;
  const char* axis = kAxes[index % 3];
  if (index >= 6) return Special(absl::StrCat("nclusterid", axis));
  Value* blocks = Special(absl::StrCat("cluster_nctaid", axis));
  if (index < 3) return blocks;
  // The code multiplies by this in place of a division.
  Value* one = llvm::ConstantFP::get(b_.getFloatTy(), 1.0);
  return b_.CreateBitCast(b_.CreateFDiv(one, b_.CreateUIToFP(blocks, b_.getFloatTy())), b_.getInt32Ty());
}

Value* ConstantBanks::ParameterWord(uint64_t at) {
  if (const auto handed = words_.find(static_cast<int64_t>(at)); handed != words_.end()) return handed->second;
  Value* word = nullptr;
  for (const Parameter& parameter : parameters_) {
    if (parameter.offset >= at + 4 || parameter.offset + parameter.bytes <= at) continue;
    Value* part = nullptr;
    if (parameter.in_memory) {
      // Its bytes within the word.
      const uint64_t from = std::max(at, parameter.offset);
      const uint64_t to = std::min(at + 4, parameter.offset + parameter.bytes);
      Value* pointer = b_.CreatePtrAdd(parameter.argument, b_.getInt64(from - parameter.offset));
      const auto bits = static_cast<unsigned>(8 * (to - from));
      part = b_.CreateAlignedLoad(b_.getIntNTy(bits), pointer, llvm::Align(1));
      part = b_.CreateShl(b_.CreateZExt(part, b_.getInt32Ty()), 8 * (from - at));
    } else {
      Value* value = parameter.argument;
      llvm::Type* number = b_.getIntNTy(static_cast<unsigned>(8 * parameter.bytes));
      value = value->getType()->isPointerTy() ? b_.CreatePtrToInt(value, number) : b_.CreateBitCast(value, number);
      value = b_.CreateZExt(value, b_.getInt64Ty());
      value = at >= parameter.offset ? b_.CreateLShr(value, 8 * (at - parameter.offset))
                                     : b_.CreateShl(value, 8 * (parameter.offset - at));
      part = b_.CreateTrunc(value, b_.getInt32Ty());
    }
    word = word == nullptr ? part : b_.CreateOr(word, part);
  }
  return word;
}

Value* ConstantBanks::LiteralWord(const std::vector<uint8_t>& bytes, int64_t at) {
  if (at < 0 || static_cast<uint64_t>(at) + 4 > bytes.size()) return nullptr;
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word |= uint32_t{bytes[static_cast<size_t>(at) + i]} << (8 * i);
  return b_.getInt32(word);
}

// The host may change variables, so they are read. What lies between them never changes.
Value* ConstantBanks::VariableWord(int64_t at) {
  const std::vector<machine::VariableSymbol>& variables = in_.source.cubin.constant_variables;
  const auto place = static_cast<uint64_t>(at);
  if (at < 0) {
    // In front of the bank: what no thread comes to in a right program. Whoever does reads outside of all variables.
    llvm::GlobalVariable* first = variables.empty() ? nullptr : Variable(variables.front().name);
    return first == nullptr
               ? nullptr
               : b_.CreateLoad(b_.getInt32Ty(), b_.CreatePtrAdd(first, b_.getInt64(place - variables.front().offset)));
  }
  Value* word = nullptr;
  for (const machine::VariableSymbol& symbol : variables) {
    if (symbol.offset >= place + 4 || symbol.offset + symbol.bytes <= place) continue;
    llvm::GlobalVariable* variable = Variable(symbol.name);
    if (variable == nullptr) return nullptr;
    // Its bytes within the word, which several may share.
    const uint64_t from = std::max(place, symbol.offset);
    const uint64_t to = std::min(place + 4, symbol.offset + symbol.bytes);
    Value* pointer = b_.CreatePtrAdd(variable, b_.getInt64(from - symbol.offset));
    Value* part = b_.CreateAlignedLoad(b_.getIntNTy(static_cast<unsigned>(8 * (to - from))), pointer, llvm::Align(1));
    part = b_.CreateShl(b_.CreateZExt(part, b_.getInt32Ty()), 8 * (from - place));
    word = word == nullptr ? part : b_.CreateOr(word, part);
  }
  if (word != nullptr) return word;
  const auto bank = in_.source.cubin.constants.find(kVariableBank);
  return bank == in_.source.cubin.constants.end() ? nullptr : LiteralWord(bank->second, at);
}

Value* ConstantBanks::AddressWord(int64_t at) {
  const auto relocations = in_.source.cubin.constant_relocations.find(kAddressBank);
  const auto bank = in_.source.cubin.constants.find(kAddressBank);
  if (at < 0 || relocations == in_.source.cubin.constant_relocations.end() ||
      bank == in_.source.cubin.constants.end()) {
    return nullptr;
  }
  const auto place = static_cast<uint64_t>(at);
  for (const machine::Relocation& relocation : relocations->second) {
    if (place != relocation.offset && place != relocation.offset + 4) continue;
    llvm::GlobalVariable* variable = Variable(relocation.symbol);
    if (variable == nullptr || relocation.offset + 8 > bank->second.size()) return nullptr;
    // The section itself holds what is added.
    uint64_t added = static_cast<uint64_t>(relocation.addend);
    for (size_t i = 0; i < 8; ++i) added += uint64_t{bank->second[relocation.offset + i]} << (8 * i);
    Value* address = b_.CreateAdd(b_.CreatePtrToInt(variable, b_.getInt64Ty()), b_.getInt64(added));
    return Half(address, place != relocation.offset);
  }
  return nullptr;
}

llvm::GlobalVariable* ConstantBanks::Literals() {
  const std::string name = absl::StrCat("heddle.literals.", section_.function);
  if (llvm::GlobalVariable* made = Variable(name)) return made;
  llvm::Constant* bytes = llvm::ConstantDataArray::get(in_.module.getContext(), section_.constants2);
  auto* made =
      new llvm::GlobalVariable(in_.module, bytes->getType(), /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
                               bytes, name, nullptr, llvm::GlobalValue::NotThreadLocal, kConstantSpace);
  made->setAlignment(llvm::Align(16));
  return made;
}

Value* ConstantBanks::Pointer(uint32_t bank, Value* index, int64_t at) {
  Value* wide = b_.CreateZExt(index, b_.getInt64Ty());
  const auto behind = [&](Value* base, uint64_t offset) {
    return b_.CreatePtrAdd(base, b_.CreateAdd(wide, b_.getInt64(static_cast<uint64_t>(at) - offset)));
  };
  if (bank == kLiteralBank && !section_.constants2.empty()) return behind(Literals(), 0);
  if (bank == kLaunchBank) {
    for (const Parameter& parameter : parameters_) {
      if (!parameter.in_memory || at < static_cast<int64_t>(parameter.offset) ||
          at >= static_cast<int64_t>(parameter.offset + parameter.bytes)) {
        continue;
      }
      return behind(parameter.argument, parameter.offset);
    }
    return nullptr;
  }
  if (bank != kVariableBank) return nullptr;
  // Variables lie elsewhere than in the bank: the one is taken that the place is in.
  Value* place = b_.CreateTrunc(b_.CreateAdd(wide, b_.getInt64(static_cast<uint64_t>(at))), b_.getInt32Ty());
  Value* pointer = nullptr;
  for (const machine::VariableSymbol& symbol : in_.source.cubin.constant_variables) {
    llvm::GlobalVariable* variable = Variable(symbol.name);
    if (variable == nullptr) return nullptr;
    Value* moved = behind(variable, symbol.offset);
    if (pointer == nullptr) {
      pointer = moved;
      continue;
    }
    Value* from_here = b_.CreateICmpUGE(place, b_.getInt32(static_cast<uint32_t>(symbol.offset)));
    pointer = b_.CreateSelect(from_here, moved, pointer);
  }
  return pointer;
}

}  // namespace heddle::tracegen
