// clEnqueueNDRangeKernel, clEnqueueTask, clEnqueueNativeKernel.
#include "tracegen/runtime/opencl/driver/launch.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/program.h"
#include "tracegen/runtime/opencl/driver/scheduler.h"

namespace heddle::opencl {
namespace {

using device::ParameterKind;

constexpr size_t kUsualGroupItems = 256;
constexpr uint32_t kLocalArgumentAlignment = 128;  // bytes: the largest vector's

size_t RoundUp(size_t value, size_t step) { return (value + step - 1) / step * step; }

// The largest divisor of `value` that is at most `most`; a multiple of a warp's width if there is one.
size_t LargestDivisor(size_t value, size_t most) {
  size_t best = 1;
  for (size_t candidate = 1; candidate <= std::min(value, most); ++candidate) {
    if (value % candidate != 0) continue;
    if (candidate % kWarpItems == 0 || best % kWarpItems != 0) best = candidate;
  }
  return best;
}

// Parameter memory from the arguments as they are now: later calls of clSetKernelArg do not matter to this launch.
// `kept` gets everything that has to live until the kernel has run.
cl_int SetParameters(cl_kernel kernel, const device::KernelInfo& info, device::LaunchRequest* request,
                     std::vector<Argument>* kept) {
  std::lock_guard<std::mutex> lock(kernel->mutex);
  size_t local = 0;
  request->parameters.assign(info.parameter_bytes, '\0');
  for (size_t i = 0; i < kernel->arguments.size(); ++i) {
    const Argument& argument = kernel->arguments[i];
    const device::ParameterInfo& parameter = info.parameters[i];
    if (!argument.set) return CL_INVALID_KERNEL_ARGS;
    uint64_t value = 0;
    const void* from = &value;
    switch (parameter.kind) {
      case ParameterKind::kGlobalPointer:
      case ParameterKind::kConstantPointer:
        value = argument.memory ? argument.memory->address : 0;
        break;
      case ParameterKind::kImage:
        value = argument.memory->descriptor;
        break;
      case ParameterKind::kSampler:
        value = argument.sampler->literal;
        break;
      case ParameterKind::kSharedPointer:
        local = RoundUp(local, kLocalArgumentAlignment);
        value = local;
        local += argument.local_bytes;
        break;
      case ParameterKind::kScalar:
      case ParameterKind::kByValue:
        from = argument.bytes.data();
        break;
    }
    if (parameter.offset + size_t{parameter.bytes} > request->parameters.size()) return CL_INVALID_KERNEL_ARGS;
    std::memcpy(request->parameters.data() + parameter.offset, from, parameter.bytes);
  }
  if (info.static_shared_bytes + local > kLocalBytes) return CL_OUT_OF_RESOURCES;
  request->dynamic_shared_bytes = static_cast<uint32_t>(local);
  *kept = kernel->arguments;
  return CL_SUCCESS;
}

cl_int Launch(cl_command_queue queue, cl_command_type type, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
              const size_t* global, const size_t* local, const WaitList& waits, cl_event* event) {
  if (!IsValid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!IsValid(kernel)) return CL_INVALID_KERNEL;
  if (!kernel->program->loaded) return CL_INVALID_PROGRAM_EXECUTABLE;
  if (kernel->program->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  if (cl_int error = Scheduler::Check(waits, queue->context.get()); error != CL_SUCCESS) return error;
  device::KernelInfo info;
  if (cl_int error = Describe(kernel, &info); error != CL_SUCCESS) return error;
  device::LaunchRequest request;
  request.module = kernel->program->module.id;
  request.kernel = info.name;
  std::vector<Argument> kept;
  cl_int error = SetParameters(kernel, info, &request, &kept);
  if (error == CL_SUCCESS) error = SetIndexSpace(info, dimensions, offset, global, local, &request);
  if (error != CL_SUCCESS) return error;
  Work work = [request = std::move(request), kept = std::move(kept),
               program = kernel->program](const LaunchOrder& order) {
    device::LaunchRequest ordered = request;
    ordered.stream = order.stream;
    ordered.dependencies = order.dependencies;
    device::LaunchReply reply;
    const device::Result result = Client().Launch(ordered, &reply);
    if (!reply.printed.empty()) {
      std::fwrite(reply.printed.data(), 1, reply.printed.size(), stdout);
      std::fflush(stdout);
    }
    Outcome outcome;
    outcome.error = ErrorCode(result);
    outcome.duration_ns = reply.duration_ns;
    outcome.launched = result.ok();
    outcome.launch = reply.launch;
    return outcome;
  };
  return Scheduler::Get().Submit(queue, type, waits, std::move(work), event);
}

}  // namespace

size_t MaxGroupItems(const device::KernelInfo& kernel) {
  size_t items = kMaxGroupItems;
  if (kernel.max_threads != 0) items = std::min<size_t>(items, kernel.max_threads);
  if (kernel.required_block[0] != 0) {
    items = size_t{kernel.required_block[0]} * kernel.required_block[1] * kernel.required_block[2];
  } else if (kernel.registers > 64) {
    items = std::min<size_t>(items, 65536 / std::min<size_t>(kernel.registers, 255) / kWarpItems * kWarpItems);
  }
  return items;
}

cl_int SetIndexSpace(const device::KernelInfo& kernel, cl_uint dimensions, const size_t* offset, const size_t* global,
                     const size_t* local, device::LaunchRequest* request) {
  if (dimensions < 1 || dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  if (global == nullptr) return CL_INVALID_GLOBAL_WORK_SIZE;
  const uint32_t* required = kernel.required_block;
  const size_t most = MaxGroupItems(kernel);
  size_t open = std::min(most, kUsualGroupItems);  // items that the dimensions still to come may have
  size_t items = 1;
  request->work_dimensions = dimensions;
  for (cl_uint i = 0; i < dimensions; ++i) {
    if (global[i] == 0) return CL_INVALID_GLOBAL_WORK_SIZE;
    // Indices are numbers of 32 bits on this device, as get_global_id computes them.
    if (global[i] > UINT32_MAX || (offset != nullptr && offset[i] > UINT32_MAX - global[i])) {
      return offset != nullptr && offset[i] > 0 ? CL_INVALID_GLOBAL_OFFSET : CL_INVALID_GLOBAL_WORK_SIZE;
    }
    size_t size = 0;
    if (local != nullptr) {
      size = local[i];
      if (size == 0) return CL_INVALID_WORK_GROUP_SIZE;
      if (size > kMaxItems[i]) return CL_INVALID_WORK_ITEM_SIZE;
    } else if (required[0] != 0) {
      size = required[i];
    } else {
      size = LargestDivisor(global[i], std::min(open, kMaxItems[i]));
      open /= size;
    }
    if (global[i] % size != 0) return CL_INVALID_WORK_GROUP_SIZE;
    if (required[0] != 0 && size != required[i]) return CL_INVALID_WORK_GROUP_SIZE;
    if (global[i] / size > kMaxGroups[i]) return CL_INVALID_GLOBAL_WORK_SIZE;
    items *= size;
    request->block[i] = static_cast<uint32_t>(size);
    request->grid[i] = static_cast<uint32_t>(global[i] / size);
    request->global_offset[i] = offset != nullptr ? offset[i] : 0;
  }
  for (cl_uint i = dimensions; i < 3; ++i) {
    if (required[0] != 0 && required[i] != 1) return CL_INVALID_WORK_GROUP_SIZE;
  }
  return items > most ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

cl_int CL_API_CALL EnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                        const size_t* offset, const size_t* global, const size_t* local, cl_uint count,
                                        const cl_event* events, cl_event* event) {
  return Launch(queue, CL_COMMAND_NDRANGE_KERNEL, kernel, dimensions, offset, global, local, {count, events}, event);
}

cl_int CL_API_CALL EnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* events,
                               cl_event* event) {
  const size_t one = 1;
  return Launch(queue, CL_COMMAND_TASK, kernel, 1, nullptr, &one, &one, {count, events}, event);
}

cl_int CL_API_CALL EnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK* function)(void*), void* arguments,
                                       size_t bytes, cl_uint memory_count, const cl_mem* memories,
                                       const void** locations, cl_uint count, const cl_event* events, cl_event* event) {
  if (!IsValid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (function == nullptr || (arguments == nullptr) != (bytes == 0) || (arguments == nullptr && memory_count > 0) ||
      (memory_count == 0) != (memories == nullptr) || (memory_count == 0) != (locations == nullptr)) {
    return CL_INVALID_VALUE;
  }
  // The function gets a copy, with device pointers instead of memory objects.
  std::string copy(static_cast<const char*>(arguments), bytes);
  std::vector<Ref<_cl_mem>> kept;
  for (cl_uint i = 0; i < memory_count; ++i) {
    if (!IsValid(memories[i])) return CL_INVALID_MEM_OBJECT;
    const size_t at = static_cast<size_t>(static_cast<const char*>(locations[i]) - static_cast<char*>(arguments));
    if (at > bytes || bytes - at < sizeof(void*)) return CL_INVALID_VALUE;
    void* pointer = memories[i]->data();
    std::memcpy(copy.data() + at, &pointer, sizeof(pointer));
    kept.emplace_back(memories[i]);
  }
  Work work = [function, copy = std::move(copy), kept = std::move(kept)](const LaunchOrder&) mutable {
    function(copy.empty() ? nullptr : copy.data());
    return Outcome{CL_SUCCESS, 10'000};
  };
  return Scheduler::Get().Submit(queue, CL_COMMAND_NATIVE_KERNEL, {count, events}, std::move(work), event);
}

}  // namespace heddle::opencl
