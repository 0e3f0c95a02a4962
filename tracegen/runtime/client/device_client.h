// The application's side of a device: a thin client of the device process (`heddle-capture --device`), which compiles,
// runs and records kernels. No dependency beyond the C and C++ libraries, as it is linked into traced programs.
//
// Device memory is shared: client and device process map the same memory files at the same fixed addresses, so a device
// pointer is a plain pointer here too, and a copy between host and device is a memcpy in the application (followed by
// NoteTransfer, for the trace). Launches are synchronous: when Launch returns, the kernel has run and its results are
// in memory.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CLIENT_DEVICE_CLIENT_H_
#define HEDDLE_TRACEGEN_RUNTIME_CLIENT_DEVICE_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracegen/runtime/protocol/device_types.h"
#include "tracegen/runtime/protocol/messages.h"

namespace heddle::device {

// One per process. All functions may be called from several threads at once; requests are served one after the other.
// After fork() the child has no device (kNoDevice), as with CUDA; a program that it executes starts a device of its
// own. A sticky error (kKernelFault, kDisconnected) is returned by every later call.
class DeviceClient {
 public:
  static DeviceClient& Get();
  DeviceClient(const DeviceClient&) = delete;
  DeviceClient& operator=(const DeviceClient&) = delete;

  // Where the device program may be, beside the environment variable HEDDLE_DEVICE_PROGRAM (which comes first) and PATH
  // (which comes last): call it before anything else, with the path of heddle-capture that heddle-nvcc has put into the
  // program, or the one beside the shared library.
  void AddDeviceProgram(std::string path);

  // kNoDevice with a message in the child of a fork whose parent has connected: the device is the parent's.
  static Result CheckProcess();

  // The sticky error, if there has been one. Asks and starts nothing, and does not wait for a kernel that runs.
  Result StickyError();

  // Starts the device process and maps its memory; implicit in all other functions. kNoDevice with a message that says
  // what to do.
  Result Connect();

  // Loads device code; several images are linked: bitcode as nvcc -rdc=true does, PTX by name. Kernels that capture
  // does not support fail at their launch, not here. Initial values are in the variables when this returns.
  // kBuildFailure: module->log has the messages.
  Result LoadModule(const std::vector<ModuleImage>& images, const ModuleOptions& options, LoadPurpose purpose,
                    ModuleInfo* module);

  // Compiles OpenCL C. `options` as clBuildProgram has them (-D, -I, -cl-...; -I relative to the working directory of
  // this process). With `compile_only` the result is a part for LoadModule (clCompileProgram): `module` gets only
  // `binary` and `log`. kBuildFailure: module->log has clang's messages.
  Result BuildOpenCl(std::string_view source, std::string_view options, const std::vector<SourceHeader>& headers,
                     bool compile_only, ModuleInfo* module);

  // Compiles CUDA source, as nvrtcCompileProgram does, whose options these are; nothing is loaded. kInvalidValue: an
  // option; kBuildFailure: the source. Both are explained in compiled->log.
  Result CompileCuda(CompileCudaRequest request, CompiledCuda* compiled);

  // Its kernels can no longer be launched; its variables are freed.
  Result UnloadModule(uint64_t module);

  // Compiles a kernel, if that has not been done, and fills in everything about it.
  Result DescribeKernel(uint64_t module, std::string_view kernel, KernelInfo* info);

  // Zeroed device memory, aligned to 512 bytes. The same sequence of calls gives the same addresses in every run.
  // `name` is shown in the trace (such as "cudaMalloc" or "clCreateBuffer"). `bytes` = 0 gives an address that is not
  // used otherwise.
  Result Allocate(uint64_t bytes, std::string_view name, uint64_t* address);
  // `address` is the start of an allocation, or 0 (does nothing). kInvalidValue otherwise.
  Result Free(uint64_t address);

  // Device addresses without memory, at `wanted` if that is not 0 and free; memory within them; and the way back.
  // DeviceMemory has the rules; kInvalidValue or kOutOfMemory.
  Result Reserve(uint64_t bytes, uint64_t alignment, uint64_t wanted, uint64_t* address);
  Result Release(uint64_t address);
  Result Map(uint64_t address, uint64_t bytes, std::string_view name);
  Result Unmap(uint64_t address);

  // Runs a kernel to its end. Also on errors, what the kernel printed before is in reply->printed.
  Result Launch(const LaunchRequest& request, LaunchReply* reply);

  // Tells the trace of a copy or fill that the application makes itself; does not wait. `address` is in device memory
  // (the destination, where both ends are).
  Result NoteTransfer(TransferDirection direction, uint64_t address, uint64_t bytes, uint64_t stream);

  // Free and total memory, limits.
  Result Limits(DeviceLimits* limits);

  // Whether `address` lies in the windows of device memory (global or constant), whether allocated or not.
  static bool IsDeviceAddress(uint64_t address);
  // True if this run is recorded (under `heddle capture`). False before Connect.
  bool recording() const;

 private:
  DeviceClient();
  ~DeviceClient();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::device

#endif  // HEDDLE_TRACEGEN_RUNTIME_CLIENT_DEVICE_CLIENT_H_
