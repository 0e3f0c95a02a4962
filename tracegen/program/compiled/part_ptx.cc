#include "tracegen/program/compiled/part_ptx.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tracegen/program/codegen.h"
#include "tracegen/program/compiled/error_collector.h"
#include "tracegen/program/compiled/inline_ptx.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/static_program.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {

absl::StatusOr<std::string> PtxOfPart(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module,
                                      const std::string& target) {
  std::string error;
  CanonicalModule canonical;
  canonical.context = std::move(context);
  canonical.module = std::move(module);
  canonical.module->addModuleFlag(llvm::Module::Warning, kPartFlag, 1);
  canonical.context->setDiagnosticHandler(std::make_unique<ErrorCollector>(&error));
  HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine, MakeTargetMachine(target));
  HEDDLE_RETURN_IF_ERROR(PrepareModule(*canonical.module));
  HEDDLE_RETURN_IF_ERROR(TranslateInlinePtx(*canonical.module, target));
  HEDDLE_RETURN_IF_ERROR(RunIrPasses(*canonical.module, *machine));
  NormalizeModule(*canonical.module, *machine);
  NumberInstructions(canonical);
  HEDDLE_ASSIGN_OR_RETURN(canonical.ptx, EmitPtx(*canonical.module, *machine));
  if (!error.empty()) return absl::UnimplementedError(absl::StrCat("LLVM: ", error));
  return SourcePtx(canonical);
}

}  // namespace heddle::tracegen
