// Recipes that ask for what cannot be: refused before anything runs, with the line of the recipe.
#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

constexpr char kKernel[] = "__global__ void k(int* out) { out[threadIdx.x] = 1; }";

std::string Launch(const std::string& launch) {
  return "buffer { name: \"out\" type: I32 count: 4 }\nlaunch {\n  kernel: \"k\"\n" + launch + "\n}\n";
}

TEST_F(CaptureTest, UnknownKey) {
  Fails(kKernel, "buffer { name: \"out\" type: I32 count: 4 }\nlaunches { kernel: \"k\" }",
        {"recipe.textproto:3:", "launches"});
}

TEST_F(CaptureTest, UnknownValueOfAType) {
  Fails(kKernel, "buffer { name: \"out\" type: INT count: 4 }", {"recipe.textproto:2:", "INT"});
}

TEST_F(CaptureTest, MissingRecipeAndMissingSource) {
  absl::StatusOr<CaptureSummary> summary = CaptureRecipe(Path("nothing.textproto"), options_);
  ASSERT_FALSE(summary.ok());
  EXPECT_THAT(std::string(summary.status().message()), ::testing::HasSubstr("nothing.textproto: cannot be read"));
  Write("recipe.textproto", "source: \"absent.cu\"\nlaunch { kernel: \"k\" }");
  summary = CaptureRecipe(Path("recipe.textproto"), options_);
  ASSERT_FALSE(summary.ok());
  EXPECT_THAT(std::string(summary.status().message()), ::testing::HasSubstr("absent.cu"));
}

TEST_F(CaptureTest, SourceThatDoesNotCompile) {
  Fails("__global__ void k(int* out) { out[0] = nothing; }", Launch("argument { buffer: \"out\" }"), {"nothing"});
}

TEST_F(CaptureTest, UnknownKernelListsTheKnownOnes) {
  Fails(kKernel, "buffer { name: \"out\" type: I32 count: 4 }\nlaunch { kernel: \"kk\" }", {"kk", "k"});
}

TEST_F(CaptureTest, UnknownBuffer) {
  Fails(kKernel, Launch("  argument { buffer: \"in\" }"), {"recipe.textproto:5:", "no buffer is named 'in'"});
}

TEST_F(CaptureTest, WrongNumberOfArguments) {
  Fails(kKernel, Launch(""), {"recipe.textproto:3:", "has 1 parameters, but 0 arguments"});
}

TEST_F(CaptureTest, WrongKindOfArgument) {
  Fails(kKernel, Launch("  argument { f32: 1 }"), {"recipe.textproto:5:", "argument 1", "f32", "a pointer"});
}

TEST_F(CaptureTest, ArgumentOutOfRange) {
  Fails("__global__ void k(int x) {}", "launch { kernel: \"k\" argument { i32: 3000000000 } }",
        {"argument 1 does not fit its type i32"});
}

TEST_F(CaptureTest, TooManyThreads) {
  Fails(kKernel, Launch("  block { x: 64 y: 17 } argument { buffer: \"out\" }"), {"1088 threads", "at most 1024"});
  Fails(kKernel, Launch("  block { z: 65 } argument { buffer: \"out\" }"), {"dimension 2", "65"});
}

TEST_F(CaptureTest, TooManyBlocks) {
  Fails(kKernel, Launch("  grid { y: 65536 } argument { buffer: \"out\" }"), {"grid dimension 1", "65535"});
}

TEST_F(CaptureTest, TooMuchSharedMemory) {
  Fails(kKernel, Launch("  dynamic_shared_bytes: 200000 argument { buffer: \"out\" }"), {"shared memory", "98304"});
}

TEST_F(CaptureTest, ValueThatDoesNotFitItsBuffer) {
  Fails(kKernel,
        "buffer { name: \"out\" type: U8 count: 4 fill { constant { value: 300 } } }\n" +
            std::string("launch { kernel: \"k\" argument { buffer: \"out\" } }"),
        {"recipe.textproto:2:", "300 does not fit", "U8"});
}

TEST_F(CaptureTest, FileOfTheWrongLength) {
  Write("data.bin", "12345");
  Fails(kKernel,
        "buffer { name: \"out\" type: I32 count: 4 fill { file { path: \"data.bin\" } } }\n" +
            std::string("launch { kernel: \"k\" argument { buffer: \"out\" } }"),
        {"data.bin", "5 bytes", "need 16"});
}

TEST_F(CaptureTest, UnknownSymbol) {
  Fails(kKernel, Launch("  argument { buffer: \"out\" } symbol { name: \"table\" type: I32 }"),
        {"no __constant__ or __device__ variable is named 'table'"});
}

TEST_F(CaptureTest, UnsupportedConstructsAreNamed) {
  Fails(R"(
__global__ void k(int* out) {
  volatile int* some = (int*)__builtin_alloca(4 * out[0] + 4);
  some[out[0]] = 1;
  out[1] = some[0];
})",
        IntRecipe(1, 1, {0, 1}), {"local arrays of variable size are not supported", "kernel.cu:3"});
  Fails(R"(
__global__ void k(int* out) {
  static void* const kPlaces[] = {&&first, &&second};
  goto* kPlaces[out[0] & 1];
first:
  out[1] = 1;
  return;
second:
  out[1] = 2;
})",
        IntRecipe(1, 1, {0, 1}), {"this kind of control flow is not supported in device code", "kernel.cu:4"});
}

TEST_F(CaptureTest, UnknownInlineAssembly) {
  Fails("__global__ void k(int* out) { asm volatile(\"frobnicate;\"); out[0] = 1; }", IntRecipe(1, 1, {1}),
        {"frobnicate", "kernel.cu:1"});
}

TEST_F(CaptureTest, MoreThreadsThanTheKernelsLaunchBounds) {
  constexpr char kBounded[] = "__global__ void __launch_bounds__(64) k(int* out) { out[0] = 1; }";
  Fails(kBounded, Launch("  block { x: 128 } argument { buffer: \"out\" }"),
        {"recipe.textproto:3:", "a block of 128 threads", "at most 64"});
  Succeeds(kBounded, Launch("  block { x: 32 y: 2 } argument { buffer: \"out\" }"));
}

TEST_F(CaptureTest, AnotherWorkGroupThanTheKernelRequires) {
  constexpr char kRequired[] =
      "__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void k(__global int* out) { out[0] = 1; }";
  Fails(kRequired, Launch("  block { x: 16 y: 2 } argument { buffer: \"out\" }"),
        {"recipe.textproto:3:", "(16,2,1)", "exactly (8,4,1)"}, "cl");
  Succeeds(kRequired, Launch("  block { x: 8 y: 4 } argument { buffer: \"out\" }"), "cl");
}

TEST_F(CaptureTest, BuffersThatMemoryCannotHold) {
  uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  Fails(kKernel,
        absl::StrCat("buffer { name: \"small\" type: U8 count: 4 }\nbuffer { name: \"vast\" type: U8 count: ", bytes,
                     " }\nlaunch { kernel: \"k\" argument { buffer: \"vast\" } }"),
        {"recipe.textproto:3:", "'vast'", absl::StrCat(bytes)});
}

}  // namespace
}  // namespace heddle::tracegen
