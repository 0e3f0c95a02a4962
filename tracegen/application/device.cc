#include "tracegen/application/device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tracegen/execute/launch/launch_limits.h"
#include "tracegen/frontend/opencl_build.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using device::Error;
using device::Result;

// Device time that events show: a fixed cost of a launch, and 10^12 thread-instructions per second.
constexpr uint64_t kLaunchNanoseconds = 3000;
constexpr uint64_t kInstructionsPerNanosecond = 1000;
// Largest constant memory that programs are told of (CUDA C++ Programming Guide); more is accepted.
constexpr uint32_t kShownConstantBytes = 64 << 10;
// Size of a kernel's parameters below compute capability 7.0 (same table).
constexpr uint32_t kMaxParameterBytesBefore70 = 4096;

// What a launch can print; more is lost, as from the full buffer of a device.
constexpr size_t kMaxPrintedBytes = size_t{64} << 20;

Result Fail(Error error, const absl::Status& status) { return {error, std::string(status.message())}; }

// The outcome of a request for memory.
Result FailMemory(const absl::Status& status) {
  if (status.ok()) return {};
  return Fail(absl::IsResourceExhausted(status) ? Error::kOutOfMemory : Error::kInvalidValue, status);
}

Error LoadError(const absl::Status& status) {
  if (absl::IsNotFound(status)) return Error::kNoCode;
  return absl::IsResourceExhausted(status) ? Error::kOutOfMemory : Error::kBuildFailure;
}

Result FailCompile(const absl::Status& status) {
  return Fail(absl::IsNotFound(status) ? Error::kUnknownKernel : Error::kUnsupported, status);
}

}  // namespace

Device::Device(Recording* recording) : recording_(recording) {}

absl::StatusOr<std::unique_ptr<Device>> Device::Create(Recording* recording) {
  HEDDLE_RETURN_IF_ERROR(CheckProcessor());
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<DeviceMemory> memory,
                          DeviceMemory::Create(DeviceMemory::Sharing::kApplication));
  std::unique_ptr<Device> made(new Device(recording));
  made->memory_ = std::move(memory);
  RunnerOptions options;
  CertifySettings certify;
  options.describe_address = [device = made.get()](uint64_t address) { return device->memory_->Describe(address); };
  options.print = [device = made.get()](const std::string& text) {
    if (device->printed_.size() < kMaxPrintedBytes) {
      device->printed_ += text;
    } else if (HasChildren(text) && !device->printed_.ends_with(kChildBegin)) {
      device->printed_ += kChildBegin;  // without the rest: TakeChildren refuses it
    }
  };
  if (recording != nullptr) {
    options.max_instructions = recording->settings().max_instructions;
    options.lockstep = recording->settings().lockstep;
    options.resident_blocks = recording->settings().resident_blocks;
    options.allow_outside_reads = recording->settings().allow_bounds;
    options.jobs = recording->settings().jobs;
    options.memory = made->memory_.get();
    options.seconds_before_spreading = SecondsBeforeSpreading();
    options.note = [recording](const std::string& text) {
      if (!recording->settings().notes) return;
      recording->ClearProgress();
      absl::FPrintF(stderr, "heddle: note: %s\n", text);
    };
    certify = {recording->settings().certify, recording->settings().folder};
    made->form_.lockstep = recording->settings().lockstep;
    made->form_.own_stacks = recording->settings().own_stacks;
    options.progress = [recording](uint64_t block, uint64_t instructions) {
      recording->ShowProgress(block, instructions);
    };
  } else {
    options.resident_blocks_setting = "the environment variable HEDDLE_RESIDENT_BLOCKS=";
    options.allow_outside_reads = std::getenv(kAllowBoundsVariable) != nullptr;
    options.allow_outside_reads_setting = "the environment variable HEDDLE_ALLOW_BOUNDS=1";
    if (const char* live = std::getenv(kResidentBlocksVariable);
        live != nullptr && (!absl::SimpleAtoi(live, &options.resident_blocks) || options.resident_blocks < 1 ||
                            options.resident_blocks > kMaxResidentBlocks)) {
      return absl::InvalidArgumentError(absl::StrCat("the environment variable ", kResidentBlocksVariable, " is '",
                                                     live, "', no number from 1 to ", kMaxResidentBlocks));
    }
  }
  if (std::getenv(kOwnStacksVariable) != nullptr) made->form_.own_stacks = true;
  made->conductor_ =
      std::make_unique<LaunchConductor>(*made->memory_, std::move(options), std::move(certify),
                                        [device = made.get()](const std::string& warning) { device->Warn(warning); });
  return made;
}

