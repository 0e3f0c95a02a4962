#include "tracegen/application/loaded_module.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "tracegen/execute/launch/launch_limits.h"
#include "tracegen/execute/launch/live_blocks.h"
#include "tracegen/frontend/bitcode.h"
#include "tracegen/instrument/kernel_interface.h"
#include "tracegen/program/device_calls.h"
#include "tracegen/program/prepare.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

constexpr char kDefaultTarget[] = "sm_70";

device::ParameterKind KindOf(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kScalar:
      return device::ParameterKind::kScalar;
    case ParameterKind::kGlobalPointer:
      return device::ParameterKind::kGlobalPointer;
    case ParameterKind::kConstantPointer:
      return device::ParameterKind::kConstantPointer;
    case ParameterKind::kSharedPointer:
      return device::ParameterKind::kSharedPointer;
    case ParameterKind::kByValue:
      return device::ParameterKind::kByValue;
  }
  return device::ParameterKind::kScalar;
}

// What clang notes about the arguments of an OpenCL kernel ("kernel_arg_type" and its like; one operand per argument).
std::string ArgumentText(const llvm::Function& kernel, const char* what, unsigned argument) {
  const llvm::MDNode* node = kernel.getMetadata(what);
  if (node == nullptr || argument >= node->getNumOperands()) return "";
  const auto* text = llvm::dyn_cast<llvm::MDString>(node->getOperand(argument));
  return text != nullptr ? text->getString().str() : "";
}

uint32_t ArgumentNumber(const llvm::Function& kernel, const char* what, unsigned argument) {
  const llvm::MDNode* node = kernel.getMetadata(what);
  if (node == nullptr || argument >= node->getNumOperands()) return 0;
  const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node->getOperand(argument));
  return value != nullptr ? static_cast<uint32_t>(value->getLimitedValue()) : 0;
}

void AddOpenClInfo(const llvm::Function& kernel, unsigned argument, device::ParameterInfo& info) {
  if (kernel.getMetadata("kernel_arg_type") == nullptr) return;
  if (std::string name = ArgumentText(kernel, "kernel_arg_name", argument); !name.empty()) info.name = name;
  info.type_name = ArgumentText(kernel, "kernel_arg_type", argument);
  info.address_space = ArgumentNumber(kernel, "kernel_arg_addr_space", argument);
  info.access_qualifier = ArgumentText(kernel, "kernel_arg_access_qual", argument);
  info.type_qualifiers = ArgumentText(kernel, "kernel_arg_type_qual", argument);
  const std::string base = ArgumentText(kernel, "kernel_arg_base_type", argument);
  if (base == "sampler_t") {
    info.kind = device::ParameterKind::kSampler;
  } else if (absl::StartsWith(base, "image") && absl::EndsWith(base, "_t")) {
    info.kind = device::ParameterKind::kImage;
  }
}

absl::StatusOr<device::KernelInfo> DescribeKernel(const llvm::Function& kernel) {
  device::KernelInfo info;
  info.name = kernel.getName().str();
  info.shown_name = BaseName(info.name);
  absl::StatusOr<std::vector<KernelParameter>> parameters = DescribeParameters(kernel);
  if (!parameters.ok()) {
    return absl::Status(parameters.status().code(),
                        absl::StrCat("kernel '", info.shown_name, "': ", parameters.status().message()));
  }
  for (const KernelParameter& parameter : *parameters) {
    device::ParameterInfo& entry = info.parameters.emplace_back();
    entry.name = parameter.name;
    entry.kind = KindOf(parameter.kind);
    entry.offset = parameter.offset;
    entry.bytes = parameter.bytes;
    entry.alignment = parameter.alignment;
    AddOpenClInfo(kernel, static_cast<unsigned>(info.parameters.size() - 1), entry);
    info.parameter_bytes = parameter.offset + parameter.bytes;
  }
  const KernelBounds bounds = DescribeBounds(kernel);
  info.max_threads = bounds.max_threads;
  std::copy(std::begin(bounds.required_block), std::end(bounds.required_block), info.required_block);
  if (bounds.required_block[0] != 0 && kernel.getMetadata("reqd_work_group_size") != nullptr) {
    info.attributes = absl::StrCat("reqd_work_group_size(", absl::StrJoin(bounds.required_block, ","), ")");
  }
  return info;
}

