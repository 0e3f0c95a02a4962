// Making, building, compiling and linking programs.
#include "tracegen/runtime/opencl/driver/program.h"

#include <cctype>
#include <cstring>
#include <sstream>
#include <string_view>

#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/callback_thread.h"
#include "tracegen/runtime/opencl/driver/program_binary.h"

_cl_program::~_cl_program() {
  if (loaded) (void)heddle::opencl::Client().UnloadModule(module.id);
}

namespace heddle::opencl {
namespace {

// Bitcode as the device takes it.
std::vector<device::ModuleImage> Images(const std::vector<std::string_view>& parts) {
  std::vector<device::ModuleImage> images;
  for (const std::string_view part : parts) images.push_back({device::ImageKind::kBitcode, "", part});
  return images;
}

using Notify = void(CL_CALLBACK*)(cl_program, void*);

// Whether the options have this word.
bool HasOption(const std::string& options, const char* word) {
  std::istringstream words(options);
  for (std::string option; words >> option;) {
    if (option == word) return true;
  }
  return false;
}

void Unload(cl_program program) {
  if (program->loaded) (void)Client().UnloadModule(program->module.id);
  program->loaded = false;
  program->module = {};
  program->log.clear();
}

// What is common to building and compiling, before anything is done.
cl_int CheckBuild(cl_program program, cl_uint count, const cl_device_id* devices, Notify notify, void* user_data) {
  if (!IsValid(program)) return CL_INVALID_PROGRAM;
  if (cl_int error = CheckDevices(count, devices); error != CL_SUCCESS) return error;
  if (notify == nullptr && user_data != nullptr) return CL_INVALID_VALUE;
  return program->kernels.load() != 0 ? CL_INVALID_OPERATION : CL_SUCCESS;
}

// Keeps what a build gave, and says what the function returns.
cl_int KeepResult(cl_program program, const device::Result& result, cl_program_binary_type type, cl_int failure) {
  program->log = program->module.log;
  if (result.ok()) {
    program->status = CL_BUILD_SUCCESS;
    program->binary_type = type;
    program->loaded = type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    if (!program->module.binary.empty()) program->bitcode = std::move(program->module.binary);
    program->module.binary.clear();
    return CL_SUCCESS;
  }
  program->status = CL_BUILD_ERROR;
  program->binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
  if (program->log.empty()) program->log = result.message;
  const cl_int error = ErrorCode(result);
  return error == CL_BUILD_PROGRAM_FAILURE ? failure : error;
}

void NotifyLater(Notify notify, cl_program program, void* user_data) {
  if (notify == nullptr) return;
  CallbackThread::Get().Run([=, kept = Ref<_cl_program>(program)] { notify(kept.get(), user_data); });
}

device::ModuleOptions LinkOptions() {
  device::ModuleOptions options;
  options.name = "program";
  return options;
}

}  // namespace

cl_program CL_API_CALL CreateProgramWithSource(cl_context context, cl_uint count, const char** strings,
                                               const size_t* lengths, cl_int* errcode_ret) {
  if (!IsValid(context)) return Fail<_cl_program>(CL_INVALID_CONTEXT, errcode_ret);
  if (count == 0 || strings == nullptr) return Fail<_cl_program>(CL_INVALID_VALUE, errcode_ret);
  std::string source;
  for (cl_uint i = 0; i < count; ++i) {
    if (strings[i] == nullptr) return Fail<_cl_program>(CL_INVALID_VALUE, errcode_ret);
    if (lengths != nullptr && lengths[i] != 0) {
      source.append(strings[i], strnlen(strings[i], lengths[i]));  // programs count the final 0
    } else {
      source.append(strings[i]);
    }
  }
  cl_program program = Make<_cl_program>();
  program->context = Ref<_cl_context>(context);
  program->source = std::move(source);
  return Succeed(program, errcode_ret);
}

cl_program CL_API_CALL CreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id* devices,
                                               const size_t* lengths, const unsigned char** binaries, cl_int* status,
                                               cl_int* errcode_ret) {
  if (!IsValid(context)) return Fail<_cl_program>(CL_INVALID_CONTEXT, errcode_ret);
  if (count == 0 || devices == nullptr || lengths == nullptr || binaries == nullptr) {
    return Fail<_cl_program>(CL_INVALID_VALUE, errcode_ret);
  }
  if (cl_int error = CheckDevices(count, devices); error != CL_SUCCESS) return Fail<_cl_program>(error, errcode_ret);
  ProgramBinary binary;
  for (cl_uint i = 0; i < count; ++i) {
    cl_int error = CL_SUCCESS;
    if (lengths[i] == 0 || binaries[i] == nullptr) {
      error = CL_INVALID_VALUE;
    } else if (!ReadBinary({reinterpret_cast<const char*>(binaries[i]), lengths[i]}, &binary)) {
      error = CL_INVALID_BINARY;
    }
    if (status != nullptr) status[i] = error;
    if (error != CL_SUCCESS) return Fail<_cl_program>(error, errcode_ret);
  }
  cl_program program = Make<_cl_program>();
  program->context = Ref<_cl_context>(context);
  program->bitcode = std::string(binary.bitcode);
  program->binary_type = binary.type;
  return Succeed(program, errcode_ret);
}

