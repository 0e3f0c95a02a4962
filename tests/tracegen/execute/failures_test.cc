// Kernels that go wrong while they run: one line that says what, where, and nothing under the final name.
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

class FailureTest : public CaptureTest {
 protected:
  FailureTest() { options_.compare_with_native = false; }
};

TEST_F(FailureTest, FailedAssertionNamesExpressionPlaceAndThread) {
  Fails(R"(
__global__ void k(int* out) {
  assert(threadIdx.x < 3);
  out[threadIdx.x] = 1;
})",
        IntRecipe(2, 8, {0}), {"assertion `threadIdx.x < 3` failed at kernel.cu:3", "block (0,0,0)", "thread (3,0,0)"});
}

TEST_F(FailureTest, TrapNamesItsLine) {
  Fails(R"(
__global__ void k(int* out) {
  if (threadIdx.x == 5)
    __builtin_trap();
  out[0] = 1;
})",
        IntRecipe(1, 8, {0}), {"trap", "thread (5,0,0)", "kernel.cu:4"});
}

TEST_F(FailureTest, AccessToNothingNamesAddressAndLine) {
  Fails(R"(
__global__ void k(int* out, long long far) {
  out[0] = 1;
  if (threadIdx.x == 2)
    out[far] = 7;
})",
        IntRecipe(1, 4, {0}, "argument { i64: 10000000000 }"),
        {"access to address 0x20", "thread (2,0,0)", "kernel.cu:5"});
}

// Of several accesses between two branches, the one that fails; also behind a barrier, where other threads have run.
TEST_F(FailureTest, AccessAmongOthersNamesItsLine) {
  Fails(R"(
__global__ void k(int* out, long long far) {
  out[0] = 1;
  out[1] = 2;
  out[far] = 7;
  out[2] = 3;
})",
        IntRecipe(1, 4, {0, 0, 0}, "argument { i64: 10000000000 }"),
        {"access to address 0x20", "thread (0,0,0)", "at kernel.cu:5"});
  Fails(R"(
__global__ void k(int* out, long long far) {
  out[0] = 1;
  __syncthreads();
  out[1] = 2;
  out[threadIdx.x == 2 ? far : 2] = 7;
})",
        IntRecipe(1, 4, {0, 0, 0}, "argument { i64: 10000000000 }"),
        {"access to address 0x20", "thread (2,0,0)", "at kernel.cu:6"});
}

// An index that is wrong at the edges: in front of the first allocation, and far behind the last one.
constexpr char kReadOutside[] = R"(
__global__ void k(int* out, int before, int behind) {
  int t = threadIdx.x;
  out[t] = 5 + (t == 1 ? out[before] : 0) +
           (t == 2 ? out[behind] : 0);
})";

TEST_F(FailureTest, AReadOutsideSaysHowToLetItPass) {
  Fails(kReadOutside, IntRecipe(1, 4, {5, 5, 5, 5}, "argument { i32: -2048 } argument { i32: 0 }"),
        {"access to address 0x1fff", "thread (1,0,0)", "at kernel.cu:4", "--allow-bounds lets reads pass"});
}

TEST_F(FailureTest, ReadsOutsideAreZeroAndMarkedIfTheyAreAllowed) {
  options_.allow_bounds = true;
  options_.certify = 1;  // the same goes for other orders
  expected_warning_ = "allocation";
  Succeeds(kReadOutside, IntRecipe(2, 4, {5, 5, 5, 5}, "argument { i32: -2048 } argument { i32: 100000000 }"));
  EXPECT_EQ(reader_->header().provenance().at("bounds"), "reads allowed");
  ASSERT_EQ(reader_->certificates().size(), 1);
  const trace::v1::Certificate& certificate = reader_->certificates()[0];
  EXPECT_EQ(certificate.failure(), "");
  ASSERT_EQ(certificate.outside_read_size(), 2);
  std::vector<uint64_t> addresses;
  for (const trace::v1::OutsideRead& read : certificate.outside_read()) {
    EXPECT_EQ(read.count(), 2) << "once per block";
    addresses.push_back(read.address());
    const uint32_t line = reader_->programs()[0].instruction(read.instruction()).source_line();
    EXPECT_EQ(line, read.address() < 0x200000000200 ? 4 : 5);
  }
  EXPECT_THAT(addresses, ::testing::UnorderedElementsAre(0x200000000200 - 4 * 2048, 0x200000000200 + 400000000));
}

