// The traces of a paper's kernels: those that are there, and those that are recorded now.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_TRACE_STORE_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_TRACE_STORE_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "proto/claims.pb.h"

namespace heddle::tools::reproduce {

// Which recipe of a kernel: NAME.tiny, NAME, or NAME.paper where there is one, else NAME.
enum class InputSize { kTiny, kSmall, kPaper };

// Where recipes and worked examples are in a source tree.
std::string SourceRecipes();
std::string SourceWorkedExamples();

class TraceStore {
 public:
  // Traces are in `folder` as RECIPE.htrace; missing ones are recorded there, from `recipes`/NAME/RECIPE.textproto.
  TraceStore(std::string folder, std::string recipes, InputSize size, bool quiet)
      : folder_(std::move(folder)), recipes_(std::move(recipes)), size_(size), quiet_(quiet) {}

  // The file of a kernel's trace. Errors, which are remembered: no such recipe, or what heddle-capture's exit status
  // says (its message is on standard error).
  absl::StatusOr<std::string> Find(const claims::v1::Kernel& kernel);

 private:
  absl::StatusOr<std::string> Look(const claims::v1::Kernel& kernel) const;
  absl::Status Record(const std::string& recipe, const std::string& trace) const;

  std::string folder_;
  std::string recipes_;
  InputSize size_;
  bool quiet_;
  std::map<std::string, absl::StatusOr<std::string>> found_;  // by trace
};

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_TRACE_STORE_H_
