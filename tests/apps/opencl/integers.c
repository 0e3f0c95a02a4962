/* Integer functions on 8 to 64 bits: saturation, high halves, rotation, bit counts, averages. */
#include "app.h"

static const char *source =
    "__kernel void narrow(__global const char *a, __global const uchar *b, __global int *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  char x = a[i], y = a[i + 1];\n"
    "  uchar u = b[i], v = b[i + 1];\n"
    "  __global int *o = out + 16 * i;\n"
    "  o[0] = add_sat(x, y); o[1] = sub_sat(x, y); o[2] = add_sat(u, v); o[3] = sub_sat(u, v);\n"
    "  o[4] = abs(x); o[5] = abs_diff(x, y); o[6] = hadd(x, y); o[7] = rhadd(u, v);\n"
    "  o[8] = rotate(u, (uchar)3); o[9] = clz(u); o[10] = popcount(u); o[11] = mul_hi(x, y);\n"
    "  o[12] = mad_sat(x, y, x); o[13] = upsample(x, u); o[14] = min(x, y) * 1000 + max(u, v); o[15] = mad_hi(u, v, "
    "u);\n"
    "}\n"
    "__kernel void wide(__global const uint *a, __global const ulong *b, __global ulong *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  uint x = a[i], y = a[i + 1];\n"
    "  ulong u = b[i], v = b[i + 1];\n"
    "  __global ulong *o = out + 12 * i;\n"
    "  o[0] = mul_hi(u, v); o[1] = (ulong)mul_hi((long)u, (long)v); o[2] = mul_hi(x, y); o[3] = add_sat(u, v);\n"
    "  o[4] = (ulong)sub_sat((long)u, (long)v); o[5] = clz(u >> (x & 63)); o[6] = popcount(u) * 100 + popcount(x);\n"
    "  o[7] = rotate(u, (ulong)(x & 63)); o[8] = mul24(x & 0xfff, y & 0xfff) + mad24(3u, x & 0xff, y & 0xff);\n"
    "  o[9] = upsample(x, y); o[10] = hadd(u, v); o[11] = abs_diff((int)x, (int)y);\n"
    "}\n"
    "__kernel void vector(__global const int4 *a, __global int4 *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = clamp(a[i], -1000, 1000) + convert_int4(abs(a[i]) >> 8) + mad24(a[i] >> 20, (int4)(5), rotate(a[i], "
    "(int4)(1, 2, 3, 4)))\n"
    "           + max(a[i], 7) + clz(a[i]) + add_sat(a[i], (int4)(INT_MAX, 1, INT_MIN, -1));\n"
    "}\n";

enum { kCount = 128 };

static int Clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
static uint32_t Rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }
static int Saturated(long long x) {
  return x > 2147483647ll ? 2147483647 : x < -2147483648ll ? -2147483647 - 1 : (int)x;
}

