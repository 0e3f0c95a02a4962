#include "tracegen/frontend/device_headers.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace heddle::tracegen {

absl::StatusOr<std::string> FindDeviceHeaders(const std::string& language) {
  namespace fs = std::filesystem;
  const std::string header = absl::StrCat("heddle_", language, ".h");
  std::vector<fs::path> places;
  if (const char* dir = std::getenv("HEDDLE_INCLUDE_DIR"); dir != nullptr && *dir != '\0') {
    places.push_back(fs::path(dir) / language);
  }
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) {
    places.push_back(program.parent_path() / "../share/heddle/include" / language);
    places.push_back(program.parent_path() / "../../share/heddle/include" / language);
  }
  places.push_back(fs::path(HEDDLE_SOURCE_RUNTIME_DIR) / language / "include");
  for (const fs::path& place : places) {
    if (fs::exists(place / header, ignored)) return place.lexically_normal().string();
  }
  return absl::NotFoundError(absl::StrCat("device header ", header, " was not found in ", places.front().string(),
                                          " or the other usual places; set HEDDLE_INCLUDE_DIR to share/heddle/include "
                                          "of the installation"));
}

}  // namespace heddle::tracegen
