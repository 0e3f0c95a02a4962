// What the front end says about wrong and unsupported sources.
#include "tracegen/frontend/compile.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tracegen/program/snippet.h"
#include "tracegen/program/compiled/canonicalize.h"

namespace heddle::tracegen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ErrorOf(const std::string& source, const std::string& ending = ".cu") {
  return std::string(ReadText(source, ending).status().message());
}

TEST(Compile, MissingFileIsNamed) {
  EXPECT_THAT(std::string(Compile("/nowhere/x.cu", {}).status().message()), HasSubstr("/nowhere/x.cu"));
}

TEST(Compile, UnknownEndingIsRefused) {
  EXPECT_THAT(std::string(Compile("kernel.txt", {}).status().message()), HasSubstr(".cu, .cl or .bc"));
}

TEST(Compile, FirstErrorOfClangWithItsLine) {
  EXPECT_THAT(ErrorOf("__global__ void k(int* a) {\n  a[0] = nonsense;\n}\n"),
              AllOf(HasSubstr("snippet.cu:2: "), HasSubstr("nonsense"), Not(HasSubstr("\n"))));
}

TEST(Compile, DefinesReachTheSource) {
  CompileOptions options;
  options.defines = {"VALUE=41"};
  EXPECT_TRUE(ReadText("static_assert(VALUE == 41); __global__ void k(int* a) { *a = VALUE; }", ".cu", options).ok());
}

TEST(Canonicalize, PointersToNoFunctionOfTheProgramAreRefusedWithTheLine) {
  EXPECT_THAT(ErrorOf("typedef int (*F)(int);\n__global__ void k(int* a, F* f) {\n  *a = f[*a](3);\n}\n"),
              AllOf(HasSubstr("snippet.cu:3"), HasSubstr("call through a pointer")));
}

TEST(Canonicalize, UnknownInlinePtxIsRefusedWithTheLine) {
  EXPECT_THAT(ErrorOf("__global__ void k(int* a) {\n  asm volatile(\"cp.async.bulk.commit_group;\");\n  *a = 1;\n}\n"),
              AllOf(HasSubstr("snippet.cu:2"), HasSubstr("cp.async.bulk")));
}

TEST(Canonicalize, KnownInlinePtxIsTranslated) {
  EXPECT_TRUE(ReadText("__global__ void k(int* a) {\n  int lane;\n  asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n"
                       "  *a = lane;\n}\n")
                  .ok());
}

TEST(Canonicalize, FunctionsWithoutBodyAreRefused) {
  EXPECT_THAT(ErrorOf("extern __device__ int missing(int);\n__global__ void k(int* a) {\n  *a = missing(*a);\n}\n"),
              AllOf(HasSubstr("snippet.cu:3"), HasSubstr("missing")));
}

TEST(Canonicalize, FileWithoutKernelIsRefused) {
  EXPECT_THAT(ErrorOf("__device__ int f(int x) { return x; }\n"), HasSubstr("no kernel"));
}

TEST(Canonicalize, UnknownTargetIsRefused) {
  absl::StatusOr<DeviceModule> device = CompileText("__global__ void k(int* a) { *a = 1; }", ".cu");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_THAT(
      std::string(Canonicalize(std::move(device->context), std::move(device->module), "sm_0").status().message()),
      HasSubstr("sm_0"));
}

}  // namespace
}  // namespace heddle::tracegen
