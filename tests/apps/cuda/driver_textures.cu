// The driver API's arrays, copies of blocks, texture and surface objects, and references of a module.
// module: driver_textures_module.cu
#include <cuda.h>
#include <string.h>

#include "check.h"

#define DRIVER(call)                                              \
  do {                                                            \
    CUresult driver_result = (call);                              \
    if (driver_result != CUDA_SUCCESS) {                          \
      const char* text;                                           \
      cuGetErrorString(driver_result, &text);                     \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text); \
      exit(1);                                                    \
    }                                                             \
  } while (0)

CUarray MakeArray(size_t width, size_t height, size_t depth, CUarray_format format, unsigned int channels,
                  unsigned int flags) {
  CUDA_ARRAY3D_DESCRIPTOR wanted = {width, height, depth, format, channels, flags}, got;
  CUarray array;
  DRIVER(cuArray3DCreate(&array, &wanted));
  DRIVER(cuArray3DGetDescriptor(&got, array));
  EXPECT(got.Width == width && got.Height == height && got.Depth == depth && got.Format == format &&
         got.NumChannels == channels && got.Flags == flags);
  return array;
}

// Parts of a block of 5 x 4 x 3 floats through an array of 4 x 3 x 2 and back.
void CopyBlocks() {
  float from[3][4][5], to[3][4][5];
  for (int i = 0; i < 60; ++i) from[0][0][i] = static_cast<float>(i);
  memset(to, 0, sizeof(to));
  CUarray array = MakeArray(4, 3, 2, CU_AD_FORMAT_FLOAT, 1, 0);
  CUDA_MEMCPY3D copy;
  memset(&copy, 0, sizeof(copy));
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  copy.srcPitch = sizeof(from[0][0]);
  copy.srcHeight = 4;
  copy.srcXInBytes = sizeof(float);
  copy.srcY = copy.srcZ = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 4 * sizeof(float);
  copy.Height = 3;
  copy.Depth = 2;
  DRIVER(cuMemcpy3D(&copy));
  copy.Depth = 3;
  EXPECT(cuMemcpy3D(&copy) == CUDA_ERROR_INVALID_VALUE);
  memset(&copy, 0, sizeof(copy));
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.srcXInBytes = 2 * sizeof(float);
  copy.srcZ = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  copy.dstPitch = sizeof(to[0][0]);
  copy.dstHeight = 4;
  copy.dstY = copy.dstZ = 1;
  copy.WidthInBytes = 2 * sizeof(float);
  copy.Height = 3;
  copy.Depth = 1;
  DRIVER(cuMemcpy3DAsync(&copy, NULL));
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 2; ++x) EXPECT(to[1][1 + y][x] == from[2][1 + y][3 + x]);
  }
  EXPECT(to[1][0][0] == 0 && to[1][1][2] == 0 && to[2][1][0] == 0);
  DRIVER(cuArrayDestroy(array));
  EXPECT(cuArrayDestroy(array) != CUDA_SUCCESS);
}

