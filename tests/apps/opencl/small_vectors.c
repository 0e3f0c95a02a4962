/* Vectors of bytes and 16-bit integers, at any address: PTX takes them apart, or keeps four bytes in a register. */
#include "app.h"

static const char *source =
    "#define JOIN_(a, b) a##b\n"
    "#define JOIN(a, b) JOIN_(a, b)\n"
    "#define V JOIN(T, N)\n"
    "#define LOAD JOIN(vload, N)\n"
    "#define STORE JOIN(vstore, N)\n"
    "#define WIDE JOIN(int, N)\n"
    "__kernel void widen(__global const T *in, __global int *out, int skip) {\n"
    "  size_t i = get_global_id(0);\n"
    "  STORE(JOIN(convert_, WIDE)(LOAD(i, in + skip)) * 3 - 1, i, out);\n"
    "}\n"
    "__kernel void turn(__global const T *in, __global T *out, __global V *whole) {\n"
    "  __local V tile[32];\n"
    "  size_t i = get_local_id(0), at = get_global_id(0);\n"
    "  tile[i] = LOAD(at, in + 1);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  V other = tile[31 - i];\n"
    "  whole[at] = other;\n"
    "  STORE(other + (V)(at), at, out + 1);\n"
    "}\n"
    "__kernel void narrow(__global const int *in, __global T *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  STORE(JOIN(JOIN(convert_, V), _sat)(LOAD(i, in) - 70), i, out + 3);\n"
    "}\n"
    "__kernel void gather(__global const T *in, __global int *out, int n) {\n"
    "  size_t i = get_global_id(0);\n"
    "  WIDE sum = (WIDE)(0);\n"
    "  for (int k = 0; k < 4; ++k) {\n"
    "    int at = (int)((i * 7 + k * 5) % n);\n"
    "    if (at % 3 != 1) sum += JOIN(convert_, WIDE)(LOAD(0, in + at));\n"
    "  }\n"
    "  STORE(sum, i, out);\n"
    "}\n";

enum { kCount = 64, kMost = 16 * kCount + 16 };

static unsigned char input[2 * kMost], output[2 * kMost];
static int numbers[kMost];

/* Element i of an array of the type `name`. */
static int Element(const void *array, const char *name, int i) {
  switch (name[0] == 'u' ? name[1] - 'a' + 'A' : name[0]) {
    case 'c':
      return ((const signed char *)array)[i];
    case 'C':
      return ((const unsigned char *)array)[i];
    case 's':
      return ((const short *)array)[i];
    default:
      return ((const unsigned short *)array)[i];
  }
}

static int Saturated(const char *name, int value) {
  const int bits = strchr(name, 'c') != NULL ? 8 : 16;
  const int least = name[0] == 'u' ? 0 : -(1 << (bits - 1)), most = least + (1 << bits) - 1;
  return value < least ? least : value > most ? most : value;
}

static int Wrapped(const char *name, int value) {
  const int bits = strchr(name, 'c') != NULL ? 8 : 16, all = (1 << bits) - 1;
  value &= all;
  return name[0] != 'u' && value > all / 2 ? value - all - 1 : value;
}

static void Try(const char *name, int width) {
  const int stride = width == 3 ? 4 : width; /* of elements of an array of vectors */
  char options[64];
  int i, k, e;
  snprintf(options, sizeof(options), "-D T=%s -D N=%d", name, width);
  cl_program program = BuildSource(source, options);
  cl_mem in = MakeBuffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(input), input);
  cl_mem out = MakeBuffer(CL_MEM_READ_WRITE, sizeof(output), NULL);
  cl_mem whole = MakeBuffer(CL_MEM_READ_WRITE, sizeof(output), NULL);
  cl_mem wide = MakeBuffer(CL_MEM_READ_WRITE, sizeof(numbers), NULL);

  cl_kernel widen = MakeKernel(program, "widen");
  const int skip = 5;
  SetBuffer(widen, 0, in);
  SetBuffer(widen, 1, wide);
  SetInt(widen, 2, skip);
  Run1(widen, kCount, 32);
  Read(wide, numbers, sizeof(numbers));
  for (i = 0; i < kCount * width; ++i) EXPECT_ELEMENT(i, numbers[i], Element(input, name, i + skip) * 3 - 1);

  cl_kernel narrow = MakeKernel(program, "narrow");
  SetBuffer(narrow, 0, wide);
  SetBuffer(narrow, 1, out);
  Run1(narrow, kCount, 32);
  Read(out, output, sizeof(output));
  for (i = 0; i < kCount * width; ++i) {
    EXPECT_ELEMENT(i, Element(output, name, i + 3), Saturated(name, numbers[i] - 70));
  }

  cl_kernel turn = MakeKernel(program, "turn");
  SetBuffer(turn, 0, in);
  SetBuffer(turn, 1, out);
  SetBuffer(turn, 2, whole);
  Run1(turn, kCount, 32);
  Read(out, output, sizeof(output));
  for (i = 0; i < kCount; ++i) {
    for (e = 0; e < width; ++e) {
      const int from = Element(input, name, (i / 32 * 32 + 31 - i % 32) * width + e + 1);
      EXPECT_ELEMENT(i, Element(output, name, i * width + e + 1), Wrapped(name, from + i));
    }
  }
  Read(whole, output, sizeof(output));
  for (i = 0; i < kCount; ++i) {
    for (e = 0; e < width; ++e) {
      const int from = Element(input, name, (i / 32 * 32 + 31 - i % 32) * width + e + 1);
      EXPECT_ELEMENT(i, Element(output, name, i * stride + e), from);
    }
  }

  cl_kernel gather = MakeKernel(program, "gather");
  const int range = 100;
  SetBuffer(gather, 0, in);
  SetBuffer(gather, 1, wide);
  SetInt(gather, 2, range);
  Run1(gather, kCount, 32);
  Read(wide, numbers, sizeof(numbers));
  for (i = 0; i < kCount; ++i) {
    for (e = 0; e < width; ++e) {
      int sum = 0;
      for (k = 0; k < 4; ++k) {
        const int at = (i * 7 + k * 5) % range;
        if (at % 3 != 1) sum += Element(input, name, at + e);
      }
      EXPECT_ELEMENT(i, numbers[i * width + e], sum);
    }
  }
  clReleaseMemObject(in);
  clReleaseMemObject(out);
  clReleaseMemObject(whole);
  clReleaseMemObject(wide);
}

int main(void) {
  static const struct {
    const char *type;
    int width;
  } kinds[] = {{"uchar", 3}, {"char", 4}, {"ushort", 2}, {"short", 3}, {"uchar", 16}};
  size_t i;
  OpenDevice(0);
  for (i = 0; i < sizeof(input); ++i) input[i] = (unsigned char)Random();
  for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) Try(kinds[i].type, kinds[i].width);
  CloseDevice();
  printf("small vectors: passed\n");
  return 0;
}