cl_program CL_API_CALL CreateProgramWithBuiltInKernels(cl_context context, cl_uint, const cl_device_id*, const char*,
                                                       cl_int* errcode_ret) {
  // The device has none, so no name can be right.
  return Fail<_cl_program>(IsValid(context) ? CL_INVALID_VALUE : CL_INVALID_CONTEXT, errcode_ret);
}

cl_int CL_API_CALL RetainProgram(cl_program program) { return RetainObject(program, CL_INVALID_PROGRAM); }
cl_int CL_API_CALL ReleaseProgram(cl_program program) { return ReleaseObject(program, CL_INVALID_PROGRAM); }

cl_int CL_API_CALL BuildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                                Notify notify, void* user_data) {
  if (cl_int error = CheckBuild(program, count, devices, notify, user_data); error != CL_SUCCESS) return error;
  const bool from_binary = program->source.empty() && !program->bitcode.empty();
  if (from_binary && program->binary_type == CL_PROGRAM_BINARY_TYPE_NONE) return CL_INVALID_BINARY;
  Unload(program);
  program->options = options != nullptr ? options : "";
  device::Result result;
  if (from_binary) {
    result =
        Client().LoadModule(Images({program->bitcode}), LinkOptions(), device::LoadPurpose::kUse, &program->module);
  } else {
    result = Client().BuildOpenCl(program->source, program->options, {}, false, &program->module);
  }
  const cl_int error = KeepResult(program, result, CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_BUILD_PROGRAM_FAILURE);
  NotifyLater(notify, program, user_data);
  return error;
}

cl_int CL_API_CALL CompileProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                                  cl_uint header_count, const cl_program* headers, const char** header_names,
                                  Notify notify, void* user_data) {
  if (cl_int error = CheckBuild(program, count, devices, notify, user_data); error != CL_SUCCESS) return error;
  if ((header_count == 0) != (headers == nullptr) || (header_count == 0) != (header_names == nullptr)) {
    return CL_INVALID_VALUE;
  }
  if (program->source.empty()) return CL_INVALID_OPERATION;
  std::vector<device::SourceHeader> files;
  for (cl_uint i = 0; i < header_count; ++i) {
    if (!IsValid(headers[i])) return CL_INVALID_PROGRAM;
    if (header_names[i] == nullptr) return CL_INVALID_VALUE;
    files.push_back({header_names[i], headers[i]->source});
  }
  Unload(program);
  program->options = options != nullptr ? options : "";
  const device::Result result = Client().BuildOpenCl(program->source, program->options, files, true, &program->module);
  const cl_int error = KeepResult(program, result, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, CL_COMPILE_PROGRAM_FAILURE);
  NotifyLater(notify, program, user_data);
  return error;
}

cl_program CL_API_CALL LinkProgram(cl_context context, cl_uint count, const cl_device_id* devices, const char* options,
                                   cl_uint input_count, const cl_program* inputs, Notify notify, void* user_data,
                                   cl_int* errcode_ret) {
  if (!IsValid(context)) return Fail<_cl_program>(CL_INVALID_CONTEXT, errcode_ret);
  if (cl_int error = CheckDevices(count, devices); error != CL_SUCCESS) return Fail<_cl_program>(error, errcode_ret);
  if (input_count == 0 || inputs == nullptr || (notify == nullptr && user_data != nullptr)) {
    return Fail<_cl_program>(CL_INVALID_VALUE, errcode_ret);
  }
  std::vector<std::string_view> parts;
  for (cl_uint i = 0; i < input_count; ++i) {
    if (!IsValid(inputs[i])) return Fail<_cl_program>(CL_INVALID_PROGRAM, errcode_ret);
    const cl_program_binary_type type = inputs[i]->binary_type;
    if (type != CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT && type != CL_PROGRAM_BINARY_TYPE_LIBRARY) {
      return Fail<_cl_program>(CL_INVALID_OPERATION, errcode_ret);
    }
    parts.push_back(inputs[i]->bitcode);
  }
  cl_program program = Make<_cl_program>();
  program->context = Ref<_cl_context>(context);
  program->options = options != nullptr ? options : "";
  const bool library = HasOption(program->options, "-create-library");
  const device::Result result =
      Client().LoadModule(Images(parts), LinkOptions(), device::LoadPurpose::kUse, &program->module);
  const uint64_t module = program->module.id;
  if (parts.size() == 1) program->bitcode = std::string(parts[0]);
  const cl_int error =
      KeepResult(program, result, library ? CL_PROGRAM_BINARY_TYPE_LIBRARY : CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
                 CL_LINK_PROGRAM_FAILURE);
  if (error == CL_SUCCESS && library) (void)Client().UnloadModule(module);
  NotifyLater(notify, program, user_data);
  // After a failure there is still a program, for its log.
  if (errcode_ret != nullptr) *errcode_ret = error;
  return program;
}

// The compiler is no part of the application's process.
cl_int CL_API_CALL UnloadCompiler() { return CL_SUCCESS; }
cl_int CL_API_CALL UnloadPlatformCompiler(cl_platform_id platform) {
  return platform == Platform() ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

}  // namespace heddle::opencl
