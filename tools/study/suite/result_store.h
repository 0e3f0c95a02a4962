// Results of programs, kept so that a run goes on where it was.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_RESULT_STORE_H_
#define HEDDLE_TOOLS_STUDY_SUITE_RESULT_STORE_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "proto/suite.pb.h"

namespace heddle::tools::suite {

class ResultStore {
 public:
  // In `output`/results.
  explicit ResultStore(std::string output) : output_(std::move(output)) {}

  // The result that was made from the same things as `prepared`, whose key says which, and whose trace is still there
  // as it was. Nothing if there is none: what was not recorded is tried again, for its reason may be gone.
  std::optional<::heddle::suite::v1::ProgramResult> Find(const ::heddle::suite::v1::ProgramResult& prepared) const;
  // Whether there is a result of the program in this size, from whatever.
  bool IsThere(const std::string& program, const std::string& size) const;
  absl::Status Keep(const ::heddle::suite::v1::ProgramResult& result) const;

 private:
  std::string PathOf(const std::string& program, const std::string& size) const;

  std::string output_;
};

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_RESULT_STORE_H_
