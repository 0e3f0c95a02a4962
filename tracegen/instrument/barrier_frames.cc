// Threads that wait at barriers without a stack of their own: the kernel becomes a coroutine ("Coroutines in LLVM",
// switched-resume lowering). At a barrier a thread leaves what it still needs in a frame and returns; it goes on when
// the frame's resume function is called.
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Coroutines/CoroCleanup.h"
#include "llvm/Transforms/Coroutines/CoroEarly.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "tracegen/instrument/kernel_pass.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {
namespace {

using llvm::cast;
using llvm::dyn_cast;

bool Calls(const llvm::Instruction& instruction, llvm::StringRef name) {
  auto* call = dyn_cast<llvm::CallInst>(&instruction);
  return call != nullptr && call->getCalledFunction() != nullptr && call->getCalledFunction()->getName() == name;
}

std::vector<llvm::CallInst*> CallsIn(llvm::Function& function, llvm::StringRef name) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (Calls(instruction, name)) calls.push_back(cast<llvm::CallInst>(&instruction));
  }
  return calls;
}

// What a call of kBarrierFunction says, if all of it is known; see there for the arguments.
std::optional<FrameBarrier> KnownBarrier(const llvm::CallInst& call) {
  uint32_t numbers[4];
  for (unsigned i = 0; i < 4; ++i) {
    auto* constant = dyn_cast<llvm::ConstantInt>(call.getArgOperand(i + 1));
    if (constant == nullptr) return std::nullopt;
    numbers[i] = static_cast<uint32_t>(constant->getZExtValue());
  }
  return FrameBarrier{numbers[0], numbers[1], numbers[2], static_cast<BarrierReduction>(numbers[3])};
}

// Calls of device functions keep the stack that they are on. Those may suspend their thread as well, but not end it:
// that would have to unwind to the frame's caller.
bool OtherFunctionsExit(const KernelPass& pass) {
  for (llvm::Function* function : pass.functions) {
    if (function != pass.kernel && !CallsIn(*function, kExitFunction).empty()) return true;
  }
  return false;
}

// Makes the entry, with the kernel inside, a coroutine as LLVM's passes expect it.
class FrameBuilder {
 public:
  FrameBuilder(KernelPass& pass, llvm::Function& entry) : pass_(pass), entry_(entry) {}

  void Build(const std::vector<std::pair<llvm::CallInst*, FrameBarrier>>& barriers) {
    Begin();
    for (llvm::CallInst* call : CallsIn(entry_, kExitFunction)) {
      llvm::BasicBlock* block = call->getParent();
      block->splitBasicBlock(call);
      block->getTerminator()->eraseFromParent();
      llvm::BranchInst::Create(ended_, block);
      call->eraseFromParent();
    }
    for (const auto& [call, barrier] : barriers) Suspend(call, barrier);
    entry_.setPresplitCoroutine();
    llvm::removeUnreachableBlocks(entry_);
  }

  // The frame's size, as the passes have worked it out.
  uint64_t TakeFrameBytes() {
    uint64_t bytes = 0;
    for (llvm::User* user : llvm::make_early_inc_range(frame_bytes_->users())) {
      auto* store = cast<llvm::StoreInst>(user);
      if (auto* size = dyn_cast<llvm::ConstantInt>(store->getValueOperand())) bytes = size->getZExtValue();
      store->eraseFromParent();
    }
    frame_bytes_->eraseFromParent();
    return bytes;
  }

