#include "tools/exchange/corpus/corpus_options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <span>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/exchange/corpus/build.h"
#include "tools/exchange/corpus/corpus.h"
#include "traces/base/printable.h"

namespace heddle::tools::corpus {
namespace {

constexpr char kFooter[] = R"(
  heddle corpus init mine --name mine --description "Two divergent kernels" --license Apache-2.0 --author "A. Uthor"
  heddle corpus add mine bfs.htrace --sources traces/kernels --recipe traces/kernels/bfs/bfs.textproto
  heddle corpus build suite --kernels traces/kernels --size tiny --jobs 8
  heddle corpus verify mine
  heddle corpus pack mine -o packed            # mine.tar, mine.tar.sha256, mine.ro-crate-metadata.json
  heddle corpus get https://example.org/mine.tar -o mine

A corpus is a BagIt bag (`sha256sum -c manifest-sha256.txt` checks it too) with RO-Crate 1.2 metadata in data/.)";

int ReportFailure(const absl::Status& status) {
  return ReportError(absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kWrongUsage : kFailed, status);
}

int Print(const std::string& text, int status = kSuccess) {
  const absl::Status written = WriteStandardOutput(text);
  return written.ok() ? status : ReportError(kFailed, written);
}

absl::StatusOr<std::string> Today() {
  time_t now = time(nullptr);
  // What reproducible builds take instead of the clock (reproducible-builds.org/specs/source-date-epoch).
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH"); epoch != nullptr) {
    int64_t seconds = 0;
    constexpr int64_t kLast = 253'402'300'799;  // of year 9999
    if (!absl::SimpleAtoi(epoch, &seconds) || seconds < 0 || seconds > kLast) {
      return absl::InvalidArgumentError(absl::StrCat("SOURCE_DATE_EPOCH=", epoch,
                                                     ": is no number of seconds since 1970, ",
                                                     "up to the year 9999; correct or unset it, or give --date"));
    }
    now = static_cast<time_t>(seconds);
  }
  struct tm utc;
  gmtime_r(&now, &utc);
  char text[16];
  strftime(text, sizeof(text), "%Y-%m-%d", &utc);
  return text;
}

// Fills in the date of publication if none is given.
absl::Status AddDate(Crate::About& about) {
  if (!about.date.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> today = Today();
  if (today.ok()) about.date = *std::move(today);
  return today.status();
}

int Add(const std::string& folder, const AddRequest& request) {
  const auto added = AddToCorpus(folder, std::span(&request, 1));
  if (!added.ok()) return ReportFailure(added.status());
  std::string text;
  for (const std::string& path : *added) absl::StrAppend(&text, "data/", path, "\n");
  return Print(text);
}

int Verify(const std::string& folder) {
  const auto problems = VerifyCorpus(folder);
  if (!problems.ok()) return ReportFailure(problems.status());
  if (problems->empty()) return Print(absl::StrCat(folder, ": ok\n"));
  std::string text;
  for (const std::string& problem : *problems) absl::StrAppend(&text, problem, "\n");
  absl::StrAppend(&text, folder, ": not ok, ", problems->size(), problems->size() == 1 ? " problem\n" : " problems\n");
  return Print(text, kFailed);
}

// Without `kernels` the corpus is compared with what its own sources give, else it is built from those.
int Build(BuildRequest request) {
  std::error_code error;
  std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) program = "heddle";
  request.capture = {program, "capture"};
  Progress progress("recording", true);
  request.progress = [&progress](uint64_t done, uint64_t total) { progress.Update(done, total); };
  const auto built = request.kernels.empty() ? RebuildCorpus(request.folder, request.capture) : BuildCorpus(request);
  progress.Clear();
  if (!built.ok()) return ReportFailure(built.status());
  std::string text;
  bool good = true;
  for (const BuiltTrace& trace : *built) {
    absl::StrAppend(&text, trace.path, ": ", trace.outcome, "\n");
    good = good && (trace.good || !trace.has_recipe);
  }
  return Print(text, good ? kSuccess : kFailed);
}

