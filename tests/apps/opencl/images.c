/* Two-dimensional images: reads with samplers of all kinds, formats, writes, copies, fills, rows with a pitch. */
#include "app.h"

static const char *source =
    "__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "__kernel void blur(read_only image2d_t in, write_only image2d_t out) {\n"
    "  int2 c = (int2)(get_global_id(0), get_global_id(1));\n"
    "  float4 sum = 0;\n"
    "  for (int y = -1; y <= 1; ++y)\n"
    "    for (int x = -1; x <= 1; ++x) sum += read_imagef(in, nearest, c + (int2)(x, y));\n"
    "  if (c.x < get_image_width(out) && c.y < get_image_height(out)) write_imagef(out, c, sum / 9.0f);\n"
    "}\n"
    "__kernel void sample(read_only image2d_t in, sampler_t s, __global const float2 *at, __global float4 *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = read_imagef(in, s, at[i]);\n"
    "}\n"
    "__kernel void numbers(read_only image2d_t in, write_only image2d_t out, sampler_t s) {\n"
    "  int2 c = (int2)(get_global_id(0), get_global_id(1));\n"
    "  int4 v = read_imagei(in, s, c - (int2)(1, 0));\n"
    "  write_imagei(out, c, v * 2 + (int4)(1, 2, 3, 4));\n"
    "}\n";

enum { kWidth = 32, kHeight = 16 };

static float Texel(const float *image, int x, int y) {
  x = x < 0 ? 0 : x >= kWidth ? kWidth - 1 : x;
  y = y < 0 ? 0 : y >= kHeight ? kHeight - 1 : y;
  return image[y * kWidth + x];
}

/* OpenCL 1.2, section 8.2: the four texels around, weighted. */
static float Linear(const float *image, float u, float v) {
  const float x = floorf(u - 0.5f), y = floorf(v - 0.5f), a = u - 0.5f - x, b = v - 0.5f - y;
  const int i = (int)x, j = (int)y;
  return (1 - a) * (1 - b) * Texel(image, i, j) + a * (1 - b) * Texel(image, i + 1, j) +
         (1 - a) * b * Texel(image, i, j + 1) + a * b * Texel(image, i + 1, j + 1);
}

static cl_mem MakeImage(cl_mem_flags flags, cl_channel_order order, cl_channel_type type, size_t pitch, void *host) {
  const cl_image_format format = {order, type};
  cl_image_desc description;
  cl_int error;
  memset(&description, 0, sizeof(description));
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = kWidth;
  description.image_height = kHeight;
  description.image_row_pitch = pitch;
  cl_mem image = clCreateImage(context, flags, &format, &description, host, &error);
  CALL(error);
  return image;
}

int main(void) {
  static float in[kWidth * kHeight], out[kWidth * kHeight];
  const size_t zero[3] = {0, 0, 0}, all[3] = {kWidth, kHeight, 1}, global[2] = {kWidth, kHeight}, local[2] = {8, 8};
  int i, x, y;
  for (i = 0; i < kWidth * kHeight; ++i) in[i] = (float)(Random() % 512) / 16;
  OpenDevice(0);
  cl_bool images = CL_FALSE;
  CALL(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof(images), &images, NULL));
  EXPECT(images);
  cl_program program = BuildSource(source, "");

  cl_mem a = MakeImage(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, CL_R, CL_FLOAT, 0, in);
  cl_mem b = MakeImage(CL_MEM_WRITE_ONLY, CL_R, CL_FLOAT, 0, NULL);
  cl_kernel blur = MakeKernel(program, "blur");
  SetBuffer(blur, 0, a);
  SetBuffer(blur, 1, b);
  CALL(clEnqueueNDRangeKernel(queue, blur, 2, NULL, global, local, 0, NULL, NULL));
  CALL(clEnqueueReadImage(queue, b, CL_TRUE, zero, all, 0, 0, out, 0, NULL, NULL));
  for (y = 0; y < kHeight; ++y) {
    for (x = 0; x < kWidth; ++x) {
      float sum = 0;
      int dx, dy;
      for (dy = -1; dy <= 1; ++dy)
        for (dx = -1; dx <= 1; ++dx) sum += Texel(in, x + dx, y + dy);
      EXPECT_CLOSE(y * kWidth + x, out[y * kWidth + x], sum / 9, 1e-6);
    }
  }

  /* Linear filtering in texels, and normalised coordinates that repeat. */
  enum { kSamples = 64 };
  static cl_float2 at[kSamples];
  static cl_float4 got[kSamples];
  cl_int error;
  cl_sampler linear = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, &error);
  CALL(error);
  cl_sampler repeat = clCreateSampler(context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, &error);
  CALL(error);
  cl_sampler border = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error);
  CALL(error);
  for (i = 0; i < kSamples; ++i) {
    at[i].s[0] = (float)(Random() % 1200) / 32 - 2;
    at[i].s[1] = (float)(Random() % 640) / 32 - 2;
  }
  cl_kernel sample = MakeKernel(program, "sample");
  cl_mem places = MakeBuffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(at), at);
  cl_mem samples = MakeBuffer(CL_MEM_WRITE_ONLY, sizeof(got), NULL);
  SetBuffer(sample, 0, a);
  CALL(clSetKernelArg(sample, 1, sizeof(linear), &linear));
  SetBuffer(sample, 2, places);
  SetBuffer(sample, 3, samples);
  Run1(sample, kSamples, 32);
  Read(samples, got, sizeof(got));
  for (i = 0; i < kSamples; ++i) {
    /* Devices may take weights with eight bits after the point. */
    EXPECT(fabsf(got[i].s[0] - Linear(in, at[i].s[0], at[i].s[1])) <= 32.0f / 128);
    EXPECT(got[i].s[1] == 0 && got[i].s[2] == 0 && got[i].s[3] == 1);
  }
  for (i = 0; i < kSamples; ++i) {
    at[i].s[0] = (float)((int)(Random() % 128) - 64) / kWidth + 0.5f / kWidth;
    at[i].s[1] = (float)((int)(Random() % 64) - 32) / kHeight + 0.5f / kHeight;
  }
  CALL(clEnqueueWriteBuffer(queue, places, CL_TRUE, 0, sizeof(at), at, 0, NULL, NULL));
  CALL(clSetKernelArg(sample, 1, sizeof(repeat), &repeat));
  Run1(sample, kSamples, 32);
  Read(samples, got, sizeof(got));
  for (i = 0; i < kSamples; ++i) {
    x = (int)floorf(at[i].s[0] * kWidth);
    y = (int)floorf(at[i].s[1] * kHeight);
    EXPECT_ELEMENT(i, got[i].s[0], in[(y + 4 * kHeight) % kHeight * kWidth + (x + 4 * kWidth) % kWidth]);
  }

  /* Integers of 8 bits in rows with a pitch; texels outside are zero. */
  static cl_char bytes[kHeight][80 * 2], results[kHeight][kWidth * 2];
  for (y = 0; y < kHeight; ++y)
    for (x = 0; x < 160; ++x) bytes[y][x] = (cl_char)((int)(Random() % 200) - 100);
  cl_mem c = MakeImage(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, CL_RG, CL_SIGNED_INT8, 160, bytes);
  cl_mem d = MakeImage(CL_MEM_READ_WRITE, CL_RG, CL_SIGNED_INT8, 0, NULL);
  const cl_int color[4] = {5, -300, 0, 0};
  CALL(clEnqueueFillImage(queue, d, color, zero, all, 0, NULL, NULL));
  CALL(clEnqueueReadImage(queue, d, CL_TRUE, zero, all, 0, 0, results, 0, NULL, NULL));
  EXPECT(results[3][10] == 5 && results[3][11] == -128);
  cl_kernel numbers = MakeKernel(program, "numbers");
  SetBuffer(numbers, 0, c);
  SetBuffer(numbers, 1, d);
  CALL(clSetKernelArg(numbers, 2, sizeof(border), &border));
  CALL(clEnqueueNDRangeKernel(queue, numbers, 2, NULL, global, NULL, 0, NULL, NULL));
  /* Half of it moved, through a buffer. */
  const size_t left[3] = {0, 0, 0}, right[3] = {kWidth / 2, 0, 0}, half[3] = {kWidth / 2, kHeight, 1};
  cl_mem between = MakeBuffer(CL_MEM_READ_WRITE, kWidth * kHeight, NULL);
  CALL(clEnqueueCopyImageToBuffer(queue, d, between, left, half, 0, 0, NULL, NULL));
  CALL(clEnqueueCopyBufferToImage(queue, between, d, 0, right, half, 0, NULL, NULL));
  EXPECT(clEnqueueCopyImage(queue, d, d, left, left, half, 0, NULL, NULL) == CL_MEM_COPY_OVERLAP);
  size_t pitch = 0;
  cl_char *mapped =
      (cl_char *)clEnqueueMapImage(queue, d, CL_TRUE, CL_MAP_READ, zero, all, &pitch, NULL, 0, NULL, NULL, &error);
  CALL(error);
  for (y = 0; y < kHeight; ++y) {
    for (x = 0; x < kWidth; ++x) {
      const int from = x % (kWidth / 2) - 1;
      for (i = 0; i < 2; ++i) {
        const int wanted = (from < 0 ? 0 : bytes[y][2 * from + i]) * 2 + 1 + i;
        EXPECT_ELEMENT(y * kWidth + x, mapped[y * pitch + 2 * x + i],
                       wanted < -128  ? -128
                       : wanted > 127 ? 127
                                      : wanted);
      }
    }
  }
  CALL(clEnqueueUnmapMemObject(queue, d, mapped, 0, NULL, NULL));
  printf("images: %g %g\n", out[100], got[5].s[0]);
  CloseDevice();
  printf("images: passed\n");
  return 0;
}
