// Reading results that earlier runs wrote.
#ifndef HEDDLE_TOOLS_HEDDLE_RESULT_FILES_H_
#define HEDDLE_TOOLS_HEDDLE_RESULT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/result.pb.h"

namespace heddle::tools {

// The files that ReadResults reads, in its order.
absl::StatusOr<std::vector<std::string>> ResultFiles(const std::vector<std::string>& paths);

// The results in files and folders, in the order given; those of a folder by path. A file has one result of `heddle
// replay --json` per line; fields that are not in result.proto (a sweep's parameters) are passed over. Of a folder, all
// *.json and *.jsonl below its `results` count if it has one (a sweep), else all below itself.
// Errors name file and line: NotFound for a path that is not there; InvalidArgument for what is no result, for another
// schema version, and where there is no result at all.
absl::StatusOr<std::vector<result::v1::Result>> ReadResults(const std::vector<std::string>& paths);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_RESULT_FILES_H_
