#include "tracegen/frontend/libdevice.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "tracegen/program/codegen.h"
#include "tracegen/program/compiled/error_collector.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

bool IsOfLibdevice(const llvm::Function& function) {
  return function.isDeclaration() && function.getName().starts_with("__nv_") && !function.use_empty();
}

absl::Status Refuse(const std::string& path, const std::string& what) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", CutText(Printable(what), 200)));
}

absl::StatusOr<std::unique_ptr<llvm::Module>> ReadLibrary(const std::string& path, const llvm::Module& user) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> bytes = llvm::MemoryBuffer::getFile(path);
  if (!bytes) return Refuse(path, bytes.getError().message());
  llvm::Expected<std::unique_ptr<llvm::Module>> library =
      llvm::parseBitcodeFile((*bytes)->getMemBufferRef(), user.getContext());
  if (!library) {
    return Refuse(path, absl::StrCat("not bitcode that LLVM 19 reads: ", llvm::toString(library.takeError())));
  }
  // It is for any program of the device.
  (*library)->setTargetTriple(user.getTargetTriple());
  (*library)->setDataLayout(user.getDataLayout());
  return std::move(*library);
}

void Optimize(llvm::Module& module, llvm::TargetMachine& machine, bool unroll) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = unroll;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loop;
  llvm::FunctionAnalysisManager function;
  llvm::CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager analyses;
  builder.registerModuleAnalyses(analyses);
  builder.registerCGSCCAnalyses(cgscc);
  builder.registerFunctionAnalyses(function);
  builder.registerLoopAnalyses(loop);
  builder.crossRegisterProxies(loop, function, cgscc, analyses);
  // What the library asks of the program (__nvvm_reflect) is answered by the device's own passes at its beginning.
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, analyses);
}

}  // namespace

bool CallsLibdevice(const llvm::Module& module) {
  return llvm::any_of(module, [](const llvm::Function& function) { return IsOfLibdevice(function); });
}

absl::Status LinkLibdevice(llvm::Module& module, const std::string& path, const std::string& target, bool unroll) {
  HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine, MakeTargetMachine(target));
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> library, ReadLibrary(path, module));
  for (const llvm::Function& function : module) {
    if (!IsOfLibdevice(function)) continue;
    const llvm::Function* found = library->getFunction(function.getName());
    if (found == nullptr || found->isDeclaration()) {
      return Refuse(path, absl::StrCat("it has no function ", function.getName().str()));
    }
  }
  std::string error;
  module.getContext().setDiagnosticHandler(std::make_unique<ErrorCollector>(&error));
  const bool failed = llvm::Linker::linkModules(module, std::move(library), llvm::Linker::Flags::LinkOnlyNeeded,
                                                [](llvm::Module& linked, const llvm::StringSet<>& names) {
                                                  llvm::internalizeModule(linked, [&](const llvm::GlobalValue& value) {
                                                    return !value.hasName() || !names.contains(value.getName());
                                                  });
                                                });
  if (!failed) Optimize(module, *machine, unroll);
  module.getContext().setDiagnosticHandler(nullptr);
  if (failed || !error.empty()) return Refuse(path, absl::StrCat("LLVM cannot link it to the kernels: ", error));
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