// Of a kernel that reaches a barrier of the whole grid, through calls by name: how much of it can be live at once.
void DescribeLiveBlocks(const llvm::Function& kernel, device::KernelInfo& info) {
  constexpr llvm::StringLiteral kGridBarrier = "__heddle_resident_grid";
  bool meets_grid = false;
  bool uses_local = false;  // as InstrumentedKernel::uses_local
  llvm::DenseSet<const llvm::Function*> seen = {&kernel};
  std::vector<const llvm::Function*> work = {&kernel};
  while (!work.empty()) {
    const llvm::Function& function = *work.back();
    work.pop_back();
    for (const llvm::Argument& argument : function.args()) {
      uses_local |= argument.hasByValAttr() && &function != &kernel;
    }
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      uses_local |= llvm::isa<llvm::AllocaInst>(instruction);
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
      if (callee == nullptr) continue;
      meets_grid |= callee->getName() == kGridBarrier;
      if (!callee->isDeclaration() && seen.insert(callee).second) work.push_back(callee);
    }
  }
  if (!meets_grid) return;
  info.live_threads = uses_local ? kMaxLiveThreadsWithLocal : kMaxLiveThreads;
  info.live_blocks = kMaxResidentBlocks;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedModule>> LoadedModule::Load(std::string bitcode,
                                                                 const device::ModuleOptions& options,
                                                                 const Allocate& allocate, uint64_t* constant_bytes) {
  std::unique_ptr<LoadedModule> module(new LoadedModule);
  module->bitcode_ = std::move(bitcode);
  module->options_ = options;
  if (module->options_.target.empty()) module->options_.target = kDefaultTarget;
  if (module->options_.optimization.empty()) module->options_.optimization = "-O2";
  if (module->options_.name.empty()) module->options_.name = "device code";
  module->allocate_ = allocate;
  module->constant_bytes_ = constant_bytes;
  auto context = std::make_unique<llvm::LLVMContext>();
  absl::StatusOr<std::unique_ptr<llvm::Module>> raw = ReadBitcode(module->bitcode_, module->options_.name, *context);
  if (!raw.ok()) return raw.status();
  HEDDLE_RETURN_IF_ERROR(module->Describe(**raw));
  module->whole_ = module->MakeCanonical(std::move(context), *std::move(raw)).status();
  if (!module->whole_.ok()) {
    // Kernel by kernel, later. The host asks for variables by name before.
    context = std::make_unique<llvm::LLVMContext>();
    raw = ReadBitcode(module->bitcode_, module->options_.name, *context);
    if (!raw.ok()) return raw.status();
    module->takes_addresses_ = !AddressTakenFunctions(**raw).empty();
    HEDDLE_RETURN_IF_ERROR(module->Place(**raw));
  }
  return module;
}

absl::Status LoadedModule::Describe(const llvm::Module& module) {
  for (const llvm::Function* kernel : KernelsOf(module)) {
    HEDDLE_ASSIGN_OR_RETURN(device::KernelInfo info, DescribeKernel(*kernel));
    kernel_infos_.push_back(std::move(info));
  }
  return absl::OkStatus();
}

