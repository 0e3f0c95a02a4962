// cuLink: device code of several modules, made one image. It is linked when it is loaded, as that of programs is.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/code_text.h"
#include "tracegen/runtime/cuda/state.h"

// Where a log goes that the program has asked for.
struct LogBuffer {
  char* start = nullptr;
  size_t bytes = 0;
};

struct CUlinkState_st {
  std::string parts;  // each behind its size, see device_code.h
  uint64_t count = 0;
  std::string image;
  LogBuffer errors;
};

namespace heddle::cuda {
namespace {

std::set<CUlinkState>& States() {
  static auto& states = *new std::set<CUlinkState>;
  return states;
}

LogBuffer FindErrorLog(unsigned int count, const CUjit_option* options, void* const* values) {
  LogBuffer log;
  for (unsigned int i = 0; options != nullptr && values != nullptr && i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) log.start = static_cast<char*>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) log.bytes = reinterpret_cast<uintptr_t>(values[i]);
  }
  return log;
}

CUresult FailLink(CUlinkState state, CUresult error, const char* call, const std::string& message) {
  Explain(call, message);
  const LogBuffer& log = state->errors;
  if (log.start != nullptr && log.bytes > 0) {
    const size_t bytes = message.copy(log.start, log.bytes - 1);
    log.start[bytes] = '\0';
  }
  return error;
}

// Adds all device code in `data`: all of it, or what is embedded in an object or library. False if there is none.
bool AddParts(CUlinkState state, std::string_view data) {
  const std::string_view magic(kDeviceCodeMagic, sizeof(DeviceCodeHeader::magic));
  bool any = false;
  for (size_t at = 0; (at = data.find(magic, at)) != std::string_view::npos;) {
    const size_t bytes = DeviceCodeBytes(data.substr(at));
    if (bytes == 0) {  // these bytes in other data
      ++at;
      continue;
    }
    const uint64_t size = bytes;
    state->parts.append(reinterpret_cast<const char*>(&size), sizeof(size));
    state->parts.append(data.substr(at, bytes));
    ++state->count;
    any = true;
    at += bytes;
  }
  return any;
}

CUresult Add(const char* call, CUlinkState state, CUjitInputType type, std::string_view data, const std::string& name) {
  if (data.substr(0, kCodeTextStart.size()) == kCodeTextStart) {
    const std::string text(data);  // with a zero behind it
    if (AddParts(state, CodeFromText(text.c_str()))) return CUDA_SUCCESS;
  }
  if (AddParts(state, data) || type == CU_JIT_INPUT_LIBRARY) return CUDA_SUCCESS;  // as the vendor's, without code
  const bool text = type == CU_JIT_INPUT_PTX || data.find(".version") != std::string_view::npos;
  return FailLink(state, text ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE, call,
                  name + (text ? ": PTX text cannot be linked" : ": this is no device code of heddle-nvcc") +
                      "; make the input with heddle-nvcc -cubin, -ptx, -fatbin or -c from its source");
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
  made->errors = heddle::cuda::FindErrorLog(count, options, values);
  if (made->errors.start != nullptr && made->errors.bytes > 0) made->errors.start[0] = '\0';
  *state = made.release();
  States().insert(*state);
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char* name, unsigned int,
                       CUjit_option*, void**) {
  const Guard guard;
  if (States().count(state) == 0) return CUDA_ERROR_INVALID_HANDLE;
  if (data == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return heddle::cuda::Add("cuLinkAddData", state, type, std::string_view(static_cast<const char*>(data), bytes),
                           name != nullptr ? name : "data");
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int, CUjit_option*, void**) {
  const Guard guard;
  if (States().count(state) == 0) return CUDA_ERROR_INVALID_HANDLE;
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream in(path, std::ios::binary);
  if (!in) return CUDA_ERROR_FILE_NOT_FOUND;
  std::stringstream text;
  text << in.rdbuf();
  return heddle::cuda::Add("cuLinkAddFile", state, type, text.str(), path);
}

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  const Guard guard;
  if (States().count(state) == 0) return CUDA_ERROR_INVALID_HANDLE;
  if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (state->count == 0) {
    return heddle::cuda::FailLink(state, CUDA_ERROR_NO_BINARY_FOR_GPU, "cuLinkComplete", "there is no device code");
  }
  state->image.assign(heddle::cuda::kLinkedCodeMagic, sizeof(heddle::cuda::DeviceCodeHeader::magic));
  state->image.append(reinterpret_cast<const char*>(&state->count), sizeof(state->count));
  state->image.append(state->parts);
  *image = state->image.data();
  if (bytes != nullptr) *bytes = state->image.size();
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  const Guard guard;
  if (States().erase(state) == 0) return CUDA_ERROR_INVALID_HANDLE;
  delete state;
  return CUDA_SUCCESS;
}

}  // extern "C"
