// NVRTC: a program compiled when it runs, with headers given as text, name expressions of templates and variables, and
// the messages of a source that has errors.
// nvcc: -lnvrtc
#include <cuda.h>
#include <nvrtc.h>
#include <string.h>

#include <string>
#include <vector>

#include "check.h"

#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)
#define NVRTC(call) EXPECT((call) == NVRTC_SUCCESS)

const char kSource[] = R"(
#include "shapes/circle.h"
#include <cuda_fp16.h>
#include <tables.h>

namespace scale {
__constant__ float offset = 0.5f;
__device__ int calls;

template <typename T, int kTimes>
__global__ void Multiply(T* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int k = 0; k < kTimes; ++k) data[i] = data[i] * T(FACTOR) + T(offset);
  atomicAdd(&calls, 1);
}
}  // namespace scale

static __global__ void Areas(float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = Area(kRadii[i & 3]) + __half2float(__float2half(1.0f));
}

extern "C" __global__ void Plain(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, (int)threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
  if (threadIdx.x == 3) printf("thread %d of %d\n", threadIdx.x, blockDim.x);
}
)";
const char kCircle[] = "#include \"../constants.h\"\ninline __device__ float Area(float r) { return PI * r * r; }\n";
const char kConstants[] = "#define PI 3.0f\n";
const char kTables[] = "__device__ const float kRadii[4] = {1, 2, 3, 4};\n";

std::string Log(nvrtcProgram program) {
  size_t bytes = 0;
  if (nvrtcGetProgramLogSize(program, &bytes) != NVRTC_SUCCESS || bytes == 0) return "no log";
  std::vector<char> log(bytes);
  nvrtcGetProgramLog(program, log.data());
  return log.data();
}

// What compiling `source` says.
std::string Failure(const char* source, std::vector<const char*> options, nvrtcResult expected) {
  nvrtcProgram program;
  nvrtcCreateProgram(&program, source, "wrong.cu", 0, nullptr, nullptr);
  const nvrtcResult result = nvrtcCompileProgram(program, options.size(), options.data());
  const std::string log = Log(program);
  size_t bytes;
  const bool has_code = nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS;
  nvrtcDestroyProgram(&program);
  return result == expected && !has_code ? log : "not as expected: " + log;
}

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

int RunImage(const void* image, const char* multiply, const char* areas, const char* offset_name,
             const char* calls_name) {
  CUmodule module;
  DRIVER(cuModuleLoadData(&module, image));
  CUfunction function;
  DRIVER(cuModuleGetFunction(&function, module, multiply));
  int n = 40;
  std::vector<double> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = i;
  CUdeviceptr data;
  DRIVER(cuMemAlloc(&data, n * sizeof(double)));
  DRIVER(cuMemcpyHtoD(data, numbers.data(), n * sizeof(double)));
  CUdeviceptr offset, calls;
  size_t bytes;
  DRIVER(cuModuleGetGlobal(&offset, &bytes, module, offset_name));
  EXPECT(bytes == sizeof(float));
  const float new_offset = 2;
  DRIVER(cuMemcpyHtoD(offset, &new_offset, sizeof(float)));
  void* arguments[] = {&data, &n};
  DRIVER(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  DRIVER(cuMemcpyDtoH(numbers.data(), data, n * sizeof(double)));
  for (int i = 0; i < n; ++i) EXPECT(numbers[i] == (i * 3.0 + 2) * 3 + 2);
  int count = 0;
  DRIVER(cuModuleGetGlobal(&calls, &bytes, module, calls_name));
  DRIVER(cuMemcpyDtoH(&count, calls, sizeof(count)));
  EXPECT(count == n);
  int four = 4;
  float out[4];
  void* area_arguments[] = {&data, &four};
  DRIVER(cuModuleGetFunction(&function, module, areas));
  DRIVER(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, area_arguments, nullptr));
  DRIVER(cuMemcpyDtoH(out, data, sizeof(out)));
  for (int i = 0; i < 4; ++i) EXPECT(out[i] == 3 * (i + 1) * (i + 1) + 1);
  DRIVER(cuModuleGetFunction(&function, module, "Plain"));
  DRIVER(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, &arguments[0], nullptr));
  DRIVER(cuCtxSynchronize());
  DRIVER(cuMemcpyDtoH(&count, data, sizeof(count)));
  EXPECT(count == 63 * 32);
  DRIVER(cuMemFree(data));
  DRIVER(cuModuleUnload(module));
  return 0;
}

