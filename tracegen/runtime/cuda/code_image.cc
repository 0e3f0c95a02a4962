#include "tracegen/runtime/cuda/code_image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "tracegen/runtime/cuda/code_text.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

// The value of "key=value" in lines of text.
std::string_view ValueOf(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.size() > key.size() && line.substr(0, key.size()) == key && line[key.size()] == '=') {
      return line.substr(key.size() + 1);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

uint64_t NumberAt(const char* at) {
  uint64_t number;
  std::memcpy(&number, at, sizeof(number));
  return number;
}

constexpr size_t kMagicBytes = sizeof(DeviceCodeHeader::magic);

}  // namespace

size_t DeviceCodeBytes(std::string_view data) {
  if (data.size() < sizeof(DeviceCodeHeader)) return 0;
  if (std::memcmp(data.data(), kDeviceCodeMagic, kMagicBytes) == 0) {
    DeviceCodeHeader header;
    std::memcpy(&header, data.data(), sizeof(header));
    const uint64_t room = data.size() - sizeof(header);
    const bool fits = header.text_bytes <= room && header.bitcode_bytes <= room - header.text_bytes;
    return fits ? sizeof(header) + header.text_bytes + header.bitcode_bytes : 0;
  }
  if (std::memcmp(data.data(), kLinkedCodeMagic, kMagicBytes) != 0) return 0;
  size_t at = kMagicBytes + sizeof(uint64_t);
  for (uint64_t part = NumberAt(data.data() + kMagicBytes); part > 0; --part) {
    if (data.size() - at < sizeof(uint64_t)) return 0;
    const uint64_t bytes = NumberAt(data.data() + at);
    at += sizeof(uint64_t);
    const std::string_view code = data.substr(at, std::min<uint64_t>(bytes, data.size() - at));
    const bool plain = code.substr(0, kMagicBytes) == std::string_view(kDeviceCodeMagic, kMagicBytes);
    if (bytes != code.size() || !plain || DeviceCodeBytes(code) != bytes) return 0;
    at += bytes;
  }
  return at;
}

bool CodeImage::Add(const void* code) {
  // Bytes behind a zero, or behind other code, need not exist.
  if (std::strncmp(static_cast<const char*>(code), kCodeTextStart.data(), kCodeTextStart.size()) == 0) {
    const std::string& decoded = decoded_.emplace_back(CodeFromText(static_cast<const char*>(code)));
    return DeviceCodeBytes(decoded) != 0 && Add(decoded.data());
  }
  if (std::strncmp(static_cast<const char*>(code), kLinkedCodeMagic, kMagicBytes) == 0) {
    const char* at = static_cast<const char*>(code) + kMagicBytes;
    uint64_t parts = NumberAt(at);
    at += sizeof(parts);
    for (; parts > 0; --parts) {
      const uint64_t bytes = NumberAt(at);
      at += sizeof(bytes);
      if (!Add(at)) return false;
      at += bytes;
    }
    return true;
  }
  if (std::strncmp(static_cast<const char*>(code), kDeviceCodeMagic, kMagicBytes) != 0) return false;
  DeviceCodeHeader header;
  std::memcpy(&header, code, sizeof(header));
  const char* text_start = static_cast<const char*>(code) + sizeof(header);
  const std::string_view text(text_start, header.text_bytes);
  bitcode_.emplace_back(text_start + header.text_bytes, header.bitcode_bytes);
  // Of several parts the first names the image, and the strictest register limit holds.
  if (options_.name.empty()) {
    options_.name = ValueOf(text, "name");
    options_.target = ValueOf(text, "target");
    options_.optimization = ValueOf(text, "optimization");
  }
  cuda_version_ = std::max(cuda_version_, std::atoi(std::string(ValueOf(text, "cuda_version")).c_str()));
  const auto registers =
      static_cast<uint32_t>(std::strtoul(std::string(ValueOf(text, "max_registers")).c_str(), nullptr, 10));
  if (registers != 0) {
    options_.max_registers = options_.max_registers == 0 ? registers : std::min(options_.max_registers, registers);
  }
  if (const std::string_view program = ValueOf(text, "device_program"); !program.empty()) {
    device::DeviceClient::Get().AddDeviceProgram(std::string(program));
  }
  return true;
}

cudaError_t CodeImage::Load(const char* call) {
  if (loaded_) return cudaSuccess;
  if (failure_ != cudaSuccess) return Fail(failure_);
  if (bitcode_.empty()) {
    Explain(call, "this program's device code was not compiled by heddle-nvcc");
    return Fail(cudaErrorNoKernelImageForDevice);
  }
  const device::Result result = device::DeviceClient::Get().LoadModule(bitcode_, options_, &info_);
  failure_ = Fail(call, result);
  loaded_ = result.ok();
  return failure_;
}

cudaError_t CodeImage::Unload(const char* call) {
  if (!loaded_) return cudaSuccess;
  loaded_ = false;
  return Fail(call, device::DeviceClient::Get().UnloadModule(info_.id));
}

