#include "tracegen/program/prepare.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "tracegen/program/contraction.h"
#include "tracegen/program/device_calls.h"
#include "tracegen/program/element_alignment.h"
#include "tracegen/program/unaligned_access.h"
#include "tracegen/ptx/opcode.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

constexpr char kUnreachableMark[] = "exit;";  // that LLVM's back end puts in front of `unreachable`, as inline assembly

// Device headers are not what a user wants to see as the place of an instruction: the call into them is.
bool IsDeviceHeader(llvm::StringRef file) {
  const llvm::StringRef base = llvm::sys::path::filename(file);
  return base.starts_with("__clang_cuda_") || base.starts_with("heddle_") || base == "opencl-c.h" ||
         base == "opencl-c-base.h";
}

const llvm::DILocation* UserLocation(const llvm::Instruction& instruction) {
  const llvm::DILocation* location = instruction.getDebugLoc().get();
  while (location != nullptr && location->getInlinedAt() != nullptr && IsDeviceHeader(location->getFilename())) {
    location = location->getInlinedAt();
  }
  return location;
}

std::string SourcePlace(const llvm::Instruction& instruction) {
  const llvm::DILocation* location = UserLocation(instruction);
  if (location == nullptr || location->getLine() == 0) {
    return absl::StrCat("in ", std::string(instruction.getFunction()->getName()));
  }
  return absl::StrCat(std::string(llvm::sys::path::filename(location->getFilename())), ":", location->getLine());
}

absl::Status CheckCall(llvm::CallInst& call) {
  if (call.isInlineAsm()) return absl::OkStatus();
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return absl::OkStatus();  // through a pointer
  if (!callee->isDeclaration() || callee->isIntrinsic()) return absl::OkStatus();
  const llvm::StringRef name = callee->getName();
  const std::string_view text(name.data(), name.size());
  if (MathMicroOps(text) || SystemCallMicroOps(text) || IsFailureCall(name)) return absl::OkStatus();
  if (TranslateImageCall(call) || callee->getParent()->getModuleFlag(kPartFlag) != nullptr) return absl::OkStatus();
  return RefuseAt(call, ExplainUndefined(name));
}

absl::Status CheckInstruction(llvm::Instruction& instruction) {
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return CheckCall(*call);
  if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction); alloca != nullptr && !alloca->isStaticAlloca()) {
    return RefuseAt(instruction, "local arrays of variable size are not supported");
  }
  if (llvm::isa<llvm::InvokeInst, llvm::CallBrInst, llvm::IndirectBrInst>(instruction)) {
    // The computed jumps of a function share one that has no line: then the place is that of what is just before.
    const llvm::Instruction* place = &instruction;
    while (UserLocation(*place) == nullptr && place->getPrevNode() != nullptr) place = place->getPrevNode();
    for (const llvm::BasicBlock* before : llvm::predecessors(instruction.getParent())) {
      if (UserLocation(*place) == nullptr) place = before->getTerminator();
    }
    return RefuseAt(*place, "this kind of control flow is not supported in device code");
  }
  return absl::OkStatus();
}

// Scalars inside an aggregate, with their offsets.
void CollectLeaves(llvm::Type* type, const llvm::DataLayout& layout, uint64_t offset, llvm::SmallVector<unsigned>& path,
                   llvm::function_ref<void(llvm::Type*, uint64_t, llvm::ArrayRef<unsigned>)> visit) {
  if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* fields = layout.getStructLayout(record);
    for (unsigned i = 0; i < record->getNumElements(); ++i) {
      path.push_back(i);
      CollectLeaves(record->getElementType(i), layout, offset + fields->getElementOffset(i), path, visit);
      path.pop_back();
    }
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const uint64_t stride = layout.getTypeAllocSize(array->getElementType());
    for (unsigned i = 0; i < array->getNumElements(); ++i) {
      path.push_back(i);
      CollectLeaves(array->getElementType(), layout, offset + i * stride, path, visit);
      path.pop_back();
    }
  } else {
    visit(type, offset, path);
  }
}

// The code generator takes aggregate accesses apart into scalars; doing it here gives each its own instruction.
void ExpandAggregateAccess(llvm::Instruction& access, const llvm::DataLayout& layout) {
  llvm::IRBuilder<> builder(&access);
  llvm::SmallVector<unsigned> path;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access)) {
    llvm::Value* whole = llvm::PoisonValue::get(load->getType());
    CollectLeaves(
        load->getType(), layout, 0, path, [&](llvm::Type* type, uint64_t offset, llvm::ArrayRef<unsigned> at) {
          llvm::Value* part =
              builder.CreateAlignedLoad(type, builder.CreatePtrAdd(load->getPointerOperand(), builder.getInt64(offset)),
                                        llvm::commonAlignment(load->getAlign(), offset), load->isVolatile());
          whole = builder.CreateInsertValue(whole, part, at);
        });
    load->replaceAllUsesWith(whole);
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&access)) {
    llvm::Value* whole = store->getValueOperand();
    CollectLeaves(whole->getType(), layout, 0, path, [&](llvm::Type*, uint64_t offset, llvm::ArrayRef<unsigned> at) {
      builder.CreateAlignedStore(builder.CreateExtractValue(whole, at),
                                 builder.CreatePtrAdd(store->getPointerOperand(), builder.getInt64(offset)),
                                 llvm::commonAlignment(store->getAlign(), offset), store->isVolatile());
    });
  }
  access.eraseFromParent();
}

