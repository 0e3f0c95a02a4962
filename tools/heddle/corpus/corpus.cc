#include "tools/heddle/corpus/corpus.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "tools/heddle/corpus/bag.h"
#include "tools/heddle/digest.h"
#include "tools/heddle/output.h"
#include "tools/heddle/trace_file.h"
#include "traces/format/check.h"

namespace heddle::tools::corpus {
namespace {

namespace fs = std::filesystem;

std::string Data(const std::string& folder) { return folder + "/data"; }
std::string MetadataPath(const std::string& folder) { return absl::StrCat(Data(folder), "/", kMetadataFile); }

absl::Status Store(const std::string& folder, const Crate& crate) {
  absl::StatusOr<OutputFile> file = OutputFile::Create(MetadataPath(folder));
  if (!file.ok()) return file.status();
  absl::Status status = file->Write(crate.Text());
  if (status.ok()) status = file->Commit();
  if (!status.ok()) return status;
  return SealBag(folder, {absl::StrCat("External-Identifier: ", crate.name())});
}

// Copies a file into data/ and describes it.
absl::Status AddOne(const std::string& folder, const std::string& from, const std::string& path,
                    const std::string& license, Crate& crate) {
  if (absl::Status status = CheckPortable(path); !status.ok()) return status;
  if (path == kMetadataFile) {
    return absl::InvalidArgumentError(absl::StrCat(from, ": this name is that of the corpus's own description"));
  }
  std::error_code error;
  if (!fs::is_regular_file(from, error)) {
    return absl::NotFoundError(absl::StrCat(from, ": is not there, or is no plain file"));
  }
  const fs::path target = fs::path(Data(folder)) / path;
  fs::create_directories(target.parent_path(), error);
  const fs::path temporary = target.string() + ".tmp";
  if (!error) fs::copy_file(from, temporary, fs::copy_options::overwrite_existing, error);
  if (!error) fs::rename(temporary, target, error);
  if (error) return absl::UnavailableError(absl::StrCat(target.string(), ": cannot be written: ", error.message()));
  const absl::StatusOr<std::string> digest = Sha256OfFile(target.string());
  if (!digest.ok()) return digest.status();
  crate.SetFile(path, fs::file_size(target, error), *digest, license);
  return absl::OkStatus();
}

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
  if (about.name.find('/') != std::string::npos || about.name.starts_with(".") || !CheckPortable(about.name).ok()) {
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

absl::StatusOr<std::vector<std::string>> AddToCorpus(const std::string& folder, const AddRequest& request) {
  absl::StatusOr<Crate> crate = ReadCrate(folder);
  if (!crate.ok()) return crate.status();
  std::vector<std::string> added;
  const auto add = [&](const std::string& from, const std::string& path) -> absl::Status {
    if (absl::Status status = AddOne(folder, from, path, request.license, *crate); !status.ok()) return status;
    added.push_back(path);
    return absl::OkStatus();
  };

  std::vector<std::string> sources;
  std::string recipe;
  if (!request.sources.empty()) {
    const auto files = FilesBelow(request.sources);
    if (!files.ok()) return files.status();
    std::error_code error;
    const fs::path root = fs::canonical(request.sources, error);
    for (const std::string& file : *files) {
      sources.push_back(absl::StrCat("sources/", root.filename().string(), "/", file));
      if (absl::Status status = add((root / file).string(), sources.back()); !status.ok()) return status;
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
      if (absl::Status status = add(file, path); !status.ok()) return status;
      continue;
    }
    const auto reader = OpenTrace(file);
    if (!reader.ok()) return reader.status();
    const std::string path = "traces/" + name;
    if (absl::Status status = add(file, path); !status.ok()) return status;
    crate->SetTrace(path, **reader, recipe, sources);
  }
  if (absl::Status status = Store(folder, *crate); !status.ok()) return status;
  return added;
}

absl::StatusOr<std::vector<std::string>> VerifyCorpus(const std::string& folder) {
  absl::StatusOr<std::vector<std::string>> problems = CheckBag(folder);
  if (!problems.ok()) return problems;
  const absl::StatusOr<Crate> crate = ReadCrate(folder);
  if (!crate.ok()) return crate.status();
  const auto files = FilesBelow(Data(folder));
  if (!files.ok()) return files.status();
  for (const std::string& problem : crate->Check(Data(folder), *files)) problems->push_back(problem);
  std::vector<std::string> described;
  for (const DescribedTrace& trace : crate->Traces()) {
    described.push_back(trace.path);
    CheckTraceFile(folder, trace, *problems);
  }
  for (const std::string& file : *files) {
    if (file.ends_with(".htrace") && std::ranges::find(described, file) == described.end()) {
      problems->push_back(absl::StrCat(file, ": is not described as a trace"));
    }
  }
  return problems;
}

}  // namespace heddle::tools::corpus
