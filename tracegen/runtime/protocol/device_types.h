// What an application and its device process tell each other about: kernels, variables, launches, errors. Standard
// library only: this is compiled into traced applications.
#ifndef HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_DEVICE_TYPES_H_
#define HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_DEVICE_TYPES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::device {

enum class Error : int32_t {
  kOk = 0,
  kNoDevice,       // the device process cannot be started, or the process is the child of a fork
  kInvalidValue,   // an argument that no device could accept: unknown module, address, variable
  kOutOfMemory,    // of the device
  kBuildFailure,   // source or bitcode that does not compile or link; the message and the log say why
  kUnknownKernel,  // the module has no kernel of this name; the message lists those it has
  kInvalidLaunch,  // geometry, shared memory or parameters beyond the kernel's or the device's limits
  kKernelFault,    // sticky: a kernel has failed, and every later call of this process returns the same error
  kUnsupported,    // a construct that capture cannot stand for; the message names it and its source line
  kDisconnected,   // sticky: the device process has ended
  kNoCode,         // a fat binary without PTX; the message says how to make one with it
};

// Outcome of a call. `message` is empty for kOk, else one or several lines for people.
struct [[nodiscard]] Result {
  Error error = Error::kOk;
  std::string message;

  bool ok() const { return error == Error::kOk; }
};

enum class ParameterKind : uint8_t {
  kScalar,           // number, vector or pointer-sized handle, passed as it is
  kGlobalPointer,    // address in device memory
  kConstantPointer,  // OpenCL __constant pointer: an address in device memory
  kSharedPointer,    // OpenCL __local pointer: an address in the block's dynamic shared memory
  kByValue,          // structure, copied into parameter memory
  kImage,            // OpenCL image: the address of its descriptor in device memory
  kSampler,          // OpenCL sampler: the address of its descriptor in device memory
};

// One parameter of a kernel. Its value lies at [offset, offset + bytes) of parameter memory.
struct ParameterInfo {
  std::string name;       // as in the source; may be empty
  std::string type_name;  // OpenCL only, as clGetKernelArgInfo shows it
  ParameterKind kind = ParameterKind::kScalar;
  uint32_t offset = 0;     // bytes
  uint32_t bytes = 0;      // size
  uint32_t alignment = 1;  // bytes
  // OpenCL only, as clGetKernelArgInfo asks for them.
  uint32_t address_space = 0;    // 0 private, 1 global, 2 constant, 3 local
  std::string access_qualifier;  // "none", "read_only", "write_only", "read_write"
  std::string type_qualifiers;   // of "const", "restrict", "volatile", separated by blanks
};

struct KernelInfo {
  std::string name;        // in the module: mangled for C++
  std::string shown_name;  // as written in the source
  std::vector<ParameterInfo> parameters;
  uint32_t parameter_bytes = 0;  // of parameter memory
  // What the kernel was compiled for: at most this many threads per block (0 = no bound), exactly this block (0, 0, 0 =
  // any).
  uint32_t max_threads = 0;
  uint32_t required_block[3] = {0, 0, 0};
  // Likewise clusters of exactly so many blocks (0, 0, 0 = as the launch asks), of at most so many (0 = no bound).
  uint32_t cluster[3] = {0, 0, 0};
  uint32_t max_cluster_blocks = 0;
  std::string attributes;  // OpenCL: source text of __attribute__s as clGetKernelInfo shows them
  // Known once the kernel has been compiled, which DescribeKernel makes happen; 0 before.
  uint32_t static_shared_bytes = 0;
  uint32_t registers = 0;       // 32-bit registers per thread
  uint32_t local_bytes = 0;     // per thread
  uint32_t constant_bytes = 0;  // of the constant variables that it names
  // Of a kernel with barriers of the whole grid: how many of its threads, and blocks, can be live at once. 0 = it has
  // no such barriers.
  uint32_t live_threads = 0;
  uint32_t live_blocks = 0;
};

// A __device__, __constant__ or program-scope variable. The application reads and writes it at `address` like all
// device memory.
struct VariableInfo {
  std::string name;        // in the module: mangled for C++
  std::string shown_name;  // as written in the source
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool constant = false;  // lies in constant memory
  bool managed = false;
};

// What device code of a module comes as.
enum class ImageKind : uint8_t {
  kBitcode,    // LLVM bitcode for nvptx64
  kPtx,        // PTX text
  kFatBinary,  // a container of the vendor's (fat_binary.h), of which the PTX is taken
};

