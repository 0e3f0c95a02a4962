/* Conversions with saturation and rounding modes; half-precision numbers in memory; bits taken as another type. */
#include "app.h"

static const char *source =
    "__kernel void whole(__global const float *in, __global int *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  float x = in[i];\n"
    "  __global int *o = out + 10 * i;\n"
    "  o[0] = convert_int_sat(x); o[1] = convert_int_sat_rte(x); o[2] = convert_int_sat_rtp(x); o[3] = "
    "convert_int_sat_rtn(x);\n"
    "  o[4] = convert_uchar_sat(x); o[5] = convert_char_sat_rte(x); o[6] = convert_ushort_sat_rtn(x);\n"
    "  o[7] = (int)convert_uint_sat(x); o[8] = convert_short_sat(o[0]); o[9] = convert_uchar_sat(o[1]);\n"
    "}\n"
    "__kernel void real(__global const long *in, __global float *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  vstore4((float4)(convert_float_rtz(in[i]), convert_float_rtp(in[i]), convert_float_rtn(in[i]), "
    "convert_float(in[i])), i, out);\n"
    "}\n"
    "__kernel void pixels(__global const float4 *in, __global uchar4 *out, __global int *bits) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = convert_uchar4_sat_rte(in[i] * 255.0f);\n"
    "  bits[i] = as_int(in[i].x) ^ as_int(out[i]);\n"
    "}\n"
    "__kernel void halves(__global const float *in, __global half *h, __global float *back) {\n"
    "  size_t i = get_global_id(0);\n"
    "  vstore_half(in[i], i, h);\n"
    "  vstore_half_rtz(in[i], get_global_size(0) + i, h);\n"
    "  back[i] = vload_half(i, h);\n"
    "  if (i % 4 == 0) vstore_half4_rtp(vload4(i / 4, in), get_global_size(0) / 2 + i / 4, h);\n"
    "}\n";

enum { kCount = 256 };

static int Saturate(double x, double low, double high) {
  return x != x ? 0 : (int)(x < low ? low : x > high ? high : x);
}

int main(void) {
  static float in[kCount], reals[4 * kCount], colors[4 * kCount], back[kCount];
  static int whole[10 * kCount], bits[kCount];
  static cl_long longs[kCount];
  static cl_uchar pixels[4 * kCount];
  static cl_ushort halves[3 * kCount];
  const float special[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 127.5f, -128.5f,  255.5f,
                           256,  -1,   3e9f, -3e9f, 5e9f,  NAN,    INFINITY, -INFINITY};
  int i, k;
  for (i = 0; i < kCount; ++i) {
    in[i] = i < 16 ? special[i] : (float)((int)(Random() % 200000) - 100000) / 16;
    longs[i] = (cl_long)((cl_ulong)Random() << 31 ^ Random()) - ((cl_long)1 << 61);
    for (k = 0; k < 4; ++k) colors[4 * i + k] = (float)(Random() % 1300) / 1000 - 0.1f;
  }
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  const cl_mem_flags copy = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_mem buffers[] = {MakeBuffer(copy, sizeof(in), in),         MakeBuffer(copy, sizeof(whole), whole),
                      MakeBuffer(copy, sizeof(longs), longs),   MakeBuffer(copy, sizeof(reals), reals),
                      MakeBuffer(copy, sizeof(colors), colors), MakeBuffer(copy, sizeof(pixels), pixels),
                      MakeBuffer(copy, sizeof(bits), bits),     MakeBuffer(copy, sizeof(halves), halves),
                      MakeBuffer(copy, sizeof(back), back)};
  static const struct {
    const char *name;
    int arguments[3];
  } launches[] = {{"whole", {0, 1, -1}}, {"real", {2, 3, -1}}, {"pixels", {4, 5, 6}}, {"halves", {0, 7, 8}}};
  for (i = 0; i < 4; ++i) {
    cl_kernel kernel = MakeKernel(program, launches[i].name);
    for (k = 0; k < 3 && launches[i].arguments[k] >= 0; ++k)
      SetBuffer(kernel, (cl_uint)k, buffers[launches[i].arguments[k]]);
    Run1(kernel, kCount, 64);
  }
  Read(buffers[1], whole, sizeof(whole));
  Read(buffers[3], reals, sizeof(reals));
  Read(buffers[5], pixels, sizeof(pixels));
  Read(buffers[6], bits, sizeof(bits));
  Read(buffers[7], halves, sizeof(halves));
  Read(buffers[8], back, sizeof(back));
  const double low = -2147483648.0, high = 2147483647.0;
  for (i = 0; i < kCount; ++i) {
    const double x = in[i];
    const int wanted[7] = {Saturate(trunc(x), low, high), Saturate(rint(x), low, high), Saturate(ceil(x), low, high),
                           Saturate(floor(x), low, high), Saturate(trunc(x), 0, 255),   Saturate(rint(x), -128, 127),
                           Saturate(floor(x), 0, 65535)};
    for (k = 0; k < 7; ++k) EXPECT_ELEMENT(10 * i + k, whole[10 * i + k], wanted[k]);
    const double natural = trunc(x) < 0 || x != x ? 0 : trunc(x) > 4294967295.0 ? 4294967295.0 : trunc(x);
    EXPECT_ELEMENT(i, (cl_uint)whole[10 * i + 7], (cl_uint)natural);
    EXPECT_ELEMENT(i, whole[10 * i + 8], Saturate(wanted[0], -32768, 32767));
    EXPECT_ELEMENT(i, whole[10 * i + 9], Saturate(wanted[1], 0, 255));
    /* Rounded outwards or inwards, the number lies between, with no other float between. */
    const float *r = reals + 4 * i;
    const double exact = (double)longs[i];
    EXPECT(fabs(r[0]) <= fabs(exact) && r[1] >= exact && r[2] <= exact && r[3] == (float)longs[i]);
    EXPECT(r[1] == r[2] || nextafterf(r[2], INFINITY) == r[1]);
    for (k = 0; k < 4; ++k) EXPECT_ELEMENT(i, pixels[4 * i + k], Saturate(rintf(colors[4 * i + k] * 255.0f), 0, 255));
    int first, packed;
    memcpy(&first, colors + 4 * i, 4);
    memcpy(&packed, pixels + 4 * i, 4);
    EXPECT(bits[i] == (first ^ packed));
    /* 11 significant bits. */
    if (in[i] == in[i] && fabs(x) < 65504) {
      EXPECT(fabs(back[i] - x) <= fabs(x) / 2048);
    } else {
      EXPECT(in[i] != in[i] ? back[i] != back[i] : isinf(back[i]));
    }
  }
  EXPECT(halves[0] == 0x3800 && halves[1] == 0x3e00 && halves[3] == 0xb800);
  printf("conversions: %d %d %04x %04x\n", whole[0], whole[11], halves[20], halves[kCount + 20]);
  CloseDevice();
  printf("conversions: passed\n");
  return 0;
}
