// The inputs of a suite: made once, or found in the sources.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_DATA_STORE_H_
#define HEDDLE_TOOLS_STUDY_SUITE_DATA_STORE_H_

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/suite.pb.h"
#include "tools/study/suite/source_tree.h"

namespace heddle::tools::suite {

// Where an input is, and the SHA-256 of it.
struct StoredData {
  std::string path;
  std::string sha256;
};

// May be asked from several threads at once.
class DataStore {
 public:
  // Inputs get into `folder`, by their names. What an earlier call left there is used again if its digest is the one of
  // the suite; an input without a digest is made again.
  DataStore(std::string folder, SourceTree sources) : folder_(std::move(folder)), sources_(std::move(sources)) {}

  const std::string& folder() const { return folder_; }
  // NotFound for a file that the sources do not have; DataLoss, with both digests, for one that is another than the
  // suite says; and what the generator refuses.
  absl::StatusOr<StoredData> Get(const ::heddle::suite::v1::Data& data);

 private:
  absl::StatusOr<StoredData> Make(const ::heddle::suite::v1::Data& data) const;

  std::string folder_;
  SourceTree sources_;
  std::mutex mutex_;
  std::map<std::string, absl::StatusOr<StoredData>> made_;  // by name
};

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_DATA_STORE_H_
