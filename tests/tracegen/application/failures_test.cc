// Programs that end badly, kernels that fail, and requests that no device could serve: a clear message, and a whole
// trace or none.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "tests/tracegen/application/application_fixture.h"
#include "tracegen/runtime/protocol/messages.h"
#include "traces/format/container/byte_source.h"
#include "traces/format/edit/recover.h"
#include "traces/format/program/annotations.h"

namespace heddle::tracegen {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

TEST_F(ApplicationTest, UseAfterFreeNamesEverythingAndIsSticky) {
  const auto what =
      AllOf(HasSubstr("launch 1: kernel 'Write(int*)', block ("), HasSubstr("thread (128,0,0): access to"),
            HasSubstr("of 'data' (4194304 bytes), which has been freed"), HasSubstr("sticky: 1\n"));
  EXPECT_THAT(Native("fault").out, AllOf(what, HasSubstr("`heddle capture` tells the source line")));
  const Run run = Capture("fault");
  EXPECT_THAT(run.out, AllOf(what, HasSubstr("freed at kernels.cu:24\n")));
  // What was complete before is whole.
  EXPECT_EQ(run.status, 1);
  // The program has told what failed; the capture does not repeat it.
  EXPECT_THAT(run.errors, AllOf(Not(HasSubstr("launch 1: kernel")), HasSubstr("complete before the failure")));
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_THAT(Kernels(*reader), ElementsAre("Write"));
  // The trace itself says so, in the words that replays repeat.
  ASSERT_EQ(reader->annotations().size(), 1u);
  EXPECT_EQ(reader->annotations()[0].key(), trace::kCaptureEndKey);
  EXPECT_THAT(reader->annotations()[0].value(), StartsWith(absl::StrCat(trace::kRunEnded, "launch 1: kernel 'Write")));
}

TEST_F(ApplicationTest, RefusesWhatNoDeviceCouldDo) {
  const Run run = Capture("refusals");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("size: 6 launch 0: kernel 'Write' takes 8 bytes of parameters, but 0 are given"),
                    HasSubstr("threads: 6 launch 0: block dimension 0 is 2048, but at most 1024"),
                    HasSubstr("bounds: 6 launch 0: a block of 128 threads, but kernel 'Bounded' is declared"),
                    HasSubstr("grid: 6 launch 0: grid dimension 0 of kernel 'Write' is 0"),
                    HasSubstr("kernel: 5 launch 0: kernels.bc: there is no kernel 'NoSuchKernel'; there are: ")));
  EXPECT_THAT(run.out, AllOf(HasSubstr("shared: 6 launch 0: kernel 'Reverse' needs 0 + 204800 bytes"),
                             HasSubstr("free: 2\n"), HasSubstr("memory: 3\n"), HasSubstr("right\n")));
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_THAT(Kernels(*reader), ElementsAre("Reverse"));
}

TEST_F(ApplicationTest, TheChildOfAForkHasNoDevice) {
  const Run run = Capture("fork");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "child: 1\nparent: 1\n");
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_THAT(Kernels(*reader), ElementsAre("Write", "Write"));
}

TEST_F(ApplicationTest, ExitInTheMiddleKeepsWhatWasComplete) {
  const Run run = Capture("exit");
  EXPECT_EQ(run.status, 5);
  EXPECT_THAT(run.errors, HasSubstr("has exited with status 5"));
  ASSERT_NE(Open(), nullptr);
}

TEST_F(ApplicationTest, AKilledProgramKeepsWhatWasComplete) {
  const Run run = Capture("killed");
  EXPECT_EQ(run.status, 137);
  EXPECT_THAT(run.errors, HasSubstr("was ended by signal 9 (Killed)"));
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->launches().size(), 3u);
}

// As timeout and batch systems end a run.
TEST_F(ApplicationTest, ASignalToAllProcessesOfTheGroupKeepsWhatWasComplete) {
  std::filesystem::remove(Trace());
  const Run run = Shell(absl::StrCat("setsid --wait " HEDDLE_CAPTURE_PROGRAM " -o ", Trace(),
                                     " -- " HEDDLE_DEVICE_TEST_PROGRAM " end-group ", folder_));
  EXPECT_EQ(run.status, 143);
  EXPECT_THAT(run.errors, HasSubstr("was ended by signal 15 (Terminated)"));
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->launches().size(), 3u);
  EXPECT_THAT(Leftovers(), IsEmpty());
}

