#include "tools/study/sweep/sweep_commands.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "absl/strings/str_cat.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/inputs/policy_library.h"
#include "tools/study/sweep/collect.h"
#include "tools/study/sweep/plan.h"
#include "tools/study/sweep/run.h"
#include "tools/study/sweep/status.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::sweep {
namespace {

namespace fs = std::filesystem;

// What the user wrote, or named, is wrong; or the machine is.
int ExitStatus(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kWrongUsage : kFailed;
}

int ReportFailure(const absl::Status& status) { return ReportError(ExitStatus(status), status); }

int WriteOut(const std::string& path, const std::string& text) {
  absl::StatusOr<OutputFile> file = OutputFile::Create(path.empty() ? "-" : path);
  if (!file.ok()) return ReportFailure(file.status());
  absl::Status status = file->Write(text);
  if (status.ok()) status = file->Commit();
  return status.ok() ? kSuccess : ReportError(kFailed, status);
}

// That an output is none of the files which the sweep lives on, wherever in it they are or may come to be.
absl::Status CheckNotOfSweep(const std::string& option, const std::string& output, const SweepFolder& folder) {
  if (output.empty() || output == "-") return absl::OkStatus();
  std::vector<std::string> traces;
  for (const PlannedTrace& trace : folder.plan().traces) traces.push_back(folder.TracePath(trace));
  absl::Status status = CheckNotAnInput(option, output, {folder.PlanFile(), folder.PointsFile(), folder.LockFile()},
                                        "one of the sweep's own files");
  status.Update(CheckNotAnInput(option, output, traces, "a trace of the sweep"));
  for (const char* part : {"/results", "/failed", "/machines"}) {
    if (!status.ok() || !IsInFolder(output, folder.path() + part)) continue;
    status = absl::InvalidArgumentError(absl::StrCat(option, " ", output, ": is among the sweep's own files"));
  }
  return status;
}

// That the command line names all code that the sweep was planned with: who runs a sweep of somebody else has not
// asked for what its plan.json names.
absl::Status CheckLibrariesAreAskedFor(const SweepFolder& folder) {
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<FoundLibrary> libraries,
                          FindLibraries(folder.PlanFile(), folder.Libraries()));
  for (const FoundLibrary& library : libraries) {
    if (library.loaded) continue;
    return absl::InvalidArgumentError(absl::StrCat(folder.PlanFile(), ": the plan names code ", library.path,
                                                   "; give --policy-library ", ShellQuoted(library.path),
                                                   " if you trust it"));
  }
  return absl::OkStatus();
}

std::string Counted(uint64_t count, const char* singular, const char* plural) {
  return absl::StrCat(WithThousands(count), " ", count == 1 ? singular : plural);
}

}  // namespace

