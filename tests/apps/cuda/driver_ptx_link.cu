// PTX modules that are linked while the program runs: functions and variables of one in another, names that both have,
// PTX beside device code of heddle-nvcc, and what cannot be linked.
// module: driver_link_module.cu
// module: driver_link_function_module.cu
#include <cuda.h>
#include <string.h>

#include "check.h"

#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)

static char kMain[] = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) shift(.param .b32 x);
.extern .global .align 4 .b8 table[];
.global .u32 own = 100;
.visible .entry first(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  {
    .param .b32 x;
    .param .b32 y;
    st.param.b32 [x], %r0;
    call.uni (y), shift, (x);
    ld.param.b32 %r1, [y];
  }
  ld.global.u32 %r2, [own];
  add.u32 %r1, %r1, %r2;
  ld.global.u32 %r2, [table+4];
  add.u32 %r1, %r1, %r2;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %rd0, %rd1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

static char kOther[] = R"(
.version 6.4
.target sm_60
.address_size 64
.global .u32 own = 7;
.visible .global .align 4 .u32 table[3] = {1000, 2000, 3000};
.visible .func (.param .b32 r) shift(.param .b32 x)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r0, [x];
  ld.global.u32 %r1, [own];
  shl.b32 %r0, %r0, 3;
  add.u32 %r0, %r0, %r1;
  st.param.b32 [r], %r0;
  ret;
}
.visible .entry second(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out];
  ld.global.u32 %r1, [own];
  st.global.u32 [%rd0], %r1;
  ret;
}
)";

struct Link {
  Link() {
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    values[0] = errors;
    values[1] = (void*)sizeof(errors);
    DRIVER(cuLinkCreate(2, options, values, &state));
  }
  ~Link() { DRIVER(cuLinkDestroy(state)); }
  CUresult Add(char* text, const char* name) {
    return cuLinkAddData(state, CU_JIT_INPUT_PTX, text, strlen(text) + 1, name, 0, NULL, NULL);
  }
  bool Says(const char* text) const { return strstr(errors, text) != NULL; }

  CUlinkState state;
  char errors[400];
  void* values[2];
  void* image = NULL;
};

