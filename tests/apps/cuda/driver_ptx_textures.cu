// Textures and surfaces in PTX, by reference and by handle: results are bit for bit those of the same kernels in CUDA.
// module: driver_ptx_textures_module.cu
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

static const char kText[] = R"(
.version 7.0
.target sm_70
.address_size 64
.global .texref line;
.global .texref picture;
.tex .u64 cube;
.global .surfref board;

.visible .entry Objects(.param .u64 row, .param .u64 plane, .param .u64 volume, .param .u64 layers,
                        .param .u64 numbers, .param .u64 bytes, .param .u64 out)
{
  .reg .b16 %rs<2>;
  .reg .b32 %r<16>;
  .reg .f32 %f<24>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd0, [row];
  ld.param.u64 %rd1, [plane];
  ld.param.u64 %rd2, [volume];
  ld.param.u64 %rd3, [layers];
  ld.param.u64 %rd4, [numbers];
  ld.param.u64 %rd5, [bytes];
  ld.param.u64 %rd6, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mad.lo.s32 %r2, %r1, 8, %r0;
  mul.lo.s32 %r3, %r2, 48;
  mul.wide.s32 %rd7, %r3, 1;
  add.s64 %rd6, %rd6, %rd7;
  cvt.rn.f32.s32 %f0, %r0;
  add.f32 %f0, %f0, 0f3E99999A;
  cvt.rn.f32.s32 %f1, %r1;
  add.f32 %f1, %f1, 0f3F19999A;
  tex.1d.v4.f32.s32 {%f2, %f3, %f4, %f5}, [%rd0, {%r2}];
  st.global.f32 [%rd6], %f2;
  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f0, %f1}];
  st.global.f32 [%rd6+4], %f2;
  mov.f32 %f6, 0f3F400000;
  tex.3d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd2, {%f0, %f1, %f6, %f6}];
  st.global.f32 [%rd6+8], %f2;
  mov.f32 %f7, 0f00000000;
  tex.level.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f0, %f1}], %f7;
  st.global.f32 [%rd6+12], %f2;
  mov.f32 %f8, 0f3DCCCCCD;
  tex.grad.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f0, %f1}], {%f8, %f7}, {%f7, %f8};
  st.global.f32 [%rd6+16], %f2;
  mov.u32 %r4, 1;
  tex.a2d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%rd3, {%r4, %f0, %f1, %f1}];
  cvt.rn.f32.s32 %f2, %r5;
  st.global.f32 [%rd6+20], %f2;
  tld4.r.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f0, %f1}];
  st.global.f32 [%rd6+24], %f2;
  st.global.f32 [%rd6+28], %f3;
  st.global.f32 [%rd6+32], %f4;
  st.global.f32 [%rd6+36], %f5;
  shl.b32 %r9, %r0, 2;
  suld.b.2d.b32.trap {%r10}, [%rd4, {%r9, %r1}];
  cvt.rn.f32.s32 %f2, %r10;
  st.global.f32 [%rd6+40], %f2;
  add.s32 %r9, %r9, 8;
  suld.b.2d.b32.zero %r10, [%rd4, {%r9, %r1}];
  cvt.rn.f32.s32 %f2, %r10;
  st.global.f32 [%rd6+44], %f2;
  cvt.u16.u32 %rs0, %r2;
  sust.b.3d.b8.trap [%rd5, {%r0, %r1, %r4, %r4}], {%rs0};
  ret;
}

.visible .entry References(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .f32 %f<12>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mad.lo.s32 %r2, %r1, 8, %r0;
  mul.wide.s32 %rd1, %r2, 12;
  add.s64 %rd0, %rd0, %rd1;
  cvt.rn.f32.s32 %f0, %r0;
  add.f32 %f0, %f0, 0f3E99999A;
  cvt.rn.f32.s32 %f1, %r1;
  add.f32 %f1, %f1, 0f3F19999A;
  tex.1d.v4.f32.s32 {%f2, _, _, _}, [line, {%r2}];
  st.global.f32 [%rd0], %f2;
  // A reference whose address is taken is a handle.
  mov.u64 %rd2, picture;
  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd2, {%f0, %f1}];
  st.global.f32 [%rd0+4], %f2;
  mov.f32 %f6, 0f3E800000;
  tex.3d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [cube, {%f0, %f1, %f6, %f6}];
  st.global.f32 [%rd0+8], %f2;
  txq.width.b32 %r3, [picture];
  suq.height.b32 %r4, [board];
  setp.ne.u32 %p0, %r3, 8;
  setp.ne.or.u32 %p0, %r4, 4, %p0;
  @%p0 trap;
  mad.lo.s32 %r5, %r0, 10, %r1;
  shl.b32 %r6, %r0, 2;
  sust.b.2d.b32.trap [board, {%r6, %r1}], {%r5};
  ret;
}
)";

