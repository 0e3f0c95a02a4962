// What the user's own nvcc makes of our kernels and programs is read, and printed to the same tree.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/tracegen/ptx/syntax/snippet.h"

namespace heddle::tracegen::ptx {
namespace {

namespace fs = std::filesystem;

// nvcc on the PATH, or where its installer puts it; empty without one.
std::string Nvcc() {
  const char* path = std::getenv("PATH");
  std::vector<std::string> folders = absl::StrSplit(path == nullptr ? "" : path, ':', absl::SkipEmpty());
  folders.push_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders) {
    std::error_code error;
    if (fs::is_regular_file(fs::path(folder) / "nvcc", error)) return folder + "/nvcc";
  }
  return "";
}

std::vector<std::string> Sources(const std::string& folder) {
  std::vector<std::string> sources;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".cu") sources.push_back(entry.path().string());
  }
  return sources;
}

// How many of the sources nvcc compiles; what it makes of them is checked.
int CheckAll(const std::string& nvcc, const std::vector<std::string>& sources, const std::string& options) {
  const fs::path ptx = fs::temp_directory_path() / absl::StrCat("heddle_nvcc_test_", ::getpid(), ".ptx");
  int compiled = 0;
  for (const std::string& source : sources) {
    SCOPED_TRACE(source);
    std::error_code error;
    fs::remove(ptx, error);
    const std::string command = absl::StrCat("'", nvcc, "' -ptx ", options, " -I'", HEDDLE_SOURCE_DIR, "' '", source,
                                             "' -o '", ptx.string(), "' > /dev/null 2>&1");
    if (std::system(command.c_str()) != 0) continue;
    std::ifstream in(ptx, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    ExpectSameTree(text.str());
    ++compiled;
  }
  std::error_code error;
  fs::remove(ptx, error);
  return compiled;
}

TEST(Nvcc, KernelsOfOurs) {
  const std::string nvcc = Nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "nvcc was not found";
  const std::vector<std::string> sources = Sources(HEDDLE_SOURCE_DIR "/traces/kernels");
  EXPECT_GT(sources.size(), 50u);
  // All of them are plain CUDA.
  EXPECT_EQ(CheckAll(nvcc, sources, "-arch=sm_80 -lineinfo"), static_cast<int>(sources.size()));
}

TEST(Nvcc, ProgramsWithDebuggingData) {
  const std::string nvcc = Nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "nvcc was not found";
  // Some use what the newest toolkits have no more.
  EXPECT_GT(CheckAll(nvcc, Sources(HEDDLE_SOURCE_DIR "/tests/apps/cuda"), "-arch=sm_80 -G"), 25);
}

}  // namespace
}  // namespace heddle::tracegen::ptx
