#include "tracegen/program/compiled/virtual_blocks.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "tracegen/program/compiled/canonicalize.h"
#include "tracegen/program/kernel_list.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/static_program.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

// The source file that instructions of the wrapper are said to come from, which tells them from the kernel's in PTX.
constexpr char kWrapperFile[] = "wrapper-of-virtual-blocks";

constexpr int kDimensions = 3;
using Ids = std::array<llvm::Intrinsic::ID, kDimensions>;
constexpr Ids kBlockIndex = {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                             llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
constexpr Ids kGridSize = {llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                           llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
constexpr Ids kThreadIndex = {llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y,
                              llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z};
constexpr Ids kBlockSize = {llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                            llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_z};

// Which dimension of an index an instruction reads; -1 if it reads none of this one.
int DimensionRead(const llvm::Instruction& instruction, const Ids& ids) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (call == nullptr) return -1;
  for (int i = 0; i < kDimensions; ++i) {
    if (call->getIntrinsicID() == ids[i]) return i;
  }
  return -1;
}

// A function that stays a call would go on reading the indices of the virtual block.
absl::Status CheckCallees(const llvm::Function& kernel) {
  std::set<const llvm::Function*> seen = {&kernel};
  std::vector<const llvm::Function*> todo = {&kernel};
  while (!todo.empty()) {
    const llvm::Function* function = todo.back();
    todo.pop_back();
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      if (function != &kernel &&
          (DimensionRead(instruction, kBlockIndex) >= 0 || DimensionRead(instruction, kThreadIndex) >= 0)) {
        return absl::UnimplementedError(
            absl::StrCat("kernel ", BaseName(kernel.getName().str()), " calls ", BaseName(function->getName().str()),
                         ", which reads the index of its block or thread; let it be inlined, or hand the index over"));
      }
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr) continue;
      if (const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand())) {
        const llvm::StringRef text = assembly->getAsmString();
        if (text.contains("%tid") || text.contains("%ctaid")) {
          return absl::UnimplementedError(absl::StrCat("kernel ", BaseName(kernel.getName().str()),
                                                       " reads the index of its block or thread with inline PTX, which "
                                                       "is that of the launch; use threadIdx and blockIdx"));
        }
        if (!text.contains("exit")) continue;
        return absl::UnimplementedError(absl::StrCat("kernel ", BaseName(kernel.getName().str()),
                                                     " ends threads with inline PTX 'exit', behind which no block can "
                                                     "come next; let it return"));
      }
      if (const llvm::Function* callee = call->getCalledFunction(); callee != nullptr) {
        if (!callee->isDeclaration() && seen.insert(callee).second) todo.push_back(callee);
        continue;
      }
      for (const llvm::Function& callee : *function->getParent()) {  // through a pointer: any whose address is taken
        if (!callee.isDeclaration() && callee.hasAddressTaken() && seen.insert(&callee).second) todo.push_back(&callee);
      }
    }
  }
  return absl::OkStatus();
}

