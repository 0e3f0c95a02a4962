/* Images of one and three dimensions, arrays of images, an image over a buffer; normalised and half-float formats. */
#include "app.h"

static const char *source =
    "__kernel void volume(read_only image3d_t in, write_only image3d_t out, sampler_t s) {\n"
    "  int4 c = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
    "  uint4 v = read_imageui(in, s, c.yxzw);\n"
    "  write_imageui(out, c, v + (uint4)(get_image_depth(in)));\n"
    "}\n"
    "__kernel void layers(read_only image2d_array_t in, __global float4 *out) {\n"
    "  int4 c = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
    "  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
    "  size_t layer = get_image_array_size(in);\n"
    "  if (get_image_channel_order(in) != CLK_BGRA || get_image_channel_data_type(in) != CLK_UNORM_INT8) layer = 99;\n"
    "  out[(c.z * get_global_size(1) + c.y) * get_global_size(0) + c.x] = read_imagef(in, s, c) + (float)layer;\n"
    "}\n"
    "__kernel void lines(read_only image1d_t a, read_only image1d_array_t b, read_only image1d_buffer_t c, __global "
    "float *out) {\n"
    "  int i = get_global_id(0);\n"
    "  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "  out[i] = read_imagef(a, s, i).x + read_imagef(b, s, (int2)(i, 1)).x * 100 + read_imagei(c, i).x * 1000;\n"
    "}\n";

static cl_mem MakeImage(cl_mem_flags flags, cl_mem_object_type type, cl_channel_order order, cl_channel_type channel,
                        size_t width, size_t height, size_t depth, size_t layers, cl_mem buffer, void *host) {
  const cl_image_format format = {order, channel};
  cl_image_desc description;
  cl_int error;
  memset(&description, 0, sizeof(description));
  description.image_type = type;
  description.image_width = width;
  description.image_height = height;
  description.image_depth = depth;
  description.image_array_size = layers;
  description.buffer = buffer;
  cl_mem image = clCreateImage(context, flags, &format, &description, host, &error);
  CALL(error);
  return image;
}

int main(void) {
  static cl_ushort volume[4][8][8][4], moved[4][8][8][4];
  static cl_uchar layers[3][4][16][4];
  static cl_float colors[3][4][16][4], lines[16];
  static cl_uchar line[16], rows[2][16];
  static cl_int numbers[16];
  const cl_mem_flags copy = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  int i, x, y, z;
  for (i = 0; i < 4 * 8 * 8 * 4; ++i) (&volume[0][0][0][0])[i] = (cl_ushort)(Random() % 60000);
  for (i = 0; i < 3 * 4 * 16 * 4; ++i) (&layers[0][0][0][0])[i] = (cl_uchar)Random();
  for (i = 0; i < 16; ++i) {
    line[i] = (cl_uchar)Random();
    rows[0][i] = (cl_uchar)Random();
    rows[1][i] = (cl_uchar)Random();
    numbers[i] = (cl_int)(Random() % 100) - 50;
  }
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  cl_int error;

  cl_mem a = MakeImage(copy, CL_MEM_OBJECT_IMAGE3D, CL_RGBA, CL_UNSIGNED_INT16, 8, 8, 4, 0, NULL, volume);
  cl_mem b = MakeImage(CL_MEM_WRITE_ONLY, CL_MEM_OBJECT_IMAGE3D, CL_RGBA, CL_UNSIGNED_INT16, 8, 8, 4, 0, NULL, NULL);
  cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
  CALL(error);
  cl_kernel kernel = MakeKernel(program, "volume");
  SetBuffer(kernel, 0, a);
  SetBuffer(kernel, 1, b);
  CALL(clSetKernelArg(kernel, 2, sizeof(sampler), &sampler));
  const size_t size[3] = {8, 8, 4}, zero[3] = {0, 0, 0};
  CALL(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, size, NULL, 0, NULL, NULL));
  CALL(clEnqueueReadImage(queue, b, CL_TRUE, zero, size, 0, 0, moved, 0, NULL, NULL));
  for (z = 0; z < 4; ++z)
    for (y = 0; y < 8; ++y)
      for (x = 0; x < 8; ++x)
        for (i = 0; i < 4; ++i) EXPECT_ELEMENT(i, moved[z][y][x][i], volume[z][x][y][i] + 4);

  cl_mem c = MakeImage(copy, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_BGRA, CL_UNORM_INT8, 16, 4, 0, 3, NULL, layers);
  cl_mem d = MakeBuffer(CL_MEM_WRITE_ONLY, sizeof(colors), NULL);
  kernel = MakeKernel(program, "layers");
  SetBuffer(kernel, 0, c);
  SetBuffer(kernel, 1, d);
  const size_t stack[3] = {16, 4, 3};
  CALL(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, stack, NULL, 0, NULL, NULL));
  Read(d, colors, sizeof(colors));
  for (z = 0; z < 3; ++z)
    for (y = 0; y < 4; ++y)
      for (x = 0; x < 16; ++x)
        for (i = 0; i < 4; ++i) {
          static const int place[4] = {2, 1, 0, 3};
          EXPECT_CLOSE(x, colors[z][y][x][i], 3 + layers[z][y][x][place[i]] / 255.0, 1e-6);
        }

  cl_mem e = MakeImage(copy, CL_MEM_OBJECT_IMAGE1D, CL_R, CL_UNORM_INT8, 16, 0, 0, 0, NULL, line);
  cl_mem f = MakeImage(copy, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_R, CL_UNORM_INT8, 16, 0, 0, 2, NULL, rows);
  cl_mem g = MakeBuffer(copy, sizeof(numbers), numbers);
  cl_mem h = MakeImage(CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_R, CL_SIGNED_INT32, 16, 0, 0, 0, g, NULL);
  cl_mem out = MakeBuffer(CL_MEM_WRITE_ONLY, sizeof(lines), NULL);
  kernel = MakeKernel(program, "lines");
  SetBuffer(kernel, 0, e);
  SetBuffer(kernel, 1, f);
  SetBuffer(kernel, 2, h);
  SetBuffer(kernel, 3, out);
  Run1(kernel, 16, 0);
  Read(out, lines, sizeof(lines));
  for (i = 0; i < 16; ++i)
    EXPECT_CLOSE(i, lines[i], line[i] / 255.0 + rows[1][i] / 255.0 * 100 + numbers[i] * 1000.0, 1e-5);
  size_t element = 0, array = 0;
  CALL(clGetImageInfo(a, CL_IMAGE_ELEMENT_SIZE, sizeof(element), &element, NULL));
  CALL(clGetImageInfo(f, CL_IMAGE_ARRAY_SIZE, sizeof(array), &array, NULL));
  EXPECT(element == 8 && array == 2);
  printf("volumes: %d %.6f\n", moved[3][7][1][2], lines[3]);
  CloseDevice();
  printf("volumes: passed\n");
  return 0;
}
