#include "tools/study/suite/workplace.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/exchange/corpus/bag.h"
#include "tools/study/sweep/folder.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::suite {
namespace {

namespace fs = std::filesystem;

absl::Status Failed(const fs::path& path, const std::error_code& error) {
  return absl::UnavailableError(absl::StrCat(path.string(), ": cannot be made: ", error.message()));
}

}  // namespace

absl::Status Workplace::Empty() const {
  std::error_code error;
  fs::remove_all(folder_, error);
  for (const std::string& path : {source(), home()}) {
    fs::create_directories(path, error);
    if (error) return Failed(path, error);
  }
  return absl::OkStatus();
}

void Workplace::KeepLogs() const {
  std::error_code error;
  for (const std::string& path : {source(), reference(), home()}) fs::remove_all(path, error);
}

absl::Status Workplace::Add(const google::protobuf::RepeatedPtrField<::heddle::suite::v1::File>& files,
                            const std::string& copy) const {
  for (const ::heddle::suite::v1::File& file : files) {
    absl::string_view name = file.path();
    const bool in_home = absl::ConsumePrefix(&name, "{home}/");
    const fs::path path = fs::path(in_home ? home() : copy) / std::string(name);
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return Failed(path.parent_path(), error);
    if (file.contents_case() == ::heddle::suite::v1::File::kCopyOf) {
      HEDDLE_RETURN_IF_ERROR(corpus::CopyFile(absl::StrCat(copy, "/", file.copy_of()), path.string()));
    } else {
      HEDDLE_RETURN_IF_ERROR(sweep::WriteDurably(path.string(), path.string() + ".new", file.text()));
    }
  }
  return absl::OkStatus();
}

absl::Status Workplace::Link(const std::string& copy, const std::string& path, const std::string& target) const {
  const fs::path link = fs::path(copy) / path;
  std::error_code error;
  fs::create_directories(link.parent_path(), error);
  if (error) return Failed(link.parent_path(), error);
  fs::remove(link, error);
  fs::create_symlink(target, link, error);
  return error ? Failed(link, error) : absl::OkStatus();
}

}  // namespace heddle::tools::suite
