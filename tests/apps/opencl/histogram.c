/* Atomics of 32 and 64 bits on global and local memory, and addition of floats through compare-and-exchange. */
#include "app.h"

static const char *source =
    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
    "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
    "__kernel void histogram(__global const uint *in, __global uint *bins, int n) {\n"
    "  __local uint mine[64];\n"
    "  for (int b = get_local_id(0); b < 64; b += get_local_size(0)) mine[b] = 0;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&mine[in[i] % 64]);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int b = get_local_id(0); b < 64; b += get_local_size(0)) atomic_add(&bins[b], mine[b]);\n"
    "}\n"
    "__kernel void others(__global const uint *in, volatile __global int *w, volatile __global ulong *l,\n"
    "                     volatile __global float *f) {\n"
    "  size_t i = get_global_id(0);\n"
    "  int v = (int)(in[i] % 1000) - 500;\n"
    "  atomic_min(&w[0], v); atomic_max(&w[1], v); atomic_or(&w[2], v & 0xff00); atomic_xor(&w[3], v);\n"
    "  atomic_and(&w[4], v | 0xffff); atomic_sub(&w[5], v); atom_dec(&w[6]);\n"
    "  if (i == 7) w[8] = atomic_xchg(&w[7], 42);\n"
    "  atom_add(&l[0], (ulong)in[i] << 20); atom_max(&l[1], (ulong)in[i] << 32 | i); atom_inc(&l[2]);\n"
    "  uint seen = as_uint(f[0]), before;\n"
    "  do { before = seen; seen = atomic_cmpxchg((volatile __global uint *)f, before, as_uint(as_float(before) + "
    "0.5f)); }\n"
    "  while (seen != before);\n"
    "  if (i == 3) atomic_xchg(&f[1], 2.25f);\n"
    "}\n";

enum { kCount = 4096 };

int main(void) {
  static cl_uint in[kCount], bins[64], wanted[64];
  cl_int words[16] = {2147483647, -2147483647, 0, 0, -1, 0, 0, 11, 0}, check[9] = {2147483647, -2147483647, 0, 0, -1};
  cl_ulong longs[3] = {0, 0, 0}, sums[3] = {0, 0, 0};
  cl_float floats[2] = {1, 1};
  int i;
  for (i = 0; i < kCount; ++i) {
    in[i] = Random();
    ++wanted[in[i] % 64];
    const int v = (int)(in[i] % 1000) - 500;
    if (v < check[0]) check[0] = v;
    if (v > check[1]) check[1] = v;
    check[2] |= v & 0xff00;
    check[3] ^= v;
    check[4] &= v | 0xffff;
    check[5] -= v;
    check[6] -= 1;
    sums[0] += (cl_ulong)in[i] << 20;
    if (((cl_ulong)in[i] << 32 | (cl_ulong)i) > sums[1]) sums[1] = (cl_ulong)in[i] << 32 | (cl_ulong)i;
    ++sums[2];
  }
  check[7] = 42;
  check[8] = 11;
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  cl_kernel histogram = MakeKernel(program, "histogram"), others = MakeKernel(program, "others");
  cl_mem data = MakeBuffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(in), in);
  cl_mem counts = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(bins), bins);
  SetBuffer(histogram, 0, data);
  SetBuffer(histogram, 1, counts);
  SetInt(histogram, 2, kCount);
  Run1(histogram, 512, 128);
  Read(counts, bins, sizeof(bins));
  for (i = 0; i < 64; ++i) EXPECT_ELEMENT(i, bins[i], wanted[i]);

  cl_mem w = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(words), words);
  cl_mem l = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(longs), longs);
  cl_mem f = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(floats), floats);
  SetBuffer(others, 0, data);
  SetBuffer(others, 1, w);
  SetBuffer(others, 2, l);
  SetBuffer(others, 3, f);
  Run1(others, kCount, 64);
  Read(w, words, sizeof(words));
  Read(l, longs, sizeof(longs));
  Read(f, floats, sizeof(floats));
  for (i = 0; i < 9; ++i) EXPECT_ELEMENT(i, words[i], check[i]);
  for (i = 0; i < 3; ++i) EXPECT(longs[i] == sums[i]);
  EXPECT(floats[0] == 1 + 0.5f * kCount && floats[1] == 2.25f);
  printf("histogram: %u %u, %d..%d\n", bins[0], bins[63], words[0], words[1]);
  CloseDevice();
  printf("histogram: passed\n");
  return 0;
}