Result Device::LoadModule(const std::vector<device::ModuleImage>& images, const device::ModuleOptions& options,
                          device::LoadPurpose purpose, device::ModuleInfo* module) {
  const auto fail = [module](const absl::Status& status) {
    absl::StrAppend(&module->log, status.message(), "\n");
    return Fail(LoadError(status), status);
  };
  if (purpose != device::LoadPurpose::kUse) {
    const absl::Status status = ModuleSource::Check(images, options, purpose == device::LoadPurpose::kLink);
    return status.ok() ? Result{} : fail(status);
  }
  absl::StatusOr<std::unique_ptr<LoadedModule>> loaded = LoadedModule::Load(
      images, options, [this](uint64_t bytes, const std::string& name) { return memory_->Allocate(bytes, name); },
      &constant_bytes_, &module->binary, recording_ == nullptr ? "" : recording_->settings().architecture);
  if (!loaded.ok()) return fail(loaded.status());
  module->id = next_module_++;
  module->target = (*loaded)->options().target;
  module->kernels = (*loaded)->kernels();
  module->variables = (*loaded)->Variables();
  if (recording_ != nullptr) recording_->AddCode((*loaded)->Facts());
  modules_[module->id] = *std::move(loaded);
  return {};
}

Result Device::BuildOpenCl(const device::BuildOpenClRequest& request, device::ModuleInfo* module) {
  absl::StatusOr<OpenClBinary> binary = CompileOpenCl(request, ++built_programs_, &module->log);
  if (!binary.ok()) return Fail(Error::kBuildFailure, binary.status());
  module->binary = binary->bitcode;
  if (request.compile_only) return {};
  return LoadModule({{device::ImageKind::kBitcode, "", binary->bitcode}}, binary->options, device::LoadPurpose::kUse,
                    module);
}

Result Device::UnloadModule(uint64_t module) {
  const auto found = modules_.find(module);
  if (found == modules_.end()) {
    return {Error::kInvalidValue, absl::StrCat("there is no module ", module)};
  }
  for (const device::VariableInfo& variable : found->second->Variables()) {
    if (!variable.constant) memory_->Free(variable.address).IgnoreError();
  }
  modules_.erase(found);
  return {};
}

Result Device::DescribeKernel(const device::KernelName& name, device::KernelInfo* info) {
  const auto found = modules_.find(name.module);
  if (found == modules_.end()) return {Error::kInvalidValue, absl::StrCat("there is no module ", name.module)};
  absl::StatusOr<LoadedKernel*> kernel = found->second->Kernel(name.kernel);
  if (!kernel.ok()) return FailCompile(kernel.status());
  *info = (*kernel)->info;
  return {};
}

Result Device::Allocate(const device::AllocateRequest& request, uint64_t* address) {
  absl::StatusOr<uint64_t> allocated = memory_->Allocate(request.bytes, request.name);
  if (!allocated.ok()) return Fail(Error::kOutOfMemory, allocated.status());
  *address = *allocated;
  return {};
}

Result Device::Free(uint64_t address) {
  absl::Status status = memory_->Free(address);
  return status.ok() ? Result{} : Fail(Error::kInvalidValue, status);
}

Result Device::Reserve(const device::ReserveRequest& request, uint64_t* address) {
  absl::StatusOr<uint64_t> reserved = memory_->Reserve(request.bytes, request.alignment, request.wanted);
  if (!reserved.ok()) return FailMemory(reserved.status());
  *address = *reserved;
  return {};
}

Result Device::Release(uint64_t address) { return FailMemory(memory_->Release(address)); }

Result Device::Map(const device::MapRequest& request) {
  return FailMemory(memory_->Map(request.address, request.bytes, request.name));
}

Result Device::Unmap(uint64_t address) { return FailMemory(memory_->Unmap(address)); }

