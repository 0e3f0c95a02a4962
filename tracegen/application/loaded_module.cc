#include "tracegen/application/loaded_module.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tracegen/application/describe_kernel.h"
#include "tracegen/application/machine_source.h"
#include "tracegen/program/prepare.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
absl::StatusOr<std::unique_ptr<LoadedModule>> LoadedModule::Load(const std::vector<device::ModuleImage>& images,
                                                                 const device::ModuleOptions& options,
                                                                 const Allocate& allocate, uint64_t* constant_bytes,
                                                                 std::string* binary, const std::string& architecture) {
  std::unique_ptr<LoadedModule> module(new LoadedModule);
  module->options_ = options;
  module->allocate_ = allocate;
  module->constant_bytes_ = constant_bytes;
  module->architecture_ = architecture;
  HEDDLE_ASSIGN_OR_RETURN(module->source_, ModuleSource::Make(images, module->options_, binary));
  if (!architecture.empty()) {
    HEDDLE_ASSIGN_OR_RETURN(MachineTarget target, MachineTarget::Find(architecture));
    module->source_ = MakeMachineSource(std::move(module->source_), std::move(target), module->options_.name);
  }
  HEDDLE_ASSIGN_OR_RETURN(ModuleSource::Outline outline, module->source_->Read());
  HEDDLE_RETURN_IF_ERROR(module->Describe(*outline.module));
  if (!module->source_->IsLazy()) {
    module->whole_ = module->MakeCanonical(module->source_->Whole(std::move(outline))).status();
    if (module->whole_.ok()) return module;
    HEDDLE_ASSIGN_OR_RETURN(outline, module->source_->Read());
    module->takes_addresses_ = module->source_->TakesAddresses(outline);
  }
  // Kernel by kernel, later. The host asks for variables by name before.
  HEDDLE_RETURN_IF_ERROR(module->Place(*outline.module));
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

absl::StatusOr<const CanonicalModule*> LoadedModule::MakeCanonical(absl::StatusOr<CanonicalModule> canonical) {
  HEDDLE_RETURN_IF_ERROR(canonical.status());
  canonical_.push_back(std::make_unique<CanonicalModule>(*std::move(canonical)));
  if (absl::Status status = Place(*canonical_.back()->module); !status.ok()) {
    canonical_.pop_back();
    return status;
  }
  return canonical_.back().get();
}

CodeFacts LoadedModule::Facts() const {
  CodeFacts facts;
  facts.target = architecture_.empty() ? options_.target : architecture_;
  facts.optimization = options_.optimization;
  facts.ptx_producer = source_->ptx_producer();
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
  // "sm_90a" is 90.
  absl::string_view digits = options_.target;
  uint32_t number = 0;
  if (!absl::ConsumePrefix(&digits, "sm_")) return 70;
  return absl::SimpleAtoi(digits.substr(0, digits.find_first_not_of("0123456789")), &number) ? number : 70;
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
    variable.managed = global.managed;
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
  const auto is_local = [](const device::ParameterInfo& one) {
    return one.kind == device::ParameterKind::kSharedPointer;
  };
  if (!architecture_.empty() && std::ranges::any_of(info->parameters, is_local)) {
    return absl::UnimplementedError(absl::StrCat("kernel '", info->shown_name,
                                                 "' has __local arguments, which machine code cannot have yet; capture "
                                                 "it at level ptx"));
  }
  auto kernel = std::make_unique<LoadedKernel>();
  kernel->info = *info;
  if (whole_.ok()) {
    kernel->canonical = canonical_.front().get();
  } else if (takes_addresses_) {
    return whole_;  // a function's address depends on which functions there are, so it would differ between kernels
  } else {
    HEDDLE_ASSIGN_OR_RETURN(kernel->canonical, MakeCanonical(source_->Only(name)));
  }
  absl::StatusOr<KernelUnit> unit = ReadKernel(*kernel->canonical, name);
  if (!unit.ok()) return unit.status();
  kernel->unit = *std::move(unit);
  if (options_.max_registers != 0 && architecture_.empty()) {
    kernel->unit.program.set_registers_requested(options_.max_registers);
    kernel->unit.program.set_register_count(std::min(kernel->unit.program.register_count(), options_.max_registers));
  }
  kernel->info.static_shared_bytes = kernel->unit.program.static_shared_bytes();
  kernel->info.registers = kernel->unit.program.register_count();
  kernel->info.local_bytes = kernel->unit.program.local_bytes();
  DescribeBody(*kernel->unit.function, kernel->info);
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