// As `kill -9` of a capture leaves it.
TEST_F(ApplicationTest, WhatKilledCapturesLeftIsToldAndRemoved) {
  const auto make = [](const std::string& name, bool owned) {
    std::filesystem::create_directories(Path(name));
    if (owned) std::ofstream(Path(name + "/owner")) << "";
    std::ofstream(Path(name + "/1.htrace.tmp-5")) << "part of a trace";
  };
  // Above every process id of Linux: nobody runs under it.
  make(".a.htrace.capture-99999991", true);
  make(".a.htrace.capture-99999992", true);
  make(".b.htrace.capture-99999993", true);
  // A capture of the same trace that is still under way, here or on another machine.
  make(".a.htrace.capture-99999994", true);
  const int owner = open(Path(".a.htrace.capture-99999994/owner").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(owner, LOCK_EX), 0);
  // One that has just begun.
  const std::string new_one = absl::StrCat(".a.htrace.capture-", getpid());
  make(new_one, false);

  const Run run = Capture("fork");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.errors,
              AllOf(HasSubstr("note: removed what a capture had left that was killed: .a.htrace.capture-"),
                    HasSubstr(" and 1 more\n"),
                    HasSubstr("note: .b.htrace.capture-99999993 beside a.htrace is what a killed capture")));
  EXPECT_THAT(run.errors, AllOf(Not(HasSubstr("99999994")), Not(HasSubstr(new_one))));
  EXPECT_THAT(Leftovers(), UnorderedElementsAre(".b.htrace.capture-99999993", ".a.htrace.capture-99999994", new_one));
  close(owner);
  for (const std::string& name : Leftovers()) std::filesystem::remove_all(Path(name));
  EXPECT_THAT(Capture("fork").errors, Not(HasSubstr("killed")));
}

TEST_F(ApplicationTest, AProgramThatIsKilledDuringALaunchDoesNotWaitForIt) {
  const Run run = Capture("endless");
  EXPECT_EQ(run.status, 137);
  EXPECT_THAT(run.errors, HasSubstr("the program ended while kernel 'Spin' was running"));
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_THAT(Kernels(*reader), ElementsAre("Count"));
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_F(ApplicationTest, ASignalThatComesAgainDoesNotInterruptTheEnd) {
  // As soon as something is recorded, the capture is sent signals until it has ended.
  const std::string script = absl::StrCat(
      "(until ls ", Path(".signals.htrace.capture-*/*.tmp-*"),
      "; do :; done; while kill -TERM $PPID; do :; done) >/dev/null 2>&1 & exec " HEDDLE_DEVICE_TEST_PROGRAM
      " endless ",
      folder_);
  const Run run = Shell(absl::StrCat(HEDDLE_CAPTURE_PROGRAM " -o ", Trace("signals"), " -- sh -c '", script, "'"));
  EXPECT_EQ(run.status, 143);
  EXPECT_THAT(run.errors, HasSubstr("sh was ended by signal 15"));
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_F(ApplicationTest, AKilledDeviceLeavesNoTrace) {
  const Run run = Capture("kill-device");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("later: 9 the device process (heddle-capture) has ended before its time"));
  EXPECT_THAT(run.errors, HasSubstr("a device process has ended before it could complete its trace"));
  EXPECT_FALSE(HasTrace());
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_F(ApplicationTest, WhatAKilledDeviceHadWrittenCanBeKept) {
  const Run run = Capture("kill-device", "--keep-partial --threads 1");
  EXPECT_FALSE(HasTrace());
  const std::string partial = Trace() + ".partial";
  EXPECT_THAT(run.errors, HasSubstr(absl::StrCat("heddle trace repack --recover ", partial)));
  auto source = trace::OpenFile(partial);
  ASSERT_TRUE(source.ok()) << source.status();
  const auto report = trace::RecoverTrace(*std::move(source), partial, Trace("recovered"), {}, {});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->launches, 3u);
  const auto reader = Open("recovered");
  ASSERT_NE(reader, nullptr);
  EXPECT_THAT(Kernels(*reader), ElementsAre("Scale", "Count", "Scale"));
}

TEST_F(ApplicationTest, AFullDiskLeavesNoTrace) {
  const Run run = Capture("full-disk");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.errors, HasSubstr("the trace cannot be written: "));
  EXPECT_THAT(run.errors, HasSubstr("free some space or choose another directory"));
  EXPECT_THAT(run.errors, HasSubstr("no complete trace of"));
  EXPECT_FALSE(HasTrace());
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_F(ApplicationTest, NoLaunchOfTheChosenKernelsNamesThoseThatThereWere) {
  const Run run = Capture("compute", "--quiet --kernels nothing");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.errors, HasSubstr("warning: no launch was recorded: check --kernels and --launches; there were 3 "
                                    "launches, of Scale(float*, float, int), Count(int)"));
}

