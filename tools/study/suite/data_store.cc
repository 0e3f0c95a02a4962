#include "tools/study/suite/data_store.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "tools/console/digest.h"
#include "tools/exchange/corpus/bag.h"
#include "tools/study/suite/inputs/generator.h"
#include "tools/study/sweep/folder.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::suite {
namespace {

namespace fs = std::filesystem;
using ::heddle::suite::v1::Data;

}  // namespace

absl::StatusOr<StoredData> DataStore::Get(const Data& data) {
  const std::lock_guard guard(mutex_);
  const auto known = made_.find(data.name());
  if (known != made_.end()) return known->second;
  return made_.emplace(data.name(), Make(data)).first->second;
}

absl::StatusOr<StoredData> DataStore::Make(const Data& data) const {
  const std::string path = absl::StrCat(folder_, "/", data.name());
  std::error_code error;
  if (!data.sha256().empty() && fs::is_regular_file(path, error)) {
    const absl::StatusOr<std::string> there = Sha256OfFile(path);
    if (there.ok() && *there == data.sha256()) return StoredData{path, *there};
  }
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return absl::UnavailableError(absl::StrCat(path, ": cannot create its folder: ", error.message()));
  if (data.origin_case() == Data::kGenerator) {
    const auto& wanted = data.generator();
    const InputSettings settings(wanted.parameter().begin(), wanted.parameter().end());
    HEDDLE_ASSIGN_OR_RETURN(const std::string bytes, MakeInput(wanted.name(), wanted.seed(), settings));
    HEDDLE_RETURN_IF_ERROR(sweep::WriteDurably(path, path + ".new", bytes));
  } else {
    const std::string from = absl::StrCat(sources_.folder(), "/", data.from());
    if (!fs::is_regular_file(from, error)) {
      return absl::NotFoundError(absl::StrCat("input ", data.name(), ": ", data.from(), " is not in the sources"));
    }
    HEDDLE_RETURN_IF_ERROR(corpus::CopyFile(from, path));
  }
  HEDDLE_ASSIGN_OR_RETURN(const std::string sha256, Sha256OfFile(path));
  if (!data.sha256().empty() && sha256 != data.sha256()) {
    return absl::DataLossError(
        absl::StrCat("input ", data.name(), ": has digest ", sha256, ", the suite says ", data.sha256()));
  }
  return StoredData{path, sha256};
}

}  // namespace heddle::tools::suite
