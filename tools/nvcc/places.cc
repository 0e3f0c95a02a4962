#include "tools/nvcc/places.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace heddle::nvcc {
namespace {

namespace fs = std::filesystem;

std::string FirstExisting(const std::vector<fs::path>& paths) {
  std::error_code ignored;
  for (const fs::path& path : paths) {
    if (!path.empty() && fs::exists(path, ignored)) return path.lexically_normal().string();
  }
  return "";
}

std::string FirstProgram(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::string path = FindProgram(name); !path.empty()) return path;
  }
  return "";
}

// The vendor's libraries of headers alone (CCCL), where a toolkit from 13.0 on has them.
std::string FindCoreLibraries() {
  std::vector<fs::path> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable); root != nullptr) folders.push_back(fs::path(root) / "include/cccl");
  }
  folders.emplace_back("/usr/local/cuda/include/cccl");
  return FirstExisting(folders);
}

bool Missing(const char* what, const char* remedy, std::string* error) {
  *error = std::string(what) + " was not found: " + remedy;
  return false;
}

bool FindHostCompilers(const std::string& wanted, Places& places, std::string* error) {
  if (wanted.empty()) {
    places.host_cxx = FirstProgram({"g++", "clang++-19", places.clang});
    places.host_c = FirstProgram({"gcc", "clang-19", places.clang});
  } else {
    // A folder with gcc in it, or a compiler.
    std::error_code ignored;
    const std::string name = fs::is_directory(wanted, ignored) ? wanted + "/g++" : wanted;
    places.host_cxx = FindProgram(name);
    if (places.host_cxx.empty()) return Missing(name.c_str(), "-ccbin names no program", error);
    // gcc beside g++, clang beside clang++.
    std::string c = name;
    const size_t slash = c.rfind('/') == std::string::npos ? 0 : c.rfind('/') + 1;
    if (const size_t at = c.find("++", slash); at != std::string::npos) {
      c = c.substr(slash, at - slash) == "g" ? c.substr(0, slash) + "gcc" + c.substr(at + 2)
                                             : c.substr(0, at) + c.substr(at + 2);
    }
    places.host_c = FirstProgram({c, name});
  }
  const std::string base = fs::path(places.host_cxx).filename().string();
  places.host_is_gcc = base.find("clang") == std::string::npos;
  return !places.host_cxx.empty() || Missing("a C++ compiler", "install g++", error);
}

}  // namespace

std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::stringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::optional<Places> FindPlaces(const std::string& host_compiler, std::string* error) {
  Places places;
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const char* include = std::getenv("HEDDLE_INCLUDE_DIR");
  places.headers = FirstExisting({include != nullptr ? fs::path(include) / "cuda" : fs::path(),
                                  here / "../share/heddle/include/cuda", HEDDLE_SOURCE_CUDA_INCLUDE});
  places.core_libraries = FindCoreLibraries();
  places.runtime = FirstExisting({here / "../lib/heddle/libheddle_cuda.a"});
  places.toolkit = FirstExisting({here / "../lib/heddle/toolkit"});
  places.device_program = FirstExisting({here / "heddle-capture"});
  places.clang = FirstProgram({"clang++-19", HEDDLE_LLVM_ROOT "/bin/clang++"});
  places.clang_wrappers = FirstExisting({HEDDLE_LLVM_ROOT "/lib/clang/19/include/cuda_wrappers"});
  const bool found = (!places.headers.empty() || Missing("cuda_runtime.h of Heddle",
                                                         "set HEDDLE_INCLUDE_DIR to share/heddle/include "
                                                         "of the installation",
                                                         error)) &&
                     (!places.runtime.empty() || Missing("lib/heddle/libheddle_cuda.a",
                                                         "it lies beside bin/heddle-nvcc in an "
                                                         "installation; install Heddle again",
                                                         error)) &&
                     (!places.toolkit.empty() || Missing("lib/heddle/toolkit",
                                                         "it lies beside bin/heddle-nvcc in an installation; "
                                                         "install Heddle again",
                                                         error)) &&
                     (!places.clang.empty() || Missing("clang++-19", "install the package clang-19", error)) &&
                     (!places.clang_wrappers.empty() ||
                      Missing("clang's folder cuda_wrappers", "install the package libclang-common-19-dev", error)) &&
                     FindHostCompilers(host_compiler, places, error);
  if (!found) return std::nullopt;
  return places;
}

}  // namespace heddle::nvcc
