// clGetPlatform... and clGetDevice...
#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/device.h"
#include "tracegen/runtime/opencl/driver/info.h"

namespace heddle::opencl {
namespace {

constexpr char kPlatformExtensions[] = "cl_khr_icd";
constexpr char kDeviceExtensions[] =
    "cl_khr_byte_addressable_store cl_khr_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics "
    "cl_khr_int64_extended_atomics cl_khr_3d_image_writes cl_khr_icd cl_nv_device_attribute_query";
constexpr char kVersion[] = "OpenCL 1.2 Heddle";

// Bytes of the device's memory, or an error.
cl_int Memory(const Answer& answer, uint64_t (*read)(const device::DeviceLimits&)) {
  const device::DeviceLimits* limits = nullptr;
  if (cl_int error = DeviceLimits(&limits); error != CL_SUCCESS) return error;
  return answer.Value<cl_ulong>(read(*limits));
}

cl_int ImageInfo(cl_device_info what, const Answer& answer) {
  switch (what) {
    case CL_DEVICE_IMAGE_SUPPORT:
      return answer.Flag(true);
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
      return answer.Value<size_t>(kMaxImageWidth);
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_DEPTH:
      return answer.Value<size_t>(kMaxImageDepth);
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
      return answer.Value<size_t>(kMaxImageBufferTexels);
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
      return answer.Value<size_t>(kMaxImageLayers);
    case CL_DEVICE_MAX_READ_IMAGE_ARGS:
      return answer.Value<cl_uint>(256);
    case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
      return answer.Value<cl_uint>(16);
    case CL_DEVICE_MAX_SAMPLERS:
      return answer.Value<cl_uint>(kMaxSamplers);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int VectorInfo(cl_device_info what, const Answer& answer) {
  switch (what) {
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_INT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
      return answer.Value<cl_uint>(1);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
      return answer.Value<cl_uint>(0);  // no cl_khr_fp16
    case CL_DEVICE_SINGLE_FP_CONFIG:
    case CL_DEVICE_DOUBLE_FP_CONFIG:
      return answer.Value<cl_device_fp_config>(
          CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA |
          (what == CL_DEVICE_SINGLE_FP_CONFIG ? cl_device_fp_config{CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT}
                                              : cl_device_fp_config{0}));
    case CL_DEVICE_HALF_FP_CONFIG:
      return answer.Value<cl_device_fp_config>(0);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int MemoryInfo(cl_device_info what, const Answer& answer) {
  switch (what) {
    case CL_DEVICE_GLOBAL_MEM_SIZE:
      return Memory(answer, [](const device::DeviceLimits& limits) { return limits.total_bytes; });
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
      return Memory(answer, [](const device::DeviceLimits& limits) { return limits.total_bytes / 4; });
    case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE:
      return answer.Value<cl_device_mem_cache_type>(CL_READ_WRITE_CACHE);
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
      return answer.Value<cl_uint>(128);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
      return answer.Value<cl_ulong>(6 << 20);
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
      return answer.Value<cl_ulong>(64 << 10);
    case CL_DEVICE_MAX_CONSTANT_ARGS:
      return answer.Value<cl_uint>(9);
    case CL_DEVICE_LOCAL_MEM_TYPE:
      return answer.Value<cl_device_local_mem_type>(CL_LOCAL);
    case CL_DEVICE_LOCAL_MEM_SIZE:
      return answer.Value<cl_ulong>(kLocalBytes);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
      return answer.Value<cl_uint>(kAddressAlignment * 8);
    case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE:
      return answer.Value<cl_uint>(128);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
    case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
      return answer.Flag(false);
    case CL_DEVICE_MAX_PARAMETER_SIZE:
      return answer.Value<size_t>(kMaxParameterBytes);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int Identity(cl_device_info what, const Answer& answer) {
  switch (what) {
    case CL_DEVICE_TYPE:
      return answer.Value<cl_device_type>(CL_DEVICE_TYPE_GPU);
    case CL_DEVICE_VENDOR_ID:
      return answer.Value<cl_uint>(0x4844);
    case CL_DEVICE_NAME:
      return answer.Text("Heddle GPU");
    case CL_DEVICE_VENDOR:
      return answer.Text("Heddle");
    case CL_DRIVER_VERSION:
      return answer.Text(HEDDLE_VERSION);
    case CL_DEVICE_PROFILE:
      return answer.Text("FULL_PROFILE");
    case CL_DEVICE_VERSION:
      return answer.Text(kVersion);
    case CL_DEVICE_OPENCL_C_VERSION:
      return answer.Text("OpenCL C 1.2 Heddle");
    case CL_DEVICE_EXTENSIONS:
      return answer.Text(kDeviceExtensions);
    case CL_DEVICE_BUILT_IN_KERNELS:
      return answer.Text("");
    case CL_DEVICE_PLATFORM:
      return answer.Value<cl_platform_id>(Platform());
    case CL_DEVICE_PARENT_DEVICE:
      return answer.Value<cl_device_id>(nullptr);
    case CL_DEVICE_REFERENCE_COUNT:
      return answer.Value<cl_uint>(1);
    default:
      return CL_INVALID_VALUE;
  }
}

// cl_nv_device_attribute_query: programs ask for the warp's width this way.
cl_int AttributeQuery(cl_device_info what, const Answer& answer) {
  // Not in all versions of CL/cl_ext.h.
  constexpr cl_device_info kPciBusId = 0x4008;
  constexpr cl_device_info kPciSlotId = 0x4009;
  switch (what) {
    case kPciBusId:
      return answer.Value<cl_uint>(0);
    case kPciSlotId:
      return answer.Value<cl_uint>(4 << 3);  // device 4, function 0
    case CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV:
      return answer.Value<cl_uint>(7);
    case CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV:
      return answer.Value<cl_uint>(0);
    case CL_DEVICE_REGISTERS_PER_BLOCK_NV:
      return answer.Value<cl_uint>(65536);
    case CL_DEVICE_WARP_SIZE_NV:
      return answer.Value<cl_uint>(kWarpItems);
    case CL_DEVICE_GPU_OVERLAP_NV:
      return answer.Flag(true);
    case CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV:
    case CL_DEVICE_INTEGRATED_MEMORY_NV:
      return answer.Flag(false);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int Execution(cl_device_info what, const Answer& answer) {
  switch (what) {
    case CL_DEVICE_MAX_COMPUTE_UNITS:
      return answer.Value<cl_uint>(80);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
      return answer.Value<cl_uint>(1380);  // MHz
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
      return answer.Value<cl_uint>(3);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
      return answer.Value<size_t>(kMaxGroupItems);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      return answer.Bytes(kMaxItems, sizeof(kMaxItems));
    case CL_DEVICE_ADDRESS_BITS:
      return answer.Value<cl_uint>(64);
    case CL_DEVICE_ENDIAN_LITTLE:
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
    case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC:
      return answer.Flag(true);
    // NOLINTNEXTLINE(bugprone-branch-clone): other bits that have the same values
    case CL_DEVICE_EXECUTION_CAPABILITIES:
      return answer.Value<cl_device_exec_capabilities>(CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL);
    case CL_DEVICE_QUEUE_PROPERTIES:
      return answer.Value<cl_command_queue_properties>(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                                       CL_QUEUE_PROFILING_ENABLE);
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
      return answer.Value<size_t>(1);  // ns
    case CL_DEVICE_PRINTF_BUFFER_SIZE:
      return answer.Value<size_t>(1 << 20);
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
      return answer.Value<cl_uint>(0);
    case CL_DEVICE_PARTITION_PROPERTIES:
      return answer.Value<cl_device_partition_property>(0);
    case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
      return answer.Value<cl_device_affinity_domain>(0);
    case CL_DEVICE_PARTITION_TYPE:
      return answer.Bytes(nullptr, 0);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace

cl_int CL_API_CALL GetPlatformIDs(cl_uint count, cl_platform_id* platforms, cl_uint* available) {
  if ((platforms == nullptr && available == nullptr) || (platforms != nullptr && count == 0)) return CL_INVALID_VALUE;
  if (platforms != nullptr) platforms[0] = Platform();
  if (available != nullptr) *available = 1;
  return CL_SUCCESS;
}

cl_int CL_API_CALL GetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void* value,
                                   size_t* needed) {
  if (platform != nullptr && platform != Platform()) return CL_INVALID_PLATFORM;
  const Answer answer(room, value, needed);
  switch (what) {
    case CL_PLATFORM_PROFILE:
      return answer.Text("FULL_PROFILE");
    case CL_PLATFORM_VERSION:
      return answer.Text(kVersion);
    case CL_PLATFORM_NAME:
    case CL_PLATFORM_VENDOR:
      return answer.Text("Heddle");
    case CL_PLATFORM_EXTENSIONS:
      return answer.Text(kPlatformExtensions);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
      return answer.Text("HEDDLE");
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL GetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id* devices,
                                cl_uint* available) {
  if (platform != nullptr && platform != Platform()) return CL_INVALID_PLATFORM;
  if ((devices == nullptr && available == nullptr) || (devices != nullptr && count == 0)) return CL_INVALID_VALUE;
  constexpr cl_device_type kTypes = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                    CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
  if (type != CL_DEVICE_TYPE_ALL && (type == 0 || (type & ~kTypes) != 0)) return CL_INVALID_DEVICE_TYPE;
  if ((type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) == 0) {
    if (available != nullptr) *available = 0;
    return CL_DEVICE_NOT_FOUND;
  }
  if (devices != nullptr) devices[0] = Device();
  if (available != nullptr) *available = 1;
  return CL_SUCCESS;
}

cl_int CL_API_CALL GetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void* value, size_t* needed) {
  if (device != Device()) return CL_INVALID_DEVICE;
  const Answer answer(room, value, needed);
  for (auto* part : {Execution, MemoryInfo, ImageInfo, Identity, VectorInfo, AttributeQuery}) {
    // CL_INVALID_VALUE is also the answer to too little room, which every later part would give again.
    if (cl_int error = part(what, answer); error != CL_INVALID_VALUE) return error;
  }
  return CL_INVALID_VALUE;
}

// The device cannot be divided.
cl_int CL_API_CALL CreateSubDevices(cl_device_id device, const cl_device_partition_property*, cl_uint, cl_device_id*,
                                    cl_uint*) {
  return device == Device() ? CL_INVALID_VALUE : CL_INVALID_DEVICE;
}

// Root devices are not counted.
cl_int CL_API_CALL RetainDevice(cl_device_id device) { return device == Device() ? CL_SUCCESS : CL_INVALID_DEVICE; }
cl_int CL_API_CALL ReleaseDevice(cl_device_id device) { return device == Device() ? CL_SUCCESS : CL_INVALID_DEVICE; }

}  // namespace heddle::opencl