TEST_F(FailureTest, ReadsThatReachAnotherAllocationGetWhatLiesThere) {
  options_.allow_bounds = true;
  Succeeds(R"(
__global__ void k(int* out, const int* other) {
  out[0] = out[other - out + 1];
})",
           IntRecipe(1, 1, {9}, "argument { buffer: \"other\" }",
                     "buffer { name: \"other\" type: I32 count: 2 fill { values { value: [8, 9] } } }\n"));
  EXPECT_TRUE(reader_->certificates().empty()) << "nothing lies outside all allocations";
}

TEST_F(FailureTest, StoresOutsideAndReadsOfNothingKnownFailAllTheSame) {
  options_.allow_bounds = true;
  Fails(R"(
__global__ void k(int* out, int before) {
  out[0] = out[before];
  out[before] = 1;
})",
        IntRecipe(1, 1, {0}, "argument { i32: -2048 }"), {"access to address 0x1fff", "at kernel.cu:4"});
  Fails("__global__ void k(int* out, int* p) { out[0] = *p; }", IntRecipe(1, 1, {0}, "argument { u64: 0 }"),
        {"access to address 0x0", "kernel.cu:1"});
}

TEST_F(FailureTest, NullPointer) {
  Fails("__global__ void k(int* out, int* p) { out[0] = *p; }", IntRecipe(1, 1, {0}, "argument { u64: 0 }"),
        {"access to address 0x0", "kernel.cu:1"});
}

// The compiler may take such an access for one that is never reached, and remove it with all that is left to do.
TEST_F(FailureTest, NullPointerThatTheCompilerSees) {
  Fails(R"(
__global__ void k(int* out) {
  if (threadIdx.x == 3)
    *(int*)0 = 1;
  out[0] = 2;
})",
        IntRecipe(1, 4, {0}), {"access to address 0x0", "thread (3,0,0)", "kernel.cu:4"});
  Fails(R"(
__device__ int* Find(int i) { return i < 5 ? nullptr : (int*)0; }
__global__ void k(int* out) {
  out[0] = *Find(threadIdx.x);
})",
        IntRecipe(1, 4, {0}), {"access to address 0x0", "thread (0,0,0)", "kernel.cu:4"});
  Fails("kernel void k(global int* out) { *(global int*)0 = 1; out[0] = 2; }", IntRecipe(1, 1, {0}),
        {"access to address 0x0", "kernel.cl:1"}, "cl");
}

TEST_F(FailureTest, EndlessRecursionIsAStackOverflow) {
  Fails(R"(
__device__ __attribute__((noinline)) int down(int* p, int n) {
  if (p[0] == -1) return n;
  int below = down(p, n + 1);
  p[0] = below;
  return 3 * below + n;
}
__global__ void k(int* out) { out[0] = down(out, 1); })",
        IntRecipe(1, 1, {0}), {"stack overflow", "thread (0,0,0)", "near kernel.cu:"});
}

TEST_F(FailureTest, EndlessLoopReachesTheLimit) {
  options_.max_instructions = 3'000'000;
  Fails(R"(
__global__ void k(volatile int* out) {
  while (out[0] >= 0) out[0] = (out[0] + 1) & 0xffff;
})",
        IntRecipe(1, 1, {0}),
        {"limit of 3000000 thread-instructions", "--max-instructions", "thread (0,0,0)", "kernel.cu:"});
}

// A loop that nothing can end is not waited for.
TEST_F(FailureTest, SpinThatNobodyEnds) {
  Fails(R"(
__global__ void k(volatile int* out) {
  while (out[0] == 0) {
  }
})",
        IntRecipe(1, 1, {0}),
        {"waits in a loop at kernel.cu:3", "that nobody makes", "thread (0,0,0)", "the host waits for the kernel"});
}

TEST_F(FailureTest, BarrierThatCannotCompleteNamesTheThreads) {
  Fails(R"(
__global__ void k(int* out) {
  if (threadIdx.x < 10)
    __nvvm_bar_sync(1);
  else
    __nvvm_bar_sync(2);
  out[0] = 1;
})",
        IntRecipe(1, 32, {0}),
        {"threads wait for others that never come", "thread (0,0,0) and 9 more at barrier 1 at kernel.cu:4",
         "thread (10,0,0) and 21 more at barrier 2 at kernel.cu:6"});
}

TEST_F(FailureTest, WarpOperationsThatDoNotMatch) {
  Fails(R"(
__global__ void k(int* out) {
  if (threadIdx.x < 16) out[0] = __nvvm_vote_ballot_sync(0xffffffff, 1);
  else out[1] = __nvvm_shfl_sync_down_i32(0xffffffff, 1, 1, 31);
})",
        IntRecipe(1, 32, {0, 0}),
        {"vote (mask 0xffffffff) at kernel.cu:3", "shuffle (mask 0xffffffff) at kernel.cu:4"});
}