// Copies and fills of known small size become the loads and stores that the code generator makes of them: pieces as
// wide as the alignment allows, at most 8 bytes. (Bigger ones are loops by now.)
void ExpandMemoryIntrinsic(llvm::MemIntrinsic& intrinsic) {
  llvm::IRBuilder<> builder(&intrinsic);
  const uint64_t bytes = llvm::cast<llvm::ConstantInt>(intrinsic.getLength())->getZExtValue();
  const llvm::Align to = intrinsic.getDestAlign().valueOrOne();
  auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&intrinsic);
  const llvm::Align from = transfer != nullptr ? transfer->getSourceAlign().valueOrOne() : to;
  struct Piece {
    uint64_t offset;
    uint64_t size;
    llvm::Value* value;
  };
  llvm::SmallVector<Piece> pieces;
  for (uint64_t at = 0; at < bytes;) {
    uint64_t size = std::min<uint64_t>({8, to.value(), from.value()});
    while (size > bytes - at) size /= 2;
    pieces.push_back({at, size, nullptr});
    at += size;
  }
  for (Piece& piece : pieces) {
    llvm::Type* type = builder.getIntNTy(piece.size * 8);
    if (transfer != nullptr) {
      piece.value = builder.CreateAlignedLoad(
          type, builder.CreatePtrAdd(transfer->getRawSource(), builder.getInt64(piece.offset)),
          llvm::commonAlignment(from, piece.offset), intrinsic.isVolatile());
    } else {
      llvm::Value* byte = builder.CreateZExt(llvm::cast<llvm::MemSetInst>(intrinsic).getValue(), type);
      const uint64_t ones = 0x0101010101010101u >> (64 - piece.size * 8);
      piece.value = builder.CreateMul(byte, llvm::ConstantInt::get(type, ones));
    }
  }
  for (const Piece& piece : pieces) {
    builder.CreateAlignedStore(piece.value,
                               builder.CreatePtrAdd(intrinsic.getRawDest(), builder.getInt64(piece.offset)),
                               llvm::commonAlignment(to, piece.offset), intrinsic.isVolatile());
  }
  intrinsic.eraseFromParent();
}

// A switch whose default cannot be reached is lowered without comparisons for it if the lowering sees an `unreachable`
// there. By now the back end has put an `exit` in front of it.
void ExposeUnreachableDefaults(llvm::Function& function) {
  for (llvm::BasicBlock& block : llvm::make_early_inc_range(function)) {
    auto* choice = llvm::dyn_cast<llvm::SwitchInst>(block.getTerminator());
    if (choice == nullptr) continue;
    llvm::BasicBlock* target = choice->getDefaultDest();
    const llvm::Instruction* first = target->getFirstNonPHIOrDbg();
    if (!IsUnreachableMark(*first)) continue;
    llvm::BasicBlock* bare = llvm::BasicBlock::Create(function.getContext(), "", &function);
    new llvm::UnreachableInst(function.getContext(), bare);
    target->removePredecessor(&block);
    choice->setDefaultDest(bare);
  }
}

// Puts the `exit` in front of an `unreachable` that is still there without one: code would run off its end.
void MarkUnreachable(llvm::Function& function) {
  llvm::FunctionType* type = llvm::FunctionType::get(llvm::Type::getVoidTy(function.getContext()), false);
  for (llvm::BasicBlock& block : function) {
    auto* end = llvm::dyn_cast<llvm::UnreachableInst>(&block.front());
    if (end == nullptr) continue;
    llvm::IRBuilder<>(end).CreateCall(type, llvm::InlineAsm::get(type, kUnreachableMark, "", /*hasSideEffects=*/true));
  }
}

bool IsDeviceCall(const llvm::Instruction& instruction) {
  if (IsIndirectCall(instruction)) return true;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call != nullptr && call->getCalledFunction() != nullptr && !call->getCalledFunction()->isDeclaration();
}

bool IsAggregateAccess(llvm::Instruction& instruction) {
  return llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction) &&
         llvm::getLoadStoreType(&instruction)->isAggregateType();
}

