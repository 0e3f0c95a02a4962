#include "tracegen/instrument/instrument.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "tracegen/instrument/kernel_pass.h"
#include "tracegen/instrument/narrow_addresses.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {
namespace {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

constexpr char kEntryName[] = "heddle_entry";
// Data layout of x86-64 Linux; sizes and offsets of every type that device code may hold in memory equal NVPTX's.
constexpr char kHostLayout[] = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";

// Functions of the canonical module that the kernel may call, itself first.
std::vector<const llvm::Function*> ReachableFunctions(const KernelPass& pass) {
  std::vector<const llvm::Function*> reachable;
  std::vector<const llvm::Function*> work = {pass.unit.function};
  llvm::DenseSet<const llvm::Function*> seen = {pass.unit.function};
  while (!work.empty()) {
    const llvm::Function* function = work.back();
    work.pop_back();
    reachable.push_back(function);
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      const auto* call = dyn_cast<llvm::CallBase>(&instruction);
      std::vector<llvm::Function*> callees = pass.CalleesOf(instruction);
      if (call != nullptr && call->getCalledFunction() != nullptr) callees.push_back(call->getCalledFunction());
      for (const llvm::Function* callee : callees) {
        if (!callee->isDeclaration() && seen.insert(callee).second) work.push_back(callee);
      }
    }
  }
  return reachable;
}

// Clones the module, with the bodies of the kernel's functions alone: libraries of templates have hundreds of kernels.
std::unique_ptr<llvm::Module> CloneForKernel(KernelPass& pass, llvm::ValueToValueMapTy& map) {
  const std::vector<const llvm::Function*> reachable = ReachableFunctions(pass);
  const llvm::DenseSet<const llvm::GlobalValue*> kept(reachable.begin(), reachable.end());
  std::unique_ptr<llvm::Module> clone = llvm::CloneModule(
      *pass.canonical.module, map,
      [&kept](const llvm::GlobalValue* value) { return !isa<llvm::Function>(value) || kept.contains(value); });
  for (const llvm::Function* function : reachable) {
    pass.functions.push_back(cast<llvm::Function>(map.lookup(function)));
    pass.is_reachable.insert(pass.functions.back());
  }
  pass.kernel = pass.functions.front();
  pass.module = clone.get();
  return clone;
}

// Brings the links over to the clone.
void MapLinks(KernelPass& pass, llvm::ValueToValueMapTy& map) {
  for (const auto& [block, link] : pass.unit.links.blocks) {
    if (llvm::Value* copy = map.lookup(block)) pass.links.blocks[cast<llvm::BasicBlock>(copy)] = link;
  }
  for (const auto& [terminator, edges] : pass.unit.links.edges) {
    if (llvm::Value* copy = map.lookup(terminator)) pass.links.edges[cast<llvm::Instruction>(copy)] = edges;
  }
  for (const auto& [access, links] : pass.unit.links.accesses) {
    if (llvm::Value* copy = map.lookup(access)) pass.links.accesses[cast<llvm::Instruction>(copy)] = links;
  }
}

