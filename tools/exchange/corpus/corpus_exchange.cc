// Packing a corpus, and fetching it.
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/console/digest.h"
#include "tools/console/output.h"
#include "tools/exchange/corpus/archive.h"
#include "tools/exchange/corpus/bag.h"
#include "tools/exchange/corpus/corpus.h"
#include "tools/exchange/corpus/download.h"
#include "traces/base/status_macros.h"

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
  HEDDLE_ASSIGN_OR_RETURN(const auto files, FilesBelow(from));
  for (const std::string& file : files) {
    std::error_code error;
    const fs::path target = fs::path(to) / file;
    fs::create_directories(target.parent_path(), error);
    if (error) return absl::UnavailableError(absl::StrCat(target.string(), ": cannot be written: ", error.message()));
    HEDDLE_RETURN_IF_ERROR(CopyFile(absl::StrCat(from, "/", file), target.string()));
  }
  return absl::OkStatus();
}

absl::Status FirstProblem(const std::string& what, const std::vector<std::string>& problems) {
  const std::string more = problems.size() == 1 ? "" : absl::StrCat(" (and ", problems.size() - 1, " more problems)");
  return absl::DataLossError(absl::StrCat(what, ": does not verify: ", problems.front(), more));
}

}  // namespace

absl::StatusOr<std::string> PackCorpus(const std::string& folder, const std::string& target) {
  HEDDLE_ASSIGN_OR_RETURN(const auto problems, VerifyCorpus(folder));
  if (!problems.empty()) return FirstProblem(folder, problems);
  HEDDLE_ASSIGN_OR_RETURN(const Crate crate, ReadCrate(folder));
  const std::string name = crate.name();
  std::error_code error;
  fs::create_directories(target, error);
  if (error) return absl::UnavailableError(absl::StrCat(target, ": cannot create the folder: ", error.message()));
  const std::string tar = absl::StrCat(target, "/", name, ".tar");
  HEDDLE_RETURN_IF_ERROR(PackTar(folder, name, tar));
  HEDDLE_ASSIGN_OR_RETURN(const std::string digest, Sha256OfFile(tar));
  for (const auto& [path, text] : {std::pair{tar + ".sha256", absl::StrCat(digest, "  ", name, ".tar\n")},
                                   {absl::StrCat(target, "/", name, ".", kMetadataFile), crate.Text()}}) {
    HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
    absl::Status status = file.Write(text);
    if (status.ok()) status = file.Commit();
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
    HEDDLE_RETURN_IF_ERROR(Download(request.source, archive, request.most_bytes, request.progress));
  }
  // What came does not become right by asking for its rest.
  const auto discard = [&](const absl::Status& status) {
    if (address) fs::remove(archive, error);
    return status;
  };
  if (!address && fs::is_directory(archive, error)) {
    HEDDLE_RETURN_IF_ERROR(CopyFolder(archive, staging.path()));
  } else {
    HEDDLE_ASSIGN_OR_RETURN(const std::string digest, Sha256OfFile(archive));
    if (!request.sha256.empty() && digest != request.sha256) {
      return discard(
          absl::DataLossError(absl::StrCat(request.source, ": has SHA-256 ", digest, ", not ", request.sha256)));
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
