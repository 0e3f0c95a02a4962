/* Copies by whole work-groups between global and local memory, plain and strided, and prefetches. */
#include "app.h"

static const char *source =
    "__kernel void smooth(__global const float *in, __global float *out, __local float *tile, int n) {\n"
    "  const int size = get_local_size(0), base = get_group_id(0) * size;\n"
    "  event_t event = async_work_group_copy(tile + 1, in + base, size, 0);\n"
    "  prefetch(in + base, size);\n"
    "  if (get_local_id(0) == 0) {\n"
    "    tile[0] = base > 0 ? in[base - 1] : 0;\n"
    "    tile[size + 1] = base + size < n ? in[base + size] : 0;\n"
    "  }\n"
    "  wait_group_events(1, &event);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  const int t = get_local_id(0) + 1;\n"
    "  const float value = (tile[t - 1] + tile[t] + tile[t + 1]) / 4;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  tile[t - 1] = value;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  event = async_work_group_copy(out + base, tile, size, 0);\n"
    "  wait_group_events(1, &event);\n"
    "}\n"
    "__kernel void columns(__global const int4 *in, __global int *out, __local int4 *l) {\n"
    "  const size_t g = get_group_id(0), size = get_local_size(0);\n"
    "  event_t e = async_work_group_strided_copy(l, in + g, size, get_num_groups(0), 0);\n"
    "  wait_group_events(1, &e);\n"
    "  __local int sums[64];\n"
    "  const int4 v = l[get_local_id(0)];\n"
    "  sums[get_local_id(0)] = v.x + v.y * 10 + v.z * 100 + v.w * 1000;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  e = async_work_group_strided_copy(out + g, sums, size, get_num_groups(0), 0);\n"
    "  wait_group_events(1, &e);\n"
    "}\n";

enum { kCount = 512, kGroup = 64, kColumns = 8 };

int main(void) {
  static float in[kCount], out[kCount];
  static cl_int wide[4 * kGroup * kColumns], sums[kGroup * kColumns];
  int i;
  for (i = 0; i < kCount; ++i) in[i] = (float)(Random() % 100);
  for (i = 0; i < 4 * kGroup * kColumns; ++i) wide[i] = (cl_int)(Random() % 10);
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  const cl_mem_flags copy = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_mem a = MakeBuffer(copy, sizeof(in), in), b = MakeBuffer(copy, sizeof(out), out);
  cl_mem c = MakeBuffer(copy, sizeof(wide), wide), d = MakeBuffer(copy, sizeof(sums), sums);
  cl_kernel smooth = MakeKernel(program, "smooth"), columns = MakeKernel(program, "columns");
  SetBuffer(smooth, 0, a);
  SetBuffer(smooth, 1, b);
  CALL(clSetKernelArg(smooth, 2, (kGroup + 2) * sizeof(float), NULL));
  SetInt(smooth, 3, kCount);
  Run1(smooth, kCount, kGroup);
  Read(b, out, sizeof(out));
  for (i = 0; i < kCount; ++i)
    EXPECT_ELEMENT(i, out[i], ((i > 0 ? in[i - 1] : 0) + in[i] + (i + 1 < kCount ? in[i + 1] : 0)) / 4);
  SetBuffer(columns, 0, c);
  SetBuffer(columns, 1, d);
  CALL(clSetKernelArg(columns, 2, kGroup * sizeof(cl_int4), NULL));
  Run1(columns, kGroup * kColumns, kGroup);
  Read(d, sums, sizeof(sums));
  for (i = 0; i < kGroup * kColumns; ++i)
    EXPECT_ELEMENT(i, sums[i], wide[4 * i] + 10 * wide[4 * i + 1] + 100 * wide[4 * i + 2] + 1000 * wide[4 * i + 3]);
  CloseDevice();
  printf("async_copy: passed\n");
  return 0;
}
