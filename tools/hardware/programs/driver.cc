#include "tools/hardware/programs/driver.h"

#include <dlfcn.h>

#include <cstdlib>

#include "tools/hardware/programs/json_line.h"

namespace heddle::hardware {
namespace {

[[noreturn]] void End(const std::string& message) {
  JsonLine().Text("error", message).Print();
  std::_Exit(3);
}

#define HEDDLE_TEXT_OF(name) #name
#define HEDDLE_EXPANDED_TEXT_OF(name) HEDDLE_TEXT_OF(name)

Driver LoadDriver() {
  Driver driver;
#ifdef HEDDLE_STAND_IN
#define HEDDLE_FIND_CALL(name) driver.name = &::name;
#else
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) End(std::string("there is no CUDA driver: ") + dlerror());
#define HEDDLE_FIND_CALL(name)                                                                      \
  driver.name = reinterpret_cast<decltype(&::name)>(dlsym(library, HEDDLE_EXPANDED_TEXT_OF(name))); \
  if (driver.name == nullptr) End("the driver has no " HEDDLE_EXPANDED_TEXT_OF(name));
#endif
  HEDDLE_DRIVER_CALLS(HEDDLE_FIND_CALL)
#undef HEDDLE_FIND_CALL
  return driver;
}

}  // namespace

const Driver& GetDriver() {
  static const Driver driver = LoadDriver();
  return driver;
}

void Expect(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  GetDriver().cuGetErrorName(result, &name);
  End(what + ": " + (name == nullptr ? "error " + std::to_string(static_cast<int>(result)) : std::string(name)));
}

CUdevice UseFirstDevice() {
  const Driver& driver = GetDriver();
  Expect(driver.cuInit(0), "cuInit");
  CUdevice device = 0;
  Expect(driver.cuDeviceGet(&device, 0), "cuDeviceGet");
  CUcontext context = nullptr;
  Expect(driver.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  Expect(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
  return device;
}

}  // namespace heddle::hardware
