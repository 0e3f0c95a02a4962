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
#include "tests/tracegen/run_to_end.h"

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

std::vector<std::string> FilesOf(const std::string& folder, const std::string& extension) {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(folder, none)) {
    if (entry.path().extension() == extension) files.push_back(entry.path().string());
  }
  return files;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Nvcc, KernelsOfOurs) {
  const std::vector<std::string> texts = FilesOf(HEDDLE_NVCC_PTX_DIR, ".ptx");
  if (texts.empty()) GTEST_SKIP() << "there is no PTX of nvcc";
  EXPECT_GT(texts.size(), 50u);
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    ExpectSameTree(ReadFile(text));
  }
}

TEST(Nvcc, ProgramsWithDebuggingData) {
  const std::string nvcc = Nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "nvcc was not found";
  const std::string ptx = fs::temp_directory_path() / absl::StrCat("heddle_nvcc_test_", ::getpid(), ".ptx");
  int compiled = 0;
  for (const std::string& source : FilesOf(HEDDLE_SOURCE_DIR "/tests/apps/cuda", ".cu")) {
    SCOPED_TRACE(source);
    // Some use what the newest toolkits have no more.
    if (RunToEnd({nvcc, "-ptx", "-arch=sm_80", "-G", "-I" HEDDLE_SOURCE_DIR, source, "-o", ptx}) != 0) continue;
    ExpectSameTree(ReadFile(ptx));
    ++compiled;
  }
  std::error_code error;
  fs::remove(ptx, error);
  EXPECT_GT(compiled, 25);
}

}  // namespace
}  // namespace heddle::tracegen::ptx