struct ModuleImage {
  ImageKind kind = ImageKind::kBitcode;
  std::string name;  // of a text: its file, base name; for messages and source lines
  std::string_view data;
};

enum class LoadPurpose : uint8_t {
  kUse,   // its kernels can be launched
  kLink,  // read and linked, to see whether that is possible
  kRead,  // each image is read by itself: functions and variables may be missing
};

struct ModuleInfo {
  uint64_t id = 0;     // LoadPurpose::kUse
  std::string target;  // such as "sm_75", of which the code says that it is for
  std::vector<KernelInfo> kernels;
  std::vector<VariableInfo> variables;
  std::string log;  // the compiler's messages; filled in also when a build fails
  // Bitcode that LoadModule accepts, as one part: of source that was built and of bitcode that was linked.
  std::string binary;
};

// How device code of a module was made; goes into the trace's header.
struct ModuleOptions {
  std::string name;              // source file, base name; for messages
  std::string target;            // such as "sm_70"; empty = the device's, and for PTX what its text says
  std::string optimization;      // such as "-O2" or "-O2 -fno-unroll-loops"; empty = "-O2"
  uint32_t max_registers = 0;    // -maxrregcount; 0 = none
  uint32_t most_capability = 0;  // PTX for at most this compute capability, such as 75; 0 = any
};

// A header that OpenCL or CUDA source includes, for clCompileProgram and nvrtcCreateProgram.
struct SourceHeader {
  std::string name;  // as in #include
  std::string text;
};

// CUDA source, compiled.
struct CompiledCuda {
  std::string log;                         // the compiler's messages; filled in also when a compilation fails
  std::string ptx;                         // text
  std::string image;                       // as heddle-nvcc -cubin makes it; empty if no real architecture was named
  std::vector<std::string> lowered_names;  // of the name expressions, in order; empty for what names nothing
};

struct LaunchRequest {
  uint64_t module = 0;
  std::string kernel;                 // KernelInfo::name
  uint32_t grid[3] = {1, 1, 1};       // thread blocks
  uint32_t block[3] = {1, 1, 1};      // threads
  uint32_t cluster[3] = {0, 0, 0};    // thread blocks of a cluster; all 0 = as the kernel was compiled
  uint32_t dynamic_shared_bytes = 0;  // OpenCL: all __local arguments together
  // Any number; 0 = the default stream. A launch starts after the one before it in its stream has ended.
  uint64_t stream = 0;
  // Launches (LaunchReply::launch) of other streams that must have ended before: waits for events, the legacy default
  // stream.
  std::vector<uint64_t> dependencies;
  uint32_t graph = 0;  // number of the launch of a graph that it is a part of, from 1; 0 = none
  // Parameter memory, KernelInfo::parameter_bytes long. For a __local argument (kSharedPointer) it holds the offset in
  // dynamic shared memory, in bytes; the device makes it an address.
  std::string parameters;
  // OpenCL only.
  uint64_t global_offset[3] = {0, 0, 0};
  uint32_t work_dimensions = 0;  // 0 = CUDA
  // The function of a closed library that the kernel stands for, such as "cublasSgemm"; empty = the program's own code.
  std::string stand_in_for;
};

struct LaunchReply {
  uint64_t launch = 0;       // number of the launch in this process, from 0
  uint64_t duration_ns = 0;  // what events show: plausible for a device, the same in every run, no measurement
  std::string printed;       // by the kernel's printf, in order; the caller writes it to its stdout
};

enum class TransferDirection : uint8_t { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3, kFill = 4 };

// Most bytes of a kernel's parameters, from compute capability 7.0 on (CUDA C++ Programming Guide, since CUDA 12.1).
inline constexpr uint32_t kMaxParameterBytes = 32764;

// Limits of the device (compute capability 7.0; CUDA C++ Programming Guide, table of technical specifications).
struct DeviceLimits {
  uint64_t total_bytes = 0;  // of device memory
  uint64_t free_bytes = 0;
  uint32_t max_threads = 1024;  // per block
  uint32_t max_block[3] = {1024, 1024, 64};
  uint32_t max_grid[3] = {2147483647, 65535, 65535};
  uint32_t max_static_shared_bytes = 48 << 10;  // per block
  uint32_t max_shared_bytes = 96 << 10;         // per block, dynamic shared memory included
  uint32_t max_constant_bytes = 64 << 10;
  uint32_t max_parameter_bytes = kMaxParameterBytes;
  uint32_t warp_width = 32;
};

}  // namespace heddle::device

#endif  // HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_DEVICE_TYPES_H_
