// Launches of device code, as they are written for clang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tools/nvcc/device_launches.h"

namespace heddle::nvcc {
namespace {

TEST(DeviceLaunches, LaunchesOfKernelsBecomeCalls) {
  EXPECT_EQ(WriteDeviceLaunches("__global__ void K(int d) { K<<<1, f(2, 3)>>>(d); }", false),
            "__global__ void K(int d) { HeddleChild<decltype(&K), &K>({1, f(2, 3)})(d); }");
  EXPECT_EQ(
      WriteDeviceLaunches("__device__ void F() { if (x) a::K<T, (2 > 1)> <<<dim3(a > b), 2, 0, s>>>(d); }", false),
      "__device__ void F() { if (x) HeddleChild<decltype(&a::K<T, (2 > 1)> ), &a::K<T, (2 > 1)> >"
      "({dim3(a > b), 2, 0, s})(d); }");
}

TEST(DeviceLaunches, TheArgumentsChooseAmongKernelsOfOneName) {
  EXPECT_EQ(WriteDeviceLaunches("__global__ void K() { K<<<1, 2>>>(f(2, x), // two\n y); }", true),
            "__global__ void K() { ({ using HeddleArguments = decltype(HeddleTypesOf(f(2, x),         y)); struct "
            "HeddleHere { using Kernel = HeddleKernel<HeddleKernels<HeddleArguments>::Find(&K, HeddleRank<2>())>; }; "
            "HeddleChild<typename HeddleHere::Kernel>({1, 2}); })(f(2, x), // two\n y); }");
  // Which cannot be said twice.
  for (const char* arguments : {"({1, 2})", "([&] { return 1; })", "(\n#if A\n1\n#else\n2\n#endif\n)", "(1", "", ";"}) {
    const std::string text = std::string("__global__ void K() { K<<<1, 2>>>") + arguments;
    EXPECT_EQ(WriteDeviceLaunches(text, true),
              std::string("__global__ void K() { HeddleChild<decltype(&K), &K>({1, 2})") + arguments);
  }
}

TEST(DeviceLaunches, LinesStay) {
  const std::string text = "__global__ void K() {\n  K<int,\n    2><<<1,\n 2>>>(3);\n  K<<<1, 1>>>();\n}\n";
  const std::string written = WriteDeviceLaunches(text, false);
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
}

TEST(DeviceLaunches, AllElseStays) {
  for (const char* text : {
           "int main() { K<<<1, 2>>>(3); }",
           "__host__ __device__ void F() { K<<<1, 2>>>(3); }",
           "__global__ void K();\nint main() { K<<<1, 2>>>(); }",
           "__global__ void K() { /* K<<<1, 2>>>() */ print(\"K<<<1, 2>>>()\"); }",
           "__global__ void K() { K<<<1, 2; }",
           "__global__ void K() { <<<1, 2>>>(); }",
           "__global__ void K() { 1 > <<<1, 2>>>",
           "#define DEVICE __device__\nnamespace n {\nvoid F() { K<<<1, 2>>>(3); }\n}",
           ("#ifdef A\n__global__ void K(int) {\n#else\n__global__ void K(float) {\n#endif\n}\n"
            "int main() { K<<<1, 2>>>(3); }"),
           "#define KERNEL __global__\nint main() { K<<<1, 2>>>(3); }",
           "const char* text = R\"(\n\"__global__ void K() {\" K<<<1, 2>>>(3); }\n)\";",
           "<<<",
           ">>>",
           "__global__ {<<<",
           "",
       }) {
    EXPECT_EQ(WriteDeviceLaunches(text, false), text);
    EXPECT_EQ(WriteDeviceLaunches(text, true), text);
  }
}

}  // namespace
}  // namespace heddle::nvcc
