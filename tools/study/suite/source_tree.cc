#include "tools/study/suite/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "tools/console/digest.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::suite {
namespace {

namespace fs = std::filesystem;

bool IsExecutable(const fs::path& path) {
  std::error_code error;
  return (fs::status(path, error).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

absl::Status Failed(const fs::path& path, const char* what, const std::error_code& error) {
  return absl::UnavailableError(absl::StrCat(path.string(), ": ", what, ": ", error.message()));
}

// Whether a path, links followed, is in the folder, whose own links are followed.
bool IsWithin(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  const auto [end, nothing] = std::ranges::mismatch(folder, real);
  return !error && end == folder.end();
}

}  // namespace

absl::StatusOr<SourceTree> SourceTree::Open(const std::string& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error || !fs::is_directory(real, error)) {
    return absl::NotFoundError(absl::StrCat(folder, ": is no folder with the sources of a suite"));
  }
  return SourceTree(real.string());
}

absl::StatusOr<std::vector<std::string>> SourceTree::Files(const std::vector<std::string>& paths) const {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    const fs::path start = fs::path(folder_) / path;
    std::error_code error;
    if (!IsWithin(start, folder_)) return absl::InvalidArgumentError(absl::StrCat(path, ": leaves the sources"));
    if (fs::is_regular_file(start, error)) {
      files.push_back(path);
      continue;
    }
    if (!fs::is_directory(start, error)) return absl::NotFoundError(absl::StrCat(path, ": is not in the sources"));
    fs::recursive_directory_iterator it(start, error);
    if (error) return Failed(start, "cannot be read", error);
    for (const fs::recursive_directory_iterator end; it != end; it.increment(error)) {
      if (error) return Failed(start, "cannot be read", error);
      if (it->path().filename() == ".git") {
        it.disable_recursion_pending();
        continue;
      }
      if (it->is_directory(error)) continue;
      const std::string name = it->path().lexically_relative(folder_).string();
      if (!it->is_regular_file(error)) {
        return absl::InvalidArgumentError(absl::StrCat(name, ": is neither a file nor a folder"));
      }
      if (!IsWithin(it->path(), folder_)) {
        return absl::InvalidArgumentError(absl::StrCat(name, ": is a link that leaves the sources"));
      }
      files.push_back(name);
    }
  }
  std::ranges::sort(files);
  const auto twice = std::ranges::unique(files);
  files.erase(twice.begin(), twice.end());
  return files;
}

absl::StatusOr<std::string> SourceTree::Digest(const std::vector<std::string>& paths) const {
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<std::string> files, Files(paths));
  std::string list;
  for (const std::string& file : files) {
    const std::string path = absl::StrCat(folder_, "/", file);
    HEDDLE_ASSIGN_OR_RETURN(const std::string digest, Sha256OfFile(path));
    absl::StrAppend(&list, digest, IsExecutable(path) ? " x " : " - ", file, "\n");
  }
  return HexSha256(list);
}

absl::Status SourceTree::Copy(const std::vector<std::string>& paths, const std::string& to) const {
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<std::string> files, Files(paths));
  std::error_code error;
  for (const std::string& file : files) {
    const fs::path from = fs::path(folder_) / file;
    const fs::path target = fs::path(to) / file;
    fs::create_directories(target.parent_path(), error);
    if (error) return Failed(target.parent_path(), "cannot create the folder", error);
    fs::copy_file(from, target, fs::copy_options::overwrite_existing, error);
    if (error) return Failed(target, "cannot be copied", error);
    // Makefiles look at times: equal ones mean that nothing is older than anything.
    fs::last_write_time(target, fs::last_write_time(from, error), error);
    fs::permissions(target, fs::perms::owner_write, fs::perm_options::add, error);
    if (error) return Failed(target, "cannot be made writable", error);
  }
  return absl::OkStatus();
}

}  // namespace heddle::tools::suite
