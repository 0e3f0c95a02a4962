#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tools/capture/commands.h"
#include "tracegen/frontend/compile.h"
#include "tracegen/frontend/compile_program.h"
#include "tracegen/program/compiled/virtual_blocks.h"
#include "tracegen/recipe/recipe_file.h"

namespace heddle::tracegen {
namespace {

// How source files are compiled. Recipes say it themselves.
struct SourceOptions {
  std::vector<std::string> include_dirs;
  std::vector<std::string> defines;
  std::string target = "sm_70";
  std::string more;  // of heddle-nvcc
};

absl::StatusOr<DeviceModule> CompileCuda(const std::string& path, const SourceOptions& options) {
  std::vector<std::string> words = {"-arch=" + options.target};
  for (const std::string& folder : options.include_dirs) words.push_back("-I" + folder);
  for (const std::string& define : options.defines) words.push_back("-D" + define);
  for (absl::string_view word : absl::StrSplit(options.more, ' ', absl::SkipEmpty())) words.emplace_back(word);
  return CompileProgramSource(path, words);
}

// The costs of all kernels of a recipe's device code, or of a source file.
absl::StatusOr<std::vector<VirtualBlockCost>> Measure(const std::string& path, const SourceOptions& given) {
  std::string source = path;
  if (absl::EndsWith(path, ".cu")) {
    absl::StatusOr<DeviceModule> module = CompileCuda(path, given);
    if (!module.ok()) return module.status();
    return MeasureVirtualBlocks(*module->module, given.target);
  }
  CompileOptions options;
  options.defines = given.defines;
  options.include_dirs = given.include_dirs;
  options.target = given.target;
  if (absl::EndsWith(path, ".textproto")) {
    absl::StatusOr<RecipeFile> recipe = ReadRecipeFile(path);
    if (!recipe.ok()) return recipe.status();
    source = recipe->Resolve(recipe->recipe.source());
    options = {};
    options.defines.assign(recipe->recipe.define().begin(), recipe->recipe.define().end());
    for (const std::string& folder : recipe->recipe.include_dir()) {
      options.include_dirs.push_back(recipe->Resolve(folder));
    }
    if (!recipe->recipe.optimization().empty()) options.optimization = recipe->recipe.optimization();
    if (!recipe->recipe.target().empty()) options.target = recipe->recipe.target();
    options.no_unroll = recipe->recipe.no_unroll();
  }
  absl::StatusOr<DeviceModule> module = Compile(source, options);
  if (!module.ok()) return module.status();
  return MeasureVirtualBlocks(*module->module, options.target);
}

// What --dispatch takes. The wrapper is counted as a whole, whatever dimensions it needs; a kernel that needs fewer
// registers in the loop counts as needing as many.
std::string DispatchWords(const VirtualBlockCost& cost) {
  return absl::StrCat("virtual_blocks:extra_registers=", std::max(cost.extra_registers, 0),
                      ",once_instructions=", cost.once, ",iteration_instructions=", cost.iteration,
                      ",dimension_instructions=0,hoisted_instructions=", cost.hoisted);
}

}  // namespace

int VirtualBlocksCommand(int argc, char** argv) {
  CLI::App app{
      "Puts kernels into the loop over virtual thread blocks of VTW, and counts in their PTX what it costs: "
      "instructions in front of the loop and in every iteration, registers, and instructions that move out of the "
      "loop. Prints what `heddle replay --dispatch` takes."};
  app.name("heddle-capture --virtual-blocks");
  std::vector<std::string> files;
  SourceOptions options;
  bool json = false;
  app.add_option("file", files,
                 "recipes (.textproto), CUDA sources with or without host code (.cu), or device code (.cl, .bc)")
      ->required();
  app.add_option("-I,--include-path", options.include_dirs, "folder of headers that sources include")
      ->allow_extra_args(false);
  app.add_option("-D,--define-macro", options.defines, "NAME or NAME=VALUE for sources")->allow_extra_args(false);
  app.add_option("--arch", options.target, "compute capability that sources are compiled for")->capture_default_str();
  app.add_option("--nvcc-options", options.more, "more options of heddle-nvcc for .cu files, in one word");
  app.add_flag("--json", json, "one JSON object per kernel and line");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    absl::FPrintF(stderr, "heddle-capture: %s (see heddle-capture --virtual-blocks --help)\n", error.what());
    return kWrongUsage;
  }
  for (const std::string& file : files) {
    absl::StatusOr<std::vector<VirtualBlockCost>> costs = Measure(file, options);
    if (!costs.ok()) {
      absl::FPrintF(stderr, "heddle-capture: %s\n", std::string(costs.status().message()));
      return kFailure;
    }
    for (const VirtualBlockCost& cost : *costs) {
      if (!cost.failure.empty()) {
        absl::FPrintF(stderr, "heddle-capture: %s: kernel %s is left out: %s\n", file, cost.kernel, cost.failure);
        continue;
      }
      if (json) {
        absl::PrintF(
            "{\"kernel\": \"%s\", \"instructions\": %u, \"registers\": %u, \"extra_registers\": %d, "
            "\"once_instructions\": %u, \"iteration_instructions\": %u, \"hoisted_instructions\": %u, "
            "\"dispatch\": \"%s\"}\n",
            cost.kernel, cost.instructions, cost.registers, cost.extra_registers, cost.once, cost.iteration,
            cost.hoisted, DispatchWords(cost));
        continue;
      }
      absl::PrintF(
          "%s: %u instructions, %u registers; in virtual blocks %u instructions once, %u in every iteration, %u moved "
          "out of the loop, %+d registers\n  --dispatch %s\n",
          cost.kernel, cost.instructions, cost.registers, cost.once, cost.iteration, cost.hoisted, cost.extra_registers,
          DispatchWords(cost));
    }
  }
  return 0;
}

}  // namespace heddle::tracegen
