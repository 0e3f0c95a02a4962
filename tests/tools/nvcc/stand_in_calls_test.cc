// heddle-nvcc: calls of closed libraries that have no stand-in.
#include "tools/nvcc/stand_in_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace heddle::nvcc {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::set<std::string, std::less<>> kDeclared = {"cublasCreate", "cufftPlan1d", "curand_init"};

TEST(StandInCalls, FunctionsThatAreNotDeclaredAreToldOnceWithTheirLine) {
  EXPECT_THAT(
      CallsWithoutStandIn("a.cu",
                          "int main() {\n  cublasCreate(&h);\n  CHECK(cublasCherk (h));\n  cublasCherk(h);\n"
                          "  return curandMakeMTGP32Constants(p);\n}\n__device__ void f() { cufftXtExec(1); }\n",
                          kDeclared),
      ElementsAre(HasSubstr("a.cu:3: cublasCherk: this function of cuBLAS has no stand-in"),
                  HasSubstr("a.cu:5: curandMakeMTGP32Constants: this function of cuRAND"),
                  HasSubstr("a.cu:7: cufftXtExec: this function of cuFFT")));
  EXPECT_THAT(CallsWithoutStandIn("a.cu", "int x = cublasLtLogger(1);", kDeclared),
              ElementsAre(HasSubstr("a.cu:1: cublasLtLogger: this function of cublasLt")));
}

TEST(StandInCalls, WhatTheProgramHasItselfIsNotTold) {
  EXPECT_THAT(
      CallsWithoutStandIn("a.cu",
                          "void cublasCheck(int s) { }\n#define curandSafe(x) (x)\n// cublasCherk(1)\n"
                          "const char* s = \"cufftFoo(1)\";\nconst char* cufftName(int e) { return 0; }\n"
                          "int main() { cublasCheck(1); curandSafe(2); cufftName(3); curands(1); my_cublasX(2);\n"
                          "  cublasHandle_t h; int cublasTime = 3; }\n",
                          kDeclared),
      IsEmpty());
}

TEST(StandInCalls, HeadersSayWhatIsThere) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "stand_in_headers";
  std::filesystem::create_directories(folder / "curand");
  std::ofstream(folder / "cublas_v2.h") << "#define cublasCreate cublasCreate_v2\n";
  std::ofstream(folder / "curand" / "philox.h") << "int curand4(int);\n";
  std::ofstream(folder / "other.h") << "int cublasOther(int);\n";
  const auto words = StandInWords(folder.string());
  EXPECT_THAT(words, Contains("cublasCreate"));
  EXPECT_THAT(words, Contains("curand4"));
  EXPECT_THAT(words, Not(Contains("cublasOther")));
  EXPECT_THAT(StandInWords("/nonexistent"), IsEmpty());
}

TEST(StandInCalls, LibrariesOfTheLinker) {
  EXPECT_TRUE(IsStandInLibrary("-lcublas"));
  EXPECT_TRUE(IsStandInLibrary("-lcublasLt_static"));
  EXPECT_TRUE(IsStandInLibrary("-lcufft"));
  EXPECT_FALSE(IsStandInLibrary("-lcudart"));
  EXPECT_FALSE(IsStandInLibrary("cublas.o"));
}

}  // namespace
}  // namespace heddle::nvcc
