#include "tools/study/reproduce/reproduce_command.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/inputs/policy_library.h"
#include "tools/study/reproduce/claims.h"
#include "tools/study/reproduce/measurements.h"
#include "tools/study/reproduce/page_parts.h"
#include "tools/study/reproduce/reproduction.h"
#include "tools/study/reproduce/run_plan.h"
#include "tools/study/sweep/emit.h"
#include "tools/study/sweep/folder.h"
#include "tools/study/sweep/run.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::reproduce {
namespace {

namespace fs = std::filesystem;

int ExitStatus(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kWrongUsage : kFailed;
}

const char* InputName(InputSize size) {
  return size == InputSize::kTiny ? "tiny" : size == InputSize::kSmall ? "small" : "paper";
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  HEDDLE_RETURN_IF_ERROR(file.Write(text));
  return file.Commit();
}

// The command that gives the page again, but for folders.
std::string CommandLine(const ReproduceArguments& arguments) {
  std::string line = "heddle reproduce";
  for (const std::string& paper : arguments.papers) absl::StrAppend(&line, " ", paper);
  absl::StrAppend(&line, " -o reproduction --size ", InputName(arguments.size));
  for (const std::string& library : arguments.libraries) {
    absl::StrAppend(&line, " --policy-library ", sweep::ShellQuoted(fs::path(library).filename().string()));
  }
  for (const std::string& registers : arguments.registers) {
    absl::StrAppend(&line, " --registers ", sweep::ShellQuoted(registers));
  }
  if (!arguments.originals.empty()) absl::StrAppend(&line, " --originals originals");
  if (arguments.certify != 0) absl::StrAppend(&line, " --certify ", arguments.certify);
  if (arguments.paper_residency) absl::StrAppend(&line, " --paper-residency");
  if (arguments.jitter != 0) absl::StrAppend(&line, " --jitter ", arguments.jitter);
  if (arguments.sensitivity) absl::StrAppend(&line, " --sensitivity");
  if (arguments.tests.has_value()) absl::StrAppend(&line, " --tests ", InputName(*arguments.tests));
  if (arguments.causes != 0) absl::StrAppend(&line, " --causes ", arguments.causes);
  if (arguments.audit != 0) absl::StrAppend(&line, " --audit ", arguments.audit);
  return line;
}

constexpr char kIntroduction[] =
    R"(Claims of papers, computed from our own kernels on our model of the papers' machines. What is claimed, by which runs it
is computed and how near it has to come was written down before anything was run
(`tools/study/reproduce/claims/PAPER.textproto`; where a run was corrected afterwards, the claim's remark says so; the claims of HARP's Figure 12, and all suspects, were added
when results of other claims had been seen); no kernel and no parameter was changed to come nearer. The kernels are ours, after the same algorithms, with smaller inputs than the papers': sizes of effects cannot be expected to agree, signs
and orders can.

* **direction**: the effect has the sign of the paper's, or the numbers its order; `no effect`: ours is within the noise.
  With noise (`--jitter`: every reply of the memory is late by a random time, up to 4 cycles) an effect has to be above half of
  its range over the seeds, ±; otherwise every difference counts.
  Tables by kernel: Spearman's rank correlation with the paper's numbers is at least 0.5, or at least three quarters of
  them lie on the right side of the line that the claim names.
* **size**: within the tolerance that the claim was given.
* **Suspects.** What does not come out is run again under what may be to blame: an interpretation of the paper, the kernels
  that are in another class than the paper's, or a parameter. `--tests SIZE` runs noise and all interpretations with inputs of
  that size, which also tells what the size of the inputs does; `--causes` runs the suspects with the inputs of `--size`. A claim has two
  to five of them, so some that "explain" it do so by chance: they say where to look, not what is proven.
* **What the paper leaves open** is listed with our choice; `docs/policies/` and `replay/machine/descriptions/` have all of them.
* What follows from a paper's rules alone (storage, residencies, worked examples) is counted apart: it agrees or it does not.
)";

TraceFolders FoldersOf(const ReproduceArguments& arguments) {
  return {.traces = arguments.traces.empty() ? arguments.folder + "/traces" : arguments.traces,
          .recipes = arguments.recipes.empty() ? SourceRecipes() : arguments.recipes,
          .originals = arguments.originals,
          .certify = arguments.certify,
          .quiet = arguments.quiet};
}

class Reproducer {
 public:
  explicit Reproducer(const ReproduceArguments& arguments)
      : arguments_(arguments),
        store_(FoldersOf(arguments), arguments.size),
        paper_store_(FoldersOf(arguments), InputSize::kPaper),
        tests_store_(FoldersOf(arguments), arguments.tests.value_or(arguments.size)) {}

