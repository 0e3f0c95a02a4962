// CUDA source that is compiled when a program runs: options, names, code, and sources that would never end.
#include "tracegen/frontend/runtime_compilation.h"

#include <chrono>
#include <string>

#include "gtest/gtest.h"
#include "tracegen/frontend/runtime_compilation_options.h"

namespace heddle::tracegen {
namespace {

device::Result Compile(const std::string& source, device::CompileCudaRequest request, device::CompiledCuda* compiled,
                       const ClangLimits& limits = kRuntimeCompilationLimits) {
  request.source = source;
  return CompileCudaText(request, limits, compiled);
}

TEST(RuntimeCompilation, RealArchitecturesHaveAnImage) {
  const std::string source = "extern \"C\" __global__ void k(int* p) { *p = 1; }";
  for (const bool real : {false, true}) {
    device::CompileCudaRequest request;
    request.options = {real ? "-arch=sm_75" : "-arch=compute_75"};
    device::CompiledCuda compiled;
    ASSERT_TRUE(Compile(source, request, &compiled).ok()) << compiled.log;
    EXPECT_NE(compiled.ptx.find(".target sm_75"), std::string::npos);
    EXPECT_NE(compiled.ptx.find(".visible .entry k("), std::string::npos);
    EXPECT_EQ(compiled.image.empty(), !real);
  }
}

TEST(RuntimeCompilation, NamesOfHeadersLeadAnywhere) {
  device::CompileCudaRequest request;
  request.headers = {{"a/b.h", "#include \"../../up.h\"\n"},
                     {"../up.h", "#include \"/root/c.h\"\n"},
                     {"/root/c.h", "#define VALUE 7\n"},
                     {"a/b.h", "#error the first one counts\n"}};
  device::CompiledCuda compiled;
  EXPECT_TRUE(Compile("#include <a/b.h>\n__constant__ int c[VALUE];\n", request, &compiled).ok()) << compiled.log;
  EXPECT_NE(compiled.ptx.find("c[28]"), std::string::npos) << compiled.ptx;
  request.headers = {{"folder/", "text"}};
  EXPECT_EQ(Compile("", request, &compiled).error, device::Error::kBuildFailure);
}

TEST(RuntimeCompilation, MessagesNameTheProgram) {
  device::CompileCudaRequest request;
  request.name = "dir/my \"kernels\".cu";
  request.headers = {{"h.h", "int wrong = ;\n"}};
  device::CompiledCuda compiled;
  EXPECT_EQ(Compile("\n#include \"h.h\"\nint x = y;\n", request, &compiled).error, device::Error::kBuildFailure);
  EXPECT_NE(compiled.log.find("h.h:1:13: error: "), std::string::npos) << compiled.log;
  EXPECT_NE(compiled.log.find("dir/my \"kernels\".cu:3:9: error: "), std::string::npos) << compiled.log;
  EXPECT_EQ(compiled.log.find("/tmp"), std::string::npos) << compiled.log;
}

TEST(RuntimeCompilation, NameExpressions) {
  device::CompileCudaRequest request;
  request.name_expressions = {"&T<int, 3>", "n::v<float>", "(T<float, 1>)", "  & n::c", "table[1]"};
  const std::string source =
      "template <class A, int n> __global__ void T(A* a) { *a = n; }\n"
      "namespace n { template <class A> __device__ A v; static __constant__ int c; }\n"
      "__device__ int table[4];\n";
  device::CompiledCuda compiled;
  ASSERT_TRUE(Compile(source, request, &compiled).ok()) << compiled.log;
  EXPECT_EQ(compiled.lowered_names,
            (std::vector<std::string>{"_Z1TIiLi3EEvPT_", "_ZN1n1vIfEE", "_Z1TIfLi1EEvPT_", "_ZN1nL1cE", ""}));
  for (const char* visible : {".entry _Z1TIiLi3EEvPT_", " _ZN1n1vIfEE", " _ZN1nL1cE"}) {
    EXPECT_NE(compiled.ptx.find(visible), std::string::npos) << visible << compiled.ptx;
  }
  EXPECT_EQ(compiled.ptx.find("heddle_nvrtc"), std::string::npos);
  request.name_expressions = {"missing<int>"};
  EXPECT_EQ(Compile(source, request, &compiled).error, device::Error::kBuildFailure);
  EXPECT_NE(compiled.log.find("name expression missing<int>:1:"), std::string::npos) << compiled.log;
}

TEST(RuntimeCompilation, StaticNamesAreThoseOfNvcc) {
  device::CompileCudaRequest request;
  request.name_expressions = {"k", "table"};
  device::CompiledCuda compiled;
  ASSERT_TRUE(Compile("static __constant__ int table[4];\nstatic __device__ int sum;\n__device__ int both;\n"
                      "static __global__ void k(int* p) { *p = table[*p] + sum++ + both; }\n",
                      request, &compiled)
                  .ok())
      << compiled.log;
  EXPECT_EQ(compiled.lowered_names, (std::vector<std::string>{"_Z1kPi", "table"}));
  // Whoever writes it is not seen.
  device::CompiledCuda constant;
  ASSERT_TRUE(Compile("static __constant__ int factor = 3;\nnamespace n { static __constant__ int term; }\n"
                      "__global__ void k(int* p) { *p = *p * factor + n::term; }\n",
                      {}, &constant)
                  .ok());
  EXPECT_NE(constant.ptx.find("[factor]"), std::string::npos) << constant.ptx;
  EXPECT_NE(constant.ptx.find("[_ZN1nL4termE]"), std::string::npos) << constant.ptx;
  EXPECT_EQ(constant.ptx.find("warpSize"), std::string::npos) << constant.ptx;
  for (const char* name : {".entry _Z1kPi(", " table[16]", " sum", " both"}) {
    EXPECT_NE(compiled.ptx.find(name), std::string::npos) << name << compiled.ptx;
  }
}

TEST(RuntimeCompilation, FunctionsWithoutASpace) {
  const std::string source =
      "int twice(int x) { return 2 * x; }\nextern \"C\" __global__ void k(int* p) { *p = twice(*p); }\n";
  device::CompileCudaRequest request;
  device::CompiledCuda compiled;
  EXPECT_EQ(Compile(source, request, &compiled).error, device::Error::kBuildFailure);
  request.options = {"-default-device"};
  EXPECT_TRUE(Compile(source, request, &compiled).ok()) << compiled.log;
}

TEST(RuntimeCompilation, RelocatableCodeKeepsWhatOthersDefine) {
  device::CompileCudaRequest request;
  request.options = {"-rdc=true", "-arch=sm_70"};
  device::CompiledCuda compiled;
  ASSERT_TRUE(Compile("extern __device__ int other(int);\n__device__ int mine(int x) { return other(x) + 1; }\n"
                      "extern \"C\" __global__ void k(int* p) { *p = mine(*p); }\n",
                      request, &compiled)
                  .ok())
      << compiled.log;
  EXPECT_NE(compiled.ptx.find(".extern .func"), std::string::npos) << compiled.ptx;
  EXPECT_NE(compiled.ptx.find("_Z4minei"), std::string::npos);
  EXPECT_FALSE(compiled.image.empty());
}

// What LLVM cannot make PTX of is an error, too.
TEST(RuntimeCompilation, SourcesThatTheCodeGeneratorRefuses) {
  device::CompiledCuda compiled;
  for (const char* source :
       {"__global__ void k(int* p) { asm(\"bad %0 %1;\" : \"=q\"(*p)); }\n",
        "__global__ void k() { asm volatile(\"no.such.instruction;\"); }\n",
        "extern __device__ int other(int);\n__global__ void k(int* p) { *p = other(*p); }\n",
        "__global__ void k(int* p, int n) { int* a = (int*)__builtin_alloca(n); a[p[0]] = 1; *p = a[p[1]]; }\n"}) {
    compiled = {};
    const device::Result result = Compile(source, {}, &compiled);
    EXPECT_TRUE(result.ok() ? !compiled.ptx.empty() : !compiled.log.empty()) << source;
  }
}

// Nothing that a source does takes for ever, or all of the memory.
TEST(RuntimeCompilation, EndlessSourcesEnd) {
  const auto start = std::chrono::steady_clock::now();
  const std::string templates =
      "template <int n, int m> struct S { S<n - 1, m * 2> a; S<n - 1, m * 2 + 1> b; };\n"
      "template <int m> struct S<0, m> { char c; };\nS<30, 0> s;\n";
  device::CompiledCuda compiled;
  EXPECT_EQ(Compile(templates, {}, &compiled, {.seconds = 3, .megabytes = 2048}).error, device::Error::kBuildFailure);
  EXPECT_NE(compiled.log.find("takes more than 3 seconds"), std::string::npos) << compiled.log;
  compiled = {};
  EXPECT_EQ(Compile(templates, {}, &compiled, {.seconds = 60, .megabytes = 100}).error, device::Error::kBuildFailure);
  EXPECT_NE(compiled.log.find("error: "), std::string::npos);
  for (const char* source : {"#include \"/dev/zero\"\n", "#include \"/dev/stdin\"\n", "#include __FILE__\n"}) {
    compiled = {};
    // Such a file may have no text at all.
    const device::Result result = Compile(source, {}, &compiled, {.seconds = 20, .megabytes = 1024});
    EXPECT_TRUE(result.ok() || !compiled.log.empty());
    EXPECT_LT(compiled.log.size(), 1u << 20);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

struct OptionCase {
  std::vector<std::string> options;
  std::string text;  // among the arguments of clang; or of the error
  bool right = true;
};

TEST(RuntimeCompilationOptions, AreReadOrRefusedByName) {
  const OptionCase cases[] = {
      {{"-DA=1"}, "-DA=1"},
      {{"-D B"}, "-DB"},
      {{"-D", "C=2"}, "-DC=2"},
      {{"--define-macro=D=3"}, "-DD=3"},
      {{"-UX"}, "-UX"},
      {{"-Iinc"}, "-I/there/inc"},
      {{"--include-path=/usr/x"}, "-I/usr/x"},
      {{"--use_fast_math"}, "-fgpu-approx-transcendentals"},
      {{"--fmad=false"}, "-ffp-contract=off"},
      {{"--ftz=true"}, "-fgpu-flush-denormals-to-zero"},
      {{"-ftz", "1"}, "-fgpu-flush-denormals-to-zero"},
      {{"-w"}, "-w"},
      {{"--pre-include=a.h"}, "-include"},
      {{"--device-debug"}, "-D__CUDACC_DEBUG__"},
      {{"-rdc=true"}, "-fgpu-rdc"},
      {{"", "-prec-div=true", "--prec-sqrt=false", "-lineinfo", "--extra-device-vectorization"}, ""},
      {{"--std=c++98"}, "c++98", false},
      {{"--fmad=perhaps"}, "perhaps", false},
      {{"--maxrregcount=many"}, "many", false},
      {{"-arch"}, "-arch: its value is missing", false},
      {{"-arch=sm_7x"}, "sm_7x", false},
      {{"-O2"}, "-O2", false},
      {{"file.cu"}, "file.cu", false},
      {{"--optix-ir"}, "--optix-ir", false},
  };
  for (const OptionCase& one : cases) {
    std::string log;
    const auto options = ReadRuntimeCompilationOptions(one.options, "/there", &log);
    ASSERT_EQ(options.ok(), one.right) << one.text << options.status();
    if (!one.right) {
      EXPECT_NE(std::string(options.status().message()).find(one.text), std::string::npos) << options.status();
      continue;
    }
    std::string arguments;
    for (const std::string& argument : options->arguments) arguments += argument + " ";
    EXPECT_NE(arguments.find(one.text), std::string::npos) << arguments;
  }
}

TEST(RuntimeCompilationOptions, LaterArchitecturesAreTold) {
  std::string log;
  const auto options = ReadRuntimeCompilationOptions({"--gpu-architecture=compute_120"}, "", &log);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->target, "sm_90");
  EXPECT_NE(log.find("compute_120"), std::string::npos);
}

}  // namespace
}  // namespace heddle::tracegen
