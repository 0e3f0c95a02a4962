// PTX text that the program loads while it runs: control flow, shared memory, variables with initial values, a call, a
// switch, what the text asks of a launch, what the driver tells of it, and texts that are wrong.
#include <cuda.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)

static const char kText[] = R"(
// A comment before everything.
.version 7.0
.target sm_75
.address_size 64

.visible .global .align 4 .u32 scale = 3;
.visible .const .align 4 .u32 table[4] = {10, 20, 30, 40};
.global .align 8 .u64 places[2] = {generic(scale), table+4};
.extern .shared .align 16 .b8 dynamic[];

.func (.param .b32 result) twice_plus(.param .b32 x, .param .b32 y)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r0, [x];
  ld.param.u32 %r1, [y];
  mad.lo.u32 %r2, %r0, 2, %r1;
  st.param.b32 [result], %r2;
  ret;
}

// out[i] = sum of shared neighbours, by a loop; then by the thread's number one of four ways.
.visible .entry work(.param .u64 out, .param .u32 count)
.maxntid 64, 1, 1
{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b32 line[64];
  ld.param.u64 %rd0, [out];
  ld.param.u32 %r0, [count];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, line;
  mad.lo.u32 %r2, %r1, 4, %r2;
  st.shared.u32 [%r2], %r1;
  bar.sync 0;
  mov.u32 %r3, 0;
  mov.u32 %r4, 0;
$again:
  setp.ge.u32 %p0, %r4, %r0;
  @%p0 bra $done;
  add.u32 %r5, %r1, %r4;
  and.b32 %r5, %r5, 63;
  mov.u32 %r6, line;
  mad.lo.u32 %r6, %r5, 4, %r6;
  ld.shared.u32 %r7, [%r6];
  add.u32 %r3, %r3, %r7;
  add.u32 %r4, %r4, 1;
  bra.uni $again;
$done:
  and.b32 %r8, %r1, 3;
$ways: .branchtargets $zero, $one, $two, $three;
  brx.idx %r8, $ways;
$zero:
  ld.global.u32 %r9, [scale];
  mul.lo.u32 %r3, %r3, %r9;
  bra $store;
$one:
  ld.const.u32 %r9, [table+8];
  add.u32 %r3, %r3, %r9;
  bra $store;
$two:
  {
    .param .b32 a;
    .param .b32 b;
    .param .b32 c;
    st.param.b32 [a], %r3;
    st.param.b32 [b], %r1;
    call.uni (c), twice_plus, (a, b);
    ld.param.b32 %r3, [c];
  }
  bra $store;
$three:
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra $store;
  ld.global.u64 %rd1, [places];
  ld.u32 %r9, [%rd1];
  sub.u32 %r3, %r3, %r9;
$store:
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd0, %rd2;
  setp.ne.u32 %p2, %r1, 7;
  @%p2 st.global.u32 [%rd2], %r3;
  ret;
}

.visible .entry backwards(.param .u64 .ptr .global .align 4 data)
.reqntid 32
.minnctapersm 4
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  .local .align 4 .b8 spare[16];
  ld.param.u64 %rd0, [data];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %rd0, %rd1;
  ld.global.u32 %r1, [%rd1];
  mov.u32 %r2, dynamic;
  mad.lo.u32 %r3, %r0, 4, %r2;
  st.shared.u32 [%r3], %r1;
  bar.sync 0;
  sub.u32 %r4, 31, %r0;
  mad.lo.u32 %r3, %r4, 4, %r2;
  ld.shared.u32 %r1, [%r3];
  st.local.u32 [spare+4], %r1;
  ld.local.u32 %r1, [spare+4];
  st.global.u32 [%rd1], %r1;
  ret;
}

// What cannot be executed does no harm before it is launched.
.visible .entry tensor()
{
  wgmma.fence.sync.aligned;
  ret;
}
)";

static unsigned int Expected(unsigned int thread, unsigned int count) {
  unsigned int sum = 0;
  for (unsigned int i = 0; i < count; ++i) sum += (thread + i) & 63;
  switch (thread & 3) {
    case 0:
      return sum * 5;
    case 1:
      return sum + 30;
    case 2:
      return sum * 2 + thread;
    default:
      return thread < 32 ? sum : sum - 5;
  }
}