device::DeviceLimits Device::Limits() const {
  device::DeviceLimits limits;
  limits.total_bytes = memory_->capacity();
  limits.free_bytes = memory_->free_bytes();
  limits.max_threads = kMaxThreads;
  std::copy(std::begin(kMaxBlock), std::end(kMaxBlock), limits.max_block);
  std::copy(std::begin(kMaxGrid), std::end(kMaxGrid), limits.max_grid);
  limits.max_static_shared_bytes = kMaxStaticShared;
  limits.max_shared_bytes = kMaxShared;
  limits.max_constant_bytes = kShownConstantBytes;
  limits.warp_width = kWarpWidth;
  return limits;
}

uint32_t Device::StreamNumber(uint64_t stream) {
  if (stream == 0) return 0;
  return streams_.emplace(stream, static_cast<uint32_t>(streams_.size() + 1)).first->second;
}

void Device::NoteTransfer(const device::TransferNote& note) {
  if (recording_ == nullptr) return;
  trace::v1::Transfer transfer;
  // The numbers are the same (trace.proto).
  transfer.set_direction(static_cast<trace::v1::Transfer::Direction>(note.direction));
  transfer.set_address(note.address);
  transfer.set_bytes(note.bytes);
  transfer.set_stream(StreamNumber(note.stream));
  recording_->AddTransfer(transfer).IgnoreError();  // kept by the recording, which tells at the end
}

Result Device::Prepare(const device::LaunchRequest& request, PreparedLaunch* launch) {
  const auto found = modules_.find(request.module);
  if (found == modules_.end()) return {Error::kInvalidValue, absl::StrCat("there is no module ", request.module)};
  launch->module = found->second.get();
  absl::StatusOr<LoadedKernel*> kernel = launch->module->Kernel(request.kernel);
  if (!kernel.ok()) return FailCompile(kernel.status());
  launch->kernel = *kernel;
  const device::KernelInfo& info = launch->kernel->info;

  Geometry& geometry = launch->geometry;
  std::copy(std::begin(request.grid), std::end(request.grid), geometry.grid);
  std::copy(std::begin(request.block), std::end(request.block), geometry.block);
  geometry.dynamic_shared_bytes = request.dynamic_shared_bytes;
  geometry.grid_id = static_cast<uint32_t>(launches_);
  geometry.environment[0] = request.work_dimensions;
  for (int i = 0; i < 3; ++i) geometry.environment[3 + i] = static_cast<uint32_t>(request.global_offset[i]);
  KernelBounds bounds;
  bounds.max_threads = info.max_threads;
  std::copy(std::begin(info.required_block), std::end(info.required_block), bounds.required_block);
  std::copy(std::begin(info.cluster), std::end(info.cluster), bounds.cluster);
  bounds.max_cluster_blocks = info.max_cluster_blocks;
  absl::Status fits = CheckGeometry(info.shown_name, bounds, geometry);
  if (fits.ok()) fits = ChooseClusters(info.shown_name, bounds, request.cluster, &geometry);
  if (!fits.ok()) return Fail(Error::kInvalidLaunch, fits);
  if (request.parameters.size() != info.parameter_bytes) {
    return {Error::kInvalidLaunch, absl::StrCat("kernel '", info.shown_name, "' takes ", info.parameter_bytes,
                                                " bytes of parameters, but ", request.parameters.size(), " are given")};
  }
  const bool old = launch->module->capability() < 70;
  if (const uint32_t most = old ? kMaxParameterBytesBefore70 : device::kMaxParameterBytes;
      info.parameter_bytes > most) {
    return {
        Error::kInvalidLaunch,
        absl::StrCat("kernel '", info.shown_name, "' takes ", info.parameter_bytes,
                     " bytes of parameters, but a device has room for ", most,
                     old ? absl::StrCat("; from -arch=sm_70 on there is room for ", device::kMaxParameterBytes) : "")};
  }
  for (uint64_t dependency : request.dependencies) {
    if (dependency >= launches_) {
      return {Error::kInvalidValue, absl::StrCat("a dependency on launch ", dependency, ", which has not been made")};
    }
  }

  const uint64_t blocks = geometry.blocks();
  if (recording_ != nullptr) {
    launch->plan = recording_->Plan(launch->kernel->unit.program, geometry);
  }
  const bool all = launch->plan.recorded && launch->plan.blocks.front() == BlockRange{0, blocks};
  const auto make = [&](bool record, KernelCode** code) {
    KernelForm form = form_;
    form.record = record;
    absl::StatusOr<KernelCode*> made = launch->module->Code(*launch->kernel, form);
    if (!made.ok()) return FailCompile(made.status());
    *code = *made;
    return Result{};
  };
  if (launch->plan.recorded) {
    if (Result result = make(true, &launch->recorded); !result.ok()) return result;
  }
  if (!all) {
    if (Result result = make(false, &launch->native); !result.ok()) return result;
  }
  const InstrumentedKernel& code = launch->AnyCode().kernel;
  if (absl::Status status = CheckShared(info.shown_name, code.static_shared_bytes, request.dynamic_shared_bytes);
      !status.ok()) {
    return Fail(Error::kInvalidLaunch, status);
  }
  if (code.uses_heap) {
    if (absl::Status status = conductor_->EnsureHeap(); !status.ok()) return Fail(Error::kOutOfMemory, status);
  }
  if (absl::Status status = conductor_->GiveGridWorkspace(code, geometry); !status.ok()) {
    return Fail(Error::kOutOfMemory, status);
  }
  launch->parameters = request.parameters;
  for (const device::ParameterInfo& parameter : info.parameters) {
    if (parameter.kind != device::ParameterKind::kSharedPointer) continue;
    uint64_t value = 0;
    const size_t bytes = std::min<size_t>(parameter.bytes, sizeof(value));
    std::memcpy(&value, launch->parameters.data() + parameter.offset, bytes);
    value += kSharedBase + DynamicSharedStart(code.static_shared_bytes);
    std::memcpy(launch->parameters.data() + parameter.offset, &value, bytes);
  }
  if (absl::Status status = conductor_->MapLocal(code, geometry); !status.ok()) {
    return Fail(Error::kOutOfMemory, status);
  }
  return {};
}

