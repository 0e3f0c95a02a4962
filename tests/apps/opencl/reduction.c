/* Local memory, declared in the kernel and as an argument; barriers; launches that depend on each other. */
#include "app.h"

static const char *source =
    "__kernel void sum(__global const int *in, __global int *out, __local int *scratch, int n) {\n"
    "  size_t t = get_local_id(0), i = get_global_id(0);\n"
    "  scratch[t] = i < n ? in[i] : 0;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (size_t s = get_local_size(0) / 2; s > 0; s >>= 1) {\n"
    "    if (t < s) scratch[t] += scratch[t + s];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  }\n"
    "  if (t == 0) out[get_group_id(0)] = scratch[0];\n"
    "}\n"
    "__kernel void scan(__global int *data, __local int *even, __local int *odd) {\n"
    "  __local int total;\n"
    "  size_t t = get_local_id(0);\n"
    "  __local int *from = even, *to = odd, *other;\n"
    "  from[t] = data[t];\n"
    "  if (t == 0) total = 0;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (size_t s = 1; s < get_local_size(0); s *= 2) {\n"
    "    to[t] = t >= s ? from[t] + from[t - s] : from[t];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    other = from; from = to; to = other;\n"
    "  }\n"
    "  if (t == get_local_size(0) - 1) total = from[t];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  data[t] = total - from[t];\n"
    "}\n";

enum { kCount = 10000, kGroup = 128 };

int main(void) {
  static int in[kCount], data[kGroup];
  long wanted = 0;
  int i, result, prefix = 0, total = 0;
  for (i = 0; i < kCount; ++i) wanted += in[i] = (int)(Random() % 2001) - 1000;
  OpenDevice(0);
  cl_program program = BuildSource(source, "-cl-mad-enable");
  cl_kernel sum = MakeKernel(program, "sum");
  cl_mem from = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(in), in);
  cl_mem to = MakeBuffer(CL_MEM_READ_WRITE, sizeof(in), NULL);
  int n = kCount;
  while (n > 1) {
    const int groups = (n + kGroup - 1) / kGroup;
    SetBuffer(sum, 0, from);
    SetBuffer(sum, 1, to);
    CALL(clSetKernelArg(sum, 2, kGroup * sizeof(int), NULL));
    SetInt(sum, 3, n);
    Run1(sum, (size_t)groups * kGroup, kGroup);
    cl_mem other = from;
    from = to;
    to = other;
    n = groups;
  }
  Read(from, &result, sizeof(result));
  printf("sum: %d\n", result);
  EXPECT(result == wanted);

  for (i = 0; i < kGroup; ++i) total += data[i] = (int)(Random() % 100);
  cl_kernel scan = MakeKernel(program, "scan");
  cl_mem buffer = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(data), data);
  static int scanned[kGroup];
  SetBuffer(scan, 0, buffer);
  CALL(clSetKernelArg(scan, 1, sizeof(data), NULL));
  CALL(clSetKernelArg(scan, 2, sizeof(data), NULL));
  Run1(scan, kGroup, kGroup);
  Read(buffer, scanned, sizeof(scanned));
  for (i = 0; i < kGroup; ++i) {
    prefix += data[i];
    EXPECT_ELEMENT(i, scanned[i], total - prefix);
  }
  cl_ulong local = 0;
  CALL(clGetKernelWorkGroupInfo(scan, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(local), &local, NULL));
  EXPECT(local >= 2 * sizeof(data) + sizeof(int));
  CloseDevice();
  printf("reduction: passed\n");
  return 0;
}