const device::KernelInfo* CodeImage::FindKernel(std::string_view name) const {
  for (const device::KernelInfo& kernel : info_.kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

const device::VariableInfo* CodeImage::FindVariable(std::string_view name) const {
  for (const device::VariableInfo& variable : info_.variables) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

const device::VariableInfo* CodeImage::FindAddress(uint64_t address) const {
  for (const device::VariableInfo& variable : info_.variables) {
    if (address >= variable.address && address - variable.address < variable.bytes) return &variable;
  }
  return nullptr;
}

int CodeImage::target() const { return options_.target.size() > 3 ? std::atoi(options_.target.c_str() + 3) : 0; }

CodeRegistry& CodeRegistry::Get() {
  static auto& registry = *new CodeRegistry;
  return registry;
}

CodeImage* CodeRegistry::NewImage() { return images_.emplace_back(std::make_unique<CodeImage>()).get(); }

CodeImage* CodeRegistry::RelocatableImage(const void* entries, bool* is_new) {
  CodeImage*& image = relocatable_[entries];
  *is_new = image == nullptr;
  if (image == nullptr) image = NewImage();
  return image;
}

void CodeRegistry::AddKernel(CodeImage* image, const void* host, const char* name) {
  Kernel& kernel = kernels_[host];
  kernel.image = image;
  kernel.name = name;
}

void CodeRegistry::AddVariable(const Variable& variable) {
  variables_[variable.host] = variable;
  has_managed_ = has_managed_ || variable.kind == VariableKind::kManaged;
}

Kernel* CodeRegistry::FindKernel(const void* host) {
  auto found = kernels_.find(host);
  return found == kernels_.end() ? nullptr : &found->second;
}

const Variable* CodeRegistry::FindVariable(const void* host_or_name) {
  if (auto found = variables_.find(host_or_name); found != variables_.end()) return &found->second;
  // Before CUDA 5 symbols were named by strings. An address in a variable is none: a variable's start is known above.
  for (const auto& [host, variable] : variables_) {
    const char* start = static_cast<const char*>(host);
    const char* given = static_cast<const char*>(host_or_name);
    if (given > start && given < start + variable.bytes) return nullptr;
  }
  for (const auto& [host, variable] : variables_) {
    if (std::strncmp(static_cast<const char*>(host_or_name), variable.name.c_str(), variable.name.size() + 1) == 0) {
      return &variable;
    }
  }
  return nullptr;
}

cudaError_t CodeRegistry::Locate(const char* call, const void* host_or_name, const Variable** variable,
                                 const device::VariableInfo** place) {
  *variable = host_or_name == nullptr ? nullptr : FindVariable(host_or_name);
  if (*variable == nullptr) return Fail(cudaErrorInvalidSymbol);
  if (cudaError_t error = (*variable)->image->Load(call); error != cudaSuccess) return error;
  *place = (*variable)->image->FindVariable((*variable)->name);
  if (*place == nullptr) {
    Explain(call, "variable " + (*variable)->name + " is not in the device code (no kernel uses it)");
    return Fail(cudaErrorInvalidSymbol);
  }
  return cudaSuccess;
}

void CodeRegistry::PushManaged() {
  if (!has_managed_ || !device::DeviceClient::CheckProcess().ok()) return;
  for (const auto& [host, variable] : variables_) {
    if (variable.kind != VariableKind::kManaged || !variable.image->loaded()) continue;
    const device::VariableInfo* place = variable.image->FindVariable(variable.name);
    if (place != nullptr) std::memcpy(reinterpret_cast<void*>(place->address), host, variable.bytes);
  }
}

void CodeRegistry::PullManaged() {
  if (!has_managed_ || !device::DeviceClient::CheckProcess().ok()) return;
  for (const auto& [host, variable] : variables_) {
    if (variable.kind != VariableKind::kManaged || !variable.image->loaded()) continue;
    const device::VariableInfo* place = variable.image->FindVariable(variable.name);
    if (place != nullptr) std::memcpy(variable.host, reinterpret_cast<void*>(place->address), variable.bytes);
  }
}

uint64_t CodeRegistry::Translate(uint64_t pointer) const {
  if (!has_managed_) return pointer;
  for (const auto& [host, variable] : variables_) {
    const uint64_t start = reinterpret_cast<uint64_t>(host);
    if (variable.kind != VariableKind::kManaged || pointer < start || pointer - start >= variable.bytes) continue;
    const device::VariableInfo* place =
        variable.image->loaded() ? variable.image->FindVariable(variable.name) : nullptr;
    if (place != nullptr) return place->address + (pointer - start);
  }
  return pointer;
}

int CodeRegistry::target() const {
  int target = 0;
  for (const auto& image : images_) target = std::max(target, image->target());
  return target == 0 ? 70 : target;
}

int CodeRegistry::cuda_version() const {
  int version = 0;
  for (const auto& image : images_) version = std::max(version, image->cuda_version());
  return version == 0 ? CUDART_VERSION : version;
}

bool CodeRegistry::IsInVariable(uint64_t address, uint64_t bytes) const {
  const auto holds = [&](const CodeImage& image) {
    const device::VariableInfo* variable = image.loaded() ? image.FindAddress(address) : nullptr;
    return variable != nullptr && bytes <= variable->bytes - (address - variable->address);
  };
  for (const auto& image : images_) {
    if (holds(*image)) return true;
  }
  return std::any_of(others_.begin(), others_.end(), [&](const CodeImage* image) { return holds(*image); });
}

}  // namespace heddle::cuda
