// A whole suite, resumable by program.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_SUITE_RUN_H_
#define HEDDLE_TOOLS_STUDY_SUITE_SUITE_RUN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/suite.pb.h"
#include "tools/exchange/corpus/crate.h"

namespace heddle::tools::suite {

struct SuiteRequest {
  ::heddle::suite::v1::Suite suite;
  std::string source;  // folder, only read
  std::string output;  // folder
  std::string size = "default";
  std::string only;  // regular expression (POSIX extended) that a program's name has a match of; empty = all
  uint32_t jobs = 1;
  bool again = false;          // run what is kept from an earlier call, too
  corpus::Crate::About about;  // of the corpus; its name and description are filled in
  std::string heddle;          // version
  std::function<bool()> stop = [] { return false; };
  std::function<void(uint64_t done, uint64_t total)> progress;
};

// Runs every program that is asked for, `jobs` at once, in the order of the suite, and puts the traces whose programs
// were right into a corpus, with those of earlier calls that still hold. Results are in the suite's order; those of
// programs that an earlier call has recorded from the same sources, inputs, text and capture are taken as they are.
// After an interruption the rest is NOT_RUN, and there is no corpus. An error for a request that nothing can be run
// for: no sources, a wrong expression, no capture, a folder that cannot be written, another run with the same output.
absl::StatusOr<::heddle::suite::v1::SuiteResult> RunSuite(const SuiteRequest& request);

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_SUITE_RUN_H_
