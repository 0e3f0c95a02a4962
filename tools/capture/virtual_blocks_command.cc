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
#include "tools/capture/commands.h"
#include "tracegen/execute/recipe_file.h"
#include "tracegen/frontend/compile.h"
#include "tracegen/program/virtual_blocks.h"

namespace heddle::tracegen {
namespace {

// The costs of all kernels of a recipe's device code, or of a source file.
absl::StatusOr<std::vector<VirtualBlockCost>> Measure(const std::string& path) {
  std::string source = path;
  CompileOptions options;
  if (absl::EndsWith(path, ".textproto")) {
    absl::StatusOr<RecipeFile> recipe = ReadRecipeFile(path);
    if (!recipe.ok()) return recipe.status();
    source = recipe->Resolve(recipe->recipe.source());
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
  bool json = false;
  app.add_option("file", files, "recipes (.textproto) or device code (.cu, .cl, .bc)")->required();
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
    absl::StatusOr<std::vector<VirtualBlockCost>> costs = Measure(file);
    if (!costs.ok()) {
      absl::FPrintF(stderr, "heddle-capture: %s\n", std::string(costs.status().message()));
      return kFailure;
    }
    for (const VirtualBlockCost& cost : *costs) {
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