// The place of the wrapper's instructions.
llvm::DebugLoc WrapperLocation(llvm::Function& kernel) {
  llvm::Module& module = *kernel.getParent();
  llvm::DIBuilder builder(module);
  llvm::DIFile* file = builder.createFile(kWrapperFile, "");
  llvm::DISubprogram* function = kernel.getSubprogram();
  if (function == nullptr) {
    if (module.getModuleFlag("Debug Info Version") == nullptr) {
      module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    }
    builder.createCompileUnit(llvm::dwarf::DW_LANG_C_plus_plus, file, "heddle", true, "", 0, "",
                              llvm::DICompileUnit::LineTablesOnly);
    function = builder.createFunction(file, kernel.getName(), kernel.getName(), file, 0,
                                      builder.createSubroutineType(builder.getOrCreateTypeArray({})), 0,
                                      llvm::DINode::FlagZero,
                                      llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
    kernel.setSubprogram(function);
  }
  llvm::DILexicalBlockFile* scope = builder.createLexicalBlockFile(function, file, 0);
  builder.finalize();
  return llvm::DILocation::get(module.getContext(), 1, 0, scope);
}

// One of the two indices, of the block in the grid or of the thread in its block.
class VirtualIndex {
 public:
  VirtualIndex(llvm::Function& kernel, const Ids& index, const Ids& size) : index_(index), size_(size) {
    for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
      const int dimension = DimensionRead(instruction, index);
      if (dimension < 0) continue;
      reads_.push_back({&instruction, dimension});
      dimensions_ = std::max(dimensions_, dimension + 1);
    }
  }

  // In front of the loop: the sizes of the dimensions that are read, their product, and the launched number.
  void Begin(llvm::IRBuilder<>& builder) {
    for (int i = 0; i < dimensions_; ++i) sizes_[i] = builder.CreateIntrinsic(size_[i], {}, {});
    first_ = builder.CreateIntrinsic(index_[dimensions_ - 1], {}, {});
    for (int i = dimensions_ - 2; i >= 0; --i) {
      first_ = builder.CreateAdd(builder.CreateMul(first_, sizes_[i]), builder.CreateIntrinsic(index_[i], {}, {}));
    }
  }
  llvm::Value* first() const { return first_; }
  llvm::Value* Count(llvm::IRBuilder<>& builder) const {
    llvm::Value* count = sizes_[0];
    for (int i = 1; i < dimensions_; ++i) count = builder.CreateMul(count, sizes_[i]);
    return count;
  }

  // At the head of the loop: every dimension from the number, in place of what the kernel read.
  void Replace(llvm::IRBuilder<>& builder, llvm::Value* number) {
    std::array<llvm::Value*, kDimensions> value = {number, nullptr, nullptr};
    for (int i = 0; i + 1 < dimensions_; ++i) {
      llvm::Value* rest = builder.CreateUDiv(value[i], sizes_[i]);
      value[i] = builder.CreateURem(value[i], sizes_[i]);
      value[i + 1] = rest;
    }
    for (const auto& [read, dimension] : reads_) {
      read->replaceAllUsesWith(value[dimension]);
      read->eraseFromParent();
    }
  }

 private:
  const Ids& index_;
  const Ids& size_;
  llvm::SmallVector<std::pair<llvm::Instruction*, int>> reads_;
  int dimensions_ = 1;
  std::array<llvm::Value*, kDimensions> sizes_{};
  llvm::Value* first_ = nullptr;
};

// What depends on neither index moves out of the loop.
absl::Status MoveInvariantCode(llvm::Function& kernel) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, "loop-simplify,lcssa,loop-mssa(licm)")) {
    return absl::InternalError(llvm::toString(std::move(error)));
  }
  passes.run(kernel, functions);
  return absl::OkStatus();
}

// The same module in a context of its own; with one of its kernels, unless `kernel` is empty.
absl::StatusOr<CanonicalModule> CanonicalCopy(const llvm::Module& module, const std::string& target, bool wrapped,
                                              const std::string& kernel) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::Expected<std::unique_ptr<llvm::Module>> copy =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::StringRef(bytes.data(), bytes.size()), "module"), *context);
  if (!copy) return absl::InternalError(llvm::toString(copy.takeError()));
  if (!kernel.empty()) KeepKernel(**copy, kernel);
  if (wrapped) {
    for (llvm::Function* function : KernelsOf(**copy)) {
      HEDDLE_RETURN_IF_ERROR(WrapInVirtualBlocks(*function, NextIndices::kHardware));
    }
  }
  return Canonicalize(std::move(context), std::move(*copy), target);
}

// 1 if the block ends with a thread's regular end.
uint32_t Returns(const trace::v1::KernelProgram& program, const trace::v1::BasicBlock& block) {
  const auto last = static_cast<int>(block.first_instruction() + block.instruction_count() - 1);
  return block.terminator() == trace::v1::EXIT &&
         (program.instruction(last).flags() & trace::v1::FLAG_CANNOT_RETURN) == 0;
}

