// Modules of the driver API: loading, and what they have.
#include "tracegen/runtime/cuda/loading/modules.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "tracegen/runtime/cuda/driver/driver_textures.h"
#include "tracegen/runtime/cuda/image_form.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

std::set<CUmodule>& Modules() {
  static auto& modules = *new std::set<CUmodule>;
  return modules;
}

// `refusal`: why the code is none.
CUresult Load(const char* call, const std::string& refusal, JitOptions& options, std::unique_ptr<CUmod_st> module,
              CUmodule* out) {
  if (!refusal.empty()) {
    Explain(call, refusal);
    options.AddError(refusal);
    return refusal == kMachineCodeRefusal ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_IMAGE;
  }
  CodeImage& image = module->image;
  image.Limit(options.max_registers(), options.capability());
  const cudaError_t error = image.Load(call);
  options.Finish();
  if (error != cudaSuccess) {
    std::string_view log = image.log();
    while (!log.empty() && log.back() == '\n') log.remove_suffix(1);
    options.AddError(log);
    return Result(error);
  }
  options.AddInfo(std::to_string(image.info().kernels.size()) + " kernels and " +
                  std::to_string(image.info().variables.size()) + " variables for " + image.info().target +
                  "; kernels are compiled when they are needed");
  *out = module.release();
  Modules().insert(*out);
  CodeRegistry::Get().Watch(&(*out)->image);
  return CUDA_SUCCESS;
}

}  // namespace

bool ReadWholeFile(const char* path, std::string* contents) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  contents->assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  return !in.bad();
}

std::string FileName(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string NextTextName() {
  static int number = 0;
  return "text" + std::to_string(++number) + ".ptx";
}

CUresult LoadFromMemory(const char* call, const void* data, JitOptions options, CUmodule* module) {
  if (module == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUmod_st>();
  const bool is_text = FormOf(data) == ImageForm::kText;
  const std::string refusal = made->image.Add(data, is_text ? NextTextName() : "module");
  return Load(call, refusal, options, std::move(made), module);
}

CUresult LoadFromFile(const char* call, const char* path, JitOptions options, CUmodule* module) {
  if (module == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUmod_st>();
  if (!ReadWholeFile(path, &made->storage)) return CUDA_ERROR_FILE_NOT_FOUND;
  std::string refusal = made->image.AddAll(made->storage, FileName(path));
  if (!refusal.empty()) refusal = FileName(path) + ": " + refusal;
  if (FormOf(made->storage.data()) == ImageForm::kMachineCode) refusal = kMachineCodeRefusal;
  return Load(call, refusal, options, std::move(made), module);
}

bool IsModule(CUmodule module) { return Modules().count(module) != 0; }

CUresult Unload(const char* call, CUmodule module) {
  if (Modules().erase(module) == 0) return CUDA_ERROR_INVALID_HANDLE;
  const std::unique_ptr<CUmod_st> owned(module);
  ForgetReferences(module);
  CodeRegistry& registry = CodeRegistry::Get();
  for (const auto& [name, kernel] : owned->functions) registry.RemoveHandle(kernel.get());
  registry.Unwatch(&owned->image);
  return Result(owned->image.Unload(call));
}

CUresult FindFunction(CUmodule module, const char* name, Kernel** kernel) {
  if (kernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsModule(module)) return CUDA_ERROR_INVALID_HANDLE;
  if (module->image.FindKernel(name) == nullptr) return CUDA_ERROR_NOT_FOUND;
  std::unique_ptr<Kernel>& made = module->functions[name];
  if (made == nullptr) {
    made = std::make_unique<Kernel>();
    made->image = &module->image;
    made->name = name;
    made->module = module;
    CodeRegistry::Get().AddHandle(made.get());
  }
  *kernel = made.get();
  return CUDA_SUCCESS;
}

CUresult ListFunctions(CUmodule module, unsigned int count, std::vector<Kernel*>* kernels) {
  if (!IsModule(module)) return CUDA_ERROR_INVALID_HANDLE;
  for (const device::KernelInfo& info : module->image.info().kernels) {
    if (kernels->size() == count) break;
    Kernel* kernel = nullptr;
    if (CUresult result = FindFunction(module, info.name.c_str(), &kernel); result != CUDA_SUCCESS) return result;
    kernels->push_back(kernel);
  }
  return CUDA_SUCCESS;
}

}  // namespace heddle::cuda

using heddle::cuda::Guard;
using heddle::cuda::JitOptions;

extern "C" {

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  const Guard guard;
  return heddle::cuda::LoadFromFile("cuModuleLoad", path, {}, module);
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  const Guard guard;
  return heddle::cuda::LoadFromMemory("cuModuleLoadData", image, {}, module);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count, CUjit_option* options,
                            void** values) {
  const Guard guard;
  return heddle::cuda::LoadFromMemory("cuModuleLoadDataEx", image, JitOptions(count, options, values), module);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  const Guard guard;
  return heddle::cuda::LoadFromMemory("cuModuleLoadFatBinary", image, {}, module);
}

CUresult cuModuleUnload(CUmodule module) {
  const Guard guard;
  return heddle::cuda::Unload("cuModuleUnload", module);
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const Guard guard;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  heddle::cuda::Kernel* kernel = nullptr;
  const CUresult result = heddle::cuda::FindFunction(module, name, &kernel);
  if (result == CUDA_SUCCESS) *function = heddle::cuda::HandleOf(kernel);
  return result;
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule module) {
  const Guard guard;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!heddle::cuda::IsModule(module)) return CUDA_ERROR_INVALID_HANDLE;
  *count = static_cast<unsigned int>(module->image.info().kernels.size());
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int count, CUmodule module) {
  const Guard guard;
  if (functions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  std::vector<heddle::cuda::Kernel*> kernels;
  const CUresult result = heddle::cuda::ListFunctions(module, count, &kernels);
  for (size_t i = 0; i < kernels.size(); ++i) functions[i] = heddle::cuda::HandleOf(kernels[i]);
  return result;
}

CUresult cuModuleGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUmodule module, const char* name) {
  const Guard guard;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!heddle::cuda::IsModule(module)) return CUDA_ERROR_INVALID_HANDLE;
  const heddle::device::VariableInfo* variable = module->image.FindVariable(name);
  if (variable == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (pointer != nullptr) *pointer = variable->address;
  if (bytes != nullptr) *bytes = variable->bytes;
  return CUDA_SUCCESS;
}

}  // extern "C"