// Two programs, the first of which calls a function of the second, linked from their texts or their images.
int LinkAndRun(bool texts) {
  const char* sources[] = {
      "__device__ int Twice(int x);\nextern \"C\" __global__ void Call(int* p) { *p = Twice(*p) + 1; }\n",
      "__device__ int Twice(int x) { return 2 * x; }\n"};
  CUlinkState state;
  DRIVER(cuLinkCreate(0, nullptr, nullptr, &state));
  std::vector<char> codes[2];
  for (int i = 0; i < 2; ++i) {
    nvrtcProgram program;
    NVRTC(nvrtcCreateProgram(&program, sources[i], i == 0 ? "caller.cu" : "callee.cu", 0, nullptr, nullptr));
    const char* options[] = {"-arch=sm_70", "--relocatable-device-code=true"};
    NVRTC(nvrtcCompileProgram(program, 2, options));
    size_t bytes = 0;
    NVRTC(texts ? nvrtcGetPTXSize(program, &bytes) : nvrtcGetCUBINSize(program, &bytes));
    codes[i].resize(bytes);
    NVRTC(texts ? nvrtcGetPTX(program, codes[i].data()) : nvrtcGetCUBIN(program, codes[i].data()));
    DRIVER(cuLinkAddData(state, texts ? CU_JIT_INPUT_PTX : CU_JIT_INPUT_CUBIN, codes[i].data(), bytes, "part", 0,
                         nullptr, nullptr));
    NVRTC(nvrtcDestroyProgram(&program));
  }
  void* image = nullptr;
  DRIVER(cuLinkComplete(state, &image, nullptr));
  CUmodule module;
  DRIVER(cuModuleLoadData(&module, image));
  DRIVER(cuLinkDestroy(state));
  CUfunction call;
  DRIVER(cuModuleGetFunction(&call, module, "Call"));
  CUdeviceptr number;
  DRIVER(cuMemAlloc(&number, sizeof(int)));
  DRIVER(cuMemsetD32(number, 20, 1));
  void* arguments[] = {&number};
  DRIVER(cuLaunchKernel(call, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  int result = 0;
  DRIVER(cuMemcpyDtoH(&result, number, sizeof(int)));
  EXPECT(result == 41);
  DRIVER(cuMemFree(number));
  return 0;
}

int main() {
  int major = 0, minor = 0, count = 0;
  NVRTC(nvrtcVersion(&major, &minor));
  EXPECT(major * 1000 + minor * 10 == CUDART_VERSION);
  NVRTC(nvrtcGetNumSupportedArchs(&count));
  std::vector<int> architectures(count);
  NVRTC(nvrtcGetSupportedArchs(architectures.data()));
  EXPECT(count > 5 && architectures.front() < 70 && architectures.back() >= 90);
  EXPECT(strcmp(nvrtcGetErrorString(NVRTC_ERROR_COMPILATION), "NVRTC_ERROR_COMPILATION") == 0);

  const char* headers[] = {kCircle, kConstants, kTables};
  const char* names[] = {"shapes/circle.h", "constants.h", "tables.h"};
  nvrtcProgram program;
  NVRTC(nvrtcCreateProgram(&program, kSource, "kernels.cu", 3, headers, names));
  for (const char* expression :
       {"&scale::Multiply<double, 2>", "scale::Multiply<float, 1>", "Areas", "&scale::offset", "scale::calls"}) {
    NVRTC(nvrtcAddNameExpression(program, expression));
  }
  const char* name;
  EXPECT(nvrtcGetLoweredName(program, "Areas", &name) == NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
  size_t bytes;
  EXPECT(nvrtcGetPTXSize(program, &bytes) == NVRTC_ERROR_INVALID_PROGRAM);
  const char* options[] = {"--gpu-architecture=sm_70", "-DFACTOR=3", "--std=c++14", "-lineinfo"};
  if (nvrtcCompileProgram(program, 4, options) != NVRTC_SUCCESS) {
    printf("%s\n", Log(program).c_str());
    return 1;
  }
  EXPECT(nvrtcAddNameExpression(program, "Plain") == NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
  EXPECT(nvrtcGetLoweredName(program, "scale::Multiply<int, 1>", &name) == NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
  const char *multiply, *areas, *offset, *calls;
  NVRTC(nvrtcGetLoweredName(program, "&scale::Multiply<double, 2>", &multiply));
  NVRTC(nvrtcGetLoweredName(program, "Areas", &areas));
  NVRTC(nvrtcGetLoweredName(program, "&scale::offset", &offset));
  NVRTC(nvrtcGetLoweredName(program, "scale::calls", &calls));
  EXPECT(strcmp(multiply, "_ZN5scale8MultiplyIdLi2EEEvPT_i") == 0);
  EXPECT(nvrtcGetLTOIRSize(program, &bytes) == NVRTC_ERROR_INVALID_INPUT);
  DRIVER(cuInit(0));
  CUcontext context;
  DRIVER(cuCtxCreate(&context, 0, 0));

  NVRTC(nvrtcGetCUBINSize(program, &bytes));
  std::vector<char> cubin(bytes);
  NVRTC(nvrtcGetCUBIN(program, cubin.data()));
  EXPECT(bytes > 0 && RunImage(cubin.data(), multiply, areas, offset, calls) == 0);
  NVRTC(nvrtcGetPTXSize(program, &bytes));
  std::vector<char> ptx(bytes);
  NVRTC(nvrtcGetPTX(program, ptx.data()));
  EXPECT(strlen(ptx.data()) + 1 == bytes && strstr(ptx.data(), ".visible .entry Plain(") != nullptr);
  EXPECT(strstr(ptx.data(), ".file 1 \"kernels.cu\"") != nullptr || strstr(ptx.data(), "kernels.cu") != nullptr);
  EXPECT(RunImage(ptx.data(), multiply, areas, offset, calls) == 0);
  NVRTC(nvrtcDestroyProgram(&program));
  EXPECT(nvrtcDestroyProgram(&program) == NVRTC_ERROR_INVALID_PROGRAM);

  LinkAndRun(false);
  LinkAndRun(true);

  std::string log = Failure("__global__ void f(int* p) {\n  *p = undeclared;\n}\n", {}, NVRTC_ERROR_COMPILATION);
  EXPECT(Has(log, "wrong.cu:2:") && Has(log, "undeclared"));
  EXPECT(Has(Failure("#include <vector>\n", {}, NVRTC_ERROR_COMPILATION), "'vector' file not found"));
  EXPECT(Has(Failure("", {"-arch=compute_70", "--no-such-option"}, NVRTC_ERROR_INVALID_OPTION), "--no-such-option"));
  EXPECT(Has(Failure("", {"-arch=compute_1"}, NVRTC_ERROR_INVALID_OPTION), "compute_1"));
  EXPECT(Has(Failure("", {"-dlto"}, NVRTC_ERROR_INVALID_OPTION), "-dlto"));
  EXPECT(Has(Failure("template <int n> struct S { S<n + 1> s; };\nS<0> s;\n", {}, NVRTC_ERROR_COMPILATION), "depth"));
  printf("compiled, loaded and run\n");
  return 0;
}
