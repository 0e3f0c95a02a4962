// Programs with limits: what they may do, how they end, and that nothing of them is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/study/suite/limited_process.h"

namespace heddle::tools::suite {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using End = ProcessResult::End;

class LimitedProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(::testing::TempDir(), "/limited-", getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  ProcessRequest Shell(const std::string& text) {
    ProcessRequest request;
    request.words = {"sh", "-c", text};
    request.environment = {"PATH=/usr/bin:/bin", "GIVEN=this"};
    request.folder = folder_;
    request.output = folder_ + "/out";
    request.errors = folder_ + "/err";
    request.limits.seconds = 60;
    return request;
  }
  std::string Read(const std::string& name) {
    std::ifstream file(folder_ + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // What is dead and waits for its parent is not.
  static bool IsRunning(int process) {
    std::ifstream stat(absl::StrCat("/proc/", process, "/stat"));
    std::string word;
    stat >> word >> word >> word;
    return stat && word != "Z";
  }

  std::string folder_;
};

TEST_F(LimitedProcess, TellsHowAProgramEnds) {
  const auto good = RunLimited(Shell("echo out; echo err >&2"));
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_TRUE(good->ok());
  EXPECT_EQ(Read("out"), "out\n");
  EXPECT_EQ(Read("err"), "err\n");
  const auto failed = RunLimited(Shell("exit 3"));
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(failed->Text({}), "exit status 3");
  const auto killed = RunLimited(Shell("kill -SEGV $$"));
  ASSERT_TRUE(killed.ok());
  EXPECT_EQ(killed->end, End::kSignal);
  EXPECT_EQ(killed->Text({}), absl::StrCat("killed by signal ", SIGSEGV));
}

TEST_F(LimitedProcess, GivesTheEnvironmentAndNothingElse) {
  setenv("HEDDLE_TEST_SECRET", "x", 1);
  ASSERT_TRUE(RunLimited(Shell("echo $GIVEN; echo [$HEDDLE_TEST_SECRET]; pwd; cat")).ok());
  EXPECT_EQ(Read("out"), absl::StrCat("this\n[]\n", fs::canonical(folder_).string(), "\n"));
}

TEST_F(LimitedProcess, SaysWhatCannotBeStarted) {
  ProcessRequest request = Shell("");
  request.words = {"no-such-program-of-heddle"};
  EXPECT_THAT(std::string(RunLimited(request).status().message()),
              HasSubstr("no-such-program-of-heddle: cannot be started: No such file or directory"));
  request = Shell("true");
  request.folder = folder_ + "/missing";
  EXPECT_FALSE(RunLimited(request).ok());
}

TEST_F(LimitedProcess, EndsWhatTakesTooLongWithAllThatItStarted) {
  ProcessRequest request = Shell("sleep 1000 & echo $!; sh -c 'trap \"\" TERM INT; sleep 1000'");
  request.limits.seconds = 0.3;
  const auto start = std::chrono::steady_clock::now();
  const auto result = RunLimited(request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, End::kTime);
  EXPECT_EQ(result->Text(request.limits), "did not end within 0.3 s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  int left = 0;
  ASSERT_TRUE(absl::SimpleAtoi(Read("out"), &left));
  EXPECT_FALSE(IsRunning(left)) << "what it left in the background is gone, too";
}

TEST_F(LimitedProcess, EndsWhatItLeavesInTheBackground) {
  const auto result = RunLimited(Shell("sleep 1000 & echo $!"));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->ok());
  int left = 0;
  ASSERT_TRUE(absl::SimpleAtoi(Read("out"), &left));
  EXPECT_FALSE(IsRunning(left));
}

TEST_F(LimitedProcess, EndsWhatPrintsTooMuch) {
  ProcessRequest request = Shell("yes");
  request.limits.log_bytes = 1'000'000;
  const auto result = RunLimited(request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, End::kLog);
  EXPECT_EQ(result->Text(request.limits), "printed more than 1.00 MB");
}

TEST_F(LimitedProcess, EndsWhatFillsTheDisk) {
  ProcessRequest request = Shell("while :; do head -c 1000000 /dev/zero >> file; done");
  request.disk_folder = folder_;
  request.limits.disk_bytes = 3'000'000;
  const auto result = RunLimited(request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, End::kDisk);
}

TEST_F(LimitedProcess, EndsWhatTakesTooMuchMemory) {
  // tail holds the last line, which has no end.
  ProcessRequest request = Shell("head -c 400000000 /dev/zero | tail -n 1 | sleep 1000");
  request.limits.memory_bytes = 50'000'000;
  const auto result = RunLimited(request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, End::kMemory);
  EXPECT_GT(result->most_memory, 50'000'000u);
}

TEST_F(LimitedProcess, EndsWhenItIsStopped) {
  ProcessRequest request = Shell("sleep 1000");
  request.stop = [] { return true; };
  const auto result = RunLimited(request);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, End::kStopped);
}

}  // namespace
}  // namespace heddle::tools::suite
