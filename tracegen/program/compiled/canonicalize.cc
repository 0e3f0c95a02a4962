#include "tracegen/program/compiled/canonicalize.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "tracegen/program/code_index.h"
#include "tracegen/program/codegen.h"
#include "tracegen/program/compiled/error_collector.h"
#include "tracegen/program/compiled/inline_ptx.h"
#include "tracegen/program/compiled/matrix_intrinsics.h"
#include "tracegen/program/flow.h"
#include "tracegen/program/link.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/scalarize.h"
#include "tracegen/program/static_program.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

// Lets the code generator keep an access where the program has it. False if there is nothing to change.
bool MakeVolatile(CanonicalModule& canonical, uint32_t number, llvm::Instruction* instruction) {
  if (instruction == nullptr || !canonical.made_volatile.insert(number).second) return false;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction); load != nullptr && !load->isVolatile()) {
    load->setVolatile(true);
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, nullptr);
    for (const llvm::User* user : load->users()) {
      const auto* named = llvm::cast<llvm::Instruction>(user);
      if (AccessNamedBy(named) == load) canonical.made_volatile.insert(named->getDebugLoc().getLine());
    }
    return true;
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction); store != nullptr && !store->isVolatile()) {
    store->setVolatile(true);
    return true;
  }
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(instruction);
      intrinsic != nullptr && intrinsic->getCalledFunction()->getName().starts_with("llvm.nvvm.ldg.")) {
    llvm::IRBuilder<> builder(intrinsic);
    const auto* align = llvm::dyn_cast<llvm::ConstantInt>(intrinsic->getArgOperand(1));
    auto* load = builder.CreateAlignedLoad(intrinsic->getType(), intrinsic->getArgOperand(0),
                                           llvm::MaybeAlign(align != nullptr ? align->getZExtValue() : 0), true);
    load->setDebugLoc(intrinsic->getDebugLoc());
    intrinsic->replaceAllUsesWith(load);
    intrinsic->eraseFromParent();
    return true;
  }
  return false;
}

// Accesses of the module whose PTX is not where, or what, the IR says.
absl::StatusOr<std::set<uint32_t>> FindMovedAccesses(const CanonicalModule& canonical, const CodeIndex& index) {
  std::set<uint32_t> moved;
  for (const PtxFunction& ptx : index.functions) {
    const llvm::Function* function = canonical.module->getFunction(ptx.name);
    if (function == nullptr)
      return absl::InternalError(absl::StrCat("the PTX has a function ", ptx.name, " of its own"));
    uint32_t failed = 0;
    absl::StatusOr<FlowFunction> flow = BuildFlow(ptx, index.defined, index.indirect, &failed);
    if (!flow.ok()) {
      return absl::Status(flow.status().code(), absl::StrCat(canonical.Where(failed), ": ", flow.status().message()));
    }
    FunctionLinks links;
    absl::Status status = LinkFunction(canonical, *function, *flow, index.by_number, &links, &moved);
    if (!status.ok()) return status;
  }
  return moved;
}

// The functions of the accesses with these numbers; all of the module if one of them is not known.
llvm::DenseSet<const llvm::Function*> FunctionsOf(const CodeIndex& index, const std::set<uint32_t>& numbers) {
  llvm::DenseSet<const llvm::Function*> functions;
  for (uint32_t number = 1; number < index.by_number.size(); ++number) {
    const llvm::Instruction* instruction = index.by_number[number];
    if (instruction == nullptr || !(numbers.contains(0) || numbers.contains(number))) continue;
    functions.insert(instruction->getFunction());
  }
  return functions;
}

}  // namespace

std::string CanonicalModule::Where(uint32_t number) const {
  if (number == 0 || number > lines.size() || lines[number - 1].line == 0) return "an unknown line";
  const SourceLine& line = lines[number - 1];
  return absl::StrCat(source_files[line.file - 1], ":", line.line);
}

std::string CanonicalModule::Where(const llvm::Instruction& instruction) const {
  return Where(instruction.getDebugLoc() ? instruction.getDebugLoc().getLine() : 0);
}

absl::StatusOr<CanonicalModule> Canonicalize(std::unique_ptr<llvm::LLVMContext> context,
                                             std::unique_ptr<llvm::Module> module, const std::string& target) {
  CanonicalModule canonical;
  canonical.context = std::move(context);
  canonical.module = std::move(module);
  canonical.compiler = absl::StrCat("clang ", LLVM_VERSION_STRING);
  canonical.target = target;
  std::string error;
  canonical.context->setDiagnosticHandler(std::make_unique<ErrorCollector>(&error));
  auto check = [&](absl::Status status) {
    if (status.ok() && !error.empty()) status = absl::UnimplementedError(absl::StrCat("LLVM: ", error));
    if (!status.ok()) canonical.context->setDiagnosticHandler(nullptr);
    return status;
  };
  absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = MakeTargetMachine(target);
  if (!machine.ok()) return check(machine.status());
  HEDDLE_RETURN_IF_ERROR(check(PrepareModule(*canonical.module)));
  TranslateMatrixIntrinsics(*canonical.module);
  HEDDLE_RETURN_IF_ERROR(check(TranslateInlinePtx(*canonical.module, target)));
  HEDDLE_RETURN_IF_ERROR(check(RunIrPasses(*canonical.module, **machine)));
  NormalizeModule(*canonical.module, **machine);
  NumberInstructions(canonical);
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*canonical.module, &stream)) {
    return check(absl::InternalError(absl::StrCat("canonical IR is broken: ", broken.substr(0, broken.find('\n')))));
  }
  // Each round keeps at least one more access in place, and few are ever moved.
  bool scalarized = false;
  while (true) {
    absl::StatusOr<std::string> ptx = EmitPtx(*canonical.module, **machine);
    HEDDLE_RETURN_IF_ERROR(check(ptx.status()));
    canonical.ptx = *std::move(ptx);
    absl::StatusOr<CodeIndex> index = IndexCode(*canonical.module, canonical.ptx);
    if (!index.ok()) return check(index.status());
    absl::StatusOr<std::set<uint32_t>> moved = FindMovedAccesses(canonical, *index);
    if (!moved.ok()) return check(moved.status());
    if (moved->empty()) {
      canonical.index = *std::move(index);
      break;
    }
    bool changed = false;
    for (uint32_t number : *moved) {
      auto* instruction = const_cast<llvm::Instruction*>(index->by_number[number]);  // of our own module
      changed |= MakeVolatile(canonical, number, instruction);
    }
    if (!changed && !scalarized) {
      ScalarizeVectors(canonical, FunctionsOf(*index, *moved), **machine);
      changed = scalarized = true;
    }
    if (!changed) {
      return check(absl::UnimplementedError(
          absl::StrCat(canonical.Where(*moved->begin()),
                       ": the memory access cannot be linked to its PTX; please report this kernel")));
    }
  }
  FindUniformBranches(canonical, **machine);
  canonical.context->setDiagnosticHandler(nullptr);
  return canonical;
}

}  // namespace heddle::tracegen
