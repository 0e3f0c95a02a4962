// What a recipe can ask for, and what then stands in the trace.
#include "tests/tracegen/execute/capture_fixture.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(CaptureTest, OneThreadPerElement) {
  CaptureSummary summary = Succeeds(R"(
__global__ void k(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 10 * i;
})",
                                    IntRecipe(2, 4, {0, 10, 20, 30, 40, 50}, "argument { i32: 6 }"));
  EXPECT_EQ(summary.launches, 1);
  EXPECT_EQ(summary.blocks, 2);
  EXPECT_EQ(summary.threads, 8);
  EXPECT_EQ(summary.accesses, 6) << "two threads store nothing";
  ASSERT_EQ(reader_->launches().size(), 1);
  EXPECT_EQ(reader_->launches()[0].threads_per_block, 4);
}

TEST_F(CaptureTest, StoresAreRecordedAtTheirAddresses) {
  Succeeds("__global__ void k(int* out) { out[3 - threadIdx.x] = threadIdx.x; }", IntRecipe(1, 4, {3, 2, 1, 0}));
  uint64_t base = reader_->launches()[0].launch.allocation(0).base();
  EXPECT_EQ(reader_->launches()[0].launch.allocation(0).name(), "out");
  EXPECT_THAT(Addresses(),
              ElementsAre(ElementsAre(base + 12), ElementsAre(base + 8), ElementsAre(base + 4), ElementsAre(base)));
}

TEST_F(CaptureTest, ThreeDimensionalGridsAndBlocksCountXFirst) {
  const std::string source = R"(
__global__ void k(int* out) {
  int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.y + 10000 * blockIdx.z;
})";
  std::vector<double> expected;
  for (int bz = 0; bz < 2; ++bz)
    for (int by = 0; by < 2; ++by)
      for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 3; ++y)
          for (int x = 0; x < 2; ++x) expected.push_back(x + 10 * y + 100 * z + 1000 * by + 10000 * bz);
  Succeeds(source, absl::StrCat("buffer { name: \"out\" type: I32 count: 48 }\n",
                                "launch { kernel: \"k\" grid { x: 1 y: 2 z: 2 } block { x: 2 y: 3 z: 2 } ",
                                "argument { buffer: \"out\" } }\n", "check { buffer: \"out\" expected { ",
                                Values(expected), " } }"));
  EXPECT_EQ(reader_->launches()[0].launch.grid().z(), 2);
  EXPECT_EQ(reader_->launches()[0].threads_per_block, 12);
}

TEST_F(CaptureTest, TheSameRecipeGivesTheSameBytes) {
  const std::string source = R"(
__global__ void k(int* out, const int* in) {
  int sum = 0;
  for (int i = 0; i < in[threadIdx.x]; ++i) sum += in[(threadIdx.x * 7 + i) & 31];
  out[threadIdx.x] = sum;
})";
  const std::string recipe = R"(
buffer { name: "out" type: I32 count: 64 }
buffer { name: "in" type: I32 count: 64 fill { uniform { seed: 5 low: 0 high: 30 } } }
launch { kernel: "k" grid { x: 3 } block { x: 64 } argument { buffer: "out" } argument { buffer: "in" } })";
  Succeeds(source, recipe);
  std::string first = Read(options_.output);
  Succeeds(source, recipe);
  EXPECT_EQ(first, Read(options_.output));
  EXPECT_THAT(first, ::testing::Not(HasSubstr(folder_)));
}

TEST_F(CaptureTest, HeaderTellsHowTheTraceWasMade) {
  Succeeds("__global__ void k(int* out) { out[threadIdx.x] = 1; }", IntRecipe(1, 1, {1}));
  const trace::v1::FileHeader& header = reader_->header();
  EXPECT_EQ(header.abstraction_level(), "ptx");
  EXPECT_EQ(header.target(), "sm_70");
  EXPECT_EQ(header.optimization(), "-O2");
  EXPECT_EQ(header.warp_width(), 0) << "no warp operations";
  EXPECT_THAT(header.producer(), HasSubstr("heddle"));
  EXPECT_EQ(header.provenance().at("source_sha256").size(), 64);
  EXPECT_EQ(header.provenance().at("recipe_sha256").size(), 64);
  EXPECT_EQ(header.window_size(), 4);
}

TEST_F(CaptureTest, LaunchesRepeatAndMemoryKeepsItsContents) {
  CaptureSummary summary = Succeeds("__global__ void k(int* out) { out[threadIdx.x] += threadIdx.x + 1; }",
                                    IntRecipe(1, 3, {4, 8, 12}, "repeat: 4"));
  EXPECT_EQ(summary.launches, 4);
  ASSERT_EQ(reader_->launches().size(), 4);
  EXPECT_THAT(reader_->launches()[3].launch.depends_on(), ElementsAre(2));
}

TEST_F(CaptureTest, UnrecordedLaunchesRunAndAreListed) {
  CaptureSummary summary = Succeeds("__global__ void k(int* out) { out[threadIdx.x] += 5; }",
                                    R"(buffer { name: "out" type: I32 count: 2 }
launch { kernel: "k" block { x: 2 } argument { buffer: "out" } unrecorded: true }
launch { kernel: "k" block { x: 2 } argument { buffer: "out" } }
check { buffer: "out" expected { values { value: [10, 10] } } })");
  EXPECT_EQ(summary.threads, 2);
  ASSERT_EQ(reader_->launches().size(), 2);
  EXPECT_FALSE(reader_->launches()[0].launch.recorded());
  EXPECT_TRUE(reader_->launches()[1].launch.recorded());
}

