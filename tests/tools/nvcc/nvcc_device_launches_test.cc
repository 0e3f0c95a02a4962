// Launches of device code, as they are written for clang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tools/nvcc/device_launches.h"

namespace heddle::nvcc {
namespace {

TEST(DeviceLaunches, LaunchesOfKernelsBecomeCalls) {
  EXPECT_EQ(WriteDeviceLaunches("__global__ void K(int d) { K<<<1, f(2, 3)>>>(d); }"),
            "__global__ void K(int d) { HeddleChild<decltype(&K), &K>({1, f(2, 3)})(d); }");
  EXPECT_EQ(WriteDeviceLaunches("__device__ void F() { if (x) a::K<T, (2 > 1)> <<<dim3(a > b), 2, 0, s>>>(d); }"),
            "__device__ void F() { if (x) HeddleChild<decltype(&a::K<T, (2 > 1)> ), &a::K<T, (2 > 1)> >"
            "({dim3(a > b), 2, 0, s})(d); }");
}

TEST(DeviceLaunches, LinesStay) {
  const std::string text = "__global__ void K() {\n  K<int,\n    2><<<1,\n 2>>>(3);\n  K<<<1, 1>>>();\n}\n";
  const std::string written = WriteDeviceLaunches(text);
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
           "#ifdef A\n__global__ void K(int) {\n#else\n__global__ void K(float) {\n#endif\n}\n"
           "int main() { K<<<1, 2>>>(3); }",
           "#define KERNEL __global__\nint main() { K<<<1, 2>>>(3); }",
           "<<<",
           ">>>",
           "__global__ {<<<",
           "",
       }) {
    EXPECT_EQ(WriteDeviceLaunches(text), text);
  }
}

}  // namespace
}  // namespace heddle::nvcc
