// Traces of two folders that belong together.
#ifndef HEDDLE_TOOLS_INPUTS_TRACE_PAIRS_H_
#define HEDDLE_TOOLS_INPUTS_TRACE_PAIRS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::tools {

struct TracePair {
  std::string name;  // path below both folders, without ".htrace"
  std::string a;     // the two files
  std::string b;
};

struct TracePairs {
  std::vector<TracePair> both;  // by name, as all of these
  std::vector<std::string> only_a;
  std::vector<std::string> only_b;
};

// Pairs the traces (*.htrace) below two folders by their paths. Links to folders are not followed. Errors: a folder
// that cannot be read; no trace with a name in common.
absl::StatusOr<TracePairs> PairTraces(const std::string& folder_a, const std::string& folder_b);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_TRACE_PAIRS_H_