TEST_F(FailureTest, MaskWithoutTheCaller) {
  Fails("__global__ void k(int* out) { out[0] = __nvvm_vote_ballot_sync(0x1, 1); }", IntRecipe(1, 2, {0}),
        {"without the calling lane 1", "thread (1,0,0)"});
}

TEST_F(FailureTest, MisalignedAccessNamesSizeAddressThreadAndLine) {
  Fails(R"(
__global__ void k(char* out) {
  if (threadIdx.x > 2)
    *(int*)(out + 1 + threadIdx.x * 4) = 5;
})",
        IntRecipe(2, 8, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
        {"kernel 'k(char*)'", "block (0,0,0)", "thread (3,0,0)", "access of 4 bytes to address 0x20000000020d",
         "no multiple of 4", "kernel.cu:4"});
}

TEST_F(FailureTest, MisalignedAccessBetweenOthersOfItsBlockAndBehindABarrier) {
  Fails(R"(
__global__ void k(char* out) {
  __shared__ double cell[9];
  int t = threadIdx.x;
  cell[t] = t;
  __syncthreads();
  double other =
      *(double*)((char*)cell + 4 * t);
  ((int*)out)[t] = other;
})",
        IntRecipe(1, 8, {0, 0, 0, 0, 0, 0, 0, 0}),
        {"thread (7,0,0)", "access of 8 bytes to address 0x21000000001c", "kernel.cu:8"});
}

TEST_F(FailureTest, MisalignedVectorAccess) {
  Fails(R"(
typedef float Four __attribute__((ext_vector_type(4)));
__global__ void k(char* out) {
  Four* p = (Four*)(out + 8);
  Four v = *p;
  v.x += 1;
  p[1] = v;
})",
        IntRecipe(1, 1, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), {"access of 16 bytes", "no multiple of 16", "kernel.cu:5"});
}

// A copy of a whole structure, as its type promises it.
TEST_F(FailureTest, MisalignedStructure) {
  Fails(R"(
struct __align__(8) Pair { int x, y; };
__global__ void k(char* out) {
  Pair* p = (Pair*)(out + 4);
  p[1] = p[0];
})",
        IntRecipe(1, 1, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), {"access of 8 bytes", "no multiple of 8", "kernel.cu:5"});
}

TEST_F(FailureTest, MisalignedAccessStopsANativeRunToo) {
  options_.compare_with_native = true;
  Fails(
      "typedef float Four __attribute__((ext_vector_type(4)));\n"
      "__global__ void k(char* out) { ((Four*)(out + 8))[1] = ((Four*)(out + 8))[0]; }",
      IntRecipe(1, 1, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), {"access of 16 bytes"});
}

TEST_F(FailureTest, PackedDataIsAccessedByByteAsOnADevice) {
  Succeeds(R"(
struct __attribute__((packed)) Odd { char tag; int value; };
__global__ void k(int* out) {
  Odd* odd = (Odd*)out;
  odd->value = 0x01020304;
})",
           IntRecipe(1, 1, {0x02030400, 1}));
}

TEST_F(FailureTest, AccessALittleOutsideIsAWarningWithItsPlaceOncePerKernel) {
  expected_warning_ = "allocation";  // the check of the trace finds it, too
  const CaptureSummary summary = Succeeds(R"(
__global__ void k(int* out) {
  int t = threadIdx.x;
  out[t] = t +
           (t > 1 ? out[t + 4] : 0);
})",
                                          IntRecipe(2, 4, {0, 1, 2, 3}));
  ASSERT_EQ(summary.warnings.size(), 1);
  EXPECT_THAT(summary.warnings[0], ::testing::HasSubstr("kernel 'k(int*)', block (0,0,0), thread (2,0,0)"));
  EXPECT_THAT(summary.warnings[0], ::testing::HasSubstr("access to address 0x200000000218 at kernel.cu:5"));
  EXPECT_THAT(summary.warnings[0], ::testing::HasSubstr("8 bytes behind the end of 'out' (16 bytes)"));
}

TEST_F(FailureTest, AccessALittleOutsideInABlockThatIsCutInTime) {
  expected_warning_ = "allocation";
  options_.part_accesses = 500;
  const CaptureSummary summary = Succeeds(R"(
__global__ void k(volatile int* out, int rounds) {
  for (int i = 0; i < rounds; ++i) out[threadIdx.x] = i;
  __syncthreads();
  if (out[threadIdx.x + 2] != 0) return;
  out[threadIdx.x] = 1;
})",
                                          IntRecipe(1, 2, {1, 1}, "argument { i32: 2000 }"));
  EXPECT_GT(reader_->launches()[0].chunks.size(), 4);
  ASSERT_EQ(summary.warnings.size(), 1);
  EXPECT_THAT(summary.warnings[0],
              ::testing::HasSubstr("block (0,0,0), thread (0,0,0): access to address 0x20000000020"));
  EXPECT_THAT(summary.warnings[0], ::testing::HasSubstr("0 bytes behind the end of 'out' (8 bytes)"));
}

