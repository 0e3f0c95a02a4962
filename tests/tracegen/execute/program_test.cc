// heddle-capture as a program: exit status, what it prints, and signals.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramTest : public CaptureTest {
 protected:
  pid_t Start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HEDDLE_CAPTURE_PROGRAM);
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, Path("stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, Path("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    // What runs the tests may ignore them: a shell does so with what it starts in the background.
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, HEDDLE_CAPTURE_PROGRAM, &actions, &attributes, words.data(), environ), 0);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return child;
  }
  static int Wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int RunProgram(const std::vector<std::string>& arguments) { return Wait(Start(arguments)); }

  // A capture that has begun to write, and would go on for minutes.
  void StartEndlessCapture() {
    WriteRecipe("__global__ void k(volatile int* out) { while (out[0] >= 0) out[0] = (out[0] + 1) & 0xffff; }",
                IntRecipe(1, 1, {1}));
    child_ = Start({"-o", Path("out.htrace"), Path("recipe.textproto"), "--max-instructions", "100000000000"});
    auto recording = [this] {
      for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
        if (entry.path().filename().string().find("htrace") != std::string::npos) return true;
      }
      return false;
    };
    for (int i = 0; i < 600 && !recording(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ASSERT_TRUE(recording());
  }

  void WriteRecipe(const std::string& source, const std::string& recipe) const {
    Write("kernel.cu", source);
    Write("recipe.textproto", "source: \"kernel.cu\"\n" + recipe);
  }

  pid_t child_ = 0;
};

TEST_F(ProgramTest, SuccessPrintsOneLine) {
  WriteRecipe("__global__ void k(int* out) { out[threadIdx.x] = 1; }", IntRecipe(1, 2, {1, 1}));
  EXPECT_EQ(RunProgram({"-o", Path("out.htrace"), Path("recipe.textproto"), "--native"}), 0) << Read(Path("stderr"));
  std::string out = Read(Path("stdout"));
  EXPECT_THAT(out, HasSubstr("1 launch, 2 threads"));
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1);
  EXPECT_EQ(Read(Path("stderr")), "");
  EXPECT_TRUE(std::filesystem::exists(Path("out.htrace")));
}

TEST_F(ProgramTest, QuietPrintsNothing) {
  WriteRecipe("__global__ void k(int* out) { out[threadIdx.x] = 1; }", IntRecipe(1, 1, {1}));
  EXPECT_EQ(RunProgram({"-o", Path("out.htrace"), Path("recipe.textproto"), "--quiet"}), 0);
  EXPECT_EQ(Read(Path("stdout")), "");
}

TEST_F(ProgramTest, WrongUsageIsStatusTwo) {
  EXPECT_EQ(RunProgram({}), 2);
  EXPECT_EQ(RunProgram({"-o", Path("out.htrace")}), 2);
  EXPECT_EQ(RunProgram({"-o", Path("out.htrace"), "recipe.textproto", "--levels", "3"}), 2);
  EXPECT_THAT(Read(Path("stderr")), HasSubstr("--levels"));
}

TEST_F(ProgramTest, WhatIsNoRecipeIsToldWhatItIsAndWhatToDo) {
  Write("script", "#!/bin/sh\n");
  Write("app.cu", "__global__ void k() {}");
  Write("app.cl", "kernel void k() {}");
  const auto refused = [this](std::vector<std::string> words) {
    words.insert(words.begin(), {"-o", Path("out.htrace")});
    EXPECT_EQ(RunProgram(words), 2);
    const std::string error = Read(Path("stderr"));
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1);
    return error;
  };
  EXPECT_THAT(refused({HEDDLE_CAPTURE_PROGRAM}), HasSubstr("heddle-capture is a program: put -- before it"));
  EXPECT_THAT(refused({Path("script")}), HasSubstr("script is a program: put -- before it"));
  EXPECT_THAT(refused({Path("app.cu")}),
              AllOf(HasSubstr("app.cu is CUDA source: capture takes a recipe"), HasSubstr("traces/kernels/README.md"),
                    HasSubstr("compile it with heddle-nvcc")));
  EXPECT_THAT(refused({Path("app.cl")}), HasSubstr("app.cl is OpenCL source: capture takes a recipe"));
  EXPECT_THAT(refused({"app", "4096"}), AllOf(HasSubstr("4096"), HasSubstr("put -- before a program")));
  EXPECT_THAT(refused({Path("script"), "--size", "4"}),
              AllOf(HasSubstr("--size"), HasSubstr("put -- before a program")));
  EXPECT_THAT(refused({"recipe.textproto", "--size", "4"}), Not(HasSubstr("put --")));
  ExpectNothingWritten();
}

TEST_F(ProgramTest, AFailedRunIsStatusOneAndOneLine) {
  WriteRecipe("__global__ void k(int* out) { assert(out == 0); }", IntRecipe(1, 1, {1}));
  EXPECT_EQ(RunProgram({"-o", Path("out.htrace"), Path("recipe.textproto")}), 1);
  std::string error = Read(Path("stderr"));
  EXPECT_THAT(error, HasSubstr("heddle-capture: kernel 'k"));
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1);
  ExpectNothingWritten();
}

TEST_F(ProgramTest, ChecksCanBeLeftOut) {
  WriteRecipe("__global__ void k(int* out) { out[0] = 2; }", IntRecipe(1, 1, {1}));
  EXPECT_EQ(RunProgram({"-o", Path("out.htrace"), Path("recipe.textproto")}), 1);
  EXPECT_EQ(RunProgram({"-o", Path("out.htrace"), Path("recipe.textproto"), "--no-check"}), 0);
}

