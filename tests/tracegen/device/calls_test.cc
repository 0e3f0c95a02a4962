// Calls that device code makes: through pointers and tables of virtual functions, of itself, and of the device's
// system.
#include "tests/tracegen/execute/capture_fixture.h"
#include "tracegen/execute/code/device_print.h"
#include "tracegen/execute/memory/device_heap.h"

namespace heddle::tracegen {
namespace {

// What the arguments of printf look like in memory.
template <typename... T>
std::string Packed(T... values) {
  std::string bytes;
  auto add = [&bytes](auto value) {
    while (bytes.size() % sizeof(value) != 0) bytes += '\0';
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  (add(values), ...);
  return bytes;
}

std::string Print(const char* format, const std::string& arguments, uint32_t expected_conversions) {
  uint32_t conversions = 0;
  std::string text = FormatDeviceText(format, arguments.data(), &conversions);
  EXPECT_EQ(conversions, expected_conversions);
  return text;
}

TEST(DevicePrintTest, ConversionsAreThoseOfC) {
  EXPECT_EQ(Print("%d|%5u|%-4x|%08.3f|%c|%s|%%\n", Packed(-7, 42u, 255, 3.14159, int{'q'}, "text"), 6),
            "-7|   42|ff  |0003.142|q|text|%\n");
  EXPECT_EQ(Print("%lld %lu %zu", Packed(-(1ll << 40), 1ull << 63, uint64_t{5}), 3),
            "-1099511627776 9223372036854775808 5");
  EXPECT_EQ(Print("%hhd %hu", Packed(0x1ff, 0x12345), 2), "-1 9029");
  EXPECT_EQ(Print("%*d|%.*f", Packed(4, 7, 1, 2.25), 2), "   7|2.2");
}

TEST(DevicePrintTest, TextThatIsNoConversionStays) { EXPECT_EQ(Print("100% %k %", Packed(0), 0), "100% %k %"); }

TEST(DevicePrintTest, VectorsOfOpenClHaveCommasBetweenTheirElements) {
  struct alignas(16) Floats {
    float v[4];
  };
  EXPECT_EQ(Print("%v4hlf", Packed(Floats{{1, 2.5f, -3, 4}}), 1), "1.000000,2.500000,-3.000000,4.000000");
  struct alignas(8) Ints {
    int32_t v[2];
  };
  EXPECT_EQ(Print("%d %v2hld", Packed(9, Ints{{-1, 2}}), 2), "9 -1,2");
}

TEST(DeviceHeapTest, SameRequestsGiveTheSameAddressesAndFreedOnesAreUsedAgain) {
  DeviceHeap heap(0x1000, 64);
  EXPECT_EQ(heap.Allocate(1), 0x1000);
  EXPECT_EQ(heap.Allocate(17), 0x1010);
  EXPECT_EQ(heap.Allocate(32), 0) << "16 bytes are left";
  EXPECT_TRUE(heap.Free(0x1000));
  EXPECT_FALSE(heap.Free(0x1000)) << "freed twice";
  EXPECT_FALSE(heap.Free(0x1018)) << "the middle of a piece";
  EXPECT_TRUE(heap.Free(0x1010));
  EXPECT_EQ(heap.Allocate(64), 0x1000) << "neighbours are one piece again";
}

TEST_F(CaptureTest, PrintfPrintsTheRecordedRunOnce) {
  testing::internal::CaptureStdout();
  Succeeds(R"(
__global__ void k(int* out) {
  out[threadIdx.x] = printf("thread %d of %s: %.2f\n", threadIdx.x, "two", threadIdx.x * 0.5f);
})",
           IntRecipe(1, 2, {3, 3}));
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "thread 0 of two: 0.00\nthread 1 of two: 0.50\n");
}

TEST_F(CaptureTest, HeapOfDeviceCode) {
  Succeeds(R"(
__global__ void k(int* out) {
  int* list = (int*)malloc(8 * sizeof(int));
  for (int i = 0; i < 8; ++i) list[i] = i * threadIdx.x;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += list[i];
  free(list);
  int* one = new int(sum);
  void* volatile huge = malloc(1ull << 40);
  out[threadIdx.x] = *one + (huge == 0);
  delete one;
})",
           IntRecipe(1, 4, {1, 29, 57, 85}));
}

TEST_F(CaptureTest, FreeOfWhatMallocHasNotReturned) {
  options_.compare_with_native = false;
  Fails("__global__ void k(int* out) { free(out); }", IntRecipe(1, 1, {0}),
        {"free of 0x200000000200", "kernel.cu:1", "thread (0,0,0)"});
}

constexpr char kShapes[] = R"(
struct Shape {
  __device__ virtual int area(int x) const = 0;
  __device__ virtual int corners() const { return 4; }
};
struct Square : Shape {
  int side;
  __device__ Square(int side) : side(side) {}
  __device__ int area(int x) const override { return side * side + x; }
};
struct Triangle : Shape {
  int a, b;
  __device__ Triangle(int a, int b) : a(a), b(b) {}
  __device__ int area(int x) const override {
    int sum = x;
    for (int i = 0; i < b; ++i) sum += a;
    return sum;
  }
  __device__ int corners() const override { return 3; }
};
__global__ void k(int* out, int n) {
  Shape* shape;
  if (threadIdx.x & 1) shape = new Square(threadIdx.x);
  else shape = new Triangle(threadIdx.x, n);
  out[threadIdx.x] = 10 * shape->area(n) + shape->corners();
  delete shape;
})";

