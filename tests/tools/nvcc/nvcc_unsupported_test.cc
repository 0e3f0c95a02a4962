// heddle-nvcc: what it says of sources that it cannot compile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tools/nvcc/commands.h"
#include "tools/nvcc/included_files.h"
#include "tools/nvcc/unsupported.h"

namespace heddle::nvcc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NvccSource, UnsupportedConstructsAreNamedWithTheirLine) {
  const FindHeader all = [](const std::string&) { return Inclusion::kFound; };
  const FindHeader only_cub = [](const std::string& header) {
    return header == "cub/cub.cuh" ? Inclusion::kFound : Inclusion::kMissing;
  };
  const FindHeader only_v2 = [](const std::string& header) {
    return header == "cublas_v2.h" ? Inclusion::kFound : Inclusion::kMissing;
  };
  EXPECT_THAT(DescribeUnsupported("a.cu", "#include <stdio.h>\n# include <thrust/sort.h>\n#include \"cub/cub.cuh\"\n",
                                  only_cub),
              ElementsAre(HasSubstr("a.cu:2: the library thrust is not installed")));
  EXPECT_THAT(DescribeUnsupported("a.cu", "#include <cusparse.h>", all),
              ElementsAre(HasSubstr("a.cu:1: the library cusparse is not supported")));
  EXPECT_THAT(DescribeUnsupported("a.cu", "#include <cublas_v2.h>\n#include <cublasXt.h>", only_v2),
              ElementsAre(HasSubstr("a.cu:2: the header cublasXt.h of the library cublas is not supported")));
  EXPECT_THAT(DescribeUnsupported("a.cu", "#include <cuda_runtime.h>\n#include <cub/cub.cuh>\n#include <cuda/atomic>",
                                  only_cub),
              ElementsAre(HasSubstr("a.cu:3: the library libcu++ is not installed")));
  EXPECT_THAT(DescribeUnsupported("a.cu",
                                  "__global__ void k();\n"
                                  "__global__ void parent(int* p) {\n  if (p) { p[0] = 1; }\n"
                                  "  k<<<1, 2>>>();\n}\n",
                                  all),
              ElementsAre(HasSubstr("a.cu:4: device code launches a kernel (dynamic parallelism)")));
}

TEST(NvccSource, WhatIsSupportedIsNotNamed) {
  EXPECT_THAT(DescribeUnsupported("a.cu",
                                  "// #include <thrust/sort.h>\n/*\n#include <cub/cub.cuh> */\n"
                                  "#include \"cub.h\"\n#include <cubes.h>\n"
                                  "const char* s = \"#include <thrust/sort.h> {\";\n"
                                  "__global__ void k() { /* k<<<1, 1>>>() } */ }\n"
                                  "__device__ int f(int);\nstruct S { int a[2]; };\n"
                                  "__host__ __device__ void both() { k<<<1, 1>>>(); }\n"
                                  "int main() { k<<<1, 1>>>(); char c = '{'; long n = 1'000; }\n",
                                  [](const std::string&) { return Inclusion::kMissing; }),
              IsEmpty());
}

TEST(NvccSource, OnlyIncludesThatTheCompilerReads) {
  // As the compiler found them: one library is there, one is left out by the preprocessor, the others are not there.
  const FindHeader find = [](const std::string& header) {
    if (header == "cusolver.h") return Inclusion::kFound;
    return header == "cudnn.h" ? Inclusion::kNone : Inclusion::kMissing;
  };
  EXPECT_THAT(DescribeUnsupported("a.h", "#include <cusolver.h>\n#include <cudnn.h>\n#include \"cusparse.h\"\n", find),
              ElementsAre(HasSubstr("a.h:1: the library cusolver"), HasSubstr("a.h:3: the library cusparse")));
  EXPECT_THAT(DescribeUnsupported("a.h", "#include <cuda_fp6.h>\n", find),
              ElementsAre(HasSubstr("a.h:1: 6-bit floating-point numbers")));
  const FindHeader found = [](const std::string&) { return Inclusion::kFound; };
  EXPECT_THAT(DescribeUnsupported("a.h", "#include <cuda_fp6.h>\n#include \"nccl_wrapper.h\"\n", found), IsEmpty());
}

