// The sources that --source names: read, digested, copied; never written to.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_SOURCE_TREE_H_
#define HEDDLE_TOOLS_STUDY_SUITE_SOURCE_TREE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::tools::suite {

class SourceTree {
 public:
  // NotFound if it is no folder.
  static absl::StatusOr<SourceTree> Open(const std::string& folder);

  const std::string& folder() const { return folder_; }
  // The SHA-256 of a list of the files at and below the paths, in the order of their names, each with its own SHA-256
  // and whether it can be executed: equal for equal files, wherever they lie. Names of version control (.git) do not
  // count. NotFound, with the path, for one that is not there.
  absl::StatusOr<std::string> Digest(const std::vector<std::string>& paths) const;
  // Copies the same files to the same places below `to`, writable. A link to a file within the tree is copied as the
  // file; one that leads out of it is refused.
  absl::Status Copy(const std::vector<std::string>& paths, const std::string& to) const;

 private:
  explicit SourceTree(std::string folder) : folder_(std::move(folder)) {}
  // Of the files, from the tree's folder; ascending, each once.
  absl::StatusOr<std::vector<std::string>> Files(const std::vector<std::string>& paths) const;

  std::string folder_;
};

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_SOURCE_TREE_H_
