#include "tracegen/program/scalarize.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"

namespace heddle::tracegen {
namespace {

// One access per element in place of `access` (a load or a store of vectors), if its alignment asks for that.
void SplitUnaligned(llvm::Instruction& access) {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&access);
  auto* store = llvm::dyn_cast<llvm::StoreInst>(&access);
  if (load == nullptr && store == nullptr) return;
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(llvm::getLoadStoreType(&access));
  if (type == nullptr) return;
  const llvm::DataLayout& layout = access.getModule()->getDataLayout();
  const uint64_t bytes = layout.getTypeStoreSize(type->getElementType());
  const llvm::Align align = llvm::getLoadStoreAlignment(&access);
  if (align.value() >= bytes * type->getNumElements() || layout.getTypeSizeInBits(type->getElementType()) % 8 != 0) {
    return;
  }
  llvm::IRBuilder<> builder(&access);
  llvm::Value* pointer = llvm::getLoadStorePointerOperand(&access);
  llvm::Value* loaded = llvm::PoisonValue::get(type);
  for (uint64_t i = 0; i < type->getNumElements(); ++i) {
    llvm::Value* place = i == 0 ? pointer : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), pointer, i * bytes);
    const llvm::Align aligned = llvm::commonAlignment(align, i * bytes);
    if (load != nullptr) {
      llvm::LoadInst* part = builder.CreateAlignedLoad(type->getElementType(), place, aligned, load->isVolatile());
      part->copyMetadata(access, {llvm::LLVMContext::MD_invariant_load});
      loaded = builder.CreateInsertElement(loaded, part, i);
    } else {
      builder.CreateAlignedStore(builder.CreateExtractElement(store->getValueOperand(), i), place, aligned,
                                 store->isVolatile());
    }
  }
  if (load != nullptr) access.replaceAllUsesWith(loaded);
  access.eraseFromParent();
}

// Gives every instruction a number of its own again; copies of one stand for the same place in the source.
void Renumber(CanonicalModule& canonical) {
  const std::vector<SourceLine> before = std::exchange(canonical.lines, {});
  for (llvm::Function& function : *canonical.module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const uint32_t old = instruction.getDebugLoc() ? instruction.getDebugLoc().getLine() : 0;
      canonical.lines.push_back(old == 0 ? SourceLine() : before[old - 1]);
      instruction.setDebugLoc(llvm::DILocation::get(
          instruction.getContext(), static_cast<unsigned>(canonical.lines.size()), 0, function.getSubprogram()));
    }
  }
}

}  // namespace

void ScalarizeVectors(CanonicalModule& canonical, const llvm::DenseSet<const llvm::Function*>& functions,
                      llvm::TargetMachine& machine) {
  // What was kept in place had another form. The search for it begins again.
  for (llvm::Function& function : *canonical.module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (canonical.made_volatile.count(instruction.getDebugLoc().getLine()) == 0) continue;
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) load->setVolatile(false);
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) store->setVolatile(false);
    }
  }
  canonical.made_volatile.clear();
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loop;
  llvm::FunctionAnalysisManager analyses;
  llvm::CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager module;
  builder.registerModuleAnalyses(module);
  builder.registerCGSCCAnalyses(cgscc);
  builder.registerFunctionAnalyses(analyses);
  builder.registerLoopAnalyses(loop);
  builder.crossRegisterProxies(loop, analyses, cgscc, module);
  for (llvm::Function& function : *canonical.module) {
    if (!functions.contains(&function)) continue;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      SplitUnaligned(instruction);
    }
    llvm::FunctionPassManager passes;
    llvm::ScalarizerPassOptions options;
    options.ScalarizeLoadStore = false;
    passes.addPass(llvm::ScalarizerPass(options));
    passes.addPass(llvm::DCEPass());
    passes.run(function, analyses);
  }
  Renumber(canonical);
}

}  // namespace heddle::tracegen
