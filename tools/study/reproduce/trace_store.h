// The traces of a paper's kernels: those that are there, and those that are recorded now.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_TRACE_STORE_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_TRACE_STORE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "proto/claims.pb.h"
#include "tools/study/reproduce/run_plan.h"

namespace heddle::tools::reproduce {

// Which recipe of a kernel: NAME.tiny, NAME, or NAME.paper where there is one, else NAME.
enum class InputSize { kTiny, kSmall, kPaper };

// Where recipes and worked examples are in a source tree.
std::string SourceRecipes();
std::string SourceWorkedExamples();

// Where traces are, and how missing ones are recorded.
struct TraceFolders {
  std::string traces;     // RECIPE.htrace; missing ones are recorded there
  std::string recipes;    // NAME/RECIPE.textproto
  std::string originals;  // SUITE/traces/PROGRAM.SIZE.htrace; empty = none
  // Orders that a recording is certified with; what cannot be certified is recorded all the same.
  uint32_t certify = 0;
  bool quiet = false;
};

class TraceStore {
 public:
  TraceStore(TraceFolders folders, InputSize size) : folders_(std::move(folders)), size_(size) {}

  // A kernel's trace: that of the original program where there is one, else that of ours. Errors, which are remembered:
  // no such recipe, or what heddle-capture's exit status says (its message is on standard error).
  absl::StatusOr<KernelTrace> Find(const claims::v1::Kernel& kernel);

 private:
  absl::StatusOr<KernelTrace> Look(const claims::v1::Kernel& kernel) const;
  // The original's file; empty if there is none.
  std::string Original(const claims::v1::Kernel& kernel) const;
  absl::StatusOr<std::string> Own(const claims::v1::Kernel& kernel) const;
  absl::Status Record(const std::string& recipe, const std::string& trace) const;

  TraceFolders folders_;
  InputSize size_;
  std::map<std::string, absl::StatusOr<KernelTrace>> found_;  // by name of the kernel
};

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_TRACE_STORE_H_