TEST_F(ProgramTest, InterruptEndsWithStatus130AndLeavesNothing) {
  StartEndlessCapture();
  kill(child_, SIGINT);
  EXPECT_EQ(Wait(child_), 130);
  EXPECT_THAT(Read(Path("stderr")), HasSubstr("interrupted"));
  ExpectNothingWritten();
}

TEST_F(ProgramTest, TheTraceReplacesNothingThatTheCaptureReads) {
  Write("data.bin", "1234");
  WriteRecipe("__global__ void k(int* out) { out[0] = 2; }",
              "buffer { name: \"out\" type: I32 count: 1 fill { file { path: \"data.bin\" } } }\n"
              "launch { kernel: \"k\" argument { buffer: \"out\" } }");
  std::filesystem::create_hard_link(Path("kernel.cu"), Path("link.cu"));
  for (const char* name : {"recipe.textproto", "kernel.cu", "link.cu", "data.bin"}) {
    std::string before = Read(Path(name));
    EXPECT_EQ(RunProgram({"-o", Path(name), Path("recipe.textproto")}), 2) << name;
    EXPECT_THAT(Read(Path("stderr")), HasSubstr("which the capture reads"));
    EXPECT_EQ(Read(Path(name)), before);
  }
}

TEST_F(ProgramTest, NorDoesItReplaceAnythingElseThatIsNoTrace) {
  WriteRecipe("__global__ void k(int* out) { out[0] = 2; }", IntRecipe(1, 1, {2}));
  Write("notes.txt", "weeks of work");
  EXPECT_EQ(RunProgram({"-o", Path("notes.txt"), Path("recipe.textproto")}), 2);
  EXPECT_THAT(Read(Path("stderr")), HasSubstr("is no Heddle trace; choose another name, or remove it first"));
  EXPECT_EQ(Read(Path("notes.txt")), "weeks of work");
}

TEST_F(ProgramTest, ALinkStaysOneAndItsTargetIsWritten) {
  WriteRecipe("__global__ void k(int* out) { out[0] = 2; }", IntRecipe(1, 1, {2}));
  std::filesystem::create_symlink("real.htrace", Path("link.htrace"));
  for (const char* what : {"to nothing", "to a trace"}) {
    EXPECT_EQ(RunProgram({"-o", Path("link.htrace"), Path("recipe.textproto")}), 0) << what;
    EXPECT_TRUE(std::filesystem::is_symlink(Path("link.htrace"))) << what;
    EXPECT_TRUE(std::filesystem::is_regular_file(Path("real.htrace"))) << what;
  }
}

TEST_F(ProgramTest, AnEmptyOutputNameIsWrongUsage) {
  WriteRecipe("__global__ void k(int* out) { out[0] = 2; }", IntRecipe(1, 1, {2}));
  EXPECT_EQ(RunProgram({"-o", "", Path("recipe.textproto")}), 2);
  EXPECT_THAT(Read(Path("stderr")), HasSubstr("-o"));
}

TEST_F(ProgramTest, TheLimitOnFileSizesIsAnErrorThatLeavesNothing) {
  // Random addresses, so that the trace is larger than the limit and everything before it is smaller.
  WriteRecipe("__global__ void k(int* out, const int* in) { out[in[blockIdx.x * blockDim.x + threadIdx.x]] = 1; }",
              R"(
buffer { name: "out" type: I32 count: 1000000 }
buffer { name: "in" type: I32 count: 262144 fill { uniform { seed: 1 low: 0 high: 999999 } } }
launch { kernel: "k" grid { x: 1024 } block { x: 256 } argument { buffer: "out" } argument { buffer: "in" } })");
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = {.rlim_cur = 300'000, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  pid_t child = Start({"-o", Path("out.htrace"), Path("recipe.textproto")});
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(Wait(child), 1);
  EXPECT_THAT(Read(Path("stderr")), HasSubstr("out.htrace"));
  ExpectNothingWritten();
}

TEST_F(ProgramTest, HangUpIsAnInterrupt) {
  StartEndlessCapture();
  kill(child_, SIGHUP);
  EXPECT_EQ(Wait(child_), 130);
  ExpectNothingWritten();
}

TEST_F(ProgramTest, ASecondInterruptLeavesNothingEither) {
  StartEndlessCapture();
  // Both signals wait for the program while it is stopped, so it cannot act on the first one before the second comes.
  kill(child_, SIGSTOP);
  int status = 0;
  waitpid(child_, &status, WUNTRACED);
  kill(child_, SIGINT);
  kill(child_, SIGTERM);
  kill(child_, SIGCONT);
  EXPECT_EQ(Wait(child_), 130);
  EXPECT_EQ(Read(Path("stderr")), "");
  ExpectNothingWritten();
}

TEST_F(ProgramTest, TheRunWithoutRecordingCanBeInterrupted) {
  WriteRecipe("__global__ void k(volatile int* out) { while (out[0] >= 0) out[0] = (out[0] + 1) & 0xffff; }",
              IntRecipe(1, 1, {1}));
  pid_t child = Start({"-o", Path("out.htrace"), Path("recipe.textproto"), "--native"});
  std::this_thread::sleep_for(std::chrono::seconds(3));
  kill(child, SIGTERM);
  EXPECT_EQ(Wait(child), 130);
  ExpectNothingWritten();
}

}  // namespace
}  // namespace heddle::tracegen