TEST_F(ApplicationTest, AProgramWithoutKernelsIsToldWhatToDo) {
  const Run run = Capture("none");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "nothing\n");
  EXPECT_THAT(run.errors, HasSubstr("must be compiled with heddle-nvcc"));
  EXPECT_FALSE(HasTrace());
}

TEST_F(ApplicationTest, AMissingProgramIsNamed) {
  const Run run = Shell(absl::StrCat(HEDDLE_CAPTURE_PROGRAM " -o ", Trace(), " -- ./no-such-program"));
  EXPECT_EQ(run.status, 127);
  EXPECT_THAT(run.errors, HasSubstr("./no-such-program cannot be started: No such file or directory"));
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_F(ApplicationTest, TheTraceReplacesNeitherTheProgramNorAnotherFileThatIsNoTrace) {
  std::filesystem::copy_file(HEDDLE_DEVICE_TEST_PROGRAM, Path("app"));
  std::filesystem::create_symlink("app", Path("link"));
  std::filesystem::create_hard_link(Path("app"), Path("twin"));
  std::ofstream(Path("notes.txt")) << "weeks of work";
  const auto size = std::filesystem::file_size(Path("app"));
  const auto capture = [](const std::string& output, const std::string& program) {
    return Shell(absl::StrCat("PATH=", folder_, ":$PATH " HEDDLE_CAPTURE_PROGRAM " -o ", Path(output), " -- ", program,
                              " compute ", folder_));
  };
  for (const char* output : {"app", "link", "twin"}) {
    for (const std::string& program : {Path("app"), Path("link"), std::string("app")}) {
      const Run run = capture(output, program);
      EXPECT_EQ(run.status, 2) << output;
      EXPECT_EQ(run.out, "") << "it must not have been run";
      EXPECT_THAT(run.errors, HasSubstr("which is the program: choose another name for -o"));
    }
  }
  const Run run = capture("notes.txt", Path("app"));
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.errors, HasSubstr("is no Heddle trace; choose another name, or remove it first"));
  EXPECT_EQ(ReadFile(Path("notes.txt")), "weeks of work");
  EXPECT_EQ(std::filesystem::file_size(Path("app")), size);
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_F(ApplicationTest, WrongOptionsAreRefusedBeforeTheProgramRuns) {
  for (const char* options : {"--kernels '('", "--launches 5-2", "--launches x", "--max-blocks 2 --block-choice some",
                              "--block-choice first", "--max-blocks 0"}) {
    const Run run = Capture("compute", options);
    EXPECT_EQ(run.status, 2) << options;
    EXPECT_EQ(run.out, "") << options;
  }
}

// A device process of its own, spoken to without the client library.
class RawDevice {
 public:
  RawDevice() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], device::kDeviceDescriptor);
      execl(HEDDLE_CAPTURE_PROGRAM, HEDDLE_CAPTURE_PROGRAM, "--device", nullptr);
      _exit(1);
    }
    close(ends[1]);
    waitpid(child, nullptr, 0);
    socket_ = ends[0];
  }
  ~RawDevice() { close(socket_); }

  // The outcome that the reply tells; kDisconnected if there is none.
  device::Result Ask(device::MessageKind kind, const std::string& body) {
    device::Result result = {device::Error::kDisconnected, ""};
    std::vector<int> files;
    device::MessageHeader header;
    std::string reply;
    if (!device::SendMessage(socket_, kind, 1, body) ||
        device::ReceiveMessage(socket_, header, reply, &files) != device::ReadOutcome::kMessage) {
      return result;
    }
    for (int file : files) close(file);
    device::Reader reader(reply);
    Read(reader, result);
    return result;
  }
  int socket() const { return socket_; }

 private:
  int socket_ = -1;
};