void NormalizeFunction(llvm::Function& function) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto* intrinsic = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      if (llvm::isa<llvm::ConstantInt>(intrinsic->getLength())) ExpandMemoryIntrinsic(*intrinsic);
    } else if (IsAggregateAccess(instruction)) {
      ExpandAggregateAccess(instruction, layout);
    }
  }
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    ExpandUnalignedAccess(instruction, layout);
  }
  // A branch whose two ways lead to one block says nothing about which was taken: give one way a block of its own.
  for (llvm::BasicBlock& block : llvm::make_early_inc_range(function)) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (branch == nullptr || !branch->isConditional() || branch->getSuccessor(0) != branch->getSuccessor(1)) continue;
    llvm::BasicBlock* target = branch->getSuccessor(0);
    bool phis_agree = true;
    for (llvm::PHINode& phi : target->phis()) {
      const llvm::Value* first = nullptr;
      for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
        if (phi.getIncomingBlock(i) != &block) continue;
        if (first != nullptr && first != phi.getIncomingValue(i)) phis_agree = false;
        first = phi.getIncomingValue(i);
      }
    }
    if (phis_agree) {
      target->removePredecessor(&block, true);
      llvm::BranchInst::Create(target, branch->getIterator());
      branch->eraseFromParent();
    } else {
      llvm::BasicBlock* middle = llvm::BasicBlock::Create(function.getContext(), "", &function, target);
      llvm::BranchInst::Create(target, middle);
      branch->setSuccessor(1, middle);
      for (llvm::PHINode& phi : target->phis()) {
        for (unsigned i = phi.getNumIncomingValues(); i-- > 0;) {
          if (phi.getIncomingBlock(i) != &block) continue;
          phi.setIncomingBlock(i, middle);  // the second entry is the second way
          break;
        }
      }
    }
  }
  std::vector<llvm::Instruction*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (IsDeviceCall(instruction)) calls.push_back(&instruction);
  }
  for (llvm::Instruction* call : calls) {
    llvm::Instruction* next = call->getNextNode();
    if (llvm::isa<llvm::UnreachableInst>(next)) {
      // A call has a continuation, also one that never returns: it traps there.
      llvm::IRBuilder<> builder(next);
      next = builder.CreateIntrinsic(llvm::Intrinsic::trap, {}, {});
    }
    call->getParent()->splitBasicBlock(next);
  }
}

struct AnalysisManagers {
  explicit AnalysisManagers(llvm::TargetMachine& machine) : builder(&machine) {
    builder.registerModuleAnalyses(module);
    builder.registerCGSCCAnalyses(cgscc);
    builder.registerFunctionAnalyses(function);
    builder.registerLoopAnalyses(loop);
    builder.crossRegisterProxies(loop, function, cgscc, module);
  }
  llvm::LoopAnalysisManager loop;
  llvm::FunctionAnalysisManager function;
  llvm::CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager module;
  llvm::PassBuilder builder;
};

}  // namespace

absl::Status RefuseAt(const llvm::Instruction& instruction, absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat(SourcePlace(instruction), ": ", what));
}

void KeepKernel(llvm::Module& module, const std::string& kernel) {
  llvm::NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (annotations == nullptr) return;
  std::vector<llvm::MDNode*> kept;
  for (llvm::MDNode* node : annotations->operands()) {
    const auto* function =
        node->getNumOperands() > 0 ? llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0)) : nullptr;
    if (function == nullptr || function->getName() == kernel) kept.push_back(node);
  }
  annotations->clearOperands();
  for (llvm::MDNode* node : kept) annotations->addOperand(node);
}

std::vector<llvm::Function*> KernelsOf(const llvm::Module& module) {
  std::vector<llvm::Function*> marked;
  const llvm::NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (annotations != nullptr) {
    for (const llvm::MDNode* node : annotations->operands()) {
      if (node->getNumOperands() < 3) continue;
      auto* function = llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0));
      if (function == nullptr || function->isDeclaration()) continue;
      for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
        auto* key = llvm::dyn_cast<llvm::MDString>(node->getOperand(i));
        if (key != nullptr && key->getString() == "kernel") marked.push_back(function);
      }
    }
  }
  std::vector<llvm::Function*> kernels;
  for (const llvm::Function& function : module) {
    auto* candidate = const_cast<llvm::Function*>(&function);  // the module's own, only found through a const view
    if (std::find(marked.begin(), marked.end(), candidate) != marked.end()) kernels.push_back(candidate);
  }
  return kernels;
}

bool IsUnreachableMark(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr) return false;
  const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
  return assembly != nullptr && assembly->getAsmString() == kUnreachableMark &&
         llvm::isa_and_nonnull<llvm::UnreachableInst>(call->getNextNonDebugInstruction());
}

