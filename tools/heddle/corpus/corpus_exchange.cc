// Packing a corpus, and fetching it.
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/heddle/corpus/archive.h"
#include "tools/heddle/corpus/bag.h"
#include "tools/heddle/corpus/corpus.h"
#include "tools/heddle/corpus/download.h"
#include "tools/heddle/digest.h"
#include "tools/heddle/output.h"

namespace heddle::tools::corpus {
namespace {

namespace fs = std::filesystem;

// A folder beside the target that is removed in the end, unless its name was given away.
class Staging {
 public:
  explicit Staging(const std::string& target) : path_(absl::StrCat(target, ".unverified.", getpid())) {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  ~Staging() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

absl::Status CopyFolder(const std::string& from, const std::string& to) {
  const auto files = FilesBelow(from);
  if (!files.ok()) return files.status();
  for (const std::string& file : *files) {
    std::error_code error;
    const fs::path target = fs::path(to) / file;
    fs::create_directories(target.parent_path(), error);
    if (error) return absl::UnavailableError(absl::StrCat(target.string(), ": cannot be written: ", error.message()));
    if (absl::Status status = CopyFile(absl::StrCat(from, "/", file), target.string()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status FirstProblem(const std::string& what, const std::vector<std::string>& problems) {
  const std::string more = problems.size() == 1 ? "" : absl::StrCat(" (and ", problems.size() - 1, " more problems)");
  return absl::DataLossError(absl::StrCat(what, ": does not verify: ", problems.front(), more));
}

}  // namespace

absl::StatusOr<std::string> PackCorpus(const std::string& folder, const std::string& target) {
  const auto problems = VerifyCorpus(folder);
  if (!problems.ok()) return problems.status();
  if (!problems->empty()) return FirstProblem(folder, *problems);
  const absl::StatusOr<Crate> crate = ReadCrate(folder);
  if (!crate.ok()) return crate.status();
  const std::string name = crate->name();
  std::error_code error;
  fs::create_directories(target, error);
  if (error) return absl::UnavailableError(absl::StrCat(target, ": cannot create the folder: ", error.message()));
  const std::string tar = absl::StrCat(target, "/", name, ".tar");
  if (absl::Status status = PackTar(folder, name, tar); !status.ok()) return status;
  const absl::StatusOr<std::string> digest = Sha256OfFile(tar);
  if (!digest.ok()) return digest.status();
  for (const auto& [path, text] : {std::pair{tar + ".sha256", absl::StrCat(*digest, "  ", name, ".tar\n")},
                                   {absl::StrCat(target, "/", name, ".", kMetadataFile), crate->Text()}}) {
    absl::StatusOr<OutputFile> file = OutputFile::Create(path);
    if (!file.ok()) return file.status();
    absl::Status status = file->Write(text);
    if (status.ok()) status = file->Commit();
    if (!status.ok()) return status;
  }
  return tar;
}

absl::Status GetCorpus(const GetRequest& request) {
  std::error_code error;
  if (fs::exists(request.folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat("-o ", request.folder, ": is there already"));
  }
  const Staging staging(request.folder);
  const bool address = IsAddress(request.source);
  const std::string archive = address ? request.folder + ".download" : request.source;
  if (address) {
    if (absl::Status status = Download(request.source, archive, request.most_bytes, request.progress); !status.ok()) {
      return status;
    }
  }
  // What came does not become right by asking for its rest.
  const auto discard = [&](const absl::Status& status) {
    if (address) fs::remove(archive, error);
    return status;
  };
  if (!address && fs::is_directory(archive, error)) {
    if (absl::Status status = CopyFolder(archive, staging.path()); !status.ok()) return status;
  } else {
    const absl::StatusOr<std::string> digest = Sha256OfFile(archive);
    if (!digest.ok()) return digest.status();
    if (!request.sha256.empty() && *digest != request.sha256) {
      return discard(
          absl::DataLossError(absl::StrCat(request.source, ": has SHA-256 ", *digest, ", not ", request.sha256)));
    }
    UnpackLimits limits;
    limits.bytes = request.most_bytes;
    if (absl::Status status = UnpackTar(archive, staging.path(), limits); !status.ok()) return discard(status);
  }
  const auto problems = VerifyCorpus(staging.path());
  if (!problems.ok()) return discard(problems.status());
  if (!problems->empty()) return discard(FirstProblem(request.source, *problems));
  fs::rename(staging.path(), request.folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(request.folder, ": cannot be created: ", error.message()));
  if (address) fs::remove(archive, error);
  return absl::OkStatus();
}

}  // namespace heddle::tools::corpus
