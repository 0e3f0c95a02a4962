/* Vectors of every width: loads and stores, components, shuffles, comparisons, selection, geometry. */
#include "app.h"

static const char *source =
    "__kernel void move(__global const float *in, __global float *out) {\n"
    "  vstore2(vload2(0, in).yx, 0, out);\n"
    "  vstore3(vload3(1, in).zyx, 1, out);\n"
    "  vstore4(vload4(2, in).wzyx, 2, out);\n"
    "  float8 e = vload8(2, in); vstore8((float8)(e.odd, e.even), 2, out);\n"
    "  float16 s = vload16(2, in); vstore16(s.sfedcba9876543210, 2, out);\n"
    "}\n"
    "__kernel void pack(__global const uchar *in, __global ushort *out, __constant uint *order) {\n"
    "  size_t i = get_global_id(0);\n"
    "  uchar4 v = vload4(i, in);\n"
    "  ushort4 w = convert_ushort4(v) * (ushort)3 + (ushort4)(1, 2, 3, 4);\n"
    "  uint4 mask = vload4(0, order);\n"
    "  vstore4(shuffle(w, convert_ushort4(mask)), i, out);\n"
    "}\n"
    "__kernel void choose(__global const float4 *a, __global const float4 *b, __global float4 *out, __global int4 "
    "*flags) {\n"
    "  size_t i = get_global_id(0);\n"
    "  int4 less = isless(a[i], b[i]);\n"
    "  flags[i] = less + (int4)(any(less), all(less), any(a[i] == b[i]), 0) * 10;\n"
    "  out[i] = select(a[i], b[i], less) + (float4)(dot(a[i], b[i]), distance(a[i].xyz, b[i].xyz), length(a[i].xy), "
    "0);\n"
    "  out[i].w = clamp(a[i], -1.0f, 1.0f).w + mix(a[i], b[i], 0.25f).w + fmax(a[i], 2.0f).w + step(0.0f, b[i]).w;\n"
    "}\n"
    "__kernel void two(__global double2 *d, __global long3 *l, __global char16 *c) {\n"
    "  size_t i = get_global_id(0);\n"
    "  d[i] = d[i].yx * 0.5 + (double2)(i, -(double)i);\n"
    "  l[i] = (l[i].zxy << (long3)(1, 2, 3)) ^ (long)i;\n"
    "  c[i] = shuffle2(c[i], (char16)(7), (uchar16)(0, 16, 2, 17, 4, 18, 6, 19, 8, 20, 10, 21, 12, 22, 14, 23));\n"
    "}\n";

enum { kCount = 64 };

