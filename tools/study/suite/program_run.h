// One program of a suite, from its sources to a checked trace.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_PROGRAM_RUN_H_
#define HEDDLE_TOOLS_STUDY_SUITE_PROGRAM_RUN_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/suite.pb.h"
#include "tools/study/suite/data_store.h"
#include "tools/study/suite/source_tree.h"
#include "tools/study/suite/step_runner.h"

namespace heddle::tools::suite {

// What all programs of a run share. Outlives their runs.
struct SuiteContext {
  ::heddle::suite::v1::Suite suite;
  std::string size;
  std::string output;  // folder
  SourceTree sources;
  DataStore& data;
  Toolkit toolkit;
  std::string programs_digest;  // of the programs that compile and record
  std::function<bool()> stop;   // true = end what runs, and begin nothing
};

class ProgramRun {
 public:
  ProgramRun(const SuiteContext& context, const ::heddle::suite::v1::Program& program);

  // Looks whether the program can be tried: sources, size and inputs are there and as the suite says. The result is
  // SKIPPED if not, else NOT_RUN with the key of what it would be made from.
  ::heddle::suite::v1::ProgramResult Prepare();
  // Builds, records, checks; after a Prepare that has skipped nothing. A run that was interrupted is NOT_RUN. Only of
  // RIGHT and UNCHECKED programs there is a trace.
  ::heddle::suite::v1::ProgramResult Run();

 private:
  using Result = ::heddle::suite::v1::ProgramResult;
  using Command = ::heddle::suite::v1::Command;

  absl::Status PrepareCopy();
  absl::Status Build();
  absl::Status Record();
  absl::Status RunReference();
  absl::Status CheckOutput();
  absl::Status CheckTrace();
  absl::StatusOr<std::string> Given(const ::heddle::suite::v1::Compare& compare) const;
  absl::StatusOr<std::string> Right(const ::heddle::suite::v1::Compare& compare) const;
  std::string Key(const std::string& data) const;
  std::string TracePath() const;
  ProcessLimits Limits(bool builds) const;
  // Ends with the step that failed, and why.
  Result End(const std::string& step, ::heddle::suite::v1::State state, const absl::Status& why);

  const SuiteContext& context_;
  const ::heddle::suite::v1::Program& program_;
  const ::heddle::suite::v1::Size* size_ = nullptr;
  StepRunner steps_;
  Result result_;
};

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_PROGRAM_RUN_H_
