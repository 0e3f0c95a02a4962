// The folder in which one program is built and run.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_WORKPLACE_H_
#define HEDDLE_TOOLS_STUDY_SUITE_WORKPLACE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "proto/suite.pb.h"

namespace heddle::tools::suite {

class Workplace {
 public:
  explicit Workplace(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  std::string source() const { return folder_ + "/source"; }
  std::string reference() const { return folder_ + "/reference"; }
  std::string home() const { return folder_ + "/home"; }
  // What a step printed on standard output and standard error.
  std::string output(const std::string& step) const { return folder_ + "/" + step + ".out"; }
  std::string errors(const std::string& step) const { return folder_ + "/" + step + ".err"; }

  // Empty, whatever was there.
  absl::Status Empty() const;
  // Removes all but what steps printed.
  void KeepLogs() const;
  // Writes files that are added to a copy of the sources, `copy`.
  absl::Status Add(const google::protobuf::RepeatedPtrField<::heddle::suite::v1::File>& files,
                   const std::string& copy) const;
  // Makes `path` in the copy a link to `target`, in the place of what is there.
  absl::Status Link(const std::string& copy, const std::string& path, const std::string& target) const;

 private:
  std::string folder_;
};

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_WORKPLACE_H_
