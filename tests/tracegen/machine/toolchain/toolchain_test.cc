#include "tracegen/machine/toolchain/toolchain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/tracegen/machine/cubin/made_cubin.h"
#include "tracegen/machine/machine_module.h"
#include "tracegen/machine/toolchain/nvcc.h"

namespace heddle::tracegen::machine {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Programs that stand in for the vendor's, in a folder of their own.
class ToolchainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / absl::StrCat("heddle_toolchain_test_", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Program(const std::string& name, const std::string& script) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
    return path.string();
  }

  static std::string Message(const absl::Status& status) {
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }

  fs::path folder_;
};

// The fourth and fifth arguments are "-o OUTPUT".
constexpr char kCopies[] = "cp \"$3\" \"$5\"";

TEST_F(ToolchainTest, GivesWhatTheProgramsWrite) {
  const Toolchain toolchain(Program("ptxas", kCopies), Program("nvdisasm", "cat \"$2\"; echo \" $1\""));
  const auto cubin = toolchain.Assemble("some text", Architecture::kSm80);
  ASSERT_TRUE(cubin.ok()) << cubin.status();
  EXPECT_EQ(*cubin, "some text");
  EXPECT_EQ(*toolchain.Disassemble("a cubin"), "a cubin -json\n");
  EXPECT_EQ(*toolchain.List("a cubin"), "a cubin -c\n");
}

TEST_F(ToolchainTest, TellsTheArchitectureThatIsAskedFor) {
  const Toolchain toolchain(Program("ptxas", "echo \"$1\" > \"$5\""), "");
  EXPECT_EQ(*toolchain.Assemble("", Architecture::kSm90), "-arch=sm_90\n");
}

TEST_F(ToolchainTest, AnAssemblerThatFailsIsQuoted) {
  const Toolchain toolchain(
      Program("ptxas", "echo 'ptxas /tmp/in.ptx, line 3; error   : Unknown symbol x' >&2; exit 255"), "");
  EXPECT_EQ(Message(toolchain.Assemble("", Architecture::kSm80).status()), "ptxas (exit status 255): Unknown symbol x");
}

TEST_F(ToolchainTest, AFunctionWithoutCodeIsNamed) {
  const Toolchain toolchain(
      Program("ptxas", "echo \"ptxas fatal   : Unresolved extern function '__nv_sinf'\" >&2; exit 255"), "");
  const std::string message = Message(toolchain.Assemble("", Architecture::kSm80).status());
  EXPECT_THAT(message, HasSubstr("'__nv_sinf'"));
  EXPECT_THAT(message, HasSubstr("link the library that has it, such as libdevice"));
}

TEST_F(ToolchainTest, AnAssemblerThatHangsIsStopped) {
  const Toolchain toolchain(Program("ptxas", "exec sleep 60"), "", {.seconds = 1});
  EXPECT_THAT(Message(toolchain.Assemble("", Architecture::kSm80).status()), HasSubstr("did not end within 1 seconds"));
}

TEST_F(ToolchainTest, AnAssemblerWithoutOutputOrMessage) {
  EXPECT_THAT(Message(Toolchain(Program("ptxas", "exit 0"), "").Assemble("", Architecture::kSm80).status()),
              HasSubstr("ptxas: it wrote no output"));
  EXPECT_THAT(Message(Toolchain(Program("ptxas", "exit 3"), "").Assemble("", Architecture::kSm80).status()),
              HasSubstr("ptxas (exit status 3): it gave no message"));
}

TEST_F(ToolchainTest, AProgramThatIsNotThere) {
  const Toolchain toolchain((folder_ / "none").string(), (folder_ / "none").string());
  EXPECT_THAT(Message(toolchain.Assemble("", Architecture::kSm80).status()), HasSubstr("cannot run"));
  EXPECT_THAT(Message(toolchain.Disassemble("").status()), HasSubstr("cannot run"));
}

TEST_F(ToolchainTest, MessagesDoNotActOnTheTerminal) {
  const Toolchain toolchain(Program("ptxas", "printf 'error: \\033[31mred' >&2; exit 1"), "");
  EXPECT_THAT(Message(toolchain.Assemble("", Architecture::kSm80).status()), HasSubstr("\\u001b[31mred"));
}

TEST_F(ToolchainTest, FindNamesWhatIsMissing) {
  const std::string path = std::getenv("PATH");
  Program("ptxas", kCopies);
  ::setenv("PATH", folder_.c_str(), 1);
  const absl::StatusOr<Toolchain> found = Toolchain::Find();
  if (!fs::exists("/usr/local/cuda/bin/nvdisasm")) {
    EXPECT_THAT(Message(found.status()), HasSubstr("nvdisasm was not found"));
    EXPECT_THAT(Message(found.status()), HasSubstr("pip install nvidia-cuda-nvdisasm"));
  }
  Program("nvdisasm", kCopies);
  const absl::StatusOr<Toolchain> both = Toolchain::Find();
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(both->ptxas(), (folder_ / "ptxas").string());
}

