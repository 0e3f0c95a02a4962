#include "replay/machine/machine.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/proto_text.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

// Given by the build: where the machines are in the source tree, and relative to the installed program.
#ifndef HEDDLE_SOURCE_MACHINES_DIR
#define HEDDLE_SOURCE_MACHINES_DIR "replay/machine/descriptions"
#endif
#ifndef HEDDLE_INSTALLED_MACHINES_DIR
#define HEDDLE_INSTALLED_MACHINES_DIR "../share/heddle/machines"
#endif

namespace heddle::replay {
namespace {

namespace fs = std::filesystem;

constexpr char kEnding[] = ".textproto";

absl::StatusOr<std::string> ReadText(const std::string& path) {
  // Directories open as streams, and then read as empty files: ask first.
  std::error_code error;
  if (fs::is_directory(path, error))
    return absl::NotFoundError(absl::StrCat(path, ": is a folder, not a machine file"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot read the machine file: ", std::strerror(errno)));
  return std::move(text).str();
}

}  // namespace

std::string MachinesDirectory() {
  if (const char* chosen = std::getenv("HEDDLE_MACHINES_DIR"); chosen != nullptr && *chosen != '\0') return chosen;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path installed = (program.parent_path() / HEDDLE_INSTALLED_MACHINES_DIR).lexically_normal();
    if (fs::is_directory(installed, error)) return installed.string();
  }
  return HEDDLE_SOURCE_MACHINES_DIR;
}

std::vector<std::string> ListMachines() {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(MachinesDirectory(), error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == kEnding) names.push_back(it->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<machine::v1::Machine> LoadMachine(std::string_view name) {
  std::string path(name);
  if (!name.ends_with(kEnding)) {
    const std::vector<std::string> known = ListMachines();
    if (known.empty()) {
      return absl::NotFoundError(absl::StrCat("no machine files in ", MachinesDirectory(),
                                              ": set HEDDLE_MACHINES_DIR to a folder that has them"));
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::NotFoundError(
          absl::StrCat(UnknownNameMessage("machine", name, known), " (or give a file ending in ", kEnding, ")"));
    }
    path = absl::StrCat(MachinesDirectory(), "/", path, kEnding);
  }
  HEDDLE_ASSIGN_OR_RETURN(std::string text, ReadText(path));

  machine::v1::Machine machine;
  absl::Status status = ParseProtoText(text, machine);
  if (status.ok()) status = CheckMachine(machine);
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  return machine;
}

}  // namespace heddle::replay