// What `get` has brought: it has been verified.
int TellFetched(const std::string& folder) {
  const auto crate = ReadCrate(folder);
  if (!crate.ok()) return ReportFailure(crate.status());
  const std::vector<DescribedTrace> traces = crate->Traces();
  uint64_t thread_instructions = 0;
  for (const DescribedTrace& trace : traces) thread_instructions += trace.thread_instructions;
  return Print(absl::StrCat(folder, ": corpus ", Printable(crate->name()), ", ", WithThousands(traces.size()),
                            traces.size() == 1 ? " trace, " : " traces, ", WithThousands(thread_instructions),
                            " thread-instructions, verified; `heddle corpus list ", folder, "` shows them\n"));
}

int List(const std::string& folder) {
  const auto crate = ReadCrate(folder);
  if (!crate.ok()) return ReportFailure(crate.status());
  Table table({{"trace", Table::Align::kLeft},
               {"launches"},
               {"threads"},
               {"thread-instructions"},
               {"digest", Table::Align::kLeft},
               {"licence", Table::Align::kLeft},
               {"recipe", Table::Align::kLeft}});
  for (const DescribedTrace& trace : crate->Traces()) {
    table.AddRow({trace.path, WithThousands(trace.launches), WithThousands(trace.threads),
                  WithThousands(trace.thread_instructions), trace.digest.substr(0, 12),
                  trace.license.substr(trace.license.rfind('/') + 1), trace.recipe.empty() ? "-" : trace.recipe});
  }
  return Print(table.Text());
}

}  // namespace

struct CorpusOptions::Arguments {
  CLI::App* init = nullptr;
  CLI::App* add = nullptr;
  CLI::App* build = nullptr;
  CLI::App* verify = nullptr;
  CLI::App* pack = nullptr;
  CLI::App* list = nullptr;
  CLI::App* get = nullptr;
  std::string folder;
  std::string output;
  Crate::About about;
  AddRequest request;
  GetRequest source;
  BuildRequest build_request;
};

