#include "tracegen/frontend/bitcode.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "tracegen/frontend/lower_opencl.h"
#include "tracegen/program/managed.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

// Keeps the linker's errors.
struct ErrorKeeper final : llvm::DiagnosticHandler {
  explicit ErrorKeeper(std::string* text) : text(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(*text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    if (!text->empty()) stream << "; ";
    info.print(printer);
    return true;
  }
  std::string* text;
};

// With relocatable device code, clang renames a static variable that the host uses to NAME__static__HASH or
// NAME__intern__HASH, but may leave earlier uses with a declaration of NAME, or with a definition of its own where all
// static variables are kept. All are the same variable, of one size: their types differ where the initial value needs a
// structure of its own.
void ResolveRenamedStatics(llvm::Module& module) {
  llvm::StringMap<llvm::GlobalVariable*> renamed;  // by their names in the source
  for (llvm::GlobalVariable& defined : module.globals()) {
    if (defined.isDeclaration()) continue;
    for (llvm::StringRef mark : {"__static__", "__intern__"}) {
      const size_t at = defined.getName().rfind(mark);
      if (at != llvm::StringRef::npos && at > 0) renamed[defined.getName().substr(0, at)] = &defined;
    }
  }
  if (renamed.empty()) return;
  for (llvm::GlobalVariable& other : llvm::make_early_inc_range(module.globals())) {
    if (!other.hasName() || !(other.isDeclaration() || other.hasLocalLinkage())) continue;
    const auto found = renamed.find(other.getName());
    if (found == renamed.end() || found->second == &other || found->second->getType() != other.getType()) continue;
    other.replaceAllUsesWith(found->second);
    other.eraseFromParent();
  }
}

// Device code that launches kernels knows them by name: see runtime/cuda/include/heddle_cuda_child.h.
void NameLaunchedKernels(llvm::Module& module) {
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (!variable.hasInitializer() || variable.getName().find("17HeddleChildKernel") == llvm::StringRef::npos) continue;
    const auto* kernel = llvm::dyn_cast<llvm::Function>(variable.getInitializer()->stripPointerCasts());
    if (kernel == nullptr || variable.getValueType() != kernel->getType()) continue;
    llvm::Constant* text = llvm::ConstantDataArray::getString(module.getContext(), kernel->getName());
    auto* name = new llvm::GlobalVariable(module, text->getType(), true, llvm::GlobalValue::PrivateLinkage, text,
                                          "heddle.kernel.name");
    name->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    variable.setInitializer(name);
  }
}

// In nvvm.annotations the blocks of a kernel's clusters are cluster_dim_x and its like, as later versions of LLVM have
// them.
void NoteClusters(llvm::Module& module, llvm::Function& kernel, const llvm::Constant& numbers) {
  llvm::LLVMContext& context = module.getContext();
  for (unsigned dimension = 0; dimension < 3; ++dimension) {
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(numbers.getAggregateElement(dimension));
    const uint64_t blocks = number != nullptr ? number->getLimitedValue() : 1;
    llvm::Metadata* operands[] = {
        llvm::ValueAsMetadata::get(&kernel),
        llvm::MDString::get(context, std::string("cluster_dim_") + static_cast<char>('x' + dimension)),
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), blocks))};
    module.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context, operands));
  }
}