// Static shared variables that the kernel's functions use, at offsets in the order of the module; dynamic shared memory
// follows them.
void PlaceShared(KernelPass& pass, std::vector<std::pair<llvm::GlobalVariable*, uint64_t>>& placed) {
  const llvm::DataLayout& layout = pass.module->getDataLayout();
  uint64_t offset = 0;
  std::vector<llvm::GlobalVariable*> dynamic;
  auto used = [&pass](llvm::GlobalVariable& variable) {
    std::vector<llvm::User*> work(variable.user_begin(), variable.user_end());
    while (!work.empty()) {
      llvm::User* user = work.back();
      work.pop_back();
      if (auto* instruction = dyn_cast<llvm::Instruction>(user)) {
        if (pass.is_reachable.contains(instruction->getFunction())) return true;
      } else {
        work.insert(work.end(), user->user_begin(), user->user_end());
      }
    }
    return false;
  };
  for (llvm::GlobalVariable& variable : pass.module->globals()) {
    if (variable.getAddressSpace() != 3 || !used(variable)) continue;
    uint64_t bytes = layout.getTypeAllocSize(variable.getValueType());
    if (variable.isDeclaration() || bytes == 0) {
      dynamic.push_back(&variable);
      continue;
    }
    uint64_t alignment = layout.getPreferredAlign(&variable).value();
    offset = (offset + alignment - 1) / alignment * alignment;
    placed.emplace_back(&variable, kSharedBase + offset);
    offset += bytes;
  }
  pass.result->static_shared_bytes = static_cast<uint32_t>(offset);
  uint64_t start = (offset + 15) / 16 * 16;
  for (llvm::GlobalVariable* variable : dynamic) placed.emplace_back(variable, kSharedBase + start);
}

void ReplaceByAddress(llvm::GlobalVariable* variable, uint64_t address) {
  llvm::Constant* number = llvm::ConstantInt::get(llvm::Type::getInt64Ty(variable->getContext()), address);
  variable->replaceAllUsesWith(llvm::ConstantExpr::getIntToPtr(number, variable->getType()));
}

absl::Status PlaceVariables(KernelPass& pass) {
  std::vector<std::pair<llvm::GlobalVariable*, uint64_t>> placed;
  PlaceShared(pass, placed);
  for (llvm::GlobalVariable& variable : pass.module->globals()) {
    if (variable.getAddressSpace() == 3) continue;
    if (const PlacedGlobal* global = pass.globals.FindSymbol(variable.getName().str())) {
      placed.emplace_back(&variable, global->address);
    }
  }
  for (const char* name : {"llvm.used", "llvm.compiler.used", "llvm.global_ctors", "llvm.global_dtors"}) {
    if (llvm::GlobalVariable* list = pass.module->getGlobalVariable(name)) list->eraseFromParent();
  }
  for (auto [variable, address] : placed) ReplaceByAddress(variable, address);
  return absl::OkStatus();
}

// Gives every reachable function the thread context as its first argument and the host's calling convention.
void AddContextArguments(KernelPass& pass) {
  llvm::DenseMap<llvm::Function*, llvm::Function*> replacement;
  for (llvm::Function* function : pass.functions) {
    std::vector<llvm::Type*> types = {pass.pointer()};
    for (llvm::Argument& argument : function->args()) types.push_back(argument.getType());
    auto* type = llvm::FunctionType::get(function->getReturnType(), types, false);
    auto* copy = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "", pass.module);
    copy->takeName(function);
    copy->splice(copy->begin(), function);
    for (unsigned i = 0; i < function->arg_size(); ++i) {
      function->getArg(i)->replaceAllUsesWith(copy->getArg(i + 1));
      if (llvm::Type* by_value = function->getParamByValType(i)) {
        copy->addParamAttr(i + 1, llvm::Attribute::getWithByValType(pass.context(), by_value));
        if (llvm::MaybeAlign align = function->getParamAlign(i)) {
          copy->addParamAttr(i + 1, llvm::Attribute::getWithAlignment(pass.context(), *align));
        }
      }
    }
    copy->addFnAttr(llvm::Attribute::NoUnwind);
    if (function->getFnAttribute("denormal-fp-math-f32").getValueAsString().starts_with("preserve-sign")) {
      copy->addFnAttr(kFlushAttribute);
    }
    replacement[function] = copy;
  }
  for (llvm::Function*& function : pass.functions) {
    llvm::Function* copy = replacement[function];
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(*copy))) {
      auto* call = dyn_cast<llvm::CallInst>(&instruction);
      if (call == nullptr || call->getCalledFunction() == nullptr) continue;
      auto found = replacement.find(call->getCalledFunction());
      if (found == replacement.end()) {
        call->setCallingConv(llvm::CallingConv::C);
        continue;
      }
      std::vector<llvm::Value*> arguments = {copy->getArg(0)};
      arguments.insert(arguments.end(), call->arg_begin(), call->arg_end());
      llvm::IRBuilder<> builder(call);
      llvm::CallInst* fresh = builder.CreateCall(found->second, arguments);
      fresh->setDebugLoc(call->getDebugLoc());
      fresh->takeName(call);
      call->replaceAllUsesWith(fresh);
      call->eraseFromParent();
    }
  }
  pass.is_reachable.clear();
  for (llvm::Function*& function : pass.functions) {
    function = replacement[function];
    pass.is_reachable.insert(function);
  }
  pass.kernel = pass.functions.front();
}

