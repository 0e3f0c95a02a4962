#include "tools/study/sweep/sweep_options.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/console/option_checks.h"
#include "tools/console/terminal.h"
#include "tools/inputs/policy_library.h"
#include "tools/study/sweep/sweep_commands.h"

namespace heddle::tools::sweep {
namespace {

constexpr char kFooter[] = R"(
A sweep is planned once, and run by as many processes on as many machines as there are, until nothing is missing:

  heddle sweep plan study.textproto -o study
  heddle sweep run study --jobs 8                 # here; or on an engine:
  heddle sweep emit study --slurm && sbatch study/sweep.sbatch
  heddle sweep status study
  heddle sweep collect study -o study.csv

Interrupted runs leave whole results and nothing else; to go on, run or emit again. docs/tutorial/study.md shows a whole study,
proto/sweep.proto is the specification's form.)";

constexpr char kCollectFooter[] = R"(
Columns: key, trace, kernels, machine, divergence, scheduler, dispatch, fetch, seed; set.NAME for each parameter; launches;
cycles, warp_instructions, thread_instructions, ipc, lane_activity; then all counters of the replay by their path in
proto/result.proto, summed over the launches. Rows are in the order of the points.)";

}  // namespace

struct SweepOptions::Arguments {
  CLI::App* plan = nullptr;
  CLI::App* run = nullptr;
  CLI::App* emit = nullptr;
  CLI::App* status = nullptr;
  CLI::App* collect = nullptr;
  CLI::App* effects = nullptr;
  std::string spec;
  std::string folder;
  bool json = false;
  std::vector<std::string> libraries;
  bool slurm = false, snakemake = false, job_list = false;
  RunArguments run_arguments;
  EmitArguments emit_arguments;
  CollectArguments collect_arguments;
  EffectsOptions effects_options;
};