TEST_F(CaptureTest, ConstantAndDeviceVariablesHoldWhatTheRecipeSets) {
  Succeeds(R"(
__constant__ int table[4];
__device__ int offset = 100;
__device__ int* where = &offset;
__global__ void k(int* out) { out[threadIdx.x] = table[threadIdx.x] + *where; })",
           IntRecipe(1, 4, {107, 108, 109, 110}, "symbol { name: \"table\" type: I32 fill { iota { start: 7 } } }"));
  std::vector<trace::v1::MemorySpace> spaces;
  const trace::Program& program = reader_->programs()[0];
  for (trace::Pc pc : program.accesses()) spaces.push_back(program.instruction(pc).space());
  EXPECT_THAT(spaces, ::testing::Contains(trace::v1::SPACE_CONSTANT));
  EXPECT_EQ(reader_->transfers().size(), 2) << "the buffer and the symbol";
}

TEST_F(CaptureTest, ScalarArgumentsOfEveryType) {
  Succeeds(R"(
__global__ void k(int* out, char a, short b, int c, unsigned d, long long e, unsigned long long f, float g, double h) {
  out[0] = a; out[1] = b; out[2] = c; out[3] = (int)(d >> 8); out[4] = (int)(e >> 32); out[5] = (int)(f >> 60);
  out[6] = (int)(g * 4); out[7] = (int)(h * 8);
})",
           IntRecipe(1, 1, {-5, -300, -70000, 16777215, -2, 15, 6, 20},
                     "argument { i8: -5 } argument { i16: -300 } argument { i32: -70000 } argument { u32: 4294967295 } "
                     "argument { i64: -8589934592 } argument { u64: 18446744073709551615 } argument { f32: 1.5 } "
                     "argument { f64: 2.5 }"));
}

TEST_F(CaptureTest, OpenClKernelWithLocalMemoryArgument) {
  CaptureSummary summary = Succeeds(R"(
__kernel void k(__global int* out, __local int* scratch) {
  int i = get_local_id(0);
  scratch[i] = get_global_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = scratch[get_local_size(0) - 1 - i];
})",
                                    IntRecipe(2, 4, {3, 2, 1, 0, 7, 6, 5, 4}, "argument { local_bytes: 16 }"), "cl");
  EXPECT_EQ(summary.threads, 8);
  EXPECT_EQ(reader_->launches()[0].launch.dynamic_shared_bytes(), 16);
}

TEST_F(CaptureTest, RegisterOverrideReachesTheProgram) {
  Succeeds("__global__ void k(int* out) { out[0] = 1; }", IntRecipe(1, 1, {1}) + "registers: 48");
  EXPECT_EQ(reader_->programs()[0].proto().register_count(), 48);
}

TEST_F(CaptureTest, ChecksCanBeProgramsOnTheHost) {
  const std::string check = R"(
#include <cstdint>
#include <cstdio>
struct heddle_buffer { const char* name; uint64_t count; const void* before; const void* after; };
extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  const int* before = static_cast<const int*>(buffers[0].before);
  const int* after = static_cast<const int*>(buffers[0].after);
  for (uint64_t i = 0; i < buffers[0].count; ++i) {
    if (after[i] == 2 * before[i]) continue;
    std::snprintf(message, size, "element %d of %s is wrong", (int)i, buffers[0].name);
    return 1;
  }
  return count == 1 ? 0 : 1;
})";
  Write("check.cc", check);
  const std::string recipe = R"(
buffer { name: "data" type: I32 count: 5 fill { iota { start: 1 } } }
launch { kernel: "k" block { x: 5 } argument { buffer: "data" } }
check { program: "check.cc" })";
  Succeeds("__global__ void k(int* data) { data[threadIdx.x] *= 2; }", recipe);
  std::filesystem::remove(options_.output);
  Fails("__global__ void k(int* data) { data[threadIdx.x] *= threadIdx.x == 3 ? 3 : 2; }", recipe,
        {"the output is wrong", "element 3 of data is wrong"});
}

TEST_F(CaptureTest, ACheckThatAcceptsADamagedOutputIsAnError) {
  const std::string kernel = "__global__ void k(int* data) { data[threadIdx.x] *= 2; }";
  const std::string launch = R"(
buffer { name: "data" type: I32 count: 2 fill { iota { start: 1 } } }
launch { kernel: "k" block { x: 2 } argument { buffer: "data" } })";
  options_.damage_outputs = true;
  Succeeds(kernel, launch + R"(check { buffer: "data" expected { values { value: [2, 4] } } })");
  std::filesystem::remove(options_.output);
  Write("blind.cc", R"(extern "C" int heddle_check(const void*, int, char*, int) { return 0; })");
  Fails(kernel, launch + R"(check { buffer: "data" program: "blind.cc" })", {"nobody notices that data is damaged"});
}

}  // namespace
}  // namespace heddle::tracegen
