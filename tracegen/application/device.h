// The device that a traced application sees: memory, modules, launches.
#ifndef HEDDLE_TRACEGEN_APPLICATION_DEVICE_H_
#define HEDDLE_TRACEGEN_APPLICATION_DEVICE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/application/children.h"
#include "tracegen/application/loaded_module.h"
#include "tracegen/application/recording.h"
#include "tracegen/execute/capture/launch_conductor.h"
#include "tracegen/execute/memory/device_memory.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/runtime/protocol/messages.h"

namespace heddle::tracegen {

// One per process. Functions are those of DeviceClient, which see; they run one at a time.
class Device {
 public:
  // `recording` may be null: then kernels run without being recorded. Errors: a processor that capture does not
  // support; no memory at the device's addresses.
  static absl::StatusOr<std::unique_ptr<Device>> Create(Recording* recording);

  const DeviceMemory& memory() const { return *memory_; }

  device::Result LoadModule(const std::vector<device::ModuleImage>& images, const device::ModuleOptions& options,
                            device::LoadPurpose purpose, device::ModuleInfo* module);
  device::Result BuildOpenCl(const device::BuildOpenClRequest& request, device::ModuleInfo* module);
  device::Result UnloadModule(uint64_t module);
  device::Result DescribeKernel(const device::KernelName& kernel, device::KernelInfo* info);
  device::Result Allocate(const device::AllocateRequest& request, uint64_t* address);
  device::Result Free(uint64_t address);
  device::Result Reserve(const device::ReserveRequest& request, uint64_t* address);
  device::Result Release(uint64_t address);
  device::Result Map(const device::MapRequest& request);
  device::Result Unmap(uint64_t address);
  // kKernelFault after a kernel has failed: the trace ends before it.
  device::Result Launch(const device::LaunchRequest& request, device::LaunchReply* reply);
  void NoteTransfer(const device::TransferNote& note);
  device::DeviceLimits Limits() const;

 private:
  struct PreparedLaunch {
    LoadedModule* module = nullptr;
    LoadedKernel* kernel = nullptr;
    LaunchPlan plan;
    KernelCode* recorded = nullptr;  // null where no block needs it
    KernelCode* native = nullptr;
    Geometry geometry;
    std::string parameters;

    // One of them is there.
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): Prepare has seen to that
    KernelCode& AnyCode() const { return recorded != nullptr ? *recorded : *native; }
  };

  // Who asks for a launch, if a thread of a kernel does, and what it waits for.
  struct Origin {
    trace::v1::LaunchParent parent;
    std::vector<uint64_t> ancestors;  // launches above it, by number
  };

  explicit Device(Recording* recording);
  // One launch, without those that it asks for, which are given back.
  device::Result LaunchOne(const device::LaunchRequest& request, const Origin* origin, device::LaunchReply* reply,
                           std::vector<ChildLaunch>* children);
  // What a kernel asks for, and what that asks for, and so on.
  device::Result LaunchChildren(const device::LaunchRequest& request, const Origin& above,
                                std::vector<ChildLaunch> children, device::LaunchReply* reply);
  // Everything that can be refused before the kernel runs.
  device::Result Prepare(const device::LaunchRequest& request, PreparedLaunch* launch);
  absl::StatusOr<LaunchOutcome> Run(PreparedLaunch& launch);
  absl::Status BeginRecord(const device::LaunchRequest& request, const PreparedLaunch& launch, const Origin* origin);
  // What the user should know about the kernel and its run, each once.
  void ShowWarnings(const PreparedLaunch& launch);
  void Warn(const std::string& warning);
  uint32_t StreamNumber(uint64_t stream);

  Recording* recording_;
  std::unique_ptr<DeviceMemory> memory_;
  std::unique_ptr<LaunchConductor> conductor_;
  KernelForm form_;      // in which kernels are made, but for `record`
  std::string printed_;  // by the launch that runs
  std::map<uint64_t, std::unique_ptr<LoadedModule>> modules_;
  uint64_t next_module_ = 1;
  uint64_t built_programs_ = 0;  // from OpenCL source
  uint64_t constant_bytes_ = 0;
  uint64_t launches_ = 0;
  std::map<uint64_t, uint32_t> streams_;         // numbers in the trace, in order of first use
  std::map<uint64_t, uint64_t> last_in_stream_;  // launch
  // By launch: what it asked for, and so on. It is over when they are.
  std::map<uint64_t, std::vector<uint64_t>> descendants_;
  size_t warnings_shown_ = 0;   // of the conductor
  std::set<std::string> told_;  // other warnings
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_DEVICE_H_
