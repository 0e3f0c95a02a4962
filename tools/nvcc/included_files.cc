#include "tools/nvcc/included_files.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace heddle::nvcc {

namespace fs = std::filesystem;

std::vector<std::string> NamesOfRule(std::string_view rule) {
  std::vector<std::string> names;
  const size_t colon = rule.find(": ");
  if (colon == std::string_view::npos) return names;
  std::string name;
  const auto end = [&] {
    if (!name.empty()) names.push_back(name);
    name.clear();
  };
  for (size_t i = colon + 2; i < rule.size(); ++i) {
    const char c = rule[i];
    const char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) {
      name += next;
      ++i;
    } else if (c == '\\' && next == '\n') {
      ++i;
      end();
    } else if (c == '$' && next == '$') {
      name += '$';
      ++i;
    } else if (c == ' ' || c == '\n') {
      end();
    } else {
      name += c;
    }
  }
  end();
  return names;
}

Inclusion FindInclusion(const std::vector<std::string>& files, const std::string& header) {
  std::error_code ignored;
  Inclusion inclusion = Inclusion::kNone;
  for (const std::string& file : files) {
    if (!file.ends_with(header)) continue;
    if (file.size() > header.size() && file[file.size() - header.size() - 1] != '/') continue;
    if (fs::exists(file, ignored)) return Inclusion::kFound;
    inclusion = Inclusion::kMissing;
  }
  return inclusion;
}

std::vector<std::string> FilesOfProgram(const std::vector<std::string>& files,
                                        const std::vector<std::string>& foreign) {
  std::error_code ignored;
  std::vector<std::string> folders = {"/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/",
                                      "/usr/local/lib/"};
  for (const std::string& folder : foreign) {
    if (!folder.empty()) folders.push_back(fs::absolute(folder, ignored).lexically_normal().string() + "/");
  }
  std::vector<std::string> own;
  for (const std::string& file : files) {
    const std::string path = fs::absolute(file, ignored).lexically_normal().string();
    const bool is_foreign = std::any_of(folders.begin(), folders.end(),
                                        [&path](const std::string& folder) { return path.starts_with(folder); });
    if (is_foreign) continue;
    if (fs::is_regular_file(file, ignored) && std::find(own.begin(), own.end(), file) == own.end()) own.push_back(file);
  }
  return own;
}

}  // namespace heddle::nvcc
