// Reading results that earlier runs wrote.
#ifndef HEDDLE_TOOLS_INPUTS_RESULT_FILES_H_
#define HEDDLE_TOOLS_INPUTS_RESULT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/result.pb.h"

namespace heddle::tools {

// The files that ReadResults reads, in its order, and what it leaves out.
struct ResultFiles {
  std::vector<std::string> files;
  std::vector<std::string> notes;  // one line for each folder of which not everything is read
};
absl::StatusOr<ResultFiles> FindResults(const std::vector<std::string>& paths);

// The results in files and folders, in the order given; those of a folder by path. A file has one result of `heddle
// replay --json` per line; fields that are not in result.proto (a sweep's parameters) are passed over. Of a folder, all
// *.json and *.jsonl below its `results` count if it has one (a sweep), else all below itself. Of a sweep with a
// points.jsonl, only the results of these points: the folder keeps those of earlier plans and models, too.
// Errors name file and line: NotFound for a path that is not there; InvalidArgument for what is no result, for another
// schema version, for a line that is no point, and where there is no result at all.
absl::StatusOr<std::vector<result::v1::Result>> ReadResults(const std::vector<std::string>& paths);
// ReadResults of files that were found.
absl::StatusOr<std::vector<result::v1::Result>> ReadResultFiles(const std::vector<std::string>& files);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_RESULT_FILES_H_
