#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/capture/commands.h"
#include "tracegen/recipe/recipe_run.h"

namespace heddle::tracegen {

int EmitPtxCommand(int argc, char** argv) {
  CLI::App app{
      "Compiles a recipe and prints the PTX of its kernels: the text that their static program is read from, with the "
      "lines of the source. A recipe whose source is this text records the same."};
  app.name("heddle-capture --emit-ptx");
  std::string recipe, output;
  app.add_option("recipe", recipe, "recipe (.textproto)")->required();
  app.add_option("-o,--output", output, "file to write; without it, standard output");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    PrintMessage(absl::StrCat(error.what(), " (see heddle-capture --emit-ptx --help)"));
    return kWrongUsage;
  }
  const absl::StatusOr<std::string> ptx = PtxOfRecipe(recipe);
  if (!ptx.ok()) {
    PrintMessage(std::string(ptx.status().message()));
    return kFailure;
  }
  if (output.empty()) {
    absl::PrintF("%s", *ptx);
    return std::fflush(stdout) == 0 ? 0 : kFailure;
  }
  std::ofstream file(output, std::ios::binary);
  file << *ptx;
  file.close();
  if (file.good()) return 0;
  PrintMessage(absl::StrCat(output, ": cannot be written"));
  return kFailure;
}

}  // namespace heddle::tracegen
