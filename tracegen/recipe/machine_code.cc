#include "tracegen/recipe/machine_code.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tracegen/frontend/compile.h"
#include "tracegen/frontend/libdevice.h"
#include "tracegen/machine/encoding/architecture.h"
#include "tracegen/machine/toolchain/nvcc.h"
#include "tracegen/machine/toolchain/toolchain.h"
#include "tracegen/program/compiled/canonicalize.h"
#include "tracegen/program/machine_source/lower_machine.h"
#include "tracegen/program/ptx_source/producer.h"
#include "tracegen/recipe/recipe_code.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

namespace fs = std::filesystem;
using machine::Architecture;
using machine::ArchitectureName;

// The number of "sm_80"; 0 of another text.
int CapabilityOf(absl::string_view target) {
  int number = 0;
  if (!absl::ConsumePrefix(&target, "sm_")) return 0;
  std::from_chars(target.data(), target.data() + target.size(), number);
  return number;
}

class MachineCodeMaker {
 public:
  MachineCodeMaker(const RecipeFile& file, const MachineLevel& level)
      : file_(file), level_(level), source_(file.Resolve(file.recipe.source())) {}

  absl::StatusOr<MachineCode> Make() {
    HEDDLE_ASSIGN_OR_RETURN(architecture_, machine::ArchitectureOf(level_.architecture));
    HEDDLE_ASSIGN_OR_RETURN(toolchain_, machine::Toolchain::Find());
    HEDDLE_ASSIGN_OR_RETURN(const std::string ptx, Ptx());
    const std::string name = fs::path(source_).filename().string();
    HEDDLE_ASSIGN_OR_RETURN(made_.module, ReadPtxAsMachine(*toolchain_, architecture_, ptx, name));
    if (made_.ptx_producer.empty()) made_.ptx_producer = ProducerOf(ptx);
    return std::move(made_);
  }

 private:
  // PTX does not say which arguments are local memory that the launch reserves.
  absl::Status CheckArguments() const {
    for (int i = 0; i < file_.recipe.launch_size(); ++i) {
      const auto& arguments = file_.recipe.launch(i).argument();
      const auto is_local = [](const recipe::v1::Argument& one) { return one.has_local_bytes(); };
      if (std::ranges::none_of(arguments, is_local)) continue;
      return file_.Error(
          "launch", i,
          "local_bytes cannot be an argument of machine code yet; let the kernel have a __local array, or "
          "capture it at level ptx");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Ptx() {
    if (absl::EndsWith(source_, ".ptx")) return ReadWholeFile(source_);
    HEDDLE_RETURN_IF_ERROR(CheckArguments());
    const std::string& asked = file_.recipe.target();
    if (CapabilityOf(asked) > static_cast<int>(architecture_)) {
      return absl::InvalidArgumentError(absl::StrCat(file_.path, ": the recipe's code is for ", asked, " and later; ",
                                                     ArchitectureName(architecture_), " is too early: give --arch"));
    }
    return absl::EndsWith(source_, ".cu") && level_.ptx_from != "clang" ? PtxOfNvcc() : PtxOfClang();
  }

  absl::StatusOr<std::string> PtxOfNvcc() {
    HEDDLE_ASSIGN_OR_RETURN(const machine::Nvcc nvcc, machine::Nvcc::Find(level_.ptx_from));
    for (const auto& [is_given, what] :
         {std::pair(file_.recipe.no_unroll(), "no_unroll"), std::pair(file_.recipe.keep_branches(), "keep_branches"),
          std::pair(!file_.recipe.optimization().empty(), "optimization")}) {
      if (!is_given) continue;
      made_.warnings.push_back(
          absl::StrCat(file_.path, ": ", what, " is for clang, and nvcc does as it likes; --ptx-from clang keeps it"));
    }
    machine::NvccOptions options;
    options.architecture = architecture_;
    options.defines.assign(file_.recipe.define().begin(), file_.recipe.define().end());
    for (const std::string& folder : file_.recipe.include_dir()) options.include_dirs.push_back(file_.Resolve(folder));
    return nvcc.Compile(source_, options);
  }

  absl::StatusOr<std::string> PtxOfClang() {
    CompileOptions options = CompileOptionsOf(file_);
    options.target = ArchitectureName(architecture_);
    HEDDLE_ASSIGN_OR_RETURN(DeviceModule device, tracegen::Compile(source_, options));
    if (CallsLibdevice(*device.module)) {
      HEDDLE_ASSIGN_OR_RETURN(const std::string library, toolchain_->FindLibdevice());
      HEDDLE_RETURN_IF_ERROR(LinkLibdevice(*device.module, library, options.target, !options.no_unroll));
    }
    HEDDLE_ASSIGN_OR_RETURN(const CanonicalModule canonical,
                            Canonicalize(std::move(device.context), std::move(device.module), options.target));
    made_.ptx_producer = canonical.compiler;
    return SourcePtx(canonical);
  }

  const RecipeFile& file_;
  const MachineLevel& level_;
  const std::string source_;
  Architecture architecture_ = Architecture::kSm80;
  std::optional<machine::Toolchain> toolchain_;
  MachineCode made_;
};

}  // namespace

absl::StatusOr<MachineCode> CompileToMachineCode(const RecipeFile& recipe, const MachineLevel& level) {
  return MachineCodeMaker(recipe, level).Make();
}

}  // namespace heddle::tracegen
