// `heddle trace check`: everything about a trace that can be verified without replaying it.
#ifndef HEDDLE_TRACES_FORMAT_READ_CHECK_H_
#define HEDDLE_TRACES_FORMAT_READ_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {

// A broken rule or a remark, with its place. Errors make a trace unfit for use; warnings are properties of the recorded
// program that a user should know (unequal barrier counts in a block, accesses outside all allocations).
struct Finding {
  enum class Severity { kWarning, kError };
  Severity severity = Severity::kError;
  std::string rule;   // short and stable, such as "barrier-counts"
  std::string place;  // launch, block, thread, instruction
  std::string message;
  // Further findings of the same rule are counted, not listed: errors of the same launch or program, warnings of any.
  uint64_t count = 1;
  uint64_t launches = 0;  // in which there are any; 0 if the rule is not about launches
};

struct CheckReport {
  std::vector<Finding> findings;
  uint64_t chunks = 0;
  uint64_t threads = 0;
  uint64_t thread_instructions = 0;
  uint64_t accesses = 0;
  bool ok() const;  // no finding is an error
};

// Decodes every chunk and verifies: the digest; that texts are printable; totals of chunks, launches and index; entry
// and exit of every thread; post-dominators recomputed from the control flow; every thread that runs a branch later
// reaches its reconvergence point or exits; equal barrier counts within a block; accesses within declared allocations
// and windows; alignment.
absl::StatusOr<CheckReport> CheckTrace(const TraceReader& reader);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_CHECK_H_
