// Functions of the device's mathematical library, linked from a small library that the test writes.
#include "tracegen/frontend/libdevice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "tracegen/frontend/bitcode.h"

namespace heddle::tracegen {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kLibrary[] = R"(
target triple = "nvptx64-nvidia-gpulibs"
@.str = private constant [11 x i8] c"__CUDA_FTZ\00"
declare i32 @__nvvm_reflect(ptr)
define float @__nv_twicef(float %x) {
  %asked = call i32 @__nvvm_reflect(ptr @.str)
  %flushes = icmp ne i32 %asked, 0
  br i1 %flushes, label %yes, label %no
yes:
  ret float 0.0
no:
  %y = fadd float %x, %x
  ret float %y
}
define float @__nv_otherf(float %x) { ret float %x }
)";

class LibdeviceTest : public ::testing::Test {
 protected:
  LibdeviceTest() : path_((fs::temp_directory_path() / absl::StrCat("heddle_libdevice_", ::getpid())).string()) {
    std::ofstream(path_, std::ios::binary) << WriteBitcode(*Parse(kLibrary));
  }
  ~LibdeviceTest() override { fs::remove(path_); }

  std::unique_ptr<llvm::Module> Parse(const std::string& text) {
    llvm::SMDiagnostic problem;
    std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context_);
    EXPECT_NE(module, nullptr) << problem.getMessage().str();
    return module;
  }

  std::unique_ptr<llvm::Module> Kernel(const std::string& function) {
    return Parse(absl::StrCat("declare float @", function, R"((float)
define void @k(ptr %out, float %x) {
  %y = call float @)",
                              function, R"((float %x)
  store float %y, ptr %out
  ret void
}
)"));
  }

  llvm::LLVMContext context_;
  std::string path_;
};

TEST_F(LibdeviceTest, WhatIsCalledBecomesCodeOfTheProgram) {
  const std::unique_ptr<llvm::Module> module = Kernel("__nv_twicef");
  EXPECT_TRUE(CallsLibdevice(*module));
  const absl::Status linked = LinkLibdevice(*module, path_, "sm_80", true);
  ASSERT_TRUE(linked.ok()) << linked;
  EXPECT_FALSE(CallsLibdevice(*module));
  EXPECT_EQ(module->getFunction("__nv_otherf"), nullptr);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->getFunction("k")->print(stream);
  // Numbers that are too small are kept, as nobody asked otherwise.
  EXPECT_THAT(text, HasSubstr("fadd float %x, %x"));
  EXPECT_THAT(text, testing::Not(HasSubstr("call")));
  EXPECT_THAT(text, testing::Not(HasSubstr("br ")));
}

TEST_F(LibdeviceTest, AFunctionThatItDoesNotHaveIsNamed) {
  const absl::Status refused = LinkLibdevice(*Kernel("__nv_thricef"), path_, "sm_80", true);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("it has no function __nv_thricef"));
}

TEST_F(LibdeviceTest, OtherFilesAreRefused) {
  std::ofstream(path_, std::ios::trunc) << "no bitcode";
  const absl::Status refused = LinkLibdevice(*Kernel("__nv_twicef"), path_, "sm_80", true);
  EXPECT_THAT(std::string(refused.message()), HasSubstr(path_ + ": not bitcode that LLVM 19 reads"));
  EXPECT_FALSE(LinkLibdevice(*Kernel("__nv_twicef"), path_ + ".none", "sm_80", true).ok());
}

}  // namespace
}  // namespace heddle::tracegen
