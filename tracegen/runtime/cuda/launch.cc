#include "tracegen/runtime/cuda/launch.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tracegen/runtime/client/stand_in.h"
#include "tracegen/runtime/cuda/device_model.h"
#include "tracegen/runtime/cuda/state.h"
#include "tracegen/runtime/cuda/textures.h"
#include "tracegen/runtime/cuda/work.h"

namespace heddle::cuda {

std::string PackArguments(const device::KernelInfo& kernel, void** arguments) {
  if (arguments == nullptr) return {};
  std::string parameters(kernel.parameter_bytes, '\0');
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const device::ParameterInfo& parameter = kernel.parameters[i];
    std::memcpy(parameters.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  return parameters;
}

std::string UnpackExtra(void** extra) {
  // Pairs of a name and a value: the buffer and its size.
  const void* buffer = nullptr;
  size_t size = 0;
  for (void** pair = extra; *pair != CU_LAUNCH_PARAM_END; pair += 2) {
    if (pair[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = pair[1];
    if (pair[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<size_t*>(pair[1]);
  }
  return buffer == nullptr ? std::string() : std::string(static_cast<const char*>(buffer), size);
}

cudaError_t RunKernel(const char* call, KernelWork work) {
  if (cudaError_t error = ContextError(call); error != cudaSuccess) return Fail(error);
  cudaError_t error = cudaSuccess;
  CUstream_st* stream = Timeline::Get().Enter(work.shape.stream, &error);
  if (stream == nullptr) return Fail(error);
  work.stand_in_for = device::StandInFunction();
  if (stream->recorder != nullptr) return Fail(stream->recorder->Add(stream, std::move(work)));
  device::LaunchReply reply;
  error = Perform(call, work, {stream->id, Timeline::Get().Dependencies(stream), 0}, &reply);
  if (error == cudaSuccess) Timeline::Get().AddLaunch(stream, reply.launch, reply.duration_ns);
  return error;
}

cudaError_t Perform(const char* call, const KernelWork& work, LaunchPlace place, device::LaunchReply* reply) {
  const CodeImage& image = *work.kernel->image;
  const LaunchShape& shape = work.shape;
  const device::KernelInfo* info = image.FindKernel(work.kernel->name);
  if (info == nullptr) {
    Explain(call, "kernel " + work.kernel->name + " is not in the device code");
    return Fail(cudaErrorInvalidDeviceFunction);
  }
  device::LaunchRequest request;
  request.parameters = work.parameters;
  // Addresses of managed variables are the host's until here.
  for (const device::ParameterInfo& parameter : info->parameters) {
    if (parameter.bytes != sizeof(uint64_t)) continue;
    uint64_t value;
    std::memcpy(&value, request.parameters.data() + parameter.offset, sizeof(value));
    value = CodeRegistry::Get().Translate(value);
    std::memcpy(request.parameters.data() + parameter.offset, &value, sizeof(value));
  }
  request.module = image.id();
  request.kernel = work.kernel->name;
  const auto set = [](uint32_t* to, const dim3& size) {
    to[0] = size.x;
    to[1] = size.y;
    to[2] = size.z;
  };
  set(request.grid, shape.grid);
  set(request.block, shape.block);
  set(request.cluster, work.cluster);
  request.dynamic_shared_bytes = static_cast<uint32_t>(shape.shared_bytes);
  request.stream = place.stream;
  request.dependencies = std::move(place.dependencies);
  request.graph = place.graph;
  request.stand_in_for = work.stand_in_for;
  CodeRegistry::Get().PushManaged();
  RefreshTextureReferences();
  const device::Result result = device::DeviceClient::Get().Launch(request, reply);
  if (!reply->printed.empty()) std::fwrite(reply->printed.data(), 1, reply->printed.size(), stdout);
  if (!result.ok()) return Fail(call, result);
  CodeRegistry::Get().PullManaged();
  return cudaSuccess;
}

bool IsEmpty(const LaunchShape& shape) {
  return shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0 || shape.block.x == 0 || shape.block.y == 0 ||
         shape.block.z == 0;
}

std::string EmptyShape(const LaunchShape& shape) {
  const auto text = [](const dim3& d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
  };
  return "a grid of " + text(shape.grid) + " blocks of " + text(shape.block) + " threads has none; skip the launch";
}

cudaError_t Describe(const char* call, CodeImage& image, const std::string& kernel, device::KernelInfo* info) {
  return Fail(call, device::DeviceClient::Get().DescribeKernel(image.id(), kernel, info));
}

namespace {

thread_local std::vector<LaunchShape> configurations;  // of <<<...>>> and cudaConfigureCall
thread_local std::string old_arguments;                // of cudaSetupArgument

// Why the blocks of a cooperative launch cannot all be live at once; empty if they can.
std::string TooLarge(const device::KernelInfo& kernel, uint64_t blocks, uint64_t threads, size_t shared_bytes) {
  const std::string grid =
      "a cooperative launch of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads, but ";
  const auto multiprocessors = static_cast<uint64_t>(ChosenDevice().multiprocessors);
  const auto resident = static_cast<uint64_t>(ResidentBlocks(kernel, static_cast<int>(threads), shared_bytes));
  if (blocks > resident * multiprocessors) {
    return grid + "the device's " + std::to_string(multiprocessors) + " multiprocessors hold " +
           std::to_string(resident) + " of them each; launch fewer";
  }
  const uint64_t live = MostLiveBlocks(kernel, threads);
  if (blocks <= live) return "";
  std::string text = grid + "at most " + std::to_string(live) +
                     " of them can be live at once here, and they meet at a barrier; launch fewer, or smaller ones";
  if (live < multiprocessors) {
    text += std::string(", or let the device have fewer multiprocessors: the environment variable ") +
            kMultiprocessorsVariable + "=" + std::to_string(live);
  }
  return text;
}

}  // namespace

cudaError_t PrepareLaunch(const char* call, KernelWork* work, const device::KernelInfo** info) {
  const LaunchShape& shape = work->shape;
  Kernel* kernel = work->kernel = CodeRegistry::Get().FindKernel(work->function);
  if (kernel == nullptr) {
    Explain(call, "this is no kernel that heddle-nvcc has compiled");
    return Fail(cudaErrorInvalidDeviceFunction);
  }
  if (cudaError_t error = kernel->image->Load(call); error != cudaSuccess) return error;
  *info = kernel->image->FindKernel(kernel->name);
  if (*info == nullptr) {
    Explain(call, "kernel " + kernel->name + " is not in the device code");
    return Fail(cudaErrorInvalidDeviceFunction);
  }
  const std::string named = "kernel " + (*info)->shown_name + ": ";
  if (IsEmpty(shape)) {
    Explain(call, named + EmptyShape(shape));
    return Fail(cudaErrorInvalidConfiguration);
  }
  if (shape.shared_bytes > static_cast<size_t>(kernel->max_dynamic_shared)) {
    Explain(call, named + std::to_string(shape.shared_bytes) + " bytes of dynamic shared memory, but " +
                      std::to_string(kernel->max_dynamic_shared) + " are allowed; raise it with cudaFuncSetAttribute");
    return Fail(cudaErrorInvalidValue);
  }
  if (cudaError_t error = ChooseCluster(call, *kernel, **info, shape, &work->cluster); error != cudaSuccess) {
    return error;
  }
  if (!work->cooperative) return cudaSuccess;
  device::KernelInfo described;
  if (cudaError_t error = Describe(call, *kernel->image, kernel->name, &described); error != cudaSuccess) return error;
  const uint64_t threads = uint64_t{shape.block.x} * shape.block.y * shape.block.z;
  const uint64_t blocks = uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
  if (threads > 1024) return Fail(cudaErrorInvalidConfiguration);
  if (const std::string why = TooLarge(described, blocks, threads, shape.shared_bytes); !why.empty()) {
    Explain(call, named + why);
    return Fail(cudaErrorCooperativeLaunchTooLarge);
  }
  return cudaSuccess;
}

cudaError_t SetParameters(const char* call, const device::KernelInfo& info, std::string parameters, KernelWork* work) {
  if (parameters.size() < info.parameter_bytes) {
    Explain(call, "kernel " + info.shown_name + " takes " + std::to_string(info.parameter_bytes) +
                      " bytes of arguments, but " + std::to_string(parameters.size()) +
                      " are given; compare the arguments with its parameters");
    return Fail(cudaErrorInvalidValue);
  }
  parameters.resize(info.parameter_bytes);
  work->parameters = std::move(parameters);
  return cudaSuccess;
}

namespace {

// `parameters` makes parameter memory once the kernel is known.
template <typename Parameters>
cudaError_t Launch(const char* call, KernelWork work, Parameters parameters) {
  const Guard guard;
  const device::KernelInfo* info = nullptr;
  if (cudaError_t error = PrepareLaunch(call, &work, &info); error != cudaSuccess) return error;
  // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): there is one if no error is
  if (cudaError_t error = SetParameters(call, *info, parameters(*info), &work); error != cudaSuccess) return error;
  return RunKernel(call, std::move(work));
}

KernelWork MakeWork(const void* function, const LaunchShape& shape, bool cooperative) {
  KernelWork work;
  work.function = function;
  work.shape = shape;
  work.cooperative = cooperative;
  return work;
}

// What attributes ask for. Those that only say how launches may overlap, or where data is to stay, change nothing.
cudaError_t ReadAttributes(const char* call, const cudaLaunchConfig_t& config, KernelWork* work, cudaEvent_t* event) {
  if (config.attrs == nullptr && config.numAttrs != 0) return Fail(cudaErrorInvalidValue);
  for (unsigned int i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttributeValue& value = config.attrs[i].val;
    switch (config.attrs[i].id) {
      case cudaLaunchAttributeCooperative:
        work->cooperative = value.cooperative != 0;
        break;
      case cudaLaunchAttributePriority:
        work->priority = value.priority;
        break;
      case cudaLaunchAttributeClusterDimension:
        work->shape.cluster = AskedCluster(value);
        break;
      case cudaLaunchAttributeProgrammaticEvent:
        *event = value.programmaticEvent.event;
        break;
      case cudaLaunchAttributeLaunchCompletionEvent:
        *event = value.launchCompletionEvent.event;
        break;
      case cudaLaunchAttributeDeviceUpdatableKernelNode:
        Explain(call,
                "kernel nodes that kernels change (cudaLaunchAttributeDeviceUpdatableKernelNode) are not supported; "
                "set parameters from the host");
        return Fail(cudaErrorNotSupported);
      default:
        break;
    }
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t LaunchWithAttributes(const char* call, const cudaLaunchConfig_t& config, const void* function,
                                 void** arguments, void** extra) {
  KernelWork work =
      MakeWork(function, {config.gridDim, config.blockDim, config.dynamicSmemBytes, config.stream}, false);
  cudaEvent_t event = nullptr;
  if (cudaError_t error = ReadAttributes(call, config, &work, &event); error != cudaSuccess) return error;
  const cudaError_t error = Launch(call, std::move(work), [&](const device::KernelInfo& info) {
    return arguments != nullptr || extra == nullptr ? PackArguments(info, arguments) : UnpackExtra(extra);
  });
  // The event may come as early as the launch, or as late as its end.
  if (error != cudaSuccess || event == nullptr) return error;
  return cudaEventRecord(event, config.stream);
}

}  // namespace heddle::cuda

using heddle::cuda::Fail;
using heddle::cuda::LaunchShape;
using heddle::cuda::MakeWork;

extern "C" {

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
  heddle::cuda::configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream) {
  if (heddle::cuda::configurations.empty()) return Fail(cudaErrorMissingConfiguration);
  const LaunchShape shape = heddle::cuda::configurations.back();
  heddle::cuda::configurations.pop_back();
  *grid = shape.grid;
  *block = shape.block;
  *shared_bytes = shape.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = shape.stream;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                             cudaStream_t stream) {
  return heddle::cuda::Launch(
      "cudaLaunchKernel", MakeWork(function, {grid, block, shared_bytes, stream}, false),
      [&](const heddle::device::KernelInfo& info) { return heddle::cuda::PackArguments(info, arguments); });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
  return heddle::cuda::Launch(
      "cudaLaunchCooperativeKernel", MakeWork(function, {grid, block, shared_bytes, stream}, true),
      [&](const heddle::device::KernelInfo& info) { return heddle::cuda::PackArguments(info, arguments); });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  if (config == nullptr) return Fail(cudaErrorInvalidValue);
  return heddle::cuda::LaunchWithAttributes("cudaLaunchKernelExC", *config, function, arguments, nullptr);
}

cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
  heddle::cuda::old_arguments.clear();
  heddle::cuda::configurations.push_back({grid, block, shared_bytes, stream});
  return cudaSuccess;
}

cudaError_t cudaSetupArgument(const void* argument, size_t size, size_t offset) {
  constexpr size_t kMost = heddle::cuda::kMaxParameterBytes;
  if (argument == nullptr || offset > kMost || size > kMost - offset) return Fail(cudaErrorInvalidValue);
  std::string& bytes = heddle::cuda::old_arguments;
  if (bytes.size() < offset + size) bytes.resize(offset + size);
  std::memcpy(bytes.data() + offset, argument, size);
  return cudaSuccess;
}

cudaError_t cudaLaunch(const void* function) {
  LaunchShape shape;
  cudaError_t error = __cudaPopCallConfiguration(&shape.grid, &shape.block, &shape.shared_bytes, &shape.stream);
  if (error != cudaSuccess) return error;
  return heddle::cuda::Launch("cudaLaunch", MakeWork(function, shape, false),
                              [](const heddle::device::KernelInfo& info) {
                                std::string parameters = heddle::cuda::old_arguments;
                                parameters.resize(info.parameter_bytes);
                                return parameters;
                              });
}

}  // extern "C"