bool IsFailureCall(llvm::StringRef name) { return name == "__assertfail"; }

absl::Status PrepareModule(llvm::Module& module) {
  const std::vector<llvm::Function*> kernels = KernelsOf(module);
  const bool is_part = module.getModuleFlag(kPartFlag) != nullptr;
  if (kernels.empty() && !is_part) {
    return absl::InvalidArgumentError("there is no kernel (__global__ or __kernel function)");
  }
  for (const char* name : {"llvm.used", "llvm.compiler.used", "llvm.global_ctors", "llvm.global_dtors"}) {
    if (llvm::GlobalVariable* variable = module.getNamedGlobal(name)) variable->eraseFromParent();
  }
  for (llvm::Function* kernel : kernels) {
    if (!kernel->use_empty()) {
      for (const llvm::User* user : kernel->users()) {
        if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) return RefuseAt(*call, "a kernel calls a kernel");
      }
    }
    kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
    kernel->setComdat(nullptr);
  }
  // Device variables stay visible: the host finds them by name (constant memory).
  llvm::internalizeModule(module, [&](const llvm::GlobalValue& value) {
    if (auto* function = llvm::dyn_cast<llvm::Function>(&value)) {
      return is_part || std::find(kernels.begin(), kernels.end(), function) != kernels.end();
    }
    return true;
  });
  llvm::ModuleAnalysisManager analyses;
  llvm::PassBuilder().registerModuleAnalyses(analyses);
  llvm::GlobalDCEPass().run(module, analyses);
  LowerMemberAlignment(module);  // while functions still say that they are not optimised
  RaiseCopyAlignment(module);
  for (llvm::Function& function : module) {
    // Such functions would be selected by another, simpler code generator.
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      HEDDLE_RETURN_IF_ERROR(CheckInstruction(instruction));
    }
  }
  return absl::OkStatus();
}

void NormalizeModule(llvm::Module& module, llvm::TargetMachine& machine) {
  AnalysisManagers managers(machine);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    ExposeUnreachableDefaults(function);
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::LowerSwitchPass());
    passes.run(function, managers.function);
    llvm::removeUnreachableBlocks(function);
    MarkUnreachable(function);
    NormalizeFunction(function);
    FuseMultiplyAdds(function);
    llvm::FunctionPassManager clean;
    clean.addPass(llvm::DCEPass());
    clean.run(function, managers.function);
    managers.function.clear();
    unsigned number = 0;
    for (llvm::BasicBlock& block : function) block.setName("");
    for (llvm::BasicBlock& block : function) block.setName(absl::StrCat("b", number++));
  }
}

void NumberInstructions(CanonicalModule& canonical) {
  llvm::Module& module = *canonical.module;
  auto file_index = [&](llvm::StringRef path) -> uint32_t {
    const std::string base(llvm::sys::path::filename(path));
    for (uint32_t i = 0; i < canonical.source_files.size(); ++i) {
      if (canonical.source_files[i] == base) return i + 1;
    }
    canonical.source_files.push_back(base);
    return canonical.source_files.size();
  };
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const llvm::DILocation* location = UserLocation(instruction);
      SourceLine line;
      if (location != nullptr && location->getLine() != 0) {
        line = {file_index(location->getFilename()), location->getLine()};
      }
      canonical.lines.push_back(line);
    }
  }
  llvm::StripDebugInfo(module);
  if (!module.getModuleFlag("Debug Info Version")) {
    module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  }
  llvm::DIBuilder builder(module);
  llvm::DIFile* file = builder.createFile("kernel", "");
  builder.createCompileUnit(llvm::dwarf::DW_LANG_C_plus_plus, file, "heddle", true, "", 0, "",
                            llvm::DICompileUnit::DebugDirectivesOnly);
  llvm::DISubroutineType* type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
  unsigned number = 0;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    llvm::DISubprogram* scope =
        builder.createFunction(file, function.getName(), function.getName(), file, 0, type, 0, llvm::DINode::FlagZero,
                               llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
    function.setSubprogram(scope);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      instruction.setDebugLoc(llvm::DILocation::get(module.getContext(), ++number, 0, scope));
    }
  }
  builder.finalize();
}

void FindUniformBranches(CanonicalModule& canonical, llvm::TargetMachine& machine) {
  AnalysisManagers managers(machine);
  for (llvm::Function& function : *canonical.module) {
    if (function.isDeclaration()) continue;
    llvm::UniformityInfo& uniformity = managers.function.getResult<llvm::UniformityInfoAnalysis>(function);
    for (const llvm::BasicBlock& block : function) {
      if (!uniformity.hasDivergentTerminator(block)) canonical.uniform.insert(&block);
    }
  }
}

}  // namespace heddle::tracegen