int main(void) {
  static float in[64], out[64];
  int i, k;
  for (i = 0; i < 64; ++i) in[i] = (float)i;
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  const cl_mem_flags copy = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_kernel move = MakeKernel(program, "move");
  cl_mem a = MakeBuffer(copy, sizeof(in), in), b = MakeBuffer(copy, sizeof(out), out);
  SetBuffer(move, 0, a);
  SetBuffer(move, 1, b);
  Run1(move, 1, 1);
  Read(b, out, sizeof(out));
  EXPECT(out[0] == 1 && out[1] == 0 && out[3] == 5 && out[4] == 4 && out[5] == 3);
  EXPECT(out[8] == 11 && out[11] == 8);
  for (i = 0; i < 4; ++i) {
    EXPECT_ELEMENT(i, out[16 + i], 17 + 2 * i);
    EXPECT_ELEMENT(i, out[20 + i], 16 + 2 * i);
  }
  for (i = 0; i < 16; ++i) EXPECT_ELEMENT(i, out[32 + i], 47 - i);

  static cl_uchar bytes[4 * kCount];
  static cl_ushort packed[4 * kCount];
  cl_uint order[4] = {3, 0, 2, 1};
  for (i = 0; i < 4 * kCount; ++i) bytes[i] = (cl_uchar)Random();
  cl_kernel pack = MakeKernel(program, "pack");
  cl_mem c = MakeBuffer(copy, sizeof(bytes), bytes), d = MakeBuffer(copy, sizeof(packed), packed);
  cl_mem e = MakeBuffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(order), order);
  SetBuffer(pack, 0, c);
  SetBuffer(pack, 1, d);
  SetBuffer(pack, 2, e);
  Run1(pack, kCount, 32);
  Read(d, packed, sizeof(packed));
  for (i = 0; i < kCount; ++i)
    for (k = 0; k < 4; ++k) EXPECT_ELEMENT(i, packed[4 * i + k], bytes[4 * i + (int)order[k]] * 3 + (int)order[k] + 1);

  static float va[4 * kCount], vb[4 * kCount], vo[4 * kCount];
  static int flags[4 * kCount];
  for (i = 0; i < 4 * kCount; ++i) {
    va[i] = (float)((int)(Random() % 41) - 20) / 4;
    vb[i] = i % 7 == 0 ? va[i] : (float)((int)(Random() % 41) - 20) / 4;
  }
  cl_kernel choose = MakeKernel(program, "choose");
  cl_mem buffers[4] = {MakeBuffer(copy, sizeof(va), va), MakeBuffer(copy, sizeof(vb), vb),
                       MakeBuffer(copy, sizeof(vo), vo), MakeBuffer(copy, sizeof(flags), flags)};
  for (i = 0; i < 4; ++i) SetBuffer(choose, (cl_uint)i, buffers[i]);
  Run1(choose, kCount, 16);
  Read(buffers[2], vo, sizeof(vo));
  Read(buffers[3], flags, sizeof(flags));
  for (i = 0; i < kCount; ++i) {
    const float *x = va + 4 * i, *y = vb + 4 * i;
    int less[4], any = 0, all = 1, same = 0;
    float dot = 0, apart = 0;
    for (k = 0; k < 4; ++k) {
      less[k] = x[k] < y[k] ? -1 : 0;
      any |= less[k] != 0;
      all &= less[k] != 0;
      same |= x[k] == y[k];
      dot += x[k] * y[k];
      if (k < 3) apart += (x[k] - y[k]) * (x[k] - y[k]);
    }
    EXPECT(flags[4 * i] == less[0] + 10 * any && flags[4 * i + 1] == less[1] + 10 * all &&
           flags[4 * i + 2] == less[2] + 10 * same && flags[4 * i + 3] == less[3]);
    EXPECT_CLOSE(i, vo[4 * i], (less[0] ? y[0] : x[0]) + dot, 1e-6);
    EXPECT_CLOSE(i, vo[4 * i + 1], (less[1] ? y[1] : x[1]) + sqrtf(apart), 1e-6);
    EXPECT_CLOSE(i, vo[4 * i + 2], (less[2] ? y[2] : x[2]) + sqrtf(x[0] * x[0] + x[1] * x[1]), 1e-6);
    EXPECT_CLOSE(i, vo[4 * i + 3],
                 fmaxf(-1, fminf(1, x[3])) + x[3] + (y[3] - x[3]) * 0.25f + fmaxf(x[3], 2) + (y[3] < 0 ? 0 : 1), 1e-6);
  }

  static cl_double wide[2 * kCount], first_wide[2 * kCount];
  static cl_long longs[4 * kCount], first_longs[4 * kCount];
  static cl_char chars[16 * kCount], first_chars[16 * kCount];
  for (i = 0; i < 2 * kCount; ++i) first_wide[i] = (double)(Random() % 1000);
  for (i = 0; i < 4 * kCount; ++i) first_longs[i] = (cl_long)Random() << 20;
  for (i = 0; i < 16 * kCount; ++i) first_chars[i] = (cl_char)Random();
  cl_kernel two = MakeKernel(program, "two");
  cl_mem w = MakeBuffer(copy, sizeof(wide), first_wide), l = MakeBuffer(copy, sizeof(longs), first_longs);
  cl_mem h = MakeBuffer(copy, sizeof(chars), first_chars);
  SetBuffer(two, 0, w);
  SetBuffer(two, 1, l);
  SetBuffer(two, 2, h);
  Run1(two, kCount, 0);
  Read(w, wide, sizeof(wide));
  Read(l, longs, sizeof(longs));
  Read(h, chars, sizeof(chars));
  for (i = 0; i < kCount; ++i) {
    EXPECT_ELEMENT(i, wide[2 * i], first_wide[2 * i + 1] * 0.5 + i);
    EXPECT_ELEMENT(i, wide[2 * i + 1], first_wide[2 * i] * 0.5 - i);
    EXPECT(longs[4 * i] == ((first_longs[4 * i + 2] << 1) ^ i) && longs[4 * i + 1] == ((first_longs[4 * i] << 2) ^ i) &&
           longs[4 * i + 2] == ((first_longs[4 * i + 1] << 3) ^ i));
    for (k = 0; k < 16; ++k) EXPECT_ELEMENT(i, chars[16 * i + k], k % 2 ? 7 : first_chars[16 * i + k]);
  }
  CloseDevice();
  printf("vectors: passed\n");
  return 0;
}
