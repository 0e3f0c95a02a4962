// cuLink: device code of several modules, made one image. It is linked when it is loaded, as that of programs is; with
// PTX in it that is tried at once, for programs look for errors here.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/code_text.h"
#include "tracegen/runtime/cuda/image_form.h"
#include "tracegen/runtime/cuda/loading/jit_options.h"
#include "tracegen/runtime/cuda/loading/modules.h"
#include "tracegen/runtime/cuda/state.h"
#include "tracegen/runtime/protocol/fat_binary.h"

struct CUlinkState_st {
  std::string parts;  // each behind its size, see device_code.h
  uint64_t count = 0;
  bool has_text = false;  // parts that are PTX, or hold it
  std::string image;
  heddle::cuda::JitOptions options;
};

namespace heddle::cuda {
namespace {

std::set<CUlinkState>& States() {
  static auto& states = *new std::set<CUlinkState>;
  return states;
}

CUresult FailLink(CUlinkState state, CUresult error, const char* call, const std::string& message) {
  Explain(call, message);
  state->options.AddError(message);
  return error;
}

// One part, as device_code.h has it. The limits of the link hold for its first.
void AddPart(CUlinkState state, std::string_view part) {
  const uint64_t size = part.size();
  state->parts.append(reinterpret_cast<const char*>(&size), sizeof(size));
  state->parts.append(part);
  ++state->count;
}

// PTX, or a container of it, as such a part.
std::string MakePart(const JitOptions& options, const char* kind, const std::string& name, std::string_view data) {
  std::string lines = "name=" + name.substr(0, name.find('\n')) + "\nkind=" + kind + "\n";
  if (options.max_registers() != 0) lines += "max_registers=" + std::to_string(options.max_registers()) + "\n";
  if (options.capability() != 0) lines += "most_capability=" + std::to_string(options.capability()) + "\n";
  DeviceCodeHeader header = {};
  std::memcpy(header.magic, kDeviceCodeMagic, sizeof(header.magic));
  header.text_bytes = lines.size();
  header.bitcode_bytes = data.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)).append(lines).append(data);
}

// PTX or a container of it: read now, so that what is wrong with it is said now.
CUresult AddText(const char* call, CUlinkState state, const char* kind, const std::string& name,
                 std::string_view data) {
  const std::string part = MakePart(state->options, kind, name, data);
  CodeImage image;
  image.Add(part.data(), name);
  const cudaError_t error = image.Check(call, device::LoadPurpose::kRead);
  if (error != cudaSuccess) {
    state->options.AddError(image.log().substr(0, image.log().find('\n')));
    return Result(error);
  }
  AddPart(state, part);
  state->has_text = true;
  return CUDA_SUCCESS;
}

// Calls `add` with every piece of `data` that begins with `magic` and is as long as `measure` says; what is not is
// passed over.
template <typename Measure, typename Add>
CUresult ForEachPiece(std::string_view data, std::string_view magic, const Measure& measure, const Add& add) {
  for (size_t at = 0; (at = data.find(magic, at)) != std::string_view::npos;) {
    const size_t bytes = measure(data.substr(at));
    if (bytes != 0) {
      if (CUresult result = add(data.substr(at, bytes)); result != CUDA_SUCCESS) return result;
    }
    at += std::max<size_t>(bytes, 1);
  }
  return CUDA_SUCCESS;
}

// Adds all device code in `data`: all of it, or what is embedded in an object or library.
CUresult AddPieces(const char* call, CUlinkState state, std::string_view data, const std::string& name) {
  const std::string_view ours(kDeviceCodeMagic, sizeof(DeviceCodeHeader::magic));
  const uint32_t number = device::kFatBinaryMagic;
  const std::string_view theirs(reinterpret_cast<const char*>(&number), sizeof(number));
  const CUresult result = ForEachPiece(data, ours, DeviceCodeBytes, [state](std::string_view piece) {
    AddPart(state, piece);
    return CUDA_SUCCESS;
  });
  if (result != CUDA_SUCCESS) return result;
  return ForEachPiece(data, theirs, device::FatBinaryBytes,
                      [&](std::string_view piece) { return AddText(call, state, kFatBinaryPart, name, piece); });
}

