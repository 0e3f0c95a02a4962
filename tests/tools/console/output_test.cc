// A result file appears complete or not at all.
#include "tools/console/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OutputFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Processes of their own, so that what other tests have written does not count; in the same folder.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    setenv("OUTPUT_TEST_PROCESS", std::to_string(getpid()).c_str(), /*overwrite=*/0);
    folder_ = fs::path(::testing::TempDir()) / absl::StrCat("output_test_", getenv("OUTPUT_TEST_PROCESS"));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string Contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
    return names;
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, AppearsAtTheCommitUnderItsNameAlone) {
  auto file = OutputFile::Create(Path("r.json"));
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->Write("one\n").ok());
  EXPECT_FALSE(fs::exists(Path("r.json")));
  ASSERT_TRUE(file->Write("two\n").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Contents(Path("r.json")), "one\ntwo\n");
  EXPECT_THAT(Files(), ::testing::ElementsAre("r.json"));
}

TEST_F(OutputFileTest, WithoutCommitNothingIsLeftAndTheOldFileStays) {
  std::ofstream(Path("r.json")) << "old";
  {
    auto file = OutputFile::Create(Path("r.json"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write("new").ok());
  }
  EXPECT_EQ(Contents(Path("r.json")), "old");
  EXPECT_THAT(Files(), ::testing::ElementsAre("r.json"));
}

TEST_F(OutputFileTest, ReplacesWhatASymbolicLinkLeadsTo) {
  std::ofstream(Path("real.json")) << "old";
  fs::create_symlink("real.json", Path("link.json"));
  auto file = OutputFile::Create(Path("link.json"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Write("new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(fs::is_symlink(Path("link.json")));
  EXPECT_EQ(Contents(Path("real.json")), "new");
}

TEST_F(OutputFileTest, MakesWhatASymbolicLinkLeadsTo) {
  fs::create_directory(Path("folder"));
  fs::create_symlink("folder/real.json", Path("link.json"));
  fs::create_symlink(Path("link.json"), Path("link of link"));
  auto file = OutputFile::Create(Path("link of link"));
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->Write("new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(fs::is_symlink(Path("link of link")) && fs::is_symlink(Path("link.json")));
  EXPECT_EQ(Contents(Path("folder/real.json")), "new");
  fs::create_symlink("circle", Path("circle"));
  EXPECT_THAT(std::string(OutputFile::Create(Path("circle")).status().message()),
              HasSubstr("levels of symbolic links"));
  EXPECT_THAT(Files(), ::testing::UnorderedElementsAre("circle", "folder", "link.json", "link of link"));
}

TEST_F(OutputFileTest, AFullDeviceIsAnErrorThatSaysSo) {
  auto file = OutputFile::Create("/dev/full");
  ASSERT_TRUE(file.ok()) << file.status();
  const absl::Status status = file->Write("text");
  EXPECT_THAT(std::string(status.message()), HasSubstr("/dev/full: cannot write: No space left on device"));
}

TEST_F(OutputFileTest, ADeviceIsWrittenDirectly) {
  auto file = OutputFile::Create("/dev/null");
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->Write("text").ok());
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(OutputFileTest, AFolderOrAMissingFolderIsRefusedAtOnce) {
  EXPECT_THAT(std::string(OutputFile::Create(folder_.string()).status().message()), HasSubstr("is a folder"));
  EXPECT_THAT(std::string(OutputFile::Create(Path("no/r.json")).status().message()),
              HasSubstr("cannot create the file: No such file or directory"));
}

TEST_F(OutputFileTest, TheEmptyNameIsRefusedAtOnce) {
  EXPECT_TRUE(absl::IsInvalidArgument(OutputFile::Create("").status()));
}

TEST_F(OutputFileTest, ASignalRemovesAllThatAreNotComplete) {
  EXPECT_EXIT(
      {
        HandleSignals();
        auto one = OutputFile::Create(Path("one"));
        auto two = OutputFile::Create(Path("two"));
        raise(SIGTERM);
      },
      ::testing::ExitedWithCode(128 + SIGTERM), "interrupted; nothing was written");
  EXPECT_THAT(Files(), ::testing::IsEmpty());
}

TEST_F(OutputFileTest, ASignalBehindACompleteFileDoesNotSayThatNothingWasWritten) {
  EXPECT_EXIT(
      {
        HandleSignals();
        auto complete = OutputFile::Create(Path("one"));
        auto two = OutputFile::Create(Path("two"));
        if (complete.ok()) static_cast<void>(complete->Commit());
        raise(SIGTERM);
      },
      ::testing::ExitedWithCode(128 + SIGTERM), "interrupted; what was complete before is there");
  EXPECT_THAT(Files(), ::testing::ElementsAre("one"));
}

// A writer that is no OutputFile renames its file before it can say so.
TEST_F(OutputFileTest, ASignalBehindTheRenameDoesNotSayThatNothingWasWritten) {
  EXPECT_EXIT(
      {
        HandleSignals();
        RemoveWhenInterrupted(Path("renamed.tmp"));
        raise(SIGTERM);
      },
      ::testing::ExitedWithCode(128 + SIGTERM), "heddle: interrupted\n$");
}

TEST_F(OutputFileTest, NoOutputIsAnInput) {
  std::ofstream(Path("in")) << "text";
  fs::create_symlink("in", Path("link"));
  EXPECT_EQ(std::string(CheckNotAnInput("-o", Path("link"), {Path("other"), Path("in")}, "an input").message()),
            "-o " + Path("link") + ": is an input");
  EXPECT_TRUE(CheckNotAnInput("-o", Path("out"), {Path("in")}, "an input").ok());
  EXPECT_TRUE(CheckNotAnInput("-o", "/dev/null", {"/dev/null"}, "an input").ok());
  EXPECT_TRUE(CheckNotAnInput("-o", "-", {"-"}, "an input").ok());
}

TEST_F(OutputFileTest, OutputsAreDifferent) {
  EXPECT_EQ(std::string(CheckDifferentOutputs({{"-o", Path("a")}, {"--draw", Path("./a")}}).message()),
            "-o and --draw: one of them goes to " + Path("./a"));
  EXPECT_THAT(std::string(CheckDifferentOutputs({{"-o", "-"}, {"--draw", "-"}}).message()),
              HasSubstr("standard output"));
  // Names without a folder, of files that are not there yet, and links that lead to nothing yet.
  fs::current_path(folder_);
  EXPECT_FALSE(CheckDifferentOutputs({{"-o", "new"}, {"--draw", "./new"}}).ok());
  EXPECT_FALSE(CheckDifferentOutputs({{"-o", "new"}, {"--draw", Path("new")}}).ok());
  fs::create_symlink("new", Path("link"));
  EXPECT_FALSE(CheckDifferentOutputs({{"-o", "new"}, {"--draw", "link"}}).ok());
  // A file of that name is not standard output.
  EXPECT_TRUE(CheckDifferentOutputs({{"-o", "./-"}, {"--draw", "-"}}).ok());
  EXPECT_TRUE(CheckDifferentOutputs({{"-o", "-"}, {"--draw", "./-"}}).ok());
  EXPECT_FALSE(CheckDifferentOutputs({{"-o", "./-"}, {"--draw", Path("-")}}).ok());
  // Names that cannot be followed to an end are different all the same.
  fs::create_symlink("one circle", Path("one circle"));
  fs::create_symlink("other circle", Path("other circle"));
  EXPECT_TRUE(CheckDifferentOutputs({{"-o", "one circle/a"}, {"--draw", "other circle/a"}}).ok());
  fs::current_path("/");
  EXPECT_TRUE(CheckDifferentOutputs({{"-o", ""}, {"--draw", ""}, {"--timeline", Path("a")}}).ok());
  EXPECT_TRUE(CheckDifferentOutputs({{"-o", "/dev/null"}, {"--draw", "/dev/null"}}).ok());
}

TEST_F(OutputFileTest, WhatIsInAFolder) {
  fs::create_directory(Path("folder"));
  fs::create_symlink("folder", Path("link"));
  EXPECT_TRUE(IsInFolder(Path("folder/new"), Path("folder")));
  EXPECT_TRUE(IsInFolder(Path("link/new/deep"), Path("folder")));
  EXPECT_TRUE(IsInFolder(Path("folder"), Path("link")));
  EXPECT_FALSE(IsInFolder(Path("folder.json"), Path("folder")));
  EXPECT_FALSE(IsInFolder(Path("folder/../new"), Path("folder")));
}

}  // namespace
}  // namespace heddle::tools
