#include "tracegen/runtime/cuda/code_image.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tracegen/runtime/cuda/code_text.h"
#include "tracegen/runtime/cuda/image_form.h"
#include "tracegen/runtime/cuda/source_names.h"
#include "tracegen/runtime/cuda/state.h"
#include "tracegen/runtime/protocol/fat_binary.h"

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

void CodeImage::Limit(uint32_t registers, uint32_t capability) {
  if (registers != 0) {
    options_.max_registers = options_.max_registers == 0 ? registers : std::min(options_.max_registers, registers);
  }
  if (capability != 0) options_.most_capability = capability;
}

std::string CodeImage::Add(const void* code, const std::string& name) {
  const auto add = [&]() -> std::string {
    switch (FormOf(code)) {
      case ImageForm::kEmbedded:
        return AddEmbedded(code, name);
      case ImageForm::kLinked:
        return AddLinked(code, name);
      case ImageForm::kCodeText:
      case ImageForm::kText:
        return AddText(static_cast<const char*>(code), name);
      case ImageForm::kFatBinary: {
        const std::optional<std::string_view> container = FatBinaryAt(code);
        return container ? AddFatBinary(*container, name) : kDamagedFatBinary;
      }
      case ImageForm::kFatBinaryWrapper:
        return AddWrapped(code, name);
      case ImageForm::kMachineCode:
        return kMachineCodeRefusal;
      case ImageForm::kUnknown:
        break;
    }
    return kNoDeviceCode;
  };
  std::string refusal = add();
  if (!refusal.empty()) refusal_ = refusal;
  return refusal;
}

std::string CodeImage::AddAll(std::string_view code, const std::string& name) {
  switch (FormOf(code.data())) {
    case ImageForm::kEmbedded:
    case ImageForm::kLinked:
      return DeviceCodeBytes(code) == 0 ? "a part of device code" : Add(code.data(), name);
    case ImageForm::kFatBinary:
      return device::FatBinaryBytes(code) == 0 ? "a part of a fat binary" : Add(code.data(), name);
    case ImageForm::kFatBinaryWrapper:
      return kNoDeviceCode;  // addresses of another program
    default:
      return Add(code.data(), name);
  }
}

std::string CodeImage::AddText(const char* text, const std::string& name) {
  const std::optional<size_t> bytes = TextBytes(text);
  if (!bytes) return "a text without a zero byte at its end";
  if (FormOf(text) == ImageForm::kCodeText) {
    const std::string& decoded = decoded_.emplace_back(CodeFromText(text));
    return DeviceCodeBytes(decoded) == 0 ? kDamagedDeviceCode : Add(decoded.data(), name);
  }
  const std::string_view whole(text, *bytes);
  if (!IsPtx(whole)) return kNoDeviceCode;
  images_.push_back({device::ImageKind::kPtx, name, whole});
  if (options_.name.empty()) options_.name = name;
  return "";
}

std::string CodeImage::AddFatBinary(std::string_view container, const std::string& name) {
  images_.push_back({device::ImageKind::kFatBinary, name, container});
  if (options_.name.empty()) options_.name = name;
  newest_ptx_ = std::max(newest_ptx_, NewestPtx(container));
  return "";
}

std::string CodeImage::AddWrapped(const void* wrapper, const std::string& name) {
  device::FatBinaryWrapper whole;
  std::memcpy(&whole, wrapper, sizeof(whole));
  constexpr uint32_t kOfParts = 2;
  if (whole.version != kOfParts || whole.more == nullptr) {
    return whole.data == nullptr ? kNoDeviceCode : Add(whole.data, name);
  }
  // Containers of relocatable code, up to a null.
  for (auto part = static_cast<const void* const*>(whole.more); *part != nullptr; ++part) {
    if (std::string refusal = Add(*part, name); !refusal.empty()) return refusal;
  }
  return "";
}

std::string CodeImage::AddLinked(const void* code, const std::string& name) {
  const char* at = static_cast<const char*>(code) + kMagicBytes;
  if (!IsThere(at, sizeof(uint64_t))) return kDamagedDeviceCode;
  uint64_t parts = NumberAt(at);
  at += sizeof(parts);
  for (; parts > 0; --parts) {
    if (!IsThere(at, sizeof(uint64_t))) return kDamagedDeviceCode;
    const uint64_t bytes = NumberAt(at);
    at += sizeof(bytes);
    if (!IsThere(at, bytes)) return kDamagedDeviceCode;
    // No parts within parts, which could be endless.
    if (DeviceCodeBytes({at, bytes}) != bytes || FormOf(at) != ImageForm::kEmbedded) return kDamagedDeviceCode;
    if (std::string refusal = Add(at, name); !refusal.empty()) return refusal;
    at += bytes;
  }
  return "";
}

