// `heddle reproduce`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/inputs/policy_library.h"
#include "tools/inputs/register_counts.h"
#include "tools/study/reproduce/claims.h"
#include "tools/study/reproduce/reproduce_command.h"

namespace heddle::tools::reproduce {
namespace {

// In the order of InputSize.
constexpr std::array<const char*, 3> kSizes = {"tiny", "small", "paper"};

// Turns a size's name into its number, which is what an option of type InputSize is read from.
CLI::Validator SizeByName() {
  return CLI::Validator(
      [](std::string& text) {
        const auto size = std::find(kSizes.begin(), kSizes.end(), text);
        if (size == kSizes.end()) return absl::StrCat(text, " not in {", absl::StrJoin(kSizes, ","), "}");
        text = std::to_string(std::distance(kSizes.begin(), size));
        return std::string();
      },
      "SIZE");
}

class Reproduce final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command
        .add_option("PAPER", arguments_.papers,
                    absl::StrCat("all, FILE.textproto, or: ", absl::StrJoin(ListPapers(), ", ")))
        ->required();
    command
        .add_option("-o,--output", arguments_.folder,
                    "Folder of results and pages; to go on after an interruption, run again")
        ->required()
        ->check(NotEmpty());
    command
        .add_option("--size", arguments_.size,
                    "Inputs of the kernels: tiny (to try it), small (default), paper (the paper's geometry, where a "
                    "kernel has it)")
        ->transform(SizeByName());
    command
        .add_option("--traces", arguments_.traces,
                    "Folder of traces, RECIPE.htrace; missing ones are recorded there; else "
                    "OUTPUT/traces")
        ->check(NotEmpty());
    command
        .add_option("--recipes", arguments_.recipes, "Folder of the kernels; else traces/kernels of the source tree")
        ->check(NotEmpty());
    command
        .add_option("--originals", arguments_.originals,
                    "Folder with the output of `heddle suite run` of each suite, under its name: where a paper's own "
                    "program is there, claims are computed from it")
        ->check(CLI::ExistingDirectory);
    command
        .add_option(
            "--certify", arguments_.certify,
            "Certify new recordings in so many other orders of threads: rows whose paths depend on it are marked")
        ->check(WholeNumberFromTo(1, 1000));
    command.add_option("--registers", arguments_.registers, kRegistersHelp)->expected(1)->take_all()->check(NotEmpty());
    command
        .add_flag_callback(
            "--paper-residency", [this] { arguments_.paper_residency = true; },
            "As many blocks per SM as the paper states, where it does, whatever registers they take")
        ->excludes("--registers");
    command.add_option("--jobs", arguments_.jobs, "Threads")->check(WholeNumberFromTo(1, 1024))->capture_default_str();
    command
        .add_option("--jitter", arguments_.jitter,
                    "Run everything so many times with a little noise on the memory's latencies; effects within it do "
                    "not count")
        ->check(WholeNumberFromTo(2, 1000));
    command
        .add_option("--headline-jitter", arguments_.headline_jitter,
                    "With --jitter: so many times at least for claims of abstracts and conclusions")
        ->check(WholeNumberFromTo(2, 1000))
        ->capture_default_str();
    command.add_flag("--sensitivity", arguments_.sensitivity,
                     "Also with the other choice at every point that the paper leaves open: which conclusions change?");
    command
        .add_option(
            "--tests", arguments_.tests,
            "Inputs for --jitter and --sensitivity instead of those of --size: smaller ones; every claim is shown "
            "with both")
        ->transform(SizeByName());
    command
        .add_option("--causes", arguments_.causes,
                    "For claims that do not come out also run each suspect, with the inputs of --size, if it needs at "
                    "most so many replays")
        ->check(WholeNumberFromTo(1, 1'000'000));
    auto* const causes = command.get_option("--causes");
    command
        .add_option("--audit", arguments_.audit,
                    "Treat so many claims that agree as --causes does those that do not: do they still come out?")
        ->check(WholeNumberFromTo(1, 1000))
        ->needs(causes);
    command.add_flag("--freeze", arguments_.freeze, "Also write OUTPUT/PAPER.ledger, the scores of today");
    command.add_option("--page", arguments_.page, "File for the page of all papers; else OUTPUT/reproduction.md")
        ->check(NotEmpty());
    command
        .add_flag("--plan", arguments_.plan_only,
                  "Only write the sweeps OUTPUT/PAPER, for `heddle sweep run` or `emit`; then run this again")
        ->excludes("--causes");
    AddPolicyLibraryOption(command, arguments_.libraries);
    command.add_flag("--quiet", arguments_.quiet, "No progress on a terminal");
  }

  int Run() override { return ReproduceCommand(arguments_); }

 private:
  ReproduceArguments arguments_;
};

HEDDLE_COMMAND(
    Reproduce, .name = "reproduce", .place = 8, .summary = "Run a paper's comparisons and score its claims",
    .footer =
        "\nWrites OUTPUT/PAPER.md and .json (with --tests also PAPER.SIZE.md and .json) for every paper: claim, the "
        "paper's value, ours, and whether they agree in\n"
        "direction and size. The claims are fixed in tools/study/reproduce/claims/PAPER.textproto "
        "(proto/claims.proto).");

}  // namespace
}  // namespace heddle::tools::reproduce