// The costs of all kernels of the module, or of one.
absl::StatusOr<std::vector<VirtualBlockCost>> Measure(const llvm::Module& module, const std::string& target,
                                                      const std::string& kernel) {
  HEDDLE_ASSIGN_OR_RETURN(CanonicalModule plain, CanonicalCopy(module, target, false, kernel));
  HEDDLE_ASSIGN_OR_RETURN(CanonicalModule wrapped, CanonicalCopy(module, target, true, kernel));
  std::vector<VirtualBlockCost> costs;
  for (const KernelName& name : ListKernels(plain)) {
    HEDDLE_ASSIGN_OR_RETURN(KernelUnit before, ReadKernel(plain, name.mangled));
    HEDDLE_ASSIGN_OR_RETURN(KernelUnit after, ReadKernel(wrapped, name.mangled));
    VirtualBlockCost& cost = costs.emplace_back();
    cost.kernel = name.name;
    cost.registers = before.program.register_count();
    cost.extra_registers = static_cast<int32_t>(after.program.register_count()) - static_cast<int32_t>(cost.registers);
    const trace::v1::Function& own = before.program.function(0);
    uint32_t returns = 0;
    for (uint32_t b = own.first_block(); b < own.first_block() + own.block_count(); ++b) {
      const trace::v1::BasicBlock& block = before.program.block(static_cast<int>(b));
      cost.instructions += block.instruction_count();
      returns += Returns(before.program, block);
    }
    uint32_t in_loop = 0;
    bool in_front = true;  // blocks are in reverse post-order; what is behind the loop traps, or is the one return
    const trace::v1::Function& loop = after.program.function(0);
    for (uint32_t b = loop.first_block(); b < loop.first_block() + loop.block_count(); ++b) {
      const trace::v1::BasicBlock& block = after.program.block(static_cast<int>(b));
      in_front &= block.loop_depth() == 0;
      if (!in_front) {
        in_loop += block.instruction_count() - Returns(after.program, block);
        continue;
      }
      for (uint32_t i = 0; i < block.instruction_count(); ++i) {
        const trace::v1::Instruction& instruction =
            after.program.instruction(static_cast<int>(block.first_instruction() + i));
        const bool ours =
            instruction.source_file() != 0 && wrapped.source_files[instruction.source_file() - 1] == kWrapperFile;
        ++(ours ? cost.once : cost.hoisted);
      }
    }
    // In the loop a return goes on with the next block. Instructions of the kernel that the wrapper's make superfluous
    // (reads of the indices, or of the grid's size) make up for some of the wrapper's; more of them than it has are
    // none of the loop's any more either, as if they had moved.
    const int64_t stay = static_cast<int64_t>(cost.instructions) - returns - cost.hoisted;
    const int64_t more = static_cast<int64_t>(in_loop) - stay;
    cost.iteration = static_cast<uint32_t>(std::max<int64_t>(more, 0));
    cost.hoisted += static_cast<uint32_t>(std::max<int64_t>(-more, 0));
  }
  return costs;
}

}  // namespace

