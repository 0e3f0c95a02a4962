// `heddle sweep emit`.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/console/command.h"
#include "tools/console/option_checks.h"
#include "tools/console/terminal.h"
#include "tools/inputs/policy_library.h"
#include "tools/study/sweep/sweep_commands.h"

namespace heddle::tools::sweep {
namespace {

class SweepEmit final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("DIR", arguments_.folder, "Folder of the sweep")->required();
    CLI::Option_group& engine = *command.add_option_group("engine");
    engine.add_flag("--slurm", slurm_, "A Slurm job array: sbatch DIR/sweep.sbatch");
    engine.add_flag("--snakemake", snakemake_, "A Snakefile with one rule per job: snakemake -k -s DIR/Snakefile -c N");
    engine.add_flag("--joblist", job_list_, "One command per line: parallel < DIR/jobs.txt, or xargs");
    engine.require_option(1);
    command.add_option("-o,--output", arguments_.output, "File to write, - = standard output")->check(NotEmpty());
    command.add_option("--minutes", arguments_.chunks.minutes, "What a job should take on one core")
        ->check(NumberFromTo(0.01, 1e5))
        ->capture_default_str();
    command
        .add_option("--rate", arguments_.chunks.instructions_per_second,
                    "Thread-instructions per second of one core, for the estimate")
        ->check(NumberFromTo(1, 1e12))
        ->capture_default_str();
    command.add_option("--points-per-job", arguments_.chunks.points, "Instead of an estimate")
        ->check(PositiveWholeNumber());
    command.add_option("--most-jobs", arguments_.chunks.most_chunks, "Jobs grow if there would be more")
        ->check(WholeNumberFromTo(1, 1000))
        ->capture_default_str();
    command.add_option("--cores", arguments_.emit.cores, "Of a job")
        ->check(WholeNumberFromTo(1, 1024))
        ->capture_default_str();
    command.add_option("--throttle", arguments_.emit.throttle, "Jobs of a Slurm array at once")
        ->check(WholeNumberFromTo(1, 1000))
        ->capture_default_str();
    command.add_option("--sbatch", arguments_.emit.extra, "More options of sbatch: \"--partition=long --time=60\"");
    command.add_option("--heddle", arguments_.emit.program, "Program that the jobs start; else this one")
        ->check(NotEmpty());
    command.add_flag("--retry-failed", arguments_.emit.retry_failed, "Jobs for failed points too");
    // Wanted only if a library was moved: the plan keeps where they are and what is in them.
    AddPolicyLibraryOption(command, libraries_);
  }

  int Run() override {
    if (const absl::Status loaded = LoadPolicyLibraries(libraries_); !loaded.ok()) {
      return ReportError(kWrongUsage, loaded);
    }
    arguments_.engine = slurm_ ? Engine::kSlurm : snakemake_ ? Engine::kSnakemake : Engine::kJobList;
    arguments_.chunks.retry_failed = arguments_.emit.retry_failed;
    return EmitCommand(arguments_);
  }

 private:
  bool slurm_ = false;
  bool snakemake_ = false;
  bool job_list_ = false;
  EmitArguments arguments_;
  std::vector<std::string> libraries_;
};

HEDDLE_COMMAND(SweepEmit, .name = "sweep emit", .place = 3,
               .summary = "Write a file for an engine that runs many jobs, with what is missing");

}  // namespace
}  // namespace heddle::tools::sweep
