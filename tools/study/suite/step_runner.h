// Runs the commands of a suite in a program's workplace.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_STEP_RUNNER_H_
#define HEDDLE_TOOLS_STUDY_SUITE_STEP_RUNNER_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/suite.pb.h"
#include "tools/study/suite/limited_process.h"
#include "tools/study/suite/placeholders.h"
#include "tools/study/suite/workplace.h"

namespace heddle::tools::suite {

// The programs of Heddle that a suite uses.
struct Toolkit {
  std::string heddle;  // with which words to record: heddle capture ...
  std::string folder;  // laid out as a CUDA toolkit, with nvcc in bin
};

// Finds them beside this program. FailedPrecondition if this build has no capture.
absl::StatusOr<Toolkit> FindToolkit();

// The limits of a program: its own, else the suite's, else the defaults.
ProcessLimits LimitsOf(const ::heddle::suite::v1::Limits& suite, const ::heddle::suite::v1::Limits& program,
                       bool builds);

class StepRunner {
 public:
  StepRunner(Toolkit toolkit, Workplace place, Placeholders values, std::function<bool()> stop)
      : toolkit_(std::move(toolkit)), place_(std::move(place)), values_(std::move(values)), stop_(std::move(stop)) {}

  const Workplace& place() const { return place_; }
  // Of the command that was run last; empty if none was.
  const std::string& last() const { return last_; }
  // Runs a command in its folder of `copy`, as step `name` (of its logs). `before` are words that come before the
  // program, such as those of `heddle capture`; `more` are arguments after those of the command. An error, with the
  // first telling line that it printed, if it cannot be started, does not end well, or is over a limit.
  absl::StatusOr<ProcessResult> Run(const std::string& name, const std::string& copy,
                                    const ::heddle::suite::v1::Command& command, const ProcessLimits& limits,
                                    const std::vector<std::string>& before = {},
                                    const std::vector<std::string>& more = {});
  // What steps have built, one after the other, each into the same logs.
  absl::Status Build(const std::string& name, const std::string& copy,
                     const google::protobuf::RepeatedPtrField<::heddle::suite::v1::Command>& commands,
                     const ProcessLimits& limits);

 private:
  std::vector<std::string> Environment(const ::heddle::suite::v1::Command& command) const;

  Toolkit toolkit_;
  Workplace place_;
  Placeholders values_;
  std::function<bool()> stop_;
  std::string last_;
};

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_STEP_RUNNER_H_
