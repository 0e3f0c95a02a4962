#include "tracegen/recipe/recipe_code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tracegen/frontend/compile.h"
#include "tracegen/program/compiled/canonicalize.h"
#include "tracegen/program/linked_flow.h"
#include "tracegen/program/ptx_source/lower_module.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"
#include "traces/format/limits.h"
#include "traces/format/program/code_level.h"

namespace heddle::tracegen {

namespace fs = std::filesystem;

CompileOptions CompileOptionsOf(const RecipeFile& file) {
  const recipe::v1::Recipe& recipe = file.recipe;
  CompileOptions options;
  options.defines.assign(recipe.define().begin(), recipe.define().end());
  for (const std::string& folder : recipe.include_dir()) options.include_dirs.push_back(file.Resolve(folder));
  if (!recipe.optimization().empty()) options.optimization = recipe.optimization();
  if (!recipe.target().empty()) options.target = recipe.target();
  options.no_unroll = recipe.no_unroll();
  options.keep_branches = recipe.keep_branches();
  return options;
}

absl::StatusOr<RecipeCode> RecipeCode::Compile(const RecipeFile& file, const MachineLevel* machine) {
  const recipe::v1::Recipe& recipe = file.recipe;
  RecipeCode code;
  const std::string source = file.Resolve(recipe.source());
  HEDDLE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(source));
  code.source_digest_ = HexSha256(text);
  if (machine != nullptr) {
    HEDDLE_ASSIGN_OR_RETURN(MachineCode made, CompileToMachineCode(file, *machine));
    code.target_ = made.module.target;
    code.ptx_producer_ = std::move(made.ptx_producer);
    code.warnings_ = std::move(made.warnings);
    code.canonical_ = std::make_unique<CanonicalModule>(std::move(made.module));
    return code;
  }
  if (absl::EndsWith(source, ".ptx")) {
    HEDDLE_ASSIGN_OR_RETURN(CanonicalModule canonical, ReadPtx(text, fs::path(source).filename().string()));
    code.target_ = canonical.target;
    code.canonical_ = std::make_unique<CanonicalModule>(std::move(canonical));
    return code;
  }
  const CompileOptions options = CompileOptionsOf(file);
  code.optimization_ = absl::StrCat(options.optimization, options.no_unroll ? " -fno-unroll-loops" : "",
                                    options.keep_branches ? absl::StrCat(" ", kKeepBranches) : "");
  code.target_ = options.target;
  HEDDLE_ASSIGN_OR_RETURN(DeviceModule module, tracegen::Compile(source, options));
  HEDDLE_ASSIGN_OR_RETURN(CanonicalModule canonical,
                          Canonicalize(std::move(module.context), std::move(module.module), code.target_));
  code.canonical_ = std::make_unique<CanonicalModule>(std::move(canonical));
  return code;
}

bool RecipeCode::is_machine_code() const {
  return canonical_->flows != nullptr && canonical_->flows->level == trace::v1::LEVEL_MACHINE;
}

std::string RecipeCode::Ptx() const { return SourcePtx(*canonical_); }

absl::Status RecipeCode::PlaceVariables(DeviceMemory& memory) {
  const auto allocate = [&memory](uint64_t bytes, const std::string& name) { return memory.Allocate(bytes, name); };
  HEDDLE_ASSIGN_OR_RETURN(globals_, PlaceGlobals(*canonical_->module, allocate));
  return absl::OkStatus();
}

absl::StatusOr<RecipeKernel*> RecipeCode::MakeKernel(const RecipeFile& recipe, int index, const KernelForm& form,
                                                     bool with_native, bool* is_new) {
  const std::string& name = recipe.recipe.launch(index).kernel();
  std::unique_ptr<RecipeKernel>& kernel = kernels_[name];
  *is_new = kernel == nullptr;
  if (kernel != nullptr) return kernel.get();
  absl::StatusOr<KernelUnit> unit = ReadKernel(*canonical_, name);
  if (absl::IsNotFound(unit.status())) {
    return recipe.Error("launch", index, "kernel", -1, std::string(unit.status().message()));
  }
  HEDDLE_RETURN_IF_ERROR(unit.status());
  kernel = std::make_unique<RecipeKernel>();
  kernel->unit = *std::move(unit);
  // Of machine code the assembler says how many there are.
  if (const uint32_t registers = recipe.recipe.registers(); registers != 0 && !is_machine_code()) {
    kernel->unit.program.set_register_count(registers);
    kernel->unit.program.set_registers_requested(registers);
  }
  KernelForm made_as = form;
  made_as.record = true;
  HEDDLE_ASSIGN_OR_RETURN(kernel->recorded, KernelCode::Make(*canonical_, kernel->unit, globals_, made_as));
  if (with_native) {
    made_as.record = false;
    HEDDLE_ASSIGN_OR_RETURN(kernel->native, KernelCode::Make(*canonical_, kernel->unit, globals_, made_as));
  }
  minor_version_ = std::max(minor_version_, trace::MinorVersionOf(kernel->unit.program));
  uses_warps_ |= kernel->unit.program.uses_warp_operations() || kernel->recorded.kernel.meets_warp;
  return kernel.get();
}

void RecipeCode::ResetVariables() const {
  for (const PlacedGlobal& global : globals_.globals) {
    std::memcpy(reinterpret_cast<void*>(global.address), global.contents.data(), global.contents.size());
  }
}

void RecipeCode::Describe(trace::v1::FileHeader& header) const {
  header.set_abstraction_level(is_machine_code() ? "machine" : "ptx");
  header.set_minor(std::max(header.minor(), minor_version_));
  if (canonical_->flows != nullptr) header.set_minor(std::max(header.minor(), trace::kGivenCodeMinorVersion));
  header.set_target(target_);
  header.set_compiler(canonical_->compiler);
  header.set_optimization(optimization_);
  if (uses_warps_) header.set_warp_width(kWarpWidth);
  for (const std::string& file : canonical_->source_files) header.add_source_file(file);
  (*header.mutable_provenance())["source_sha256"] = source_digest_;
  if (!ptx_producer_.empty()) (*header.mutable_provenance())["ptx_from"] = ptx_producer_;
}

}  // namespace heddle::tracegen