int PlanCommand(const std::string& spec_path, const std::string& folder) {
  const absl::StatusOr<Spec> spec = ReadSpec(spec_path);
  if (!spec.ok()) return ReportFailure(spec.status());
  const absl::StatusOr<Plan> plan = WritePlan(*spec, folder);
  if (!plan.ok()) {
    return ReportError(ExitStatus(plan.status()),
                       absl::IsInvalidArgument(plan.status()) || absl::IsNotFound(plan.status())
                           ? absl::StrCat(spec_path, ": ", plan.status().message())
                           : std::string(plan.status().message()));
  }
  for (const std::string& note : plan->notes) Note(note);
  std::string text =
      absl::StrCat(folder, ": ", Counted(plan->points, "point", "points"), " of ",
                   Counted(plan->traces.size(), "trace", "traces"), ", model ", plan->model_version, "\n");
  for (const auto& [reason, points] : plan->left_out) {
    absl::StrAppend(&text, "left out: ", Counted(points, "point", "points"), ": ", reason, "\n");
  }
  const absl::Status written = WriteStandardOutput(text);
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

int RunCommand(const RunArguments& arguments) {
  const absl::StatusOr<SweepFolder> folder = SweepFolder::Open(arguments.folder);
  if (!folder.ok()) return ReportFailure(folder.status());
  if (!folder->plan().points_digest.starts_with(arguments.plan)) {
    return ReportError(kWrongUsage,
                       absl::StrCat("--plan ", arguments.plan, ": ", arguments.folder,
                                    " was planned anew since, and its points have other numbers: emit again"));
  }
  if (absl::Status status = CheckLibrariesAreAskedFor(*folder); !status.ok()) return ReportFailure(status);
  RunOptions options;
  if (!arguments.points.empty()) {
    auto points = NumberRanges::Parse(arguments.points, "--points");
    if (!points.ok()) return ReportFailure(points.status());
    options.points = *std::move(points);
  }
  options.jobs = arguments.jobs;
  options.cache_bytes = arguments.trace_memory << 20;
  options.retry_failed = arguments.retry_failed;
  Progress progress("running points", !arguments.quiet);
  options.progress = [&progress](uint64_t done, uint64_t total) { progress.Update(done, total); };
  const absl::StatusOr<RunSummary> summary = RunPoints(*folder, options);
  progress.Clear();
  if (!summary.ok()) return ReportFailure(summary.status());

  if (summary->without_locks && !arguments.quiet) {
    Note(absl::StrCat(arguments.folder, " is on a file system without locks: two runs at once may do a point twice, ",
                      "with the same result"));
  }
  if (!arguments.quiet) NoteDecoding(summary->decoding, arguments.trace_memory);
  for (const std::string& problem : summary->problems) Note(problem);
  std::string text = absl::StrCat(Counted(summary->points, "point", "points"), ": ", WithThousands(summary->done),
                                  " done, ", WithThousands(summary->already_done), " had results");
  const auto add = [&text](uint64_t count, const char* what) {
    if (count != 0) absl::StrAppend(&text, ", ", WithThousands(count), " ", what);
  };
  add(summary->failed, "failed (`heddle sweep status` says why)");
  add(summary->failed_before, "failed before and were left alone (--retry-failed runs them)");
  add(summary->elsewhere, "being run by another process");
  add(summary->unreadable, "not run since their trace cannot be used");
  const absl::Status written = WriteStandardOutput(text + "\n");
  if (!written.ok()) return ReportError(kFailed, written);
  return summary->failed + summary->failed_before + summary->unreadable == 0 ? kSuccess : kFailed;
}

int EmitCommand(const EmitArguments& arguments) {
  const absl::StatusOr<SweepFolder> folder = SweepFolder::Open(arguments.folder);
  if (!folder.ok()) return ReportFailure(folder.status());
  if (absl::Status own = CheckNotOfSweep("-o", arguments.output, *folder); !own.ok()) return ReportFailure(own);
  const auto libraries = FindLibraries(folder->PlanFile(), folder->Libraries());
  if (!libraries.ok()) return ReportFailure(libraries.status());
  const absl::StatusOr<std::vector<Chunk>> chunks = MissingChunks(*folder, arguments.chunks);
  if (!chunks.ok()) return ReportFailure(chunks.status());
  if (chunks->empty()) {
    Note(absl::StrCat(arguments.folder, ": nothing is missing, so nothing was written"));
    return kSuccess;
  }
  EmitOptions emit = arguments.emit;
  for (const FoundLibrary& library : *libraries) {
    emit.libraries.push_back(library.path);
    if (!library.loaded) Note(absl::StrCat("the jobs run code that the plan names: ", library.path));
  }
  // What tools/bundle makes starts this program through a script, and says which.
  if (const char* script = std::getenv("HEDDLE_PROGRAM"); emit.program.empty() && script != nullptr) {
    emit.program = script;
  }
  if (emit.program.empty()) {
    std::error_code error;
    emit.program = fs::read_symlink("/proc/self/exe", error).string();
    if (error) emit.program = "heddle";
  }
  constexpr const char* kNames[] = {"sweep.sbatch", "Snakefile", "jobs.txt"};
  const std::string output = arguments.output.empty()
                                 ? (fs::path(arguments.folder) / kNames[static_cast<int>(arguments.engine)]).string()
                                 : arguments.output;
  if (arguments.engine == Engine::kSlurm) {
    // Slurm does not create the folder of its logs, and then runs nothing.
    std::error_code error;
    fs::create_directories(fs::path(arguments.folder) / "log", error);
    if (error) return ReportError(kFailed, absl::StrCat(arguments.folder, "/log: ", error.message()));
  }
  if (const int status = WriteOut(output, EmitText(arguments.engine, *folder, *chunks, emit)); status != kSuccess) {
    return status;
  }
  if (output != "-") Note(absl::StrCat(output, ": ", Counted(chunks->size(), "job", "jobs")));
  return kSuccess;
}

int StatusCommand(const std::string& path, bool json) {
  const absl::StatusOr<SweepFolder> folder = SweepFolder::Open(path);
  if (!folder.ok()) return ReportFailure(folder.status());
  // A job would refuse: better told now.
  if (const auto libraries = FindLibraries(folder->PlanFile(), folder->Libraries()); !libraries.ok()) {
    Note(std::string(libraries.status().message()));
  }
  const absl::StatusOr<SweepStatus> status = StatusOf(*folder);
  if (!status.ok()) return ReportFailure(status.status());
  const absl::Status written = WriteStandardOutput(json ? JsonLine(StatusJson(folder->plan(), *status)) + "\n"
                                                        : StatusText(folder->plan(), *status));
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

int CollectCommand(const CollectArguments& arguments) {
  if (absl::Status status = CheckDifferentOutputs({{"-o", arguments.output}, {"--sqlite", arguments.sqlite}});
      !status.ok()) {
    return ReportFailure(status);
  }
  const absl::StatusOr<SweepFolder> folder = SweepFolder::Open(arguments.folder);
  if (!folder.ok()) return ReportFailure(folder.status());
  absl::Status own = CheckNotOfSweep("-o", arguments.output, *folder);
  own.Update(CheckNotOfSweep("--sqlite", arguments.sqlite, *folder));
  if (!own.ok()) return ReportFailure(own);
  const absl::StatusOr<ResultTable> table = Collect(*folder, {arguments.per_launch, arguments.jobs});
  if (!table.ok()) return ReportError(kFailed, table.status());
  if (const uint64_t missing = table->points - table->results; missing != 0) {
    Note(absl::StrCat(Counted(missing, "point has", "points have"), " no result (", WithThousands(table->failures),
                      " failed) and no row"));
  }
  if (!arguments.sqlite.empty()) {
    if (absl::Status status = WriteSqlite(*table, arguments.sqlite); !status.ok()) return ReportFailure(status);
    if (arguments.output.empty()) return kSuccess;
  }
  return WriteOut(arguments.output, CsvText(*table));
}

int EffectsCommand(const std::string& path, const EffectsOptions& options, bool json) {
  const absl::StatusOr<SweepFolder> folder = SweepFolder::Open(path);
  if (!folder.ok()) return ReportFailure(folder.status());
  const absl::StatusOr<EffectsReport> report = ComputeEffects(*folder, options);
  if (!report.ok()) return ReportFailure(report.status());
  const absl::Status written = WriteStandardOutput(json ? JsonLine(EffectsJson(*report)) + "\n" : EffectsText(*report));
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

}  // namespace heddle::tools::sweep