static void RunLinked() {
  CUmodule module;
  {
    Link link;
    DRIVER(link.Add(kMain, "main.ptx"));
    DRIVER(link.Add(kOther, "other.ptx"));
    size_t bytes = 0;
    DRIVER(cuLinkComplete(link.state, &link.image, &bytes));
    EXPECT(bytes > sizeof(kMain) + sizeof(kOther));
    DRIVER(cuModuleLoadData(&module, link.image));
  }
  CUfunction first, second;
  DRIVER(cuModuleGetFunction(&first, module, "first"));
  DRIVER(cuModuleGetFunction(&second, module, "second"));
  CUdeviceptr out, own;
  DRIVER(cuMemAlloc(&out, 32 * sizeof(int)));
  void* arguments[] = {&out};
  int host[32];
  DRIVER(cuLaunchKernel(first, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuMemcpyDtoH(host, out, sizeof(host)));
  for (int i = 0; i < 32; ++i) EXPECT(host[i] == i * 8 + 7 + 100 + 2000);
  // The first module's is found by its name; the other one's is apart.
  DRIVER(cuModuleGetGlobal(&own, NULL, module, "own"));
  DRIVER(cuMemsetD32(own, 1, 1));
  DRIVER(cuLaunchKernel(first, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuMemcpyDtoH(host, out, sizeof(host)));
  EXPECT(host[0] == 7 + 1 + 2000);
  DRIVER(cuLaunchKernel(second, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuMemcpyDtoH(host, out, sizeof(host)));
  EXPECT(host[0] == 7);
  DRIVER(cuModuleUnload(module));
  DRIVER(cuMemFree(out));
}

// A kernel of PTX that calls a function and names a variable of device code of heddle-nvcc; and the other way round.
static void LinkWithOwnCode() {
  static char kernel_text[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n.extern .global .u32 seven;\n"
      ".extern .func (.param .b32 r) _Z9Transformi(.param .b32 x);\n"
      ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\n.param .b32 a, b;\n"
      "ld.param.u64 %rd0, [out];\nld.global.u32 %r0, [seven];\nst.param.b32 [a], 30;\n"
      "call (b), _Z9Transformi, (a);\nld.param.b32 %r1, [b];\nadd.u32 %r0, %r0, %r1;\n"
      "st.global.u32 [%rd0], %r0;\nret;\n}\n";
  static char function_text[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 seven = 5;\n"
      ".visible .func (.param .b32 r) _Z9Transformi(.param .b32 x)\n{\n.reg .b32 %r<2>;\nld.param.b32 %r0, [x];\n"
      "add.u32 %r0, %r0, 1;\nst.param.b32 [r], %r0;\nret;\n}\n";
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr out;
  int host[32];
  DRIVER(cuMemAlloc(&out, sizeof(host)));
  void* arguments[] = {&out};
  {
    Link link;
    DRIVER(link.Add(kernel_text, "kernel.ptx"));
    DRIVER(cuLinkAddFile(link.state, CU_JIT_INPUT_CUBIN, "driver_link_function_module.cubin", 0, NULL, NULL));
    DRIVER(cuLinkComplete(link.state, &link.image, NULL));
    DRIVER(cuModuleLoadData(&module, link.image));
  }
  DRIVER(cuModuleGetFunction(&kernel, module, "k"));
  DRIVER(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuMemcpyDtoH(host, out, sizeof(host)));
  EXPECT(host[0] == 37);
  DRIVER(cuModuleUnload(module));
  {
    Link link;
    DRIVER(cuLinkAddFile(link.state, CU_JIT_INPUT_CUBIN, "driver_link_module.cubin", 0, NULL, NULL));
    DRIVER(link.Add(function_text, "function.ptx"));
    DRIVER(cuLinkComplete(link.state, &link.image, NULL));
    DRIVER(cuModuleLoadData(&module, link.image));
  }
  DRIVER(cuModuleGetFunction(&kernel, module, "Apply"));
  DRIVER(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuMemcpyDtoH(host, out, sizeof(host)));
  for (int i = 0; i < 32; ++i) EXPECT(host[i] == (i + 1) * 5 + 1);
  DRIVER(cuModuleUnload(module));
  DRIVER(cuMemFree(out));
}

static void RefuseWhatCannotBeLinked() {
  {
    Link link;
    DRIVER(link.Add(kMain, "main.ptx"));
    EXPECT(cuLinkComplete(link.state, &link.image, NULL) == CUDA_ERROR_INVALID_PTX);
    EXPECT(link.Says("main.ptx: PTX line") && link.Says("'shift' is declared, but not defined"));
  }
  {
    Link link;
    DRIVER(link.Add(kOther, "one.ptx"));
    DRIVER(link.Add(kOther, "two.ptx"));
    EXPECT(cuLinkComplete(link.state, &link.image, NULL) == CUDA_ERROR_INVALID_PTX);
    EXPECT(link.Says("one.ptx: PTX line 7") && link.Says("two.ptx: PTX line 7"));
  }
  {
    Link link;
    char wrong[] = ".version 7.0\n.target sm_70\n\nnonsense\n";
    EXPECT(link.Add(wrong, "wrong.ptx") == CUDA_ERROR_INVALID_PTX);
    EXPECT(link.Says("wrong.ptx: PTX line 4"));
  }
  // The whole of a module that is loaded by itself, too.
  CUmodule module;
  EXPECT(cuModuleLoadData(&module, kMain) == CUDA_ERROR_INVALID_PTX);
}

int main() {
  DRIVER(cuInit(0));
  CUcontext context;
  CUctxCreateParams parameters = {};
  DRIVER(cuCtxCreate(&context, &parameters, 0, 0));
  RunLinked();
  LinkWithOwnCode();
  RefuseWhatCannotBeLinked();
  DRIVER(cuCtxDestroy(context));
  return Finish();
}