int main(void) {
  static cl_char a[kCount + 1];
  static cl_uchar b[kCount + 1];
  static cl_int narrow[16 * kCount];
  static cl_uint c[kCount + 1];
  static cl_ulong d[kCount + 1], wide[12 * kCount];
  static cl_int e[4 * kCount], f[4 * kCount];
  int i, k;
  for (i = 0; i <= kCount; ++i) {
    a[i] = i < 4 ? (cl_char)(i % 2 ? 127 : -128) : (cl_char)Random();
    b[i] = i < 4 ? (cl_uchar)(i % 2 ? 255 : 0) : (cl_uchar)Random();
    c[i] = Random();
    d[i] = i < 4 ? (i % 2 ? ~(cl_ulong)0 : (cl_ulong)1 << 63) : (cl_ulong)Random() << 32 | Random();
  }
  for (i = 0; i < 4 * kCount; ++i) e[i] = (cl_int)(i % 5 == 0 ? Random() >> 20 : Random());
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  const cl_mem_flags copy = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_mem ma = MakeBuffer(copy, sizeof(a), a), mb = MakeBuffer(copy, sizeof(b), b),
         mn = MakeBuffer(copy, sizeof(narrow), narrow);
  cl_mem mc = MakeBuffer(copy, sizeof(c), c), md = MakeBuffer(copy, sizeof(d), d),
         mw = MakeBuffer(copy, sizeof(wide), wide);
  cl_mem me = MakeBuffer(copy, sizeof(e), e), mf = MakeBuffer(copy, sizeof(f), f);
  cl_kernel kernels[3] = {MakeKernel(program, "narrow"), MakeKernel(program, "wide"), MakeKernel(program, "vector")};
  SetBuffer(kernels[0], 0, ma);
  SetBuffer(kernels[0], 1, mb);
  SetBuffer(kernels[0], 2, mn);
  SetBuffer(kernels[1], 0, mc);
  SetBuffer(kernels[1], 1, md);
  SetBuffer(kernels[1], 2, mw);
  SetBuffer(kernels[2], 0, me);
  SetBuffer(kernels[2], 1, mf);
  for (i = 0; i < 3; ++i) Run1(kernels[i], kCount, 64);
  Read(mn, narrow, sizeof(narrow));
  Read(mw, wide, sizeof(wide));
  Read(mf, f, sizeof(f));
  for (i = 0; i < kCount; ++i) {
    const int x = a[i], y = a[i + 1], u = b[i], v = b[i + 1];
    int zeros = 0;
    while (zeros < 8 && (u >> (7 - zeros) & 1) == 0) ++zeros;
    const int wanted[16] = {Clamp(x + y, -128, 127),
                            Clamp(x - y, -128, 127),
                            Clamp(u + v, 0, 255),
                            Clamp(u - v, 0, 255),
                            abs(x),
                            abs(x - y),
                            (x + y) >> 1,
                            (u + v + 1) >> 1,
                            (u << 3 | u >> 5) & 255,
                            zeros,
                            __builtin_popcount((unsigned)u),
                            (x * y) >> 8,
                            Clamp(x * y + x, -128, 127),
                            x * 256 + u,
                            (x < y ? x : y) * 1000 + (u > v ? u : v),
                            ((u * v) >> 8) + u};
    for (k = 0; k < 15; ++k) EXPECT_ELEMENT(16 * i + k, narrow[16 * i + k], wanted[k]);
    EXPECT_ELEMENT(i, narrow[16 * i + 15], wanted[15] & 255);
  }
  for (i = 0; i < kCount; ++i) {
    const cl_uint x = c[i], y = c[i + 1];
    const cl_ulong u = d[i], v = d[i + 1];
    const cl_long su = (cl_long)u, sv = (cl_long)v;
    const __int128 difference = (__int128)su - sv, largest = 9223372036854775807ll, smallest = -largest - 1;
    const cl_ulong shifted = u >> (x & 63);
    const int by = (int)(x & 63);
    const cl_ulong wanted[12] = {(cl_ulong)(((unsigned __int128)u * v) >> 64),
                                 (cl_ulong)(cl_long)(((__int128)su * sv) >> 64),
                                 ((cl_ulong)x * y) >> 32,
                                 u + v < u ? ~(cl_ulong)0 : u + v,
                                 (cl_ulong)(cl_long)(difference > largest    ? largest
                                                     : difference < smallest ? smallest
                                                                             : difference),
                                 shifted ? (cl_ulong)__builtin_clzll(shifted) : 64,
                                 (cl_ulong)(__builtin_popcountll(u) * 100 + __builtin_popcount(x)),
                                 by ? u << by | u >> (64 - by) : u,
                                 (cl_ulong)((x & 0xfff) * (y & 0xfff) + 3 * (x & 0xff) + (y & 0xff)),
                                 (cl_ulong)x << 32 | y,
                                 (u >> 1) + (v >> 1) + (u & v & 1),
                                 (cl_ulong)llabs((long long)(cl_int)x - (cl_int)y)};
    for (k = 0; k < 12; ++k) EXPECT(wide[12 * i + k] == wanted[k]);
  }
  for (i = 0; i < 4 * kCount; ++i) {
    static const int added[4] = {2147483647, 1, -2147483647 - 1, -1};
    const int x = e[i];
    const uint32_t magnitude = x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
    const uint32_t wanted = (uint32_t)Clamp(x, -1000, 1000) + (magnitude >> 8) + (uint32_t)((x >> 20) * 5) +
                            Rotate((uint32_t)x, 1 + i % 4) + (uint32_t)(x > 7 ? x : 7) +
                            (uint32_t)(x ? __builtin_clz((uint32_t)x) : 32) +
                            (uint32_t)Saturated((long long)x + added[i % 4]);
    EXPECT_ELEMENT(i, f[i], (int)wanted);
  }
  CloseDevice();
  printf("integers: passed\n");
  return 0;
}
