// Runs the program of these tests on the device, with and without a capture.
#ifndef HEDDLE_TESTS_TRACEGEN_APPLICATION_APPLICATION_FIXTURE_H_
#define HEDDLE_TESTS_TRACEGEN_APPLICATION_APPLICATION_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/tracegen/run_to_end.h"
#include "tracegen/frontend/bitcode.h"
#include "tracegen/frontend/compile.h"
#include "traces/format/read/check.h"
#include "traces/format/read/reader.h"

namespace heddle::tracegen {

class ApplicationTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = absl::StrCat(::testing::TempDir(), "/heddle_application_", getpid());
    std::filesystem::create_directories(folder_);
    for (const char* name : {"kernels", "part_one", "part_two"}) {
      absl::StatusOr<DeviceModule> module = Compile(absl::StrCat(HEDDLE_TEST_SOURCES, "/", name, ".cu"), {});
      ASSERT_TRUE(module.ok()) << module.status();
      std::ofstream(Path(absl::StrCat(name, ".bc")), std::ios::binary) << WriteBitcode(*module->module);
    }
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  static std::string Path(const std::string& name) { return absl::StrCat(folder_, "/", name); }
  static std::string ReadFile(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  struct Run {
    int status = 0;  // as a shell says it
    std::string out;
    std::string errors;
  };

  // A shell command line.
  static Run Shell(const std::string& command) {
    Run run;
    const std::string line = absl::StrCat("HEDDLE_TEST_TAG=", folder_, " ", command);
    const int status = RunToEnd({"/bin/sh", "-c", line}, Path("out"), Path("err"));
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    run.out = ReadFile(Path("out"));
    run.errors = ReadFile(Path("err"));
    return run;
  }
  static Run Native(const std::string& action) {
    return Shell(absl::StrCat("HEDDLE_DEVICE_PROGRAM=" HEDDLE_CAPTURE_PROGRAM " " HEDDLE_DEVICE_TEST_PROGRAM " ",
                              action, " ", folder_));
  }
  // Into NAME.htrace, by default a.htrace.
  static Run Capture(const std::string& action, const std::string& options = "", const std::string& name = "a") {
    std::filesystem::remove(Trace(name));
    return Shell(absl::StrCat(HEDDLE_CAPTURE_PROGRAM " -o ", Trace(name), " ", options,
                              " -- " HEDDLE_DEVICE_TEST_PROGRAM " ", action, " ", folder_));
  }
  static std::string Trace(const std::string& name = "a") { return Path(absl::StrCat(name, ".htrace")); }
  static bool HasTrace() { return std::filesystem::exists(Trace()); }

  // Opens the trace, after `heddle trace check` has found nothing wrong with it.
  static std::unique_ptr<trace::TraceReader> Open(const std::string& name = "a") {
    auto reader = trace::TraceReader::Open(Trace(name));
    EXPECT_TRUE(reader.ok()) << reader.status();
    if (!reader.ok()) return nullptr;
    auto report = trace::CheckTrace(**reader);
    EXPECT_TRUE(report.ok()) << report.status();
    for (const trace::Finding& finding : report->findings) {
      EXPECT_NE(finding.severity, trace::Finding::Severity::kError) << finding.place << ": " << finding.message;
    }
    return *std::move(reader);
  }
  // Names of the launches' kernels, without their parameters.
  static std::vector<std::string> Kernels(const trace::TraceReader& reader) {
    std::vector<std::string> names;
    for (const trace::LaunchView& launch : reader.launches()) {
      const std::string name = launch.program->name();
      names.push_back(name.substr(0, name.find('(')));
    }
    return names;
  }
  // Nothing is left beside the files that these tests make.
  static std::vector<std::string> Leftovers() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (name.find("capture-") != std::string::npos || name.find(".tmp-") != std::string::npos) names.push_back(name);
    }
    return names;
  }

  static inline std::string folder_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_APPLICATION_APPLICATION_FIXTURE_H_