// Bytes along one row: host, array, device memory, another array, host.
void CopyLines() {
  unsigned char from[16], to[16];
  for (int i = 0; i < 16; ++i) from[i] = static_cast<unsigned char>(3 * i + 1);
  const CUDA_ARRAY_DESCRIPTOR wanted = {16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  CUDA_ARRAY_DESCRIPTOR got;
  CUarray a, b;
  CUdeviceptr device;
  DRIVER(cuArrayCreate(&a, &wanted));
  DRIVER(cuArrayCreate(&b, &wanted));
  DRIVER(cuArrayGetDescriptor(&got, a));
  EXPECT(got.Width == 16 && got.Height == 0 && got.Format == CU_AD_FORMAT_UNSIGNED_INT8 && got.NumChannels == 1);
  DRIVER(cuMemAlloc(&device, 16));
  DRIVER(cuMemcpyHtoA(a, 0, from, 16));
  DRIVER(cuMemcpyAtoD(device, a, 4, 12));
  DRIVER(cuMemcpyDtoA(b, 2, device, 12));
  DRIVER(cuMemcpyAtoA(b, 0, a, 1, 2));
  DRIVER(cuMemcpyAtoH(to, b, 0, 14));
  EXPECT(to[0] == from[1] && to[1] == from[2]);
  for (int i = 2; i < 14; ++i) EXPECT(to[i] == from[i + 2]);
  EXPECT(cuMemcpyHtoA(a, 8, from, 9) == CUDA_ERROR_INVALID_VALUE);
  DRIVER(cuMemFree(device));
  DRIVER(cuArrayDestroy(a));
  DRIVER(cuArrayDestroy(b));
}

void UseReferences(CUmodule module) {
  const int width = 8, height = 4, count = width * height;
  float line[count];
  unsigned char picture[height][width];
  int numbers[height][width], board[height][width];
  for (int i = 0; i < count; ++i) {
    line[i] = 0.5f * i;
    picture[0][i] = static_cast<unsigned char>(7 * i);
    numbers[0][i] = 1000 - i;
  }
  CUtexref reference;
  EXPECT(cuModuleGetTexRef(&reference, module, "no_such") == CUDA_ERROR_NOT_FOUND);
  // Linear memory; the format comes after the address.
  CUdeviceptr line_memory, number_memory, out;
  DRIVER(cuMemAlloc(&line_memory, sizeof(line)));
  DRIVER(cuMemcpyHtoD(line_memory, line, sizeof(line)));
  DRIVER(cuModuleGetTexRef(&reference, module, "line"));
  DRIVER(cuTexRefSetAddress(NULL, reference, line_memory, sizeof(line)));
  DRIVER(cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, 1));
  // An array, read as numbers up to 1.
  CUarray picture_array = MakeArray(width, height, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
  CUDA_MEMCPY2D copy;
  memset(&copy, 0, sizeof(copy));
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = picture;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = picture_array;
  copy.WidthInBytes = width;
  copy.Height = height;
  DRIVER(cuMemcpy2DUnaligned(&copy));
  CUtexref picture_reference;
  DRIVER(cuModuleGetTexRef(&picture_reference, module, "picture"));
  DRIVER(cuTexRefSetArray(picture_reference, picture_array, CU_TRSA_OVERRIDE_FORMAT));
  DRIVER(cuTexRefSetAddressMode(picture_reference, 0, CU_TR_ADDRESS_MODE_CLAMP));
  DRIVER(cuTexRefSetAddressMode(picture_reference, 1, CU_TR_ADDRESS_MODE_CLAMP));
  DRIVER(cuTexRefSetFilterMode(picture_reference, CU_TR_FILTER_MODE_LINEAR));
  DRIVER(cuTexRefSetFlags(picture_reference, 0));
  // Pitched memory of integers.
  size_t pitch;
  DRIVER(cuMemAllocPitch(&number_memory, &pitch, sizeof(numbers[0]), height, 4));
  memset(&copy, 0, sizeof(copy));
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = numbers;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = number_memory;
  copy.dstPitch = pitch;
  copy.WidthInBytes = sizeof(numbers[0]);
  copy.Height = height;
  DRIVER(cuMemcpy2D(&copy));
  const CUDA_ARRAY_DESCRIPTOR description = {width, height, CU_AD_FORMAT_SIGNED_INT32, 1};
  DRIVER(cuModuleGetTexRef(&reference, module, "numbers"));
  DRIVER(cuTexRefSetFlags(reference, CU_TRSF_READ_AS_INTEGER));
  DRIVER(cuTexRefSetAddress2D(reference, &description, number_memory, pitch));
  CUarray board_array = MakeArray(width, height, 0, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
  CUsurfref surface;
  DRIVER(cuModuleGetSurfRef(&surface, module, "board"));
  DRIVER(cuSurfRefSetArray(surface, board_array, 0));

  CUfunction kernel;
  DRIVER(cuModuleGetFunction(&kernel, module, "ReadReferences"));
  float results[count][3];
  DRIVER(cuMemAlloc(&out, sizeof(results)));
  int argument = width;
  void* arguments[] = {&out, &argument};
  DRIVER(cuLaunchKernel(kernel, height, 1, 1, width, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuMemcpyDtoH(results, out, sizeof(results)));
  for (int i = 0; i < count; ++i) {
    EXPECT(results[i][0] == line[i]);
    EXPECT_NEAR(results[i][1], picture[0][i] / 255.0, 1e-6);
    EXPECT(results[i][2] == numbers[0][i]);
  }
  memset(&copy, 0, sizeof(copy));
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = board_array;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = board;
  copy.WidthInBytes = sizeof(board[0]);
  copy.Height = height;
  DRIVER(cuMemcpy2D(&copy));
  for (int i = 0; i < count; ++i) EXPECT(board[0][i] == 10 * (i % width) + i / width);
  copy.Height = height + 1;
  EXPECT(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);
  // What is set later holds from the next launch: the reading of coordinates from 0 to 1, all of them the last texel.
  DRIVER(cuTexRefSetFlags(picture_reference, CU_TRSF_NORMALIZED_COORDINATES));
  DRIVER(cuLaunchKernel(kernel, height, 1, 1, width, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuMemcpyDtoH(results, out, sizeof(results)));
  EXPECT_NEAR(results[count - 1][1], picture[height - 1][width - 1] / 255.0, 1e-6);
  EXPECT_NEAR(results[width + 1][1], picture[height - 1][width - 1] / 255.0, 1e-6);
  DRIVER(cuMemFree(line_memory));
  DRIVER(cuMemFree(number_memory));
  DRIVER(cuMemFree(out));
  DRIVER(cuArrayDestroy(picture_array));
  DRIVER(cuArrayDestroy(board_array));
}

void UseObjects(CUmodule module) {
  const int count = 24;
  float volume[count], results[count][2];
  unsigned short row[count];
  unsigned char plane[3][8];
  for (int i = 0; i < count; ++i) {
    volume[i] = 100.0f - i;
    row[i] = static_cast<unsigned short>(2000 * i);
  }
  CUarray array = MakeArray(4, 3, 2, CU_AD_FORMAT_FLOAT, 1, 0);
  CUDA_MEMCPY3D copy;
  memset(&copy, 0, sizeof(copy));
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = volume;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 4 * sizeof(float);
  copy.Height = 3;
  copy.Depth = 2;
  DRIVER(cuMemcpy3D(&copy));
  CUDA_RESOURCE_DESC resource, got;
  CUDA_TEXTURE_DESC description;
  memset(&resource, 0, sizeof(resource));
  memset(&description, 0, sizeof(description));
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUtexObject volume_object, row_object;
  DRIVER(cuTexObjectCreate(&volume_object, &resource, &description, NULL));
  DRIVER(cuTexObjectGetResourceDesc(&got, volume_object));
  EXPECT(got.resType == CU_RESOURCE_TYPE_ARRAY && got.res.array.hArray == array);
  CUdeviceptr row_memory, out;
  DRIVER(cuMemAlloc(&row_memory, sizeof(row)));
  DRIVER(cuMemcpyHtoD(row_memory, row, sizeof(row)));
  memset(&resource, 0, sizeof(resource));
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear.devPtr = row_memory;
  resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT16;
  resource.res.linear.numChannels = 1;
  resource.res.linear.sizeInBytes = sizeof(row);
  DRIVER(cuTexObjectCreate(&row_object, &resource, &description, NULL));
  DRIVER(cuTexObjectGetResourceDesc(&got, row_object));
  EXPECT(got.res.linear.devPtr == row_memory && got.res.linear.format == CU_AD_FORMAT_UNSIGNED_INT16 &&
         got.res.linear.numChannels == 1 && got.res.linear.sizeInBytes == sizeof(row));
  CUarray plane_array = MakeArray(8, 3, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_SURFACE_LDST);
  memset(&resource, 0, sizeof(resource));
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = plane_array;
  CUsurfObject surface;
  DRIVER(cuSurfObjectCreate(&surface, &resource));
  CUfunction kernel;
  DRIVER(cuModuleGetFunction(&kernel, module, "ReadObjects"));
  DRIVER(cuMemAlloc(&out, sizeof(results)));
  void* arguments[] = {&volume_object, &row_object, &surface, &out};
  DRIVER(cuLaunchKernel(kernel, 1, 1, 1, count, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuMemcpyDtoH(results, out, sizeof(results)));
  CUDA_MEMCPY2D back;
  memset(&back, 0, sizeof(back));
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  back.srcArray = plane_array;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = plane;
  back.WidthInBytes = 8;
  back.Height = 3;
  DRIVER(cuMemcpy2DAsync(&back, NULL));
  for (int i = 0; i < count; ++i) {
    EXPECT(results[i][0] == volume[i]);
    EXPECT_NEAR(results[i][1], row[i] / 65535.0, 1e-6);
    EXPECT(plane[0][i] == 200 - i);
  }
  DRIVER(cuTexObjectDestroy(volume_object));
  DRIVER(cuTexObjectDestroy(row_object));
  DRIVER(cuSurfObjectDestroy(surface));
  EXPECT(cuTexObjectDestroy(row_object) == CUDA_ERROR_INVALID_VALUE);
  DRIVER(cuMemFree(row_memory));
  DRIVER(cuMemFree(out));
  DRIVER(cuArrayDestroy(array));
  DRIVER(cuArrayDestroy(plane_array));
}

int main(int argc, char** argv) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuCtxCreate(&context, 0, device));
  DRIVER(cuModuleLoad(&module, argc > 1 ? argv[1] : "driver_textures_module.cubin"));
  CopyBlocks();
  CopyLines();
  UseReferences(module);
  UseObjects(module);
  DRIVER(cuModuleUnload(module));
  DRIVER(cuCtxDestroy(context));
  return Finish();
}
