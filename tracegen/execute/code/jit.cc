#include "tracegen/execute/code/jit.h"

#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "tracegen/execute/code/math_library.h"
#include "tracegen/execute/code/runtime_functions.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {
namespace {

constexpr char kProcessor[] = "x86-64-v3";

const absl::flat_hash_map<std::string, void*>& Functions() {
  static const auto& functions = *new absl::flat_hash_map<std::string, void*>([] {
    absl::flat_hash_map<std::string, void*> all;
    for (const auto& [name, address] : RuntimeFunctions()) all[name] = address;
    for (const auto& [name, address] : MathLibrary()) all[name] = address;
    return all;
  }());
  return functions;
}

absl::Status Wrap(llvm::Error error, const std::string& kernel) {
  return absl::InternalError(absl::StrCat("kernel '", trace::BriefKernelName(kernel),
                                          "' cannot be compiled for the host: ", llvm::toString(std::move(error))));
}

// Names that the kernel calls and nobody defines.
absl::Status CheckDeclarations(const InstrumentedKernel& kernel) {
  for (const llvm::Function& function : *kernel.module) {
    if (!function.isDeclaration() || function.isIntrinsic()) continue;
    if (Functions().contains(function.getName().str())) continue;
    std::string name = function.getName().str();
    return absl::UnimplementedError(absl::StrCat("kernel '", trace::BriefKernelName(kernel.name),
                                                 "': the device function '", name, "' is not supported"));
  }
  for (const llvm::GlobalVariable& variable : kernel.module->globals()) {
    if (variable.isDeclaration()) {
      return absl::UnimplementedError(absl::StrCat("kernel '", trace::BriefKernelName(kernel.name), "': the variable '",
                                                   variable.getName().str(), "' is declared but not defined"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

struct CompiledKernel::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

CompiledKernel::CompiledKernel() : state_(std::make_unique<State>()) {}
CompiledKernel::~CompiledKernel() = default;

absl::Status CheckProcessor() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  for (const char* feature : {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}) {
    if (!features.lookup(feature)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "this processor lacks '", feature,
          "': capture needs x86-64-v3 (Haswell, Zen or newer), because traces must not depend on the host"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CompiledKernel>> CompileForHost(InstrumentedKernel& kernel) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  HEDDLE_RETURN_IF_ERROR(CheckDeclarations(kernel));
  llvm::orc::JITTargetMachineBuilder machine(llvm::Triple("x86_64-unknown-linux-gnu"));
  machine.setCPU(kProcessor);
  machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  machine.setRelocationModel(llvm::Reloc::PIC_);
  // The canonical IR is fused already, as the PTX is.
  machine.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create();
  if (!jit) return Wrap(jit.takeError(), kernel.name);
  kernel.module->setDataLayout((*jit)->getDataLayout());
  llvm::orc::MangleAndInterner mangle((*jit)->getExecutionSession(), (*jit)->getDataLayout());
  llvm::orc::SymbolMap symbols;
  for (const auto& [name, address] : Functions()) {
    symbols[mangle(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                             llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  if (llvm::Error error = (*jit)->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)))) {
    return Wrap(std::move(error), kernel.name);
  }
  if (llvm::Error error =
          (*jit)->addIRModule(llvm::orc::ThreadSafeModule(std::move(kernel.module), std::move(kernel.context)))) {
    return Wrap(std::move(error), kernel.name);
  }
  auto entry = (*jit)->lookup(kernel.entry);
  if (!entry) return Wrap(entry.takeError(), kernel.name);
  std::unique_ptr<CompiledKernel> result(new CompiledKernel);
  result->state_->jit = std::move(*jit);
  result->entry_ = entry->toPtr<KernelEntry>();
  return result;
}

}  // namespace heddle::tracegen