enum { kWidth = 8, kHeight = 4, kCount = kWidth * kHeight, kPerObject = 12, kPerReference = 3 };

struct Results {
  float objects[kCount][kPerObject];
  float references[kCount][kPerReference];
  int board[kCount];
  unsigned char bytes[2 * kCount];
};

static CUarray MakeArray(size_t width, size_t height, size_t depth, CUarray_format format, unsigned int flags,
                         const void* contents) {
  const CUDA_ARRAY3D_DESCRIPTOR wanted = {width, height, depth, format, 1, flags};
  CUarray array;
  DRIVER(cuArray3DCreate(&array, &wanted));
  const size_t element = format == CU_AD_FORMAT_UNSIGNED_INT8 ? 1 : 4;
  CUDA_MEMCPY3D copy;
  memset(&copy, 0, sizeof(copy));
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = contents;
  copy.srcPitch = width * element;
  copy.srcHeight = height;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = width * element;
  copy.Height = height;
  copy.Depth = depth == 0 ? 1 : depth;
  DRIVER(cuMemcpy3D(&copy));
  return array;
}

static void ReadArray(CUarray array, size_t row_bytes, size_t depth, void* to) {
  CUDA_MEMCPY3D copy;
  memset(&copy, 0, sizeof(copy));
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  copy.dstPitch = row_bytes;
  copy.dstHeight = kHeight;
  copy.WidthInBytes = row_bytes;
  copy.Height = kHeight;
  copy.Depth = depth;
  DRIVER(cuMemcpy3D(&copy));
}

static CUtexObject TextureOf(CUarray array, CUfilter_mode filter, unsigned int flags) {
  CUDA_RESOURCE_DESC resource;
  CUDA_TEXTURE_DESC description;
  memset(&resource, 0, sizeof(resource));
  memset(&description, 0, sizeof(description));
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  description.addressMode[0] = description.addressMode[1] = description.addressMode[2] = CU_TR_ADDRESS_MODE_CLAMP;
  description.filterMode = filter;
  description.flags = flags;
  CUtexObject object;
  DRIVER(cuTexObjectCreate(&object, &resource, &description, NULL));
  return object;
}

static CUsurfObject SurfaceOf(CUarray array) {
  CUDA_RESOURCE_DESC resource;
  memset(&resource, 0, sizeof(resource));
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUsurfObject object;
  DRIVER(cuSurfObjectCreate(&object, &resource));
  return object;
}

static CUtexref ReferenceOf(CUmodule module, const char* name, CUarray array, unsigned int flags) {
  CUtexref reference;
  DRIVER(cuModuleGetTexRef(&reference, module, name));
  DRIVER(cuTexRefSetArray(reference, array, CU_TRSA_OVERRIDE_FORMAT));
  for (int i = 0; i < 3; ++i) DRIVER(cuTexRefSetAddressMode(reference, i, CU_TR_ADDRESS_MODE_CLAMP));
  DRIVER(cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_LINEAR));
  DRIVER(cuTexRefSetFlags(reference, flags));
  return reference;
}