TEST_F(CaptureTest, VirtualFunctionsAreWideDecisions) {
  std::vector<double> expected;
  for (int t = 0; t < 8; ++t) expected.push_back((t & 1) ? 10 * (t * t + 3) + 4 : 10 * (3 * t + 3) + 3);
  Succeeds(kShapes, IntRecipe(1, 8, expected, "argument { i32: 3 }"));
  int indirect = 0;
  for (const auto& block : reader_->programs()[0].proto().block()) {
    if (block.terminator() != trace::v1::CALL_INDIRECT) continue;
    ++indirect;
    EXPECT_EQ(block.callee_size(), 2);
  }
  EXPECT_EQ(indirect, 2);
}

TEST_F(CaptureTest, FunctionPointersInTablesRegistersAndMemory) {
  std::vector<double> expected;
  for (int t = 0; t < 6; ++t) {
    const int first[3] = {t + 3, t * 3, t - 3};
    const int v = first[t % 3];
    expected.push_back(t < 4 ? v + 2 : v * 2);
  }
  Succeeds(R"(
typedef int (*Operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int mul(int a, int b) { return a * b; }
__device__ int sub(int a, int b) { return a - b; }
__device__ Operation table[3] = {add, mul, sub};
__device__ Operation chosen[6];
__global__ void k(int* out) {
  int t = threadIdx.x;
  int v = table[t % 3](t, 3);
  *(volatile Operation*)&chosen[t] = t < 4 ? add : mul;
  out[t] = chosen[t](v, 2);
})",
           IntRecipe(1, 6, expected));
}

TEST_F(CaptureTest, CallThroughAWildPointerNamesItsLine) {
  options_.compare_with_native = false;
  Fails(R"(
typedef int (*Operation)(int);
__device__ int one(int a) { return a + 1; }
__device__ Operation table[2] = {one, one};
__global__ void k(int* out, long long p) {
  table[1] = (Operation)p;
  out[0] = table[out[0]](1) + table[1 + out[0]](2);
})",
        IntRecipe(1, 1, {0}, "argument { i64: 77 }"),
        {"call through a pointer (0x4d) that is no function's", "kernel.cu:7"});
}

TEST_F(CaptureTest, RecursionOfTwoFunctions) {
  Succeeds(R"(
__device__ __attribute__((noinline)) int odd(int n);
__device__ __attribute__((noinline)) int even(int n) { return n == 0 ? 1 : 2 * odd(n - 1); }
__device__ __attribute__((noinline)) int odd(int n) { return n == 0 ? 3 : even(n - 1) + 1; }
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void k(int* out) { out[threadIdx.x] = even(threadIdx.x) + 100 * fibonacci(threadIdx.x); })",
           [] {
             std::vector<double> expected;
             auto even = [](auto self, int n, bool is_even) -> int {
               if (n == 0) return is_even ? 1 : 3;
               return is_even ? 2 * self(self, n - 1, false) : self(self, n - 1, true) + 1;
             };
             const int fibonacci[8] = {0, 1, 1, 2, 3, 5, 8, 13};
             for (int t = 0; t < 8; ++t) expected.push_back(even(even, t, true) + 100 * fibonacci[t]);
             return IntRecipe(1, 8, expected);
           }());
}

TEST_F(CaptureTest, ConstructsThatAreNotSupportedAreNamedWithTheirLine) {
  Fails("#include <cuda_runtime.h>\n__global__ void k(int* out) {\n  asm volatile(\"wgmma.fence.sync.aligned;\");\n}",
        IntRecipe(1, 1, {0}), {"kernel.cu:3", "a product of matrices of a group of warps"});
}

TEST_F(CaptureTest, DenormalsAreFlushedWhereTheProgramSaysSo) {
  // 1e-39 is a denormal float: arithmetic takes it as zero, copies do not; double precision is never flushed.
  const std::string kernel = R"(
__global__ void k(int* out, float x, double y) {
  out[0] = x + 1e-39f == 0.0f; out[1] = __float_as_int(x) != 0; out[2] = y * 0.5 != 0; out[3] = __float_as_int(x * 0.5f);
})";
  const std::string arguments = "argument { f32: 1e-39 } argument { f64: 1e-310 }";
  Succeeds(kernel, IntRecipe(1, 1, {0, 1, 1, 356812}, arguments));
  setenv("CCC_OVERRIDE_OPTIONS", "# +-fgpu-flush-denormals-to-zero", 1);  // read by clang
  Succeeds(kernel, IntRecipe(1, 1, {1, 1, 1, 0}, arguments));
  unsetenv("CCC_OVERRIDE_OPTIONS");
  bool flushes = false;
  const trace::Program& program = reader_->programs()[0];
  for (uint32_t pc = 0; pc < program.instruction_count(); ++pc) {
    flushes = flushes || program.instruction(pc).mnemonic().find(".ftz") != std::string::npos;
  }
  EXPECT_TRUE(flushes);
}

}  // namespace
}  // namespace heddle::tracegen