absl::Status Device::BeginRecord(const device::LaunchRequest& request, const PreparedLaunch& launch,
                                 const Origin* origin) {
  LoadedKernel& kernel = *launch.kernel;
  if (request.graph != 0 || origin != nullptr) HEDDLE_RETURN_IF_ERROR(recording_->AllowOrigins());
  if (launch.geometry.is_explicit_cluster) HEDDLE_RETURN_IF_ERROR(recording_->AllowClusters());
  auto number = kernel.numbers.find(request.stand_in_for);
  if (number == kernel.numbers.end()) {
    trace::v1::KernelProgram program = kernel.unit.program;
    program.set_stand_in_for(request.stand_in_for);
    HEDDLE_ASSIGN_OR_RETURN(uint32_t added, recording_->AddKernel(std::move(program), launch.module->Facts(kernel)));
    number = kernel.numbers.emplace(request.stand_in_for, added).first;
  }
  trace::v1::Launch record = conductor_->Describe(launch.AnyCode().kernel, launch.geometry);
  record.set_program(number->second);
  record.set_stream(StreamNumber(request.stream));
  if (request.graph != 0) record.set_graph(request.graph);
  std::set<uint64_t> dependencies(request.dependencies.begin(), request.dependencies.end());
  if (const auto last = last_in_stream_.find(request.stream); last != last_in_stream_.end()) {
    dependencies.insert(last->second);
  }
  // A launch is over when all that it asked for is, unless it waits for its own ancestors, which have begun.
  std::set<uint64_t> all = dependencies;
  for (uint64_t dependency : dependencies) {
    const auto found = descendants_.find(dependency);
    if (found == descendants_.end()) continue;
    const bool is_ancestor = origin != nullptr && std::find(origin->ancestors.begin(), origin->ancestors.end(),
                                                            dependency) != origin->ancestors.end();
    if (!is_ancestor) all.insert(found->second.begin(), found->second.end());
  }
  for (uint64_t dependency : all) record.add_depends_on(static_cast<uint32_t>(dependency));
  if (origin != nullptr) *record.mutable_parent() = origin->parent;
  return recording_->BeginLaunch(kernel.unit.program.name(), launch.plan, std::move(record));
}

