#include "traces/base/link_target.h"

#include <filesystem>
#include <system_error>

namespace heddle {

std::string LinkTarget(const std::string& path) {
  std::filesystem::path target = path;
  std::error_code error;
  constexpr int kMostLinks = 40;  // as the kernel's
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(target, error); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) break;
    target = (target.has_parent_path() ? target.parent_path() : ".") / next;
  }
  return target.string();
}

}  // namespace heddle