TEST(NvccSource, PartsOfTheInterfacesAreToldOnce) {
  const FindHeader all = [](const std::string&) { return Inclusion::kFound; };
  EXPECT_THAT(
      DescribeUnsupported(
          "a.cu",
          "int main() {\n  CUgraph g;\n  cuGraphConditionalHandleCreate(h);\n  cuGraphConditionalHandleCreate(h);\n"
          "  cudaMipmappedArray_t h;\n  // cudaMipmappedArray_t\n}\n",
          all),
      ElementsAre(
          HasSubstr("a.cu:3: cuGraphConditionalHandleCreate: conditional nodes of graphs are not in the driver API"),
          HasSubstr("a.cu:5: cudaMipmappedArray_t: mipmapped arrays are not supported")));
}

TEST(NvccSource, MemoryPoolsOfTheDriverAreTold) {
  const FindHeader all = [](const std::string&) { return Inclusion::kFound; };
  EXPECT_THAT(DescribeUnsupported("a.cu", "CUmemoryPool p = cuMemPoolCreate();\ncudaMemPoolCreate();\n", all),
              ElementsAre(HasSubstr("a.cu:1: CUmemoryPool: memory pools of the driver API are not supported")));
}

TEST(NvccSource, LaterDeviceFunctionsAreTold) {
  const FindHeader all = [](const std::string&) { return Inclusion::kFound; };
  EXPECT_THAT(
      DescribeUnsupported("a.cu", "__device__ int f(int* p) {\n  return __nv_atomic_load_n(p, 0, 0);\n}\n", all),
      ElementsAre(HasSubstr("a.cu:2: __nv_atomic_load_n: atomic functions by memory order")));
}

TEST(NvccSource, LinesOfConstantVariables) {
  const std::string text =
      "// __constant__ int big[9];\n__constant__ int biggest[2], small = big;\nint big;\n"
      "static __constant__\n  float2\n  big[1 << 14] = {};\n";
  EXPECT_EQ(LineOfConstant(text, "big"), 6u);
  EXPECT_EQ(LineOfConstant(text, "biggest"), 2u);
  EXPECT_EQ(LineOfConstant(text, "bi"), 0u);
}

TEST(NvccFiles, TheCommandThatTellsThem) {
  EXPECT_THAT(DependencyCommand({"g++", "-DX=1", "-MD", "-MF", "x.d", "-MT", "x", "-O2", "-c", "-o", "x.o", "x.cpp"}),
              ElementsAre("g++", "-DX=1", "-O2", "x.cpp", "-M", "-MG", "-w"));
}

TEST(NvccFiles, NamesOfARuleOfMake) {
  EXPECT_THAT(NamesOfRule("a.o: a.cu b\\ c.h \\\n  $$d.h \\#e.h\n"), ElementsAre("a.cu", "b c.h", "$d.h", "#e.h"));
  EXPECT_THAT(NamesOfRule(""), IsEmpty());
}

TEST(NvccFiles, WhatBecameOfAnInclude) {
  const std::string folder = ::testing::TempDir() + "/nvcc_included";
  std::filesystem::create_directories(folder + "/cub");
  std::ofstream(folder + "/cub/cub.cuh") << "\n";
  std::ofstream(folder + "/mine.h") << "\n";
  const std::vector<std::string> files = {folder + "/cub/cub.cuh", "cublas_v2.h",          folder + "/mine.h",
                                          folder + "/mine.h",      "/usr/include/stdio.h", folder + "/gone.h"};
  EXPECT_EQ(FindInclusion(files, "cub/cub.cuh"), Inclusion::kFound);
  EXPECT_EQ(FindInclusion(files, "cublas_v2.h"), Inclusion::kMissing);
  EXPECT_EQ(FindInclusion(files, "las_v2.h"), Inclusion::kNone);
  EXPECT_EQ(FindInclusion(files, "cufft.h"), Inclusion::kNone);
  EXPECT_THAT(FilesOfProgram(files, {"", folder + "/cub"}), ElementsAre(folder + "/mine.h"));
}

}  // namespace
}  // namespace heddle::nvcc
