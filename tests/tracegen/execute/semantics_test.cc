// Device code computes what PTX says, not what the host's processor or C++ would do.
#include <cmath>
#include <limits>

#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

constexpr double kLowest = -2147483648.0;
constexpr double kHighest = 2147483647.0;

// `body` sets out[...] from inputs a, b (int) and x (float) that the compiler cannot see.
std::string Kernel(const std::string& body) {
  return "__global__ void k(int* out, int a, int b, float x, float y) {\n" + body + "\n}";
}
std::string Inputs(int a, int b, const std::string& x, const std::string& y) {
  return absl::StrCat("argument { i32: ", a, " } argument { i32: ", b, " } argument { f32: ", x,
                      " } argument { f32: ", y, " }");
}

TEST_F(CaptureTest, ShiftsByTheWidthOrMoreShiftEverythingOut) {
  Succeeds(Kernel("out[0] = a << b; out[1] = (unsigned)a >> b; out[2] = a >> b; out[3] = 1 << (b - 35);"),
           IntRecipe(1, 1, {0, 0, -1, 32}, Inputs(-8, 40, "0", "0")));
}

TEST_F(CaptureTest, FloatToIntSaturatesAndNanGivesZero) {
  Succeeds(Kernel("out[0] = (int)x; out[1] = (int)-x; out[2] = (int)(y - y); out[3] = (int)(unsigned)x >> 1; "
                  "out[4] = (int)(unsigned)-x;"),
           IntRecipe(1, 1, {kHighest, kLowest, 0, -1, 0}, Inputs(0, 0, "1e20", "inf")));
}

TEST_F(CaptureTest, IntegerDivisionByZeroGivesAllOnesAndAWarning) {
  CaptureSummary summary = Succeeds(Kernel("out[0] = a / b;\n out[1] = a % b;\n out[2] = (unsigned)a / (unsigned)b;"),
                                    IntRecipe(1, 1, {-1, 17, -1}, Inputs(17, 0, "0", "0")));
  ASSERT_EQ(summary.warnings.size(), 1);
  EXPECT_THAT(summary.warnings[0], ::testing::HasSubstr("divides by zero"));
  EXPECT_THAT(summary.warnings[0], ::testing::HasSubstr("kernel.cu:"));
}

TEST_F(CaptureTest, LowestByMinusOneDoesNotTrap) {
  Succeeds(Kernel("out[0] = a / b; out[1] = a % b;"),
           IntRecipe(1, 1, {kLowest, 0}, Inputs(std::numeric_limits<int>::min(), -1, "0", "0")));
}

TEST_F(CaptureTest, MultiplyAndAddAreFused) {
  // (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 exactly; rounding the product first gives 0.
  Succeeds(Kernel("float r = x * x - y; out[0] = r == 5.9604644775390625e-8f;"),
           IntRecipe(1, 1, {1}, Inputs(0, 0, "1.000244140625", "1.00048828125")));
}

TEST_F(CaptureTest, MinAndMaxPreferNumbersToNan) {
  Succeeds(Kernel("float nan = y - y; out[0] = (int)__builtin_fminf(x, nan); out[1] = (int)__builtin_fmaxf(nan, x);"),
           IntRecipe(1, 1, {6, 6}, Inputs(0, 0, "6.5", "inf")));
}

// Members of a structure at an address that only its members' alignment divides: each access is aligned, as the program
// has it. It is only the merging of neighbours that were not.
TEST_F(CaptureTest, MembersOfAStructureNeedNoMoreThanTheirOwnAlignment) {
  const std::string source = R"(
struct __attribute__((aligned(8))) Pair { int x, y; };
struct __attribute__((aligned(16))) Four { int x, y, z, w; };
struct __attribute__((aligned(4))) Bytes { unsigned char x, y, z, w; };
__global__ void k(int* out, int a, int b) {
  Pair* pair = (Pair*)(out + 1);
  pair->x = a;
  pair->y = b;
  Four* four = (Four*)(out + 5);
  four->x = a;
  four->y = b;
  four->z = a;
  four->w = b;
  Pair* from = (Pair*)(out + 1);
  out[3] = from->x + 3 * from->y;
  Bytes* bytes = (Bytes*)((char*)(out + 9) + 1);
  bytes->x = 1;
  bytes->y = 2;
  bytes->z = 3;
  out[10] = bytes->x + 10 * bytes->y + 100 * bytes->z;
})";
  for (const char* flag : {"", "optimization: \"-O0\"\n"}) {
    Succeeds(source, absl::StrCat(flag, IntRecipe(1, 1, {0, 5, 7, 26, 0, 5, 7, 5, 7, 0x03020100, 321},
                                                  "argument { i32: 5 } argument { i32: 7 }")));
  }
}

