// Device code of the program: which kernels and variables it has, where they live on the device.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_CODE_IMAGE_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_CODE_IMAGE_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tracegen/runtime/client/device_client.h"
#include "tracegen/runtime/cuda/api.h"
#include "tracegen/runtime/cuda/device_code.h"

namespace heddle::cuda {

// How many bytes device code that starts with `data` has, linked or not (device_code.h); 0 if it is none, or not all
// there.
size_t DeviceCodeBytes(std::string_view data);

// One module of the device: the code of one object, or of all relocatable objects of a program or shared library.
// Loaded at the first use of one of its kernels or variables.
class CodeImage {
 public:
  // Adds device code of any form (image_form.h), which has to stay where it is until Load. `name` is that of a text,
  // such as "kernel.ptx". Returns why it cannot be added; empty if it was.
  std::string Add(const void* code, const std::string& name);
  // The same for all of `code`, which may be of a stranger's file. A byte of zero is behind it.
  std::string AddAll(std::string_view code, const std::string& name);
  // At most so many registers per thread, and PTX of fat binaries for at most this compute capability; 0 = any.
  void Limit(uint32_t registers, uint32_t capability);

  // `call` is the function of the API that needs it, for messages.
  cudaError_t Load(const char* call);
  // Reads and links what was added, as far as that is possible without loading it.
  cudaError_t Check(const char* call, device::LoadPurpose purpose);
  cudaError_t Unload(const char* call);

  // Nothing if there is none of this name. Only after Load.
  const device::KernelInfo* FindKernel(std::string_view name) const;
  const device::VariableInfo* FindVariable(std::string_view name) const;
  // The variable that `address` lies in, or nothing.
  const device::VariableInfo* FindAddress(uint64_t address) const;

  uint64_t id() const { return info_.id; }
  const device::ModuleInfo& info() const { return info_; }
  bool loaded() const { return loaded_; }
  // What loading had to say; about errors too.
  const std::string& log() const { return info_.log; }
  // Compute capability, as 70; 0 if there is no code.
  int target() const;
  // What CUDART_VERSION was, such as 12040; 0 if there is no code.
  int cuda_version() const { return cuda_version_; }

 private:
  std::string AddEmbedded(const void* code, const std::string& name);
  std::string AddLinked(const void* code, const std::string& name);
  std::string AddWrapped(const void* wrapper, const std::string& name);
  std::string AddText(const char* text, const std::string& name);
  std::string AddFatBinary(std::string_view container, const std::string& name);
  cudaError_t Ask(const char* call, device::LoadPurpose purpose);

  std::vector<device::ModuleImage> images_;
  std::list<std::string> decoded_;  // what was text
  device::ModuleOptions options_;
  device::ModuleInfo info_;
  int cuda_version_ = 0;
  int newest_ptx_ = 0;   // compute capability, of fat binaries
  std::string refusal_;  // of code that could not be added
  bool loaded_ = false;
  cudaError_t failure_ = cudaSuccess;  // a module that cannot be loaded is not tried again
};

// A __global__ function of the program, or a kernel of a module that it has loaded. Its address is its handle in both
// APIs: CUfunction, CUkernel, cudaKernel_t, cudaFunction_t.
struct Kernel {
  CodeImage* image = nullptr;
  std::string name;                   // in the module
  int max_dynamic_shared = 48 << 10;  // cudaFuncSetAttribute; so are the next two
  bool large_clusters = false;        // of more than 8 blocks
  dim3 cluster = dim3(0, 0, 0);       // 0: not given
  CUmodule module = nullptr;          // null: of the program
  // Of launches before CUDA 4.
  dim3 block;
  unsigned int shared_bytes = 0;
  std::string parameters;
};

enum class VariableKind { kVariable, kManaged, kTexture, kSurface };

// A variable of the program that exists on the device, too.
struct Variable {
  CodeImage* image = nullptr;
  std::string name;
  void* host = nullptr;
  uint64_t bytes = 0;
  VariableKind kind = VariableKind::kVariable;
  bool normalized_float = false;  // texture reference: cudaReadModeNormalizedFloat
};

// All device code of the process. Functions are called with the Guard held.
class CodeRegistry {
 public:
  static CodeRegistry& Get();

  CodeImage* NewImage();
  // The image of all relocatable code that shares a list of entries; nothing is returned for a list seen before.
  CodeImage* RelocatableImage(const void* entries, bool* is_new);
  void AddKernel(CodeImage* image, const void* host, const char* name);
  void AddVariable(const Variable& variable);

  // Kernels and variables that the host registered under other names than the code of `image` has, which is loaded, get
  // the code's: nvcc names what is static in another way than clang, which compiled the host's side.
  void AdoptNames(const CodeImage& image);

  // By the host's address of the kernel, or by its handle. Nothing if it is neither.
  Kernel* FindKernel(const void* host);
  // A kernel that the program knows by its handle from now on, and no longer.
  void AddHandle(Kernel* kernel) { handles_.insert(kernel); }
  void RemoveHandle(Kernel* kernel) { handles_.erase(kernel); }
  Kernel* FindHandle(const void* handle) const;
  // By the host's address of the variable, or by its name.
  const Variable* FindVariable(const void* host_or_name);
  // Where the variable lies on the device; loads its image. cudaErrorInvalidSymbol if there is none.
  cudaError_t Locate(const char* call, const void* host_or_name, const Variable** variable,
                     const device::VariableInfo** place);

  // Managed variables between host and device, see host_defines.h.
  void PushManaged();
  void PullManaged();
  // The device's address for the host's address of (a part of) a managed variable; others as they are.
  uint64_t Translate(uint64_t pointer) const;

  const std::map<const void*, Variable>& variables() const { return variables_; }
  // Highest compute capability that code was made for; 70 if there is none.
  int target() const;
  // Latest version of CUDA that code was made for; that of the headers if there is none.
  int cuda_version() const;
  // An image that is loaded by itself (cuModuleLoad): its variables are memory of the device, too.
  void Watch(const CodeImage* image) { others_.insert(image); }
  void Unwatch(const CodeImage* image) { others_.erase(image); }
  // Whether `address` lies in a variable of a loaded module, with `bytes` behind it.
  bool IsInVariable(uint64_t address, uint64_t bytes) const;

 private:
  std::vector<std::unique_ptr<CodeImage>> images_;
  std::set<const CodeImage*> others_;
  std::map<const void*, CodeImage*> relocatable_;
  std::map<const void*, Kernel> kernels_;
  std::set<const void*> handles_;
  std::map<const void*, Variable> variables_;
  bool has_managed_ = false;
};

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_CODE_IMAGE_H_