// Everything that only an NVPTX module may carry goes; what the kernel does not reach goes too.
void Retarget(KernelPass& pass) {
  llvm::Module& module = *pass.module;
  llvm::StripDebugInfo(module);
  if (llvm::NamedMDNode* node = module.getNamedMetadata("nvvm.annotations")) node->eraseFromParent();
  if (llvm::NamedMDNode* node = module.getModuleFlagsMetadata()) node->eraseFromParent();
  for (llvm::Function& function : module) {
    if (pass.is_reachable.contains(&function)) continue;
    function.deleteBody();
    function.setComdat(nullptr);
  }
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (function.isDeclaration() && function.use_empty()) {
      function.eraseFromParent();
      continue;
    }
    function.setCallingConv(llvm::CallingConv::C);
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
    function.removeFnAttr(llvm::Attribute::Convergent);
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      // The host computes what IEEE 754 says, recorded and not recorded alike.
      if (isa<llvm::FPMathOperator>(instruction)) instruction.setFastMathFlags(llvm::FastMathFlags());
      if (auto* call = dyn_cast<llvm::CallBase>(&instruction)) {
        call->removeFnAttr(llvm::Attribute::Convergent);
        if (auto* plain = dyn_cast<llvm::CallInst>(call)) plain->setTailCall(false);
      }
    }
  }
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals())) {
    variable.removeDeadConstantUsers();
    if (variable.use_empty()) variable.eraseFromParent();
  }
  for (llvm::GlobalAlias& alias : llvm::make_early_inc_range(module.aliases())) {
    if (alias.use_empty()) alias.eraseFromParent();
  }
  module.setTargetTriple("x86_64-unknown-linux-gnu");
  module.setDataLayout(kHostLayout);
}

// void heddle_entry(ThreadContext*, const void* const* args): args[i] points to the value of parameter i; a by-value
// structure is used in place.
void MakeEntry(KernelPass& pass) {
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(pass.context()), {pass.pointer(), pass.pointer()}, false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntryName, pass.module);
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(pass.context(), "entry", entry));
  std::vector<llvm::Value*> arguments = {entry->getArg(0)};
  for (unsigned i = 1; i < pass.kernel->arg_size(); ++i) {
    llvm::Value* slot =
        builder.CreateLoad(pass.pointer(), builder.CreateConstInBoundsGEP1_64(pass.pointer(), entry->getArg(1), i - 1));
    llvm::Type* parameter = pass.kernel->getArg(i)->getType();
    bool by_value = pass.unit.function->getArg(i - 1)->hasByValAttr();
    arguments.push_back(by_value ? builder.CreateAddrSpaceCast(slot, parameter)
                                 : static_cast<llvm::Value*>(builder.CreateLoad(parameter, slot)));
  }
  builder.CreateCall(pass.kernel, arguments);
  builder.CreateRetVoid();
}