absl::Status WrapInVirtualBlocks(llvm::Function& kernel, NextIndices next) {
  HEDDLE_RETURN_IF_ERROR(CheckCallees(kernel));
  llvm::SmallVector<llvm::ReturnInst*> returns;
  for (llvm::BasicBlock& block : kernel) {
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) returns.push_back(end);
  }
  if (returns.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("kernel ", BaseName(kernel.getName().str()), " never returns, so no block can come next"));
  }
  VirtualIndex block_index(kernel, kBlockIndex, kGridSize);
  VirtualIndex thread_index(kernel, kThreadIndex, kBlockSize);
  const llvm::DebugLoc location = WrapperLocation(kernel);
  llvm::LLVMContext& context = kernel.getContext();

  // Local arrays stay where the code generator expects them.
  llvm::BasicBlock& entry = kernel.getEntryBlock();
  llvm::BasicBlock* body = entry.splitBasicBlock(entry.getFirstNonPHIOrDbgOrAlloca(), "body");
  llvm::BasicBlock* head = llvm::BasicBlock::Create(context, "indices", &kernel, body);
  llvm::BasicBlock* latch = llvm::BasicBlock::Create(context, "next", &kernel);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(context, "done", &kernel);

  // Block 2 of the figure.
  entry.getTerminator()->eraseFromParent();
  llvm::IRBuilder<> builder(&entry);
  builder.SetCurrentDebugLocation(location);
  block_index.Begin(builder);
  thread_index.Begin(builder);
  llvm::Value* count = block_index.Count(builder);
  llvm::Value* virtual_blocks = nullptr;
  if (next == NextIndices::kSoftware) {
    virtual_blocks = builder.CreateLShr(builder.CreateAdd(count, builder.getInt32(1)), 1);
    builder.CreateCondBr(builder.CreateICmpULT(block_index.first(), virtual_blocks), head, done);
  } else {
    builder.CreateBr(head);
  }

  // Block 3a.
  builder.SetInsertPoint(head);
  builder.SetCurrentDebugLocation(location);
  llvm::PHINode* block = builder.CreatePHI(builder.getInt32Ty(), 2, "block");
  llvm::PHINode* thread = builder.CreatePHI(builder.getInt32Ty(), 2, "thread");
  block_index.Replace(builder, block);
  thread_index.Replace(builder, thread);
  builder.CreateBr(body);

  for (llvm::ReturnInst* end : returns) {
    builder.SetInsertPoint(end);
    builder.SetCurrentDebugLocation(end->getDebugLoc() ? end->getDebugLoc() : location);
    builder.CreateBr(latch);
    end->eraseFromParent();
  }

  // Blocks 3b and 5.
  builder.SetInsertPoint(latch);
  builder.SetCurrentDebugLocation(location);
  llvm::Value* next_block = nullptr;
  llvm::Value* next_thread = thread;
  if (next == NextIndices::kSoftware) {
    builder.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
    next_block = builder.CreateAdd(block, virtual_blocks);
  } else {
    // Instructions that may give anything, in every iteration something else.
    next_block = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_clock, {}, {});
    next_thread = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_clock, {}, {});
  }
  builder.CreateCondBr(builder.CreateICmpULT(next_block, count), head, done);
  builder.SetInsertPoint(done);
  builder.SetCurrentDebugLocation(location);
  builder.CreateRetVoid();
  block->addIncoming(block_index.first(), &entry);
  block->addIncoming(next_block, latch);
  thread->addIncoming(thread_index.first(), &entry);
  thread->addIncoming(next_thread, latch);

  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyFunction(kernel, &stream)) {
    return absl::InternalError(absl::StrCat("a kernel in virtual blocks is broken IR: ", broken));
  }
  return MoveInvariantCode(kernel);
}

absl::StatusOr<std::vector<VirtualBlockCost>> MeasureVirtualBlocks(const llvm::Module& module,
                                                                   const std::string& target) {
  const std::vector<llvm::Function*> kernels = KernelsOf(module);
  if (kernels.empty()) return absl::InvalidArgumentError("there are no kernels in this device code");
  absl::StatusOr<std::vector<VirtualBlockCost>> all = Measure(module, target, "");
  if (all.ok() || kernels.size() == 1) return all;
  std::vector<VirtualBlockCost> costs;
  absl::Status first;
  bool any = false;
  for (const llvm::Function* kernel : kernels) {
    absl::StatusOr<std::vector<VirtualBlockCost>> one = Measure(module, target, kernel->getName().str());
    if (one.ok() && one->size() == 1) {
      costs.push_back(std::move(one->front()));
      any = true;
      continue;
    }
    first.Update(one.status());
    VirtualBlockCost& cost = costs.emplace_back();
    cost.kernel = BaseName(kernel->getName().str());
    cost.failure = std::string(one.status().message());
  }
  return any ? absl::StatusOr<std::vector<VirtualBlockCost>>(std::move(costs)) : first;
}

}  // namespace heddle::tracegen