SweepOptions::SweepOptions(CLI::App& app) : arguments_(std::make_unique<Arguments>()) {
  Arguments& a = *arguments_;
  CLI::App& sweep = *app.add_subcommand("sweep", "Plan many replays, run them anywhere, collect their results");
  sweep.require_subcommand(1);
  sweep.footer(kFooter);

  a.plan = sweep.add_subcommand("plan", "Expand a specification into a folder of points");
  a.plan->add_option("SPEC", a.spec, "Specification, NAME.textproto (proto/sweep.proto)")->required();
  a.plan->add_option("-o,--output", a.folder, "Folder of the sweep; results that are there stay")
      ->required()
      ->check(NotEmpty());

  a.run = sweep.add_subcommand("run", "Run the points that have no result");
  RunArguments& run = a.run_arguments;
  a.run->add_option("DIR", run.folder, "Folder of the sweep")->required();
  a.run->add_option("--points", run.points, "Only these points, counted from 0: 0-99, 7,12-, ...")->check(NotEmpty());
  a.run->add_option("--jobs", run.jobs, "Threads; they share decoded traces")
      ->check(WholeNumberFromTo(1, 1024))
      ->capture_default_str();
  a.run->add_option("--trace-memory", run.trace_memory, kTraceMemoryHelp)
      ->check(WholeNumberFromTo(1, kMostTraceMemory))
      ->capture_default_str();
  a.run->add_flag("--retry-failed", run.retry_failed, "Also points that failed before");
  a.run
      ->add_option("--plan", run.plan,
                   "Refuse if the sweep was planned anew: first digits of points_digest in plan.json")
      ->check(NotEmpty());
  a.run->add_flag("--quiet", run.quiet, "No progress on a terminal");

  a.emit = sweep.add_subcommand("emit", "Write a file for an engine that runs many jobs, with what is missing");
  EmitArguments& emit = a.emit_arguments;
  a.emit->add_option("DIR", emit.folder, "Folder of the sweep")->required();
  CLI::Option_group& engine = *a.emit->add_option_group("engine");
  engine.add_flag("--slurm", a.slurm, "A Slurm job array: sbatch DIR/sweep.sbatch");
  engine.add_flag("--snakemake", a.snakemake, "A Snakefile with one rule per job: snakemake -k -s DIR/Snakefile -c N");
  engine.add_flag("--joblist", a.job_list, "One command per line: parallel < DIR/jobs.txt, or xargs");
  engine.require_option(1);
  a.emit->add_option("-o,--output", emit.output, "File to write, - = standard output")->check(NotEmpty());
  a.emit->add_option("--minutes", emit.chunks.minutes, "What a job should take on one core")
      ->check(NumberFromTo(0.01, 1e5))
      ->capture_default_str();
  a.emit
      ->add_option("--rate", emit.chunks.instructions_per_second,
                   "Thread-instructions per second of one core, for the estimate")
      ->check(NumberFromTo(1, 1e12))
      ->capture_default_str();
  a.emit->add_option("--points-per-job", emit.chunks.points, "Instead of an estimate")->check(PositiveWholeNumber());
  a.emit->add_option("--most-jobs", emit.chunks.most_chunks, "Jobs grow if there would be more")
      ->check(WholeNumberFromTo(1, 1000))
      ->capture_default_str();
  a.emit->add_option("--cores", emit.emit.cores, "Of a job")->check(WholeNumberFromTo(1, 1024))->capture_default_str();
  a.emit->add_option("--throttle", emit.emit.throttle, "Jobs of a Slurm array at once")
      ->check(WholeNumberFromTo(1, 1000))
      ->capture_default_str();
  a.emit->add_option("--sbatch", emit.emit.extra, "More options of sbatch: \"--partition=long --time=60\"");
  a.emit->add_option("--heddle", emit.emit.program, "Program that the jobs start; else this one")->check(NotEmpty());
  a.emit->add_flag("--retry-failed", emit.emit.retry_failed, "Jobs for failed points too");

  a.status = sweep.add_subcommand("status", "How many points are done, running, waiting, failed and why");
  a.status->add_option("DIR", a.folder, "Folder of the sweep")->required();
  a.status->add_flag("--json", a.json, "Print JSON");

  a.collect = sweep.add_subcommand("collect", "All results as one table");
  CollectArguments& collect = a.collect_arguments;
  a.collect->footer(kCollectFooter);
  a.collect->add_option("DIR", collect.folder, "Folder of the sweep")->required();
  a.collect->add_option("-o,--output", collect.output, "CSV file; else standard output")->check(NotEmpty());
  a.collect->add_option("--sqlite", collect.sqlite, "Also, or only, an SQLite database with the table `results`")
      ->check(NotEmpty());
  a.collect->add_flag("--per-launch", collect.per_launch, "A row for every launch of every point");
  a.collect->add_option("--jobs", collect.jobs, "Threads that read")
      ->check(WholeNumberFromTo(1, 1024))
      ->capture_default_str();

  a.effects = sweep.add_subcommand("effects", "Which parameters matter: the effects of a Plackett-Burman design");
  a.effects->add_option("DIR", a.folder, "Folder of the sweep")->required();
  a.effects->add_option("--metric", a.effects_options.metric, "A number of the collected table")->capture_default_str();
  a.effects
      ->add_option("--baseline", a.effects_options.baseline,
                   "Divergence policy that the others are compared with: effects on its metric / theirs, which with "
                   "cycles is the speed-up")
      ->check(NotEmpty());
  a.effects->add_flag("--json", a.json, "Print JSON");

  // The plan keeps where they are and what is in them; code of theirs runs only where they are named again. Others than
  // `plan` and `run` want the option only if a library was moved.
  for (CLI::App* const command : {a.plan, a.run, a.emit, a.status, a.collect}) {
    AddPolicyLibraryOption(*command, a.libraries);
  }
}

SweepOptions::~SweepOptions() = default;

bool SweepOptions::Run(int& status) const {
  Arguments& a = *arguments_;
  if (const absl::Status loaded = LoadPolicyLibraries(a.libraries); !loaded.ok()) {
    status = ReportError(kWrongUsage, loaded);
    return true;
  }
  if (a.plan->parsed()) {
    status = PlanCommand(a.spec, a.folder);
  } else if (a.run->parsed()) {
    status = RunCommand(a.run_arguments);
  } else if (a.emit->parsed()) {
    EmitArguments& emit = a.emit_arguments;
    emit.engine = a.slurm ? Engine::kSlurm : a.snakemake ? Engine::kSnakemake : Engine::kJobList;
    emit.chunks.retry_failed = emit.emit.retry_failed;
    status = EmitCommand(emit);
  } else if (a.status->parsed()) {
    status = StatusCommand(a.folder, a.json);
  } else if (a.collect->parsed()) {
    status = CollectCommand(a.collect_arguments);
  } else if (a.effects->parsed()) {
    status = EffectsCommand(a.folder, a.effects_options, a.json);
  } else {
    return false;
  }
  return true;
}

}  // namespace heddle::tools::sweep