static int AttributeOf(CUfunction function, CUfunction_attribute attribute) {
  int value = -1;
  DRIVER(cuFuncGetAttribute(&value, attribute, function));
  return value;
}

static void RunKernels() {
  CUmodule module;
  DRIVER(cuModuleLoadData(&module, kText));
  CUfunction work, backwards, tensor, listed[3];
  DRIVER(cuModuleGetFunction(&work, module, "work"));
  DRIVER(cuModuleGetFunction(&backwards, module, "backwards"));
  DRIVER(cuModuleGetFunction(&tensor, module, "tensor"));
  EXPECT(cuModuleGetFunction(&work, module, "twice_plus") == CUDA_ERROR_NOT_FOUND);
  unsigned int functions = 0;
  const char* name = "";
  DRIVER(cuModuleGetFunctionCount(&functions, module));
  DRIVER(cuModuleEnumerateFunctions(listed, 3, module));
  DRIVER(cuFuncGetName(&name, listed[1]));
  EXPECT(functions == 3 && listed[0] == work && listed[1] == backwards && strcmp(name, "backwards") == 0);
  size_t offset = 0, bytes = 0;
  DRIVER(cuFuncGetParamInfo(work, 1, &offset, &bytes));
  EXPECT(offset == 8 && bytes == 4);
  EXPECT(cuFuncGetParamInfo(work, 2, &offset, &bytes) == CUDA_ERROR_INVALID_VALUE);

  CUdeviceptr scale, table, out;
  DRIVER(cuModuleGetGlobal(&scale, &bytes, module, "scale"));
  unsigned int number = 0;
  DRIVER(cuMemcpyDtoH(&number, scale, 4));
  EXPECT(bytes == 4 && number == 3);
  DRIVER(cuMemsetD32(scale, 5, 1));
  DRIVER(cuModuleGetGlobal(&table, &bytes, module, "table"));
  EXPECT(bytes == 16);
  EXPECT(cuModuleGetGlobal(&table, &bytes, module, "no_such") == CUDA_ERROR_NOT_FOUND);

  unsigned int host[64];
  unsigned int count = 5;
  DRIVER(cuMemAlloc(&out, sizeof(host)));
  DRIVER(cuMemsetD32(out, 77, 64));
  void* arguments[] = {&out, &count};
  EXPECT(cuLaunchKernel(work, 1, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL) == 9);  // beyond .maxntid
  DRIVER(cuLaunchKernel(work, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuMemcpyDtoH(host, out, sizeof(host)));
  for (unsigned int i = 0; i < 64; ++i) EXPECT(host[i] == (i == 7 ? 77 : Expected(i, count)));

  EXPECT(cuLaunchKernel(backwards, 1, 1, 1, 64, 1, 1, 256, NULL, arguments, NULL) == 9);  // not .reqntid
  DRIVER(cuLaunchKernel(backwards, 1, 1, 1, 32, 1, 1, 128, NULL, arguments, NULL));
  unsigned int turned[64];
  DRIVER(cuMemcpyDtoH(turned, out, sizeof(turned)));
  for (int i = 0; i < 64; ++i) EXPECT(turned[i] == host[i < 32 ? 31 - i : i]);

  EXPECT(AttributeOf(work, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 64);
  EXPECT(AttributeOf(work, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) == 256);
  EXPECT(AttributeOf(work, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES) == 16);
  EXPECT(AttributeOf(work, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) == 0);
  EXPECT(AttributeOf(work, CU_FUNC_ATTRIBUTE_PTX_VERSION) == 75);
  EXPECT(AttributeOf(work, CU_FUNC_ATTRIBUTE_BINARY_VERSION) == 75);
  EXPECT(AttributeOf(backwards, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 32);
  EXPECT(AttributeOf(backwards, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) == 0);
  EXPECT(AttributeOf(backwards, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES) == 0);
  EXPECT(AttributeOf(backwards, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) == 16);
  const int registers = AttributeOf(work, CU_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT(registers > 4 && registers < 32);
  EXPECT(cuLaunchKernel(tensor, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == CUDA_ERROR_NOT_SUPPORTED);
  DRIVER(cuModuleUnload(module));
  EXPECT(cuLaunchKernel(work, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL) == CUDA_ERROR_INVALID_HANDLE);
  DRIVER(cuMemFree(out));
}

// Logs, limits and the target.
static void UseOptions() {
  char info[300], errors[300];
  enum { kInfo, kInfoBytes, kErrors, kErrorBytes, kRegisters, kTarget, kTime, kCount };
  CUjit_option options[kCount] = {CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                                  CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                  CU_JIT_MAX_REGISTERS,    CU_JIT_TARGET,
                                  CU_JIT_WALL_TIME};
  void* values[kCount] = {info, (void*)sizeof(info), errors, (void*)sizeof(errors), (void*)6, (void*)75, (void*)0};
  CUmodule module;
  CUfunction work;
  DRIVER(cuModuleLoadDataEx(&module, kText, kCount, options, values));
  EXPECT(strstr(info, "3 kernels") != NULL && (size_t)values[kInfoBytes] == strlen(info));
  EXPECT(errors[0] == '\0' && values[kErrorBytes] == NULL);
  float milliseconds = -1;
  memcpy(&milliseconds, &values[kTime], sizeof(milliseconds));
  EXPECT(milliseconds > 0);
  DRIVER(cuModuleGetFunction(&work, module, "work"));
  EXPECT(AttributeOf(work, CU_FUNC_ATTRIBUTE_NUM_REGS) == 6);
  DRIVER(cuModuleUnload(module));
  values[kTarget] = (void*)70;
  values[kInfoBytes] = (void*)sizeof(info);
  values[kErrorBytes] = (void*)sizeof(errors);
  EXPECT(cuModuleLoadDataEx(&module, kText, kCount, options, values) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT(strstr(errors, "sm_75") != NULL);
  // What is wrong is told with its line, in as many bytes as there are.
  static const char kWrong[] =
      ".version 7.0\n.target sm_70\n.visible .entry k()\n{\n  add.q32 %r1, %r2, 3;\n  ret;\n}\n";
  values[kErrorBytes] = (void*)sizeof(errors);
  EXPECT(cuModuleLoadDataEx(&module, kWrong, kCount, options, values) == CUDA_ERROR_INVALID_PTX);
  EXPECT(strstr(errors, "PTX line 5") != NULL && strstr(errors, "q32") != NULL);
  memset(errors, '#', sizeof(errors));
  values[kErrorBytes] = (void*)10;
  EXPECT(cuModuleLoadDataEx(&module, kWrong, kCount, options, values) == CUDA_ERROR_INVALID_PTX);
  EXPECT(strlen(errors) == 9 && errors[10] == '#');
}

static void LoadWhatIsNone() {
  CUmodule module;
  EXPECT(cuModuleLoadData(&module, "") == CUDA_ERROR_INVALID_IMAGE);
  EXPECT(cuModuleLoadData(&module, "/* no end") == CUDA_ERROR_INVALID_IMAGE);
  EXPECT(cuModuleLoadData(&module, ".target sm_70") == CUDA_ERROR_INVALID_PTX);
  EXPECT(cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n.address_size 32\n.entry k()\n{\nret;\n}\n") ==
         CUDA_ERROR_INVALID_PTX);
  EXPECT(cuModuleLoad(&module, "no_such.ptx") == CUDA_ERROR_FILE_NOT_FOUND);
  static const char kMachineCode[64] =
      "\x7f"
      "ELF\x02\x01\x01";
  EXPECT(cuModuleLoadData(&module, kMachineCode) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  // A text without a zero byte, up to the end of memory.
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* memory = (char*)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(memory + page, page);
  memset(memory, ' ', page);
  memcpy(memory + page - 40, ".version 7.0\n.target sm_70\n.global .u32 a", 40);
  EXPECT(cuModuleLoadData(&module, memory + page - 40) == CUDA_ERROR_INVALID_IMAGE);
  memcpy(memory + page - 7, "HEDDLED", 7);
  EXPECT(cuModuleLoadData(&module, memory + page - 7) == CUDA_ERROR_INVALID_IMAGE);
  // Headers of fat binaries at the end of memory: sizes that are too large, wrap around, or cannot hold the header; one
  // that is cut off, and one with an entry that is.
  const struct {
    size_t there;
    unsigned short header_bytes;
    unsigned long long bytes;
  } fat_binaries[] = {{16, 16, 1},         {16, 16, 1ull << 40}, {16, 16, ~0ull - 20}, {16, 16, ~0ull},
                      {16, 0, 0},          {16, 8, 8},           {16, 0xffff, 0},      {16, 0xffff, ~0ull},
                      {80, 16, 64 + page}, {12, 16, 0},          {4, 16, 0},           {80, 16, 64}};
  for (const auto& one : fat_binaries) {
    char* const start = memory + page - one.there;
    const unsigned int head[] = {0xba55ed50, 1u | static_cast<unsigned int>(one.header_bytes) << 16,
                                 static_cast<unsigned int>(one.bytes), static_cast<unsigned int>(one.bytes >> 32)};
    memset(start, 0xff, one.there);
    memcpy(start, head, one.there < sizeof(head) ? one.there : sizeof(head));
    EXPECT(cuModuleLoadData(&module, start) != CUDA_SUCCESS);
    EXPECT(cuModuleLoadFatBinary(&module, start) != CUDA_SUCCESS);
  }
  // The same of what heddle-nvcc makes: sizes of the text and of the code, and the number of linked parts and a size.
  const struct {
    size_t there;
    const char* magic;
    unsigned long long sizes[2];
  } codes[] = {{24, "HEDDLEDC", {1, 0}},     {24, "HEDDLEDC", {0, 1}},    {24, "HEDDLEDC", {~0ull - 23, 0}},
               {24, "HEDDLEDC", {0, ~0ull}}, {16, "HEDDLEDC", {0, 0}},    {8, "HEDDLEDC", {0, 0}},
               {8, "HEDDLEDL", {0, 0}},      {16, "HEDDLEDL", {1, 0}},    {24, "HEDDLEDL", {1, 8}},
               {24, "HEDDLEDL", {2, 0}},     {24, "HEDDLEDL", {~0ull, 0}}};
  for (const auto& one : codes) {
    char* const start = memory + page - one.there;
    memcpy(start, one.magic, 8);
    memcpy(start + 8, one.sizes, one.there - 8);
    EXPECT(cuModuleLoadData(&module, start) == CUDA_ERROR_INVALID_IMAGE);
  }
  munmap(memory, page);
  // Many spaces.
  const size_t bytes = 100 << 20;
  char* spaces = (char*)malloc(bytes + 100);
  memset(spaces, ' ', bytes);
  strcpy(spaces + bytes, "");
  EXPECT(cuModuleLoadData(&module, spaces) == CUDA_ERROR_INVALID_IMAGE);
  strcpy(spaces + bytes, ".version 7.0\n.target sm_70\n.visible .global .u32 x;\n");
  DRIVER(cuModuleLoadData(&module, spaces));
  CUdeviceptr x;
  DRIVER(cuModuleGetGlobal(&x, NULL, module, "x"));
  DRIVER(cuModuleUnload(module));
  free(spaces);
}

static void LoadFile() {
  FILE* file = fopen("driver_ptx_work.ptx", "w");
  fputs(kText, file);
  fclose(file);
  CUmodule module, other;
  CUfunction kernel;
  DRIVER(cuModuleLoad(&module, "driver_ptx_work.ptx"));
  DRIVER(cuModuleGetFunction(&kernel, module, "backwards"));
  CUdeviceptr here, there;
  // Each module has variables of its own.
  DRIVER(cuModuleLoadData(&other, kText));
  DRIVER(cuModuleGetGlobal(&here, NULL, module, "scale"));
  DRIVER(cuModuleGetGlobal(&there, NULL, other, "scale"));
  EXPECT(here != there);
  DRIVER(cuModuleUnload(other));
  DRIVER(cuModuleUnload(module));
}

int main() {
  DRIVER(cuInit(0));
  CUcontext context;
  CUctxCreateParams parameters = {};
  DRIVER(cuCtxCreate(&context, &parameters, 0, 0));
  RunKernels();
  UseOptions();
  LoadWhatIsNone();
  LoadFile();
  DRIVER(cuCtxDestroy(context));
  return Finish();
}
