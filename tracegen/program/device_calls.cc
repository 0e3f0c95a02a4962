#include "tracegen/program/device_calls.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/program/prepare.h"

namespace heddle::tracegen {
namespace {

constexpr llvm::StringLiteral kImagePrefix = "__heddle_";

bool IsImageName(llvm::StringRef name) {
  for (llvm::StringRef stem : {"tex_", "tld4_", "suld_", "sust_", "txq_", "suq_"}) {
    if (name.starts_with(stem)) return true;
  }
  return false;
}

// Uses of a function other than calling it, looking through constants. Lists that only keep symbols alive do not count.
bool IsAddressTaken(const llvm::Function& function) {
  return function.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/false, /*IgnoreAssumeLikeCalls=*/true,
                                  /*IgnoreLLVMUsed=*/true);
}

}  // namespace

std::optional<uint32_t> SystemCallMicroOps(std::string_view function) {
  if (function == "vprintf" || function == "malloc" || function == "free") return 32;
  if (function == "__heddle_resident_grid") return 1;  // of a cooperative launch: a check that costs next to nothing
  return std::nullopt;
}

std::string ExplainUndefined(llvm::StringRef function) {
  struct Construct {
    const char* prefix;
    const char* meaning;
  };
  static constexpr Construct kConstructs[] = {
      {"cudaGetParameterBuffer", "a kernel launch in device code (dynamic parallelism)"},
      {"cudaLaunchDevice", "a kernel launch in device code (dynamic parallelism)"},
      {"__heddle_split_barrier",
       "a split barrier (__mbarrier_arrive and its like) below compute capability 8.0 (-arch=sm_80)"},
      {"__heddle_wide_atomic", "an atomic operation on 16 bytes"},
      {"cuda", "the runtime function"},
      {"__cxa_guard", "a static variable with a constructor in device code"},
      {"__cxa_throw", "throwing exceptions in device code"},
  };
  for (const Construct& construct : kConstructs) {
    if (!function.starts_with(construct.prefix)) continue;
    if (llvm::StringRef(construct.prefix) == "cuda") {
      return absl::StrCat("the runtime function '", function.str(), "' is not supported in device code");
    }
    return absl::StrCat(construct.meaning, " is not supported");
  }
  return absl::StrCat("the device function '", function.str(), "' is declared, but not defined");
}

std::string ExplainInlinePtx(absl::string_view text, absl::string_view why) {
  struct Construct {
    const char* part;  // of the statement
    const char* meaning;
  };
  static constexpr Construct kConstructs[] = {
      {"wgmma.", "a product of matrices of a group of warps; use mma.sync"},
      {"tcgen05.", "a tensor-core operation of compute capability 10.0; use mma.sync"},
      {"mma.sp", "a product of sparse matrices"},
      {"cp.async.bulk", "a bulk copy (TMA); copy with cp.async or loads and stores"},
      {"mbarrier::complete_tx", "a copy that completes at a transaction barrier"},
      {"mbarrier.complete_tx", "bytes that a program reports to a transaction barrier itself"},
  };
  // One line, however long the statement is.
  constexpr size_t kShown = 80;
  std::string shown;
  for (const char c : text) {
    const bool blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!blank) shown += c;
    if (blank && !shown.empty() && shown.back() != ' ') shown += ' ';
  }
  if (shown.size() > kShown) shown = absl::StrCat(shown.substr(0, kShown), "...");
  for (const Construct& construct : kConstructs) {
    if (!absl::StrContains(text, construct.part)) continue;
    return absl::StrCat("inline PTX '", shown, "' is not supported: it is ", construct.meaning);
  }
  const bool says_more = why != text && !absl::StrContains(text, why);
  return absl::StrCat("inline PTX '", shown, "' is not supported", says_more ? absl::StrCat(" (", why, ")") : "",
                      "; write it with built-in functions");
}

