#include "tools/exchange/corpus/corpus.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "tools/console/digest.h"
#include "tools/console/output.h"
#include "tools/exchange/corpus/bag.h"
#include "tools/inputs/trace_file.h"
#include "traces/base/status_macros.h"
#include "traces/format/read/check.h"

namespace heddle::tools::corpus {
namespace {

namespace fs = std::filesystem;

std::string Data(const std::string& folder) { return folder + "/data"; }
std::string MetadataPath(const std::string& folder) { return absl::StrCat(Data(folder), "/", kMetadataFile); }

absl::Status Store(const std::string& folder, const Crate& crate) {
  HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(MetadataPath(folder)));
  absl::Status status = file.Write(crate.Text());
  if (status.ok()) status = file.Commit();
  if (!status.ok()) return status;
  return SealBag(folder, {absl::StrCat("External-Identifier: ", crate.name())});
}

// New files of data/. They are copied beside their places, and all take them at once, so that a copy that fails (a full
// disk, no permission) leaves the corpus as it was.
class Additions {
 public:
  // Removes what an addition that was killed has left.
  explicit Additions(const std::string& folder) : data_(Data(folder)) {
    std::error_code error;
    std::vector<fs::path> left;
    fs::recursive_directory_iterator it(data_, error);
    for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
      if (it->path().extension() == kUnfinished) left.push_back(it->path());
    }
    for (const fs::path& path : left) fs::remove(path, error);
  }
  ~Additions() {
    std::error_code error;
    for (const std::string& path : copied_) fs::remove(Unfinished(path), error);
  }
  Additions(const Additions&) = delete;
  Additions& operator=(const Additions&) = delete;

  absl::Status Copy(const std::string& from, const std::string& path, const std::string& license, Crate& crate) {
    HEDDLE_RETURN_IF_ERROR(CheckPortable(path));
    if (path == kMetadataFile || path.ends_with(kUnfinished)) {
      return absl::InvalidArgumentError(absl::StrCat(from, ": this name is kept for the corpus's own files"));
    }
    std::error_code error;
    if (!fs::is_regular_file(from, error)) {
      return absl::NotFoundError(absl::StrCat(from, ": is not there, or is no plain file"));
    }
    const fs::path target = data_ / path;
    const fs::path temporary = Unfinished(path);
    fs::create_directories(target.parent_path(), error);
    copied_.push_back(path);
    if (error) return absl::UnavailableError(absl::StrCat(target.string(), ": cannot be written: ", error.message()));
    HEDDLE_RETURN_IF_ERROR(CopyFile(from, temporary.string()));
    HEDDLE_ASSIGN_OR_RETURN(const std::string digest, Sha256OfFile(temporary.string()));
    crate.SetFile(path, fs::file_size(temporary, error), digest, license);
    return absl::OkStatus();
  }

  // Takes a file and its description away.
  void Remove(const std::string& path, Crate& crate) {
    crate.RemoveFile(path);
    removed_.push_back(path);
  }

  absl::Status Commit() {
    std::error_code error;
    for (const std::string& path : removed_) fs::remove(data_ / path, error);
    for (const std::string& path : copied_) {
      fs::rename(Unfinished(path), data_ / path, error);
      if (error) return absl::UnavailableError(absl::StrCat(path, ": cannot be renamed: ", error.message()));
    }
    copied_.clear();
    return absl::OkStatus();
  }

  const std::vector<std::string>& copied() const { return copied_; }

 private:
  static constexpr char kUnfinished[] = ".unfinished";
  fs::path Unfinished(const std::string& path) const { return (data_ / path).string() + kUnfinished; }

  const fs::path data_;
  std::vector<std::string> copied_;  // paths in data/
  std::vector<std::string> removed_;
};

// What a trace in data/ is not: readable, sound, the one described.
void CheckTraceFile(const std::string& folder, const DescribedTrace& described, std::vector<std::string>& problems) {
  const std::string path = absl::StrCat(Data(folder), "/", described.path);
  const auto reader = OpenTrace(path);
  if (!reader.ok()) {
    problems.push_back(std::string(reader.status().message()));
    return;
  }
  if ((*reader)->digest() != described.digest) {
    problems.push_back(absl::StrCat(described.path, ": is a trace with another digest than it is described with"));
  }
  const absl::StatusOr<trace::CheckReport> report = trace::CheckTrace(**reader);
  if (!report.ok()) {
    problems.push_back(absl::StrCat(described.path, ": ", report.status().message()));
    return;
  }
  for (const trace::Finding& finding : report->findings) {
    if (finding.severity != trace::Finding::Severity::kError) continue;
    problems.push_back(absl::StrCat(described.path, ": ", finding.rule, ": ", finding.place, ": ", finding.message));
  }
}