absl::StatusOr<LaunchOutcome> Device::Run(PreparedLaunch& launch) {
  ReadyLaunch ready;
  ready.number = launches_;
  ready.recorded = launch.recorded;
  ready.native = launch.native;
  ready.parameters = std::move(launch.parameters);
  ready.geometry = launch.geometry;
  uint64_t next = 0;
  const auto add = [&](uint64_t end, bool record) {
    if (next != end) ready.ranges.push_back({next, end, record});
    next = end;
  };
  for (const BlockRange& range : launch.plan.blocks) {
    add(range.first, false);
    add(range.end, true);
  }
  add(launch.geometry.blocks(), false);
  if (launch.recorded == nullptr) return conductor_->Run(ready, nullptr);
  LoadedKernel& kernel = *launch.kernel;
  if (kernel.program == nullptr) {
    HEDDLE_ASSIGN_OR_RETURN(trace::Program program, trace::Program::Create(kernel.unit.program));
    kernel.program = std::make_unique<trace::Program>(std::move(program));
  }
  ready.proto = &kernel.unit.program;
  ready.program = kernel.program.get();
  return conductor_->Run(ready, recording_->writer());
}

Result Device::Launch(const device::LaunchRequest& request, device::LaunchReply* reply) {
  std::vector<ChildLaunch> children;
  Result result = LaunchOne(request, nullptr, reply, &children);
  if (!result.ok() || children.empty()) return result;
  Origin above;
  above.ancestors = {reply->launch};
  return LaunchChildren(request, above, std::move(children), reply);
}

Result Device::LaunchChildren(const device::LaunchRequest& request, const Origin& above,
                              std::vector<ChildLaunch> children, device::LaunchReply* reply) {
  if (above.ancestors.size() > kMostNested) {
    return {Error::kInvalidLaunch, absl::StrCat("launch ", above.ancestors.back(), ": kernels launch kernels ",
                                                kMostNested, " levels deep, and no deeper")};
  }
  const uint64_t parent = above.ancestors.back();
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> streams;  // by block of the parent and its handle
  std::optional<uint64_t> last_tail;
  for (ChildLaunch& child : children) {
    device::LaunchRequest asked;
    asked.module = request.module;
    asked.kernel = std::move(child.kernel);
    std::copy(std::begin(child.grid), std::end(child.grid), asked.grid);
    std::copy(std::begin(child.block), std::end(child.block), asked.block);
    asked.dynamic_shared_bytes = static_cast<uint32_t>(std::min<uint64_t>(child.shared_bytes, ~uint32_t{0}));
    asked.parameters = std::move(child.parameters);
    // Whole words were handed over.
    absl::StatusOr<LoadedKernel*> kernel = modules_.at(request.module)->Kernel(asked.kernel);
    if (!kernel.ok()) return FailCompile(kernel.status());
    const uint32_t wanted = (*kernel)->info.parameter_bytes;
    if (asked.parameters.size() / 8 == (uint64_t{wanted} + 7) / 8) asked.parameters.resize(wanted);
    asked.dependencies = {parent};
    // Tails come behind all that the grid has asked for: the first behind the others, the next behind the one before.
    if (child.is_tail() && last_tail.has_value()) {
      asked.dependencies.push_back(*last_tail);
    } else if (child.is_tail()) {
      const std::vector<uint64_t>& others = descendants_[parent];
      asked.dependencies.insert(asked.dependencies.end(), others.begin(), others.end());
    }
    uint64_t& stream = streams[{child.parent_block, child.stream}];
    // Programs do not have such numbers.
    if (stream == 0 || child.is_free()) stream = (uint64_t{1} << 63) + launches_;
    asked.stream = stream;
    Origin origin = above;
    origin.parent.set_launch(static_cast<uint32_t>(parent));
    origin.parent.set_block(child.parent_block);
    origin.parent.set_thread(child.parent_thread);
    origin.parent.set_ordinal(child.ordinal);
    device::LaunchReply answer;
    std::vector<ChildLaunch> more;
    Result result = LaunchOne(asked, &origin, &answer, &more);
    if (reply->printed.size() < kMaxPrintedBytes) reply->printed += answer.printed;
    if (!result.ok()) return result;
    reply->duration_ns += answer.duration_ns;
    for (uint64_t ancestor : above.ancestors) descendants_[ancestor].push_back(answer.launch);
    if (child.is_tail()) last_tail = answer.launch;
    if (more.empty()) continue;
    origin.ancestors.push_back(answer.launch);
    if (result = LaunchChildren(asked, origin, std::move(more), reply); !result.ok()) return result;
  }
  return {};
}