std::string CodeImage::AddEmbedded(const void* code, const std::string& name) {
  // Bytes behind other code need not exist.
  DeviceCodeHeader header;
  if (!IsThere(code, sizeof(header))) return kDamagedDeviceCode;
  std::memcpy(&header, code, sizeof(header));
  const char* text_start = static_cast<const char*>(code) + sizeof(header);
  if (!IsThere(text_start, header.text_bytes) || !IsThere(text_start + header.text_bytes, header.bitcode_bytes)) {
    return kDamagedDeviceCode;
  }
  const std::string_view text(text_start, header.text_bytes);
  const std::string_view kind = ValueOf(text, "kind");
  const std::string_view own_name = ValueOf(text, "name");
  device::ModuleImage& image = images_.emplace_back();
  image.kind = kind == kPtxPart         ? device::ImageKind::kPtx
               : kind == kFatBinaryPart ? device::ImageKind::kFatBinary
                                        : device::ImageKind::kBitcode;
  image.name = own_name.empty() ? name : own_name;
  image.data = {text_start + header.text_bytes, header.bitcode_bytes};
  // Of several parts the first names the image, and the strictest register limit holds.
  if (options_.name.empty()) {
    options_.name = image.name;
    options_.target = ValueOf(text, "target");
    options_.optimization = ValueOf(text, "optimization");
  }
  const auto number = [&text](std::string_view key) {
    return static_cast<uint32_t>(std::strtoul(std::string(ValueOf(text, key)).c_str(), nullptr, 10));
  };
  cuda_version_ = std::max(cuda_version_, static_cast<int>(number("cuda_version")));
  Limit(number("max_registers"), number("most_capability"));
  if (const std::string_view program = ValueOf(text, "device_program"); !program.empty()) {
    device::DeviceClient::Get().AddDeviceProgram(std::string(program));
  }
  return "";
}

cudaError_t CodeImage::Ask(const char* call, device::LoadPurpose purpose) {
  const device::Result result = device::DeviceClient::Get().LoadModule(images_, options_, purpose, &info_);
  const bool of_text = std::any_of(images_.begin(), images_.end(), [](const device::ModuleImage& image) {
    return image.kind != device::ImageKind::kBitcode;
  });
  const cudaError_t error = Fail(call, result);
  return of_text && error == cudaErrorInvalidKernelImage ? Fail(cudaErrorInvalidPtx) : error;
}

cudaError_t CodeImage::Load(const char* call) {
  if (loaded_) return cudaSuccess;
  if (failure_ != cudaSuccess) return Fail(failure_);
  if (images_.empty()) {
    Explain(call, refusal_.empty() ? "this program's device code was not compiled by heddle-nvcc" : refusal_);
    return Fail(cudaErrorNoKernelImageForDevice);
  }
  failure_ = Ask(call, device::LoadPurpose::kUse);
  loaded_ = failure_ == cudaSuccess;
  if (loaded_) CodeRegistry::Get().AdoptNames(*this);
  return failure_;
}

cudaError_t CodeImage::Check(const char* call, device::LoadPurpose purpose) { return Ask(call, purpose); }

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

int CodeImage::target() const {
  const std::string& target = loaded_ ? info_.target : options_.target;
  int capability = 0;  // behind "sm_"
  if (target.size() > 3) std::from_chars(target.data() + 3, target.data() + target.size(), capability);
  return std::max(newest_ptx_, capability);
}

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

void CodeRegistry::AdoptNames(const CodeImage& image) {
  std::map<std::string, std::string> symbols;  // by what they are in the source; made when one is missing
  const auto adopt = [&](std::string& name) {
    if (symbols.empty()) {
      for (const device::KernelInfo& kernel : image.info().kernels) symbols[SourceName(kernel.name)] = kernel.name;
      for (const device::VariableInfo& variable : image.info().variables) {
        symbols[SourceName(variable.name)] = variable.name;
      }
    }
    if (const auto found = symbols.find(SourceName(name)); found != symbols.end()) name = found->second;
  };
  for (auto& [host, kernel] : kernels_) {
    if (kernel.image == &image && image.FindKernel(kernel.name) == nullptr) adopt(kernel.name);
  }
  for (auto& [host, variable] : variables_) {
    if (variable.image == &image && image.FindVariable(variable.name) == nullptr) adopt(variable.name);
  }
}

Kernel* CodeRegistry::FindKernel(const void* host) {
  auto found = kernels_.find(host);
  return found == kernels_.end() ? FindHandle(host) : &found->second;
}

Kernel* CodeRegistry::FindHandle(const void* handle) const {
  return handles_.count(handle) == 0 ? nullptr : static_cast<Kernel*>(const_cast<void*>(handle));
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