absl::Status LoadedModule::Place(const llvm::Module& module) {
  const size_t before = globals_.globals.size();
  globals_.constant_bytes = *constant_bytes_;
  HEDDLE_ASSIGN_OR_RETURN(GlobalLayout placed, PlaceGlobals(module, allocate_, globals_));
  globals_ = std::move(placed);
  *constant_bytes_ = globals_.constant_bytes;
  for (size_t i = before; i < globals_.globals.size(); ++i) {
    const PlacedGlobal& global = globals_.globals[i];
    std::memcpy(reinterpret_cast<void*>(global.address), global.contents.data(), global.contents.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<const CanonicalModule*> LoadedModule::MakeCanonical(std::unique_ptr<llvm::LLVMContext> context,
                                                                   std::unique_ptr<llvm::Module> module) {
  HEDDLE_ASSIGN_OR_RETURN(CanonicalModule canonical,
                          Canonicalize(std::move(context), std::move(module), options_.target));
  canonical_.push_back(std::make_unique<CanonicalModule>(std::move(canonical)));
  if (absl::Status status = Place(*canonical_.back()->module); !status.ok()) {
    canonical_.pop_back();
    return status;
  }
  return canonical_.back().get();
}

CodeFacts LoadedModule::Facts() const {
  CodeFacts facts;
  facts.target = options_.target;
  facts.optimization = options_.optimization;
  if (whole_.ok()) {
    facts.compiler = canonical_.front()->compiler;
    facts.source_files = canonical_.front()->source_files;
  }
  return facts;
}

CodeFacts LoadedModule::Facts(const LoadedKernel& kernel) const {
  CodeFacts facts = Facts();
  facts.compiler = kernel.canonical->compiler;
  facts.source_files = kernel.canonical->source_files;
  facts.meets_warps = kernel.unit.program.uses_warp_operations() || kernel.recorded.kernel.meets_warp ||
                      kernel.native.kernel.meets_warp;
  return facts;
}

uint32_t LoadedModule::capability() const {
  uint32_t number = 0;
  const bool known =
      absl::StartsWith(options_.target, "sm_") && absl::SimpleAtoi(options_.target.substr(3, 2), &number);
  return known ? number : 70;
}

std::vector<device::VariableInfo> LoadedModule::Variables() const {
  std::vector<device::VariableInfo> variables;
  for (const PlacedGlobal& global : globals_.globals) {
    device::VariableInfo& variable = variables.emplace_back();
    variable.name = global.symbol;
    variable.shown_name = global.name;
    variable.address = global.address;
    variable.bytes = global.bytes;
    variable.constant = global.constant;
  }
  return variables;
}

absl::StatusOr<LoadedKernel*> LoadedModule::Kernel(const std::string& name) {
  if (const auto found = loaded_.find(name); found != loaded_.end()) return found->second.get();
  const auto info = std::find_if(kernel_infos_.begin(), kernel_infos_.end(),
                                 [&name](const device::KernelInfo& kernel) { return kernel.name == name; });
  if (info == kernel_infos_.end()) {
    std::vector<std::string> known;
    for (const device::KernelInfo& kernel : kernel_infos_) known.push_back(kernel.name);
    return absl::NotFoundError(absl::StrCat(
        options_.name, ": there is no kernel '", name, "'",
        known.empty() ? "; there are none at all" : absl::StrCat("; there are: ", absl::StrJoin(known, ", "))));
  }
  auto kernel = std::make_unique<LoadedKernel>();
  kernel->info = *info;
  if (whole_.ok()) {
    kernel->canonical = canonical_.front().get();
  } else if (takes_addresses_) {
    return whole_;  // a function's address depends on which functions there are, so it would differ between kernels
  } else {
    auto context = std::make_unique<llvm::LLVMContext>();
    HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module, ReadBitcode(bitcode_, options_.name, *context));
    KeepKernel(*module, name);
    absl::StatusOr<const CanonicalModule*> canonical = MakeCanonical(std::move(context), std::move(module));
    if (!canonical.ok()) return canonical.status();
    kernel->canonical = *canonical;
  }
  absl::StatusOr<KernelUnit> unit = ReadKernel(*kernel->canonical, name);
  if (!unit.ok()) return unit.status();
  kernel->unit = *std::move(unit);
  if (options_.max_registers != 0) {
    kernel->unit.program.set_registers_requested(options_.max_registers);
    kernel->unit.program.set_register_count(std::min(kernel->unit.program.register_count(), options_.max_registers));
  }
  kernel->info.static_shared_bytes = kernel->unit.program.static_shared_bytes();
  kernel->info.registers = kernel->unit.program.register_count();
  kernel->info.local_bytes = kernel->unit.program.local_bytes();
  DescribeLiveBlocks(*kernel->unit.function, kernel->info);
  return (loaded_[name] = std::move(kernel)).get();
}

absl::StatusOr<KernelCode*> LoadedModule::Code(LoadedKernel& kernel, const KernelForm& made_as) {
  KernelCode& form = made_as.record ? kernel.recorded : kernel.native;
  if (form.code == nullptr) {
    HEDDLE_ASSIGN_OR_RETURN(form, KernelCode::Make(*kernel.canonical, kernel.unit, globals_, made_as));
  }
  return &form;
}

}  // namespace heddle::tracegen