TEST_F(ToolchainTest, TheLibraryOfMathematicalFunctionsIsTheToolkits) {
  const fs::path library = folder_ / "nvvm" / "libdevice" / "libdevice.10.bc";
  fs::create_directories(library.parent_path());
  fs::create_directories(folder_ / "bin");
  std::ofstream(library) << "code";
  const std::string ptxas = Program("bin/ptxas", kCopies);
  EXPECT_EQ(*Toolchain(ptxas, "").FindLibdevice(), library.string());
  fs::create_symlink(ptxas, folder_ / "link");
  EXPECT_EQ(*Toolchain((folder_ / "link").string(), "").FindLibdevice(), library.string());
  fs::remove(library);
  ::setenv("CUDA_PATH", folder_.c_str(), 1);
  if (!fs::exists("/usr/local/cuda/nvvm")) {
    EXPECT_THAT(Message(Toolchain(ptxas, "").FindLibdevice().status()), HasSubstr("set CUDA_PATH"));
  }
  ::unsetenv("CUDA_PATH");
}

// What nvcc says of its version.
constexpr char kVendors[] = "if [ \"$1\" = --version ]; then echo 'Cuda compilation tools, release 13.0'; exit; fi\n";

TEST_F(ToolchainTest, NvccIsAskedForPtx) {
  const auto nvcc = Nvcc::Find(Program("some", absl::StrCat(kVendors, "echo \"$@\" > \"${8}\"")));
  ASSERT_TRUE(nvcc.ok()) << nvcc.status();
  const auto ptx =
      nvcc->Compile("k.cu", {.architecture = Architecture::kSm86, .defines = {"A=1"}, .include_dirs = {"inc"}});
  ASSERT_TRUE(ptx.ok()) << ptx.status();
  EXPECT_THAT(*ptx, HasSubstr("-arch=sm_86 -std=c++17 -ptx -lineinfo"));
  EXPECT_THAT(*ptx, HasSubstr("-DA=1 -Iinc k.cu"));
}

TEST_F(ToolchainTest, ErrorsOfNvccHaveTheirPlace) {
  const std::string script =
      absl::StrCat(kVendors, "echo 'In file included' >&2; echo 'k.cu(3): error: no \"x\"' >&2; exit 2");
  EXPECT_EQ(Message(Nvcc::Find(Program("some", script))->Compile("k.cu", {}).status()),
            "nvcc (exit status 2): k.cu:3: no \"x\"");
  const auto slow = Nvcc::Find(Program("slow", absl::StrCat(kVendors, "exec sleep 60")), {.seconds = 1});
  EXPECT_THAT(Message(slow->Compile("k.cu", {}).status()), HasSubstr("did not end within 1 seconds"));
}

TEST_F(ToolchainTest, HeddlesStandInIsNoNvcc) {
  const std::string path = std::getenv("PATH");
  fs::create_directories(folder_ / "stand_in");
  fs::create_directories(folder_ / "toolkit" / "bin");
  Program("stand_in/nvcc", "echo 'Cuda compilation tools, release 12.4, Heddle 1'");
  Program("toolkit/bin/nvcc", kVendors);
  ::setenv("PATH", absl::StrCat((folder_ / "stand_in").string(), ":", path).c_str(), 1);
  ::setenv("CUDA_HOME", (folder_ / "toolkit").c_str(), 1);
  const auto found = Nvcc::Find("nvcc");
  ::unsetenv("CUDA_HOME");
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(found->program(), testing::Not(HasSubstr("stand_in")));
  EXPECT_EQ(Nvcc::Find((folder_ / "toolkit").string())->program(), (folder_ / "toolkit" / "bin" / "nvcc").string());
  EXPECT_THAT(Message(Nvcc::Find((folder_ / "stand_in" / "nvcc").string()).status()), HasSubstr("no nvcc"));
}

TEST_F(ToolchainTest, ModulesAreRefusedWhereTheirPartsAre) {
  const std::string made = MadeCubin().Bytes();
  const fs::path cubin = folder_ / "made.cubin";
  std::ofstream(cubin, std::ios::binary) << made;
  const Toolchain toolchain(Program("ptxas", absl::StrCat("cp ", cubin.string(), " \"$5\"")),
                            Program("nvdisasm", "echo 'nvdisasm fatal : Unknown option json' >&2; exit 1"));
  EXPECT_THAT(Message(MachineModuleOf(toolchain, "", Architecture::kSm90).status()),
              HasSubstr("the cubin is of sm_80, and sm_90 was asked for"));
  EXPECT_THAT(Message(MachineModuleOf(toolchain, "", Architecture::kSm80).status()),
              HasSubstr("nvdisasm (exit status 1): Unknown option json"));
  EXPECT_THAT(Message(MachineModuleOfCubin(toolchain, "text", Architecture::kSm80).status()), HasSubstr("no cubin"));
}

}  // namespace
}  // namespace heddle::tracegen::machine