TEST_F(ApplicationTest, TheDeviceProcessAnswersWhateverItIsSent) {
  using device::Error;
  using device::MessageKind;
  RawDevice device;
  EXPECT_EQ(device.Ask(MessageKind::kLimits, "").error, Error::kNoDevice) << "nobody has greeted it";
  device::Writer old;
  Write(old, device::HelloRequest{device::kProtocolVersion + 1, "old"});
  EXPECT_THAT(device.Ask(MessageKind::kHello, old.bytes()).message, HasSubstr("build it anew"));
  device::Writer hello;
  Write(hello, device::HelloRequest{device::kProtocolVersion, "test"});
  ASSERT_EQ(device.Ask(MessageKind::kHello, hello.bytes()).error, Error::kOk);
  std::mt19937 random(3);
  for (int kind = 1; kind <= 12; ++kind) {
    if (static_cast<MessageKind>(kind) == MessageKind::kTransfer) continue;  // has no reply
    for (size_t length : {0u, 1u, 8u, 100u, 5000u}) {
      std::string body(length, '\0');
      for (char& byte : body) byte = static_cast<char>(random());
      const device::Result result = device.Ask(static_cast<MessageKind>(kind), body);
      EXPECT_NE(result.error, Error::kDisconnected) << "kind " << kind << ", " << length << " bytes";
      EXPECT_TRUE(result.ok() || !result.message.empty());
    }
  }
  device::Writer bad;
  Write(bad, device::LoadModuleRequest{{{device::ImageKind::kBitcode, "", "this is no bitcode"}}, {"a.cu", "", "", 0}});
  const device::Result load = device.Ask(MessageKind::kLoadModule, bad.bytes());
  EXPECT_EQ(load.error, Error::kBuildFailure);
  EXPECT_THAT(load.message, HasSubstr("a.cu: not LLVM 19 bitcode"));
  // A message that breaks off ends it.
  device::MessageHeader promise;
  promise.length = 100;
  ASSERT_EQ(write(device.socket(), &promise, sizeof(promise)), static_cast<ssize_t>(sizeof(promise)));
  shutdown(device.socket(), SHUT_WR);
  char byte;
  EXPECT_EQ(read(device.socket(), &byte, 1), 0);
}

TEST_F(ApplicationTest, ABarrierOfTheGridNamesWhatLetsBlocksLiveAtOnce) {
  EXPECT_THAT(Native("grid-barrier").out,
              HasSubstr("the environment variable HEDDLE_RESIDENT_BLOCKS=4 lets all of them live at once"));
  EXPECT_THAT(Capture("grid-barrier").out, HasSubstr("; --resident-blocks 4 lets all of them live at once"));
  EXPECT_EQ(Shell(absl::StrCat("HEDDLE_RESIDENT_BLOCKS=4 HEDDLE_DEVICE_PROGRAM=" HEDDLE_CAPTURE_PROGRAM
                               " " HEDDLE_DEVICE_TEST_PROGRAM " grid-barrier ",
                               folder_))
                .out,
            "");
}

TEST_F(ApplicationTest, AMissingDeviceProgramIsNamed) {
  const Run run =
      Shell(absl::StrCat("HEDDLE_DEVICE_PROGRAM=/nowhere " HEDDLE_DEVICE_TEST_PROGRAM " compute ", folder_));
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.out, HasSubstr("error 1: HEDDLE_DEVICE_PROGRAM is /nowhere, which is no program"));
}

}  // namespace
}  // namespace heddle::tracegen