CorpusOptions::CorpusOptions(CLI::App& app) : arguments_(std::make_unique<Arguments>()) {
  Arguments& a = *arguments_;
  CLI::App& corpus = *app.add_subcommand("corpus", "Collect traces to keep and to hand on, with licences and origins");
  corpus.require_subcommand(1);
  corpus.footer(kFooter);

  a.init = corpus.add_subcommand("init", "A new, empty corpus");
  a.init->add_option("DIR", a.folder, "Its folder")->required();
  a.init->add_option("--name", a.about.name, "Names its archive too")->required();
  a.init->add_option("--description", a.about.description, "One sentence")->required();
  a.init->add_option("--license", a.about.license, "SPDX name or address; of files that have no other")->required();
  a.init->add_option("--author", a.about.author, "Who publishes it")->required();
  a.init->add_option("--date", a.about.date, "Of publication, YYYY-MM-DD; today")->check(CalendarDay());

  a.add = corpus.add_subcommand("add", "Copy files into a corpus, and describe them");
  AddRequest& request = a.request;
  a.add->add_option("DIR", a.folder, "Folder of the corpus")->required();
  a.add->add_option("FILE", request.files, "Traces (to data/traces/) and other files");
  a.add->add_option("--under", request.under, "Folder in data/ of files that are no traces")->capture_default_str();
  a.add->add_option("--license", request.license, "SPDX name or address; else the corpus's")->check(NotEmpty());
  a.add->add_option("--sources", request.sources, "A folder with what the traces were made from: copied as a whole")
      ->check(NotEmpty());
  a.add
      ->add_option("--recipe", request.recipe,
                   "The recipe in it, so that `heddle corpus build` can make the trace again")
      ->check(NotEmpty());

  a.build = corpus.add_subcommand(
      "build", "Record every trace that has a recipe again, and compare the digests; with --kernels, fill the corpus");
  BuildRequest& build = a.build_request;
  build.about.license = "Apache-2.0";
  build.about.author = "The Heddle developers";
  CLI::Option& kernels = *a.build->add_option("--kernels", build.kernels,
                                              "Folder of kernels, such as traces/kernels: record those that are new or "
                                              "changed, into a\ncorpus that is made if it is not there");
  const auto with_kernels = [&](CLI::Option& option) { return option.needs(&kernels); };
  with_kernels(
      *a.build->add_option("--size", build.size, "Recipes: tiny, small, large or paper")->capture_default_str());
  with_kernels(
      *a.build->add_option("--only", build.only, "Kernels with a match of this regular expression")->check(NotEmpty()));
  with_kernels(*a.build->add_option("--jobs", build.jobs, "Recordings at once")
                    ->check(WholeNumberFromTo(1, 1024))
                    ->capture_default_str());
  with_kernels(*a.build->add_flag("--again", build.again, "Record what is up to date, too"));
  with_kernels(
      *a.build->add_option("--name", build.about.name, "Of a new corpus; else SIZE-workloads")->check(NotEmpty()));
  with_kernels(*a.build->add_option("--license", build.about.license, "Of a new corpus")->capture_default_str());
  with_kernels(*a.build->add_option("--author", build.about.author, "Of a new corpus")->capture_default_str());
  with_kernels(
      *a.build->add_option("--date", build.about.date, "Of a new corpus, YYYY-MM-DD; $SOURCE_DATE_EPOCH, or today")
           ->check(CalendarDay()));
  a.verify =
      corpus.add_subcommand("verify", "Checksums, licences, descriptions, and every trace as `trace check` does");
  a.list = corpus.add_subcommand("list", "The traces of a corpus");
  a.pack = corpus.add_subcommand("pack", "One tar, the same for the same files, beside its metadata and checksum");
  for (CLI::App* command : {a.build, a.verify, a.list, a.pack}) {
    command->add_option("DIR", a.folder, "Folder of the corpus")->required();
  }
  a.pack->add_option("-o,--output", a.output, "Folder for the three files")->required()->check(NotEmpty());

  a.get = corpus.add_subcommand("get", "Fetch a corpus, verify it, and only then put it in its place");
  a.get->add_option("SOURCE", a.source.source, "Folder, tar, or http(s):// or file:// address of a tar")->required();
  a.get->add_option("-o,--output", a.source.folder, "New folder")->required()->check(NotEmpty());
  a.get->add_option("--sha256", a.source.sha256, "That the archive must have")->check(NotEmpty());
  a.get->add_option("--most-bytes", a.source.most_bytes, "Refuse larger ones, packed or unpacked")
      ->check(PositiveWholeNumber())
      ->capture_default_str();
}

CorpusOptions::~CorpusOptions() = default;

bool CorpusOptions::Run(int& status) const {
  Arguments& a = *arguments_;
  const auto done = [](const absl::Status& result) { return result.ok() ? kSuccess : ReportFailure(result); };
  if (a.init->parsed()) {
    const absl::Status dated = AddDate(a.about);
    status = done(dated.ok() ? InitCorpus(a.folder, a.about) : dated);
  } else if (a.add->parsed()) {
    status = Add(a.folder, a.request);
  } else if (a.build->parsed()) {
    BuildRequest& build = a.build_request;
    build.folder = a.folder;
    if (build.about.name.empty()) build.about.name = build.size + "-workloads";
    build.about.description =
        absl::StrCat("The kernels of a workload suite, recorded from their ", build.size, " recipes");
    // Without --kernels no corpus is made, and none needs a date.
    const absl::Status dated = build.kernels.empty() ? absl::OkStatus() : AddDate(build.about);
    status = dated.ok() ? Build(build) : ReportFailure(dated);
  } else if (a.verify->parsed()) {
    status = Verify(a.folder);
  } else if (a.list->parsed()) {
    status = List(a.folder);
  } else if (a.pack->parsed()) {
    const auto tar = PackCorpus(a.folder, a.output);
    status = tar.ok() ? Print(*tar + "\n") : ReportFailure(tar.status());
  } else if (a.get->parsed()) {
    Progress progress("fetching", true);
    a.source.progress = [&progress](uint64_t bytes, uint64_t total) {
      if (total != 0) progress.Update(bytes, total);
    };
    const absl::Status result = GetCorpus(a.source);
    progress.Clear();
    status = result.ok() ? TellFetched(a.source.folder) : done(result);
  } else {
    return false;
  }
  return true;
}

}  // namespace heddle::tools::corpus