// A module of its own context, so that the caller may give it away.
absl::Status MoveToOwnContext(KernelPass& pass) {
  llvm::SmallVector<char, 0> bytes;
  llvm::BitcodeWriter writer(bytes);  // without the symbol table that linkers want
  writer.writeModule(*pass.module);
  writer.writeStrtab();
  pass.result->context = std::make_unique<llvm::LLVMContext>();
  auto parsed = llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::StringRef(bytes.data(), bytes.size()), "kernel"),
                                       *pass.result->context);
  if (!parsed) {
    return absl::InternalError(
        absl::StrCat("kernel '", trace::BriefKernelName(pass.result->name),
                     "': instrumented code cannot be read back: ", llvm::toString(parsed.takeError())));
  }
  pass.result->module = std::move(*parsed);
  return absl::OkStatus();
}

}  // namespace

std::string Site::ToString() const {
  if (file.empty() && line == 0) return "unknown place";
  if (line == 0) return file;
  return absl::StrCat(file.empty() ? "line " : absl::StrCat(file, ":"), line);
}

absl::StatusOr<InstrumentedKernel> Instrument(const CanonicalModule& module, const KernelUnit& unit,
                                              const GlobalLayout& globals, const KernelForm& form) {
  InstrumentedKernel result;
  result.entry = kEntryName;
  result.name = unit.program.name();
  const auto& function_blocks = unit.program.function(0);
  for (uint32_t i = 0; i < function_blocks.block_count(); ++i) {
    result.kernel_instructions +=
        unit.program.block(static_cast<int>(function_blocks.first_block() + i)).instruction_count();
  }
  KernelPass pass(module, unit, globals, form.record);
  pass.lockstep = form.lockstep;
  pass.result = &result;
  llvm::ValueToValueMapTy map;
  const std::unique_ptr<llvm::Module> clone = CloneForKernel(pass, map);
  MapLinks(pass, map);
  HEDDLE_RETURN_IF_ERROR(LowerInlinePtx(pass));
  HEDDLE_RETURN_IF_ERROR(CheckSupported(pass));
  absl::StatusOr<std::vector<KernelParameter>> parameters = DescribeParameters(*unit.function);
  if (!parameters.ok()) {
    return absl::Status(parameters.status().code(), absl::StrCat("kernel '", trace::BriefKernelName(result.name),
                                                                 "': ", parameters.status().message()));
  }
  result.parameters = *std::move(parameters);
  result.bounds = DescribeBounds(*unit.function);
  ExpandSharedNumbers(pass);
  HEDDLE_RETURN_IF_ERROR(PlaceVariables(pass));
  PlaceFunctions(pass);
  AddContextArguments(pass);
  WrapNarrowAddresses(pass);
  for (llvm::Function* function : pass.functions) {
    for (llvm::Instruction& instruction : llvm::instructions(*function)) {
      if (isa<llvm::AllocaInst>(instruction)) result.uses_local = true;
    }
    for (llvm::Argument& argument : function->args()) {
      if (argument.hasByValAttr() && function != pass.kernel) result.uses_local = true;
    }
  }
  FindWaits(pass);
  HEDDLE_RETURN_IF_ERROR(InsertRecording(pass));
  InsertWaits(pass);
  LowerCalls(pass);
  LowerDenormals(pass);
  HEDDLE_RETURN_IF_ERROR(LowerLocalMemory(pass));
  HEDDLE_RETURN_IF_ERROR(LowerIntrinsics(pass));
  LowerArithmetic(pass);
  if (form.record) KeepContextInRegisters(pass);
  MakeEntry(pass);
  pass.is_reachable.insert(pass.module->getFunction(kEntryName));
  Retarget(pass);
  if (!form.own_stacks) {
    llvm::Function& entry = *pass.module->getFunction(kEntryName);
    HEDDLE_RETURN_IF_ERROR(LeaveFramesAtBarriers(pass, entry));
  }
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*pass.module, &stream)) {
    return absl::InternalError(
        absl::StrCat("kernel '", trace::BriefKernelName(result.name),
                     "': instrumented code is not valid: ", problem.substr(0, problem.find('\n'))));
  }
  HEDDLE_RETURN_IF_ERROR(MoveToOwnContext(pass));
  return result;
}

}  // namespace heddle::tracegen
