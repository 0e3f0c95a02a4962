// Captures small kernels that a test writes into a folder of its own.
#ifndef HEDDLE_TESTS_TRACEGEN_EXECUTE_CAPTURE_FIXTURE_H_
#define HEDDLE_TESTS_TRACEGEN_EXECUTE_CAPTURE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tracegen/recipe/recipe_run.h"
#include "traces/format/program/operands.h"
#include "traces/format/read/check.h"
#include "traces/format/read/reader.h"

namespace heddle::tracegen {

class CaptureTest : public ::testing::Test {
 protected:
  CaptureTest() {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-test-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    options_.output = Path("out.htrace");
    options_.compare_with_native = true;
  }
  ~CaptureTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }
  static std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return std::move(text).str();
  }

  // Captures a recipe for `source`; every capture also runs without recording and compares the buffers.
  absl::StatusOr<CaptureSummary> Capture(const std::string& source, const std::string& recipe,
                                         const std::string& extension = "cu") {
    Write("kernel." + extension, source);
    Write("recipe.textproto", "source: \"kernel." + extension + "\"\n" + recipe);
    return CaptureRecipe(Path("recipe.textproto"), options_);
  }

  // A capture that must succeed, with a trace that passes every check. The recorded count equals the independent one,
  // or CaptureRecipe would have failed.
  CaptureSummary Succeeds(const std::string& source, const std::string& recipe, const std::string& extension = "cu") {
    return ExpectSound(Capture(source, recipe, extension));
  }
  // The same of a capture that has been tried.
  CaptureSummary ExpectSound(const absl::StatusOr<CaptureSummary>& summary) {
    EXPECT_TRUE(summary.ok()) << summary.status();
    if (!summary.ok()) return {};
    auto reader = trace::TraceReader::Open(options_.output);
    EXPECT_TRUE(reader.ok()) << reader.status();
    if (!reader.ok()) return *summary;
    reader_ = *std::move(reader);
    auto report = trace::CheckTrace(*reader_);
    EXPECT_TRUE(report.ok()) << report.status();
    if (report.ok()) {
      for (const trace::Finding& finding : report->findings) {
        // Warnings are properties of the program; a test that expects some names the rule.
        if (finding.severity == trace::Finding::Severity::kWarning && finding.rule == expected_warning_) continue;
        ADD_FAILURE() << finding.rule << " " << finding.place << ": " << finding.message;
      }
      EXPECT_EQ(report->thread_instructions, summary->thread_instructions);
    }
    return *summary;
  }

  // A capture that must fail with one line that contains all of `parts`, and leave nothing behind.
  void Fails(const std::string& source, const std::string& recipe, const std::vector<std::string>& parts,
             const std::string& extension = "cu") {
    absl::StatusOr<CaptureSummary> summary = Capture(source, recipe, extension);
    ASSERT_FALSE(summary.ok());
    std::string message(summary.status().message());
    for (const std::string& part : parts) EXPECT_THAT(message, ::testing::HasSubstr(part));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    ExpectNothingWritten();
  }
  void ExpectNothingWritten() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      EXPECT_THAT(entry.path().filename().string(), ::testing::Not(::testing::HasSubstr("htrace")));
    }
  }

  // Number of instructions of a class that the program of the last trace has.
  int Count(trace::v1::OpClass op) const {
    int count = 0;
    for (const trace::Program& program : reader_->programs()) {
      for (uint32_t pc = 0; pc < program.instruction_count(); ++pc) count += program.instruction(pc).op() == op;
    }
    return count;
  }

  // Every address, and every other value, that the last trace holds, by thread of its first launch (first chunk only).
  std::vector<std::vector<uint64_t>> Addresses(size_t launch = 0) const {
    std::vector<std::vector<uint64_t>> result;
    trace::DecodedChunk chunk;
    for (const auto& reference : reader_->launches()[launch].chunks) {
      EXPECT_TRUE(reader_->ReadChunk(reference, chunk).ok());
      const trace::Program& program = *reader_->launches()[launch].program;
      for (size_t t = 0; t < chunk.path_of_thread.size(); ++t) {
        std::vector<uint64_t>& list = result.emplace_back();
        // Straight-line programs only: the accesses of all blocks in order.
        uint64_t position = chunk.first_address[t];
        for (const trace::Column& column : trace::ColumnsOf(program)) {
          if (position == chunk.first_address[t + 1]) break;
          list.push_back(chunk.address(position++, column.slot));
        }
      }
    }
    return result;
  }

  static std::string Values(const std::vector<double>& values) {
    auto exact = [](std::string* out, double value) { absl::StrAppend(out, absl::StrFormat("%.17g", value)); };
    return absl::StrCat("values { value: [", absl::StrJoin(values, ", ", exact), "] }");
  }
  // One kernel `k` over `out` (int, count elements) that must end up holding `expected`.
  static std::string IntRecipe(uint32_t blocks, uint32_t threads, const std::vector<double>& expected,
                               const std::string& more_launch = "", const std::string& more = "") {
    return absl::StrCat("buffer { name: \"out\" type: I32 count: ", expected.size(), " fill { zeros {} } }\n", more,
                        "launch { kernel: \"k\" grid { x: ", blocks, " } block { x: ", threads,
                        " } argument { buffer: \"out\" } ", more_launch, " }\n", "check { buffer: \"out\" expected { ",
                        Values(expected), " } }\n");
  }

  std::string folder_;
  std::string expected_warning_;
  CaptureOptions options_;
  std::unique_ptr<trace::TraceReader> reader_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_EXECUTE_CAPTURE_FIXTURE_H_
