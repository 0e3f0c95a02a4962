// What compiled objects call before main(): registration of device code, kernels and variables by clang, and by the
// vendor's compiler; and that of relocatable device code (include/heddle_cuda_relocatable.h).
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/state.h"
#include "tracegen/runtime/protocol/fat_binary.h"

namespace heddle::cuda {
namespace {

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names, and below those that compiled programs call
// Section of managed variables, in this program or shared library.
extern "C" char __start_heddle_managed __attribute__((weak, visibility("hidden")));
extern "C" char __stop_heddle_managed __attribute__((weak, visibility("hidden")));

bool IsManaged(const void* host) {
  const char* at = static_cast<const char*>(host);
  return &__start_heddle_managed != nullptr && at >= &__start_heddle_managed && at < &__stop_heddle_managed;
}

Variable MakeVariable(CodeImage* image, void* host, const char* name, uint64_t bytes, VariableKind kind) {
  Variable variable;
  variable.image = image;
  variable.name = name;
  variable.host = host;
  variable.bytes = bytes;
  variable.kind = kind;
  return variable;
}

// One entry of clang's list of a relocatable unit (clang 19, offloading entries).
struct OffloadEntry {
  void* host;
  char* name;
  uint64_t bytes;  // 0: a kernel
  int32_t flags;
  int32_t data;
};
constexpr int32_t kKindMask = 0x7;
constexpr int32_t kSurfaceEntry = 2;
constexpr int32_t kTextureEntry = 3;
constexpr int32_t kNormalized = 1 << 5;

void AddEntry(CodeImage* image, const OffloadEntry& entry) {
  CodeRegistry& registry = CodeRegistry::Get();
  if (entry.bytes == 0) {
    registry.AddKernel(image, entry.host, entry.name);
    return;
  }
  VariableKind kind = IsManaged(entry.host) ? VariableKind::kManaged : VariableKind::kVariable;
  if ((entry.flags & kKindMask) == kSurfaceEntry) kind = VariableKind::kSurface;
  if ((entry.flags & kKindMask) == kTextureEntry) kind = VariableKind::kTexture;
  Variable variable = MakeVariable(image, entry.host, entry.name, entry.bytes, kind);
  variable.normalized_float = (entry.flags & kNormalized) != 0;
  registry.AddVariable(variable);
}

// A managed variable of the vendor's compiler: a pointer of the host, which leads to the device's own memory once its
// image is loaded.
struct ManagedPointer {
  CodeImage* image = nullptr;
  void** host = nullptr;
  std::string name;
};

std::vector<ManagedPointer>& ManagedPointers() {
  static auto& pointers = *new std::vector<ManagedPointer>;
  return pointers;
}

// The host's copies of managed variables get their first values. The runtime comes last on the linker's command line,
// so this runs after all device code has been registered.
__attribute__((constructor)) void InitializeManaged() {
  const Guard guard;
  bool any = false;
  for (const auto& [host, variable] : CodeRegistry::Get().variables()) {
    if (variable.kind != VariableKind::kManaged) continue;
    any = variable.image->Load("initialization of __managed__ variables") == cudaSuccess || any;
  }
  if (any) CodeRegistry::Get().PullManaged();
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::CodeImage;
using heddle::cuda::CodeRegistry;
using heddle::cuda::Guard;
using heddle::cuda::VariableKind;

#pragma GCC visibility push(default)
extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  const Guard guard;
  CodeImage* image = CodeRegistry::Get().NewImage();
  // What is wrong with it is told when one of its kernels is needed.
  heddle::device::FatBinaryWrapper whole;
  std::memcpy(&whole, wrapper, sizeof(whole));
  image->Add(whole.magic == heddle::device::kFatBinaryWrapperMagic ? wrapper : whole.data, "program.ptx");
  return reinterpret_cast<void**>(image);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**) {}

int __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, void*, void*, void*, void*,
                           int*) {
  const Guard guard;
  CodeRegistry::Get().AddKernel(reinterpret_cast<CodeImage*>(handle), host, name);
  return 0;
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int, int) {
  const Guard guard;
  CodeRegistry::Get().AddVariable(
      heddle::cuda::MakeVariable(reinterpret_cast<CodeImage*>(handle), host, name, bytes,
                                 heddle::cuda::IsManaged(host) ? VariableKind::kManaged : VariableKind::kVariable));
}

void __cudaRegisterTexture(void** handle, void* host, const void**, const char* name, int, int normalized, int) {
  const Guard guard;
  heddle::cuda::Variable variable = heddle::cuda::MakeVariable(reinterpret_cast<CodeImage*>(handle), host, name,
                                                               sizeof(textureReference), VariableKind::kTexture);
  variable.normalized_float = normalized != 0;
  CodeRegistry::Get().AddVariable(variable);
}

void __cudaRegisterSurface(void** handle, void* host, const void**, const char* name, int, int) {
  const Guard guard;
  CodeRegistry::Get().AddVariable(heddle::cuda::MakeVariable(reinterpret_cast<CodeImage*>(handle), host, name,
                                                             sizeof(surfaceReference), VariableKind::kSurface));
}

void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t, int, int) {
  const Guard guard;
  heddle::cuda::ManagedPointers().push_back({reinterpret_cast<CodeImage*>(handle), host, name});
}

// Called before managed variables are used for the first time.
char __cudaInitModule(void** handle) {
  const Guard guard;
  auto* image = reinterpret_cast<CodeImage*>(handle);
  bool loaded = true;
  for (const heddle::cuda::ManagedPointer& pointer : heddle::cuda::ManagedPointers()) {
    if (pointer.image != image) continue;
    loaded = loaded && image->Load("__cudaInitModule") == cudaSuccess;
    const heddle::device::VariableInfo* place = loaded ? image->FindVariable(pointer.name) : nullptr;
    if (place != nullptr) *pointer.host = reinterpret_cast<void*>(place->address);
  }
  return loaded ? 1 : 0;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) { return cudaGetKernel(kernel, function); }

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                               cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                    cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

void __heddleRegisterRelocatable(const void* code, const void* first_entry, const void* last_entry) {
  const Guard guard;
  bool is_new = false;
  CodeImage* image = CodeRegistry::Get().RelocatableImage(first_entry, &is_new);
  image->Add(code, "program.ptx");
  if (!is_new || first_entry == nullptr) return;
  const auto* last = static_cast<const heddle::cuda::OffloadEntry*>(last_entry);
  for (const auto* entry = static_cast<const heddle::cuda::OffloadEntry*>(first_entry); entry < last; ++entry) {
    // The linker may leave gaps of zeros between the entries of objects.
    if (entry->host != nullptr) heddle::cuda::AddEntry(image, *entry);
  }
}

}  // extern "C"
#pragma GCC visibility pop
// NOLINTEND(bugprone-reserved-identifier)
