#include "tracegen/instrument/kernel_pass.h"

#include "absl/strings/str_cat.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "tracegen/instrument/narrow_addresses.h"
#include "tracegen/program/ptx_source/device_operation.h"
#include "tracegen/program/ptx_source/windows.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {

using llvm::dyn_cast;
using llvm::isa;

Site KernelPass::SiteOf(const llvm::Instruction& instruction) const {
  Site site;
  // The debug line of canonical code is the instruction's number; `lines` knows what it stands for.
  const llvm::DebugLoc& location = instruction.getDebugLoc();
  if (!location || location.getLine() == 0 || location.getLine() > canonical.lines.size()) return site;
  const SourceLine& source = canonical.lines[location.getLine() - 1];
  if (source.file >= 1 && source.file <= canonical.source_files.size()) {
    site.file = canonical.source_files[source.file - 1];
  }
  site.line = source.line;
  return site;
}

uint32_t KernelPass::AddSite(const llvm::Instruction& instruction) {
  result->sites.push_back(SiteOf(instruction));
  return static_cast<uint32_t>(result->sites.size() - 1);
}

absl::Status KernelPass::Unsupported(const llvm::Instruction& instruction, const std::string& what) const {
  Site site = SiteOf(instruction);
  return absl::UnimplementedError(absl::StrCat("kernel '", trace::BriefKernelName(result->name), "': ", what, " at ",
                                               site.ToString(), " is not supported"));
}

std::vector<llvm::Function*> KernelPass::CalleesOf(const llvm::Instruction& call) const {
  std::vector<llvm::Function*> callees;
  if (!IsIndirectCall(call) || !call.getDebugLoc()) return callees;
  auto found = canonical.index.indirect.find(call.getDebugLoc().getLine());
  if (found == canonical.index.indirect.end()) return callees;
  const llvm::Module& own = *call.getModule();
  for (const std::string& name : found->second) callees.push_back(own.getFunction(name));
  return callees;
}

uint64_t KernelPass::PointerTo(llvm::StringRef function) const {
  const std::vector<const llvm::Function*>& functions = canonical.index.address_taken;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i]->getName() == function) return kFunctionBase + (i + 1) * kFunctionStep;
  }
  return 0;
}

llvm::Value* KernelPass::Context(llvm::IRBuilder<>& builder) {
  return builder.GetInsertBlock()->getParent()->getArg(0);
}

llvm::Value* KernelPass::Field(llvm::IRBuilder<>& builder, size_t offset) {
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), Context(builder), offset);
}

llvm::LoadInst* KernelPass::LoadField(llvm::IRBuilder<>& builder, size_t offset, llvm::Type* type) const {
  return builder.CreateLoad(type, Field(builder, offset));
}

void KernelPass::StoreField(llvm::IRBuilder<>& builder, size_t offset, llvm::Value* value) const {
  builder.CreateStore(value, Field(builder, offset));
}

llvm::CallInst* KernelPass::CallRuntime(llvm::IRBuilder<>& builder, const char* name, llvm::Type* result_type,
                                        llvm::ArrayRef<llvm::Value*> arguments) const {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(result_type, types, false);
  llvm::FunctionCallee callee = module->getOrInsertFunction(name, type);
  return builder.CreateCall(callee, arguments);
}

bool IsDeviceOperation(const llvm::CallBase& call, llvm::StringRef operation) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return false;
  llvm::StringRef name = callee->getName();
  return name.consume_front(kDeviceOperation) && name.starts_with(operation);
}

bool Suspends(const llvm::Instruction& instruction) {
  auto* call = dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr || call->getCalledFunction() == nullptr) return false;
  if (IsDeviceOperation(*call, kBarrierOperation) || IsDeviceOperation(*call, kClusterWaitOperation) ||
      IsDeviceOperation(*call, kTransactionWaitOperation) || IsDeviceOperation(*call, kTogetherOperation)) {
    return true;
  }
  llvm::StringRef name = call->getCalledFunction()->getName();
  if (name.starts_with(kMatrixFunction)) return true;
  if (!name.consume_front("llvm.nvvm.")) return false;
  return name.starts_with("barrier") || name.starts_with("bar.") || name.starts_with("shfl.") ||
         name.starts_with("vote.") || name.starts_with("match.") || name.starts_with("activemask") ||
         name.starts_with("redux.");
}

absl::Status CheckSupported(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) {
    for (llvm::Instruction& instruction : llvm::instructions(*function)) {
      if (auto* call = dyn_cast<llvm::CallBase>(&instruction)) {
        if (!isa<llvm::CallInst>(call)) return pass.Unsupported(instruction, "exception handling");
      }
      if (auto* allocation = dyn_cast<llvm::AllocaInst>(&instruction)) {
        if (!allocation->isStaticAlloca()) return pass.Unsupported(instruction, "a local array of variable size");
      }
      if (isa<llvm::VAArgInst>(instruction)) return pass.Unsupported(instruction, "a variable argument list");
      if (isa<llvm::IndirectBrInst>(instruction)) return pass.Unsupported(instruction, "an indirect branch");
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