 private:
  llvm::FunctionCallee Intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types = {}) {
    return llvm::Intrinsic::getDeclaration(pass_.module, id, types);
  }

  void Begin() {
    llvm::LLVMContext& context = pass_.context();
    frame_bytes_ =
        new llvm::GlobalVariable(*pass_.module, pass_.i64(), /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
                                 llvm::ConstantInt::get(pass_.i64(), 0), "heddle_frame_bytes");
    llvm::IRBuilder<> builder(&*entry_.getEntryBlock().getFirstInsertionPt());
    llvm::Value* null = llvm::ConstantPointerNull::get(pass_.pointer());
    llvm::Value* id = builder.CreateCall(Intrinsic(llvm::Intrinsic::coro_id), {builder.getInt32(0), null, null, null});
    llvm::Value* memory = pass_.LoadField(builder, offsetof(ThreadContext, frame), pass_.pointer());
    llvm::Value* handle = builder.CreateCall(Intrinsic(llvm::Intrinsic::coro_begin), {id, memory});
    builder.CreateStore(builder.CreateCall(Intrinsic(llvm::Intrinsic::coro_size, {pass_.i64()})), frame_bytes_);

    ended_ = llvm::BasicBlock::Create(context, "ended", &entry_);
    left_ = llvm::BasicBlock::Create(context, "left", &entry_);
    destroyed_ = llvm::BasicBlock::Create(context, "destroyed", &entry_);
    for (llvm::BasicBlock& block : entry_) {
      auto* end = dyn_cast_or_null<llvm::ReturnInst>(block.getTerminator());
      if (end == nullptr) continue;
      llvm::BranchInst::Create(ended_, end->getIterator());
      end->eraseFromParent();
    }
    builder.SetInsertPoint(ended_);
    pass_.StoreField(builder, offsetof(ThreadContext, frame_barrier), builder.getInt32(0));
    builder.CreateBr(left_);
    builder.SetInsertPoint(destroyed_);  // frames are never destroyed: their memory is the runtime's
    builder.CreateBr(left_);
    builder.SetInsertPoint(left_);
    builder.CreateCall(Intrinsic(llvm::Intrinsic::coro_end),
                       {handle, builder.getFalse(), llvm::ConstantTokenNone::get(context)});
    builder.CreateRetVoid();
  }

  void Suspend(llvm::CallInst* call, const FrameBarrier& barrier) {
    pass_.result->barriers.push_back(barrier);
    llvm::IRBuilder<> builder(call);
    pass_.StoreField(builder, offsetof(ThreadContext, frame_barrier),
                     builder.getInt32(static_cast<uint32_t>(pass_.result->barriers.size())));
    if (barrier.reduction != BarrierReduction::kNone) {
      pass_.StoreField(builder, offsetof(ThreadContext, frame_barrier_predicate), call->getArgOperand(5));
    }
    llvm::Value* why = builder.CreateCall(Intrinsic(llvm::Intrinsic::coro_suspend),
                                          {llvm::ConstantTokenNone::get(pass_.context()), builder.getFalse()});
    llvm::BasicBlock* before = call->getParent();
    llvm::BasicBlock* after = before->splitBasicBlock(call);
    before->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(before);
    llvm::SwitchInst* choice = builder.CreateSwitch(why, left_, 2);
    choice->addCase(builder.getInt8(0), after);
    choice->addCase(builder.getInt8(1), destroyed_);
    builder.SetInsertPoint(call);
    if (!call->use_empty()) {
      call->replaceAllUsesWith(pass_.LoadField(builder, offsetof(ThreadContext, frame_barrier_result), pass_.i32()));
    }
    call->eraseFromParent();
  }

  KernelPass& pass_;
  llvm::Function& entry_;
  llvm::GlobalVariable* frame_bytes_ = nullptr;
  llvm::BasicBlock* ended_ = nullptr;      // of a thread that has come to its end
  llvm::BasicBlock* left_ = nullptr;       // back to the runtime
  llvm::BasicBlock* destroyed_ = nullptr;  // where frames would be torn down
};

// Splits `entry` at its barriers. Between them the code is now a function's own, so branches may be tidied up.
void RunCoroutinePasses(llvm::Module& module, llvm::StringRef entry) {
  // The passes ask it whether remarks are wanted.
  if (module.getContext().getDiagHandlerPtr() == nullptr) {
    module.getContext().setDiagnosticHandler(std::make_unique<llvm::DiagnosticHandler>());
  }
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::CoroEarlyPass());
  passes.addPass(llvm::createModuleToPostOrderCGSCCPassAdaptor(llvm::CoroSplitPass(/*OptimizeFrame=*/true)));
  passes.addPass(llvm::CoroCleanupPass());
  passes.run(module, modules);
  llvm::FunctionPassManager tidy;
  tidy.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() && function.getName().starts_with(entry)) tidy.run(function, functions);
  }
}

}  // namespace

absl::Status LeaveFramesAtBarriers(KernelPass& pass, llvm::Function& entry) {
  // In lockstep, and where threads poll memory, they wait in many places besides.
  if (pass.lockstep || !pass.result->waits.empty() || OtherFunctionsExit(pass)) return absl::OkStatus();
  bool any = false;
  for (const llvm::CallInst* call : CallsIn(*pass.kernel, kBarrierFunction)) any |= KnownBarrier(*call).has_value();
  if (!any) return absl::OkStatus();
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(entry))) {
    auto* call = dyn_cast<llvm::CallInst>(&instruction);
    if (call == nullptr || call->getCalledFunction() != pass.kernel) continue;
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*call, info).isSuccess()) return absl::OkStatus();
    break;
  }
  std::vector<std::pair<llvm::CallInst*, FrameBarrier>> barriers;
  for (llvm::CallInst* call : CallsIn(entry, kBarrierFunction)) {
    if (std::optional<FrameBarrier> barrier = KnownBarrier(*call)) barriers.emplace_back(call, *barrier);
  }
  FrameBuilder builder(pass, entry);
  builder.Build(barriers);
  RunCoroutinePasses(*pass.module, entry.getName());
  pass.result->frame_bytes = builder.TakeFrameBytes();
  if (pass.result->frame_bytes == 0) {
    return absl::InternalError(
        absl::StrCat("kernel '", trace::BriefKernelName(pass.result->name), "': the size of its frames is not known"));
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