Result Device::LaunchOne(const device::LaunchRequest& request, const Origin* origin, device::LaunchReply* reply,
                         std::vector<ChildLaunch>* children) {
  PreparedLaunch launch;
  if (Result result = Prepare(request, &launch); !result.ok()) {
    result.message = absl::StrCat("launch ", launches_, ": ", result.message);
    return result;
  }
  if (launch.plan.recorded) {
    if (absl::Status status = BeginRecord(request, launch, origin); !status.ok())
      return Fail(Error::kKernelFault, status);
  }
  const uint64_t before = conductor_->instructions();
  absl::StatusOr<LaunchOutcome> outcome = Run(launch);
  reply->printed = std::exchange(printed_, "");
  if (absl::Status status = TakeChildren(reply->printed, children); outcome.ok() && !status.ok()) outcome = status;
  for (const ChildLaunch& child : *children) {
    if (child.parent_block < launch.geometry.blocks() && child.parent_thread < launch.geometry.threads()) continue;
    if (!outcome.ok()) break;
    outcome = absl::InvalidArgumentError("it prints a launch by a thread that it does not have; print other text");
  }
  if (!outcome.ok()) {
    const absl::Status& ran = outcome.status();
    const std::string what = absl::IsCancelled(ran) ? absl::StrCat("the program ended while kernel '",
                                                                   launch.kernel->info.shown_name, "' was running")
                                                    : std::string(ran.message());
    Result result = {Error::kKernelFault, absl::StrCat("launch ", launches_, ": ", what)};
    if (absl::IsInternal(ran) && launch.recorded == nullptr) {
      // Native code keeps track neither of where it is nor of who reads what whom has written.
      const bool has_shared = SharedBytes(launch.native->kernel, launch.geometry) != 0;
      absl::StrAppend(&result.message, "; `heddle capture` tells the source line",
                      has_shared ? ", and whether threads of a warp share data without synchronization" : "");
    }
    // A program that is there prints what its launches are answered.
    if (recording_ != nullptr) recording_->AbandonLaunch(result.message, !absl::IsCancelled(ran)).IgnoreError();
    ShowWarnings(launch);
    return result;
  }
  if (recording_ != nullptr) {
    absl::Status status = launch.plan.recorded ? absl::OkStatus() : BeginRecord(request, launch, origin);
    if (status.ok())
      status = recording_->EndLaunch(outcome->certificate.has_value() ? &*outcome->certificate : nullptr);
    if (!status.ok()) return Fail(Error::kKernelFault, status);
  }
  ShowWarnings(launch);
  for (const std::string& warning : outcome->warnings) Warn(warning);
  reply->launch = launches_++;
  reply->duration_ns = kLaunchNanoseconds + (conductor_->instructions() - before) / kInstructionsPerNanosecond;
  last_in_stream_[request.stream] = reply->launch;
  return {};
}

void Device::ShowWarnings(const PreparedLaunch& launch) {
  std::vector<std::string> warnings;
  KernelCode& code = launch.AnyCode();
  if (!std::exchange(code.told_warnings, true)) warnings = code.kernel.warnings;
  const std::vector<std::string>& running = conductor_->warnings();
  warnings.insert(warnings.end(), running.begin() + static_cast<ptrdiff_t>(warnings_shown_), running.end());
  warnings_shown_ = running.size();
  if (!warnings.empty() && recording_ != nullptr) recording_->ClearProgress();
  for (const std::string& warning : warnings) absl::FPrintF(stderr, "heddle: warning: %s\n", warning);
}

void Device::Warn(const std::string& warning) {
  if (!told_.insert(warning).second) return;
  recording_->ClearProgress();
  absl::FPrintF(stderr, "heddle: warning: %s\n", warning);
}

}  // namespace heddle::tracegen