bool TranslateImageCall(llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) return false;
  llvm::StringRef name = callee->getName();
  if (!name.consume_front(kImagePrefix) || !IsImageName(name)) return false;
  std::string intrinsic_name = absl::StrCat("llvm.nvvm.", name.str());
  std::replace(intrinsic_name.begin(), intrinsic_name.end(), '_', '.');
  const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(intrinsic_name);
  if (id == llvm::Intrinsic::not_intrinsic) return false;
  llvm::Function* intrinsic = llvm::Intrinsic::getDeclaration(call.getModule(), id);
  if (intrinsic->arg_size() != call.arg_size()) return false;
  llvm::IRBuilder<> builder(&call);
  llvm::SmallVector<llvm::Value*, 8> arguments;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    llvm::Value* argument = call.getArgOperand(i);
    llvm::Type* wanted = intrinsic->getArg(i)->getType();
    if (argument->getType()->isPointerTy()) argument = builder.CreatePtrToInt(argument, wanted);
    if (argument->getType()->isIntegerTy() && wanted->isIntegerTy()) {
      argument = builder.CreateZExtOrTrunc(argument, wanted);
    }
    if (argument->getType() != wanted) return false;
    arguments.push_back(argument);
  }
  llvm::CallInst* fetch = builder.CreateCall(intrinsic, arguments);
  auto part = [&](unsigned i) -> llvm::Value* {
    return fetch->getType()->isStructTy() ? builder.CreateExtractValue(fetch, i) : fetch;
  };
  // Elements are taken right from the result; only what uses the vector as a whole gets one.
  for (llvm::User* user : llvm::make_early_inc_range(call.users())) {
    auto* element = llvm::dyn_cast<llvm::ExtractElementInst>(user);
    auto* index = element != nullptr ? llvm::dyn_cast<llvm::ConstantInt>(element->getIndexOperand()) : nullptr;
    if (index == nullptr) continue;
    element->replaceAllUsesWith(part(static_cast<unsigned>(index->getZExtValue())));
    element->setOperand(0, llvm::PoisonValue::get(call.getType()));  // dead; the caller may be about to visit it
  }
  if (!call.use_empty()) {
    llvm::Value* whole = fetch;
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(call.getType())) {
      whole = llvm::PoisonValue::get(vector);
      for (unsigned i = 0; i < vector->getNumElements(); ++i) whole = builder.CreateInsertElement(whole, part(i), i);
    }
    if (whole->getType()->isIntegerTy() && call.getType()->isIntegerTy()) {
      whole = builder.CreateZExtOrTrunc(whole, call.getType());
    }
    call.replaceAllUsesWith(whole);
  }
  call.eraseFromParent();
  return true;
}

std::vector<const llvm::Function*> AddressTakenFunctions(const llvm::Module& module) {
  std::vector<const llvm::Function*> functions;
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() && IsAddressTaken(function)) functions.push_back(&function);
  }
  const std::vector<llvm::Function*> kernels = KernelsOf(module);
  std::erase_if(functions, [&](const llvm::Function* function) {
    return std::find(kernels.begin(), kernels.end(), function) != kernels.end();
  });
  return functions;
}

bool IsIndirectCall(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call != nullptr && call->getCalledFunction() == nullptr && !call->isInlineAsm();
}

IndirectCalls FindIndirectCalls(const llvm::Module& module) {
  IndirectCalls calls;
  const std::vector<const llvm::Function*> targets = AddressTakenFunctions(module);
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!IsIndirectCall(instruction) || !instruction.getDebugLoc()) continue;
      std::vector<std::string>& callees = calls[instruction.getDebugLoc().getLine()];
      for (const llvm::Function* target : targets) {
        if (target->getFunctionType() == llvm::cast<llvm::CallInst>(instruction).getFunctionType()) {
          callees.push_back(target->getName().str());
        }
      }
    }
  }
  return calls;
}

}  // namespace heddle::tracegen