absl::Status AddRequested(const AddRequest& request, Crate& crate, Additions& additions) {
  const auto add = [&](const std::string& from, const std::string& path) {
    return additions.Copy(from, path, request.license, crate);
  };

  std::vector<std::string> sources;
  std::string recipe;
  if (!request.sources.empty()) {
    HEDDLE_ASSIGN_OR_RETURN(const auto files, FilesBelow(request.sources));
    std::error_code error;
    const fs::path root = fs::canonical(request.sources, error);
    if (request.replaces_sources) {
      for (const std::string& old : crate.FilesBelow(absl::StrCat("sources/", root.filename().string()))) {
        additions.Remove(old, crate);
      }
    }
    for (const std::string& file : files) {
      sources.push_back(absl::StrCat("sources/", root.filename().string(), "/", file));
      HEDDLE_RETURN_IF_ERROR(add((root / file).string(), sources.back()));
    }
    if (!request.recipe.empty()) {
      const fs::path inside = fs::weakly_canonical(request.recipe, error).lexically_relative(root);
      recipe = absl::StrCat("sources/", root.filename().string(), "/", inside.generic_string());
      if (std::ranges::find(sources, recipe) == sources.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--recipe ", request.recipe, ": is not in the folder --sources ", request.sources));
      }
    }
  } else if (!request.recipe.empty()) {
    return absl::InvalidArgumentError("--recipe: a trace can be built again only with its sources: give --sources too");
  }
  for (const std::string& file : request.files) {
    const std::string name = fs::path(file).filename().string();
    if (!name.ends_with(".htrace")) {
      const std::string path = request.under.empty() ? name : absl::StrCat(request.under, "/", name);
      HEDDLE_RETURN_IF_ERROR(add(file, path));
      continue;
    }
    HEDDLE_ASSIGN_OR_RETURN(const auto reader, OpenTrace(file));
    const std::string path = "traces/" + name;
    HEDDLE_RETURN_IF_ERROR(add(file, path));
    crate.SetTrace(path, *reader, recipe, sources);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Crate> ReadCrate(const std::string& folder) {
  const absl::StatusOr<std::string> text = ReadSmallFile(MetadataPath(folder));
  if (!text.ok()) {
    return absl::NotFoundError(
        absl::StrCat(folder, ": is no corpus: it has no data/", kMetadataFile, " (`heddle corpus init` makes one)"));
  }
  absl::StatusOr<Crate> crate = Crate::Parse(*text);
  if (!crate.ok()) return absl::DataLossError(absl::StrCat(folder, ": ", crate.status().message()));
  return crate;
}

absl::Status InitCorpus(const std::string& folder, const Crate::About& about) {
  if (about.name.empty() || about.description.empty() || about.license.empty()) {
    return absl::InvalidArgumentError("a corpus needs a name, a description and a licence");
  }
  if (about.name.find('/') != std::string::npos || about.name.starts_with('.') || !CheckPortable(about.name).ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--name ", about.name,
                                                   ": names files too: letters, digits and \"._-+\", "
                                                   "and no dot in front"));
  }
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat(folder, ": is there already, and not empty"));
  }
  fs::create_directories(Data(folder), error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": cannot create the folder: ", error.message()));
  return Store(folder, Crate::Create(about));
}

absl::StatusOr<std::vector<std::string>> AddToCorpus(const std::string& folder, std::span<const AddRequest> requests) {
  HEDDLE_ASSIGN_OR_RETURN(Crate crate, ReadCrate(folder));
  Additions additions(folder);
  for (const AddRequest& request : requests) {
    HEDDLE_RETURN_IF_ERROR(AddRequested(request, crate, additions));
  }
  std::vector<std::string> added = additions.copied();
  absl::Status status = additions.Commit();
  if (status.ok()) status = Store(folder, crate);
  if (!status.ok()) return status;
  return added;
}

absl::StatusOr<std::vector<std::string>> VerifyCorpus(const std::string& folder) {
  absl::StatusOr<std::vector<std::string>> problems = CheckBag(folder);
  if (!problems.ok()) return problems;
  HEDDLE_ASSIGN_OR_RETURN(const Crate crate, ReadCrate(folder));
  HEDDLE_ASSIGN_OR_RETURN(const auto files, FilesBelow(Data(folder)));
  for (const std::string& problem : crate.Check(Data(folder), files)) problems->push_back(problem);
  std::vector<std::string> described;
  for (const DescribedTrace& trace : crate.Traces()) {
    described.push_back(trace.path);
    CheckTraceFile(folder, trace, *problems);
  }
  for (const std::string& file : files) {
    if (file.ends_with(".htrace") && std::ranges::find(described, file) == described.end()) {
      problems->push_back(absl::StrCat(file, ": is not described as a trace"));
    }
  }
  return problems;
}

}  // namespace heddle::tools::corpus