  absl::Status Run(const std::string& name) {
    HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<PaperClaims> read, ReadPaper(name));
    const PaperClaims& claims = *read;
    const std::string& paper = claims.paper.name();
    std::optional<Reproduction> tests;
    Asked asked = {arguments_.jitter, arguments_.sensitivity, {}};
    if (arguments_.tests.has_value()) {
      const std::string of_tests = absl::StrCat(paper, ".", InputName(*arguments_.tests));
      HEDDLE_ASSIGN_OR_RETURN(Reproduction made,
                              Make(claims, tests_store_, *arguments_.tests, of_tests, asked, nullptr));
      tests = std::move(made);
      HEDDLE_RETURN_IF_ERROR(Write(*tests, of_tests));
      asked = {};
    }
    const Reproduction* const with = tests.has_value() ? &*tests : nullptr;
    absl::StatusOr<Reproduction> made = Make(claims, store_, arguments_.size, paper, asked, with);
    if (!made.ok() || arguments_.plan_only) return made.status();
    if (arguments_.causes != 0) {
      for (const ClaimResult& result : made->results) {
        if (result.computed() && !result.comes_out()) asked.suspected.insert(result.claim->id());
      }
      const std::set<std::string> audited = ChooseAudited(*made, arguments_.audit);
      asked.suspected.insert(audited.begin(), audited.end());
      made = Make(claims, store_, arguments_.size, paper, asked, with);
      if (!made.ok()) return made.status();
      made->audited = audited;
    }
    absl::StrAppend(&pages_, "\n", PageOf(*made));
    HEDDLE_RETURN_IF_ERROR(Write(*made, paper));
    if (arguments_.freeze) HEDDLE_RETURN_IF_ERROR(Freeze(*made, paper));
    return ReportTo(*made);
  }

  // The page of all papers.
  absl::Status Finish() {
    if (arguments_.plan_only) return absl::OkStatus();
    const std::string path = arguments_.page.empty() ? arguments_.folder + "/reproduction.md" : arguments_.page;
    std::string text =
        absl::StrCat("# Reproductions\n\n", kIntroduction, "\n```\n", CommandLine(arguments_), "\n```\n\n",
                     "| paper | structural claims | directions | sizes | reproduced by the rules | not computed |");
    if (arguments_.tests.has_value()) {
      const std::string size = InputName(*arguments_.tests);
      absl::StrAppend(&text, " directions, `", size, "` | sizes, `", size, "` |\n|---|--:|--:|--:|--:|--:|--:|--:|\n");
    } else {
      absl::StrAppend(&text, "\n|---|--:|--:|--:|--:|--:|\n");
    }
    absl::StrAppend(&text, summary_, pages_);
    while (text.ends_with("\n\n")) text.pop_back();
    return WriteFile(path, text);
  }

 private:
  // What is run besides the paper as we read it.
  struct Asked {
    uint32_t jitter = 0;
    bool sensitivity = false;
    std::set<std::string> suspected;
  };

  // Plans, runs and evaluates a paper with inputs of one size, in the folder of that name. Nothing is run, and nothing
  // evaluated, if only plans are asked for.
  absl::StatusOr<Reproduction> Make(const PaperClaims& claims, TraceStore& store, InputSize size,
                                    const std::string& name, const Asked& asked, const Reproduction* tests) {
    const TraceFinder traces = [&store](const claims::v1::Kernel& kernel) { return store.Find(kernel); };
    const TraceFinder paper_traces = [this](const claims::v1::Kernel& kernel) { return paper_store_.Find(kernel); };
    const std::string path = absl::StrCat(arguments_.folder, "/", name);
    const absl::StatusOr<RunPlan> plan = RunPlan::Make(claims, {.folder = path,
                                                                .traces = traces,
                                                                .paper_traces = paper_traces,
                                                                .jitter = asked.jitter,
                                                                .headline_jitter = HeadlineJitter(asked),
                                                                .sensitivity = asked.sensitivity,
                                                                .suspected = asked.suspected,
                                                                .registers = arguments_.registers,
                                                                .paper_residency = arguments_.paper_residency,
                                                                .most_replays = arguments_.causes});
    if (!plan.ok()) return plan.status();
    for (const std::string& note : plan->plan().notes) Note(absl::StrCat(name, ": ", note));
    HEDDLE_RETURN_IF_ERROR(plan->Write(path));
    if (arguments_.plan_only) {
      const absl::Status status =
          WriteStandardOutput(absl::StrCat(path, ": ", WithThousands(plan->points()), " replays planned\n"));
      if (!status.ok()) return status;
      return Reproduction();
    }
    HEDDLE_ASSIGN_OR_RETURN(const sweep::SweepFolder folder, sweep::SweepFolder::Open(path));
    HEDDLE_RETURN_IF_ERROR(Replay(folder, name));
    // Limits have no variations, so that their traces are those of the size.
    Measurements measurements(claims, *plan, folder, traces);
    Reproduction reproduction = Reproduce(claims, *plan, measurements, tests);
    reproduction.jitter = asked.jitter;
    reproduction.headline_jitter = HeadlineJitter(asked);
    reproduction.registers = arguments_.registers;
    reproduction.paper_residency = arguments_.paper_residency;
    reproduction.sensitivity = asked.sensitivity;
    reproduction.size = InputName(size);
    return reproduction;
  }

  uint32_t HeadlineJitter(const Asked& asked) const {
    return asked.jitter == 0 ? 0 : std::max(asked.jitter, arguments_.headline_jitter);
  }

  absl::Status Write(const Reproduction& reproduction, const std::string& name) const {
    if (arguments_.plan_only) return absl::OkStatus();
    const std::string path = absl::StrCat(arguments_.folder, "/", name);
    HEDDLE_RETURN_IF_ERROR(WriteFile(path + ".md", PageOf(reproduction)));
    return WriteFile(path + ".json", JsonOf(reproduction).dump(1) + "\n");
  }

  // A ledger of today.
  absl::Status Freeze(const Reproduction& reproduction, const std::string& name) const {
    const std::string today = absl::FormatTime("%Y-%m-%d", absl::Now(), absl::UTCTimeZone());
    const claims::v1::Ledger ledger = LedgerOf(reproduction, today, CommandLine(arguments_));
    std::string text;
    google::protobuf::TextFormat::Printer printer;
    printer.SetUseShortRepeatedPrimitives(true);
    if (!printer.PrintToString(ledger, &text)) return absl::InternalError("the ledger cannot be printed");
    return WriteFile(absl::StrCat(arguments_.folder, "/", name, ".ledger"), text);
  }

  absl::Status Replay(const sweep::SweepFolder& folder, const std::string& paper) {
    if (folder.plan().points == 0) return absl::OkStatus();
    sweep::RunOptions options;
    options.jobs = arguments_.jobs;
    Progress progress(absl::StrCat(paper, ", ", WithThousands(folder.plan().points), " replays"), !arguments_.quiet);
    options.progress = [&progress](uint64_t done, uint64_t total) { progress.Update(done, total); };
    const absl::StatusOr<sweep::RunSummary> summary = sweep::RunPoints(folder, options);
    progress.Clear();
    if (!summary.ok()) return summary.status();
    for (const std::string& problem : summary->problems) Note(problem);
    if (const uint64_t failed = summary->failed + summary->failed_before; failed != 0) {
      Note(absl::StrCat(paper, ": ", WithThousands(failed), " replays failed; the page has the reasons, and ",
                        "`heddle sweep status ", folder.path(), "`"));
    }
    if (summary->elsewhere != 0) {
      return absl::UnavailableError(absl::StrCat(folder.path(), ": another process still runs ",
                                                 WithThousands(summary->elsewhere),
                                                 " replays: run this again after it"));
    }
    return absl::OkStatus();
  }

  absl::Status ReportTo(const Reproduction& reproduction) {
    const std::string& name = reproduction.claims->paper.name();
    const std::string missing = absl::StrCat(reproduction.not_computed(), " of ", reproduction.results.size());
    absl::StrAppend(&summary_, "| [", name, "](#", name, ") | ", Share(reproduction.structural()), " | ",
                    Share(reproduction.directions()), " | ", Share(reproduction.sizes()), " | ",
                    Share(reproduction.reproduced()), " | ", missing, " |");
    if (const Reproduction* const tests = reproduction.tests; tests != nullptr) {
      absl::StrAppend(&summary_, " ", Share(tests->directions()), " | ", Share(tests->sizes()), " |");
    }
    absl::StrAppend(&summary_, "\n");
    return WriteStandardOutput(absl::StrCat(
        name, ": ", Share(reproduction.structural()), " structural claims, ", Share(reproduction.directions()),
        " directions and ", Share(reproduction.sizes()), " sizes agree, ", Share(reproduction.reproduced()),
        " are reproduced by the rules; ", missing, " claims not computed; ", arguments_.folder, "/", name, ".md\n"));
  }

  const ReproduceArguments& arguments_;
  TraceStore store_;
  TraceStore paper_store_;
  TraceStore tests_store_;
  std::string summary_;
  std::string pages_;
};

}  // namespace