// Runs both kernels of a module.
static Results Run(CUmodule module) {
  float numbers[kCount], volume[2 * kCount];
  int integers[2 * kCount];
  unsigned char bytes[2 * kCount];
  for (int i = 0; i < 2 * kCount; ++i) {
    volume[i] = 3.5f * i - 40.0f;
    integers[i] = 1000 - 7 * i;
    bytes[i] = (unsigned char)(250 - 3 * i);
  }
  for (int i = 0; i < kCount; ++i) numbers[i] = 0.25f * i * i;
  CUarray plane = MakeArray(kWidth, kHeight, 0, CU_AD_FORMAT_FLOAT, 0, numbers);
  CUarray cube = MakeArray(kWidth, kHeight, 2, CU_AD_FORMAT_FLOAT, 0, volume);
  CUarray layers = MakeArray(kWidth, kHeight, 2, CU_AD_FORMAT_SIGNED_INT32, CUDA_ARRAY3D_LAYERED, integers);
  CUarray table = MakeArray(kWidth, kHeight, 0, CU_AD_FORMAT_SIGNED_INT32, CUDA_ARRAY3D_SURFACE_LDST, integers);
  CUarray written = MakeArray(kWidth, kHeight, 2, CU_AD_FORMAT_UNSIGNED_INT8, CUDA_ARRAY3D_SURFACE_LDST, bytes);
  CUarray board = MakeArray(kWidth, kHeight, 0, CU_AD_FORMAT_SIGNED_INT32, CUDA_ARRAY3D_SURFACE_LDST, integers);
  CUarray picture = MakeArray(kWidth, kHeight, 0, CU_AD_FORMAT_UNSIGNED_INT8, 0, bytes);
  CUdeviceptr memory, out;
  DRIVER(cuMemAlloc(&memory, sizeof(numbers)));
  DRIVER(cuMemcpyHtoD(memory, numbers, sizeof(numbers)));
  CUDA_RESOURCE_DESC resource;
  CUDA_TEXTURE_DESC description;
  memset(&resource, 0, sizeof(resource));
  memset(&description, 0, sizeof(description));
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear.devPtr = memory;
  resource.res.linear.format = CU_AD_FORMAT_FLOAT;
  resource.res.linear.numChannels = 1;
  resource.res.linear.sizeInBytes = sizeof(numbers);
  CUtexObject row;
  DRIVER(cuTexObjectCreate(&row, &resource, &description, NULL));
  CUtexObject plane_object = TextureOf(plane, CU_TR_FILTER_MODE_LINEAR, 0);
  CUtexObject volume_object = TextureOf(cube, CU_TR_FILTER_MODE_LINEAR, 0);
  CUtexObject layers_object = TextureOf(layers, CU_TR_FILTER_MODE_POINT, CU_TRSF_READ_AS_INTEGER);
  CUsurfObject table_object = SurfaceOf(table), written_object = SurfaceOf(written);

  Results results;
  CUfunction kernel;
  DRIVER(cuModuleGetFunction(&kernel, module, "Objects"));
  DRIVER(cuMemAlloc(&out, sizeof(results.objects)));
  void* arguments[] = {&row, &plane_object, &volume_object, &layers_object, &table_object, &written_object, &out};
  DRIVER(cuLaunchKernel(kernel, kHeight, 1, 1, kWidth, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuMemcpyDtoH(results.objects, out, sizeof(results.objects)));
  ReadArray(written, kWidth, 2, results.bytes);

  CUtexref line;
  CUsurfref surface;
  DRIVER(cuModuleGetTexRef(&line, module, "line"));
  DRIVER(cuTexRefSetAddress(NULL, line, memory, sizeof(numbers)));
  DRIVER(cuTexRefSetFormat(line, CU_AD_FORMAT_FLOAT, 1));
  ReferenceOf(module, "picture", picture, 0);
  ReferenceOf(module, "cube", cube, 0);
  DRIVER(cuModuleGetSurfRef(&surface, module, "board"));
  DRIVER(cuSurfRefSetArray(surface, board, 0));
  DRIVER(cuModuleGetFunction(&kernel, module, "References"));
  void* only_out[] = {&out};
  DRIVER(cuLaunchKernel(kernel, kHeight, 1, 1, kWidth, 1, 1, 0, NULL, only_out, NULL));
  DRIVER(cuMemcpyDtoH(results.references, out, sizeof(results.references)));
  ReadArray(board, kWidth * sizeof(int), 1, results.board);

  DRIVER(cuMemFree(out));
  DRIVER(cuMemFree(memory));
  const CUtexObject textures[] = {row, plane_object, volume_object, layers_object};
  for (const CUtexObject texture : textures) DRIVER(cuTexObjectDestroy(texture));
  DRIVER(cuSurfObjectDestroy(table_object));
  DRIVER(cuSurfObjectDestroy(written_object));
  const CUarray arrays[] = {plane, cube, layers, table, written, board, picture};
  for (const CUarray array : arrays) DRIVER(cuArrayDestroy(array));
  return results;
}

int main() {
  DRIVER(cuInit(0));
  CUcontext context;
  CUctxCreateParams parameters = {};
  DRIVER(cuCtxCreate(&context, &parameters, 0, 0));
  CUmodule cuda, ptx;
  DRIVER(cuModuleLoad(&cuda, "driver_ptx_textures_module.cubin"));
  DRIVER(cuModuleLoadData(&ptx, kText));
  const Results wanted = Run(cuda), got = Run(ptx);
  for (int i = 0; i < kCount; ++i) {
    for (int j = 0; j < kPerObject; ++j) EXPECT(got.objects[i][j] == wanted.objects[i][j]);
    for (int j = 0; j < kPerReference; ++j) EXPECT(got.references[i][j] == wanted.references[i][j]);
    EXPECT(got.board[i] == wanted.board[i] && got.board[i] == 10 * (i % kWidth) + i / kWidth);
    // Of the host's arithmetic.
    EXPECT(got.objects[i][0] == 0.25f * i * i && got.references[i][0] == 0.25f * i * i);
    EXPECT(got.objects[i][10] == 1000 - 7 * i);
    EXPECT(got.objects[i][11] == (i % kWidth < kWidth - 2 ? 1000 - 7 * (i + 2) : 0));
    EXPECT(got.bytes[kCount + i] == i && got.bytes[i] == (unsigned char)(250 - 3 * i));
  }
  EXPECT(memcmp(got.bytes, wanted.bytes, sizeof(got.bytes)) == 0);
  DRIVER(cuModuleUnload(ptx));
  DRIVER(cuModuleUnload(cuda));
  DRIVER(cuCtxDestroy(context));
  return Finish();
}