TEST_F(FailureTest, AccessBehindTheSharedMemoryOfTheBlockIsAWarningWithItsPlaceOncePerKernel) {
  const std::string kernel = R"(
__global__ void k(int* out) {
  volatile __shared__ int tile[64];
  extern __shared__ int more[];
  tile[threadIdx.x * 100 % 128] = threadIdx.x;
  more[threadIdx.x & 1] = 1;
  out[threadIdx.x] = threadIdx.x;
})";
  const CaptureSummary outside = Succeeds(kernel, IntRecipe(2, 2, {0, 1}, "dynamic_shared_bytes: 8"));
  ASSERT_EQ(outside.warnings.size(), 1);
  EXPECT_THAT(outside.warnings[0],
              ::testing::HasSubstr(
                  "kernel 'k(int*)', block (0,0,0), thread (1,0,0): access to address 0x210000000190 at kernel.cu:5, "
                  "136 bytes behind the end of the block's shared memory (264 bytes)"));
  // As much dynamic shared memory as is used.
  EXPECT_THAT(Succeeds(kernel, IntRecipe(2, 2, {0, 1}, "dynamic_shared_bytes: 256")).warnings, ::testing::IsEmpty());
}

TEST_F(FailureTest, WrongOutputNamesTheElement) {
  Fails("__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x; }", IntRecipe(1, 3, {0, 1, 5}),
        {"the output is wrong: out[2] is 2, expected 5"});
}

TEST_F(FailureTest, KernelsAndTargetsThatAreNotThereAreNamedWithTheirPlaceInTheRecipe) {
  const std::string kernel = "__global__ void mine(int* out) { out[0] = 1; }";
  const std::string buffer = "buffer { name: \"out\" type: I32 count: 1 }\n";
  Fails(kernel, buffer + "launch {\n  kernel: \"mien\" argument { buffer: \"out\" }\n}",
        {"recipe.textproto:4: there is no kernel 'mien'; the file has: mine"});
  const std::string launch = "launch { kernel: \"mine\" argument { buffer: \"out\" } }\n";
  for (const char* target : {"banana", "sm_20", "sm_71", "sm_100", "70"}) {
    Fails(kernel, absl::StrCat(buffer, launch, "target: \"", target, "\"\n"),
          {absl::StrCat("recipe.textproto:4: target '", target, "' is not one of sm_30, "), ", sm_70, ", ", sm_90"});
  }
  for (const char* target : {"sm_30", "sm_90"})
    Succeeds(kernel, absl::StrCat(buffer, launch, "target: \"", target, "\"\n"));
}

TEST_F(FailureTest, FullDiskLeavesNothing) {
  // Random addresses make a trace that is larger than everything the compiler writes.
  const std::string source =
      "__global__ void k(int* out, const int* in) { out[in[blockIdx.x * blockDim.x + threadIdx.x]] = 1; }";
  const std::string recipe = R"(
buffer { name: "out" type: I32 count: 1000000 }
buffer { name: "in" type: I32 count: 262144 fill { uniform { seed: 1 low: 0 high: 999999 } } }
launch { kernel: "k" grid { x: 1024 } block { x: 256 } argument { buffer: "out" } argument { buffer: "in" } })";
  absl::StatusOr<CaptureSummary> whole = Capture(source, recipe);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_GT(whole->bytes, 400'000);
  std::filesystem::remove(options_.output);
  const pid_t child = fork();
  if (child == 0) {
    // A limit on file sizes fails writes in the middle, as a full disk does.
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {.rlim_cur = 300'000, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    absl::StatusOr<CaptureSummary> summary = CaptureRecipe(Path("recipe.textproto"), options_);
    bool names_file = std::string(summary.status().message()).find("out.htrace") != std::string::npos;
    _exit(summary.ok() ? 0 : names_file ? 1 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  ExpectNothingWritten();
}

TEST_F(FailureTest, ACaptureAfterAFailureIsNotAffected) {
  Fails("__global__ void k(int* out, int* p) { out[0] = *p; }", IntRecipe(1, 1, {0}, "argument { u64: 0 }"), {"0x0"});
  Succeeds("__global__ void k(int* out) { out[0] = 1; }", IntRecipe(1, 1, {1}));
}

}  // namespace
}  // namespace heddle::tracegen