// __cluster_dims__, with one to three numbers, and __managed__ are annotations of the source: see heddle_cuda.h and
// host_defines.h in runtime/cuda/include.
void ReadAnnotations(llvm::Module& module) {
  llvm::GlobalVariable* const list = module.getGlobalVariable("llvm.global.annotations");
  if (list == nullptr) return;
  const auto* entries = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer());
  for (unsigned i = 0; entries != nullptr && i < entries->getNumOperands(); ++i) {
    const auto* entry = llvm::dyn_cast<llvm::ConstantStruct>(entries->getOperand(i));
    if (entry == nullptr || entry->getNumOperands() < 5) continue;
    const auto variable_at = [entry](unsigned operand) {
      auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(entry->getOperand(operand)->stripPointerCasts());
      return variable != nullptr && variable->hasInitializer() ? variable : nullptr;
    };
    const llvm::GlobalVariable* const text = variable_at(1);
    const auto* data = text != nullptr ? llvm::dyn_cast<llvm::ConstantDataArray>(text->getInitializer()) : nullptr;
    const llvm::StringRef name = data != nullptr && data->isCString() ? data->getAsCString() : llvm::StringRef();
    auto* const kernel = llvm::dyn_cast<llvm::Function>(entry->getOperand(0)->stripPointerCasts());
    const llvm::GlobalVariable* const values = variable_at(4);
    if (name == "heddle.cluster" && kernel != nullptr && values != nullptr) {
      NoteClusters(module, *kernel, *values->getInitializer());
    }
    auto* const variable = llvm::dyn_cast<llvm::GlobalVariable>(entry->getOperand(0)->stripPointerCasts());
    if (name == "heddle.managed" && variable != nullptr) variable->addAttribute(kManagedAttribute);
  }
  list->eraseFromParent();
}

}  // namespace

absl::StatusOr<std::unique_ptr<llvm::Module>> ReadBitcode(std::string_view bitcode, const std::string& name,
                                                          llvm::LLVMContext& context) {
  llvm::Expected<std::unique_ptr<llvm::Module>> module = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(llvm::StringRef(bitcode.data(), bitcode.size()), llvm::StringRef(name)), context);
  if (!module) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": not LLVM 19 bitcode: ", llvm::toString(module.takeError())));
  }
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(**module, &stream)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": broken bitcode: ", broken.substr(0, broken.find('\n'))));
  }
  const std::string& triple = (*module)->getTargetTriple();
  if (!absl::StartsWith(triple, "nvptx64")) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": bitcode for '", triple, "'; compile it for nvptx64-nvidia-cuda"));
  }
  ResolveRenamedStatics(**module);
  NameLaunchedKernels(**module);
  ReadAnnotations(**module);
  LowerOpenCl(**module);
  return std::move(*module);
}

absl::StatusOr<std::unique_ptr<llvm::Module>> LinkBitcode(const std::vector<std::string_view>& parts,
                                                          const std::string& name, llvm::LLVMContext& context) {
  if (parts.empty()) return absl::InvalidArgumentError(absl::StrCat(name, ": a module without code"));
  std::unique_ptr<llvm::Module> linked;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string part_name = parts.size() == 1 ? name : absl::StrCat(name, ", part ", i + 1);
    HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> part, ReadBitcode(parts[i], part_name, context));
    // The linked module is read again: what is a file's own must not be taken for another file's variable then.
    for (llvm::GlobalVariable& variable : part->globals()) {
      constexpr unsigned kShared = 3;  // which the host never names
      if (!variable.hasInternalLinkage() || variable.getAddressSpace() == kShared) continue;
      if (variable.getName().contains("__static__")) continue;
      variable.setName(absl::StrCat(variable.getName().str(), "__static__part", i + 1));
    }
    if (linked == nullptr) {
      linked = std::move(part);
      continue;
    }
    std::string error;
    std::unique_ptr<llvm::DiagnosticHandler> before = context.getDiagnosticHandler();
    context.setDiagnosticHandler(std::make_unique<ErrorKeeper>(&error));
    const bool failed = llvm::Linker::linkModules(*linked, std::move(part));
    context.setDiagnosticHandler(std::move(before));
    if (failed) return absl::InvalidArgumentError(absl::StrCat("device code cannot be linked: ", error));
  }
  return linked;
}

std::string WriteBitcode(const llvm::Module& module) {
  llvm::SmallVector<char, 0> bytes;
  llvm::BitcodeWriter writer(bytes);
  writer.writeModule(module);
  writer.writeStrtab();
  return std::string(bytes.data(), bytes.size());
}

}  // namespace heddle::tracegen
