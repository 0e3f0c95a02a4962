/* Arguments of every kind: structures by value, vectors, narrow and wide numbers, constant memory, null pointers. */
#include "app.h"

static const char *source =
    "typedef struct { int a; double b; char c[5]; float4 d; } Settings;\n"
    "__constant float weights[4] = {0.5f, 1.5f, 2.5f, 3.5f};\n"
    "__constant int table[2][3] = {{1, 2, 3}, {4, 5, 6}};\n"
    "float helper(__constant float *w, int i) { return w[i & 3]; }\n"
    "__kernel void base(__global float *out, float x) { out[get_global_id(0)] = x; }\n"
    "__kernel void all(__global float *out, Settings s, char c, ushort h, long l, double d, float3 v, uchar4 u,\n"
    "                  __constant float *given, __global int *nothing) {\n"
    "  size_t i = get_global_id(0);\n"
    "  float r = s.a + s.b + s.c[4] + s.d.w;\n"
    "  r += c + h + (float)(l >> 32) + (float)d + v.x * 2 + v.z + u.s3;\n"
    "  r += helper(weights, i) + helper(given, i + 1) + table[i & 1][i % 3];\n"
    "  if (nothing == 0) r += 1000;\n"
    "  base(out, r);\n" /* a kernel called as a function */
    "}\n";

enum { kCount = 32 };

typedef struct {
  cl_int a;
  cl_double b;
  cl_char c[5];
  cl_float4 d;
} Settings;

int main(void) {
  static const float weights[4] = {0.5f, 1.5f, 2.5f, 3.5f};
  static const int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
  float given[4] = {10, 20, 30, 40}, out[kCount];
  Settings settings;
  int i;
  memset(&settings, 0, sizeof(settings));
  settings.a = 7;
  settings.b = 0.25;
  settings.c[4] = -3;
  settings.d.s[3] = 100;
  const cl_char c = -100;
  const cl_ushort h = 60000;
  const cl_long l = (cl_long)-5 * ((cl_long)1 << 32);
  const cl_double d = 0.125;
  const cl_float3 v = {{3, 4, 5, 0}};
  const cl_uchar4 u = {{1, 2, 3, 200}};
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  cl_kernel kernel = MakeKernel(program, "all");
  cl_mem result = MakeBuffer(CL_MEM_WRITE_ONLY, sizeof(out), NULL);
  cl_mem constants = MakeBuffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(given), given);
  SetBuffer(kernel, 0, result);
  CALL(clSetKernelArg(kernel, 1, sizeof(settings), &settings));
  CALL(clSetKernelArg(kernel, 2, sizeof(c), &c));
  CALL(clSetKernelArg(kernel, 3, sizeof(h), &h));
  CALL(clSetKernelArg(kernel, 4, sizeof(l), &l));
  CALL(clSetKernelArg(kernel, 5, sizeof(d), &d));
  CALL(clSetKernelArg(kernel, 6, sizeof(v), &v));
  CALL(clSetKernelArg(kernel, 7, sizeof(u), &u));
  SetBuffer(kernel, 8, constants);
  const size_t global = kCount;
  EXPECT(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL) == CL_INVALID_KERNEL_ARGS);
  CALL(clSetKernelArg(kernel, 9, sizeof(cl_mem), NULL));
  /* Bad values change nothing. */
  EXPECT(clSetKernelArg(kernel, 2, sizeof(cl_int), &c) == CL_INVALID_ARG_SIZE);
  EXPECT(clSetKernelArg(kernel, 10, sizeof(c), &c) == CL_INVALID_ARG_INDEX);
  EXPECT(clSetKernelArg(kernel, 1, sizeof(settings), NULL) == CL_INVALID_ARG_VALUE);
  Run1(kernel, kCount, 0);
  Read(result, out, sizeof(out));
  for (i = 0; i < kCount; ++i) {
    const float wanted = 7 + 0.25f - 3 + 100 - 100 + 60000 - 5 + 0.125f + 6 + 5 + 200 + weights[i & 3] +
                         given[(i + 1) & 3] + (float)table[i & 1][i % 3] + 1000;
    EXPECT_CLOSE(i, out[i], wanted, 1e-6);
  }
  /* A launch takes the arguments as they are when it is enqueued. */
  settings.a = 8;
  CALL(clSetKernelArg(kernel, 1, sizeof(settings), &settings));
  const float before = out[0];
  Run1(kernel, kCount, 0);
  Read(result, out, sizeof(out));
  EXPECT_CLOSE(0, out[0], before + 1, 1e-6);
  printf("arguments: %g\n", out[1]);

  /* The kernel that the other one calls, by itself. */
  cl_kernel base = MakeKernel(program, "base");
  const cl_float x = 2.5f;
  SetBuffer(base, 0, result);
  CALL(clSetKernelArg(base, 1, sizeof(x), &x));
  Run1(base, kCount, 0);
  Read(result, out, sizeof(out));
  for (i = 0; i < kCount; ++i) EXPECT_ELEMENT(i, out[i], x);

  cl_kernel_arg_address_qualifier address;
  char name[32];
  CALL(clGetKernelArgInfo(kernel, 8, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(address), &address, NULL));
  EXPECT(address == CL_KERNEL_ARG_ADDRESS_CONSTANT);
  CALL(clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_TYPE_NAME, sizeof(name), name, NULL));
  EXPECT(strcmp(name, "Settings") == 0);
  CALL(clGetKernelArgInfo(kernel, 9, CL_KERNEL_ARG_NAME, sizeof(name), name, NULL));
  EXPECT(strcmp(name, "nothing") == 0);
  CloseDevice();
  printf("arguments: passed\n");
  return 0;
}