int ReproduceCommand(const ReproduceArguments& arguments) {
  if (const absl::Status loaded = LoadPolicyLibraries(arguments.libraries); !loaded.ok()) {
    return ReportError(kWrongUsage, loaded);
  }
  std::vector<std::string> papers;
  for (const std::string& paper : arguments.papers) {
    if (paper == "all") {
      const std::vector<std::string> all = ListPapers();
      papers.insert(papers.end(), all.begin(), all.end());
    } else {
      papers.push_back(paper);
    }
  }
  std::vector<std::string> files = arguments.papers;
  std::erase_if(files, [](const std::string& paper) { return !paper.ends_with(".textproto"); });
  if (absl::Status status = CheckNotAnInput("--page", arguments.page, files, "the claims themselves"); !status.ok()) {
    return ReportError(kWrongUsage, status);
  }
  std::error_code error;
  fs::create_directories(arguments.folder, error);
  if (error)
    return ReportError(kFailed, absl::StrCat(arguments.folder, ": cannot create the folder: ", error.message()));
  Reproducer reproducer(arguments);
  for (const std::string& paper : papers) {
    if (const absl::Status status = reproducer.Run(paper); !status.ok()) return ReportError(ExitStatus(status), status);
  }
  const absl::Status status = reproducer.Finish();
  return status.ok() ? kSuccess : ReportError(ExitStatus(status), status);
}

}  // namespace heddle::tools::reproduce