CUresult Add(const char* call, CUlinkState state, CUjitInputType type, const std::string& data,
             const std::string& name) {
  const ImageForm form = FormOf(data.c_str());
  const uint64_t before = state->count;
  if (form == ImageForm::kCodeText) {
    const CUresult result = AddPieces(call, state, CodeFromText(data.c_str()), name);
    if (result != CUDA_SUCCESS || state->count > before) return result;
  }
  const std::string_view text = std::string_view(data).substr(0, data.find('\0'));
  if (form == ImageForm::kText && IsPtx(text)) return AddText(call, state, kPtxPart, name, text);
  if (CUresult result = AddPieces(call, state, data, name); result != CUDA_SUCCESS) return result;
  // A library may be without code, as the vendor's may.
  if (state->count > before || type == CU_JIT_INPUT_LIBRARY) return CUDA_SUCCESS;
  if (form == ImageForm::kMachineCode) {
    return FailLink(state, CUDA_ERROR_NO_BINARY_FOR_GPU, call, name + ": " + kMachineCodeRefusal);
  }
  return FailLink(state, type == CU_JIT_INPUT_PTX ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE, call,
                  name + ": " + kNoDeviceCode);
}

CUresult Complete(const char* call, CUlinkState state, void** image, size_t* bytes) {
  if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (state->count == 0) return FailLink(state, CUDA_ERROR_NO_BINARY_FOR_GPU, call, "there is no device code");
  state->image.assign(kLinkedCodeMagic, sizeof(DeviceCodeHeader::magic));
  state->image.append(reinterpret_cast<const char*>(&state->count), sizeof(state->count));
  state->image.append(state->parts);
  if (state->has_text) {
    CodeImage linked;
    linked.Add(state->image.data(), "linked code");
    const cudaError_t error = linked.Check(call, device::LoadPurpose::kLink);
    if (error != cudaSuccess) {
      state->options.AddError(linked.log().substr(0, linked.log().find('\n')));
      return Result(error);
    }
  }
  state->options.AddInfo(std::to_string(state->count) + " parts linked");
  state->options.Finish();
  *image = state->image.data();
  if (bytes != nullptr) *bytes = state->image.size();
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::Guard;
using heddle::cuda::States;

extern "C" {

CUresult cuLinkCreate(unsigned int count, CUjit_option* options, void** values, CUlinkState* state) {
  const Guard guard;
  if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUlinkState_st>();
  made->options = heddle::cuda::JitOptions(count, options, values);
  *state = made.release();
  States().insert(*state);
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char* name, unsigned int,
                       CUjit_option*, void**) {
  const Guard guard;
  if (States().count(state) == 0) return CUDA_ERROR_INVALID_HANDLE;
  if (data == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const std::string part = "part" + std::to_string(state->count + 1) + ".ptx";
  return heddle::cuda::Add("cuLinkAddData", state, type, std::string(static_cast<const char*>(data), bytes),
                           name != nullptr && *name != '\0' ? name : part);
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int, CUjit_option*, void**) {
  const Guard guard;
  if (States().count(state) == 0) return CUDA_ERROR_INVALID_HANDLE;
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::string contents;
  if (!heddle::cuda::ReadWholeFile(path, &contents)) return CUDA_ERROR_FILE_NOT_FOUND;
  return heddle::cuda::Add("cuLinkAddFile", state, type, contents, heddle::cuda::FileName(path));
}

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  const Guard guard;
  if (States().count(state) == 0) return CUDA_ERROR_INVALID_HANDLE;
  return heddle::cuda::Complete("cuLinkComplete", state, image, bytes);
}

CUresult cuLinkDestroy(CUlinkState state) {
  const Guard guard;
  if (States().erase(state) == 0) return CUDA_ERROR_INVALID_HANDLE;
  delete state;
  return CUDA_SUCCESS;
}

}  // extern "C"