TEST_F(CaptureTest, LocalArraysKeepTheirContentsAndHaveLocalAddresses) {
  Succeeds(R"(
__global__ void k(int* out, int n) {
  int local[16];
  for (int i = 0; i < 16; ++i) local[i] = i * threadIdx.x;
  for (int i = 0; i < n; ++i) local[(i * 7) & 15] += local[(i + threadIdx.x) & 15];
  out[threadIdx.x] = local[3] + local[n & 15];
})",
           [] {
             std::vector<double> expected;
             for (int t = 0; t < 4; ++t) {
               int local[16];
               for (int i = 0; i < 16; ++i) local[i] = i * t;
               for (int i = 0; i < 20; ++i) local[(i * 7) & 15] += local[(i + t) & 15];
               expected.push_back(local[3] + local[4]);
             }
             return IntRecipe(1, 4, expected, "argument { i32: 20 }");
           }());
  bool local = false;
  const trace::Program& program = reader_->programs()[0];
  for (trace::Pc pc : program.accesses()) local = local || program.instruction(pc).space() == trace::v1::SPACE_LOCAL;
  EXPECT_TRUE(local);
}

TEST_F(CaptureTest, PointersToLocalArraysPassThroughCalls) {
  Succeeds(R"(
__device__ __attribute__((noinline)) void fill(int* p, int n) { for (int i = 0; i < n; ++i) p[i] = n - i; }
__device__ __attribute__((noinline)) int sum(const int* p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }
__global__ void k(int* out, int n) {
  int local[8];
  fill(local, n);
  out[threadIdx.x] = sum(local, n) + sum(out, 0);
})",
           IntRecipe(1, 3, {36, 36, 36}, "argument { i32: 8 }"));
  EXPECT_GE(reader_->programs()[0].proto().function_size(), 3);
}

TEST_F(CaptureTest, RecursionHasFramesOfItsOwn) {
  Succeeds(R"(
__device__ __attribute__((noinline)) int depth(int n) {
  volatile int frame[4];
  frame[n & 3] = n;
  if (n == 0) return 0;
  int below = depth(n - 1);
  return below + frame[n & 3];
}
__global__ void k(int* out) { out[threadIdx.x] = depth(10 + threadIdx.x); })",
           IntRecipe(1, 3, {55, 66, 78}));
}

TEST_F(CaptureTest, StructuresByValueAreCopied) {
  Succeeds(R"(
struct Point { int x[6]; };
__device__ __attribute__((noinline)) int change(Point p, int i) { p.x[i] = 100; return p.x[0] + p.x[i]; }
__global__ void k(int* out, int n) {
  Point p;
  for (int i = 0; i < 6; ++i) p.x[i] = i + n;
  int r = change(p, n & 3);
  out[0] = r; out[1] = p.x[n & 3];
})",
           IntRecipe(1, 1, {102, 4}, "argument { i32: 2 }"));
}

TEST_F(CaptureTest, MathFunctionsAreSingleInstructions) {
  Succeeds(R"(
__global__ void k(int* out, float x) {
  out[0] = (int)(1000 * sinf(x)); out[1] = (int)(1000 * expf(x)); out[2] = (int)(1000 * logf(x));
  out[3] = (int)(1000 * powf(x, 2.5f)); out[4] = (int)(1000 * sqrtf(x)); out[5] = (int)(1000 * cosf(x));
})",
           IntRecipe(1, 1, {909, 7389, 693, 5656, 1414, -416}, "argument { f32: 2 }"));
  EXPECT_GE(Count(trace::v1::OP_SFU), 5);
  EXPECT_EQ(Count(trace::v1::OP_BRANCH), 0) << "library code must not add branches";
}

TEST_F(CaptureTest, EveryOptimisationLevelComputesTheSame) {
  for (const char* level : {"-O0", "-O1", "-O2", "-O3"}) {
    SCOPED_TRACE(level);
    Succeeds(R"(
__global__ void k(int* out) {
  int x = threadIdx.x, steps = 0;
  while (x > 1) { x = x & 1 ? 3 * x + 1 : x / 2; ++steps; }
  out[threadIdx.x] = steps;
})",
             IntRecipe(1, 10, {0, 0, 1, 7, 2, 5, 8, 16, 3, 19}) + "optimization: \"" + level + "\"");
  }
}

TEST_F(CaptureTest, AssertionsThatHoldHaveNoEffect) {
  Succeeds(R"(
__global__ void k(int* out, int n) {
  for (int i = 0; i < n; ++i) { assert(i < 100); out[threadIdx.x] += i; }
})",
           IntRecipe(1, 2, {45, 45}, "argument { i32: 10 }"));
}

TEST_F(CaptureTest, WideBranchesFollowEveryCase) {
  Succeeds(R"(
__global__ void k(int* out) {
  switch (threadIdx.x * 3 % 8) {
    case 0: out[threadIdx.x] = 5; break;
    case 1: out[threadIdx.x] = out[0] + 11; break;
    case 2: out[threadIdx.x] = 17 * threadIdx.x; break;
    case 3: out[threadIdx.x] = -1; break;
    case 6: out[threadIdx.x] = 66; break;
    default: out[threadIdx.x] = 9;
  }
})",
           IntRecipe(1, 8, {5, -1, 66, 16, 9, 9, 102, 9}));
}

}  // namespace
}  // namespace heddle::tracegen
